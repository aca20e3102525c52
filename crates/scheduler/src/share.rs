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
//! From time to time, while polls are long and something waits, the gate compares the mean time of a
//! poll over a **window** of looks in which nobody shares with one in which the others may take at once. It
//! shares until the next trial if the mean has grown by less than [`DEARER`]. The trials cost about 1 % of the time.
//!
//! A window's first looks do not count: whoever was awake goes on for a while, whoever sleeps has to wake. And the mean
//! without sharing is the least of the last few trials', since a tail of sharing only ever adds.
//!
//! The mean is taken over the whole pool, from the poll counters and from how many workers were busy at each
//! look. So neither the hop nor a poll reads a clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Looks in a window that count.
const WINDOW: u32 = 20;
/// Looks before, which do not.
const SETTLING: u32 = 10;
/// Trials whose mean without sharing is remembered.
const REMEMBERED: usize = 4;
/// How long a verdict holds.
const HOLDS: Duration = Duration::from_millis(100);
/// A second worker helps unless polls become dearer by more than this.
const DEARER: f64 = 1.5;

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
    /// The verdict of the last trial, and when it was passed.
    Settled { shares: bool, at: Option<Instant> },
    /// A window in which nobody shares.
    Alone(Window),
    /// A window in which the others share.
    Together(Window),
}

/// The trials and their verdict.
#[derive(Debug)]
pub(crate) struct Sharing {
    phase: Phase,
    /// The means without sharing of the last trials, the latest first.
    alone: VecDeque<f64>,
}

impl Sharing {
    /// Nothing is known yet, and nobody shares.
    pub(crate) fn new() -> Self {
        Sharing {
            phase: Phase::Settled {
                shares: false,
                at: None,
            },
            alone: VecDeque::with_capacity(REMEMBERED),
        }
    }

    /// Whether other workers should take at once what waits behind long polls.
    pub(crate) fn is_on(&self) -> bool {
        match self.phase {
            Phase::Settled { shares, .. } => shares,
            Phase::Alone(_) => false,
            Phase::Together(_) => true,
        }
    }

    /// Another look: since the last one all workers together have begun `polls` polls and were busy for
    /// `busy`; `wanted` if work waits behind long ones.
    // Transitions: settled -> alone -> together -> settled.
    pub(crate) fn observe(&mut self, now: Instant, polls: u64, busy: Duration, wanted: bool) {
        match &mut self.phase {
            Phase::Settled { at, .. } => {
                let holds = at.is_some_and(|at| now.saturating_duration_since(at) < HOLDS);
                if wanted && !holds {
                    self.phase = Phase::Alone(Window::default());
                }
            }
            Phase::Alone(window) => {
                if let Some(mean) = window.add(polls, busy) {
                    self.alone.truncate(REMEMBERED - 1);
                    self.alone.push_front(mean);
                    self.phase = Phase::Together(Window::default());
                }
            }
            Phase::Together(window) => {
                if let Some(mean) = window.add(polls, busy) {
                    let alone = self.alone.iter().copied().fold(f64::INFINITY, f64::min);
                    self.phase = Phase::Settled {
                        shares: mean < alone * DEARER,
                        at: Some(now),
                    };
                }
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
