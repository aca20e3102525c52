//! As little as two tasks can share to hand a turn over: a flag and an `AtomicWaker`.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use futures::task::AtomicWaker;

/// Where one task waits until another gives it its turn. One task takes, and nobody gives twice before it has taken.
///
/// On cache lines of its own, two of them since processors fetch pairs. Turns that the allocator happened to lay side by
/// side would make pairs of tasks on different workers wait for each other's lines: up to twice the time of a hop, in some
/// runs and not in others, whatever the subject.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Turn {
    given: AtomicBool,
    waker: AtomicWaker,
}

impl Turn {
    /// Wakes the task that waits here, or lets it pass as soon as it comes.
    pub(super) fn give(&self) {
        // Ordering: Release, pairs with the Acquire in `try_take`; `wake` and `register` order the rest.
        self.given.store(true, Ordering::Release);
        self.waker.wake();
    }

    fn try_take(&self) -> bool {
        // A plain load and store, not a swap: only one task takes, and nobody gives twice in a row.
        // Ordering: Acquire, pairs with `give`; the reset is seen by `give`'s caller through its own turn.
        let mine = self.given.load(Ordering::Acquire);
        if mine {
            self.given.store(false, Ordering::Relaxed);
        }
        mine
    }

    /// Waits for the turn.
    pub(super) async fn take(&self) {
        poll_fn(|context| {
            if self.try_take() {
                return Poll::Ready(());
            }
            self.waker.register(context.waker());
            // A turn given between the first look and the registration woke nobody.
            if self.try_take() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
