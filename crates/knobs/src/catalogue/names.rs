//! Names: finding a knob by any spelling, and telling what a name that is not a knob's probably meant.
//!
//! Two names are *alike* if they are the same without case and separators: `run-next` finds `RUN_NEXT`. A name is
//! *near* another if few letters differ. People who ask (`--explain`) are found by likeness; variables count only
//! when they match to the letter, as in .NET on Unix, and likeness serves for the suggestion.

use strsim::damerau_levenshtein;

use super::{Entry, catalogue};

const OURS: &str = "RUNNEXT_";
const DOTNET: &str = "DOTNET_ThreadPool_";
/// Prefixes under which every name is meant for a pool such as this. .NET still reads its oldest one too.
const PREFIXES: [&str; 3] = [OURS, DOTNET, "COMPlus_ThreadPool_"];

/// Edits between a whole variable name and a known one up to which it is taken for a typing error.
/// Known names have 13 letters and more, so that two edits are few.
const NEAR: usize = 2;

/// .NET variables that exist and that we do not implement, with the reason or the substitute.
/// A name that ends in `_` stands for all that begin so.
const NOT_IMPLEMENTED: [(&str, &str); 15] = [
    (
        "DOTNET_HillClimbing_",
        "the number of workers is not tuned by throughput here",
    ),
    (
        "DOTNET_ThreadPool_CpuUtilizationIntervalMs",
        "processor use is not sampled here",
    ),
    (
        "DOTNET_ThreadPool_DebugBreakOnWorkerStarvation",
        "the counters in `Pool::stats()` show starvation",
    ),
    (
        "DOTNET_ThreadPool_EnableWorkerTracking",
        "`Pool::stats()` has the counts",
    ),
    (
        "DOTNET_ThreadPool_FifoQueuesPerCores",
        "there are no queues for groups of cores here",
    ),
    (
        "DOTNET_ThreadPool_FifoScanFromCurrentQueue",
        "there are no queues for groups of cores here",
    ),
    (
        "DOTNET_ThreadPool_ForceGlobalEnqueue",
        "call `Pool::spawn_global` for work that may go to any worker",
    ),
    (
        "DOTNET_ThreadPool_IOCompletionPortCount",
        "it concerns Windows I/O, which this pool does not do",
    ),
    (
        "DOTNET_ThreadPool_PrioritizationExperiment",
        "there is no low-priority queue here",
    ),
    (
        "DOTNET_ThreadPool_TrackWorkItemWaitTimes",
        "`Pool::stats()` has what is measured",
    ),
    (
        "DOTNET_ThreadPool_UnfairSemaphoreWakeCooldown",
        "parked workers have no minimum rest here",
    ),
    (
        "DOTNET_ThreadPool_UsePerCoreWorkQueue",
        "there are no queues for groups of cores here",
    ),
    (
        "DOTNET_ThreadPool_UsePortableThreadPool",
        "there is only one pool to choose here",
    ),
    (
        "DOTNET_ThreadPool_UsePortableThreadPoolForIO",
        "there is only one pool to choose here",
    ),
    (
        "DOTNET_ThreadPool_UseWindowsThreadPool",
        "there is only one pool to choose here",
    ),
];

/// Names that exist nowhere but that people set, and the ones that they mean.
const FOLKLORE: [(&str, &str); 3] = [
    (
        "DOTNET_ThreadPool_MinThreads",
        "DOTNET_ThreadPool_ForceMinWorkerThreads",
    ),
    (
        "DOTNET_ThreadPool_MaxThreads",
        "DOTNET_ThreadPool_ForceMaxWorkerThreads",
    ),
    ("RUNNEXT_THREADS", "RUNNEXT_MIN_THREADS"),
];

/// What a variable is that is not in the catalogue, but looks meant for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// .NET has it, we do not: the reason.
    NotImplemented(&'static str),
    /// It exists nowhere, .NET included, yet people set it: the variable that does what it says.
    Folklore(&'static str),
    /// It is the given variable but for the case of its letters.
    WrongCase(&'static str),
    /// It is close to the given variable.
    Typo(&'static str),
    /// It has one of our prefixes; the given variable is the nearest, but not near.
    Unknown(&'static str),
}

/// The knob with this name, in any spelling: `DOTNET_ThreadPool_RunNext`, `RUNNEXT_RUN_NEXT`, `RunNext`, `run-next`.
pub fn find(name: &str) -> Option<&'static Entry> {
    let wanted = letters(name);
    catalogue().iter().find(|entry| {
        entry
            .spellings()
            .any(|s| letters(s.variable) == wanted || letters(short(s.variable)) == wanted)
    })
}

/// The name in the catalogue that is nearest to `name`: a whole variable, or a short name if `name` has no prefix.
pub fn nearest(name: &str) -> &'static str {
    let whole = PREFIXES.iter().any(|prefix| has_prefix(name, prefix));
    let names = variables().map(|variable| if whole { variable } else { short(variable) });
    names
        .min_by_key(|known| distance(name, known))
        .unwrap_or(OURS)
}

/// What `name`, which is in no entry of the catalogue, is to us. `None`: not ours, to be left alone.
pub(crate) fn classify(name: &str) -> Option<Stranger> {
    let listed = |known: &str| name == known || (known.ends_with('_') && name.starts_with(known));
    if let Some((_, why)) = NOT_IMPLEMENTED.iter().find(|(known, _)| listed(known)) {
        return Some(Stranger::NotImplemented(why));
    }
    if let Some((_, meant)) = FOLKLORE.iter().find(|(known, _)| name == *known) {
        return Some(Stranger::Folklore(meant));
    }
    if let Some(known) = variables().find(|known| known.eq_ignore_ascii_case(name)) {
        return Some(Stranger::WrongCase(known));
    }
    let ours = PREFIXES.iter().any(|prefix| has_prefix(name, prefix));
    let known = variables().min_by_key(|known| distance(name, known))?;
    match distance(name, known) {
        0..=NEAR => Some(Stranger::Typo(known)),
        _ if ours => Some(Stranger::Unknown(known)),
        _ => None,
    }
}

/// A variable's name without its prefix.
pub(super) fn short(variable: &'static str) -> &'static str {
    let prefixes = [DOTNET, OURS, "DOTNET_"];
    prefixes
        .iter()
        .find_map(|prefix| variable.strip_prefix(prefix))
        .unwrap_or(variable)
}

fn variables() -> impl Iterator<Item = &'static str> {
    catalogue()
        .iter()
        .flat_map(Entry::spellings)
        .map(|spelling| spelling.variable)
}

fn has_prefix(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// The letters and digits of a name, in lower case.
fn letters(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

fn distance(a: &str, b: &str) -> usize {
    damerau_levenshtein(&letters(a), &letters(b))
}
