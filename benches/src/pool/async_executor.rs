//! `async_executor::Executor` on plain threads, each in `block_on(executor.run(..))` as its documentation shows.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use async_channel::{Receiver, Sender};
use async_executor::Executor;
use futures_lite::future::block_on;

use super::{Pool, Spawner, Threads};

pub(crate) struct AsyncExecutorPool {
    executor: Arc<Executor<'static>>,
    /// The threads run until this closes.
    open: Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

/// Starts the threads.
pub(crate) fn start(threads: &Threads) -> io::Result<AsyncExecutorPool> {
    let (open, closed) = async_channel::bounded(1);
    let mut pool = AsyncExecutorPool {
        executor: Arc::new(Executor::new()),
        open,
        threads: Vec::new(),
    };
    for index in 0..threads.workers {
        let (executor, closed, threads) = (pool.executor.clone(), closed.clone(), threads.clone());
        let worker = move || {
            threads.pin_worker(index);
            run(&executor, &closed);
        };
        pool.threads.push(
            thread::Builder::new()
                .name(format!("async-executor-{index}"))
                .spawn(worker)?,
        );
    }
    Ok(pool)
}

impl Pool for AsyncExecutorPool {
    type Spawner = Arc<Executor<'static>>;

    fn spawner(&self) -> Self::Spawner {
        self.executor.clone()
    }
}

fn run(executor: &Executor<'static>, closed: &Receiver<()>) {
    // An error is what we wait for: the channel carries nothing, and its closing is the end.
    let _ = block_on(executor.run(closed.recv()));
}

impl Drop for AsyncExecutorPool {
    fn drop(&mut self) {
        self.open.close();
        for thread in self.threads.drain(..) {
            // A panic was printed when it happened; a second one here would abort.
            let _ = thread.join();
        }
    }
}

impl Spawner for Arc<Executor<'static>> {
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        Executor::spawn(self, future).detach();
    }
}
