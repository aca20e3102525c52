//! Telling the user who holds others up.
//!
//! The gate finds out, and must not wait for what users do about it: so their function runs on a thread of its own, and what
//! that cannot keep up with is dropped. Without such a function there is neither.

use std::fmt;
use std::panic::Location;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use crate::contain::contain;
use crate::pool::Shared;
use crate::suspect::Evidence;
use crate::sync::{Mutex, lock, now};

/// Reports that wait for the user's function, at most.
const BACKLOG: usize = 64;

/// Why a poll does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StallKind {
    /// Its thread waits for something.
    Blocked,
    /// Its thread computes, or waits for a processor; also where the system does not tell.
    Busy,
}

impl fmt::Display for StallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StallKind::Blocked => "blocked",
            StallKind::Busy => "busy",
        })
    }
}

/// A poll behind which other work had to wait, from [`Builder::on_stall`](crate::Builder::on_stall).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StallInfo {
    /// The worker's index.
    pub worker: usize,
    /// The name of its thread.
    pub thread_name: String,
    /// How long it has been in the poll so far, at least.
    pub elapsed: Duration,
    /// Whether it is blocked or busy.
    pub kind: StallKind,
    /// Where the task that it polls was spawned.
    pub spawned_at: Option<&'static Location<'static>>,
}

impl fmt::Display for StallInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, kind, elapsed) = (&self.thread_name, self.kind, self.elapsed);
        write!(f, "work waits behind `{name}`, {kind} in one poll for {elapsed:.1?}")?;
        match self.spawned_at {
            Some(place) => write!(f, ", of a task spawned at {place}"),
            None => Ok(()),
        }
    }
}

/// The user's function.
pub(crate) type OnStall = dyn Fn(&StallInfo) + Send + Sync;

/// The gate's end of the reports, until the pool closes.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<Option<SyncSender<StallInfo>>>);

impl Reports {
    /// Opens them. Before the gate starts.
    pub(crate) fn open(&self) -> Receiver<StallInfo> {
        let (sender, receiver) = sync_channel(BACKLOG);
        *lock(&self.0) = Some(sender);
        receiver
    }

    /// Lets the thread that reads them end.
    pub(crate) fn close(&self) {
        lock(&self.0).take();
    }

    fn send(&self, report: impl FnOnce() -> StallInfo) {
        if let Some(sender) = &*lock(&self.0) {
            let _ = sender.try_send(report()); // dropped if the user's function is slow
        }
    }
}

/// The body of the thread that runs the user's function. Once the pool closes, what has not begun is dropped.
pub(crate) fn report(shared: &Shared, reports: &Receiver<StallInfo>, on_stall: &OnStall) {
    for info in reports.iter().take_while(|_| !shared.lifecycle.is_closing()) {
        // Unwind: contained, so that the next report gets through.
        contain(|| on_stall(&info));
    }
}

impl Shared {
    /// Reports that work waits behind poll number `polls` of `worker`, once a poll; the gate has seen it for
    /// `elapsed`. Gate only.
    pub(crate) fn report_stall(&self, worker: usize, polls: u64, elapsed: Duration) {
        let remote = &self.remotes[worker];
        if !remote.is_first_report(polls) {
            return;
        }
        self.reports.send(|| {
            let age = remote.first_poll_age(polls, now()).unwrap_or_default();
            let asleep = || remote.thread.is_runnable() == Some(false);
            StallInfo {
                worker,
                thread_name: self.crew.settings.name(worker),
                elapsed: elapsed.max(age),
                kind: match remote.marks.is_blocked(polls) || asleep() {
                    true => StallKind::Blocked,
                    false => StallKind::Busy,
                },
                spawned_at: remote.polled_task(),
            }
        });
    }
}
