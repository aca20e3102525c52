//! The catalogue of scenarios: their names and parameters, what one operation is, and what each stands for.
//!
//! Every figure is "per operation", and an operation is what a user of the scenario would count: a hop for tasks that
//! wake each other, a request or a frame for servers. `catalogue.rs` is the only place that says so.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::name::{UnknownName, find, serde_by_name};
use crate::pool::limit::pair;
use crate::subject::{Peer, Subject};

mod catalogue;

/// The parameter that is a rest before each operation, in milliseconds.
const REST_MS: &str = "rest_ms";

/// A workload that can be run on a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// Tasks that queue themselves again.
    Requeue,
    /// Pairs of tasks that wake each other.
    PingPong,
    /// One task that wakes many.
    FanOut,
    /// Messages through a bounded channel.
    ChannelSpsc,
    /// Tasks that queue their successors to the global queue.
    YieldGlobal,
    /// A pair of futures that wake each other within one task.
    Inline,
    /// Tasks spawned by a task.
    Spawn,
    /// Tasks spawned by a thread that is no worker.
    SpawnOutside,
    /// A reply delivered by a second task, while the first exits.
    ReplyExit,
    /// A reply delivered by a second task, while the first goes on for a moment.
    ReplyHousekeeping,
    /// Replies to requests that come one by one to a pool at rest.
    ReplySpaced,
    /// A wake by a task that then computes.
    LatencySpin,
    /// The same, with a waker that has computed for a while before it wakes.
    LatencySpinLate,
    /// A wake by a task that then blocks in a system call.
    LatencyNativeBlock,
    /// A wake by a task that then sleeps.
    LatencySleep,
    /// The same, with a waker that announces its sleep.
    LatencyHookedSleep,
    /// A wake by a task that then waits on a condition variable.
    LatencyCondvar,
    /// A wake by a task that then waits for a mutex.
    LatencyMutex,
    /// A wake by a task that then waits for an event.
    LatencyEvent,
    /// The same, with a waker that waits for an async lock with its blocking call.
    LatencyAsyncMutex,
    /// Async frames that suspend and are resumed.
    SuspendResume,
    /// Async frames that await a task.
    AwaitPendingTask,
    /// Async frames that await a value from a channel.
    AwaitPendingValue,
    /// Async frames of 16 tasks that suspend together.
    FanOut16,
    /// Async frames that give way to other tasks.
    Yield,
    /// Frames echoed over loopback websockets.
    WebsocketEcho,
    /// JSON documents over loopback HTTP/1.1.
    HttpJson,
}

/// What the catalogue says of a scenario.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// The name as it is typed and printed.
    pub name: &'static str,
    /// What varies within it, and the values that are measured.
    pub param: Option<Param>,
    /// What one operation is; all figures are per operation.
    pub operation: &'static str,
    /// Where the workload comes from, and what it shows.
    pub stands_for: &'static str,
    /// Whether it opens sockets, so that the reactor's thread wakes its tasks from outside the pool.
    pub io: bool,
    /// Whether a thread that is no worker spawns some of its tasks.
    pub outside: bool,
    /// Whether the spread of single operations' times is measured.
    pub spread: bool,
    /// Of how many operations an average is taken to show how their cost changes from the first one on, where that is
    /// of interest.
    pub chunk: Option<u64>,
}

/// A parameter of a scenario.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Param {
    /// Its name, as in the JSON.
    pub name: &'static str,
    /// The values that are measured, each as a row of its own.
    pub values: &'static [u32],
}

impl Scenario {
    /// All scenarios, in the order in which they are shown.
    pub const ALL: [Self; 27] = [
        Self::Requeue,
        Self::PingPong,
        Self::FanOut,
        Self::ChannelSpsc,
        Self::YieldGlobal,
        Self::Inline,
        Self::Spawn,
        Self::SpawnOutside,
        Self::ReplyExit,
        Self::ReplyHousekeeping,
        Self::ReplySpaced,
        Self::LatencySpin,
        Self::LatencySpinLate,
        Self::LatencyNativeBlock,
        Self::LatencySleep,
        Self::LatencyHookedSleep,
        Self::LatencyCondvar,
        Self::LatencyMutex,
        Self::LatencyEvent,
        Self::LatencyAsyncMutex,
        Self::SuspendResume,
        Self::AwaitPendingTask,
        Self::AwaitPendingValue,
        Self::FanOut16,
        Self::Yield,
        Self::WebsocketEcho,
        Self::HttpJson,
    ];

    /// The values of its parameter; one `None` if it has no parameter.
    #[must_use]
    pub fn sizes(self) -> Vec<Option<u32>> {
        match self.entry().param {
            Some(param) => param.values.iter().copied().map(Some).collect(),
            None => vec![None],
        }
    }

    /// Whether the subject rests before each operation, for as long as the parameter says.
    pub(crate) fn rests(self) -> bool {
        self.entry()
            .param
            .is_some_and(|param| param.name == REST_MS)
    }

    /// Whether `subject` can run it; if not, why.
    ///
    /// # Errors
    /// Says what the subject lacks.
    pub fn supported_by(self, subject: Subject) -> Result<(), &'static str> {
        let entry = self.entry();
        match subject {
            Subject::Peer(Peer::Limit) if entry.io => {
                Err("a single-threaded loop without locks cannot be woken by the reactor's thread")
            }
            Subject::Peer(Peer::Limit) if entry.outside && !self.rests() => {
                Err("a single-threaded loop without locks cannot be given tasks by another thread")
            }
            _ => Ok(()),
        }
    }

    /// How many threads `subject` has in it, where that is not for whoever measures to choose.
    #[must_use]
    pub fn fixed_threads(self, subject: Subject) -> Option<usize> {
        match subject {
            Subject::Peer(Peer::Limit) if self.rests() => Some(pair::THREADS),
            Subject::Peer(Peer::Limit) => Some(1),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        self.entry().name
    }
}

impl FromStr for Scenario {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("scenario", name, &Self::ALL, Self::name)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

serde_by_name!(Scenario);

#[cfg(test)]
mod tests;
