//! Tasks: how a future becomes something that can be queued, and how none is ever lost.
//!
//! # Concepts
//!
//! A task is `async-task`'s: one allocation for header, metadata and future. Its schedule function
//! is a function item of size zero and finds the pool through the metadata. That saves one
//! locked instruction a wake: async-task hands the waker's own reference to the queue
//! instead of making and dropping one.
//!
//! The price: nothing keeps the task alive after its push. Another thread may run it to the end and
//! free it, metadata included, before the push has even returned (smol-rs/async-executor#163). So
//! the schedule function reads what it needs *before* it publishes: a worker of the pool is kept
//! by its own handle; any other thread clones the pool's handle first.
//!
//! Every future is wrapped in [`Tracked`], which counts it and, once it has to wait for the
//! first time, registers its waker, so that a shutdown finds the tasks that no queue holds.
//! A task that completes in its first poll never touches the registry.
//!
//! # Panics
//!
//! A panic in a poll goes to whoever awaits the [`Task`](crate::Task). A panic in the destructor of
//! a future is caught here: the panic hook has reported it, the pool goes on. A panic in the destructor
//! of an *output* that nobody took aborts the process: that is async-task's rule, and loud.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use async_task::{ScheduleInfo, WithInfo};
use slab::Slab;

use crate::contain::contain;
use crate::pool::Shared;
use crate::sync::{Arc, Mutex, lock};
use crate::worker::Worker;

/// The handle of a spawned task: await it for its output.
///
/// Dropping it cancels the task, `detach` lets the task run on its own, `cancel().await` waits
/// until its future is dropped. Awaiting a task that was cancelled, for instance because its pool
/// was shut down, panics; [`fallible`](async_task::Task::fallible) turns that into `None`. A panic
/// of the task resumes in whoever awaits it.
///
/// async-task aborts the process when a panic comes from where nobody could catch it: the
/// destructor of an output or of a panic payload that nobody takes, or the waker of whoever awaits
/// the task.
pub type Task<T> = async_task::Task<T, Meta>;

/// A task that is due to be polled.
pub(crate) type Runnable = async_task::Runnable<Meta>;

/// What the pool keeps with each task.
pub struct Meta {
    pool: Arc<Shared>,
    spawned_at: &'static Location<'static>,
}

impl Meta {
    /// Where the task was spawned: the nearest caller outside of this crate that does not pass its own
    /// caller on (`#[track_caller]`).
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }

    /// Whether the task's pool is gone: the task will not run.
    pub(crate) fn is_gone(&self) -> bool {
        self.pool.is_gone()
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("spawned_at", &self.spawned_at)
            .finish_non_exhaustive()
    }
}

/// Makes a task of `future`. The caller counts it as spawned and schedules it, or drops it.
#[track_caller]
pub(crate) fn build<F>(pool: &Arc<Shared>, future: F) -> (Runnable, Task<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let meta = Meta {
        pool: pool.clone(),
        spawned_at: Location::caller(),
    };
    let builder = async_task::Builder::new()
        .propagate_panic(true)
        .metadata(meta);
    let track = move |meta| Tracked::new(meta, future);
    // SAFETY: the future and its output are `Send + 'static`, but for the reference to the
    // metadata, which async-task keeps until after it has dropped the future. `schedule` is `Send`,
    // `Sync` and `'static`, and borrows nothing.
    unsafe { builder.spawn_unchecked(track, WithInfo(schedule)) }
}

/// Queues a task that was woken. Any thread.
fn schedule(task: Runnable, info: ScheduleInfo) {
    let pool = Arc::as_ptr(&task.metadata().pool);
    Worker::with_own(pool, |worker| match worker {
        Some(worker) => worker.schedule(task, info.woken_while_running),
        None => schedule_from_outside(task),
    });
}

#[inline(never)]
fn schedule_from_outside(task: Runnable) {
    // Pinned before the push: afterwards `task` may be gone, and the pool with it.
    let pool = task.metadata().pool.clone();
    pool.inject(task);
}

/// The future of a task, counted from its spawn to its drop.
struct Tracked<'meta, F> {
    future: ManuallyDrop<F>,
    meta: &'meta Meta,
    entry: Option<Entry>,
}

impl<'meta, F> Tracked<'meta, F> {
    fn new(meta: &'meta Meta, future: F) -> Self {
        Tracked {
            future: ManuallyDrop::new(future),
            meta,
            entry: None,
        }
    }

    #[cold]
    fn register(&mut self, waker: &Waker) {
        self.entry = Some(self.meta.pool.register(waker, self.meta.spawned_at));
    }
}

impl<F: Future> Future for Tracked<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned with `self`: it is never moved, and dropped in place.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        // Unwind: async-task catches a panic and then drops us.
        let poll = future.poll(cx);
        if poll.is_pending() && this.entry.is_none() && this.meta.pool.is_here() {
            this.register(cx.waker());
        }
        poll
    }
}

impl<F> Drop for Tracked<'_, F> {
    fn drop(&mut self) {
        // Unwind: contained, so that the counts below hold.
        contain(|| {
            // SAFETY: dropped here and nowhere else, in place.
            unsafe { ManuallyDrop::drop(&mut self.future) }
        });
        let pool = &self.meta.pool;
        if let Some(entry) = self.entry.take()
            && pool.is_here()
        {
            pool.registry.remove(&entry);
        }
        pool.count_finished();
    }
}

/// The wakers of all tasks that have waited, so that a shutdown can reach them.
///
/// Sharded by worker: a task registers where it first had to wait, mostly without contention.
#[derive(Debug)]
pub(crate) struct Registry {
    shards: Box<[Mutex<Slab<Waiting>>]>,
}

/// A task that has waited.
#[derive(Debug)]
struct Waiting {
    waker: Waker,
    spawned_at: &'static Location<'static>,
}

/// Where a task's waker is kept.
#[derive(Debug)]
pub(crate) struct Entry {
    shard: usize,
    key: usize,
}

impl Registry {
    /// One shard for each of `workers`; more than those share.
    pub(crate) fn new(workers: usize) -> Self {
        let shards = (0..workers).map(|_| Mutex::new(Slab::new()));
        Registry {
            shards: shards.collect(),
        }
    }

    /// Keeps `waker` for worker `index`. Any thread.
    pub(crate) fn insert(
        &self,
        index: usize,
        waker: Waker,
        spawned_at: &'static Location<'static>,
    ) -> Entry {
        let shard = index % self.shards.len();
        let key = lock(&self.shards[shard]).insert(Waiting { waker, spawned_at });
        Entry { shard, key }
    }

    /// Where the tasks were spawned. Any thread.
    pub(crate) fn spawn_places(&self) -> Vec<&'static Location<'static>> {
        let mut places = Vec::new();
        for shard in &self.shards {
            places.extend(lock(shard).iter().map(|(_, waiting)| waiting.spawned_at));
        }
        places
    }

    fn remove(&self, entry: &Entry) {
        let waiting = lock(&self.shards[entry.shard]).remove(entry.key);
        drop(waiting); // outside the lock
    }

    /// Wakes every registered task, so that each is queued. Any thread.
    pub(crate) fn wake_all(&self) {
        for shard in &self.shards {
            // Cloned first: a wake may not run under a lock.
            let wakers: Vec<Waker> = {
                let shard = lock(shard);
                shard.iter().map(|(_, waiting)| waiting.waker.clone()).collect()
            };
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}
