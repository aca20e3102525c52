//! criterion's [`AsyncExecutor`] over a pool, so that a benchmark's async body runs on it. Feature `criterion`.
//!
//! criterion's futures are neither `Send` nor `'static`, so the body itself is polled by the measuring thread, as with
//! `Pool::block_on`; what it spawns runs on the workers. To measure hops between workers and not those to the measuring
//! thread, spawn once in the body and repeat inside the task.
//!
//! The type is a newtype because neither the trait nor [`Pool`] belongs to this crate.

use std::future::Future;

use ::criterion::async_executor::AsyncExecutor;
use runnext::Pool;

/// Runs the bodies of async benchmarks with a pool.
///
/// ```
/// use runnext_compat::criterion::CriterionExecutor;
///
/// fn bench(c: &mut criterion::Criterion) {
///     let pool = runnext::Pool::new().expect("a pool starts");
///     let executor = CriterionExecutor::new(pool.clone());
///     c.bench_function("spawn", |b| b.to_async(&executor).iter(|| pool.spawn(async {})));
/// }
/// # bench(&mut criterion::Criterion::default().without_plots().with_filter("nothing"));
/// ```
#[derive(Clone, Debug)]
pub struct CriterionExecutor {
    pool: Pool,
}

impl CriterionExecutor {
    /// Wraps a handle of the pool.
    pub fn new(pool: Pool) -> Self {
        CriterionExecutor { pool }
    }
}

impl AsyncExecutor for CriterionExecutor {
    /// Polls the future on the calling thread until it is complete.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.pool.block_on(future)
    }
}

// `to_async` takes its executor by value; a reference saves cloning it for each benchmark of a group.
impl AsyncExecutor for &CriterionExecutor {
    /// Polls the future on the calling thread until it is complete.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.pool.block_on(future)
    }
}
