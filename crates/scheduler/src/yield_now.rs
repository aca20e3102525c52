//! Giving way to other tasks.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Gives way once: the task goes to the back of its worker's queue, so that everything which already
/// waits there gets its turn first. The global queue is looked at when the worker's own queue is
/// empty, and else every 61 polls, so that it is never starved. Works on every executor.
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        // The pool sees a task that is woken while it runs, which is what a yield is.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
