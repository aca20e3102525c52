//! `ThreadPoolBuilder`: the original's settings, and what they mean to a pool of ours.
//!
//! | here | beneath | not set |
//! |---|---|---|
//! | `pool_size` | the number of threads while none is blocked | the knob `MIN_THREADS`, else one a processor |
//! | `stack_size` | the same | the standard library's |
//! | `name_prefix` | the same | `runnext-`; the original leaves its threads unnamed |
//! | `after_start`, `before_stop` | `on_thread_start`, `on_thread_stop`, for the first `pool_size` threads | none |
//!
//! The switches of the executor are not settings here: they come from the environment, as everywhere. So does the
//! number of threads, if the program leaves it open; a program that sets it has the last word.

use std::fmt;
use std::io;
use std::sync::Arc;

use runnext::Knobs;

use super::ThreadPool;
use super::once::once_a_thread;

/// A hook as the builder keeps it; the argument is the thread's index.
pub(super) type Hook = Arc<dyn Fn(usize) + Send + Sync>;

/// Settings for a [`ThreadPool`]; the counterpart of `futures::executor::ThreadPoolBuilder`.
///
/// ```
/// use runnext_compat::executor::ThreadPool;
///
/// let pool = ThreadPool::builder().pool_size(2).name_prefix("web-").create()?;
/// assert_eq!(format!("{pool:?}"), "ThreadPool { size: 2 }");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ThreadPoolBuilder {
    knobs: Knobs,
    pool_size: usize,
    stack_size: usize,
    name_prefix: Option<String>,
    after_start: Option<Hook>,
    before_stop: Option<Hook>,
}

impl ThreadPoolBuilder {
    /// Starts from the defaults: one thread a processor, standard stacks, no hooks.
    ///
    /// The environment is read here. It may ask for another number of threads (`RUNNEXT_MIN_THREADS`).
    pub fn new() -> Self {
        let knobs = Knobs::from_env_or_warn();
        ThreadPoolBuilder {
            pool_size: knobs.min_threads(),
            knobs,
            stack_size: 0,
            name_prefix: None,
            after_start: None,
            before_stop: None,
        }
    }

    /// Sets the number of threads. The pool starts so many, and keeps them. It adds others only while some are blocked
    /// and work waits, up to the knob `MAX_THREADS`; with `RUNNEXT_MAX_THREADS=1` it never does.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    #[track_caller]
    pub fn pool_size(&mut self, size: usize) -> &mut Self {
        assert!(
            size > 0,
            "assertion failed: size > 0: `pool_size` got 0; ask for at least one thread"
        );
        self.pool_size = size;
        self
    }

    /// Sets the stack of each thread, in bytes. 0 means the standard library's size.
    pub fn stack_size(&mut self, stack_size: usize) -> &mut Self {
        self.stack_size = stack_size;
        self
    }

    /// Sets what the threads' names begin with; the thread's index from 0 follows, so `web-` gives `web-0`, `web-1`, ..
    pub fn name_prefix<S: Into<String>>(&mut self, name_prefix: S) -> &mut Self {
        self.name_prefix = Some(name_prefix.into());
        self
    }

    /// Has each new thread call `f` with its index, before its first task.
    ///
    /// `f` is dropped when the builder is gone and every thread of its pools has called it.
    pub fn after_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(usize) + Send + Sync + 'static,
    {
        self.after_start = Some(Arc::new(f));
        self
    }

    /// Has each thread call `f` with its index after its last task, when the pool ends.
    ///
    /// `f` is dropped when the builder is gone and every thread of its pools has called it.
    pub fn before_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(usize) + Send + Sync + 'static,
    {
        self.before_stop = Some(Arc::new(f));
        self
    }

    /// Starts a pool. The builder keeps its settings and can start more.
    ///
    /// # Errors
    ///
    /// If the system refuses a thread, or a stack of that size. No thread is left behind.
    pub fn create(&mut self) -> Result<ThreadPool, io::Error> {
        let size = self.pool_size;
        let mut builder = runnext::Builder::new()
            .knobs(self.knobs.clone())
            .threads(size);
        if self.stack_size > 0 {
            builder = builder.stack_size(self.stack_size);
        }
        if let Some(prefix) = &self.name_prefix {
            builder = builder.name_prefix(prefix);
        }
        if let Some(hook) = self.after_start.clone() {
            builder = builder.on_thread_start(once_a_thread(hook, size));
        }
        if let Some(hook) = self.before_stop.clone() {
            builder = builder.on_thread_stop(once_a_thread(hook, size));
        }
        Ok(ThreadPool::over(builder.build()?, size))
    }
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ThreadPoolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("pool_size", &self.pool_size)
            .field("name_prefix", &self.name_prefix)
            .finish()
    }
}
