//! The watch: what the gate makes of what it sees, without threads, atomics or a clock.
//!
//! # Concepts
//!
//! The gate **looks** at every worker from time to time and compares with its last look. Work that waits
//! in the slot or queue of a worker that is still in the same poll is **stalled**: it gets a **rescue**,
//! which is a mark that lets thieves take it at once, and another worker.
//!
//! | the worker's poll counter | something waits | then |
//! |---|---|---|
//! | stands still | in the slot, or in the queue while others search | rescue: whoever promised to look after it has not come |
//! | stands still | in the queue, nobody searches | the push's own request is due; only long after that, rescue, and count it as lost |
//! | moves slowly | anywhere | look again sooner, and share if that helps (`share`): let others take at once, ask for one |
//! | moves fast | anywhere | leave the chain alone |
//!
//! # Invariants
//!
//! * **G1** While somebody is parked, what waits in a slot behind a poll that does not end is rescued at
//!   the second look after both have begun, at the latest. What waits in a queue had a request of its
//!   own: it is rescued then only if a searcher has absorbed that, and else after [`LOST`].
//! * **G2** The watch ends only when nothing has moved for [`QUIET`] and nothing waits.
//! * **G3** A look costs each worker that moves one cache miss: of others' queues it reads only where
//!   the counter stands still or moves slowly.
//! * **G4** While nobody is parked, workers may put the next look off, but only if each has begun polls of at most
//!   [`GETS_ON`] since the last time: once one of them has stopped, or sleeps in each poll, it comes within
//!   [`ALL_GET_ON`] of the last time at which they could.
//!
//! # Why look sooner after a slow poll
//!
//! An item is published, more often than not, early in its poll. The first look then sees a counter that
//! has moved and only the second that it stands still: the item waits up to two intervals. Where polls
//! are short that does not matter. Where the last ones were long, half an interval makes the longest
//! wait one and a half, and the usual one, from the start of a poll, about one. After a rest nothing is
//! known of the polls yet, and what comes first is often what somebody waits for: the first [`FRESH`]
//! looks follow each other after a quarter.

use std::time::{Duration, Instant};

use crate::share::{Sharing, Steals};

#[cfg(test)]
mod tests;

/// Between looks while nobody is parked: nobody could be woken.
const ALL_RUN: Duration = Duration::from_millis(1);
/// And at most, each twice as long as the one before, while all of them get on.
const ALL_GET_ON: Duration = Duration::from_millis(4);
/// Without movement and without work for so long, the gate goes to sleep.
const QUIET: Duration = Duration::from_millis(1);
/// A poll that is longer is worth another worker: ten times what a steal costs.
const LONG_POLL: Duration = Duration::from_micros(1);
/// A worker whose polls are longer may block in them: the shortest sleep is several times as long.
const GETS_ON: Duration = Duration::from_micros(10);
/// A push asks for a worker nanoseconds later, unless its thread is switched off just then. After
/// so long it is taken for lost.
const LOST: Duration = Duration::from_millis(100);
/// And after so many looks.
const LOST_LOOKS: u32 = 10;
/// Looks after a rest that come quickly.
const FRESH: u32 = 4;
/// The least interval, whatever the knob says.
const SHORTEST: Duration = Duration::from_micros(5);

/// What a look reads.
pub(crate) trait View {
    /// How many workers there are to look at, by index.
    fn workers(&self) -> usize;
    /// Whether a thread works there.
    fn works(&self, worker: usize) -> bool;
    /// The worker's polls so far, and whether its slot is full.
    fn slot(&self, worker: usize) -> (u64, bool);
    /// Whether anything waits in the worker's local queue.
    fn queue_waits(&self, worker: usize) -> bool;
    /// Whether anything waits in the injector.
    fn injector_waits(&self) -> bool;
    /// What the workers do.
    fn idlers(&self) -> Idlers;
}

/// How many workers do what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idlers {
    pub(crate) searching: usize,
    pub(crate) parked: usize,
    pub(crate) running: usize,
}

/// What a look asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Let thieves take the worker's item at once while its poll counter is at most `through`, and
    /// ask for another worker; `again` if that has been done for this poll already. The poll has been seen
    /// for `stalled`.
    Rescue {
        worker: usize,
        through: u64,
        again: bool,
        stalled: Duration,
    },
    /// From now on thieves may take what waits in the worker's slot then.
    Allow { worker: usize, steals: Steals },
    /// Ask for a worker to share with.
    Ask,
    /// Wake somebody: work waits that nobody has promised to look after.
    Lost,
}

/// When to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// After so long.
    Look(Duration),
    /// After so long, unless somebody parks before: until then nobody could be woken.
    Seldom(Duration),
    /// Not before somebody asks (G2).
    Sleep,
}

/// What the last look saw of a worker.
#[derive(Clone, Copy, Debug)]
struct Sight {
    polls: u64,
    /// When the counter was first seen at this.
    since: Instant,
    rescued: bool,
    steals: Steals,
}

impl Sight {
    fn new(now: Instant) -> Self {
        Sight {
            polls: 0,
            since: now,
            rescued: false,
            steals: Steals::Delayed,
        }
    }

    /// Notes the poll counter; returns how many polls it has begun since the last time.
    fn see(&mut self, polls: u64, now: Instant) -> u64 {
        let begun = polls - self.polls;
        if begun > 0 {
            self.polls = polls;
            self.since = now;
            self.rescued = false;
        }
        begun
    }

    fn allow(&mut self, worker: usize, steals: Steals, act: &mut impl FnMut(Step)) {
        if std::mem::replace(&mut self.steals, steals) != steals {
            act(Step::Allow { worker, steals });
        }
    }
}

/// How long each poll took, if `begun` were begun within `time`; all of it, if none was.
fn mean(time: Duration, begun: u64) -> Duration {
    time / u32::try_from(begun.max(1)).unwrap_or(u32::MAX)
}

/// The gate's memory from look to look.
#[derive(Debug)]
pub(crate) struct Watch {
    interval: Duration,
    /// Whether somebody has to watch while others are idle.
    defers: bool,
    workers: Vec<Sight>,
    /// How long a counter has to have been standing still: what the last look was to be followed by.
    /// A look may come sooner, when somebody parks or the gate is woken for something else.
    patience: Duration,
    /// Looks that are still to come quickly.
    fresh: u32,
    /// Until the next look if nobody is parked.
    seldom: Duration,
    looked_at: Instant,
    moved_at: Instant,
    sharing: Sharing,
    /// Since when something has been waiting that nobody has promised to look after, and how often it was seen:
    /// a process that was stopped meanwhile has lost nothing.
    unpromised: Option<(Instant, u32)>,
}

/// What one look found out about all workers.
#[derive(Debug, Default)]
struct Findings {
    polls: u64,
    slow: bool,
    /// Whether some counter stands still.
    stands: bool,
    waits: bool,
    unpromised: bool,
}

impl Watch {
    /// A watch that looks every `interval`; over what only the gate looks after if the pool `defers`.
    pub(crate) fn new(interval: Duration, defers: bool, now: Instant) -> Self {
        let interval = interval.max(SHORTEST);
        Watch {
            interval,
            defers,
            workers: Vec::new(),
            patience: interval,
            fresh: FRESH,
            seldom: ALL_RUN,
            looked_at: now,
            moved_at: now,
            sharing: Sharing::new(),
            unpromised: None,
        }
    }

    /// Begins to watch again after a sleep.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.fresh = FRESH;
        self.patience = (self.interval / 4).max(SHORTEST);
        self.looked_at = now;
        self.moved_at = now;
        self.unpromised = None;
    }

    /// Whether all workers have begun short polls since the last look, so that there is nothing to look for. No sooner than
    /// after [`ALL_RUN`]. Takes note of what it sees, as a look does.
    pub(crate) fn all_get_on(&mut self, view: &impl View, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.looked_at);
        if elapsed < ALL_RUN || view.workers() != self.workers.len() {
            return false;
        }
        (self.looked_at, self.moved_at) = (now, now);
        let mut longest = Duration::ZERO;
        for (worker, sight) in self.workers.iter_mut().enumerate() {
            let poll = mean(elapsed, sight.see(view.slot(worker).0, now));
            if view.works(worker) {
                longest = longest.max(poll);
            }
        }
        let shares = longest >= LONG_POLL && self.sharing.steals() != Steals::Delayed; // looks show how that goes
        longest <= GETS_ON && !shares
    }

    /// Looks at everything once.
    pub(crate) fn look(&mut self, view: &impl View, now: Instant, mut act: impl FnMut(Step)) -> Next {
        let elapsed = now.saturating_duration_since(self.looked_at);
        let mut found = Findings::default();
        self.workers.resize(view.workers(), Sight::new(now));
        for worker in 0..self.workers.len() {
            self.look_at(worker, view, now, &mut found, &mut act);
        }
        let idlers = view.idlers();
        let Idlers {
            searching,
            parked,
            running,
        } = idlers;
        let busy = elapsed * u32::try_from(running).unwrap_or(u32::MAX);
        let could_share = found.slow && searching + parked > 0;
        self.sharing.observe(now, found.polls, busy, could_share);
        found.unpromised |= view.injector_waits();
        found.waits |= found.unpromised;
        let lost = found.unpromised && searching == 0 && parked > 0;
        if self.has_been_lost(lost, now) {
            act(Step::Lost);
        }
        self.looked_at = now;
        if found.polls > 0 {
            self.moved_at = now;
        }
        let next = self.next(&found, idlers, now);
        if next == Next::Sleep {
            for (worker, sight) in self.workers.iter_mut().enumerate() {
                sight.allow(worker, Steals::Delayed, &mut act); // nobody would come to rescue
            }
        }
        next
    }

    fn look_at(
        &mut self,
        worker: usize,
        view: &impl View,
        now: Instant,
        found: &mut Findings,
        act: &mut impl FnMut(Step),
    ) {
        let elapsed = now.saturating_duration_since(self.looked_at);
        let sight = &mut self.workers[worker];
        let (polls, slot_full) = view.slot(worker);
        let begun = sight.see(polls, now);
        if begun > 0 {
            found.polls += begun;
            let slow = mean(elapsed, begun) >= LONG_POLL;
            let waits = slow && (slot_full || view.queue_waits(worker));
            found.slow |= waits;
            let steals = if slow { self.sharing.steals() } else { Steals::Delayed };
            sight.allow(worker, steals, act);
            if steals == Steals::AtOnce && waits {
                act(Step::Ask);
            }
            return;
        }
        let queue_waits = view.queue_waits(worker);
        found.stands = true;
        found.waits |= slot_full || queue_waits;
        let stalled = now.saturating_duration_since(sight.since);
        if stalled < self.patience {
            return;
        }
        if slot_full || (queue_waits && view.idlers().searching > 0) {
            let again = std::mem::replace(&mut sight.rescued, true);
            act(Step::Rescue {
                worker,
                through: polls,
                again,
                stalled,
            });
        } else {
            found.unpromised |= queue_waits;
        }
    }

    fn has_been_lost(&mut self, unpromised: bool, now: Instant) -> bool {
        if !unpromised {
            self.unpromised = None;
            return false;
        }
        let (since, looks) = self.unpromised.get_or_insert((now, 0));
        *looks += 1;
        let lost = *looks >= LOST_LOOKS && now.saturating_duration_since(*since) >= LOST;
        if lost {
            self.unpromised = None;
        }
        lost
    }

    /// How long `worker` has been seen in its poll number `polls`, if the last look saw it in that.
    pub(crate) fn poll_age(&self, worker: usize, polls: u64, now: Instant) -> Option<Duration> {
        let sight = self.workers.get(worker).filter(|sight| sight.polls == polls)?;
        Some(now.saturating_duration_since(sight.since))
    }

    fn next(&mut self, found: &Findings, idlers: Idlers, now: Instant) -> Next {
        let parked = idlers.parked;
        let all_parked = parked > 0 && idlers.running + idlers.searching == 0;
        let quiet = all_parked || now.saturating_duration_since(self.moved_at) >= QUIET;
        if (quiet && !found.waits) || (!self.defers && parked > 0) {
            return Next::Sleep;
        }
        let trying = self.sharing.is_trying(now);
        let fresh = self.fresh > 0;
        self.fresh = self.fresh.saturating_sub(1);
        let part = match found.slow {
            _ if fresh => 4,
            false if !trying => 1,
            _ => 2,
        };
        self.patience = (self.interval / part).max(SHORTEST);
        if parked > 0 || trying {
            self.seldom = ALL_RUN;
            return Next::Look(self.patience);
        }
        let seldom = if found.stands { ALL_RUN } else { self.seldom };
        self.seldom = (2 * seldom).min(ALL_GET_ON);
        Next::Seldom(self.interval.max(seldom))
    }
}
