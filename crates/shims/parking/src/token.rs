//! The token of one parker, and the wait for it.
//!
//! # States
//!
//! | state | who waits | [`take`](Token::take), by the parker | [`put`](Token::put), by anyone |
//! |---|---|---|---|
//! | `EMPTY` | nobody | no | to `TOKEN` |
//! | `WAITING` | the parker, with the lock held or in the condition variable | no | to `TOKEN`, and ring |
//! | `TOKEN` | nobody for long: the parker takes it next | to `EMPTY`, yes | stays: there is one token |
//!
//! Only the parker leaves `EMPTY` for `WAITING`, before it sleeps, and `WAITING` for `EMPTY`, when its time is over.
//!
//! # No wake is lost
//!
//! | parker | unparker |
//! |---|---|
//! | 1 lock | 1 state to `TOKEN`; it was `WAITING` |
//! | 2 state to `WAITING` | 2 lock, unlock |
//! | 3 state is no `TOKEN`: sleep, which unlocks | 3 ring |
//!
//! The state is one word, so either the parker's 3 sees the token, or the unparker's 1 comes after it. Then the unparker's
//! 2 waits for the sleep, and its 3 finds the sleeper. A ring may also come late, to a later wait: hence each
//! wake looks at the state, and at the clock.
//!
//! # Orderings
//!
//! `put` has to release and `take` to acquire, and both are read-modify-writes also where they change nothing, so that
//! each taker sees what every one of the puts before it brought. More is not promised. They are sequentially
//! consistent all the same, because the original's are: code that has come to lean on it must not find out here,
//! and on the usual processors a read-modify-write costs the same.
//!
//! # Rejected
//!
//! * `std::thread::park`: its token belongs to the thread, and we would take those meant for others.
//! * Spinning before the wait: the original does not, and on a worker the time is better spent on what waits behind.
//! * The hook with the lock held: it may start a thread, and whoever unparks would wait for that.

#[cfg(all(loom, feature = "loom"))]
use loom::sync::{Condvar, Mutex, MutexGuard, atomic::AtomicU8};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, PoisonError};
#[cfg(not(all(loom, feature = "loom")))]
use std::sync::{Condvar, Mutex, MutexGuard, atomic::AtomicU8};
use std::task::Wake;
#[cfg(not(loom))]
use std::time::{Duration, Instant};

#[cfg(not(any(loom, runnext_loom)))]
use runnext::about_to_block;

const EMPTY: u8 = 0;
const WAITING: u8 = 1;
const TOKEN: u8 = 2;

/// See the module.
pub(crate) struct Token {
    state: AtomicU8,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Token {
    pub(crate) fn new() -> Token {
        Token {
            state: AtomicU8::new(EMPTY),
            lock: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Takes the token if it is there. The parker only.
    // Transitions: TOKEN -> EMPTY.
    pub(crate) fn take(&self) -> bool {
        self.state
            .compare_exchange(TOKEN, EMPTY, SeqCst, SeqCst)
            .is_ok()
    }

    /// Puts the token there and wakes the parker. True if it was not there yet. Any thread.
    // Transitions: any -> TOKEN.
    pub(crate) fn put(&self) -> bool {
        let before = self.state.swap(TOKEN, SeqCst);
        if before == WAITING {
            // Not held for the ring: the woken parker would only wait for it once more.
            drop(self.locked());
            self.bell.notify_one();
        }
        before != TOKEN
    }

    /// Waits until it has taken the token. The parker only.
    pub(crate) fn wait(&self) {
        let _section = about_to_block();
        let mut awake = self.announce();
        while !self.take() {
            awake = self
                .bell
                .wait(awake)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until it has taken the token, or until `duration` is over. True if it has. The parker only.
    #[cfg(not(loom))]
    pub(crate) fn wait_for(&self, duration: Duration) -> bool {
        match Instant::now().checked_add(duration) {
            Some(deadline) => self.wait_until(deadline),
            None => {
                self.wait();
                true
            }
        }
    }

    /// Waits until it has taken the token, or until `deadline`. True if it has. The parker only.
    #[cfg(not(loom))]
    pub(crate) fn wait_until(&self, deadline: Instant) -> bool {
        let _section = about_to_block();
        let mut awake = self.announce();
        while !self.take() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.give_up();
            }
            let woken = self.bell.wait_timeout(awake, left);
            awake = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Says that the parker is about to sleep. It may only sleep by giving up the lock that it gets here.
    // Transitions: EMPTY -> WAITING. A TOKEN stays: the caller takes it next.
    fn announce(&self) -> MutexGuard<'_, ()> {
        let awake = self.locked();
        let _ = self.state.compare_exchange(EMPTY, WAITING, SeqCst, SeqCst);
        awake
    }

    /// Ends a wait whose time is over. True if the token came at the last moment, and was taken.
    // Transitions: WAITING -> EMPTY, TOKEN -> EMPTY.
    #[cfg(not(loom))]
    fn give_up(&self) -> bool {
        self.state.swap(EMPTY, SeqCst) == TOKEN
    }

    /// The lock protects no data that a panic could leave half done.
    fn locked(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Token {
    fn wake(self: Arc<Self>) {
        self.put();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.put();
    }
}

/// Without a pool there is nobody to tell.
#[cfg(any(loom, runnext_loom))]
fn about_to_block() -> impl Sized {}
