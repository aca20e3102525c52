//! Waiting for a future on the calling thread.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

use crate::sync::{Arc, AtomicBool, Ordering, thread};
use crate::worker::Worker;

/// Runs `future` on the calling thread and waits for it.
///
/// May be nested, on a worker or off it. On a worker, everything that waits behind this call, in the
/// slot and in the local queue, is handed to the other workers before the thread sleeps. When all
/// workers block there is nobody to hand it to: with a single worker, waiting there for a task of the
/// same pool waits until the pool is shut down.
///
/// # Panics
///
/// If the future panics.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let signal = Arc::new(Signal {
        woken: AtomicBool::new(false),
        thread: thread::current(),
    });
    let waker = Waker::from(signal.clone());
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        signal.wait();
    }
}

/// Wakes one thread from one `block_on`; nested ones have a signal each.
struct Signal {
    woken: AtomicBool,
    thread: thread::Thread,
}

impl Signal {
    fn wait(&self) {
        if self.take() {
            return;
        }
        Worker::with(|worker| {
            if let Some(worker) = worker {
                worker.before_blocking();
            }
        });
        while !self.take() {
            thread::park();
        }
    }

    fn take(&self) -> bool {
        // Ordering: Acquire pairs with the release in `wake_by_ref`.
        self.woken.swap(false, Ordering::Acquire)
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Ordering: Release pairs with the acquire in `take`.
        if !self.woken.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }
}
