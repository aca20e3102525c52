//! How many workers there are, and how many there should be.
//!
//! # Concepts
//!
//! A worker is **live** from the decision to have it until it gives way or the pool closes. It is **blocked** while it
//! is in a section of `blocking`, or while the gate has found it blocked. The **goal** is one worker for each of the
//! minimum, and one more for each that is blocked, but never more than the maximum.
//!
//! | step | who | live | blocked |
//! |---|---|---|---|
//! | [`try_add`](Headcount::try_add) | gate, `set_threads` | below the goal: + 1 | |
//! | [`try_give_way`](Headcount::try_give_way) | a worker between two polls | above the goal: - 1 | |
//! | [`leave`](Headcount::leave) | a worker, once the pool closes | - 1 | |
//! | [`block`](Headcount::block), [`unblock`](Headcount::unblock) | a worker, or the gate for it | | + 1, - 1 |
//!
//! All four numbers are in one word, as in .NET's thread pool, so that each step is one compare-and-exchange.
//!
//! # Invariants
//!
//! * **H1** A worker is added only below the goal, and gives way only above it: whatever blocks and returns meanwhile,
//!   no step takes `live` away from the goal.
//! * **H2** Once `live` is zero it stays so: the last worker has cleared up.

use std::fmt;

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicU64, Ordering};

#[cfg(test)]
mod tests;

/// The four numbers, 16 bits each: live, blocked, minimum, maximum, from the lowest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heads(u64);

impl Heads {
    const LIVE: u64 = 1;
    const BLOCKED: u64 = 1 << 16;
    const MIN: u64 = 1 << 32;
    const MAX: u64 = 1 << 48;
    const MASK: u64 = 0xffff;

    fn new(live: usize, min: usize, max: usize) -> Self {
        debug_assert!(live <= max && min <= max && max <= Self::MASK as usize);
        Heads(live as u64 * Self::LIVE + min as u64 * Self::MIN + max as u64 * Self::MAX)
    }

    fn number(self, unit: u64) -> usize {
        ((self.0 / unit) & Self::MASK) as usize
    }

    pub(crate) fn live(self) -> usize {
        self.number(Self::LIVE)
    }

    pub(crate) fn blocked(self) -> usize {
        self.number(Self::BLOCKED)
    }

    pub(crate) fn min(self) -> usize {
        self.number(Self::MIN)
    }

    pub(crate) fn max(self) -> usize {
        self.number(Self::MAX)
    }

    /// How many workers there should be.
    pub(crate) fn goal(self) -> usize {
        (self.min() + self.blocked()).min(self.max())
    }

    /// Whether another worker should be added.
    pub(crate) fn wants_more(self) -> bool {
        self.live() > 0 && self.live() < self.goal()
    }

    /// Whether a worker should give way.
    pub(crate) fn has_surplus(self) -> bool {
        self.live() > self.goal()
    }

    /// Whether nobody is left who could run anything, and nobody may be added.
    pub(crate) fn is_exhausted(self) -> bool {
        self.blocked() >= self.live() && self.live() >= self.max()
    }
}

impl fmt::Debug for Heads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heads")
            .field("live", &self.live())
            .field("blocked", &self.blocked())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish()
    }
}

/// The numbers of a pool.
pub(crate) struct Headcount(CachePadded<AtomicU64>);

impl Headcount {
    /// `min` live workers, none of them blocked.
    pub(crate) fn new(min: usize, max: usize) -> Self {
        Headcount(CachePadded::new(AtomicU64::new(
            Heads::new(min, min, max).0,
        )))
    }

    /// The numbers, momentarily. Any thread.
    #[inline]
    pub(crate) fn get(&self) -> Heads {
        // Ordering: Acquire pairs with the release in `step`: who reads that nobody is live sees what they left.
        Heads(self.0.load(Ordering::Acquire))
    }

    /// Counts another live worker, if one should be added. Any thread.
    pub(crate) fn try_add(&self) -> bool {
        self.step(|heads| heads.wants_more().then(|| heads.0 + Heads::LIVE))
            .is_some()
    }

    /// Counts one live worker less, if one should give way. Worker thread only, between two polls.
    pub(crate) fn try_give_way(&self) -> bool {
        self.step(|heads| heads.has_surplus().then(|| heads.0 - Heads::LIVE))
            .is_some()
    }

    /// Counts one live worker less, whatever the goal is. Returns how many are left. Worker thread only.
    pub(crate) fn leave(&self) -> usize {
        let left = self.step(|heads| Some(heads.0 - Heads::LIVE));
        left.map_or(0, Heads::live)
    }

    /// A live worker is blocked. Any thread.
    pub(crate) fn block(&self) {
        self.always(|heads| heads.0 + Heads::BLOCKED);
    }

    /// And is no more. Any thread.
    pub(crate) fn unblock(&self) {
        self.always(|heads| {
            debug_assert!(heads.blocked() > 0, "{heads:?}");
            heads.0 - Heads::BLOCKED
        });
    }

    /// Sets how many workers there are to be, at least and at most. Any thread.
    pub(crate) fn set(&self, min: usize, max: usize) {
        self.always(|heads| {
            let kept = heads.0 & (Heads::MIN - 1);
            kept + min as u64 * Heads::MIN + max as u64 * Heads::MAX
        });
    }

    fn always(&self, new: impl Fn(Heads) -> u64) {
        self.step(|heads| Some(new(heads)));
    }

    /// Moves from the numbers to what `new` makes of them, in one step, unless it makes nothing; returns the
    /// new ones.
    fn step(&self, new: impl Fn(Heads) -> Option<u64>) -> Option<Heads> {
        let mut old = self.get();
        loop {
            let next = new(old)?;
            // Ordering: AcqRel, so that the last one to leave sees what all the others left.
            match self
                .0
                .compare_exchange_weak(old.0, next, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(Heads(next)),
                Err(newer) => old = Heads(newer),
            }
        }
    }
}

impl fmt::Debug for Headcount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
