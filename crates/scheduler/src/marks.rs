//! The marks of a worker that is blocked: its own, and the gate's.
//!
//! # Concepts
//!
//! A worker **says** that it is blocked at the start of a section of `blocking`; of one that says nothing the gate
//! **finds** it out. Either mark is the number of the poll that blocks, so that the next poll ends what it means,
//! and each stands for at most one in `headcount`:
//!
//! | mark | set by | counts | taken off by |
//! |---|---|---|---|
//! | **said** | the worker, section by section | if it is the outermost, and no more than once with the other | the end of the outermost section, or the worker between two polls |
//! | **found** | the gate, at a glance | one | the worker between two polls, a section that takes the count over, or the gate, once the worker has gone on |
//!
//! # Protocol: both at once
//!
//! | worker that says it | gate that finds it |
//! |---|---|
//! | 1 set its own mark | 1 count, set its mark |
//! | 2 full barrier | 2 full barrier |
//! | 3 if the gate's mark is there, take it off and keep its count; else count | 3 if the worker's mark is there, take its own off, if that still stands, and count back |
//!
//! At least one sees the other, and the swap that takes a mark off says who has to care for its count.
//!
//! # Invariants
//!
//! * **B1** A mark stands only while its count does: a count comes before its mark and goes after it. So the
//!   number of the blocked is never negative, not even for a moment.
//! * **B2** Of a worker that both said and was found blocked, one is counted, once both are through.
//! * **B3** Whatever becomes of a section's guard, nothing is left of it once the worker is between two polls and looks
//!   after its marks.

use crate::headcount::Headcount;
use crate::sync::{AtomicU64, Ordering, complete_barrier};

#[cfg(test)]
mod tests;

/// The marks of one worker. Polls count from 1; 0 is no mark.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    said: AtomicU64,
    found: AtomicU64,
}

impl Marks {
    /// Says that the worker is blocked in the poll of this number, and counts it unless `heads` is none, because
    /// sections are not made up for. A full barrier. Returns the mark to go back to. Owner only.
    pub(crate) fn begin_section(&self, polls: u64, heads: Option<&Headcount>) -> u64 {
        // Ordering: SeqCst, a full barrier against `find` and against a worker that leaves the search (`blocking`).
        let outer = self.said.swap(polls, Ordering::SeqCst);
        complete_barrier();
        if outer == 0
            && let Some(heads) = heads
            && !self.take_found()
        {
            heads.block();
        }
        outer
    }

    /// Goes back to the mark `outer`, unless the end of the poll has taken it all off. Owner only.
    pub(crate) fn end_section(&self, outer: u64, heads: Option<&Headcount>) {
        // Relaxed: only the owner writes it.
        if self.said.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.said.store(outer, Ordering::Relaxed);
        if outer == 0
            && let Some(heads) = heads
        {
            heads.unblock();
        }
    }

    /// Takes both marks off: between two polls nothing is blocked. Owner only.
    pub(crate) fn end_poll(&self, heads: &Headcount, sections: Option<&Headcount>) {
        self.end_section(0, sections);
        self.forget(heads);
    }

    /// Marks the worker as found blocked in the poll of this number, and counts it, unless it is counted for
    /// a section and `sections_count`. Gate only, if there is no such mark.
    pub(crate) fn find(&self, polls: u64, heads: &Headcount, sections_count: bool) {
        if polls == 0 {
            return; // it has polled nothing yet
        }
        heads.block(); // before the mark (B1)
        // Ordering: SeqCst, a full barrier against `begin_section`; and a release for `take_found`.
        let old = self.found.swap(polls, Ordering::SeqCst);
        complete_barrier();
        debug_assert_eq!(old, 0, "it is counted once only");
        if sections_count && self.is_said() {
            self.forget(heads);
        }
    }

    /// Takes off what the gate has found, if it has. Any thread.
    pub(crate) fn forget(&self, heads: &Headcount) -> bool {
        let found = self.take_found();
        if found {
            heads.unblock();
        }
        found
    }

    fn take_found(&self) -> bool {
        // Ordering: Acquire pairs with the release in `find`: the count that goes with the mark is there (B1).
        self.is_found() && self.found.swap(0, Ordering::Acquire) != 0
    }

    /// Whether the worker says that it is blocked in the poll of this number. Any thread.
    pub(crate) fn says(&self, polls: u64) -> bool {
        // Ordering: SeqCst, the reading half of the pair with `begin_section`, by a worker that leaves the search: see
        // `blocking`. A plain `mov` on x86.
        polls != 0 && polls == self.said.load(Ordering::SeqCst)
    }

    /// Whether a section is open, in whichever poll: one that was leaked, or one around a poll in place, still counts.
    /// Any thread.
    pub(crate) fn is_said(&self) -> bool {
        // Ordering: SeqCst, the reading half of the pair with `begin_section`, by the gate; a plain `mov` on x86.
        self.said.load(Ordering::SeqCst) != 0
    }

    /// Whether the gate has found the worker blocked. Any thread.
    pub(crate) fn is_found(&self) -> bool {
        // Ordering: SeqCst, the reading half of the pair with `find`; a plain `mov` on x86.
        self.found.load(Ordering::SeqCst) != 0
    }

    /// Whether the worker has gone on since it was found blocked, given its poll counter and whether it is in a
    /// poll. Any thread.
    pub(crate) fn is_stale(&self, polls: u64, in_poll: bool) -> bool {
        // Relaxed: looked at again and again.
        let found = self.found.load(Ordering::Relaxed);
        found != 0 && (found != polls || !in_poll)
    }

    /// Whether the worker is known to be blocked in the poll of this number. Any thread.
    pub(crate) fn is_blocked(&self, polls: u64) -> bool {
        // Relaxed: for whoever looks on.
        self.says(polls) || (polls != 0 && polls == self.found.load(Ordering::Relaxed))
    }
}
