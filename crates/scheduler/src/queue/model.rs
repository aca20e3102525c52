//! Stand-in for the queues under the model checker, no stronger than they promise.
//!
//! The real queues are other crates', which our cfg does not reach. This one promises Q1 and Q3
//! and nothing else: its accesses are release and acquire, so every order between a push and
//! the idle counts has to come from our own barriers.

use crate::slot::Raw;
use crate::sync::{AtomicPtr, AtomicU32, Ordering};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// Places; more than any model pushes.
const CAPACITY: usize = 4;

/// A global queue for at most four items in all.
pub struct Injector<T: Raw> {
    places: [AtomicPtr<()>; CAPACITY],
    pushed: AtomicU32,
    _moves: PhantomData<std::sync::Mutex<T>>,
}

impl<T: Raw> Injector<T> {
    /// An empty injector.
    #[must_use]
    pub fn new() -> Self {
        Injector {
            places: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            pushed: AtomicU32::new(0),
            _moves: PhantomData,
        }
    }

    /// Appends `item`. Any thread.
    pub fn push(&self, item: T) {
        // Relaxed: only hands out places.
        let place = self.pushed.fetch_add(1, Ordering::Relaxed) as usize;
        // Ordering: Release pairs with the acquire in `pop`.
        self.places[place].store(item.into_raw().as_ptr(), Ordering::Release);
    }

    /// Takes the oldest item. Any thread.
    #[must_use]
    pub fn pop(&self) -> Option<T> {
        self.places.iter().find_map(|place| {
            // Ordering: Acquire pairs with the release in `push`.
            if place.load(Ordering::Acquire).is_null() {
                return None;
            }
            let raw = NonNull::new(place.swap(ptr::null_mut(), Ordering::Acquire))?;
            // SAFETY: swapped out, so it is ours alone (Q1).
            Some(unsafe { T::from_raw(raw) })
        })
    }

    /// Whether nothing waits here (Q3). Any thread.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // Relaxed: a hint, unless the caller has executed a full barrier.
        self.places
            .iter()
            .all(|place| place.load(Ordering::Relaxed).is_null())
    }
}

impl<T: Raw> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Raw> Drop for Injector<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

impl<T: Raw> fmt::Debug for Injector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector").finish_non_exhaustive()
    }
}
