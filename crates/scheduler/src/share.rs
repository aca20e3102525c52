//! Whether a second worker helps, found out by trying.
//!
//! # Why it has to be tried
//!
//! Two workloads look alike from outside: long polls, and a woken task that waits behind each of them. In
//! one, tasks answer and then go on by themselves: a second worker nearly doubles the throughput. In the other, two
//! tasks hand messages through one channel: on two cores each message costs several cache misses, and
//! the second worker halves it. What tells them apart is what polls cost: about the same time each when shared, or far
//! more.
//!
//! # Protocol
//!
//! While polls are long and something waits, the gate compares the mean time of a poll over a **window** of
//! looks in which nobody shares with those of windows in which the others may take at once. As soon as one is
//! dearer by more than [`DEARER`], they stay apart for [`HOLDS`], or longer after several refusals, and it is tried again; while none is, the comparison is
//! made anew as often. A trial takes 2 to 4 ms.
//!
//! In the window without sharing an item in a slot waits for the gate's rescue. A window's first looks do not count: whoever was awake goes on for a while, whoever sleeps has to wake. And the mean
//! without sharing is the least of the last few trials', since a tail of sharing only ever adds.
//!
//! The mean is taken over the whole pool, from the poll counters and from how many workers were busy at each
//! look. So neither the hop nor a poll reads a clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Looks in a window that count.
const WINDOW: u32 = 40;
/// Looks before, which do not.
const SETTLING: u32 = 10;
/// About how long the first window of sharing takes.
const FIRST_WINDOW: Duration = Duration::from_millis(3);
/// Trials whose mean without sharing is remembered.
const REMEMBERED: usize = 4;
/// How long to share before the comparison is made anew, and to stay apart after a first refusal.
const HOLDS: Duration = Duration::from_millis(100);
/// How long to stay apart at most: each refusal in a row doubles the time.
const LONGEST_APART: Duration = Duration::from_millis(1600);
/// A second worker helps unless polls become dearer by more than this.
const DEARER: f64 = 1.75;

/// When thieves may take what waits in the slot of a worker whose polls are long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Steals {
    /// After the steal delay, as everywhere.
    #[default]
    Delayed,
    /// At once: a second worker helps, or that is being tried.
    AtOnce,
    /// Only when the gate rescues it: a window in which nobody is to share. The steal delay would
    /// not do, since contention itself makes polls longer than that, and so keeps itself alive.
    Rescued,
}

/// What the polls of a window took.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    looks: u32,
    polls: u64,
    busy: Duration,
}

impl Window {
    /// Seconds a poll; infinite if there was none.
    fn mean(&self) -> f64 {
        self.busy.as_secs_f64() / self.polls as f64
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Nobody shares, until then if it has been tried.
    Apart(Option<Instant>),
    /// A window in which nobody shares, to compare with.
    Alone(Window),
    /// The others share, since then; each window is compared.
    Together(Window, Instant),
}

/// The trials and what they have shown.
#[derive(Debug)]
pub(crate) struct Sharing {
    phase: Phase,
    /// How long to stay apart after the next refusal.
    apart: Duration,
    /// The means without sharing of the last trials, the latest first.
    alone: VecDeque<f64>,
}

impl Sharing {
    /// Nothing is known yet, and nobody shares.
    pub(crate) fn new() -> Self {
        Sharing {
            phase: Phase::Apart(None),
            apart: HOLDS,
            alone: VecDeque::with_capacity(REMEMBERED),
        }
    }

    /// When other workers may take what waits behind long polls.
    pub(crate) fn steals(&self) -> Steals {
        match self.phase {
            Phase::Apart(_) => Steals::Delayed,
            Phase::Alone(_) => Steals::Rescued,
            Phase::Together(..) => Steals::AtOnce,
        }
    }

    /// Whether a trial is under way, which should be over soon.
    pub(crate) fn is_trying(&self, now: Instant) -> bool {
        match self.phase {
            Phase::Apart(_) => false,
            Phase::Alone(_) => true,
            Phase::Together(_, since) => now.saturating_duration_since(since) < FIRST_WINDOW,
        }
    }

    /// Another look: since the last one all workers together have begun `polls` polls and were busy for
    /// `busy`; `wanted` if work waits behind long ones.
    // Transitions: apart -> alone -> together -> alone or apart.
    pub(crate) fn observe(&mut self, now: Instant, polls: u64, busy: Duration, wanted: bool) {
        match &mut self.phase {
            Phase::Apart(until) => {
                if wanted && until.is_none_or(|until| now >= until) {
                    self.phase = Phase::Alone(Window::default());
                }
            }
            Phase::Alone(window) => {
                if let Some(mean) = window.add(polls, busy) {
                    self.alone.truncate(REMEMBERED - 1);
                    self.alone.push_front(mean);
                    self.phase = Phase::Together(Window::default(), now);
                }
            }
            Phase::Together(window, since) => {
                let Some(mean) = window.add(polls, busy) else {
                    return;
                };
                let alone = self.alone.iter().copied().fold(f64::INFINITY, f64::min);
                let helps = mean < alone * DEARER; // not if there was no poll at all
                self.phase = if !helps {
                    let until = now.checked_add(self.apart);
                    self.apart = (2 * self.apart).min(LONGEST_APART);
                    Phase::Apart(until)
                } else if now.saturating_duration_since(*since) >= HOLDS {
                    self.apart = HOLDS;
                    Phase::Alone(Window::default())
                } else {
                    Phase::Together(Window::default(), *since)
                };
            }
        }
    }
}

impl Window {
    /// Adds what one look saw; the mean, once the window is full.
    fn add(&mut self, polls: u64, busy: Duration) -> Option<f64> {
        self.looks += 1;
        if self.looks > SETTLING {
            self.polls += polls;
            self.busy += busy;
        }
        (self.looks == SETTLING + WINDOW).then(|| self.mean())
    }
}

#[cfg(test)]
mod tests;
