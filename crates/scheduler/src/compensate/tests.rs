//! Tests of the pace on a virtual clock.

use super::{DELAY_STEP, LONGEST_DELAY, Pacing, Verdict};
use crate::headcount::Headcount;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// A pool of which `blocked` are blocked, after adding as many as `live` says.
fn heads(min: usize, max: usize, blocked: usize, live: usize) -> Headcount {
    let heads = Headcount::new(min, max);
    (0..blocked).for_each(|_| heads.block());
    (min..live).for_each(|_| assert!(heads.try_add()));
    heads
}

#[test]
fn nobody_is_added_for_workers_that_are_not_blocked() {
    let mut pacing = Pacing::new(2);
    let verdict = pacing.decide(heads(2, 512, 0, 2).get(), true, Instant::now());
    assert_eq!(verdict, Verdict::Enough);
}

#[test]
fn up_to_one_more_a_processor_is_added_at_once() {
    let mut pacing = Pacing::new(2);
    let (heads, now) = (heads(2, 512, 9, 2), Instant::now());
    for _ in 0..2 {
        assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Add);
        assert!(heads.try_add());
        pacing.tried(true, now);
    }
    assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Later(DELAY_STEP));
}

#[test]
fn the_delay_grows_with_each_set_of_processors_and_has_a_limit() {
    let mut pacing = Pacing::new(2);
    let now = Instant::now();
    let mut delay_at = |live| {
        pacing.rest();
        pacing.decide(heads(2, 512, 500, live).get(), false, now)
    };
    assert_eq!(delay_at(5), Verdict::Later(DELAY_STEP));
    assert_eq!(delay_at(6), Verdict::Later(2 * DELAY_STEP));
    assert_eq!(delay_at(100), Verdict::Later(LONGEST_DELAY));
}

#[test]
fn a_spare_is_recalled_at_once() {
    let mut pacing = Pacing::new(2);
    let heads = heads(2, 512, 500, 100);
    assert_eq!(pacing.decide(heads.get(), true, Instant::now()), Verdict::Add);
}

#[test]
fn a_thread_that_could_not_be_started_is_tried_again_later() {
    let mut pacing = Pacing::new(2);
    let (heads, now) = (heads(2, 512, 2, 2), Instant::now());
    assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Add);
    pacing.tried(false, now);
    assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Later(DELAY_STEP));
    assert_eq!(pacing.decide(heads.get(), false, now + DELAY_STEP), Verdict::Add);
}

#[test]
fn a_pool_with_all_that_there_may_be_blocked_is_exhausted() {
    let mut pacing = Pacing::new(2);
    let verdict = pacing.decide(heads(2, 3, 3, 3).get(), true, Instant::now());
    assert_eq!(verdict, Verdict::Exhausted);
}

proptest! {
    /// Whoever asks at every moment gets the next worker within the longest delay, and never above the maximum.
    #[test]
    fn no_wait_for_a_worker_is_unbounded(
        processors in 1..8_usize,
        min in 1..8_usize,
        room in 0..64_usize,
        blocked in 1..64_usize,
    ) {
        let heads = heads(min, min + room, blocked, min);
        let (mut pacing, start) = (Pacing::new(processors), Instant::now());
        let (mut now, mut last) = (start, start);
        while heads.get().wants_more() {
            match pacing.decide(heads.get(), false, now) {
                Verdict::Add => {
                    prop_assert!(heads.try_add());
                    pacing.tried(true, now);
                    prop_assert!(now - last <= LONGEST_DELAY);
                    last = now;
                }
                Verdict::Later(time) => {
                    prop_assert!(time > Duration::ZERO);
                    now += time;
                }
                verdict => prop_assert!(false, "{verdict:?}"),
            }
        }
        prop_assert!(heads.get().live() <= min + room);
    }
}
