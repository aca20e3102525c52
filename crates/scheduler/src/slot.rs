//! The run-next slot: one place a worker, for the item that it should run next.
//!
//! # Concepts
//!
//! The **owner** (the worker) publishes into an empty slot and takes from it after its current
//! poll. **Thieves** (other workers) may take the item as well. When a thief *may* is policy and
//! lives with the looker (`search`); the slot only says who got it.
//!
//! | state | publish (owner) | take (owner) | steal (any thread) |
//! |---|---|---|---|
//! | **empty** | -> full | empty, `None` | empty, `None` |
//! | **full** | refused, stays full | -> empty | -> empty |
//!
//! # Invariants
//!
//! * **S1** Only the owner fills the slot, and only an empty one: nothing is ever displaced.
//! * **S2** An item is taken exactly once: whoever swaps the pointer out owns the item.
//! * **S3** A publish is a full barrier: what the owner reads next is read after the item is there.
//! * **S4** A looker takes no item for `d` old that came into the slot less than `d` ago, unless
//!   a thief emptied the slot meanwhile and the owner refilled it within the same poll.
//!
//! # Why a refused publish and not a displacement
//!
//! Go and tokio displace the older item into the queue. A burst then runs its last item first and
//! touches slot *and* queue for each one. Refusing keeps the first of a burst next, leaves the rest
//! in order, and needs one locked instruction instead of two.
//!
//! # Why the waiting time is not kept here
//!
//! A time stamp would put a clock read (25 ns) on the hop (20 to 40 ns), and the pointer cannot
//! stand for the item either: a ping-pong publishes the same two pointers for ever. So a looker
//! compares the owner's poll counter: while it stands still, the owner sits in one poll, and
//! what waits in its slot has waited at least as long as the looker has been watching.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, Ordering, complete_barrier};

#[cfg(test)]
mod tests;

/// A value that fits into one pointer, so that it can be swapped in and out of a [`Slot`].
///
/// # Safety
///
/// `from_raw(into_raw(x))` must give back `x`, from any thread that `x` may be sent to.
pub unsafe trait Raw: Send + Sized {
    /// Gives the value up as a pointer.
    fn into_raw(self) -> NonNull<()>;

    /// Takes the value back.
    ///
    /// # Safety
    ///
    /// `raw` must come from [`into_raw`](Self::into_raw) and must be used only once.
    unsafe fn from_raw(raw: NonNull<()>) -> Self;
}

// SAFETY: `Runnable` documents `into_raw` and `from_raw` as inverses.
unsafe impl<M: Send + Sync> Raw for async_task::Runnable<M> {
    fn into_raw(self) -> NonNull<()> {
        async_task::Runnable::into_raw(self)
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller passes a pointer from `into_raw`, once.
        unsafe { async_task::Runnable::from_raw(raw) }
    }
}

// SAFETY: `Box::leak` and `Box::from_raw` are inverses.
unsafe impl<T: Send> Raw for Box<T> {
    fn into_raw(self) -> NonNull<()> {
        NonNull::from(Box::leak(self)).cast()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller passes a pointer from `into_raw`, once, so the box is ours again.
        unsafe { Box::from_raw(raw.cast().as_ptr()) }
    }
}

/// A worker's run-next place, for at most one item.
///
/// ```
/// let slot = runnext::slot::Slot::new();
/// assert!(slot.publish(Box::new(1)).is_ok());
/// assert_eq!(slot.publish(Box::new(2)), Err(Box::new(2))); // the first of a burst stays next
/// assert_eq!(slot.take(), Some(Box::new(1)));
/// assert_eq!(slot.steal(), None);
/// ```
pub struct Slot<T: Raw> {
    item: AtomicPtr<()>,
    // Like a mutex, the slot moves items between threads but never shares one.
    _moves: PhantomData<std::sync::Mutex<T>>,
}

impl<T: Raw> Slot<T> {
    /// An empty slot.
    #[must_use]
    pub fn new() -> Self {
        Slot {
            item: AtomicPtr::new(ptr::null_mut()),
            _moves: PhantomData,
        }
    }

    /// Puts `item` into the slot, followed by a full barrier (S3).
    ///
    /// Used from a second thread at the same time, a publish may replace the other's item, which
    /// is then dropped: safe, but not what a queue is for. Owner only.
    ///
    /// # Errors
    ///
    /// Gives `item` back when the slot is full.
    // Transitions: empty -> full.
    #[inline]
    pub fn publish(&self, item: T) -> Result<(), T> {
        if self.is_full() {
            return Err(item);
        }
        // Ordering: SeqCst. Release for `take` and `steal`, and the full barrier of S3, which pairs
        // with the barriers in `Idle::stop_searching` and `Idle::park`. One `xchg` is cheaper
        // than a store and an `mfence`.
        let old = self.item.swap(item.into_raw().as_ptr(), Ordering::SeqCst);
        complete_barrier();
        if !old.is_null() {
            Self::drop_replaced(old);
        }
        Ok(())
    }

    #[cold]
    fn drop_replaced(old: *mut ()) {
        let old = Self::own(old);
        debug_assert!(false, "S1: only the owner fills the slot");
        drop(old);
    }

    /// Takes the item. Costs a plain load when the slot is empty. Owner only, by custom: it is
    /// [`steal`](Self::steal) under the name that says who runs the item.
    // Transitions: full -> empty.
    #[inline]
    pub fn take(&self) -> Option<T> {
        self.steal()
    }

    /// Takes the item. Any thread.
    // Transitions: full -> empty.
    #[inline]
    pub fn steal(&self) -> Option<T> {
        if !self.is_full() {
            return None;
        }
        // Ordering: Acquire pairs with the release half of `publish`, so that we see the item's
        // memory. Nothing is published by emptying the slot.
        Self::own(self.item.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// Whether an item waits here. A hint for thieves; exact for the owner's "is it empty".
    /// Any thread.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        // Ordering: SeqCst, the looking half of the pair named in `publish`; a plain `mov` on x86.
        !self.item.load(Ordering::SeqCst).is_null()
    }

    fn own(raw: *mut ()) -> Option<T> {
        // SAFETY: a non-null pointer in the slot comes from `publish`, and whoever swapped it out
        // is the only one to hold it (S2).
        NonNull::new(raw).map(|raw| unsafe { T::from_raw(raw) })
    }
}

impl<T: Raw> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Raw> Drop for Slot<T> {
    fn drop(&mut self) {
        // Unwind: the slot is already empty when the item's own drop runs.
        drop(self.steal());
    }
}

impl<T: Raw> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("full", &self.is_full())
            .finish()
    }
}
