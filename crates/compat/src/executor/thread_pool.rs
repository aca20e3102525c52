//! The handle: `ThreadPool`.
//!
//! It adds two things to a [`Pool`]: tasks that keep the pool alive (`tether`), and the size, which `Debug` shows as
//! the original does.

use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};

use futures_task::{FutureObj, Spawn, SpawnError};
use runnext::Pool;

use super::ThreadPoolBuilder;
use super::tether::Tethered;

/// A pool of threads that polls futures until they are complete; the counterpart of `futures::executor::ThreadPool`.
///
/// This is a handle: a clone refers to the same pool. Each task holds one too, so dropping the last of yours cancels
/// nothing; the threads end after the last task. A task that never ends keeps its pool for ever.
///
/// A task that panics ends, and no thread with it. A task has no return value; to wait for one, use
/// `futures::task::SpawnExt::spawn_with_handle`, which works here as it does there.
#[derive(Clone)]
pub struct ThreadPool {
    pool: Pool,
    size: usize,
}

// As the original. A panic in a poll goes no further than its task, so nobody can see a pool left half changed by one.
impl UnwindSafe for ThreadPool {}
impl RefUnwindSafe for ThreadPool {}

impl ThreadPool {
    /// Starts a pool with the defaults of [`ThreadPoolBuilder::new`].
    ///
    /// # Errors
    ///
    /// As [`ThreadPoolBuilder::create`].
    pub fn new() -> Result<Self, io::Error> {
        ThreadPoolBuilder::new().create()
    }

    /// Gives a builder, the same as [`ThreadPoolBuilder::new`].
    pub fn builder() -> ThreadPoolBuilder {
        ThreadPoolBuilder::new()
    }

    /// Spawns a boxed future and lets it run to its end.
    ///
    /// Unlike `Spawn::spawn_obj` it has no error to return.
    pub fn spawn_obj_ok(&self, future: FutureObj<'static, ()>) {
        self.spawn_ok(future);
    }

    /// Spawns a future and lets it run to its end.
    ///
    /// The future moves into the task's own allocation; it is not boxed before.
    ///
    /// ```
    /// use runnext_compat::executor::ThreadPool;
    ///
    /// let pool = ThreadPool::new()?;
    /// let (tx, rx) = std::sync::mpsc::channel();
    /// pool.spawn_ok(async move { tx.send("hello").expect("the receiver waits") });
    /// assert_eq!(rx.recv(), Ok("hello"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn spawn_ok<Fut>(&self, future: Fut)
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        let task = Tethered::new(future, self.pool.clone());
        self.pool.spawn(task).detach();
    }

    pub(super) fn over(pool: Pool, size: usize) -> Self {
        ThreadPool { pool, size }
    }
}

/// The pool beneath, for what the original has no name for: statistics, a return value, an early shutdown.
impl AsRef<Pool> for ThreadPool {
    fn as_ref(&self) -> &Pool {
        &self.pool
    }
}

impl Spawn for ThreadPool {
    /// Spawns a boxed future and lets it run to its end.
    ///
    /// # Errors
    ///
    /// None as long as the program knows the original's names only. `SpawnError::shutdown` after somebody has shut down
    /// the pool beneath.
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.status()?;
        self.spawn_obj_ok(future);
        Ok(())
    }

    fn status(&self) -> Result<(), SpawnError> {
        self.pool.status()
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("size", &self.size)
            .finish()
    }
}
