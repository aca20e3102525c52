//! Tests of the trials on a virtual clock.

use super::{HOLDS, REMEMBERED, SETTLING, Sharing, Steals, WINDOW};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_micros(25);
const POLL: Duration = Duration::from_micros(2);
/// The looks of a whole trial.
const TRIAL: u32 = 2 * (SETTLING + WINDOW) + 1;

/// Two workers and a workload whose polls become dearer when they are shared.
struct Pool {
    now: Instant,
    sharing: Sharing,
    poll: Duration,
    /// What a poll takes when it is shared, in percent.
    dearer: u32,
}

impl Pool {
    fn new(dearer: u32) -> Self {
        Pool {
            now: Instant::now(),
            sharing: Sharing::new(),
            poll: POLL,
            dearer,
        }
    }

    fn look(&mut self, wanted: bool) {
        self.now += LOOK;
        let (busy, poll) = match self.sharing.steals() == Steals::AtOnce {
            true => (2 * LOOK, self.poll * self.dearer / 100),
            false => (LOOK, self.poll),
        };
        let polls = busy.as_nanos() / poll.as_nanos();
        self.sharing.observe(self.now, polls as u64, busy, wanted);
    }

    fn looks(&mut self, looks: u32) {
        (0..looks).for_each(|_| self.look(true));
    }
}

#[test]
fn polls_that_stay_as_cheap_are_shared() {
    let mut pool = Pool::new(120);
    pool.looks(TRIAL);
    assert!(pool.sharing.steals() == Steals::AtOnce);
    let tried = (0..2 * HOLDS.as_micros() / LOOK.as_micros()).filter(|_| {
        pool.look(true);
        pool.sharing.steals() != Steals::AtOnce
    });
    assert!(tried.count() <= 2 * TRIAL as usize, "the trials are rare");
}

#[test]
fn polls_that_become_twice_as_dear_are_left_alone() {
    let mut pool = Pool::new(200);
    pool.looks(TRIAL);
    assert!(pool.sharing.steals() != Steals::AtOnce);
    let shared = (0..2 * HOLDS.as_micros() / LOOK.as_micros()).filter(|_| {
        pool.look(true);
        pool.sharing.steals() == Steals::AtOnce
    });
    let shared = shared.count();
    assert!((1..=2 * TRIAL as usize).contains(&shared), "tries again, but rarely: {shared}");
}

#[test]
fn a_changed_workload_changes_the_verdict() {
    let mut pool = Pool::new(100);
    pool.looks(TRIAL);
    assert!(pool.sharing.steals() == Steals::AtOnce);
    pool.dearer = 300;
    pool.now += HOLDS;
    pool.looks(TRIAL);
    assert!(pool.sharing.steals() != Steals::AtOnce);
}

#[test]
fn a_tail_of_sharing_does_not_make_it_look_cheap() {
    let mut pool = Pool::new(200);
    pool.looks(TRIAL);
    // The next trial's first window is as dear as the second: somebody still shares.
    let now = pool.now + HOLDS;
    for _ in 0..TRIAL {
        pool.sharing.observe(now, 10, 20 * POLL, true);
    }
    assert!(pool.sharing.steals() != Steals::AtOnce);
}

#[test]
fn heavier_polls_are_tried_afresh_after_a_few_trials() {
    let mut pool = Pool::new(100);
    pool.looks(TRIAL);
    pool.poll = 5 * POLL;
    let refusals = 2 << REMEMBERED; // each doubles the time until the next trial
    pool.looks((refusals * HOLDS.as_micros() / LOOK.as_micros()) as u32);
    let shared = (0..HOLDS.as_micros() / LOOK.as_micros()).any(|_| {
        pool.look(true);
        pool.sharing.steals() == Steals::AtOnce
    });
    assert!(shared);
}

#[test]
fn without_need_nothing_is_tried() {
    let mut pool = Pool::new(100);
    (0..10 * WINDOW).for_each(|_| pool.look(false));
    assert!(pool.sharing.steals() != Steals::AtOnce);
}

#[test]
fn windows_without_polls_decide_against_sharing() {
    let mut sharing = Sharing::new();
    let now = Instant::now();
    (0..TRIAL).for_each(|_| sharing.observe(now, 0, Duration::ZERO, true));
    assert!(sharing.steals() != Steals::AtOnce);
}
