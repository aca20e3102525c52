//! Compensation: another worker in place of a blocked one, while work waits.
//!
//! # Concepts
//!
//! Only when work waits and nobody is idle does the gate ask whether a worker should be added. `headcount` knows
//! how many: one for each that is blocked. The **pace** says how fast: at once up to so many beyond the minimum, and
//! whenever a spare is there; after that one at a time, each after a delay that grows by a step with each further set
//! of processors, up to a longest delay. So a moment of blocking costs no thread, and a thousand blocked tasks do not
//! start a thousand threads.
//!
//! The three numbers are knobs, `BLOCKING_THREADS_WITHOUT_DELAY`, `BLOCKING_DELAY_STEP_MS` and `BLOCKING_MAX_DELAY_MS`,
//! by default .NET's: one a processor, 25 ms and 250 ms. No pace suits everybody: tasks that block on each other in a
//! chain pay a delay for each link, and threads that were started for a moment of blocking pay with their memory.
//! Where a delay is zero, the goal still bounds how many are added, and so does the work that waits.
//!
//! An added worker takes a part of what waits behind a blocked one, and may be busy with that from then on. So whatever
//! waits behind a poll that does not end, blocked or not, is moved to the injector as long as nobody is idle: there
//! every worker looks at each turn.
//!
//! A thread that cannot be started is tried again after [`RETRY_DELAY`], for as long as work waits. It was due by the
//! pace when it was first tried, so the pace has no say in that; and without a pause the gate would do nothing else.
//!
//! # Non-goals
//!
//! A delay that is exact: the gate looks every millisecond while somebody is blocked, and adds who is due at a look.
//! A fourth knob, for how many workers share a step, as .NET has it: step and longest delay are enough to say how fast.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use runnext_knobs::{Knobs, Origin};

use crate::headcount::Heads;
use crate::pool::{MAX_WORKERS, Shared};
use crate::remotes::Activity;
use crate::suspect::{Finding, GLANCE, Suspect};
use crate::sync::Arc;

#[cfg(test)]
mod tests;

/// Until a thread that could not be started is tried again, whatever the pace is.
const RETRY_DELAY: Duration = Duration::from_millis(25);

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

/// How fast workers are added.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Workers beyond the minimum that are added without delay.
    without_delay: usize,
    /// How many after them have the same delay.
    set: usize,
    /// By how much the delay grows from set to set.
    step: Duration,
    longest: Duration,
}

impl Pace {
    fn new(knobs: &Knobs) -> Self {
        Pace {
            without_delay: knobs.blocking_threads_without_delay(),
            set: knobs.processor_count(),
            step: knobs.blocking_delay_step(),
            longest: knobs.blocking_max_delay(),
        }
    }

    /// What passes before another worker is added, if its thread has to be started.
    fn delay(self, heads: Heads) -> Duration {
        let Some(extra) = heads.live().checked_sub(heads.min() + self.without_delay) else {
            return Duration::ZERO;
        };
        let steps = u32::try_from(1 + extra / self.set).unwrap_or(u32::MAX);
        self.step.saturating_mul(steps).min(self.longest)
    }
}

/// When workers were added, and when another is due.
#[derive(Debug)]
pub(crate) struct Pacing {
    pace: Pace,
    /// Since when a worker has been wanted, or the last was added or tried; none while there are enough.
    waits_since: Option<Instant>,
    /// Whether the last attempt has failed.
    failed: bool,
}

impl Pacing {
    fn new(pace: Pace) -> Self {
        Pacing {
            pace,
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
        match (self.failed, has_spare) {
            (true, _) => RETRY_DELAY,
            (false, true) => Duration::ZERO,
            (false, false) => self.pace.delay(heads),
        }
    }

    /// A worker was added, or could not be started.
    pub(crate) fn tried(&mut self, added: bool, now: Instant) {
        self.waits_since = Some(now);
        self.failed = !added;
    }

    /// Nobody is wanted.
    pub(crate) fn rest(&mut self) {
        *self = Pacing::new(self.pace);
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
            pacing: Pacing::new(Pace::new(&shared.knobs)),
            suspects: Vec::new(),
            warned: false,
        }
    }

    /// Work waits and nobody is idle: adds workers if some should be added. Whether to look again soon, because a worker
    /// may be blocked, or another is due.
    pub(crate) fn act(&mut self, shared: &Arc<Shared>, now: Instant) -> bool {
        shared.share_out_what_stalls();
        let perhaps = shared.switches.starvation_detection && self.find_blocked(shared, now);
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
        perhaps || shared.headcount.get().blocked() > 0
    }

    /// Nothing waits, or somebody is idle.
    pub(crate) fn rest(&mut self) {
        self.pacing.rest();
    }

    /// Finds who is blocked. Whether somebody else may be.
    fn find_blocked(&mut self, shared: &Shared, now: Instant) -> bool {
        self.suspects.resize(shared.remotes.len(), None);
        let mut perhaps = false;
        for (index, suspect) in self.suspects.iter_mut().enumerate() {
            perhaps |= glance(shared, index, suspect, now);
        }
        perhaps
    }

    fn warn_once(&mut self, shared: &Shared) {
        if std::mem::replace(&mut self.warned, true) || !shared.knobs.warnings_enabled() {
            return;
        }
        let max = shared.headcount.get().max();
        // There are places for as many as the pool was built for, and only `set_threads` asks for fewer.
        let is_lowered = max < shared.remotes.capacity();
        let remedy = remedy(max, is_lowered, shared.knobs.origin("MAX_THREADS"));
        // A closed standard error is no reason to fail: `eprintln!` would panic.
        let _ = writeln!(
            io::stderr(),
            "runnext: warning: every worker is blocked while work waits, and there may be no more than {max}: \
             {remedy}"
        );
    }
}

/// What to do for want of more than `max` workers: to raise whatever has set that. The pool was built with a limit of the
/// origin `built`, and a later one may be lower.
fn remedy(max: usize, is_lowered: bool, built: Option<&Origin>) -> String {
    let limit = match built {
        _ if is_lowered => "`max` of `Pool::set_threads`".to_owned(),
        _ if max == MAX_WORKERS => return "no pool has more, so block in fewer tasks at once".to_owned(),
        Some(Origin::Environment(variable)) => format!("`{variable}`"),
        Some(Origin::Builder) => "`max_threads`, which the program has set".to_owned(),
        Some(Origin::Default) | None => "`RUNNEXT_MAX_THREADS` or `max_threads`".to_owned(),
    };
    format!("raise {limit}, or block in fewer tasks at once")
}

/// Looks at one worker: whether it is blocked, or no more. Whether it may be and is to be looked at again soon.
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
    let finding = seen.look_again(polls, &remote.thread, now);
    if finding == Finding::Blocked {
        remote.marks.find(polls, heads, sections_count);
        // The watch may have looked just before this poll began, and thinks it younger than it has been seen here.
        shared.report_stall(worker, polls, GLANCE);
    }
    finding != Finding::GetsOn
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

    /// Moves what waits behind polls that do not end to the injector, where every worker looks now and then, however much of
    /// its own it has to do. Nobody is idle, and whoever has stolen a part of it may be busy with that for ever. Gate only.
    fn share_out_what_stalls(&self) {
        if self.headcount.get().live() < 2 {
            return; // to whom?
        }
        for (index, remote) in self.remotes.iter().enumerate() {
            let stalls = || {
                let age = self.gate.poll_age(index, remote.slot.polls());
                age.is_some_and(|age| age >= GLANCE)
            };
            if remote.has_work() && stalls() {
                // No more than there is now: the poll may have ended meanwhile.
                let waiting = (0..remote.waiting()).map_while(|_| remote.steal());
                waiting.for_each(|task| self.injector.push(task));
                self.idle.request();
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
