//! What can be measured: the variants of our own pool, and the peers.
//!
//! A variant is a setting of the switches, so that each switch's worth shows by itself. `limit` is a peer that nobody
//! could ship: a single-threaded loop over `async-task`, what a hop would cost without stealing or safety. In scenarios
//! that rest it is two threads without an executor: what the machine takes to wake one after the other.

use std::fmt;
use std::str::FromStr;

use crate::name::{UnknownName, find, serde_by_name};

/// A setting of our own pool's switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// All switches off: local queues, and a request for a worker on every push.
    Base,
    /// The run-next slot, nothing deferred.
    RunNext,
    /// The slot, and no request for a worker while somebody watches it: the default.
    Defer,
    /// Deferred as well, and a worker that takes an item asks for another one only if work is visible.
    Lazy,
}

impl Variant {
    /// All variants of this build, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Base, Self::RunNext, Self::Defer, Self::Lazy];

    /// The name as it is typed and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::RunNext => "run-next",
            Self::Defer => "defer",
            Self::Lazy => "lazy",
        }
    }
}

/// An executor that people use instead of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Peer {
    /// tokio's multi-threaded runtime.
    Tokio,
    /// smol's `async_executor::Executor`, run by plain threads.
    AsyncExecutor,
    /// `futures::executor::ThreadPool`.
    Futures,
    /// A single-threaded loop over `async-task`: no stealing, no wakes from outside, no safety. In scenarios that rest,
    /// two threads that wake each other.
    Limit,
}

impl Peer {
    /// All peers, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Tokio, Self::AsyncExecutor, Self::Futures, Self::Limit];

    /// The name as it is typed and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tokio => "tokio",
            Self::AsyncExecutor => "async-executor",
            Self::Futures => "futures",
            Self::Limit => "limit",
        }
    }
}

/// Whatever a cell runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Our own pool.
    Variant(Variant),
    /// Somebody else's.
    Peer(Peer),
}

impl Subject {
    /// The name as it is typed and printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Variant(variant) => variant.name(),
            Self::Peer(peer) => peer.name(),
        }
    }

    /// The most workers it can have, if there is a bound. `limit` counts as one everywhere, since no number of workers
    /// makes it another; how many threads that is, [`Scenario::fixed_threads`](crate::scenario::Scenario::fixed_threads)
    /// tells.
    #[must_use]
    pub const fn max_workers(self) -> Option<usize> {
        match self {
            Self::Peer(Peer::Limit) => Some(1),
            _ => None,
        }
    }

    /// All variants and peers, in the order in which they are shown.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let variants = Variant::ALL.map(Self::Variant);
        let peers = Peer::ALL.map(Self::Peer);
        variants.into_iter().chain(peers).collect()
    }
}

impl FromStr for Variant {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("variant", name, &Self::ALL, Self::name)
    }
}

impl FromStr for Peer {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("peer", name, &Self::ALL, Self::name)
    }
}

impl FromStr for Subject {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("subject", name, &Self::all(), Self::name)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

serde_by_name!(Subject);

#[cfg(test)]
mod tests;
