//! How a scenario sees a subject: something that takes detached futures, and is driven from a thread outside.
//!
//! [`Spawner`] is generic and not boxed: a box a spawn would be our own cost on top of every subject's. The thread that
//! drives a pool is never one of its workers: it hands over a root future and sleeps, so that all subjects schedule
//! with exactly the threads that were asked for.
//!
//! Rejected: each peer's own `block_on`. tokio's polls the root on the calling thread, async-executor's helps to run
//! tasks, ours may do either; what the root wakes would then cross threads for one subject and not for another.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::mpsc;

use core_affinity::CoreId;

pub(crate) mod async_executor;
pub(crate) mod futures;
pub(crate) mod limit;
pub(crate) mod runnext;
pub(crate) mod tokio;

/// Takes detached futures; a handle that tasks may keep.
pub(crate) trait Spawner: Clone + Send + Sync + Unpin + 'static {
    /// Starts `future`, as a task of a worker if called on one.
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static);

    /// Starts `future` through the queue that all workers share, if the subject has a call for that.
    fn spawn_global(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.spawn(future);
    }

    /// Gives way to other tasks, by the subject's own means; by the usual ones if it has none.
    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        futures_lite::future::yield_now()
    }

    /// Runs `f`, which blocks, in the way that the subject offers for that; just so if it offers none.
    fn blocking<R>(f: impl FnOnce() -> R) -> R {
        f()
    }

    /// What the subject counts of its own doings, by name; counts only grow.
    fn counters(&self) -> Counters {
        Counters::new()
    }
}

/// Counts by name.
pub(crate) type Counters = BTreeMap<&'static str, u64>;

/// A subject with its threads. Dropping it ends them.
pub(crate) trait Pool: Sized {
    type Spawner: Spawner;

    fn spawner(&self) -> Self::Spawner;

    /// Runs `root` on the pool while the calling thread sleeps. `None` if the pool dropped it unfinished.
    fn drive<T: Send + 'static>(
        &self,
        root: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawner().spawn(async move {
            // Nobody else receives, and the receiver below waits for as long as this sender lives.
            let _ = sender.send(root.await);
        });
        receiver.recv().ok()
    }
}

/// How many workers, and on which cores.
#[derive(Debug, Clone)]
pub(crate) struct Threads {
    pub(crate) workers: usize,
    /// Empty if the workers are free to move.
    cores: Arc<[CoreId]>,
}

impl Threads {
    /// `workers` threads; with `pin`, worker i stays on the i-th of the cores this process may use, wrapping around.
    pub(crate) fn new(workers: usize, pin: bool) -> io::Result<Self> {
        let cores = if pin {
            core_affinity::get_core_ids().unwrap_or_default()
        } else {
            Vec::new()
        };
        if pin && cores.is_empty() {
            return Err(io::Error::other(
                "this system does not say which cores there are; measure without `--pin`",
            ));
        }
        Ok(Self {
            workers,
            cores: cores.into(),
        })
    }

    /// Whether the workers stay on their cores.
    pub(crate) fn pinned(&self) -> bool {
        !self.cores.is_empty()
    }

    /// Puts the calling thread, which is worker `index`, on its core.
    pub(crate) fn pin_worker(&self, index: usize) {
        if self.pinned() {
            let core = self.cores[index % self.cores.len()];
            assert!(
                core_affinity::set_for_current(core),
                "cannot pin worker {index} to core {}",
                core.id
            );
        }
    }
}

#[cfg(test)]
mod tests;
