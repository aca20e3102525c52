//! Whether this is still the process that a pool was built in.
//!
//! A child of `fork` has the memory of a pool, and of all threads only the one that forked. No task runs there any more, and
//! a lock that another thread held just then is never released. So in the child the pool is **gone**: to its users it
//! is a pool that has been shut down, and what would queue, lock, wake or wait does nothing instead. The global pool is
//! built again.
//!
//! # Invariants
//!
//! * **F1** In a process in which a pool is gone no lock of it is taken, and nobody waits for its threads or tasks as far
//!   as we can see: a `block_on` of one of its tasks panics.
//! * **F2** The hop does not ask. Of a pool's workers only one that has forked within a poll can be in the child. It stops
//!   being a worker there and then ([`forget_worker`]), and if its poll ever returns, the process aborts: there is no
//!   loop to go on with, and a thread that ended in silence would leave a process without threads.
//!
//! # Non-goals
//!
//! A pool that goes on in the child. Its queues would hold what the parent runs as well. And a future that is no
//! [`Task`](crate::Task) but waits for one: we cannot see what it waits for.
//!
//! # Why not compare process numbers
//!
//! `getpid` is a system call. A count that the child's handler raises is a load.

use crate::sync::{AtomicU32, Ordering};

/// How often this process and those that it descends from have been forked, since the first pool was built.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A process, told apart from those that it is forked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The calling one.
    pub(crate) fn this() -> Self {
        system::watch_for_forks();
        // Relaxed: changes only while the process has a single thread.
        Process(FORKS.load(Ordering::Relaxed))
    }

    /// Whether it is the calling one.
    #[inline]
    pub(crate) fn is_this(self) -> bool {
        // Relaxed: as above.
        self.0 == FORKS.load(Ordering::Relaxed)
    }
}

/// Says once in a process that a pool is gone.
#[cold]
pub(crate) fn warn_once() {
    /// The count of forks at which the last warning was.
    static WARNED: AtomicU32 = AtomicU32::new(0);
    // Relaxed: only says who does it.
    let forks = FORKS.load(Ordering::Relaxed);
    if WARNED.swap(forks, Ordering::Relaxed) != forks {
        system::tell(
            "runnext: warning: this process was forked from the one that built the pool, whose threads are not here: the \
             pool counts as shut down; build one after the fork, or use `runnext::global`\n",
        );
    }
}

/// Ends the child in which a poll has returned that had forked it.
#[cold]
pub(crate) fn abort_after_poll() -> ! {
    system::tell(
        "runnext: error: a task has forked and then returned in the child, where its pool has no threads: call `exec` or \
         `_exit` there\n",
    );
    std::process::abort()
}

#[cfg(unix)]
mod system {
    use std::sync::Once;

    use super::{FORKS, Ordering};
    use crate::worker::forget_worker;

    /// From now on, [`FORKS`] counts.
    pub(super) fn watch_for_forks() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // If the system has no memory for it, there is no guard.
            // SAFETY: the handler does only what is allowed between a fork and an exec: it allocates nothing and takes no lock.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }

    unsafe extern "C" fn in_child() {
        // Relaxed: there is one thread only.
        FORKS.fetch_add(1, Ordering::Relaxed);
        forget_worker();
    }

    /// Writes to standard error, without the lock of the standard library: another thread may have held it at the fork.
    pub(super) fn tell(text: &str) {
        // SAFETY: reads as many bytes as there are. If it fails there is nobody to be told.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    }
}

#[cfg(not(unix))]
mod system {
    /// There is no fork.
    pub(super) fn watch_for_forks() {}

    pub(super) fn tell(_: &str) {}
}
