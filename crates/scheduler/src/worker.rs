//! The worker: one thread that runs tasks, and what others may touch of it.
//!
//! # The run loop
//!
//! Take the next task, poll it, repeat; without work search, then park. The order is slot, local
//! queue, injector, with one rule against starvation, counted in polls so that the hop reads no clock, and
//! holding with a single worker:
//!
//! * Every [`TURN`] polls, slot polls counted, the injector comes first and then the local queue, or the other way
//!   round if the injector had the last turn. What waits in the slot lines up in the local queue then, so that
//!   two chains get equal shares.
//!
//! tokio does the like at every fourth hop. A turn costs a push, a pop and a barrier, 40 ns or so: too much for one hop in
//! four, nothing for one in 61. Leaving the slot's item where it is would be cheaper still, but the chain in the slot
//! then gets all polls but one of each turn, and whoever shares its worker next to none.
//!
//! # Where a scheduled task goes
//!
//! | who schedules | target |
//! |---|---|
//! | this worker, slot empty | slot |
//! | this worker, slot full (a burst) | local queue |
//! | this worker, task woken while it ran (a yield) | local queue; the slot only if nothing older waits |
//! | this worker, with `RunNext` off | local queue |
//! | any other thread | injector ([`Shared::inject`]) |
//!
//! Each of them is followed by a full barrier and a request for a worker, but for a yield into the
//! slot (W3), and for a publish into the slot while somebody watches it (`gate`).
//!
//! # Invariants
//!
//! * **W1** [`CURRENT`] points to a worker only while that worker's loop is on the stack of this thread.
//! * **W2** A worker parks or ends only with an empty slot and an empty local queue.
//! * **W3** A yield into the slot needs no request. Its poll has ended, so the owner takes it next, or, at the turn of
//!   the queues, puts it there with a request of its own before it polls anything else.

use std::cell::Cell;
use std::ptr;

use crossbeam_utils::CachePadded;

use crate::contain::contain;
use crate::pool::{PoolId, Shared};
use crate::queue::{self, Local, Stealer};
use crate::search::Searcher;
use crate::share::Steals;
use crate::slot::{Slot, Thief};
use crate::stats::{Counters, WorkerStats};
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering};
use crate::task::Runnable;

/// Polls until the queues come before the slot. Prime, so that it does not fall into step with a
/// workload (Go and tokio use the same for their global queue).
const TURN: u64 = 61;

thread_local! {
    /// The worker whose loop runs on this thread, or null (W1). Without a destructor and
    /// initialised at compile time, so that reading it is one load, at any time of a thread's life.
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };

    /// The pool that this thread works for, if any: from its start hook to the destructors of its
    /// thread-locals, and so longer than `CURRENT`.
    static EMPLOYER: Cell<PoolId> = const { Cell::new(PoolId::NONE) };
}

/// Says that this thread works for `pool`. Once a thread.
pub(crate) fn work_for(pool: PoolId) {
    EMPLOYER.set(pool);
}

/// Whether this is one of `pool`'s threads, which therefore must not wait for them.
pub(crate) fn works_for(pool: PoolId) -> bool {
    EMPLOYER.get() == pool
}

/// What others may touch of a worker.
#[derive(Debug)]
pub(crate) struct Remote {
    /// The slot has a line of its own, which the owner writes at every poll; `counters` is written
    /// by the owner as well, and thieves pull `queue` towards them.
    pub(crate) slot: Thief<Runnable>,
    pub(crate) queue: CachePadded<Stealer<Runnable>>,
    pub(crate) counters: CachePadded<Counters>,
    /// Up to which poll of the worker its items may be taken at once: the gate knows its polls to be
    /// long. A poll, not the item, so that it need not be taken back.
    stealable_through: AtomicU64,
    /// Whether only a rescue allows that, for a moment: see `share`.
    kept: AtomicBool,
    /// In which poll the worker says to be blocked (`blocking`); 0 for none, polls count from 1.
    blocked_in: AtomicU64,
}

/// A worker's own ends of what it shares with thieves.
#[derive(Debug)]
pub(crate) struct Ends {
    slot: Slot<Runnable>,
    queue: Local<Runnable>,
}

impl Ends {
    /// The ends of a new worker, and what the others get of it.
    pub(crate) fn new() -> (Self, Remote) {
        let slot = Slot::new();
        let (queue, stealer) = queue::local();
        let remote = Remote {
            slot: slot.thief(),
            queue: CachePadded::new(stealer),
            counters: CachePadded::default(),
            stealable_through: AtomicU64::new(0),
            kept: AtomicBool::new(false),
            blocked_in: AtomicU64::new(0),
        };
        (Ends { slot, queue }, remote)
    }
}

impl Remote {
    /// Whether something waits here that another worker could run. Any thread.
    pub(crate) fn has_work(&self) -> bool {
        self.slot.is_full() || !self.queue.is_empty()
    }

    /// Lets thieves take what waits here without delay for as long as the poll counter is at most
    /// `through`. Gate only.
    pub(crate) fn allow_steals(&self, through: u64) {
        // Relaxed: a hint about when, not whether; only the gate writes it.
        let allowed = self.stealable_through.load(Ordering::Relaxed);
        self.stealable_through
            .store(allowed.max(through), Ordering::Relaxed);
    }

    /// Says when thieves may take what waits in the slot, until told otherwise. Gate only.
    pub(crate) fn allow(&self, steals: Steals) {
        let through = match steals {
            Steals::AtOnce => u64::MAX,
            Steals::Delayed | Steals::Rescued => 0,
        };
        // Relaxed: see `allow_steals`.
        self.stealable_through.store(through, Ordering::Relaxed);
        self.kept
            .store(steals == Steals::Rescued, Ordering::Relaxed);
    }

    /// Whether thieves may take without delay, given the poll counter. Any thread.
    pub(crate) fn allows_steals(&self, polls: u64) -> bool {
        // Relaxed: see `allow_steals`.
        polls <= self.stealable_through.load(Ordering::Relaxed) || self.says_blocked(polls)
    }

    /// Whether the worker has said that it is blocked in the poll of this number. Any thread.
    pub(crate) fn says_blocked(&self, polls: u64) -> bool {
        // Relaxed: a hint about when, as above; whether somebody comes is for the request to see to.
        polls != 0 && polls == self.blocked_in.load(Ordering::Relaxed)
    }

    /// Whether thieves have to leave the slot alone, however long the item waits, until the gate rescues
    /// it. Any thread.
    pub(crate) fn waits_for_rescue(&self) -> bool {
        // Relaxed: see `allow_steals`.
        self.kept.load(Ordering::Relaxed) && !self.allows_steals(self.slot.polls())
    }

    pub(crate) fn stats(&self) -> WorkerStats {
        let mut stats = WorkerStats::default();
        self.counters.copy_into(&mut stats);
        stats.polls_count = self.slot.polls();
        stats.slot_full = self.slot.is_full();
        stats.local_queue_depth = self.queue.len();
        stats
    }
}

/// A worker, as its own thread sees it.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    /// `shared.remotes[index]`, without the way there.
    remote: Arc<Remote>,
    pub(crate) index: usize,
    slot: Slot<Runnable>,
    pub(crate) queue: Local<Runnable>,
    /// At which poll the queues come before the slot.
    turn_due: Cell<u64>,
    injector_had_turn: Cell<bool>,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, ends: Ends) -> Self {
        Worker {
            remote: shared.remotes[index].clone(),
            shared,
            index,
            slot: ends.slot,
            queue: ends.queue,
            turn_due: Cell::new(TURN),
            injector_had_turn: Cell::new(false),
        }
    }

    /// Calls `f` with the worker whose loop runs on this thread, if there is one. Any thread.
    #[inline]
    pub(crate) fn with<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
        // SAFETY: W1. We are below the worker's loop on this thread's stack, so the worker outlives
        // `f`; and it is not `Sync`, so the reference stays on this thread.
        f(unsafe { CURRENT.get().as_ref() })
    }

    /// As [`with`](Self::with), but only for a worker of `pool`. Any thread.
    #[inline]
    pub(crate) fn with_own<R>(pool: *const Shared, f: impl FnOnce(Option<&Worker>) -> R) -> R {
        Self::with(|worker| f(worker.filter(|worker| ptr::eq(&*worker.shared, pool))))
    }

    #[inline]
    pub(crate) fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Runs tasks until the pool closes, then hands back what is left. Worker thread only.
    pub(crate) fn run(&self) {
        CURRENT.set(self);
        let mut searcher = Searcher::new(self);
        // Unwind: no panic is known to get here, async-task catches those of polls. If one does,
        // the worker was between two tasks and goes on: the pool never shrinks silently.
        while !contain(|| self.run_tasks(&mut searcher)) {}
        CURRENT.set(ptr::null());
        self.flush();
    }

    fn run_tasks(&self, searcher: &mut Searcher) {
        while let Some(task) = self.next(searcher) {
            self.slot.begin_poll();
            // Unwind: user code; see `run`. Nothing is held across it.
            task.run();
        }
    }

    /// The next task, or `None` once the pool closes.
    #[inline]
    fn next(&self, searcher: &mut Searcher) -> Option<Runnable> {
        if self.shared.lifecycle.is_closing() {
            return None;
        }
        self.next_own().or_else(|| searcher.search(self))
    }

    #[inline]
    fn next_own(&self) -> Option<Runnable> {
        if self.slot.polls() >= self.turn_due.get() {
            return self.next_in_turn();
        }
        self.next_in_slot()
            .or_else(|| self.queue.pop())
            .or_else(|| self.next_injected())
    }

    /// The next task when it is the turn of the queues.
    #[inline(never)]
    fn next_in_turn(&self) -> Option<Runnable> {
        self.turn_due.set(self.slot.polls() + TURN);
        let Some(older) = self.next_queued() else {
            return self.next_in_slot();
        };
        if let Some(task) = self.slot.take() {
            self.remote.counters.slot_turns.bump();
            self.queue.push(task);
            self.request();
        }
        Some(older)
    }

    fn next_queued(&self) -> Option<Runnable> {
        let queue_first = self.injector_had_turn.replace(false);
        if queue_first && let Some(task) = self.queue.pop() {
            return Some(task);
        }
        let injected = self.next_injected();
        self.injector_had_turn.set(injected.is_some());
        injected.or_else(|| self.queue.pop())
    }

    #[inline]
    fn next_in_slot(&self) -> Option<Runnable> {
        let task = self.slot.take()?;
        self.remote.counters.slot_polls.bump();
        Some(task)
    }

    /// A fair share of the injector: the oldest item, the rest into the local queue.
    pub(crate) fn next_injected(&self) -> Option<Runnable> {
        let shared = &*self.shared;
        let (task, moved) = shared
            .injector
            .take_share(shared.remotes.len(), &self.queue)?;
        self.remote()
            .counters
            .injector_polls
            .add(1 + moved as u64);
        if moved > 0 {
            // They left a queue that every searcher looks at first for one that it may look at
            // last: somebody should come for them.
            self.request();
        }
        Some(task)
    }

    /// Queues a task that was woken or spawned on this worker. Worker thread only.
    #[inline]
    pub(crate) fn schedule(&self, task: Runnable, woken_while_running: bool) {
        if !self.shared.switches.run_next || (woken_while_running && self.older_work_waits()) {
            return self.enqueue(task);
        }
        let published = match woken_while_running {
            true => self.slot.publish_unordered(task), // W3
            false => self.publish(task),
        };
        if let Err(task) = published {
            self.enqueue_refused(task);
        }
    }

    /// Puts a task into the slot, and asks for a worker unless somebody watches (`gate`).
    #[inline]
    fn publish(&self, task: Runnable) -> Result<(), Runnable> {
        let counts = self.shared.idle.publish(&self.slot, task)?;
        if counts.is_watched() {
            return Ok(()); // a searcher absorbs the request, or the gate has made it needless
        }
        if counts.parked() > 0 {
            self.wake_newest();
        } else if self.shared.switches.defer {
            self.wake_gate(); // all workers run
        }
        Ok(())
    }

    #[cold]
    fn wake_gate(&self) {
        self.shared.wake_gate();
    }

    #[inline(never)]
    fn enqueue_refused(&self, task: Runnable) {
        self.remote().counters.slot_refusals.bump();
        self.enqueue(task);
    }

    fn older_work_waits(&self) -> bool {
        !self.queue.is_empty() || !self.shared.injector.is_empty()
    }

    // Out of line, like `enqueue_refused`: the hop then saves no registers for them.
    #[inline(never)]
    fn enqueue(&self, task: Runnable) {
        self.queue.push(task);
        self.remote().counters.local_schedule_count.bump();
        self.request();
    }

    /// Asks for a worker after a push. Worker thread only.
    pub(crate) fn request(&self) {
        self.count_wake(self.shared.idle.request());
    }

    #[cold]
    fn wake_newest(&self) {
        self.count_wake(self.shared.idle.wake_newest());
    }

    pub(crate) fn count_wake(&self, woke: bool) {
        if woke {
            self.remote().counters.wakes_requested.bump();
        }
    }

    pub(crate) fn count_spawned(&self) {
        self.remote().counters.spawned.bump();
    }

    /// Begins a section of `blocking`; returns the mark to go back to. Worker thread only.
    pub(crate) fn begin_blocking(&self) -> u64 {
        // Ordering: SeqCst, a full barrier as a request needs it: see `blocking`.
        let outer = self.remote.blocked_in.swap(self.slot.polls(), Ordering::SeqCst);
        if self.remote.has_work() {
            self.request();
        }
        outer
    }

    /// Ends the section. Worker thread only.
    pub(crate) fn end_blocking(&self, outer: u64) {
        // Relaxed: only the owner writes it.
        self.remote.blocked_in.store(outer, Ordering::Relaxed);
    }

    /// Lets nothing wait behind a poll that is about to block: the other workers get it, or, once
    /// the pool is closing, nobody (L4). Worker thread only.
    pub(crate) fn before_blocking(&self) {
        self.flush();
        while self.shared.lifecycle.is_closing() {
            self.shared.cancel_waiting();
            if !self.remote().has_work() {
                break;
            }
            self.flush(); // a destructor has woken something
        }
    }

    /// Hands everything that waits on this worker to the others, oldest first after the slot's
    /// item. Worker thread only.
    pub(crate) fn flush(&self) {
        let slot = self.slot.take();
        let queue = std::iter::from_fn(|| self.queue.pop());
        let mut any = false;
        for task in slot.into_iter().chain(queue) {
            self.shared.injector.push(task);
            any = true;
        }
        if any {
            self.request();
        }
    }
}
