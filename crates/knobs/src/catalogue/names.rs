//! Names: finding a knob by any spelling of its name, and the known name that is nearest to an unknown one.
//!
//! Two names are *alike* if they are the same without case and separators: `run-next` finds
//! `RUNNEXT_RUN_NEXT`. People who ask for a knob are served by likeness. A variable counts only if it matches to the
//! letter, as in .NET on Unix; there likeness only serves for the suggestion.

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
pub fn nearest(name: &str) -> &'static str {
    let whole = is_ours(name);
    let names = variables().map(|variable| if whole { variable } else { short(variable) });
    closest(name, names).map_or("", |(_, known)| known)
}

/// The nearest of some names, and how many letters differ. One that contains `name` is nearer than any other;
/// among alike ones the form decides.
pub(super) fn closest(
    name: &str,
    among: impl Iterator<Item = &'static str>,
) -> Option<(usize, &'static str)> {
    let wanted = letters(name);
    let rated = among.map(|known| {
        let letters = letters(known);
        let distance = osa_distance(&wanted, &letters);
        (
            (
                !letters.contains(&wanted),
                distance,
                osa_distance(name, known),
            ),
            known,
        )
    });
    rated
        .min_by_key(|(rating, _)| *rating)
        .map(|((_, distance, _), known)| (distance, known))
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
    let begins = |prefix: &str| {
        name.get(..prefix.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(prefix))
    };
    PREFIXES.into_iter().any(begins)
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
