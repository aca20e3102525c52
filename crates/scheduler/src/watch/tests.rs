//! Tests of the watch on a virtual clock: nothing here sleeps or runs a thread.

use super::{ALL_GET_ON, ALL_RUN, FRESH, Idlers, LOST, LOST_LOOKS, Next, QUIET, Step, View, Watch};
use crate::share::Steals;
use proptest::prelude::*;
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_micros(50);
const MICRO: Duration = Duration::from_micros(1);

/// A worker as a look reads it.
#[derive(Clone, Copy, Debug, Default)]
struct Worker {
    polls: u64,
    slot_full: bool,
    queue_waits: bool,
    is_away: bool,
}

/// One that has begun its latest poll after many short ones, with an item in its slot.
const AFTER_SHORT_POLLS: Worker = Worker {
    polls: 1_000_000,
    slot_full: true,
    queue_waits: false,
    is_away: false,
};

/// A pool that stands still between two looks.
#[derive(Clone, Debug)]
struct Pool {
    workers: Vec<Worker>,
    injector_waits: bool,
    searching: usize,
    parked: usize,
}

impl Pool {
    /// One worker runs, one is parked.
    fn with_one_parked() -> Self {
        Pool {
            workers: vec![Worker::default(); 2],
            injector_waits: false,
            searching: 0,
            parked: 1,
        }
    }
}

impl View for Pool {
    fn workers(&self) -> usize {
        self.workers.len()
    }

    fn works(&self, worker: usize) -> bool {
        !self.workers[worker].is_away
    }

    fn slot(&self, worker: usize) -> (u64, bool) {
        (self.workers[worker].polls, self.workers[worker].slot_full)
    }

    fn queue_waits(&self, worker: usize) -> bool {
        self.workers[worker].queue_waits
    }

    fn injector_waits(&self) -> bool {
        self.injector_waits
    }

    fn idlers(&self) -> Idlers {
        Idlers {
            searching: self.searching,
            parked: self.parked,
            running: self.workers.len().saturating_sub(self.searching + self.parked),
        }
    }
}

/// The watch, its clock and what it has asked for.
struct Gate {
    watch: Watch,
    now: Instant,
    steps: Vec<Step>,
}

impl Gate {
    fn new() -> Self {
        let now = Instant::now();
        Gate {
            watch: Watch::new(INTERVAL, true, now),
            now,
            steps: Vec::new(),
        }
    }

    /// A gate that has been awake for a while.
    fn awake(pool: &Pool) -> Self {
        let mut gate = Self::new();
        (0..FRESH).for_each(|_| {
            gate.look(pool, MICRO);
        });
        gate
    }

    /// Looks `after` the last look.
    fn look(&mut self, pool: &Pool, after: Duration) -> Next {
        self.now += after;
        self.steps.clear();
        self.watch.look(pool, self.now, |step| self.steps.push(step))
    }
}

impl Gate {
    fn is_lost_at_the_tenth_look(&mut self, pool: &Pool) -> bool {
        (0..LOST_LOOKS).any(|_| {
            self.look(pool, LOST);
            self.steps == [Step::Lost]
        })
    }
}

#[test]
fn a_look_that_comes_early_takes_nothing_for_stalled() {
    let mut pool = Pool::with_one_parked();
    let mut gate = Gate::awake(&pool);
    pool.workers[0] = AFTER_SHORT_POLLS;
    for early in [INTERVAL, MICRO, MICRO, INTERVAL / 2] {
        gate.look(&pool, early);
        assert_eq!(gate.steps, []);
    }
    gate.look(&pool, INTERVAL / 2);
    assert!(matches!(gate.steps[..], [Step::Rescue { .. }]));
}

#[test]
fn g1_an_item_behind_a_long_poll_is_rescued_at_the_second_look() {
    let mut pool = Pool::with_one_parked();
    let mut gate = Gate::awake(&pool);
    pool.workers[0] = AFTER_SHORT_POLLS;
    gate.look(&pool, INTERVAL);
    assert_eq!(gate.steps, [], "a counter that moves fast is left alone");
    gate.look(&pool, INTERVAL);
    let rescue = |again, stalled| Step::Rescue {
        worker: 0,
        through: 1_000_000,
        again,
        stalled,
    };
    assert_eq!(gate.steps, [rescue(false, INTERVAL)]);
    gate.look(&pool, INTERVAL);
    assert_eq!(gate.steps, [rescue(true, 2 * INTERVAL)], "it still waits");
}

#[test]
fn a_slow_poll_with_work_behind_it_is_shared_and_looked_at_sooner() {
    let mut pool = Pool::with_one_parked();
    let mut gate = Gate::awake(&pool);
    pool.workers[0] = Worker {
        polls: 10,
        slot_full: true,
        queue_waits: false,
        is_away: false,
    };
    assert_eq!(gate.look(&pool, INTERVAL), Next::Look(INTERVAL / 2));
    let allow = |steals| Step::Allow { worker: 0, steals };
    // Until both windows of the trial have passed, each poll taking its 5 us all the time.
    let shared = (0..100).find(|_| {
        pool.workers[0].polls += 5;
        gate.look(&pool, INTERVAL / 2);
        gate.steps.contains(&allow(Steals::AtOnce))
    });
    assert!(shared.is_some());
    assert_eq!(gate.steps, [allow(Steals::AtOnce), Step::Ask]);
    pool.workers[0].polls += 1000;
    gate.look(&pool, INTERVAL / 2);
    assert_eq!(gate.steps, [allow(Steals::Delayed)], "polls have become short");
}

#[test]
fn g1_a_slot_that_is_kept_for_a_trial_is_rescued_all_the_same_and_given_back_at_the_end() {
    let mut pool = Pool::with_one_parked();
    let mut gate = Gate::awake(&pool);
    pool.workers[0].slot_full = true;
    let allow = |steals| Step::Allow { worker: 0, steals };
    let kept = (0..3).any(|_| {
        pool.workers[0].polls += 5;
        gate.look(&pool, INTERVAL);
        gate.steps == [allow(Steals::Rescued)]
    });
    assert!(kept);
    gate.look(&pool, INTERVAL);
    assert!(matches!(gate.steps[..], [Step::Rescue { .. }]));
    pool.workers[0].slot_full = false;
    assert_eq!(gate.look(&pool, QUIET), Next::Sleep);
    assert_eq!(gate.steps, [allow(Steals::Delayed)]);
}

#[test]
fn a_queue_that_somebody_was_woken_for_is_left_to_him_until_he_is_late() {
    let mut pool = Pool::with_one_parked();
    let mut gate = Gate::awake(&pool);
    pool.workers[0].queue_waits = true;
    gate.look(&pool, INTERVAL);
    assert_eq!(gate.steps, [], "the push's own request is on its way");
    gate.look(&pool, LOST);
    assert_eq!(gate.steps, [], "the process may have been stopped");
    assert!(gate.is_lost_at_the_tenth_look(&pool), "it never came");

    pool.searching = 1;
    gate.look(&pool, INTERVAL);
    assert!(
        matches!(gate.steps[..], [Step::Rescue { worker: 0, .. }]),
        "a searcher has absorbed it and does not come: {:?}",
        gate.steps
    );
}

#[test]
fn an_injector_that_nobody_looks_at_is_lost_only_while_somebody_could_come() {
    let mut pool = Pool::with_one_parked();
    let mut gate = Gate::awake(&pool);
    pool.injector_waits = true;
    pool.parked = 0;
    assert!(!gate.is_lost_at_the_tenth_look(&pool));
    pool.parked = 1;
    gate.look(&pool, MICRO);
    assert!(gate.is_lost_at_the_tenth_look(&pool));
}

#[test]
fn g2_a_pool_at_rest_lets_the_gate_sleep_after_a_while() {
    let pool = Pool::with_one_parked();
    let mut gate = Gate::awake(&pool);
    assert_eq!(gate.look(&pool, QUIET / 2), Next::Look(INTERVAL));
    assert_eq!(gate.look(&pool, QUIET / 2), Next::Sleep);
    gate.watch.resume(gate.now);
    assert_eq!(gate.look(&pool, MICRO), Next::Look(INTERVAL / 4), "and begins anew");
}

#[test]
fn after_a_rest_the_first_looks_come_quickly() {
    let pool = Pool {
        searching: 1,
        ..Pool::with_one_parked()
    };
    let mut gate = Gate::awake(&pool);
    assert_eq!(gate.look(&pool, INTERVAL), Next::Look(INTERVAL));
    gate.watch.resume(gate.now);
    for _ in 0..FRESH {
        assert_eq!(gate.look(&pool, MICRO), Next::Look(INTERVAL / 4));
    }
    assert_eq!(gate.look(&pool, MICRO), Next::Look(INTERVAL));
}

#[test]
fn with_everybody_running_the_gate_looks_seldom() {
    let mut pool = Pool::with_one_parked();
    pool.parked = 0;
    let mut gate = Gate::awake(&pool);
    assert_eq!(gate.look(&pool, INTERVAL), Next::Seldom(ALL_RUN));
}

#[test]
fn with_everybody_running_and_getting_on_the_gate_looks_ever_more_seldom() {
    let mut pool = Pool::with_one_parked();
    pool.parked = 0;
    let mut gate = Gate::awake(&pool);
    let mut look_after_polls = |first, second| {
        pool.workers[0].polls += first;
        pool.workers[1].polls += second;
        gate.look(&pool, ALL_RUN)
    };
    assert_eq!(look_after_polls(99, 0), Next::Seldom(ALL_RUN)); // the second stands still
    assert_eq!(look_after_polls(99, 99), Next::Seldom(2 * ALL_RUN));
    assert_eq!(look_after_polls(99, 99), Next::Seldom(ALL_GET_ON));
    assert_eq!(look_after_polls(99, 99), Next::Seldom(ALL_GET_ON));
    assert_eq!(look_after_polls(99, 0), Next::Seldom(ALL_RUN));
}

/// What the pool does between two looks.
#[derive(Clone, Copy, Debug)]
struct Change {
    worker: usize,
    polls: u64,
    slot_full: bool,
    queue_waits: bool,
    searching: usize,
}

fn change() -> impl Strategy<Value = Change> {
    (0..3_usize, 0..200_u64, any::<bool>(), any::<bool>(), 0..2_usize).prop_map(
        |(worker, polls, slot_full, queue_waits, searching)| Change {
            worker,
            polls,
            slot_full,
            queue_waits,
            searching,
        },
    )
}

/// Two workers, neither of them parked, and a watch that has seen both get on.
fn all_run() -> (Pool, Gate) {
    let mut pool = Pool {
        parked: 0,
        ..Pool::with_one_parked()
    };
    let mut gate = Gate::awake(&pool);
    get_on(&mut pool, &[0, 1]);
    assert!(matches!(gate.look(&pool, ALL_RUN), Next::Seldom(_)));
    (pool, gate)
}

fn get_on(pool: &mut Pool, workers: &[usize]) {
    for &worker in workers {
        pool.workers[worker].polls += 2000;
    }
}

impl Gate {
    fn put_off(&mut self, pool: &Pool, after: Duration) -> bool {
        self.now += after;
        self.watch.all_get_on(pool, self.now)
    }
}

#[test]
fn g4_a_look_is_put_off_only_while_every_worker_gets_on() {
    let (mut pool, mut gate) = all_run();
    for _ in 0..10 {
        get_on(&mut pool, &[0, 1]);
        assert!(gate.put_off(&pool, ALL_RUN), "both get on");
    }
    get_on(&mut pool, &[0, 1]);
    assert!(!gate.put_off(&pool, ALL_RUN / 2), "too soon after the last time");
    assert!(gate.put_off(&pool, ALL_RUN / 2));
    get_on(&mut pool, &[0]);
    assert!(!gate.put_off(&pool, ALL_RUN), "one stands still");
    get_on(&mut pool, &[0]);
    pool.workers[1].polls += 10;
    assert!(!gate.put_off(&pool, ALL_RUN), "one may sleep in each poll");
    pool.workers[1].is_away = true;
    get_on(&mut pool, &[0]);
    assert!(gate.put_off(&pool, ALL_RUN), "nobody works there");
    get_on(&mut pool, &[0]);
    pool.workers.push(Worker::default());
    assert!(!gate.put_off(&pool, ALL_RUN), "a worker has never been looked at");
}

#[test]
fn g4_a_poll_is_as_old_as_the_last_time_that_its_worker_got_on() {
    let (mut pool, mut gate) = all_run();
    get_on(&mut pool, &[0, 1]);
    assert!(gate.put_off(&pool, ALL_RUN));
    let polls = pool.workers[1].polls;
    get_on(&mut pool, &[0]);
    assert!(!gate.put_off(&pool, ALL_RUN));
    gate.look(&pool, ALL_GET_ON);
    let age = gate.watch.poll_age(1, polls, gate.now);
    assert_eq!(age, Some(ALL_RUN + ALL_GET_ON));
}

/// Which is tried only if somebody was idle when it began.
#[test]
fn g4_no_look_is_put_off_while_sharing_is_tried() {
    for parked in [0, 1] {
        let (mut pool, mut gate) = all_run();
        pool.parked = parked;
        for _ in 0..2 {
            for worker in &mut pool.workers {
                worker.polls += 10;
                worker.slot_full = true; // behind long polls
            }
            gate.look(&pool, ALL_RUN);
        }
        pool.parked = 0;
        (0..2).for_each(|worker| pool.workers[worker].polls += 500);
        assert_eq!(gate.put_off(&pool, ALL_RUN), parked == 0);
        get_on(&mut pool, &[0, 1]);
        assert!(gate.put_off(&pool, ALL_RUN), "with short polls nothing is shared");
    }
}

proptest! {
    /// On a virtual clock that follows the watch's own wish for the next look: from the moment at which
    /// an item is seen behind a poll, it waits no longer than two intervals until its rescue, and the
    /// watch does not end before.
    #[test]
    fn g1_g2_no_slot_waits_longer_than_two_intervals(
        changes in prop::collection::vec(change(), 1..100),
    ) {
        let mut pool = Pool {
            workers: vec![Worker::default(); 3],
            injector_waits: false,
            searching: 0,
            parked: 1,
        };
        let mut gate = Gate::awake(&pool);
        let mut after = INTERVAL;
        for change in changes {
            let worker = &mut pool.workers[change.worker];
            worker.polls += change.polls;
            worker.slot_full = change.slot_full;
            worker.queue_waits = change.queue_waits;
            pool.searching = change.searching;
            let full: Vec<usize> = (0..3).filter(|&i| pool.workers[i].slot_full).collect();
            let mut waited = after; // published just after the last look, at worst
            let mut rescued = Vec::new();
            for _ in 0..2 {
                let next = gate.look(&pool, after);
                rescued.extend(gate.steps.iter().filter_map(|step| match *step {
                    Step::Rescue { worker, .. } => Some(worker),
                    _ => None,
                }));
                let done = full.iter().all(|worker| rescued.contains(worker));
                match next {
                    Next::Look(interval) => after = interval,
                    Next::Seldom(_) => unreachable!("somebody is parked"),
                    Next::Sleep => {
                        prop_assert!(full.is_empty(), "sleeps beside {full:?}");
                        gate.watch.resume(gate.now);
                        after = INTERVAL;
                    }
                }
                if done {
                    break;
                }
                waited += after;
            }
            prop_assert!(full.iter().all(|worker| rescued.contains(worker)), "{full:?} {rescued:?}");
            prop_assert!(waited <= 2 * INTERVAL, "{waited:?}");
        }
    }

    /// A worker whose polls are short is never shared, whatever waits.
    #[test]
    fn a_fast_chain_is_left_alone(polls in 50_u64..1_000_000, full in any::<bool>()) {
        let mut pool = Pool::with_one_parked();
        let mut gate = Gate::awake(&pool);
        for _ in 0..10 {
            pool.workers[0].polls += polls + 1;
            pool.workers[0].slot_full = full;
            gate.look(&pool, INTERVAL);
            prop_assert_eq!(&gate.steps[..], &[]);
        }
    }
}
