//! The run-next slot: one place a worker, for the item that it should run next.
//!
//! # Concepts
//!
//! The **owner** ([`Slot`], the worker's end) publishes into an empty slot and takes from it after its
//! current poll. **Thieves** ([`Thief`], everybody else's end) may take the item as well. When a
//! thief *may* is policy and lives with the looker (`search`); the slot only says who got it.
//!
//! | state | publish (owner) | take (owner) | steal (any thread) |
//! |---|---|---|---|
//! | **empty** | -> full | empty, `None` | empty, `None` |
//! | **full** | refused, stays full | -> empty | -> empty |
//!
//! # Protocol: a take without a locked instruction
//!
//! Millions of takes stand against one steal, so the thief pays for both. The slot is **biased**
//! to its owner, who then takes with a load and a store, until a thief revokes the bias; from then
//! on it is **shared**, and both sides swap. The owner takes the bias back after `SHARED_TAKES`.
//!
//! | owner takes | thief steals, holding `stealing` |
//! |---|---|
//! | 1 `taking` = true | 1 `biased` = false |
//! | 2 light barrier | 2 heavy barrier; no need of it if the slot was shared already |
//! | 3 read `biased`; if set: load the item, store null; if not: swap | 3 read `taking`; if set: give up; if not: swap |
//! | 4 `taking` = false, released | |
//!
//! Either the owner's third step sees the revocation, and two swaps cannot get the same item; or
//! the thief's sees that the owner is at it, and leaves the item to the owner. The heavy barrier makes every thread of
//! the process execute a full barrier (`membarrier`, Linux), about 2 us, and it comes at
//! most once in `SHARED_TAKES` takes. Where the system has none, slots are never biased.
//!
//! # Invariants
//!
//! * **S1** Only the owner fills the slot, and only an empty one: nothing is ever displaced.
//! * **S2** An item is taken exactly once: by whoever swaps the pointer out, or by the owner alone while the slot is biased.
//! * **S3** [`publish`](Slot::publish) is a full barrier: what the owner reads next is read after the item is there.
//! * **S4** A looker takes no item for `d` old that came into the slot less than `d` ago, unless
//!   a thief emptied the slot meanwhile and the owner refilled it within the same poll, or the owner went on
//!   to another poll just between the looker's read of the counter and its steal.
//! * **S5** `biased` changes only under `stealing`, a lock that nobody waits for.
//!
//! # Why a refused publish and not a displacement
//!
//! Go and tokio displace the older item into the queue. A burst then runs its last item first and
//! touches slot *and* queue for each one. Refusing keeps the first of a burst next, leaves the rest
//! in order, and needs one locked instruction instead of two.
//!
//! The barrier that the owner relies on may be one of an earlier thief's: the lock hands its revocation on.
//!
//! # Why a publish has a barrier
//!
//! It pairs with workers that stop looking (`idle`), which otherwise needed the heavy one: 2 us each time that a
//! worker finds work or goes to sleep, where a steal is rare. Only while the gate watches can it go
//! ([`publish_unordered`](Slot::publish_unordered)), since the gate seldom leaves.
//!
//! # Why the waiting time is not kept here
//!
//! A time stamp would put a clock read (25 ns) on the hop (20 to 40 ns), and the pointer cannot
//! stand for the item either: a ping-pong publishes the same two pointers for ever. So a looker
//! compares the owner's poll counter: while it stands still, the owner sits in one poll, and
//! what waits in its slot has waited at least as long as the looker has been watching.
//!
//! # Testing a policy of your own
//!
//! The slot and the [queues](crate::queue) work without a pool, so whatever is built of them can be held to their
//! invariants. Here any order of a worker's steps and its thieves', tried with `proptest`:
//!
//! ```
//! use proptest::{collection::vec, prelude::*, test_runner::TestRunner};
//! use runnext::{queue, slot::Slot};
//!
//! TestRunner::default().run(&vec(0..4, 0..100), |steps| {
//!     let (slot, (queue, stealer)) = (Slot::new(), queue::local());
//!     let (thief, (loot, _)) = (slot.thief(), queue::local());
//!     let (mut scheduled, mut got, mut last_queued) = (0, Vec::new(), None);
//!     for step in steps {
//!         match step {
//!             0 => {
//!                 if let Err(refused) = slot.publish(Box::new(scheduled)) {
//!                     queue.push(refused); // S1: the slot keeps the first
//!                 }
//!                 scheduled += 1;
//!             }
//!             1 => match slot.take() {
//!                 Some(item) => got.push(item),
//!                 None => {
//!                     let queued = queue.pop();
//!                     prop_assert!(queued.is_none() || queued > last_queued); // Q2: in order
//!                     last_queued = queued.clone().or(last_queued);
//!                     got.extend(queued);
//!                 }
//!             },
//!             2 => got.extend(thief.steal()),
//!             _ => got.extend(stealer.steal_half_into(&loot)),
//!         }
//!     }
//!     let left = || slot.take().or_else(|| queue.pop()).or_else(|| loot.pop());
//!     got.extend(std::iter::from_fn(left));
//!     got.sort();
//!     prop_assert!(got.into_iter().map(|item| *item).eq(0..scheduled)); // S2, Q1: exactly once
//!     Ok(())
//! })?;
//! # Ok::<(), proptest::test_runner::TestError<Vec<i32>>>(())
//! ```

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use crate::sync::{
    Arc, AtomicBool, AtomicPtr, Count, Ordering, asymmetric_barriers, complete_barrier,
    heavy_barrier, light_barrier, store_release,
};

#[cfg(test)]
mod tests;

/// Takes from a shared slot before its owner tries to have it to itself again. Enough to make the
/// heavy barriers cheap even where every second item is stolen.
const SHARED_TAKES: u32 = 1024;

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

/// The owner's end of a worker's run-next place, for at most one item.
///
/// ```
/// let slot = runnext::slot::Slot::new();
/// assert!(slot.publish(Box::new(1)).is_ok());
/// assert_eq!(slot.publish(Box::new(2)), Err(Box::new(2))); // the first of a burst stays next
/// assert_eq!(slot.take(), Some(Box::new(1)));
/// assert_eq!(slot.thief().steal(), None);
/// ```
pub struct Slot<T: Raw> {
    place: Arc<CachePadded<Place<T>>>,
    /// Takes from the shared slot until the owner tries to bias it again.
    shared_takes_left: Cell<u32>,
}

/// A thief's end of a slot. Cheap to clone.
pub struct Thief<T: Raw> {
    place: Arc<CachePadded<Place<T>>>,
}

/// What both ends work on.
struct Place<T: Raw> {
    item: AtomicPtr<()>,
    /// Whether the owner is within [`Slot::take`].
    taking: AtomicBool,
    /// Whether only the owner may take (S5).
    biased: AtomicBool,
    /// Held by whoever steals or changes `biased`; whoever finds it held goes away.
    stealing: AtomicBool,
    /// The owner's polls so far: evidence of how long an item has been waiting.
    polls: Count,
    // Like a mutex, the slot moves items between threads but never shares one.
    _moves: PhantomData<std::sync::Mutex<T>>,
}

impl<T: Raw> Slot<T> {
    /// An empty slot.
    #[must_use]
    pub fn new() -> Self {
        Slot {
            place: Arc::new(CachePadded::new(Place::new(asymmetric_barriers()))),
            shared_takes_left: Cell::new(SHARED_TAKES),
        }
    }

    /// An end for thieves.
    #[must_use]
    pub fn thief(&self) -> Thief<T> {
        Thief {
            place: self.place.clone(),
        }
    }

    /// Puts `item` into the slot, followed by a full barrier (S3).
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
        // Ordering: SeqCst. Release for `steal`, and the full barrier of S3, which pairs
        // with the barriers in `Idle::stop_searching` and `Idle::park`. One `xchg` is cheaper
        // than a store and an `mfence`.
        let old = self
            .place
            .item
            .swap(item.into_raw().as_ptr(), Ordering::SeqCst);
        complete_barrier();
        debug_assert!(old.is_null(), "S1: only the owner fills the slot");
        Ok(())
    }

    /// Puts `item` into the slot with a plain store: what the owner reads next may be older.
    ///
    /// For an owner that asks nobody, or that makes up for the barrier itself.
    ///
    /// # Errors
    ///
    /// Gives `item` back when the slot is full.
    // Transitions: empty -> full.
    #[inline]
    pub fn publish_unordered(&self, item: T) -> Result<(), T> {
        if self.is_full() {
            return Err(item);
        }
        store_release(&self.place.item, item.into_raw().as_ptr()); // for `steal`
        Ok(())
    }

    /// Takes the item. Costs a plain load when the slot is empty, a few plain loads and stores
    /// while it is biased.
    // Transitions: full -> empty.
    #[inline]
    pub fn take(&self) -> Option<T> {
        if !self.is_full() {
            return None;
        }
        let place = &**self.place;
        // Relaxed: the barrier orders it.
        place.taking.store(true, Ordering::Relaxed);
        light_barrier(); // pairs with the heavy one in `Place::revoke_bias`
        // Relaxed: the barrier again. A bias that is just being revoked may still be seen if the thief sees `taking`.
        let item = if place.biased.load(Ordering::Relaxed) {
            place.take_biased()
        } else {
            self.take_shared()
        };
        // Ordering: Release pairs with the acquire in `Place::steal`, so that a thief that goes on
        // finds the slot empty.
        place.taking.store(false, Ordering::Release);
        Place::own(item)
    }

    #[cold]
    fn take_shared(&self) -> *mut () {
        let left = self.shared_takes_left.get() - 1;
        self.shared_takes_left.set(left);
        if left == 0 {
            self.shared_takes_left.set(SHARED_TAKES);
            self.place.bias();
        }
        // Ordering: Relaxed. The item is our own publish's, and emptying the slot publishes nothing.
        self.place.item.swap(ptr::null_mut(), Ordering::Relaxed)
    }

    /// As if thieves had been here for so long that the next take biases the slot again.
    #[cfg(runnext_loom)]
    #[cfg(test)]
    fn share_until_next_take(&self) {
        assert!(self.place.revoke_bias());
        self.shared_takes_left.set(1);
    }

    /// Says that the owner begins another poll, and returns how many that makes.
    #[inline]
    pub fn begin_poll(&self) -> u64 {
        self.place.polls.bump()
    }

    /// The owner's polls so far.
    #[inline]
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.place.polls.get()
    }

    /// Whether an item waits here: a thief may take it at any time.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.place.is_full()
    }
}

impl<T: Raw> Thief<T> {
    /// Takes the item. `None` if there is none, and also if the owner or another thief is just
    /// taking it: [`is_full`](Self::is_full) tells what is left. Any thread.
    // Transitions: full -> empty.
    pub fn steal(&self) -> Option<T> {
        if !self.is_full() {
            return None;
        }
        self.place.steal()
    }

    /// The owner's polls so far: while they stand still, the owner sits in one poll. Any thread.
    #[inline]
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.place.polls.get()
    }

    /// Whether an item waits here, momentarily. Any thread.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.place.is_full()
    }
}

impl<T: Raw> Place<T> {
    fn new(biased: bool) -> Self {
        Place {
            item: AtomicPtr::new(ptr::null_mut()),
            taking: AtomicBool::new(false),
            biased: AtomicBool::new(biased),
            stealing: AtomicBool::new(false),
            polls: Count::default(),
            _moves: PhantomData,
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        // Ordering: SeqCst, the looking half of the pair named in `publish`; a plain `mov` on x86.
        !self.item.load(Ordering::SeqCst).is_null()
    }

    /// Within `taking`, and with the bias seen.
    #[inline]
    fn take_biased(&self) -> *mut () {
        // Relaxed: the item is our own publish's, and no thief gets past `taking` meanwhile.
        let item = self.item.load(Ordering::Relaxed);
        self.item.store(ptr::null_mut(), Ordering::Relaxed);
        item
    }

    fn steal(&self) -> Option<T> {
        if !self.lock_stealing() {
            return None;
        }
        // Ordering: Acquire pairs with the release at the end of `Slot::take`.
        let item = if self.revoke_bias() && !self.taking.load(Ordering::Acquire) {
            // Ordering: Acquire pairs with the release half of `publish`, so that we see the
            // item's memory.
            self.item.swap(ptr::null_mut(), Ordering::Acquire)
        } else {
            ptr::null_mut()
        };
        self.unlock_stealing();
        Self::own(item)
    }

    /// Whether the owner can be relied on to see that the slot is shared, or to be seen. With
    /// `stealing` held.
    // Transitions: biased -> shared.
    fn revoke_bias(&self) -> bool {
        // Relaxed: the lock orders what thieves and `bias` write, the barrier the owner's reads.
        if !self.biased.load(Ordering::Relaxed) {
            return true;
        }
        self.biased.store(false, Ordering::Relaxed);
        let done = heavy_barrier(); // pairs with the light one in `Slot::take`
        if !done {
            // A sandbox closed over the process after the pool was built.
            self.biased.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Gives the slot back to its owner, unless a thief is at it. Owner only.
    // Transitions: shared -> biased.
    fn bias(&self) {
        if asymmetric_barriers() && self.lock_stealing() {
            // Relaxed: the lock orders it after the swaps of all thieves so far.
            self.biased.store(true, Ordering::Relaxed);
            self.unlock_stealing();
        }
    }

    fn lock_stealing(&self) -> bool {
        // Ordering: Acquire pairs with the release in `unlock_stealing`.
        !self.stealing.swap(true, Ordering::Acquire)
    }

    fn unlock_stealing(&self) {
        // Ordering: Release pairs with the acquire in `lock_stealing`.
        self.stealing.store(false, Ordering::Release);
    }

    fn own(item: *mut ()) -> Option<T> {
        // SAFETY: a non-null pointer in the slot comes from `publish`, and whoever took it out
        // is the only one to hold it (S2).
        NonNull::new(item).map(|item| unsafe { T::from_raw(item) })
    }
}

impl<T: Raw> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Raw> Clone for Thief<T> {
    fn clone(&self) -> Self {
        Thief {
            place: self.place.clone(),
        }
    }
}

impl<T: Raw> Drop for Place<T> {
    fn drop(&mut self) {
        // Relaxed: nobody else is left. Unwind: the place is empty when the item's own drop runs.
        drop(Self::own(
            self.item.swap(ptr::null_mut(), Ordering::Relaxed),
        ));
    }
}

impl<T: Raw> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("full", &self.is_full())
            .finish()
    }
}

impl<T: Raw> fmt::Debug for Thief<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thief")
            .field("full", &self.is_full())
            .finish()
    }
}
