//! Waiting for a future on the calling thread, without holding anybody up.
//!
//! # On a worker
//!
//! 1. If the future is a [`Task`] that waits in this worker's own slot or local queue, it is polled right here, as
//!    .NET's `Task.Wait` does. Found by the address of its metadata. Only the awaited task: any other might need what
//!    the poll around us holds.
//! 2. Else everything that waits on this worker goes to the injector, and
//! 3. the thread sleeps in a section of `blocking`, so that the pool makes up for it.
//!
//! Elsewhere it only sleeps.

use std::future::Future;
use std::pin::{Pin, pin};
use std::ptr;
use std::task::{Context, Poll, Wake, Waker};

use crate::blocking::about_to_block;
use crate::shutdown;
use crate::sync::{Arc, AtomicBool, Ordering, thread};
use crate::task::{Meta, Task};
use crate::worker::Worker;

/// Runs `future` on the calling thread and waits for it.
///
/// May be nested to any depth, on a worker or off it. On a worker, a [`Task`] that waits on this very worker is run in
/// place; for anything else, what waits behind this call is handed to the other workers, and the pool adds a worker if
/// all of them are blocked while work waits (`CooperativeBlocking`, up to `MaxThreads`).
///
/// # Panics
///
/// If the future panics, or if it is a [`Task`] of a pool that was built before a `fork` and this is the child.
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
        if !signal.take() && !poll_in_place(future.as_ref()) {
            signal.wait();
        }
    }
}

/// Polls the task that `future` is, if it is one and waits on this worker. Whether it did.
fn poll_in_place<F: Future>(future: Pin<&F>) -> bool {
    let Some(awaited) = task_of(future) else {
        return false;
    };
    assert!(
        !awaited.is_gone(),
        "the task spawned at `{}` will not end: this process was forked from the one that has its pool",
        awaited.spawned_at()
    );
    Worker::with(|worker| worker.is_some_and(|worker| worker.poll_in_place(awaited)))
}

/// The metadata of the task that `future` is.
fn task_of<F: Future>(future: Pin<&F>) -> Option<&Meta> {
    if typeid::of::<F>() != typeid::of::<Task<F::Output>>() {
        return None;
    }
    // SAFETY: the two are one type, but perhaps for the lifetimes in the output, which is not touched.
    let task = unsafe { &*ptr::from_ref(future.get_ref()).cast::<Task<F::Output>>() };
    Some(task.metadata())
}

/// Wakes one thread from one `block_on`; nested ones have a signal each.
struct Signal {
    woken: AtomicBool,
    thread: thread::Thread,
}

impl Signal {
    fn wait(&self) {
        Worker::with(|worker| {
            if let Some(worker) = worker {
                worker.before_blocking();
            }
        });
        if shutdown::cancel_until(|| self.take()) {
            return;
        }
        let _section = about_to_block();
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
