//! The pool for those who need no pool of their own.

use std::future::Future;

use once_cell::sync::OnceCell;

use crate::pool::Pool;
use crate::task::Task;
use crate::worker::Worker;

/// The global pool, built from the environment variables on first use.
///
/// It is never dropped, so its tasks end with the process, without their destructors;
/// `global().shutdown()` runs them.
///
/// # Panics
///
/// If its threads cannot be started.
pub fn global() -> &'static Pool {
    static GLOBAL: OnceCell<Pool> = OnceCell::new();
    GLOBAL.get_or_init(|| match Pool::new() {
        Ok(pool) => pool,
        Err(error) => panic!("the global pool could not be built: {error}"),
    })
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
