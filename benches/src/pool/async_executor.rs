//! `async_executor::Executor` on plain threads, each in `block_on(executor.run(..))` as its documentation shows.
//!
//! Where there is I/O, `block_on` is async-io's, as in smol: an idle thread then waits in the reactor and no other thread
//! has to wake it. With one worker that took a quarter off a websocket round trip; with more it is a draw. Elsewhere it
//! is futures-lite's, which costs nothing for a reactor that nobody needs.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use async_channel::{Receiver, Sender};
use async_executor::Executor;
use futures_lite::future;

use super::{Pool, Spawner, Threads};

pub(crate) struct AsyncExecutorPool {
    executor: Arc<Executor<'static>>,
    /// The threads run until this closes.
    open: Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

/// Starts the threads. `io` says whether they will have sockets to wait for.
pub(crate) fn start(threads: &Threads, io: bool) -> io::Result<AsyncExecutorPool> {
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
            run(&executor, &closed, io);
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

fn run(executor: &Executor<'static>, closed: &Receiver<()>, io: bool) {
    let work = executor.run(closed.recv());
    // An error is what we wait for: the channel carries nothing, and its closing is the end.
    let _ = if io {
        async_io::block_on(work)
    } else {
        future::block_on(work)
    };
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
