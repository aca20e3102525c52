//! Names: finding a knob by any spelling of its name, and the known name that is nearest to an unknown one.
//!
//! Two names are *alike* if they are the same without case and separators: `run-next` finds
//! `RUNNEXT_RUN_NEXT`. People who ask for a knob are served by likeness. A variable counts only if it matches to the
//! letter, as in .NET on Unix; there likeness only serves for the suggestion.
//!
//! What is compared is the name without prefix, where it has one. Compared as a whole, a knob of ours that is written in
//! .NET's form, as in `DOTNET_ThreadPool_Blocking_MaxDelayMs`, is nearer to some knob of .NET's than to the one meant.

use strsim::osa_distance;

use super::{Entry, catalogue};

/// Prefixes under which every name is meant for a pool such as this. The last one is .NET's oldest.
const PREFIXES: [&str; 3] = ["RUNNEXT_", "DOTNET_ThreadPool_", "COMPlus_ThreadPool_"];

/// The knob called `name` in any spelling: `DOTNET_ThreadPool_RunNext`, `ThreadPool_RunNext`,
/// `RunNext`, `RUNNEXT_RUN_NEXT`, `run-next`.
pub fn find(name: &str) -> Option<&'static Entry> {
    let wanted = letters(name);
    let alike = |variable| {
        [variable, owned(variable), short(variable)]
            .iter()
            .any(|s| letters(s) == wanted)
    };
    catalogue()
        .iter()
        .find(|entry| entry.spellings().any(|spelling| alike(spelling.variable)))
}

/// The known name that is nearest to `name`: a whole variable if `name` has the prefix of one, else a short name.
/// `None` if none is near: contains `name`, or has half of its letters in common with it.
pub fn nearest(name: &str) -> Option<&'static str> {
    let told = |variable| match is_ours(name) {
        true => variable,
        false => short(variable),
    };
    closest(
        name,
        variables().map(|variable| (short(variable), told(variable))),
    )
    .filter(|closest| closest.is_near)
    .map(|closest| closest.known)
}

/// A known name beside another one.
pub(super) struct Closest {
    pub(super) known: &'static str,
    /// How many letters differ.
    pub(super) differ: usize,
    /// Whether it is worth a suggestion to somebody who wrote the other one.
    pub(super) is_near: bool,
}

/// The nearest of some names, each as it is compared and as it is told. One that contains `name` is nearer than any
/// other; among alike ones the form decides.
pub(super) fn closest(
    name: &str,
    among: impl Iterator<Item = (&'static str, &'static str)>,
) -> Option<Closest> {
    let wanted = letters(without_prefix(name));
    let rated = among.map(|(compared, known)| {
        let letters = letters(compared);
        let contains = !wanted.is_empty() && letters.contains(&wanted);
        let differ = osa_distance(&wanted, &letters);
        let longest = wanted.chars().count().max(letters.len());
        let closest = Closest {
            known,
            differ,
            is_near: contains || 2 * differ <= longest,
        };
        ((!contains, differ, osa_distance(name, known)), closest)
    });
    let nearest = rated.min_by_key(|(rating, _)| *rating);
    nearest.map(|(_, closest)| closest)
}

/// All variables of the catalogue.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    catalogue()
        .iter()
        .flat_map(Entry::spellings)
        .map(|spelling| spelling.variable)
}

/// Whether `name` begins with one of our prefixes, in any case.
pub(super) fn is_ours(name: &str) -> bool {
    without_prefix(name) != name
}

/// `name` without the one of our prefixes that it begins with, in any case; all of it if it begins with none.
fn without_prefix(name: &str) -> &str {
    let strip = |prefix: &str| {
        let (start, rest) = name.split_at_checked(prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then_some(rest)
    };
    PREFIXES.into_iter().find_map(strip).unwrap_or(name)
}

/// A variable's name without prefix: `RunNext`, `RUN_NEXT`.
pub(super) fn short(variable: &'static str) -> &'static str {
    let name = owned(variable);
    name.strip_prefix("ThreadPool_").unwrap_or(name)
}

/// A variable's name without its owner, `RUNNEXT_` or `DOTNET_`.
fn owned(variable: &'static str) -> &'static str {
    variable.split_once('_').map_or(variable, |(_, name)| name)
}

/// The letters and digits of a name, in lower case.
fn letters(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}
