//! The catalogue of scenarios: their names and parameters, what one operation is, and what each stands for.
//!
//! Every figure is "per operation", and an operation is what a user of the scenario would count: a hop for tasks that
//! wake each other, a request or a frame for servers. The catalogue is the only place that says so.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::name::{UnknownName, find, serde_by_name};
use crate::subject::{Peer, Subject};

/// A workload that can be run on a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// Tasks that queue themselves again.
    Requeue,
    /// Pairs of tasks that wake each other.
    PingPong,
    /// A reply delivered by a second task, while the first exits.
    ReplyExit,
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

const fn param(name: &'static str, values: &'static [u32]) -> Option<Param> {
    Some(Param { name, values })
}

impl Scenario {
    /// All scenarios, in the order in which they are shown.
    pub const ALL: [Self; 5] = [
        Self::Requeue,
        Self::PingPong,
        Self::ReplyExit,
        Self::WebsocketEcho,
        Self::HttpJson,
    ];

    /// What the catalogue says of it.
    #[must_use]
    pub const fn entry(self) -> Entry {
        match self {
            Self::Requeue => Entry {
                name: "requeue",
                param: param("chains", &[1, 4]),
                operation: "one poll caused by the task's own wake",
                stands_for: "proposal, first two rows: a work item that queues itself again; the cost of one turn",
                io: false,
            },
            Self::PingPong => Entry {
                name: "ping-pong",
                param: param("pairs", &[1, 4, 20]),
                operation: "one hop: one poll caused by the other task's wake",
                stands_for: "proposal, ping-pong rows: two tasks that await each other, through a flag and a waker",
                io: false,
            },
            Self::ReplyExit => Entry {
                name: "reply-exit",
                param: None,
                operation: "one request, for which two tasks are spawned",
                stands_for: "regression report, first row: the reply is delivered by a second task, the server exits",
                io: false,
            },
            Self::WebsocketEcho => Entry {
                name: "websocket-echo",
                param: param("connections", &[1, 32]),
                operation: "one frame of 1000 bytes, sent and echoed",
                stands_for: "spinning report, websocket table: bursts on a pool that is not saturated",
                io: true,
            },
            Self::HttpJson => Entry {
                name: "http-json",
                param: param("connections", &[32, 512]),
                operation: "one request answered with a small JSON document",
                stands_for: "spinning report, JSON tables: 512 connections saturate the pool, 32 do not",
                io: true,
            },
        }
    }

    /// The values of its parameter; one `None` if it has no parameter.
    #[must_use]
    pub fn sizes(self) -> Vec<Option<u32>> {
        match self.entry().param {
            Some(param) => param.values.iter().copied().map(Some).collect(),
            None => vec![None],
        }
    }

    /// Whether `subject` can run it; if not, why.
    ///
    /// # Errors
    /// Says what the subject lacks.
    pub fn supported_by(self, subject: Subject) -> Result<(), &'static str> {
        if subject == Subject::Peer(Peer::Limit) && self.entry().io {
            return Err(
                "a single-threaded loop without locks cannot be woken by the reactor's thread",
            );
        }
        Ok(())
    }

    const fn name(self) -> &'static str {
        self.entry().name
    }
}

impl FromStr for Scenario {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("scenario", name, &Self::ALL, Self::name, &[])
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
