//! A stand-in for the crate [`parking`] 2.2.1 that tells the Runnext pool before it waits.
//!
//! Whatever waits in the futures ecosystem parks through that small crate: the blocking calls of
//! event-listener, async-lock and async-channel, the `block_on` of futures-lite and of async-io. One
//! such call inside a task costs an executor a worker, and what is queued behind it waits as well. With
//! this crate in its place the pool learns of each such wait, and gets another worker for what
//! waits behind. One line in the root manifest does it for the whole dependency graph:
//!
//! ```toml
//! [patch.crates-io]
//! parking = { path = "../runnext/crates/shims/parking" }
//! ```
//!
//! Look out for cargo's warning that the patch was not used: the graph then holds a second `parking`.
//!
//! # What a parker is
//!
//! A [`Parker`] holds at most one token. [`Parker::park`] waits for the token and takes it;
//! [`Unparker::unpark`] puts it there, before the wait or during it. [`std::thread::park`] does the same
//! with one token a thread, which everything on the thread shares: two users who know nothing
//! of each other can take each other's. A parker's token is its own.
//!
//! Whatever was written before `unpark` is visible after the `park` that took its token.
//!
//! ```
//! let (parker, unparker) = parking::pair();
//! let helper = std::thread::spawn(move || unparker.unpark());
//! parker.park(); // until the helper has called `unpark`, sooner or later
//! # assert!(helper.join().unwrap());
//! ```
//!
//! # What differs from the original
//!
//! * A real wait, one that finds no token and has time left, stands between
//!   `runnext::about_to_block()` and the end of its section. On a worker of a pool that marks the
//!   worker as blocked. On any other thread it is one read of a thread-local.
//! * A wait with a limit that wakes up early, without token, waits on for the rest of the limit. The
//!   original gives up at once, as if its time were over.
//!
//! # Features
//!
//! * `loom` (off by default): with `--cfg loom` as well, waits through loom's primitives, so that
//!   models of what stands on this crate can be checked. Under that cfg, as in the original, there is no
//!   wait with a limit; and no hook, since loom's threads are no workers.
//!
//! [`parking`]: https://docs.rs/parking/2.2.1/parking/

#![forbid(unsafe_code)]

mod token;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::Waker;
#[cfg(not(loom))]
use std::time::{Duration, Instant};

use token::Token;

/// A parker and an unparker for it.
///
/// ```
/// let (parker, unparker) = parking::pair();
/// assert!(unparker.will_unpark(&parker));
/// ```
pub fn pair() -> (Parker, Unparker) {
    let parker = Parker::new();
    let unparker = parker.unparker();
    (parker, unparker)
}

/// The side that waits. One thread at a time: it may be sent, but not shared.
pub struct Parker {
    unparker: Unparker,
    /// A token has one taker, so that a wake for it reaches whoever waits.
    not_sync: PhantomData<Cell<()>>,
}

impl Parker {
    /// A parker without token.
    ///
    /// ```
    /// let parker = parking::Parker::new();
    /// parker.unpark();
    /// parker.park(); // at once
    /// ```
    pub fn new() -> Parker {
        let token = Arc::new(Token::new());
        Parker {
            unparker: Unparker { token },
            not_sync: PhantomData,
        }
    }

    /// Waits for the token and takes it.
    ///
    /// ```
    /// let (parker, unparker) = parking::pair();
    /// unparker.unpark();
    /// parker.park(); // at once, since the token is there
    /// ```
    pub fn park(&self) {
        let token = self.token();
        if !token.take() {
            token.wait();
        }
    }

    /// Waits for the token, but no longer than `duration`. True if it took the token.
    ///
    /// With a zero duration it only looks. A duration that the clock cannot add to the present is no limit.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (parker, unparker) = parking::pair();
    /// assert!(!parker.park_timeout(Duration::from_millis(1)));
    /// unparker.unpark();
    /// assert!(parker.park_timeout(Duration::ZERO));
    /// ```
    #[cfg(not(loom))]
    pub fn park_timeout(&self, duration: Duration) -> bool {
        let token = self.token();
        token.take() || (!duration.is_zero() && token.wait_for(duration))
    }

    /// Waits for the token, but no longer than until `instant`. True if it took the token.
    ///
    /// With an instant that has passed it only looks.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let parker = parking::Parker::new();
    /// let soon = Instant::now() + Duration::from_millis(1);
    /// assert!(!parker.park_deadline(soon));
    /// assert!(Instant::now() >= soon);
    /// ```
    #[cfg(not(loom))]
    pub fn park_deadline(&self, instant: Instant) -> bool {
        let token = self.token();
        token.take() || (Instant::now() < instant && token.wait_until(instant))
    }

    /// Puts the token there. True if it was not there yet.
    ///
    /// ```
    /// let parker = parking::Parker::new();
    /// assert!(parker.unpark());
    /// assert!(!parker.unpark()); // there is one token, however often it is put
    /// parker.park();
    /// ```
    pub fn unpark(&self) -> bool {
        self.unparker.unpark()
    }

    /// A handle that puts the token there, from any thread.
    ///
    /// ```
    /// let parker = parking::Parker::new();
    /// let unparker = parker.unparker();
    /// std::thread::spawn(move || unparker.unpark());
    /// parker.park();
    /// ```
    pub fn unparker(&self) -> Unparker {
        self.unparker.clone()
    }

    fn token(&self) -> &Token {
        &self.unparker.token
    }
}

impl Default for Parker {
    fn default() -> Parker {
        Parker::new()
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Parker { .. }")
    }
}

/// The side that wakes. A clone is another handle for the same parker.
///
/// Outlives its parker harmlessly. As a [`Waker`] it needs no further allocation.
#[derive(Clone)]
pub struct Unparker {
    token: Arc<Token>,
}

impl Unparker {
    /// Puts the token there, and wakes whoever waits for it. True if it was not there yet.
    ///
    /// ```
    /// let (parker, unparker) = parking::pair();
    /// let waiter = std::thread::spawn(move || parker.park());
    /// assert!(unparker.unpark());
    /// waiter.join().unwrap();
    /// ```
    pub fn unpark(&self) -> bool {
        self.token.put()
    }

    /// Whether this is a handle for `parker`.
    ///
    /// ```
    /// let (parker, unparker) = parking::pair();
    /// assert!(unparker.will_unpark(&parker));
    /// assert!(!unparker.will_unpark(&parking::Parker::new()));
    /// ```
    pub fn will_unpark(&self, parker: &Parker) -> bool {
        self.same_parker(&parker.unparker)
    }

    /// Whether both are handles for one parker.
    ///
    /// ```
    /// let (parker, unparker) = parking::pair();
    /// assert!(unparker.same_parker(&parker.unparker()));
    /// ```
    pub fn same_parker(&self, other: &Unparker) -> bool {
        Arc::ptr_eq(&self.token, &other.token)
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Unparker { .. }")
    }
}

impl From<Unparker> for Waker {
    /// A waker that puts the token there.
    fn from(unparker: Unparker) -> Waker {
        Waker::from(unparker.token)
    }
}
