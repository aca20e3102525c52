//! The search: what a worker without work does before it sleeps.
//!
//! # Concepts
//!
//! A **look** goes through the injector, the others' local queues and the others' slots, in this
//! order, after the slot of the worker that was the last to say that it blocks. Between looks the searcher spins ([`spin`](crate::spin)). What has not been seen waiting for
//! `RunNextStealDelayUs` is **young** and stays where it is. That holds for slots, and while run-next is on for a
//! local queue with a single item as well: two workers that steal single items from each other are
//! slower than one that works (lalinsky/zio#574).
//!
//! "Seen waiting" is kept per victim in a [`Sighting`]: since when has something waited there while a number
//! stood still? For the slot it is the victim's poll counter, since one that moves says that the owner gets to
//! the slot by itself. It is not the item: a ping-pong publishes the same pointers for ever. For the queue it is the number of
//! our search. Its item waits for others than the owner's next poll: a queue that is never found empty
//! belongs to a worker with two chains, and one of them is better off here.
//!
//! # Protocol
//!
//! A searcher absorbs requests, so it may not simply stop: see [`idle`](crate::idle). It leaves
//!
//! 1. with work: re-reads, and requests a successor if something is left;
//! 2. to park: hands the watch to the gate if others run, re-reads, and if something is left, looks again.
//!
//! What is re-read is everything, or only the queues if the gate watches the slots (I6). So without the
//! gate a searcher does not sleep while a young item waits: it stays until the owner has taken the item
//! or the item is ripe, which is at most the steal delay away.
//!
//! # Why not sleep after a look that found nothing
//!
//! A look that finds nothing (a **no-op**, .NET's spurious dispatch) is not waste while few workers
//! run: their next burst then meets an awake worker. Only when more than
//! `SpuriousDispatchNoSpinThreshold` workers run is a woken worker that finds nothing sent back at
//! once (seed 2).

use std::time::{Duration, Instant};

use crate::pool::Shared;
use crate::remotes::Activity;
use crate::spin::Backoff;
use crate::sync::{Ordering, now};
use crate::task::Runnable;
use crate::worker::Worker;

#[cfg(test)]
mod tests;

/// Since when something has been seen waiting at one victim.
#[derive(Debug, Default)]
pub(crate) struct Sighting {
    number: u64,
    since: Option<Instant>,
}

impl Sighting {
    /// How long something has been waiting while `number` stood still: zero when it is seen for the first
    /// time.
    pub(crate) fn waited(&mut self, number: u64, now: Instant) -> Duration {
        match self.since {
            Some(since) if self.number == number => now.saturating_duration_since(since),
            _ => {
                *self = Sighting {
                    number,
                    since: Some(now),
                };
                Duration::ZERO
            }
        }
    }

    /// Nothing waits there any more.
    pub(crate) fn forget(&mut self) {
        self.since = None;
    }
}

/// What a look found.
enum Look {
    Task(Runnable),
    /// Something waits, but too short a time to take it from its owner.
    Young,
    Nothing,
}

/// What a worker needs to search; it keeps it between searches.
#[derive(Debug)]
pub(crate) struct Searcher {
    slots: Vec<Sighting>,
    queues: Vec<Sighting>,
    /// Searches so far.
    searches: u64,
    rng: fastrand::Rng,
}

impl Searcher {
    pub(crate) fn new() -> Self {
        Searcher {
            slots: Vec::new(),
            queues: Vec::new(),
            searches: 0,
            rng: fastrand::Rng::new(),
        }
    }

    /// Searches and sleeps until there is a task; `None` once the pool closes or the worker has given way.
    /// Worker thread only.
    #[cold]
    pub(crate) fn search(&mut self, worker: &Worker) -> Option<Runnable> {
        worker.remote().set_activity(Activity::Searching);
        let task = self.search_and_sleep(worker);
        worker.remote().end_search(now());
        worker.remote().set_activity(Activity::Running);
        task
    }

    fn search_and_sleep(&mut self, worker: &Worker) -> Option<Runnable> {
        if worker.gives_way() {
            return None;
        }
        let shared = &*worker.shared;
        let counters = &worker.remote().counters;
        self.searches = counters.searches.bump();
        let mut searching = shared.idle.start_searching(shared.search_limit());
        let mut woken = false;
        let mut backoff = Backoff::new(shared.switches.spin_limit);
        while !shared.lifecycle.is_closing() {
            if searching && let Some(task) = self.look_and_spin(worker, backoff, woken) {
                worker.heed(shared.idle.stop_searching(|| shared.has_unwatched_work()));
                worker.ask_for_watcher();
                return Some(task);
            }
            shared.hand_over_watch();
            let work_left = || {
                shared.gate.somebody_parks();
                // Who makes it one too many wakes who sleeps by then, and we see it otherwise: the stack's lock orders
                // the two.
                let may_not_sleep = shared.lifecycle.is_closing() || shared.headcount.get().has_surplus();
                may_not_sleep || shared.has_unwatched_work()
            };
            worker.remote().set_activity(Activity::Parked);
            woken = shared.idle.park(worker.index, searching, work_left);
            if woken {
                worker.ask_for_watcher_early();
            }
            worker.remote().set_activity(Activity::Searching);
            counters.park_count.add(u64::from(woken));
            searching = true;
            if worker.gives_way() {
                worker.heed(shared.idle.stop_searching(|| shared.has_work()));
                return None;
            }
            backoff = match woken {
                true => Backoff::new(shared.switches.spin_limit),
                false => Backoff::patient(shared.switches.spin_limit),
            };
        }
        if searching {
            shared.idle.stop_searching(|| false);
        }
        None
    }

    /// Looks and spins until there is a task, the budget is spent or the pool closes.
    fn look_and_spin(
        &mut self,
        worker: &Worker,
        mut backoff: Backoff,
        woken: bool,
    ) -> Option<Runnable> {
        let shared = &*worker.shared;
        let mut first = true;
        let mut occupied = false;
        while !shared.lifecycle.is_closing() {
            match self.look(worker) {
                Look::Task(task) => return Some(task),
                Look::Young => occupied = true,
                Look::Nothing if first && woken => {
                    worker.remote().counters.noop_count.bump();
                    if shared.many_run() {
                        return None;
                    }
                }
                Look::Nothing => {}
            }
            first = false;
            if !backoff.wait(&mut self.rng, || !shared.injector.is_empty()) {
                if !(occupied && shared.needs_spinner()) {
                    return None;
                }
                // A ping-pong's slot is empty at every other look, so one sighting prolongs the whole watch.
                occupied = false;
                backoff = Backoff::patient(shared.switches.spin_limit);
            }
        }
        None
    }

    fn look(&mut self, worker: &Worker) -> Look {
        let workers = worker.shared.remotes.len();
        self.slots.resize_with(workers, Sighting::default);
        self.queues.resize_with(workers, Sighting::default);
        if let Look::Task(task) = self.steal_behind_blocked(worker) {
            return Look::Task(task);
        }
        if let Some(task) = worker.next_injected() {
            return Look::Task(task);
        }
        let start = self.rng.usize(0..workers);
        let others = (start..start + workers)
            .map(|i| i % workers)
            .filter(|&i| i != worker.index);
        let mut young = false;
        for (steal, victim) in others
            .clone()
            .map(|i| (Self::steal_queued as Steal, i))
            .chain(others.map(|i| (Self::steal_slot as Steal, i)))
        {
            match steal(self, worker, victim) {
                Look::Task(task) => return Look::Task(task),
                Look::Young => young = true,
                Look::Nothing => {}
            }
        }
        if young { Look::Young } else { Look::Nothing }
    }

    /// What waits in the slot of the worker that was the last to say that it blocks: most likely what this worker was woken
    /// for. After a rest the way there through everybody's queues takes a microsecond or two, all of it cache misses.
    fn steal_behind_blocked(&mut self, worker: &Worker) -> Look {
        let shared = &*worker.shared;
        let victim = shared.last_to_block.load(Ordering::Relaxed); // a hint
        let remote = &shared.remotes[victim];
        match victim != worker.index && remote.marks.says(remote.slot.polls()) {
            true => self.steal_slot(worker, victim),
            false => Look::Nothing,
        }
    }

    fn steal_queued(&mut self, worker: &Worker, victim: usize) -> Look {
        let shared = &*worker.shared;
        let remote = &shared.remotes[victim];
        match remote.queue.len() {
            0 => {
                self.queues[victim].forget();
                return Look::Nothing;
            }
            1 if shared.switches.run_next && !self.queue_is_ripe(shared, victim) => return Look::Young,
            _ => {}
        }
        let Some(task) = remote.queue.steal_half_into(&worker.queue) else {
            return Look::Nothing; // others were quicker; `has_work` will tell what is left
        };
        worker.remote().counters.steal_operations.bump();
        Look::Task(task)
    }

    fn steal_slot(&mut self, worker: &Worker, victim: usize) -> Look {
        let shared = &*worker.shared;
        let remote = &shared.remotes[victim];
        if !remote.slot.is_full() {
            self.slots[victim].forget();
            return Look::Nothing;
        }
        if remote.waits_for_rescue() || !self.slot_is_ripe(shared, victim) {
            return Look::Young;
        }
        let Some(task) = remote.slot.steal() else {
            return Look::Nothing;
        };
        worker.remote().counters.slot_steals.bump();
        Look::Task(task)
    }

    fn queue_is_ripe(&mut self, shared: &Shared, victim: usize) -> bool {
        let remote = &shared.remotes[victim];
        remote.allows_steals(remote.slot.polls())
            || self.queues[victim].waited(self.searches, now()) >= shared.switches.steal_delay
    }

    fn slot_is_ripe(&mut self, shared: &Shared, victim: usize) -> bool {
        let remote = &shared.remotes[victim];
        let polls = remote.slot.polls();
        remote.allows_steals(polls)
            || self.slots[victim].waited(polls, now()) >= shared.switches.steal_delay
    }
}

/// One way to take work from a victim.
type Steal = fn(&mut Searcher, &Worker, usize) -> Look;
