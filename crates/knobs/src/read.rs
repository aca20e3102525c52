//! From variables to values: which source wins, what is dropped, and what is said about it.
//!
//! Three steps, in this order, because each needs the one before: read every spelling of every knob, ours first;
//! drop what contradicts itself; then, all values being settled, write the warnings.
//!
//! A value that cannot be used counts as not set, so the weaker spelling, if it is good, holds. Rejected: a bad value
//! of ours that hides a good one of .NET's. The warning would then have to explain why neither holds.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::catalogue::{Entry, Knob, Spelling, catalogue, classify, variables};
use crate::knobs::{Knobs, Origin};
use crate::parse::{Reading, Unreadable};
use crate::warning::{Finding, Problem, Warning, assignment};

impl Knobs {
    /// The settings that `vars` ask for, and what is wrong with them. Reads no environment and prints nothing.
    ///
    /// Variables that are not ours may be among them. If a name occurs twice the first one counts, as in `getenv`;
    /// an empty value counts as not set. The number of processors is asked from the system unless a variable gives it.
    pub fn from_vars<K: AsRef<OsStr>, V: AsRef<OsStr>>(
        vars: impl IntoIterator<Item = (K, V)>,
    ) -> (Knobs, Vec<Warning>) {
        Reader::new(vars).read()
    }

    /// [`Knobs::from_vars`] of this process's environment. Prints nothing.
    pub fn from_env() -> (Knobs, Vec<Warning>) {
        Knobs::from_vars(env::vars_os())
    }

    /// [`Knobs::from_env`], with the warnings printed on standard error, each once in a process.
    /// `RUNNEXT_WARNINGS=0` silences them.
    pub fn from_env_or_warn() -> Knobs {
        static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let (knobs, warnings) = Knobs::from_env();
        if knobs.warnings_enabled() {
            let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
            for line in warnings
                .iter()
                .map(Warning::to_string)
                .filter(|line| printed.insert(line.clone()))
            {
                // A closed standard error is no reason to fail: `eprintln!` would panic.
                let _ = writeln!(io::stderr(), "runnext: warning: {line}");
            }
        }
        knobs
    }
}

struct Reader {
    /// What was given, by name; bytes of a name that are not UTF-8 are replaced. No value is empty.
    vars: BTreeMap<String, OsString>,
    knobs: Knobs,
    findings: Vec<Finding>,
}

impl Reader {
    fn new<K: AsRef<OsStr>, V: AsRef<OsStr>>(all: impl IntoIterator<Item = (K, V)>) -> Self {
        let mut vars = BTreeMap::new();
        for (name, value) in all {
            let name = name.as_ref().to_string_lossy().into_owned();
            vars.entry(name)
                .or_insert_with(|| value.as_ref().to_owned());
        }
        vars.retain(|_, value| !value.is_empty());
        Reader {
            vars,
            knobs: Knobs::default(),
            findings: Vec::new(),
        }
    }

    fn read(mut self) -> (Knobs, Vec<Warning>) {
        for entry in catalogue() {
            for spelling in entry.spellings() {
                self.apply(entry, spelling);
            }
        }
        self.drop_contradictory_limits();
        self.drop_unsupported_switches();
        self.find_strangers();
        let knobs = self.knobs;
        let warnings = self
            .findings
            .into_iter()
            .map(|finding| finding.settle(&knobs))
            .collect();
        (knobs, warnings)
    }

    fn apply(&mut self, entry: &'static Entry, spelling: Spelling) {
        let Some(value) = self.vars.get(spelling.variable) else {
            return;
        };
        let problem = match value.to_str().map(|text| spelling.rule.read(text)) {
            None => Problem::NotUtf8(entry),
            Some(Err(Unreadable::Form)) => Problem::Unreadable(entry, spelling.rule),
            Some(Err(Unreadable::TooLarge)) => Problem::OutOfRange(entry, None),
            Some(Ok(Reading { value, .. })) if !entry.range.contains(&value) => {
                Problem::OutOfRange(entry, Some(value))
            }
            // Our spelling has been here already. Not a word: that is how one overrides a setting.
            Some(Ok(_)) if *self.knobs.origin_of(entry.knob) != Origin::Default => return,
            Some(Ok(Reading { value, decimal })) => {
                self.knobs.put(
                    entry.knob,
                    value,
                    Origin::Environment(spelling.variable.to_owned()),
                );
                let Some(decimal) = decimal else { return };
                Problem::NotDecimal(entry, spelling.rule, value, decimal)
            }
        };
        self.report(spelling.variable, problem);
    }

    /// Only where both limits come from variables; a default gives way to a variable without a word.
    fn drop_contradictory_limits(&mut self) {
        let asked = [Knob::MinThreads, Knob::MaxThreads]
            .map(|knob| (self.knobs.asked(knob), self.knobs.origin_of(knob)));
        if let [
            (min, Origin::Environment(low)),
            (max, Origin::Environment(high)),
        ] = asked
            && min > max
        {
            let low = low.clone();
            let other = self.assignment(high);
            self.report(&low, Problem::Contradiction(min, other));
            self.knobs.reset(Knob::MinThreads);
            self.knobs.reset(Knob::MaxThreads);
        }
    }

    /// Only where a variable turns the switch on; one that is on by default goes off with its requirement.
    fn drop_unsupported_switches(&mut self) {
        for entry in catalogue() {
            let Some(needed) = entry.needs() else {
                continue;
            };
            let Origin::Environment(variable) = self.knobs.origin_of(entry.knob).clone() else {
                continue;
            };
            if self.knobs.asked(entry.knob) != 0 && self.knobs.effective(needed.knob).0 == 0 {
                self.knobs.reset(entry.knob);
                self.report(&variable, Problem::Needs(entry, needed));
            }
        }
    }

    fn find_strangers(&mut self) {
        let known = |name: &String| variables().any(|known| known == *name);
        let names: Vec<String> = self
            .vars
            .keys()
            .filter(|name| !known(name))
            .cloned()
            .collect();
        for name in names {
            if let Some(stranger) = classify(&name) {
                self.report(&name, Problem::Stranger(stranger));
            }
        }
    }

    fn report(&mut self, variable: &str, problem: Problem) {
        let assignment = self.assignment(variable);
        self.findings.push(Finding {
            variable: variable.to_owned(),
            assignment,
            problem,
        });
    }

    /// `NAME=value` as it may be shown.
    fn assignment(&self, variable: &str) -> String {
        let value = self
            .vars
            .get(variable)
            .map_or_else(Default::default, |value| value.to_string_lossy());
        assignment(variable, &value)
    }
}
