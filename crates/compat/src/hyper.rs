//! hyper 1's [`Executor`] over a pool, for HTTP/2. Feature `hyper`.
//!
//! An HTTP/2 connection carries many streams, and hyper spawns a future for each; HTTP/1 spawns nothing. The type is a
//! newtype because neither the trait nor [`Pool`] belongs to this crate.

use std::future::Future;

use ::hyper::rt::Executor;
use runnext::Pool;

/// Runs the futures that hyper spawns on a pool, detached.
///
/// ```
/// use runnext_compat::hyper::HyperExecutor;
///
/// let pool = runnext::Pool::new()?;
/// let server = hyper::server::conn::http2::Builder::new(HyperExecutor::new(pool.clone()));
/// # drop(server);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HyperExecutor {
    pool: Pool,
}

impl HyperExecutor {
    /// Wraps a handle of the pool.
    pub fn new(pool: Pool) -> Self {
        HyperExecutor { pool }
    }
}

impl<Fut> Executor<Fut> for HyperExecutor
where
    Fut: Future + Send + 'static,
    Fut::Output: Send + 'static,
{
    /// Spawns the future; its output is dropped. After a shutdown the future is dropped unpolled.
    fn execute(&self, fut: Fut) {
        self.pool.spawn(fut).detach();
    }
}
