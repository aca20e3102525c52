//! Who is idle, and how work that has been queued finds a worker.
//!
//! # Concepts
//!
//! A worker is **running** (it has work), **searching** (awake without work, looking for some) or
//! **parked** (its thread sleeps). A **request** asks for a worker: a searcher absorbs it at no
//! cost, else the newest parked worker is woken and counts as searching from that moment on.
//!
//! | state | leaves it by | to |
//! |---|---|---|
//! | **running** | [`start_searching`](Idle::start_searching), if the limit permits | searching |
//! | **running**, **searching** | [`intend_to_park`](Idle::intend_to_park) | parked |
//! | **searching** | [`stop_searching`](Idle::stop_searching), it found work | running |
//! | **parked** | popped by a request, or [`withdraw`](Idle::withdraw) | searching |
//!
//! One word counts the searching and the parked; a stack of the parked gives the newest first, so
//! that a light load keeps one thread warm and lets the others sleep.
//!
//! # Protocol: no lost wake-up
//!
//! Each side writes, executes a full barrier, and reads what the other wrote. At least one of
//! the two then sees the other (Dekker).
//!
//! | whoever queues work | a worker that stops looking |
//! |---|---|
//! | 1 push the item | 1 leave `searching` (to park, or because it found work) |
//! | 2 full barrier | 2 full barrier |
//! | 3 read the counts; no searcher and someone parked: wake one | 3 re-read every queue and slot; work: do not park, or request |
//!
//! Release and acquire do not suffice: with them both sides may read the old value. Every
//! leaving searcher re-reads, not only the one that thinks it is the last: the counts are transient,
//! and two leaving at once may each take the other for the one that stays (golang/go#43997).
//!
//! # Invariants
//!
//! * **I1** `searching` + `parked` never exceeds the number of workers, and neither is negative.
//! * **I2** A worker is on the stack exactly while it counts as parked.
//! * **I3** Whoever pops a worker counts it as searching in the same critical section and unparks
//!   it. So at most one wake is in flight that nobody needs: until the woken worker has looked, it
//!   absorbs every request.
//! * **I4** A worker that finds work while others could run what remains requests a successor
//!   before it runs (step 3 on the right).
//! * **I5** No user code runs under the stack's lock.
//!
//! # Non-goals
//!
//! Deferral, that is not even asking while somebody watches the slot, is not here yet: with
//! run-next alone every publish requests.

use crate::sync::{AtomicBool, AtomicU32, Mutex, Ordering, complete_barrier, lock, thread};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// The counts of idle workers, packed into one word.
///
/// | bits | count |
/// |---|---|
/// | 0 to 15 | searching |
/// | 16 to 31 | parked |
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts(u32);

impl Counts {
    const SEARCHER: u32 = 1;
    const PARKED: u32 = 1 << 16;
    const SEARCHER_MASK: u32 = Self::PARKED - 1;

    pub(crate) fn searching(self) -> usize {
        (self.0 & Self::SEARCHER_MASK) as usize
    }

    pub(crate) fn parked(self) -> usize {
        (self.0 / Self::PARKED) as usize
    }

    /// Whether a request has to wake somebody: nobody looks, and somebody sleeps.
    fn wants_wake(self) -> bool {
        self.searching() == 0 && self.parked() > 0
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counts")
            .field("searching", &self.searching())
            .field("parked", &self.parked())
            .finish()
    }
}

/// The idle state of a pool.
pub(crate) struct Idle {
    counts: CachePadded<AtomicU32>,
    /// Indices of the parked workers, newest last.
    stack: Mutex<Vec<usize>>,
    parkers: Box<[Parker]>,
}

impl Idle {
    /// The state of `workers` workers, all running. At most 65 535, the width of a count.
    pub(crate) fn new(workers: usize) -> Self {
        assert!(workers <= Counts::SEARCHER_MASK as usize);
        Idle {
            counts: CachePadded::new(AtomicU32::new(0)),
            stack: Mutex::new(Vec::with_capacity(workers)),
            parkers: (0..workers).map(|_| Parker::new()).collect(),
        }
    }

    /// The counts, momentarily. Any thread.
    #[inline]
    pub(crate) fn counts(&self) -> Counts {
        // Ordering: SeqCst, step 3 of the left side of the protocol; a plain `mov` on x86.
        Counts(self.counts.load(Ordering::SeqCst))
    }

    /// Asks for a worker, after a push and a full barrier. True if it woke one; false if the request
    /// was absorbed by a searcher, or if every worker is awake anyway. Any thread.
    #[inline]
    pub(crate) fn request(&self) -> bool {
        self.counts().wants_wake() && self.wake_newest()
    }

    // Transitions: parked -> searching, for the newest.
    #[cold]
    fn wake_newest(&self) -> bool {
        let Some(newest) = self.pop_newest() else {
            return false;
        };
        self.parkers[newest].unpark();
        true
    }

    fn pop_newest(&self) -> Option<usize> {
        let mut stack = lock(&self.stack);
        // Another request may have been quicker; its worker now absorbs ours (I3).
        if !self.counts().wants_wake() {
            return None;
        }
        let newest = stack.pop();
        debug_assert!(newest.is_some(), "I2: a parked worker is on the stack");
        if newest.is_some() {
            self.parked_to_searching(1);
        }
        newest
    }

    /// Wakes every parked worker, for a shutdown. Any thread.
    // Transitions: parked -> searching, for all.
    pub(crate) fn wake_all(&self) {
        let all = {
            let mut stack = lock(&self.stack);
            self.parked_to_searching(stack.len());
            std::mem::take(&mut *stack)
        };
        for index in all {
            self.parkers[index].unpark();
        }
    }

    /// Moves `workers` popped under the stack's lock from one count to the other.
    fn parked_to_searching(&self, workers: usize) {
        let each = Counts::PARKED - Counts::SEARCHER;
        // Ordering: SeqCst so that the one order of all counts holds the stack's changes as well;
        // the lock already orders them among themselves.
        self.counts
            .fetch_sub(workers as u32 * each, Ordering::SeqCst);
    }

    /// Becomes a searcher unless `limit` workers search already. The check and the increment are
    /// apart, so a race may overshoot: the limit saves power, nothing depends on it.
    /// Worker thread only.
    // Transitions: running -> searching.
    pub(crate) fn start_searching(&self, limit: usize) -> bool {
        if self.counts().searching() >= limit {
            return false;
        }
        // Ordering: SeqCst. A publisher that reads the increment relies on us to look; we look
        // after it, and re-read after leaving.
        self.counts.fetch_add(Counts::SEARCHER, Ordering::SeqCst);
        true
    }

    /// Leaves the search with work in hand, followed by a full barrier: the caller now re-reads
    /// every queue and slot, and requests if something is left (I4). Searchers only.
    // Transitions: searching -> running.
    pub(crate) fn stop_searching(&self) {
        // Ordering: SeqCst, step 1 and 2 of the right side; pairs with `Slot::publish` and the full
        // barrier after a push.
        let old = Counts(self.counts.fetch_sub(Counts::SEARCHER, Ordering::SeqCst));
        complete_barrier();
        debug_assert!(old.searching() > 0, "I1: {old:?}");
    }

    /// Puts worker `index` on the stack, followed by a full barrier: the caller now re-reads every
    /// queue and slot, and either [`park`](Self::park)s or [`withdraw`](Self::withdraw)s.
    /// Worker thread only.
    // Transitions: searching or running -> parked.
    pub(crate) fn intend_to_park(&self, index: usize, searching: bool) {
        let mut stack = lock(&self.stack);
        stack.push(index);
        let step = Counts::PARKED - u32::from(searching) * Counts::SEARCHER;
        // Ordering: SeqCst, as in `stop_searching`.
        self.counts.fetch_add(step, Ordering::SeqCst);
        drop(stack);
        complete_barrier();
    }

    /// Takes back an intention to park because work was found. The worker is a searcher again:
    /// either by its own hand, or because a request popped it just now, in which case this
    /// waits for the moment until that request has unparked it. Worker thread only.
    // Transitions: parked -> searching.
    pub(crate) fn withdraw(&self, index: usize) {
        if !self.remove(index) {
            self.parkers[index].park();
        }
    }

    fn remove(&self, index: usize) -> bool {
        let mut stack = lock(&self.stack);
        // Searched from the end: we were pushed a moment ago.
        let Some(position) = stack.iter().rposition(|&parked| parked == index) else {
            return false;
        };
        stack.remove(position);
        self.parked_to_searching(1);
        true
    }

    /// Sleeps until a request pops this worker, which is then a searcher. Worker thread only.
    pub(crate) fn park(&self, index: usize) {
        self.parkers[index].park();
    }

    /// Says which thread worker `index` is. Once, by that thread, before it parks.
    pub(crate) fn register(&self, index: usize) {
        self.parkers[index].register();
    }
}

impl fmt::Debug for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts().fmt(f)
    }
}

/// Puts one worker's thread to sleep and wakes it.
///
/// `thread::park` alone would do but for user code, which may park and unpark the same thread
/// inside a poll: our own flag tells a wake of ours from a stray token.
struct Parker {
    unparked: AtomicBool,
    thread: OnceLock<thread::Thread>,
}

impl Parker {
    fn new() -> Self {
        Parker {
            unparked: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }

    fn register(&self) {
        let first = self.thread.set(thread::current()).is_ok();
        debug_assert!(first, "a worker registers once");
    }

    fn park(&self) {
        // Ordering: Acquire pairs with the release in `unpark`.
        while !self.unparked.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }

    fn unpark(&self) {
        // Ordering: Release pairs with the acquire in `park`.
        self.unparked.store(true, Ordering::Release);
        // A worker is unparked only after it pushed itself onto the stack, hence registered (I2).
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
