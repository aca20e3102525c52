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

use crate::contain::contain;
use crate::fork;
use crate::headcount::Headcount;
use crate::idle::Answer;
use crate::pool::{PoolId, Shared};
use crate::queue::{self, Local};
use crate::remotes::{Activity, Remote};
use crate::search::Searcher;
use crate::slot::Slot;
use crate::sync::{Arc, Ordering};
use crate::task::{Meta, Runnable};

/// Polls until the queues come before the slot. Prime, so that it does not fall into step with a
/// workload (Go and tokio use the same for their global queue).
const TURN: u64 = 61;

/// Polls until the worker tells the gate that it gets on (`Gate::put_off`), at a turn: soon enough if a poll takes up to
/// 4 us. Where they are longer the gate looks itself, which then costs them less.
const BEAT: u64 = 1000;

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

/// Makes this thread no worker, after it has forked and in the child: its loop ends when it gets back to it (F2). Called by
/// the handler of forks, so it takes no lock and allocates nothing.
#[cfg(unix)]
pub(crate) fn forget_worker() {
    // SAFETY: W1; we are below the worker's loop on this thread's stack.
    if let Some(worker) = unsafe { CURRENT.replace(ptr::null()).as_ref() } {
        worker.shared.lifecycle.close();
    }
}

/// Why a worker's loop has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The pool closes.
    Closing,
    /// There are more workers than there should be.
    GaveWay,
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
        let remote = Remote::new(slot.thief(), stealer);
        (Ends { slot, queue }, remote)
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
    /// At which poll the gate is told that the worker gets on.
    beat_due: Cell<u64>,
    gave_way: Cell<bool>,
    /// An address near the begin of the thread's stack.
    stack_begin: Cell<usize>,
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
            beat_due: Cell::new(BEAT),
            gave_way: Cell::new(false),
            stack_begin: Cell::new(0),
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

    /// The ends, to be worked with by another thread. Worker thread only.
    pub(crate) fn into_ends(self) -> Ends {
        Ends {
            slot: self.slot,
            queue: self.queue,
        }
    }

    /// Runs tasks until the worker gives way or the pool closes, then hands back what is left. Worker thread
    /// only.
    pub(crate) fn run(&self) -> End {
        let begin = 0_u8;
        self.stack_begin.set((&raw const begin).addr());
        CURRENT.set(self);
        self.remote.set_activity(Activity::Running);
        let mut searcher = Searcher::new();
        // Unwind: no panic is known to get here, async-task catches those of polls. If one does,
        // the worker was between two tasks and goes on: the pool never shrinks silently.
        while !contain(|| self.run_tasks(&mut searcher)) {}
        if !self.shared.is_here() {
            fork::abort_after_poll(); // F2
        }
        CURRENT.set(ptr::null());
        self.flush();
        self.end_stale_marks();
        match self.gave_way.replace(false) {
            true => End::GaveWay,
            false => End::Closing,
        }
    }

    fn run_tasks(&self, searcher: &mut Searcher) {
        while let Some(task) = self.next(searcher) {
            self.poll(task);
        }
    }

    #[inline]
    fn poll(&self, task: Runnable) {
        self.slot.begin_poll();
        self.remote.counters.polled.store(Some(task.metadata().spawned_at()));
        // Unwind: user code; see `run`. Nothing is held across it.
        task.run();
    }

    /// Polls the task whose metadata is at `awaited` within the current poll, if it waits on this worker and there is
    /// stack left for it. Whether it did. Worker thread only, within a poll.
    pub(crate) fn poll_in_place(&self, awaited: *const Meta) -> bool {
        // Once the pool closes, what waits is to be cancelled and not polled.
        if self.shared.lifecycle.is_closing() || !self.has_stack_left() {
            return false;
        }
        let Some(task) = self.take_awaited(awaited) else {
            return false;
        };
        let outer = self.remote.polled_task();
        self.poll(task);
        self.remote.counters.polled.store(outer);
        true
    }

    /// Whether less than half of the stack is used: a chain of tasks that each wait for the next one in place
    /// must not overflow it.
    fn has_stack_left(&self) -> bool {
        let here = 0_u8;
        let used = (&raw const here).addr().abs_diff(self.stack_begin.get());
        used < self.shared.crew.settings.stack_size() / 2
    }

    /// Takes the task whose metadata is at `awaited` out of the slot or the local queue.
    fn take_awaited(&self, awaited: *const Meta) -> Option<Runnable> {
        /// A longer queue is not searched: others have been asked to come for it.
        const LONGEST: usize = 64;
        let is_awaited = |task: &Runnable| ptr::eq(task.metadata(), awaited);
        match self.slot.take() {
            Some(task) if is_awaited(&task) => return Some(task),
            Some(other) => self.schedule(other, false), // as if it had just been woken
            None => {}
        }
        let (waiting, mut found) = (self.remote.queue.len(), None);
        if waiting > LONGEST {
            return None;
        }
        for task in (0..waiting).map_while(|_| self.queue.pop()) {
            if is_awaited(&task) {
                found = Some(task);
            } else {
                self.queue.push(task);
            }
        }
        if waiting > 0 {
            self.request(); // whoever came for them meanwhile has not seen all
        }
        found
    }

    /// The next task, or `None` once the pool closes or the worker has given way.
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
        let polls = self.slot.polls();
        self.turn_due.set(polls + TURN);
        if polls >= self.beat_due.get() {
            self.beat(polls);
        }
        if self.is_one_too_many() {
            self.flush();
            return None; // and gives way, unless another worker has been quicker
        }
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

    /// Tells the gate that this worker gets on.
    #[cold]
    fn beat(&self, polls: u64) {
        self.beat_due.set(polls + BEAT);
        if self.shared.gate.put_off(&self.shared) {
            self.remote.counters.gate_ticks_put_off.bump();
        }
    }

    /// Whether there are more workers than there should be. Worker thread only, between two polls.
    pub(crate) fn is_one_too_many(&self) -> bool {
        self.end_stale_marks();
        self.shared.headcount.get().has_surplus()
    }

    /// Gives way if there are more workers than there should be: the loop then ends. Worker thread only, with nothing
    /// in its slot and queue.
    pub(crate) fn gives_way(&self) -> bool {
        if self.is_one_too_many() {
            self.gave_way.set(self.shared.headcount.try_give_way());
        }
        self.gave_way.get()
    }

    /// Between two polls nothing is blocked, whatever was said or found of the last one.
    fn end_stale_marks(&self) {
        self.remote.marks.end_poll(&self.shared.headcount, self.sections());
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
            .take_share(shared.headcount.get().live(), &self.queue)?;
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
        } else if !counts.gate_is_awake() {
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
        self.heed(self.shared.idle.request());
    }

    /// Asks for another worker, who is to watch when the task that is about to run publishes. If nobody sleeps,
    /// the gate is not woken for that: the publish would do it, and here a stolen task waits for its poll. Worker thread
    /// only.
    pub(crate) fn ask_for_watcher(&self) {
        let shared = &*self.shared;
        if shared.switches.asks_for_watcher() && shared.idle.request_after_barrier() == Answer::Woke {
            self.remote().counters.wakes_requested.bump();
        }
    }

    /// The same, first thing after a wake, if it is clear that there will be a task to run: the other one takes
    /// longer to wake than we to look. Searchers only.
    pub(crate) fn ask_for_watcher_early(&self) {
        let shared = &*self.shared;
        let asks = shared.switches.asks_for_watcher() && !shared.injector.is_empty();
        if asks && shared.idle.wake_second() {
            self.remote().counters.wakes_requested.bump();
        }
    }

    #[cold]
    fn wake_newest(&self) {
        self.heed(self.shared.idle.wake_newest());
    }

    /// Counts and passes on what a request has brought.
    pub(crate) fn heed(&self, answer: Answer) {
        match answer {
            Answer::Woke => {
                self.remote().counters.wakes_requested.bump();
            }
            Answer::NobodyIdle => self.shared.wake_gate(),
            Answer::Absorbed => {}
        }
    }

    pub(crate) fn count_spawned(&self) {
        self.remote().counters.spawned.bump();
    }

    /// Begins a section of `blocking`; returns the mark to go back to. Worker thread only.
    pub(crate) fn begin_blocking(&self) -> u64 {
        let outer = self.remote.marks.begin_section(self.slot.polls(), self.sections());
        if self.remote.has_work() {
            // Relaxed: a hint.
            self.shared.last_to_block.store(self.index, Ordering::Relaxed);
            self.heed(self.shared.idle.request_after_barrier());
        }
        if self.shared.nobody_comes() {
            self.shared.wake_gate();
            self.shared.gate.wake(); // from the long sleep too: another worker is due now
        }
        outer
    }

    /// Ends the section, unless the end of its poll has. Worker thread only.
    pub(crate) fn end_blocking(&self, outer: u64) {
        self.remote.marks.end_section(outer, self.sections());
    }

    /// Where sections count, if they do.
    fn sections(&self) -> Option<&Headcount> {
        let counts = self.shared.switches.cooperative_blocking;
        counts.then_some(&self.shared.headcount)
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
