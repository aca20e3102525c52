//! Blocking inside a poll: how a worker says that it is about to, and what the others get of it.
//!
//! # Concepts
//!
//! A worker is in a **section** while a [`Blocking`] guard lives on its thread. The hook at the section's
//! start marks what waits on this worker as free to be stolen at once, and requests a worker for it. It
//! touches neither slot nor queue: it may run in the middle of a push or a pop, in an allocator's lock for
//! instance.
//!
//! The mark is the number of the poll that blocks. So it ends by itself with that poll, whatever becomes of
//! the guard: one that is leaked, or that outlives its poll, leaves nothing behind.
//!
//! | worker that is about to block | a worker that stops looking |
//! |---|---|
//! | 1 mark the poll | 1 leave `searching` or the awake |
//! | 2 full barrier | 2 full barrier |
//! | 3 if something waits here: request | 3 re-read every queue and slot; work: do not park, or request |
//!
//! What is published later in the section, by the closure itself, is looked after as ever.
//!
//! # Non-goals
//!
//! Finding out that a thread blocks without saying so: the gate does that.

use std::fmt;
use std::marker::PhantomData;

use crate::worker::Worker;

/// Runs `f`, which is about to block this thread, and meanwhile lets nothing wait behind it.
///
/// On a worker, what waits in its slot and local queue may be taken by the other workers at once. On any other thread this
/// only calls `f`.
///
/// ```
/// let read = runnext::spawn(async {
///     runnext::blocking(|| std::fs::read_to_string("Cargo.toml")).is_ok()
/// });
/// assert!(runnext::block_on(read));
/// ```
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    let _section = about_to_block();
    f()
}

/// Says that this thread is about to block, until the returned guard is dropped: [`blocking`] for code that
/// is not one closure.
///
/// Costs a locked instruction on a worker, and a wake-up if something waits behind it; a load elsewhere. Sections may be
/// nested.
#[inline]
pub fn about_to_block() -> Blocking {
    let outer = Worker::with(|worker| worker.map(Worker::begin_blocking));
    Blocking {
        outer,
        _this_thread: PhantomData,
    }
}

/// A section in which this thread may block; see [`about_to_block`].
#[must_use = "the section ends when this is dropped"]
pub struct Blocking {
    /// The mark before, if this is a worker.
    outer: Option<u64>,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Blocking {
    fn drop(&mut self) {
        if let Some(outer) = self.outer {
            Worker::with(|worker| worker.map(|worker| worker.end_blocking(outer)));
        }
    }
}

impl fmt::Debug for Blocking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking")
            .field("on_worker", &self.outer.is_some())
            .finish()
    }
}
