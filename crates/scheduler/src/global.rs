//! The pool for those who need no pool of their own.

use std::future::Future;
use std::ptr;

use once_cell::sync::OnceCell;

use crate::fork::Process;
use crate::pool::Pool;
use crate::sync::{AtomicPtr, Ordering};
use crate::task::Task;
use crate::worker::Worker;

/// The global pool, built from the environment variables on first use; in a child of `fork` once more.
///
/// It is never dropped, so its tasks end with the process, without their destructors;
/// `global().shutdown()` runs them.
///
/// # Panics
///
/// If its threads cannot be started.
pub fn global() -> &'static Pool {
    place().get_or_init(|| match Pool::new() {
        Ok(pool) => pool,
        Err(error) => panic!("the global pool could not be built: {error}"),
    })
}

/// Where the global pool of one process is. A child of `fork` gets a place of its own: a pool there is gone, and if another
/// thread was just building it, whoever waited for that would wait for ever.
struct Place {
    process: Process,
    pool: OnceCell<Pool>,
}

/// The place of this process, or of the one that it was forked from.
static PLACE: AtomicPtr<Place> = AtomicPtr::new(ptr::null_mut());

/// The place of this process.
fn place() -> &'static OnceCell<Pool> {
    // Ordering: Acquire pairs with the release in `make_place`.
    let made = PLACE.load(Ordering::Acquire);
    // SAFETY: null or leaked by `make_place`.
    match unsafe { made.as_ref() } {
        Some(place) if place.process.is_this() => &place.pool,
        _ => make_place(made),
    }
}

/// Makes a place instead of `old`, unless another thread is quicker.
#[cold]
fn make_place(old: *mut Place) -> &'static OnceCell<Pool> {
    let place = Box::into_raw(Box::new(Place {
        process: Process::this(),
        pool: OnceCell::new(),
    }));
    // Ordering: Release pairs with the acquire in `place`; Acquire, for the quicker one's, as there.
    let made = match PLACE.compare_exchange(old, place, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => place,
        Err(quicker) => {
            // SAFETY: nobody else has seen it.
            drop(unsafe { Box::from_raw(place) });
            quicker
        }
    };
    // SAFETY: not null, and what has once been in `PLACE` is never freed.
    unsafe { &(*made).pool }
}

/// Runs `future` on the pool whose worker calls this, else on the [`global`] pool.
///
/// # Panics
///
/// If the global pool is needed and cannot be built.
#[track_caller]
pub fn spawn<F>(future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // The pool's own handle is taken out before the spawn: `future` may run user code in its drop.
    match Worker::with(|worker| worker.map(|worker| worker.shared.clone())) {
        Some(shared) => shared.spawn(future),
        None => global().spawn(future),
    }
}
