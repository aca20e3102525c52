//! The values: one number and one origin for each knob, and how knobs limit each other.
//!
//! A *set* value is what somebody asked for, the *effective* value is what holds. They differ in three cases:
//!
//! - a switch whose requirement is off is off;
//! - the fewest and the most threads limit each other: the one with the weaker origin gives way, and between equals
//!   the most threads do. So a lone `RUNNEXT_MIN_THREADS=600` raises the maximum, a lone `RUNNEXT_MAX_THREADS=1`
//!   lowers the minimum. (Two variables that contradict each other never get here: `read` drops both.)
//! - a value from the program outside the range counts as the nearest legal one. [`Knobs::check`] finds it before.
//!
//! Defaults that depend on the number of processors are worked out when asked for, so that they follow
//! [`Knobs::with_processor_count`].

#[cfg(test)]
mod tests;

use std::fmt;
use std::thread::available_parallelism;

use crate::catalogue::{COUNT, Entry, Knob, catalogue, find};

/// The settings of a pool. Reading them never fails, see [`Knobs::from_env`].
#[derive(Clone, PartialEq, Eq)]
pub struct Knobs {
    /// Processors of this machine, for when no setting says otherwise.
    detected: i64,
    set: [Option<Set>; COUNT],
}

/// A value that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set {
    value: i64,
    origin: Origin,
}

/// Who decided a value. Later variants win over earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Origin {
    /// Nobody: it is the default.
    #[default]
    Default,
    /// The environment, through this variable.
    Environment(String),
    /// The program, through a method such as [`Knobs::with_run_next`].
    Builder,
}

impl Origin {
    /// Which of two origins wins: the higher rank.
    fn rank(&self) -> u8 {
        match self {
            Origin::Default => 0,
            Origin::Environment(_) => 1,
            Origin::Builder => 2,
        }
    }
}

/// `default`, the name of the variable, or `builder`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Environment(variable) => f.write_str(variable),
            Origin::Builder => f.write_str("builder"),
        }
    }
}

/// Who looks after deferred work once the searching workers have parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Watch {
    /// The pool's monitor thread.
    #[default]
    Gate,
    /// A searching worker that keeps spinning while any slot is occupied.
    Spinner,
}

/// One knob with its effective value, see [`Knobs::settings`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting<'a> {
    /// What the knob is.
    pub entry: &'static Entry,
    /// What holds. A switch is 0 or 1, a choice counts its words from 0; [`Entry::text`] writes it out.
    pub value: i64,
    /// Who decided it.
    pub origin: &'a Origin,
    /// The other knob, if it is that one's value which made this one's other than `origin` asked for.
    pub limited_by: Option<&'static Entry>,
}

/// The program asked for a value that no pool can have, see [`Knobs::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Invalid {}

/// All defaults, for the processors that this machine reports.
impl Default for Knobs {
    fn default() -> Self {
        let detected = available_parallelism()
            .ok()
            .and_then(|count| i64::try_from(count.get()).ok());
        Knobs::for_processors(detected.unwrap_or(1))
    }
}

impl Knobs {
    pub(crate) fn for_processors(detected: i64) -> Self {
        Knobs {
            detected,
            set: [const { None }; COUNT],
        }
    }

    /// Every knob with its effective value, in the order of the catalogue.
    pub fn settings(&self) -> impl Iterator<Item = Setting<'_>> {
        catalogue().iter().map(|entry| self.setting(entry.knob))
    }

    /// Who decided the value of the knob called `name`, in any spelling that [`find`] knows.
    /// `None`: there is no such knob.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        find(name).map(|entry| self.origin_of(entry.knob))
    }

    /// Whether a pool can have the values that the program asked for.
    ///
    /// # Errors
    ///
    /// A value is outside its range, or both thread limits come from the program and contradict each other. Values
    /// from the environment are never the cause: they were looked at when they were read.
    pub fn check(&self) -> Result<(), Invalid> {
        for entry in catalogue() {
            let asked = self.asked(entry.knob);
            if *self.origin_of(entry.knob) == Origin::Builder && !entry.range.contains(&asked) {
                let range = entry.range_text();
                return Err(Invalid(format!(
                    "`{entry}` was set to {} by the program: give {range}",
                    entry.describe(asked)
                )));
            }
        }
        let (min, max) = (self.asked(Knob::MinThreads), self.asked(Knob::MaxThreads));
        let both = [Knob::MinThreads, Knob::MaxThreads]
            .map(|knob| *self.origin_of(knob) == Origin::Builder);
        if both == [true, true] && min > max {
            let (low, high) = (Knob::MinThreads.entry(), Knob::MaxThreads.entry());
            return Err(Invalid(format!(
                "`{low}` was set to {min} by the program and `{high}` to {max}: give a maximum not below the minimum"
            )));
        }
        Ok(())
    }

    pub(crate) fn setting(&self, knob: Knob) -> Setting<'_> {
        let (value, limit) = self.effective(knob);
        Setting {
            entry: knob.entry(),
            value,
            origin: self.origin_of(knob),
            limited_by: limit.map(Knob::entry),
        }
    }

    /// What holds, and the knob that is to blame if it is not what was asked for.
    pub(crate) fn effective(&self, knob: Knob) -> (i64, Option<Knob>) {
        let asked = self.legal(knob);
        let (value, other) = match knob {
            Knob::MinThreads if self.max_is_stronger() => {
                (asked.min(self.legal(Knob::MaxThreads)), Knob::MaxThreads)
            }
            Knob::MaxThreads if !self.max_is_stronger() => {
                (asked.max(self.legal(Knob::MinThreads)), Knob::MinThreads)
            }
            _ => match knob.entry().needs {
                Some(needed) if self.effective(needed).0 == 0 => (0, needed),
                _ => return (asked, None),
            },
        };
        (value, (value != asked).then_some(other))
    }

    fn max_is_stronger(&self) -> bool {
        self.origin_of(Knob::MaxThreads).rank() > self.origin_of(Knob::MinThreads).rank()
    }

    /// What was asked for, within the range.
    fn legal(&self, knob: Knob) -> i64 {
        let range = &knob.entry().range;
        self.asked(knob).clamp(*range.start(), *range.end())
    }

    /// What was asked for, or the default if nobody asked.
    pub(crate) fn asked(&self, knob: Knob) -> i64 {
        match &self.set[knob as usize] {
            Some(set) => set.value,
            None if knob == Knob::ProcessorCount => self.detected,
            None => knob
                .entry()
                .preset
                .value(self.effective(Knob::ProcessorCount).0),
        }
    }

    pub(crate) fn origin_of(&self, knob: Knob) -> &Origin {
        self.set[knob as usize]
            .as_ref()
            .map_or(&Origin::Default, |set| &set.origin)
    }

    pub(crate) fn put(&mut self, knob: Knob, value: i64, origin: Origin) {
        self.set[knob as usize] = Some(Set { value, origin });
    }

    pub(crate) fn reset(&mut self, knob: Knob) {
        self.set[knob as usize] = None;
    }
}

/// A list of `export` lines, one for each knob, ready to be pasted into a shell. It sets the effective values.
impl fmt::Display for Knobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, setting) in self.settings().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(
                f,
                "{separator}export {}={}",
                setting.entry,
                setting.entry.text(setting.value)
            )?;
        }
        Ok(())
    }
}

/// The effective values with their origins.
impl fmt::Debug for Knobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = |s: Setting<'_>| format!("{} ({})", s.entry.describe(s.value), s.origin);
        f.debug_map()
            .entries(self.settings().map(|s| (s.entry.name(), told(s))))
            .finish()
    }
}
