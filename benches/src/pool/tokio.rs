//! tokio's multi-threaded runtime with its defaults, as `#[tokio::main]` would build it, without its I/O and time drivers.

use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Builder, Handle, Runtime};

use super::{Pool, Spawner, Threads};

/// Starts the runtime.
pub(crate) fn start(threads: &Threads) -> io::Result<Runtime> {
    let started = AtomicUsize::new(0);
    let threads = threads.clone();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads.workers);
    // tokio does not tell a thread its index. Only workers start here: nothing uses the blocking pool.
    // Ordering: Relaxed, the count alone matters.
    builder.on_thread_start(move || threads.pin_worker(started.fetch_add(1, Ordering::Relaxed)));
    builder.build()
}

impl Pool for Runtime {
    type Spawner = Handle;

    fn spawner(&self) -> Handle {
        self.handle().clone()
    }
}

impl Spawner for Handle {
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(Handle::spawn(self, future));
    }

    fn blocking<R>(f: impl FnOnce() -> R) -> R {
        tokio::task::block_in_place(f)
    }

    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        tokio::task::yield_now()
    }
}
