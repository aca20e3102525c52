//! What others may touch of a worker, and the table of that for all of them.
//!
//! The table grows, and nothing in it moves. A place is filled once and stays, also while no thread works there: whoever
//! walks through the table needs no lock, and an index that somebody remembers goes on meaning the same place.

use std::ops::Index;
use std::panic::Location;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use crossbeam_utils::atomic::AtomicCell;

use crate::marks::Marks;
use crate::queue::Stealer;
use crate::share::Steals;
use crate::slot::Thief;
use crate::stats::{Counters, WorkerStats};
use crate::suspect::ThreadId;
use crate::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::task::Runnable;

/// What a worker does, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// No thread works here, or it is a spare.
    Away,
    /// It runs tasks.
    Running,
    /// It looks for work.
    Searching,
    /// It sleeps until there is work.
    Parked,
}

/// What others may touch of a worker.
#[derive(Debug)]
pub(crate) struct Remote {
    /// The slot has a line of its own, which the owner writes at every poll; `counters` is written
    /// by the owner as well, and thieves pull `queue` towards them.
    pub(crate) slot: Thief<Runnable>,
    pub(crate) queue: CachePadded<Stealer<Runnable>>,
    pub(crate) counters: CachePadded<Counters>,
    /// Up to which poll of the worker its items may be taken at once: the gate knows its polls to be
    /// long. A poll, not the item, so that it need not be taken back.
    stealable_through: AtomicU64,
    /// Whether only a rescue allows that, for a moment: see `share`.
    kept: AtomicBool,
    /// Whether it is blocked.
    pub(crate) marks: Marks,
    /// The worker's thread, as the system knows it.
    pub(crate) thread: ThreadId,
    activity: AtomicCell<Activity>,
    /// The number of the first poll after the last search, and when that ended.
    first_poll: AtomicCell<Option<(u64, Instant)>>,
    /// The last poll whose stall was reported.
    reported: AtomicU64,
}

impl Remote {
    /// The part of a new worker, for which no thread works yet.
    pub(crate) fn new(slot: Thief<Runnable>, queue: Stealer<Runnable>) -> Self {
        Remote {
            slot,
            queue: CachePadded::new(queue),
            counters: CachePadded::default(),
            stealable_through: AtomicU64::new(0),
            kept: AtomicBool::new(false),
            marks: Marks::default(),
            thread: ThreadId::default(),
            activity: AtomicCell::new(Activity::Away),
            first_poll: AtomicCell::new(None),
            reported: AtomicU64::new(0),
        }
    }

    /// Whether something waits here that another worker could run. Any thread.
    pub(crate) fn has_work(&self) -> bool {
        self.slot.is_full() || !self.queue.is_empty()
    }

    /// Takes what waits in the slot, else the oldest item of the queue. Any thread.
    pub(crate) fn steal(&self) -> Option<Runnable> {
        self.slot.steal().or_else(|| self.queue.steal())
    }

    /// Lets thieves take what waits here without delay for as long as the poll counter is at most
    /// `through`. Gate only.
    pub(crate) fn allow_steals(&self, through: u64) {
        // Relaxed: a hint about when, not whether; only the gate writes it.
        let allowed = self.stealable_through.load(Ordering::Relaxed);
        self.stealable_through
            .store(allowed.max(through), Ordering::Relaxed);
    }

    /// Says when thieves may take what waits in the slot, until told otherwise. Gate only.
    pub(crate) fn allow(&self, steals: Steals) {
        let through = match steals {
            Steals::AtOnce => u64::MAX,
            Steals::Delayed | Steals::Rescued => 0,
        };
        // Relaxed: see `allow_steals`.
        self.stealable_through.store(through, Ordering::Relaxed);
        self.kept
            .store(steals == Steals::Rescued, Ordering::Relaxed);
    }

    /// Whether thieves may take without delay, given the poll counter. Any thread.
    pub(crate) fn allows_steals(&self, polls: u64) -> bool {
        // Relaxed: see `allow_steals`.
        polls <= self.stealable_through.load(Ordering::Relaxed) || self.marks.says(polls)
    }

    /// Whether something waits here that was requested: in the queue, or in the slot of a worker that says that
    /// it is blocked. Any thread.
    pub(crate) fn has_requested_work(&self) -> bool {
        let slot_is_free = || self.slot.is_full() && self.marks.says(self.slot.polls());
        !self.queue.is_empty() || slot_is_free()
    }

    /// Whether thieves have to leave the slot alone, however long the item waits, until the gate rescues
    /// it. Any thread.
    pub(crate) fn waits_for_rescue(&self) -> bool {
        // Relaxed: see `allow_steals`.
        self.kept.load(Ordering::Relaxed) && !self.allows_steals(self.slot.polls())
    }

    /// Says what the worker does now. Worker thread only.
    pub(crate) fn set_activity(&self, activity: Activity) {
        self.activity.store(activity);
    }

    /// What the worker does, momentarily. Any thread.
    pub(crate) fn activity(&self) -> Activity {
        self.activity.load()
    }

    /// Says that a search ends at `now`, and a poll begins. Worker thread only.
    pub(crate) fn end_search(&self, now: Instant) {
        self.first_poll.store(Some((self.slot.polls() + 1, now)));
    }

    /// How long the worker has been in its poll number `polls`, if that is the first after a search: the gate may
    /// have slept all the while. Any thread.
    pub(crate) fn first_poll_age(&self, polls: u64, now: Instant) -> Option<Duration> {
        let (first, since) = self.first_poll.load()?;
        (first == polls).then(|| now.saturating_duration_since(since))
    }

    /// Where the task was spawned that the worker polls, or polled last. Any thread.
    pub(crate) fn polled_task(&self) -> Option<&'static Location<'static>> {
        self.counters.polled.load()
    }

    /// Whether a stall of the poll of this number is to be reported: once. Gate only.
    pub(crate) fn is_first_report(&self, polls: u64) -> bool {
        // Relaxed: only the gate uses it.
        self.reported.swap(polls, Ordering::Relaxed) != polls
    }

    /// Items that wait here, momentarily. Any thread.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len() + usize::from(self.slot.is_full())
    }

    pub(crate) fn stats(&self) -> WorkerStats {
        let mut stats = WorkerStats::default();
        self.counters.copy_into(&mut stats);
        stats.polls_count = self.slot.polls();
        stats.slot_full = self.slot.is_full();
        stats.local_queue_depth = self.queue.len();
        stats
    }
}

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
