//! `futures::executor::ThreadPool`, built and used as its documentation shows.

use std::future::Future;
use std::io;

use futures::executor::ThreadPool;

use super::{Pool, Spawner, Threads};

/// Starts the pool.
pub(crate) fn start(threads: &Threads) -> io::Result<ThreadPool> {
    let mut builder = ThreadPool::builder();
    builder.pool_size(threads.workers);
    let threads = threads.clone();
    builder.after_start(move |index| threads.pin_worker(index));
    builder.create()
}

impl Pool for ThreadPool {
    type Spawner = Self;

    fn spawner(&self) -> Self {
        self.clone()
    }
}

impl Spawner for ThreadPool {
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.spawn_ok(future);
    }
}
