//! The state of a pool in words, for whoever has to find out why nothing moves.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use crate::pool::Shared;
use crate::remotes::{Activity, Remote};
use crate::sync::now;

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerState {
    /// It polls a task.
    Running,
    /// It polls a task that has said that it blocks, or that the gate has found blocked.
    Blocked,
    /// It looks for work.
    Searching,
    /// It sleeps until there is work.
    Parked,
    /// No thread works here now, or it waits as a spare.
    Away,
}

impl fmt::Display for WorkerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WorkerState::Running => "running",
            WorkerState::Blocked => "blocked",
            WorkerState::Searching => "searching",
            WorkerState::Parked => "parked",
            WorkerState::Away => "away",
        })
    }
}

/// One worker's part of a [`Dump`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerDump {
    /// The name of its thread.
    pub name: String,
    /// What it does.
    pub state: WorkerState,
    /// Polls that it has begun.
    pub polls: u64,
    /// How long it has been in its poll, at least. `None` if it is in none, or if the poll was not the first after a
    /// search and the gate has not looked since it began.
    pub poll_age: Option<Duration>,
    /// Where the task that it polls was spawned.
    pub spawned_at: Option<&'static Location<'static>>,
    /// Whether an item waits in its slot.
    pub slot_full: bool,
    /// Items in its local queue.
    pub local_queue_depth: usize,
}

/// The state of a pool, from [`Pool::dump`](crate::Pool::dump). Its parts are read one after the other while the pool
/// goes on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Dump {
    /// Each worker, by index.
    pub workers: Vec<WorkerDump>,
    /// Items in the injector.
    pub injection_queue_depth: usize,
    /// Tasks whose future exists.
    pub live_tasks_count: usize,
    /// Of those, the ones that have had to wait at least once: where they were spawned, and how many.
    pub waited_tasks: Vec<(&'static Location<'static>, usize)>,
}

impl Dump {
    pub(crate) fn of(shared: &Shared) -> Self {
        if shared.is_gone() {
            return Dump::empty();
        }
        let workers = shared.remotes.iter().enumerate();
        Dump {
            workers: workers
                .map(|(index, remote)| WorkerDump::of(shared, index, remote))
                .collect(),
            injection_queue_depth: shared.injector.len(),
            live_tasks_count: shared.live_tasks() as usize,
            waited_tasks: by_place(shared.registry.spawn_places()),
        }
    }

    /// Of a pool without threads.
    fn empty() -> Self {
        Dump {
            workers: Vec::new(),
            injection_queue_depth: 0,
            live_tasks_count: 0,
            waited_tasks: Vec::new(),
        }
    }
}

impl WorkerDump {
    fn of(shared: &Shared, index: usize, remote: &Remote) -> Self {
        let polls = remote.slot.polls();
        let state = match remote.activity() {
            Activity::Running if remote.marks.is_blocked(polls) => WorkerState::Blocked,
            Activity::Running => WorkerState::Running,
            Activity::Searching => WorkerState::Searching,
            Activity::Parked => WorkerState::Parked,
            Activity::Away => WorkerState::Away,
        };
        let in_poll = matches!(state, WorkerState::Running | WorkerState::Blocked);
        let poll_age = shared.gate.poll_age(index, polls);
        let poll_age = poll_age.max(remote.first_poll_age(polls, now()));
        WorkerDump {
            name: shared.crew.settings.name(index),
            state,
            polls,
            poll_age: poll_age.filter(|_| in_poll),
            spawned_at: remote.polled_task().filter(|_| in_poll),
            slot_full: remote.slot.is_full(),
            local_queue_depth: remote.queue.len(),
        }
    }
}

/// How many stand at each place, most first.
fn by_place(
    places: Vec<&'static Location<'static>>,
) -> Vec<(&'static Location<'static>, usize)> {
    let mut counts = BTreeMap::new();
    for place in places {
        *counts.entry(place).or_insert(0) += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts
}

impl fmt::Display for WorkerDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.state)?;
        if let Some(age) = self.poll_age {
            write!(f, " in poll {} for {age:.1?}", self.polls)?;
        }
        if let Some(place) = self.spawned_at {
            write!(f, " of a task spawned at {place}")?;
        }
        let slot = if self.slot_full { "occupied" } else { "empty" };
        write!(f, "; slot {slot}, {} queued", self.local_queue_depth)
    }
}

impl fmt::Display for Dump {
    /// A line for each worker, then the tasks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for worker in &self.workers {
            writeln!(f, "{worker}")?;
        }
        write!(
            f,
            "injector: {} queued; tasks alive: {}",
            self.injection_queue_depth, self.live_tasks_count
        )?;
        for (place, count) in &self.waited_tasks {
            write!(f, "\n{count:>7} that have waited, spawned at {place}")?;
        }
        Ok(())
    }
}
