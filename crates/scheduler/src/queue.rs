//! The queues: one local queue a worker, one injector a pool.
//!
//! # Concepts
//!
//! The **local queue** belongs to a worker: it alone pushes, it pops from the front, and thieves
//! take half from the front. The **injector** is the global queue: anyone pushes, workers take a
//! fair share. Both are unbounded, so no push fails and there is no overflow path to get wrong.
//!
//! # Invariants
//!
//! * **Q1** Every item pushed is popped or stolen exactly once, or dropped with its queue.
//! * **Q2** Each queue is first in, first out; a batch moves from the front and keeps its order.
//! * **Q3** After a push and a full barrier, `is_empty` is false for everyone until the item is
//!   taken. A looker that executes its own full barrier first therefore cannot miss it.
//!
//! # Why FIFO
//!
//! .NET's local queues are LIFO for their owner. Users of futures expect fairness: a task that
//! wakes a thousand others should see them run in the order of the wakes. The slot keeps what is
//! worth keeping of LIFO, the warm cache of the one item just made ready.
//!
//! # Non-goals
//!
//! The queues wake nobody: whoever pushes asks `idle` for a worker. They are thin:
//! the algorithms are crossbeam-deque's and concurrent-queue's (`docs/DESIGN.md` has the
//! measurements behind that choice).
//!
//! How to test a policy of your own that is made of them: see [`slot`](crate::slot#testing-a-policy-of-your-own).

use std::fmt;

use concurrent_queue::ConcurrentQueue;
use crossbeam_deque::{Steal, Stealer as DequeStealer, Worker as Deque};

#[cfg(test)]
mod tests;

/// How many items a worker moves at once, at most: enough to pay for the trip, few enough to leave
/// the others something.
const BATCH: usize = 32;

/// A worker's own queue.
///
/// ```
/// let (queue, stealer) = runnext::queue::local();
/// queue.push('a');
/// queue.push('b');
/// queue.push('c');
/// let (thief, _) = runnext::queue::local();
/// assert_eq!(stealer.steal_half_into(&thief), Some('a')); // and `b` moved to the thief
/// assert_eq!(queue.pop(), Some('c'));
/// assert_eq!(thief.pop(), Some('b'));
/// ```
pub struct Local<T> {
    deque: Deque<T>,
}

/// A thief's end of a [`Local`] queue.
pub struct Stealer<T> {
    deque: DequeStealer<T>,
}

/// An empty local queue and a thief's end of it.
#[must_use]
pub fn local<T>() -> (Local<T>, Stealer<T>) {
    let deque = Deque::new_fifo();
    let stealer = Stealer {
        deque: deque.stealer(),
    };
    (Local { deque }, stealer)
}

impl<T> Local<T> {
    /// Appends `item`. Owner only.
    #[inline]
    pub fn push(&self, item: T) {
        self.deque.push(item);
    }

    /// Takes the oldest item. Owner only.
    #[inline]
    #[must_use]
    pub fn pop(&self) -> Option<T> {
        self.deque.pop()
    }

    /// Whether nothing waits here. Owner only.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deque.is_empty()
    }
}

impl<T> Stealer<T> {
    /// Moves half of the queue, rounded up and at most 32 items, to `thief`, except the oldest
    /// one, which is returned. Any thread that owns `thief`.
    ///
    /// `None` means that the queue was empty or that others were quicker; [`is_empty`] tells which.
    ///
    /// [`is_empty`]: Self::is_empty
    #[must_use]
    pub fn steal_half_into(&self, thief: &Local<T>) -> Option<T> {
        self.attempt(|| {
            self.deque
                .steal_batch_with_limit_and_pop(&thief.deque, BATCH)
        })
    }

    /// Takes the oldest item. `None` as in [`steal_half_into`](Self::steal_half_into). Any thread.
    #[must_use]
    pub fn steal(&self) -> Option<T> {
        self.attempt(|| self.deque.steal())
    }

    fn attempt(&self, steal: impl Fn() -> Steal<T>) -> Option<T> {
        const ATTEMPTS: u32 = 4;
        for _ in 0..ATTEMPTS {
            match steal() {
                Steal::Success(item) => return Some(item),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
        None
    }

    /// Number of items waiting, momentarily. Any thread.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.deque.len()
    }

    /// Whether nothing waits here (Q3). Any thread.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deque.is_empty()
    }
}

/// The global queue of a pool.
pub struct Injector<T> {
    queue: ConcurrentQueue<T>,
}

impl<T> Injector<T> {
    /// An empty injector.
    #[must_use]
    pub fn new() -> Self {
        Injector {
            queue: ConcurrentQueue::unbounded(),
        }
    }

    /// Appends `item`. Any thread.
    pub fn push(&self, item: T) {
        // The queue is unbounded and never closed, so it refuses nothing.
        assert!(
            self.queue.push(item).is_ok(),
            "the injector is never closed"
        );
    }

    /// Takes the oldest item. Any thread.
    #[must_use]
    pub fn pop(&self) -> Option<T> {
        if self.queue.is_empty() {
            return None; // two loads instead of a failing `pop`'s locked instruction
        }
        self.queue.pop().ok()
    }

    /// Takes the oldest item, and moves as many more to `local` as make it one of `sharers` equal
    /// shares, at most 32 in all. Returns the oldest and how many were moved. The owner of `local`.
    #[must_use]
    pub fn take_share(&self, sharers: usize, local: &Local<T>) -> Option<(T, usize)> {
        let first = self.pop()?;
        let share = (self.len() / sharers.max(1)).min(BATCH - 1);
        let moved = (0..share)
            .map_while(|_| self.pop())
            .map(|item| local.push(item));
        Some((first, moved.count()))
    }

    /// Number of items waiting, momentarily. Any thread.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing waits here (Q3). Any thread.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<T> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Local<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local")
            .field("len", &self.deque.len())
            .finish()
    }
}

impl<T> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer").field("len", &self.len()).finish()
    }
}

impl<T> fmt::Debug for Injector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector")
            .field("len", &self.len())
            .finish()
    }
}
