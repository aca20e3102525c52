//! What is wrong with a variable, in one line that names it and says what holds instead.

use std::fmt;

use crate::catalogue::{Entry, Knob, Stranger, find};
use crate::knobs::{Knobs, Origin};
use crate::parse::Rule;

/// Something about a variable that its author should know. `Display` gives one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    variable: String,
    message: String,
}

impl Warning {
    /// The name of the variable. Bytes that are not UTF-8 are replaced, as in [`String::from_utf8_lossy`].
    pub fn variable(&self) -> &str {
        &self.variable
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A warning in the making: all values must be settled before it can say which one is kept.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) variable: String,
    /// From [`assignment`].
    pub(crate) assignment: String,
    pub(crate) problem: Problem,
}

/// What is wrong.
#[derive(Clone, Debug)]
pub(crate) enum Problem {
    /// The value is not UTF-8.
    NotUtf8(&'static Entry),
    /// The value does not have the form of the rule.
    Unreadable(&'static Entry, Rule),
    /// The number is outside the range; it is given if it could be held at all.
    OutOfRange(&'static Entry, Option<i64>),
    /// .NET's rule makes the first number of what reads like the second one.
    NotDecimal(&'static Entry, Rule, i64, i64),
    /// The switch is on, and the one that it needs is off.
    Needs(&'static Entry, &'static Entry),
    /// This many threads at least are more than the other assignment allows.
    Contradiction(i64, String),
    /// It is in no entry of the catalogue.
    Stranger(Stranger),
}

impl Finding {
    /// The warning, for `knobs` in their final state.
    pub(crate) fn settle(self, knobs: &Knobs) -> Warning {
        let given = &self.assignment;
        // Only where the text does not say it already.
        let meaning = |value| match given.ends_with(&format!("={value}`")) {
            true => "is".to_owned(),
            false => format!("means {value},"),
        };
        let message = match self.problem {
            Problem::NotUtf8(entry) => {
                format!("{given} is not UTF-8; keeping {}", kept(entry, knobs))
            }
            Problem::Unreadable(entry, rule) => {
                format!("{given} is not {rule}; keeping {}", kept(entry, knobs))
            }
            Problem::OutOfRange(entry, value) => {
                let (is, range) = (
                    value.map_or_else(|| "is".to_owned(), meaning),
                    entry.range_text(),
                );
                format!(
                    "{given} {is} outside {range}; keeping {}",
                    kept(entry, knobs)
                )
            }
            Problem::NotDecimal(entry, rule, value, decimal) => format!(
                "{given} is {}, as in .NET, and means {}; if {decimal} was meant, set `{entry}={decimal}`",
                rule.base(),
                entry.describe(value)
            ),
            Problem::Needs(entry, needed) => format!(
                "{given} needs `{needed}=1`, which `{}` sets to 0; it is ignored and `{entry}` stays 0",
                knobs.origin_of(needed.knob)
            ),
            Problem::Contradiction(min, other) => format!(
                "{given} asks for {min} threads, more than {other} allows; keeping {} and {}",
                kept(Knob::MinThreads.entry(), knobs),
                kept(Knob::MaxThreads.entry(), knobs)
            ),
            Problem::Stranger(stranger) => strange(&self.variable, &stranger, knobs),
        };
        Warning {
            variable: self.variable,
            message,
        }
    }
}

/// What is to be said of a variable that is in no entry of the catalogue.
fn strange(variable: &str, stranger: &Stranger, knobs: &Knobs) -> String {
    let name = variable.escape_debug();
    let kept = |known| find(known).map_or_else(String::new, |entry| kept(entry, knobs));
    match stranger {
        Stranger::NotImplemented(why) => {
            format!("`{name}` is known to .NET, but not implemented here and ignored: {why}")
        }
        Stranger::Folklore(meant) => {
            format!(
                "`{name}` exists nowhere; use `{meant}`; keeping {}",
                kept(meant)
            )
        }
        Stranger::WrongCase(known) => format!(
            "unknown variable `{name}`, the case of letters counts; did you mean `{known}`? keeping {}",
            kept(known)
        ),
        Stranger::Typo(known) => {
            format!(
                "unknown variable `{name}`; did you mean `{known}`? keeping {}",
                kept(known)
            )
        }
        Stranger::Unknown(known) => {
            format!("unknown variable `{name}` is ignored; the nearest known one is `{known}`")
        }
    }
}

/// What holds instead: `the default 50 us`.
fn kept(entry: &Entry, knobs: &Knobs) -> String {
    let value = entry.describe(knobs.effective(entry.knob).0);
    match knobs.origin_of(entry.knob) {
        Origin::Default => format!("the default {value}"),
        origin => format!("{value} from `{origin}`"),
    }
}

/// `NAME=value`, in backticks, in one line whatever the two hold, and short enough to be looked at.
pub(crate) fn assignment(variable: &str, value: &str) -> String {
    const SHOWN: usize = 60;
    let (name, value) = (variable.escape_debug(), value.escape_debug().to_string());
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{name}={}...`", &value[..end]),
        None => format!("`{name}={value}`"),
    }
}
