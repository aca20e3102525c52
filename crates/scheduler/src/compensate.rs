//! Compensation: another worker in place of a blocked one, while work waits.
//!
//! # Concepts
//!
//! Only when work waits and nobody is idle does the gate ask whether a worker should be added. `headcount` knows
//! how many: one for each that is blocked. The **pace** is .NET's: at once up to one more for each processor
//! beyond the minimum, and whenever a spare is there; after that one at a time, each after a delay that grows by 25 ms with each
//! further set of processors, up to 250 ms. So a moment of blocking costs no thread, and a thousand blocked tasks do not start a
//! thousand threads.
//!
//! A thread that cannot be started is tried again after the least delay, for as long as work waits.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::headcount::Heads;
use crate::pool::Shared;
use crate::remotes::Activity;
use crate::suspect::{GLANCE, Suspect};
use crate::sync::Arc;

#[cfg(test)]
mod tests;

/// .NET's `Blocking.DelayStepMs` and `Blocking.MaxDelayMs`.
const DELAY_STEP: Duration = Duration::from_millis(25);
const LONGEST_DELAY: Duration = Duration::from_millis(250);

/// Whether to add a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Now.
    Add,
    /// Not before so long.
    Later(Duration),
    /// There are as many as there should be.
    Enough,
    /// All that there may be are blocked.
    Exhausted,
}

/// When workers were added, and when another is due.
#[derive(Debug)]
pub(crate) struct Pacing {
    processors: usize,
    /// Since when a worker has been wanted, or the last was added or tried; none while there are enough.
    waits_since: Option<Instant>,
    /// Whether the last attempt has failed.
    failed: bool,
}

impl Pacing {
    pub(crate) fn new(processors: usize) -> Self {
        Pacing {
            processors: processors.max(1),
            waits_since: None,
            failed: false,
        }
    }

    /// What to do while work waits and nobody is idle.
    pub(crate) fn decide(&mut self, heads: Heads, has_spare: bool, now: Instant) -> Verdict {
        if !heads.wants_more() {
            self.rest();
            return match heads.is_exhausted() {
                true => Verdict::Exhausted,
                false => Verdict::Enough,
            };
        }
        let since = *self.waits_since.get_or_insert(now);
        let delay = self.delay(heads, has_spare);
        let waited = now.saturating_duration_since(since);
        match delay.checked_sub(waited) {
            None | Some(Duration::ZERO) => Verdict::Add,
            Some(left) => Verdict::Later(left),
        }
    }

    fn delay(&self, heads: Heads, has_spare: bool) -> Duration {
        let free = heads.min() + self.processors;
        match heads.live().checked_sub(free) {
            _ if self.failed => DELAY_STEP,
            None => Duration::ZERO,
            _ if has_spare => Duration::ZERO,
            Some(extra) => {
                let step = u32::try_from(1 + extra / self.processors).unwrap_or(u32::MAX);
                DELAY_STEP.saturating_mul(step).min(LONGEST_DELAY)
            }
        }
    }

    /// A worker was added, or could not be started.
    pub(crate) fn tried(&mut self, added: bool, now: Instant) {
        self.waits_since = Some(now);
        self.failed = !added;
    }

    /// Nobody is wanted.
    pub(crate) fn rest(&mut self) {
        *self = Pacing::new(self.processors);
    }
}

/// The gate's part of it.
#[derive(Debug)]
pub(crate) struct Compensation {
    pacing: Pacing,
    suspects: Vec<Option<Suspect>>,
    warned: bool,
}

impl Compensation {
    pub(crate) fn new(shared: &Shared) -> Self {
        Compensation {
            pacing: Pacing::new(shared.knobs.processor_count()),
            suspects: Vec::new(),
            warned: false,
        }
    }

    /// Work waits and nobody is idle: adds workers if some should be added. Whether to look again soon, because a worker
    /// is still in the poll of the last look, or another is due.
    pub(crate) fn act(&mut self, shared: &Arc<Shared>, now: Instant) -> bool {
        let somebody_stays = shared.switches.starvation_detection && self.find_blocked(shared, now);
        for _ in 0..shared.waiting() {
            let has_spare = shared.crew.spares() > 0;
            match self.pacing.decide(shared.headcount.get(), has_spare, now) {
                Verdict::Add => {
                    let added = shared.add_worker().is_ok_and(|added| added);
                    self.pacing.tried(added, now);
                }
                Verdict::Exhausted => {
                    self.warn_once(shared);
                    break;
                }
                Verdict::Later(_) | Verdict::Enough => break,
            }
        }
        somebody_stays || shared.headcount.get().blocked() > 0
    }

    /// Nothing waits, or somebody is idle.
    pub(crate) fn rest(&mut self) {
        self.pacing.rest();
    }

    /// Finds who is blocked. Whether somebody is still in the poll of the last look.
    fn find_blocked(&mut self, shared: &Shared, now: Instant) -> bool {
        self.suspects.resize(shared.remotes.len(), None);
        let mut somebody_stays = false;
        for (index, suspect) in self.suspects.iter_mut().enumerate() {
            somebody_stays |= glance(shared, index, suspect, now);
        }
        somebody_stays
    }

    fn warn_once(&mut self, shared: &Shared) {
        if std::mem::replace(&mut self.warned, true) || !shared.knobs.warnings_enabled() {
            return;
        }
        let max = shared.headcount.get().max();
        // A closed standard error is no reason to fail: `eprintln!` would panic.
        let _ = writeln!(
            io::stderr(),
            "runnext: warning: every worker is blocked while work waits, and `RUNNEXT_MAX_THREADS` is {max}: \
             raise it or `max_threads`, or block in fewer tasks at once"
        );
    }
}

/// Looks at one worker: whether it is blocked, or no more. Whether it is still in the poll of the last look.
fn glance(shared: &Shared, worker: usize, suspect: &mut Option<Suspect>, now: Instant) -> bool {
    let (remote, heads) = (&shared.remotes[worker], &shared.headcount);
    if remote.activity() != Activity::Running {
        *suspect = None;
        return false;
    }
    let polls = remote.slot.polls();
    let age = shared.gate.poll_age(worker, polls);
    if let Some(age) = age.filter(|age| *age >= GLANCE) {
        shared.report_stall(worker, polls, age);
    }
    let sections_count = shared.switches.cooperative_blocking;
    if sections_count && remote.marks.is_said() {
        *suspect = None;
        return false;
    }
    let Some(seen) = suspect else {
        *suspect = Some(Suspect::new(polls, &remote.thread, now));
        return false;
    };
    if remote.marks.is_found() {
        if seen.computes(&remote.thread, now) && remote.marks.forget(heads) {
            shared.wake_surplus();
        }
        return false;
    }
    let stays = seen.is_in(polls);
    if seen.is_blocked(polls, &remote.thread, now) {
        remote.marks.find(polls, heads, sections_count);
    }
    stays
}

impl Shared {
    /// Takes back what the gate has found of workers that go on. Gate only.
    pub(crate) fn end_stale_marks(&self) {
        for remote in self.remotes.iter() {
            let in_poll = remote.activity() == Activity::Running;
            let is_stale = remote.marks.is_stale(remote.slot.polls(), in_poll);
            if is_stale && remote.marks.forget(&self.headcount) {
                self.wake_surplus();
            }
        }
    }

    /// Takes back all of it: the gate is about to end. Gate only.
    pub(crate) fn end_marks(&self) {
        for remote in self.remotes.iter() {
            remote.marks.forget(&self.headcount);
        }
    }

    /// Whether work waits and nobody is idle.
    pub(crate) fn nobody_comes(&self) -> bool {
        self.idle.counts().idle() == 0 && self.has_work()
    }

    /// Items that wait for a worker, momentarily.
    fn waiting(&self) -> usize {
        let at = self.remotes.iter().map(|remote| remote.waiting());
        self.injector.len() + at.sum::<usize>()
    }
}
