//! Waiting for many tasks with one addition for each.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::turn::Turn;

/// Counts arrivals, and gives its one waiter a turn at the last of them. Can be used again after that.
#[derive(Default)]
pub(super) struct Countdown {
    left: AtomicUsize,
    zero: Turn,
}

impl Countdown {
    /// Expects `count` arrivals, at least one. To be called before the first of them.
    pub(super) fn arm(&self, count: usize) {
        // Ordering: Relaxed, whoever arrives was spawned or woken after this.
        self.left.store(count, Ordering::Relaxed);
    }

    pub(super) fn arrive(&self) {
        // Ordering: AcqRel, so that the waiter sees what every arriver did before it came.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.zero.give();
        }
    }

    /// Waits for the last arrival.
    pub(super) async fn zero(&self) {
        self.zero.take().await;
    }
}
