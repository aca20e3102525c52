//! A future that keeps its pool alive.
//!
//! Dropping the last handle of a [`Pool`] cancels what is left, while the original's tasks run on. The difference is made
//! here, by a handle in each task, and costs one reference count at spawn and one at the end, nothing in between.
//!
//! The last handle is therefore often dropped by a worker, inside the task that ends. That is harmless: a pool's drop
//! only begins the shutdown and never joins.
//!
//! Rejected: `async move { future.await; drop(pool) }`. The compiler reserves the future's space twice in it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use runnext::Pool;

pin_project! {
    /// `future`, and the pool that it runs on. The order of the fields is the order of the drops: first the future, so
    /// that its destructor still finds a running pool.
    #[derive(Debug)]
    pub(super) struct Tethered<F> {
        #[pin]
        future: F,
        pool: Pool,
    }
}

impl<F> Tethered<F> {
    pub(super) fn new(future: F, pool: Pool) -> Self {
        Tethered { future, pool }
    }
}

impl<F: Future> Future for Tethered<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
