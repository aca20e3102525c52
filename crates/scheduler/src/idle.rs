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
//! | **searching** | [`stop_searching`](Idle::stop_searching), it found work | running |
//! | **running**, **searching** | [`park`](Idle::park) | parked |
//! | **parked** | popped by a request, or withdrawn because work was found | searching |
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
//!   absorbs every request. One that sees, on its way, what it was woken for may wake one more, who will search when it
//!   runs.
//! * **I4** A worker that finds work while others could run what remains requests a successor
//!   before it runs (step 3 on the right).
//! * **I5** No user code runs under the stack's lock.
//! * **I6** A worker that leaves the search leaves the slots to the gate only if it reads the promise
//!   after its own full barrier.
//!
//! # The gate's watch
//!
//! Two bits beside the counts say whether the gate is awake, and whether it has promised to look after
//! what is published into slots. A publish that finds the promise needs no barrier and asks nobody;
//! the protocol stands in `gate`, both of its sides are here: [`publish`](Idle::publish) and
//! [`end_watch`](Idle::end_watch). What goes into a queue is never deferred.

use crate::slot::{Raw, Slot};
#[cfg(not(runnext_loom))]
use crate::sync::now;
use crate::sync::{
    AtomicU32, Mutex, Ordering, Parker, asymmetric_barriers, full_barrier, heavy_barrier,
    light_barrier, lock,
};
use crossbeam_utils::CachePadded;
use std::fmt;

#[cfg(test)]
mod tests;

/// The counts of idle workers, packed into one word.
///
/// | bits | meaning |
/// |---|---|
/// | 0 to 13 | searching |
/// | 14 | the gate has promised to look after what is published into slots |
/// | 15 | the gate is awake |
/// | 16 to 31 | parked |
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts(u32);

impl Counts {
    const SEARCHER: u32 = 1;
    const WATCH: u32 = 1 << 14;
    const AWAKE: u32 = 1 << 15;
    const PARKED: u32 = 1 << 16;
    const SEARCHER_MASK: u32 = Self::WATCH - 1;

    pub(crate) fn searching(self) -> usize {
        (self.0 & Self::SEARCHER_MASK) as usize
    }

    pub(crate) fn parked(self) -> usize {
        (self.0 / Self::PARKED) as usize
    }

    /// The searching and the parked.
    pub(crate) fn idle(self) -> usize {
        self.searching() + self.parked()
    }

    pub(crate) fn gate_is_awake(self) -> bool {
        self.0 & Self::AWAKE != 0
    }

    pub(crate) fn gate_watches(self) -> bool {
        self.0 & Self::WATCH != 0
    }

    /// Whether somebody has promised to look after what is published into slots.
    pub(crate) fn is_watched(self) -> bool {
        self.0 & (Self::SEARCHER_MASK | Self::WATCH) != 0
    }

    /// Whether nobody sleeps, neither a worker nor the gate: a request then has nothing to do.
    #[inline]
    fn all_are_awake(self) -> bool {
        (self.0 ^ Self::AWAKE) < Self::AWAKE // the bits from there on are `AWAKE`, and nothing else
    }

    /// What a request is told that wakes nobody.
    fn answer(self) -> Answer {
        match self.0 & (Self::SEARCHER_MASK | Self::AWAKE) {
            0 => Answer::NobodyIdle,
            _ => Answer::Absorbed,
        }
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
            .field("gate_is_awake", &self.gate_is_awake())
            .field("gate_watches", &self.gate_watches())
            .finish()
    }
}

/// What a request has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A parked worker was woken.
    Woke,
    /// A searcher looks, or the gate is awake and will.
    Absorbed,
    /// All workers run, and the gate sleeps: it should be woken, since they may be blocked.
    NobodyIdle,
}

/// The idle state of a pool.
pub(crate) struct Idle {
    counts: CachePadded<AtomicU32>,
    /// Whether the gate can end its watch with a heavy barrier.
    asymmetric: bool,
    /// Indices of the parked workers, newest last.
    stack: Mutex<Vec<usize>>,
    parkers: Box<[Parker]>,
}

impl Idle {
    /// The state of at most `workers` workers, all running, and no more than 16 383, the width of the lesser
    /// count.
    pub(crate) fn new(workers: usize) -> Self {
        assert!(workers <= Counts::SEARCHER_MASK as usize);
        Idle {
            counts: CachePadded::new(AtomicU32::new(0)),
            asymmetric: asymmetric_barriers(),
            stack: Mutex::new(Vec::with_capacity(workers)),
            parkers: (0..workers).map(|_| Parker::default()).collect(),
        }
    }

    /// In a model: on a system with or without a heavy barrier.
    #[cfg(all(test, runnext_loom))]
    pub(crate) fn on_a_system(workers: usize, asymmetric: bool) -> Self {
        Idle {
            asymmetric,
            ..Idle::new(workers)
        }
    }

    /// Says that there is no gate: nobody then tries to wake it. Before the workers start.
    pub(crate) fn without_gate(&self) {
        // Relaxed: the start of the threads orders it.
        self.counts.fetch_or(Counts::AWAKE, Ordering::Relaxed);
    }

    /// The counts, momentarily. Any thread.
    #[inline]
    pub(crate) fn counts(&self) -> Counts {
        // Ordering: SeqCst, step 3 of the left side of the protocol; a plain `mov` on x86.
        Counts(self.counts.load(Ordering::SeqCst))
    }

    /// Puts `item` into `slot` and returns counts: if they say that the slot is watched, somebody looks
    /// after the item; if not, they are as new as the item, and a request is due. The slot's owner.
    ///
    /// # Errors
    ///
    /// Gives `item` back when the slot is full.
    #[inline]
    pub(crate) fn publish<T: Raw>(&self, slot: &Slot<T>, item: T) -> Result<Counts, T> {
        if !(self.asymmetric && self.counts().gate_watches()) {
            slot.publish(item)?;
            return Ok(self.counts());
        }
        slot.publish_unordered(item)?;
        light_barrier(); // pairs with the heavy one in `end_watch`
        let counts = self.counts();
        if counts.gate_watches() {
            return Ok(counts);
        }
        full_barrier();
        Ok(self.counts())
    }

    /// What a worker that leaves the search has to re-read: what waits in slots is left to the gate, if it watches.
    pub(crate) fn leaves_work(
        &self,
        queues_wait: impl FnOnce() -> bool,
        slots_wait: impl FnOnce() -> bool,
    ) -> bool {
        queues_wait() || (!self.counts().gate_watches() && slots_wait())
    }

    /// Asks for a worker for what was just pushed. Any thread.
    #[inline]
    pub(crate) fn request(&self) -> Answer {
        full_barrier(); // step 2 of the left side
        self.request_after_barrier()
    }

    /// As [`request`](Self::request), when the push itself was the full barrier, as a publish into a
    /// slot is (S3). Any thread.
    #[inline]
    pub(crate) fn request_after_barrier(&self) -> Answer {
        match self.counts() {
            counts if counts.all_are_awake() => Answer::Absorbed,
            counts => self.ask(counts),
        }
    }

    /// The request, when somebody sleeps. Any thread.
    // Out of line, so that a push while all run costs no more than one comparison.
    #[inline(never)]
    fn ask(&self, counts: Counts) -> Answer {
        match counts.wants_wake() {
            true => self.wake_newest(),
            false => counts.answer(),
        }
    }

    /// Wakes the newest parked worker, unless another request has been quicker. Any thread.
    // Transitions: parked -> searching, for the newest.
    #[cold]
    pub(crate) fn wake_newest(&self) -> Answer {
        // Another request may have been quicker; its worker now absorbs ours (I3).
        if self.wake_newest_if(Counts::wants_wake) {
            return Answer::Woke;
        }
        self.counts().answer()
    }

    /// Wakes the newest parked worker also while others search: a searcher that has absorbed a request
    /// may have been switched off before it looked. True if it woke one. Any thread.
    // Transitions: parked -> searching, for the newest.
    pub(crate) fn wake_one_more(&self) -> bool {
        self.wake_newest_if(|counts| counts.parked() > 0)
    }

    /// Wakes the newest parked worker if nobody searches but the caller. True if it woke one. Searchers only.
    // Transitions: parked -> searching, for the newest.
    pub(crate) fn wake_second(&self) -> bool {
        let is_alone = |counts: Counts| counts.searching() == 1 && counts.parked() > 0;
        is_alone(self.counts()) && self.wake_newest_if(is_alone)
    }

    fn wake_newest_if(&self, wanted: impl FnOnce(Counts) -> bool) -> bool {
        let Some(newest) = self.pop_newest_if(wanted) else {
            return false;
        };
        self.parkers[newest].unpark();
        true
    }

    fn pop_newest_if(&self, wanted: impl FnOnce(Counts) -> bool) -> Option<usize> {
        let mut stack = lock(&self.stack);
        if !wanted(self.counts()) {
            return None;
        }
        let newest = stack.pop();
        debug_assert!(newest.is_some(), "I2: a parked worker is on the stack");
        if newest.is_some() {
            self.parked_to_searching(1);
        }
        newest
    }

    /// Says that the gate is awake, and has promised to watch if `promise`. True if it was asleep:
    /// then it must be woken. Any thread.
    // Transitions: gate asleep -> awake.
    pub(crate) fn wake_gate(&self, promise: bool) -> bool {
        if self.counts().gate_is_awake() {
            return false;
        }
        let bits = Counts::AWAKE | if promise { Counts::WATCH } else { 0 };
        // Ordering: SeqCst, so that whoever then leaves the search does so after the gate has taken over.
        let old = Counts(self.counts.fetch_or(bits, Ordering::SeqCst));
        !old.gate_is_awake()
    }

    /// Ends the gate's watch, unless `work_left`: then it goes on. True if it ended. Gate only.
    // Transitions: gate awake -> asleep, if nothing is left.
    #[must_use = "a watch that has not ended goes on"]
    pub(crate) fn end_watch(&self, work_left: impl FnOnce() -> bool) -> bool {
        let bits = Counts::AWAKE | Counts::WATCH;
        // Ordering: SeqCst, step 1 of the right side. The heavy barrier pairs with the light one of
        // a publisher that relied on the watch (`publish`), and with the full ones as well.
        let old = self.counts.fetch_and(!bits, Ordering::SeqCst);
        let ordered = !self.asymmetric || heavy_barrier();
        full_barrier(); // the other half where there is no heavy one
        if ordered && !work_left() {
            return true;
        }
        // Ordering: SeqCst as in `wake_gate`. A wake of the gate meanwhile has left a token: harmless.
        self.counts.fetch_or(old & bits, Ordering::SeqCst);
        false
    }

    /// Wakes every parked worker, for a shutdown. Returns how many search now. Any thread.
    // Transitions: parked -> searching, for all.
    pub(crate) fn wake_all(&self) -> usize {
        let all = {
            let mut stack = lock(&self.stack);
            self.parked_to_searching(stack.len());
            std::mem::take(&mut *stack)
        };
        for index in all {
            self.parkers[index].unpark();
        }
        self.counts().searching()
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

    /// Leaves the search with work in hand; requests a successor if `work_left` says that there is
    /// more (I4), and returns what that brought. Searchers only.
    // Transitions: searching -> running.
    pub(crate) fn stop_searching(&self, work_left: impl FnOnce() -> bool) -> Answer {
        // Ordering: SeqCst, step 1 of the right side; the barrier pairs with `Slot::publish` and
        // `request`.
        let old = Counts(self.counts.fetch_sub(Counts::SEARCHER, Ordering::SeqCst));
        full_barrier();
        debug_assert!(old.searching() > 0, "I1: {old:?}");
        if work_left() {
            self.request_after_barrier()
        } else {
            Answer::Absorbed
        }
    }

    /// Sleeps until a request pops worker `index`, unless `work_left`. Either way the worker then is
    /// a searcher. True if it slept. Worker thread only.
    // Transitions: searching or running -> parked -> searching.
    pub(crate) fn park(
        &self,
        index: usize,
        searching: bool,
        work_left: impl FnOnce() -> bool,
    ) -> bool {
        self.push(index, searching);
        full_barrier(); // pairs as in `stop_searching`
        if work_left() {
            self.withdraw(index);
            return false;
        }
        self.parkers[index].park();
        true
    }

    fn push(&self, index: usize, searching: bool) {
        let mut stack = lock(&self.stack);
        stack.push(index);
        let step = Counts::PARKED - u32::from(searching) * Counts::SEARCHER;
        // Ordering: SeqCst, step 1 of the right side.
        self.counts.fetch_add(step, Ordering::SeqCst);
    }

    /// Takes back what `push` said. If a request has popped us meanwhile, this waits for the moment
    /// until it has unparked us, so that no wake is left over for the next sleep.
    // Transitions: parked -> searching.
    fn withdraw(&self, index: usize) {
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

    /// Sleeps as worker `index` without being idle: no request finds it. Ends with
    /// [`recall`](Self::recall), or after `timeout` if there is one; true if recalled. Worker thread only.
    #[cfg(not(runnext_loom))]
    pub(crate) fn sleep_apart(&self, index: usize, timeout: Option<std::time::Duration>) -> bool {
        let parker = &self.parkers[index];
        let Some(until) = timeout.and_then(|timeout| now().checked_add(timeout)) else {
            parker.park();
            return true;
        };
        // A park may end early, by what user code has left behind on this thread for instance.
        loop {
            let left = until.saturating_duration_since(now());
            if parker.park_timeout(left) {
                return true;
            }
            if left.is_zero() {
                return false;
            }
        }
    }

    /// The same in a model: a sleep whose time is up at once.
    #[cfg(runnext_loom)]
    pub(crate) fn sleep_apart(&self, index: usize) -> bool {
        self.parkers[index].take_wake()
    }

    /// Takes the recall that is on its way. Worker thread only.
    pub(crate) fn await_recall(&self, index: usize) {
        self.parkers[index].park();
    }

    /// Ends the sleep of worker `index`, which sleeps apart or is about to. Any thread.
    pub(crate) fn recall(&self, index: usize) {
        self.parkers[index].unpark();
    }

    /// Says which thread worker `index` is. By that thread, before it parks.
    pub(crate) fn register(&self, index: usize) {
        self.parkers[index].register();
    }
}

impl fmt::Debug for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts().fmt(f)
    }
}
