//! From the first thread to the last: open, closing, closed.
//!
//! | state | spawn, wake | workers | leaves it by |
//! |---|---|---|---|
//! | **open** | run | run, search, park | [`close`](Lifecycle::close) |
//! | **closing** | spawn is cancelled; a wake queues its task to be dropped | finish their poll and leave | the last leaves and has dropped every future |
//! | **closed** | cancelled; no task is left that a wake could queue | none | - |
//!
//! # Invariants
//!
//! * **L1** Every future is dropped exactly once, by whoever polls it to its end or, after `close`,
//!   by the last worker to leave: never inside a wake and never under a lock.
//! * **L2** A drop of the pool's last handle only starts the shutdown. It may happen on a worker,
//!   or inside somebody's wake, where waiting would be waiting for oneself.
//! * **L3** Every started thread is counted until its stop hook has returned.

use crate::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, full_barrier, lock, now};
use std::time::{Duration, Instant};

/// The life of a pool.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    closing: AtomicBool,
    /// Workers that may still poll.
    active: AtomicUsize,
    /// Threads whose stop hook has not returned (L3).
    threads: Mutex<usize>,
    all_gone: Condvar,
}

impl Lifecycle {
    /// Open, with `workers` threads that are about to be started.
    pub(crate) fn new(workers: usize) -> Self {
        Lifecycle {
            closing: AtomicBool::new(false),
            active: AtomicUsize::new(workers),
            threads: Mutex::new(workers),
            all_gone: Condvar::new(),
        }
    }

    /// Whether a shutdown has begun. Any thread.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        // Ordering: SeqCst, the reading half of the pairs named in `close`; a plain `mov` on x86.
        self.closing.load(Ordering::SeqCst)
    }

    /// Begins the shutdown, followed by a full barrier. Any thread, any number of times.
    // Transitions: open -> closing.
    pub(crate) fn close(&self) {
        // Ordering: SeqCst, then a full barrier. Pairs with two readers of `is_closing`: a spawner,
        // which counts its task before it reads, against `Shared::drop_everything`, which reads the
        // count; and a worker, which pushes itself onto the stack before it reads, against
        // `Idle::wake_all`.
        self.closing.store(true, Ordering::SeqCst);
        full_barrier();
    }

    /// A worker stops polling. True for the last: it drops whatever is left. Worker thread only.
    pub(crate) fn leave(&self) -> bool {
        // Ordering: AcqRel, so that the last one sees what all the others flushed before they left.
        self.active.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// A thread is about to end, or could not be started. Any thread.
    pub(crate) fn thread_gone(&self) {
        let mut threads = lock(&self.threads);
        *threads -= 1;
        if *threads == 0 {
            self.all_gone.notify_all();
        }
    }

    /// Waits until the last thread is about to end; at most until `timeout` has passed.
    /// True if it is. Not on a worker of this pool.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> bool {
        let deadline: Option<Instant> = timeout.and_then(|timeout| now().checked_add(timeout));
        let mut threads = lock(&self.threads);
        while *threads > 0 {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(now()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            threads = match left {
                None => self.all_gone.wait(threads),
                Some(left) => self
                    .all_gone
                    .wait_timeout(threads, left)
                    .map(|(threads, _)| threads)
                    .map_err(|poison| std::sync::PoisonError::new(poison.into_inner().0)),
            }
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        true
    }
}
