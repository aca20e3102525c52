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
//! * **L1** Every future is dropped exactly once: by whoever polls it to its end or after its task
//!   was cancelled, by a spawner that comes after `close`, or by a thread of the pool that cancels
//!   what is left. Never inside a wake and never under a lock.
//! * **L2** A drop of the pool's last handle only starts the shutdown. It may happen on a worker,
//!   or inside somebody's wake, where waiting would be waiting for oneself.
//! * **L3** A shutdown that says it is done has joined every worker's thread, their thread-locals' destructors
//!   included. Whoever calls it first joins, the others wait for that. A thread that had retired before is no
//!   worker any more: nobody waits for its thread-locals.
//! * **L4** No poll waits for a task that nobody will run or cancel, however it waits, and no destructor that does so in
//!   `block_on`: after `close`,
//!   what waits is cancelled by every worker that leaves or blocks in `block_on`, and again and again
//!   by the first that has left, or by a thread made for it if no worker was idle then.

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering, full_barrier, lock, now};
use std::sync::PoisonError;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The life of a pool.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    closing: AtomicBool,
    /// Whether somebody has begun to join the threads.
    joining: AtomicBool,
    /// Whether a worker that has left goes on cancelling (L4).
    cancelling: AtomicBool,
    /// Whether every thread has been joined (L3).
    joined: Mutex<bool>,
    all_joined: Condvar,
}

impl Lifecycle {
    /// Open.
    pub(crate) fn new() -> Self {
        Lifecycle {
            closing: AtomicBool::new(false),
            joining: AtomicBool::new(false),
            cancelling: AtomicBool::new(false),
            joined: Mutex::new(false),
            all_joined: Condvar::new(),
        }
    }

    /// Whether a shutdown has begun. Any thread.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        // Ordering: SeqCst, the reading half of the pairs named in `close`; a plain `mov` on x86.
        self.closing.load(Ordering::SeqCst)
    }

    /// Begins the shutdown, followed by a full barrier. True for the first call. Any thread.
    // Transitions: open -> closing.
    pub(crate) fn close(&self) -> bool {
        // Ordering: SeqCst, then a full barrier. Pairs with three readers of `is_closing`: a spawner,
        // which counts its task before it reads, against `Shared::drop_everything`, which reads the
        // count; a worker, which pushes itself onto the stack before it reads, against
        // `Idle::wake_all`; and a worker that blocks, which flushes before it reads, against
        // `Shared::cancel_waiting`.
        let first = !self.closing.swap(true, Ordering::SeqCst);
        full_barrier();
        first
    }

    /// Whether the caller is the first worker that leaves, and goes on cancelling. Worker thread only.
    pub(crate) fn begin_cancelling(&self) -> bool {
        // Relaxed: only says who does it.
        !self.cancelling.swap(true, Ordering::Relaxed)
    }

    /// Whether the caller is the first who wants to join the threads, and does it. Any thread.
    pub(crate) fn begin_joining(&self) -> bool {
        // Relaxed: only says who does it.
        !self.joining.swap(true, Ordering::Relaxed)
    }

    /// The caller, who was to join the threads, cannot. Any thread.
    pub(crate) fn give_up_joining(&self) {
        // Relaxed: as above.
        self.joining.store(false, Ordering::Relaxed);
    }

    /// Joins all threads of the pool, which is closing. Once, and not on one of them.
    pub(crate) fn join(&self, threads: impl Iterator<Item = JoinHandle<()>>) {
        for thread in threads {
            // Our threads contain panics; one in a thread-local's destructor aborts the process.
            let _ = thread.join();
        }
        *lock(&self.joined) = true;
        self.all_joined.notify_all();
    }

    /// Waits until all threads are joined, at most until `timeout` has passed. True if they are.
    /// Not on a thread of this pool.
    pub(crate) fn wait_until_joined(&self, timeout: Option<Duration>) -> bool {
        let deadline: Option<Instant> = timeout.and_then(|timeout| now().checked_add(timeout));
        let mut joined = lock(&self.joined);
        while !*joined {
            joined = match deadline.map(|deadline| deadline.saturating_duration_since(now())) {
                Some(Duration::ZERO) => return false,
                Some(left) => {
                    let waited = self.all_joined.wait_timeout(joined, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.all_joined.wait(joined);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        true
    }
}
