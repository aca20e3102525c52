//! Strangers: variables that are in no entry of the catalogue, but look meant for a pool such as this.

use super::names::{closest, find, is_ours, short, variables};

/// Letters between a name and a known one up to which it is taken for a typing error. Known variables have a dozen letters
/// and more, so that two are few; and a name with one of our prefixes was meant for one of them in any case.
const NEAR: usize = 2;

/// What .NET has and we do not: the reason, and the variables. One that ends in `_` stands for all that begin so.
pub(crate) const NOT_IMPLEMENTED: [(&str, &[&str]); 8] = [
    (
        "throughput does not tune the number of workers here",
        &["DOTNET_HillClimbing_"],
    ),
    (
        "processor use is not sampled here",
        &["DOTNET_ThreadPool_CpuUtilizationIntervalMs"],
    ),
    (
        "parked workers have no minimum rest here",
        &["DOTNET_ThreadPool_UnfairSemaphoreWakeCooldown"],
    ),
    (
        "there is no low-priority queue here",
        &["DOTNET_ThreadPool_PrioritizationExperiment"],
    ),
    (
        "`Pool::spawn_global` queues work that any worker may take",
        &["DOTNET_ThreadPool_ForceGlobalEnqueue"],
    ),
    (
        "`Pool::stats()` tells what is counted",
        &[
            "DOTNET_ThreadPool_DebugBreakOnWorkerStarvation",
            "DOTNET_ThreadPool_EnableWorkerTracking",
            "DOTNET_ThreadPool_TrackWorkItemWaitTimes",
        ],
    ),
    (
        "there are no queues for groups of cores here",
        &[
            "DOTNET_ThreadPool_FifoQueuesPerCores",
            "DOTNET_ThreadPool_FifoScanFromCurrentQueue",
            "DOTNET_ThreadPool_UsePerCoreWorkQueue",
        ],
    ),
    (
        "there is one kind of pool here, and it does no I/O",
        &[
            "DOTNET_ThreadPool_IOCompletionPortCount",
            "DOTNET_ThreadPool_UsePortableThreadPool",
            "DOTNET_ThreadPool_UsePortableThreadPoolForIO",
            "DOTNET_ThreadPool_UseWindowsThreadPool",
        ],
    ),
];

/// Names that exist nowhere but that people set, and what they mean.
pub(crate) const FOLKLORE: [(&str, &str); 3] = [
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

/// What a stranger is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// .NET has it, we do not, for this reason.
    NotImplemented(&'static str),
    /// It exists nowhere, .NET included, yet people set it; this variable does what it says.
    Folklore(&'static str),
    /// It is this variable but for the case of its letters.
    WrongCase(&'static str),
    /// It is close to this variable.
    Typo(&'static str),
    /// It has one of our prefixes; this variable is the nearest, but not near.
    Unknown(&'static str),
}

/// What `name`, which is in no entry of the catalogue, is to us. `None`: not ours, to be left alone.
pub(crate) fn classify(name: &str) -> Option<Stranger> {
    not_implemented(name)
        .map(Stranger::NotImplemented)
        .or_else(|| folklore(name).map(Stranger::Folklore))
        .or_else(|| {
            variables()
                .find(|known| known.eq_ignore_ascii_case(name))
                .map(Stranger::WrongCase)
        })
        .or_else(|| without_family(name).map(Stranger::Typo))
        .or_else(|| misspelt(name))
}

fn not_implemented(name: &str) -> Option<&'static str> {
    let listed = |known: &&str| name == *known || (known.ends_with('_') && name.starts_with(known));
    NOT_IMPLEMENTED
        .iter()
        .find(|(_, names)| names.iter().any(listed))
        .map(|(why, _)| *why)
}

fn folklore(name: &str) -> Option<&'static str> {
    FOLKLORE
        .iter()
        .find(|(known, _)| name == *known)
        .map(|(_, meant)| *meant)
}

/// .NET's variable, if `name` is it without `ThreadPool_`.
fn without_family(name: &str) -> Option<&'static str> {
    let dotnet = find(name.strip_prefix("DOTNET_")?)?.dotnet?;
    Some(dotnet.variable)
}

fn misspelt(name: &str) -> Option<Stranger> {
    let ours = is_ours(name);
    let candidates = variables().filter(|known| ours || may_be(name, known));
    let compared = |known| if ours { short(known) } else { known };
    let closest = closest(name, candidates.map(|known| (compared(known), known)))?;
    match closest.differ {
        0..=NEAR => Some(Stranger::Typo(closest.known)),
        _ if ours => Some(Stranger::Unknown(closest.known)),
        _ => None,
    }
}

/// A quick look, since an environment may hold hundreds of names that have nothing to do with us:
/// typing errors seldom hit the first letter, and a name must be about as long as the one that it is near to.
fn may_be(name: &str, known: &str) -> bool {
    let first = |text: &str| text.bytes().next().map(|b| b.to_ascii_lowercase());
    first(name) == first(known) && name.len().abs_diff(known.len()) <= NEAR
}
