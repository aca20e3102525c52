//! The table of what others may touch of each worker: it grows, and nothing in it moves.
//!
//! A place is filled once and stays, also while no thread works there: whoever walks through the table needs no
//! lock, and an index that somebody remembers goes on meaning the same place.

use std::ops::Index;
use std::sync::OnceLock;

use crate::sync::{Arc, AtomicUsize, Ordering};
use crate::worker::Remote;

/// What others may touch of the workers, by index.
pub(crate) struct Remotes {
    places: Box<[OnceLock<Arc<Remote>>]>,
    len: AtomicUsize,
}

impl Remotes {
    /// An empty table with room for `capacity` workers.
    pub(crate) fn new(capacity: usize) -> Self {
        Remotes {
            places: (0..capacity).map(|_| OnceLock::new()).collect(),
            len: AtomicUsize::new(0),
        }
    }

    /// Adds a place and returns its index. One thread at a time, and never beyond the capacity.
    pub(crate) fn push(&self, remote: Remote) -> usize {
        // Relaxed: only who pushes writes it.
        let index = self.len.load(Ordering::Relaxed);
        let fresh = self.places[index].set(Arc::new(remote)).is_ok();
        debug_assert!(fresh, "a place is filled once");
        // Ordering: Release pairs with the acquire in `len`.
        self.len.store(index + 1, Ordering::Release);
        index
    }

    /// How many places there can be.
    pub(crate) fn capacity(&self) -> usize {
        self.places.len()
    }

    /// How many places are filled. Any thread.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Ordering: Acquire pairs with the release in `push`, so that the places below are there.
        self.len.load(Ordering::Acquire)
    }

    /// Every place that is filled, by index. Any thread.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Remote>> {
        self.places[..self.len()].iter().filter_map(OnceLock::get)
    }
}

impl Index<usize> for Remotes {
    type Output = Arc<Remote>;

    /// # Panics
    ///
    /// If the place is not filled.
    fn index(&self, index: usize) -> &Arc<Remote> {
        self.places[index].get().expect("the place is filled")
    }
}
