//! The catalogue: the one table from which parsing, defaults, printing and the reference page are made.
//!
//! An [`Entry`] is a knob, a [`Spelling`] is one variable that sets it, and a [`Rule`] says how that variable's
//! text is read. A knob has our own spelling and, where .NET has the knob too, .NET's; both lead to the same
//! number. Every value is an `i64` here: a switch is 0 or 1, a choice is the index of its word. So the rest of
//! the crate is written once for all knobs instead of once for each.
//!
//! Rejected: a struct with a typed field for each knob. It reads well, but parsing, printing, provenance and the
//! reference page each need their own list of the fields then, and such lists drift apart.

mod names;
mod strangers;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use names::variables;
pub use names::{find, nearest};
pub(crate) use strangers::{FOLKLORE, NOT_IMPLEMENTED, Stranger, classify};

use std::fmt;
use std::ops::RangeInclusive;

use crate::parse::Rule;

/// Every knob, in the order of the reference page.
pub fn catalogue() -> &'static [Entry] {
    &table::CATALOGUE
}

/// Index of a knob in the catalogue. `tests` holds the two orders together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knob {
    RunNext,
    DeferWorkerRequests,
    LazyDispatchRequest,
    RunNextStealDelay,
    StalledWork,
    SpuriousDispatchNoSpinThreshold,
    SpinLimit,
    MinThreads,
    MaxThreads,
    ThreadTimeout,
    ThreadsToKeepAlive,
    CooperativeBlocking,
    DisableStarvationDetection,
    BlockingThreadsWithoutDelay,
    BlockingDelayStep,
    BlockingMaxDelay,
    ProcessorCount,
    Watch,
    PinThreads,
    Stats,
    Warnings,
}

/// Number of knobs.
pub(crate) const COUNT: usize = Knob::Warnings as usize + 1;

impl Knob {
    pub(crate) fn entry(self) -> &'static Entry {
        &table::CATALOGUE[self as usize]
    }
}

/// One variable that sets a knob, and how its text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spelling {
    /// The whole name of the variable.
    pub variable: &'static str,
    /// How the variable's text is read.
    pub rule: Rule,
}

/// What a knob is when nobody sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// The same on every machine.
    Fixed(i64),
    /// What the machine reports, cgroup quota and affinity included.
    Detected,
    /// One for each processor (see `RUNNEXT_PROCESSOR_COUNT`).
    Processors,
    /// Two thirds of the processors, rounded down.
    TwoThirdsOfProcessors,
}

impl Preset {
    pub(crate) fn value(self, processors: i64) -> i64 {
        match self {
            Preset::Fixed(value) => value,
            Preset::Detected => processors,
            Preset::Processors => processors.min(MAX_WORKERS),
            Preset::TwoThirdsOfProcessors => processors * 2 / 3,
        }
    }
}

/// The most workers that a pool can have.
const MAX_WORKERS: i64 = 4096;

/// A knob: its spellings, its limits, and what it does.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    pub(crate) knob: Knob,
    /// Our own spelling. It wins over .NET's.
    pub ours: Spelling,
    /// .NET's spelling, where .NET has the knob.
    pub dotnet: Option<Spelling>,
    /// The value when nobody sets one.
    pub preset: Preset,
    /// The legal values. A switch is 0 or 1, a choice counts its words from 0.
    pub range: RangeInclusive<i64>,
    /// A value at the edge of the range that means something else than a number, and its meaning.
    pub special: Option<(i64, &'static str)>,
    /// What the number counts; empty for switches and choices.
    pub unit: &'static str,
    /// The switch without which this one has no effect.
    pub(crate) needs: Option<Knob>,
    /// Where the knob comes from.
    pub source: &'static str,
    /// What it does, in one line.
    pub effect: &'static str,
    /// What it does, when to change it, and what that costs.
    pub detail: &'static str,
}

impl Entry {
    /// The name without prefix: .NET's (`RunNext`) where there is one, else ours (`WATCH`).
    pub fn name(&self) -> &'static str {
        let variable = self
            .dotnet
            .map_or(self.ours.variable, |dotnet| dotnet.variable);
        names::short(variable)
    }

    /// Our spelling, then .NET's: the order in which they win.
    pub fn spellings(&self) -> impl Iterator<Item = Spelling> {
        [Some(self.ours), self.dotnet].into_iter().flatten()
    }

    /// The switch without which this one has no effect.
    pub fn needs(&self) -> Option<&'static Entry> {
        self.needs.map(Knob::entry)
    }

    /// `value` as one would write it after our spelling: `50`, `gate`.
    pub fn text(&self, value: i64) -> String {
        match (self.ours.rule, usize::try_from(value)) {
            (Rule::Choice(words), Ok(index)) if index < words.len() => words[index].to_owned(),
            _ => value.to_string(),
        }
    }

    /// `value` with its unit or its special meaning: `50 us`, `-1 (never)`, `gate`.
    pub fn describe(&self, value: i64) -> String {
        let text = self.text(value);
        match self.special {
            Some((special, meaning)) if special == value => format!("{text} ({meaning})"),
            _ if self.unit.is_empty() => text,
            _ if value == 1 => format!("{text} {}", singular(self.unit)),
            _ => format!("{text} {}", self.unit),
        }
    }

    /// The default in words, the same on every machine: `50 us`, `2/3 of the processors`.
    pub fn default_text(&self) -> String {
        match self.preset {
            Preset::Fixed(value) => self.describe(value),
            Preset::Detected => "detected, cgroup quota included".to_owned(),
            Preset::Processors => "the number of processors".to_owned(),
            Preset::TwoThirdsOfProcessors => "2/3 of the processors".to_owned(),
        }
    }

    /// The legal values in words: `0 to 2147483647`, `gate or spinner`.
    pub fn range_text(&self) -> String {
        let (low, high) = (*self.range.start(), *self.range.end());
        match (self.ours.rule, self.special) {
            (Rule::Choice(words), _) => words.join(" or "),
            (Rule::Bool, _) => "0 or 1".to_owned(),
            (_, Some((special, meaning))) => {
                format!("{} to {high}, or {special} for {meaning}", special + 1)
            }
            _ => format!("{low} to {high}"),
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.ours.variable)
    }
}

/// One of what `unit` counts. `us` and `ms` are the same for any number.
fn singular(unit: &str) -> &str {
    if unit.len() > 2 {
        unit.trim_end_matches('s')
    } else {
        unit
    }
}
