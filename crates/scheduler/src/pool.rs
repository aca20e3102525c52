//! The pool: the handle that users hold, and the state that its workers share.
//!
//! # Ownership
//!
//! ```text
//! Pool (clones) -> Handle -> Shared <- worker threads
//!                              ^------- every task, through its metadata
//! ```
//!
//! The handle counts users: when the last one goes, the pool closes (L2). `Shared` lives for as
//! long as a thread or a task needs it, and a waker kept for ever keeps only the task's empty shell
//! and `Shared`, but no future and no thread.

use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::task::Waker;
use std::time::Duration;

use runnext_knobs::Knobs;

use crate::block_on;
use crate::builder::Builder;
use crate::crew::{Crew, Hooks, ThreadSettings};
use crate::dump::Dump;
use crate::fork::{self, Process};
use crate::gate::Gate;
use crate::headcount::Headcount;
use crate::idle::{Answer, Counts, Idle};
use crate::lifecycle::Lifecycle;
use crate::queue::Injector;
use crate::remotes::{Remote, Remotes};
use crate::stall::Reports;
use crate::stats::{Outside, Stats, WorkerStats};
use crate::sync::{Arc, AtomicU64, AtomicUsize, Ordering, thread};
use crate::task::{self, Entry, Registry, Runnable, Task};
use crate::worker::{Worker, works_for};

/// A pool of worker threads that runs futures.
///
/// A clone is cheap and is another handle of the same pool. Dropping the last handle starts a
/// shutdown without waiting for it: running polls finish, every other future is dropped.
/// [`shutdown`](Self::shutdown) does the same and waits. In a child of `fork`, which has none of its threads, a pool counts
/// as shut down.
///
/// ```
/// let pool = runnext::Pool::new()?;
/// let task = pool.spawn(async { 6 * 7 });
/// assert_eq!(pool.block_on(task), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Pool {
    handle: Arc<Handle>,
}

impl Pool {
    /// A pool as the environment variables say (`docs/KNOBS.md`), by default one worker a processor.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started; the error says which one and why.
    pub fn new() -> io::Result<Pool> {
        Builder::new().build()
    }

    /// A builder, for everything that can be chosen.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Runs `future` on the pool.
    ///
    /// On a worker of this pool the task goes to the worker's run-next slot, or to its local queue if
    /// the slot is full; from any other thread to the global queue. After a shutdown has begun,
    /// the task is cancelled at once.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.shared.spawn(future)
    }

    /// Runs `future` on the pool, through the global queue even on a worker: the next worker that is
    /// free takes it, and the one that spawns it does not come first.
    ///
    /// For work that its spawner does not wait for, while the spawner goes on for long. With a
    /// single worker it waits for the spawner all the same.
    #[track_caller]
    pub fn spawn_global<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let shared = &self.handle.shared;
        let (runnable, task) = task::build(shared, future);
        shared.count_spawned_outside();
        if !shared.is_closed() {
            shared.inject(runnable);
        } // else dropping the runnable cancels the task
        task
    }

    /// Runs `future` on the calling thread and waits for it.
    ///
    /// The same as [`block_on`](crate::block_on): the pool is needed only by what the future spawns.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(future)
    }

    /// A snapshot of the counters. Costs a read of every worker's cache lines.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.handle.shared.stats()
    }

    /// What each worker does now, and which tasks are alive, to be printed: it says what a pool that hangs
    /// waits for. Costs a lock of each shard of the tasks, so it is nothing for a hot path.
    ///
    /// ```
    /// # let pool = runnext::Pool::new()?;
    /// eprintln!("{}", pool.dump());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn dump(&self) -> Dump {
        Dump::of(&self.handle.shared)
    }

    /// Changes how many workers the pool has: `min` while none is blocked, and never more than `max`.
    ///
    /// Workers that are missing are started before this returns, or as soon as threads on their way out have made room.
    /// Those that are too many finish their poll, hand over what waits on them and become spares, which end as
    /// `ThreadTimeoutMs` and `ThreadsToKeepAlive` say.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if `min` is 0 or above `max`, or `max` above what the pool was built for (`max_threads` of the
    /// builder, else `RUNNEXT_MAX_THREADS`): then nothing has changed. The system's error if a thread cannot be
    /// started: the new numbers hold then, and another call tries again. `Other` in a child of `fork`.
    pub fn set_threads(&self, min: usize, max: usize) -> io::Result<()> {
        self.handle.shared.set_threads(min, max)
    }

    /// The knobs that the pool was built with, each with its origin.
    #[must_use]
    pub fn knobs(&self) -> &Knobs {
        &self.handle.shared.knobs
    }

    /// Shuts the pool down and waits: running polls finish, every other future is dropped, on a
    /// thread of the pool and exactly once, and all threads end. A poll that sits in
    /// [`block_on`](crate::block_on) finds the tasks that it waits for cancelled.
    ///
    /// Threads that had retired before, as spares do, are not waited for: they may still drop their thread-locals.
    ///
    /// A poll that never returns makes this wait for ever; [`shutdown_timeout`] bounds it. Called on a
    /// thread of this pool, also in a hook or a destructor, it only starts the shutdown, since it cannot wait for itself. Later calls
    /// wait for the same shutdown.
    ///
    /// [`shutdown_timeout`]: Self::shutdown_timeout
    pub fn shutdown(&self) {
        self.handle.shutdown(None);
    }

    /// As [`shutdown`](Self::shutdown), waiting at most `timeout`. True if all threads have ended;
    /// false if not, or if the system has no thread left for waiting on them.
    #[must_use = "false means that a poll still runs and its thread is still there"]
    pub fn shutdown_timeout(&self, timeout: Duration) -> bool {
        self.handle.shutdown(Some(timeout))
    }

    /// Whether a shutdown has begun: from then on a spawned task is cancelled at once.
    #[must_use]
    pub fn is_shutdown(&self) -> bool {
        self.handle.shared.is_closed()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = &self.handle.shared;
        f.debug_struct("Pool")
            .field("workers", &shared.headcount)
            .field("idle", &shared.idle)
            .field("closing", &shared.lifecycle.is_closing())
            .finish_non_exhaustive()
    }
}

/// What the clones of a [`Pool`] share; the last drop closes the pool.
pub(crate) struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Handle { shared }
    }

    pub(crate) fn shutdown(&self, timeout: Option<Duration>) -> bool {
        let shared = &self.shared;
        if shared.is_gone() {
            return true; // no thread of it is here
        }
        shared.close();
        if works_for(shared.id) {
            return false;
        }
        if shared.lifecycle.begin_joining() {
            match timeout {
                None => shared.join_threads(),
                Some(_) => self.join_elsewhere(),
            }
        } // else somebody else joins them
        shared.lifecycle.wait_until_joined(timeout)
    }

    /// Joins on a thread made for it, since a join cannot be bounded.
    fn join_elsewhere(&self) {
        let shared = self.shared.clone();
        let joiner = thread::Builder::new().name("runnext-join".into());
        if joiner.spawn(move || shared.join_threads()).is_err() {
            // No thread to be had. The caller's wait runs out then, and a later call may join.
            self.shared.lifecycle.give_up_joining();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.shared.is_here() {
            self.shared.close(); // L2: without waiting; the threads are detached
        }
    }
}

impl From<Arc<Handle>> for Pool {
    fn from(handle: Arc<Handle>) -> Self {
        Pool { handle }
    }
}

/// The knobs that scheduling reads, laid out for it.
#[derive(Debug)]
pub(crate) struct Switches {
    pub(crate) run_next: bool,
    pub(crate) defer: bool,
    pub(crate) lazy_dispatch: bool,
    pub(crate) watch: runnext_knobs::Watch,
    pub(crate) stalled_work: Duration,
    pub(crate) steal_delay: Duration,
    pub(crate) spin_limit: u32,
    pub(crate) no_spin_threshold: usize,
    /// Whether workers that say that they block are made up for.
    pub(crate) cooperative_blocking: bool,
    /// Whether the gate finds out who blocks without saying so.
    pub(crate) starvation_detection: bool,
}

impl Switches {
    fn new(knobs: &Knobs) -> Self {
        Switches {
            run_next: knobs.run_next(),
            defer: knobs.defer_worker_requests(),
            lazy_dispatch: knobs.lazy_dispatch_request(),
            watch: knobs.watch(),
            stalled_work: knobs.stalled_work(),
            steal_delay: knobs.run_next_steal_delay(),
            spin_limit: knobs.spin_limit(),
            no_spin_threshold: knobs.spurious_dispatch_no_spin_threshold(),
            cooperative_blocking: knobs.cooperative_blocking(),
            starvation_detection: knobs.starvation_detection(),
        }
    }

    /// Whether a worker that begins to run asks for another one to watch.
    pub(crate) fn asks_for_watcher(&self) -> bool {
        self.defer && !self.lazy_dispatch
    }

    /// Whether the pool has a gate.
    pub(crate) fn gate(&self) -> bool {
        self.defer || self.cooperative_blocking || self.starvation_detection
    }
}

/// The largest number of workers. Each keeps 48 bytes for each other one.
pub(crate) const MAX_WORKERS: usize = 4096;

/// Tells pools apart, also one that is gone from one that lies at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolId(u64);

impl PoolId {
    /// No pool.
    pub(crate) const NONE: PoolId = PoolId(0);

    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Relaxed: only has to be unique.
        PoolId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The state that workers, tasks and handles share.
pub(crate) struct Shared {
    pub(crate) id: PoolId,
    /// In which it was built.
    process: Process,
    pub(crate) switches: Switches,
    pub(crate) remotes: Remotes,
    pub(crate) headcount: Headcount,
    pub(crate) crew: Crew,
    pub(crate) idle: Idle,
    /// The worker that was the last to say that it blocks while something waited behind it.
    pub(crate) last_to_block: AtomicUsize,
    pub(crate) gate: Gate,
    pub(crate) reports: Reports,
    pub(crate) injector: Injector<Runnable>,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) registry: Registry,
    outside: Outside,
    pub(crate) knobs: Knobs,
}

impl Shared {
    /// The state of a pool whose workers are about to be started.
    pub(crate) fn new(knobs: Knobs, threads: ThreadSettings, hooks: Hooks) -> Self {
        let (min, max) = (knobs.min_threads(), knobs.max_threads().min(MAX_WORKERS));
        let shared = Shared {
            id: PoolId::next(),
            process: Process::this(),
            switches: Switches::new(&knobs),
            remotes: Remotes::new(max),
            headcount: Headcount::new(min, max),
            crew: Crew::new(threads, hooks),
            idle: Idle::new(max),
            last_to_block: AtomicUsize::new(0),
            gate: Gate::new(knobs.stalled_work(), knobs.defer_worker_requests()),
            reports: Reports::default(),
            injector: Injector::new(),
            lifecycle: Lifecycle::new(),
            registry: Registry::new(min),
            outside: Outside::default(),
            knobs,
        };
        if !shared.switches.gate() {
            shared.idle.without_gate();
        }
        shared
    }

    /// See [`Pool::spawn`].
    #[track_caller]
    pub(crate) fn spawn<F>(self: &Arc<Self>, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (runnable, task) = task::build(self, future);
        Worker::with_own(&**self, |worker| {
            match worker {
                Some(worker) => worker.count_spawned(),
                None => self.count_spawned_outside(),
            }
            if self.is_closed() {
                return drop(runnable); // which cancels the task
            }
            match worker {
                // Queues of a worker that is in a poll are flushed after it, so nothing gets lost.
                Some(worker) => worker.schedule(runnable, false),
                None => self.inject(runnable),
            }
        });
        task
    }

    /// Whether this is the process in which the pool was built. Any thread.
    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        self.process.is_this()
    }

    /// Whether this is another process (F1), which is told so. Whoever calls it does without the pool. Any thread.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        let gone = !self.is_here();
        if gone && self.knobs.warnings_enabled() {
            fork::warn_once();
        }
        gone
    }

    /// Whether nothing that is spawned now will run. Any thread.
    #[inline]
    fn is_closed(&self) -> bool {
        self.lifecycle.is_closing() || self.is_gone()
    }

    /// Queues a task globally. Any thread.
    pub(crate) fn inject(&self, task: Runnable) {
        if self.is_gone() {
            // Nobody comes for it, and to drop it would run a destructor inside a wake.
            return std::mem::forget(task);
        }
        self.injector.push(task);
        let answer = self.idle.request();
        // Relaxed: counters.
        self.outside.remote_schedules.fetch_add(1, Ordering::Relaxed);
        match answer {
            Answer::Woke => {
                self.outside.wakes_requested.fetch_add(1, Ordering::Relaxed);
            }
            Answer::NobodyIdle => self.wake_gate(),
            Answer::Absorbed => {}
        }
    }

    /// Whether anything waits that another worker could run: the re-read of the idle protocol, so
    /// every part is read after the caller's full barrier. Any thread.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.remotes.iter().any(|remote| remote.has_work())
    }

    /// As [`has_work`](Self::has_work), for a worker that leaves the search: what waits in slots is left to
    /// the gate, if it watches, but for what a blocked worker has requested somebody for. Any thread.
    pub(crate) fn has_unwatched_work(&self) -> bool {
        let any = |waits: fn(&Remote) -> bool| self.remotes.iter().any(|remote| waits(remote));
        self.idle.leaves_work(
            || !self.injector.is_empty() || any(Remote::has_requested_work),
            || any(|remote| remote.slot.is_full()),
        )
    }

    /// Sees to it that the gate is awake, if this pool has one. Any thread.
    pub(crate) fn wake_gate(&self) {
        let promise = self.switches.defer && self.switches.watch == runnext_knobs::Watch::Gate;
        if self.idle.wake_gate(promise) {
            self.gate.wake();
        }
    }

    /// Whether the gate has to stay awake: work waits, and nobody is there for whom it was requested.
    /// Without deferral every push has requested somebody. Gate only.
    pub(crate) fn needs_gate(&self) -> bool {
        match self.switches.defer {
            true => self.has_work(),
            false => self.nobody_comes(),
        }
    }

    /// How many workers run tasks, momentarily, given who is idle.
    pub(crate) fn running(&self, counts: Counts) -> usize {
        self.headcount.get().live().saturating_sub(counts.idle())
    }

    /// How many workers may search at once.
    pub(crate) fn search_limit(&self) -> usize {
        (self.headcount.get().min() / 2).max(1)
    }

    /// Hands the watch to the gate if a worker runs, since that worker may publish. A searcher that is
    /// about to leave.
    pub(crate) fn hand_over_watch(&self) {
        if self.switches.defer && self.running(self.idle.counts()) > 0 {
            self.wake_gate();
        }
    }

    /// Whether the last searcher is to watch the slots past its spin limit, the proposal's own form.
    pub(crate) fn needs_spinner(&self) -> bool {
        let switches = &self.switches;
        switches.defer
            && switches.watch == runnext_knobs::Watch::Spinner
            && self.idle.counts().searching() == 1
    }

    /// Whether so many workers run that one that found nothing should not spin.
    pub(crate) fn many_run(&self) -> bool {
        self.running(self.idle.counts()) > self.switches.no_spin_threshold
    }

    fn count_spawned_outside(&self) {
        // Ordering: SeqCst, before `is_closing` is read: `Lifecycle::close` names the pair.
        self.outside.spawned.fetch_add(1, Ordering::SeqCst);
    }

    /// A future of this pool has been dropped. Any thread.
    pub(crate) fn count_finished(&self) {
        Worker::with_own(self, |worker| match worker {
            Some(worker) => worker.remote().counters.finished.bump(),
            // Ordering: Release pairs with the acquire in `live_tasks`: zero means that the
            // futures are gone.
            None => self.outside.finished.fetch_add(1, Ordering::Release),
        });
    }

    /// Registers a task that has to wait. Any thread, within the task's poll.
    pub(crate) fn register(&self, waker: &Waker, spawned_at: &'static Location<'static>) -> Entry {
        let index = Worker::with_own(self, |worker| worker.map_or(0, |worker| worker.index));
        let entry = self.registry.insert(index, waker.clone(), spawned_at);
        if self.lifecycle.is_closing() {
            // A thread that cancels may have been here already: queue it for the next one.
            waker.wake_by_ref();
        }
        entry
    }

    /// Futures that exist. Finished are read first, so that the difference is never negative.
    pub(crate) fn live_tasks(&self) -> u64 {
        let on_workers = |count: fn(&Remote) -> u64| {
            let counts = self.remotes.iter().map(|remote| count(remote));
            counts.sum::<u64>()
        };
        // Ordering: Acquire, see `count_finished`. SeqCst: see `count_spawned_outside`.
        let finished = self.outside.finished.load(Ordering::Acquire)
            + on_workers(|remote| remote.counters.finished.get());
        let spawned = self.outside.spawned.load(Ordering::SeqCst)
            + on_workers(|remote| remote.counters.spawned.get());
        spawned.saturating_sub(finished)
    }

    pub(crate) fn stats(&self) -> Stats {
        let (counts, heads) = (self.idle.counts(), self.headcount.get());
        let workers: Vec<WorkerStats> = self.remotes.iter().map(|remote| remote.stats()).collect();
        let mut total = WorkerStats::default();
        workers.iter().for_each(|worker| total.accumulate(worker));
        // Relaxed: counters.
        let outside = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Stats {
            workers_count: heads.live(),
            blocked_workers: heads.blocked(),
            spare_workers: if self.is_here() { self.crew.spares() } else { 0 },
            searching_workers: counts.searching(),
            parked_workers: counts.parked(),
            live_tasks_count: self.live_tasks() as usize,
            injection_queue_depth: self.injector.len(),
            num_remote_schedules: outside(&self.outside.remote_schedules),
            remote_wakes_requested: outside(&self.outside.wakes_requested),
            gate_ticks: outside(&self.gate.ticks),
            stall_rescues: outside(&self.gate.stall_rescues),
            gate_rescues: outside(&self.gate.gate_rescues),
            injected_workers: outside(&self.crew.injected),
            retired_workers: outside(&self.crew.retired),
            failed_thread_starts: outside(&self.crew.failed_starts),
            total,
            workers,
        }
    }
}
