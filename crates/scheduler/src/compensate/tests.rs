//! Tests of the pace on a virtual clock, and of which limit is to be raised.

use super::{Pace, Pacing, RETRY_DELAY, Verdict, remedy};
use crate::headcount::Headcount;
use crate::pool::MAX_WORKERS;
use proptest::prelude::*;
use runnext_knobs::{Knobs, Origin};
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// The defaults of a machine with so many processors.
fn defaults(processors: usize) -> Knobs {
    Knobs::default().with_processor_count(processors)
}

fn pacing(knobs: &Knobs) -> Pacing {
    Pacing::new(Pace::new(knobs))
}

/// A pool of which `blocked` are blocked, after adding as many as `live` says.
fn heads(min: usize, max: usize, blocked: usize, live: usize) -> Headcount {
    let heads = Headcount::new(min, max);
    (0..blocked).for_each(|_| heads.block());
    (min..live).for_each(|_| assert!(heads.try_add()));
    heads
}

#[test]
fn nobody_is_added_for_workers_that_are_not_blocked() {
    let mut pacing = pacing(&defaults(2));
    let verdict = pacing.decide(heads(2, 512, 0, 2).get(), true, Instant::now());
    assert_eq!(verdict, Verdict::Enough);
}

#[test]
fn up_to_one_more_a_processor_is_added_at_once() {
    let mut pacing = pacing(&defaults(2));
    let (heads, now) = (heads(2, 512, 9, 2), Instant::now());
    for _ in 0..2 {
        assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Add);
        assert!(heads.try_add());
        pacing.tried(true, now);
    }
    assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Later(25 * MS));
}

#[test]
fn the_delay_grows_with_each_set_of_processors_and_has_a_limit() {
    let mut pacing = pacing(&defaults(2));
    let now = Instant::now();
    let mut delay_at = |live| {
        pacing.rest();
        pacing.decide(heads(2, 512, 500, live).get(), false, now)
    };
    assert_eq!(delay_at(5), Verdict::Later(25 * MS));
    assert_eq!(delay_at(6), Verdict::Later(50 * MS));
    assert_eq!(delay_at(100), Verdict::Later(250 * MS));
}

/// Which verdict a pool on 2 processors with a minimum of 2 workers gets at once when it has `live` ones, all blocked.
fn first_verdict(knobs: &Knobs, live: usize) -> Verdict {
    pacing(knobs).decide(heads(2, 512, live, live).get(), false, Instant::now())
}

#[test]
fn without_a_step_or_without_a_delay_everybody_is_added_at_once() {
    for knobs in [
        defaults(2).with_blocking_delay_step(Duration::ZERO),
        defaults(2).with_blocking_max_delay(Duration::ZERO),
    ] {
        let (mut pacing, now) = (pacing(&knobs), Instant::now());
        let heads = heads(2, 512, 500, 2);
        for _ in 0..500 {
            assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Add);
            assert!(heads.try_add());
            pacing.tried(true, now);
        }
        assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Enough);
    }
}

#[test]
fn the_step_and_the_longest_delay_are_those_of_the_knobs() {
    let knobs = defaults(2).with_blocking_delay_step(MS).with_blocking_max_delay(3 * MS);
    let delays = [4, 5, 6, 7, 8, 9, 400].map(|live| first_verdict(&knobs, live));
    assert_eq!(delays, [1, 1, 2, 2, 3, 3, 3].map(|delay| Verdict::Later(delay * MS)));
}

#[test]
fn a_longest_delay_below_the_step_is_every_delay() {
    let knobs = defaults(2).with_blocking_max_delay(10 * MS);
    for live in [4, 5, 400] {
        assert_eq!(first_verdict(&knobs, live), Verdict::Later(10 * MS));
    }
}

#[test]
fn those_without_delay_are_counted_from_the_minimum_and_the_steps_from_there() {
    let delay = |free, live| first_verdict(&defaults(2).with_blocking_threads_without_delay(free), live);
    assert_eq!(delay(0, 2), Verdict::Later(25 * MS));
    assert_eq!(delay(0, 4), Verdict::Later(50 * MS));
    assert_eq!(delay(40, 41), Verdict::Add);
    assert_eq!(delay(40, 42), Verdict::Later(25 * MS));
    assert_eq!(delay(40, 44), Verdict::Later(50 * MS));
    assert_eq!(delay(usize::from(u16::MAX / 2), 511), Verdict::Add);
}

/// A minimum that was raised while threads could not be started is not compensation.
#[test]
fn a_worker_below_the_minimum_has_no_delay() {
    let heads = heads(2, 512, 0, 2);
    heads.set(3, 512);
    let mut pacing = pacing(&defaults(2).with_blocking_threads_without_delay(0));
    assert_eq!(pacing.decide(heads.get(), false, Instant::now()), Verdict::Add);
}

#[test]
fn a_spare_is_recalled_at_once() {
    let mut pacing = pacing(&defaults(2));
    let heads = heads(2, 512, 500, 100);
    assert_eq!(pacing.decide(heads.get(), true, Instant::now()), Verdict::Add);
}

/// Whatever the pace is: without a delay it would be tried without a pause, with a long one it would be late.
#[test]
fn a_thread_that_could_not_be_started_is_tried_again_later() {
    for step in [Duration::ZERO, MS, 25 * MS, 2000 * MS] {
        let mut pacing = pacing(&defaults(2).with_blocking_delay_step(step));
        let (heads, now) = (heads(2, 512, 2, 2), Instant::now());
        assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Add);
        pacing.tried(false, now);
        assert_eq!(pacing.decide(heads.get(), false, now), Verdict::Later(RETRY_DELAY));
        assert_eq!(pacing.decide(heads.get(), false, now + RETRY_DELAY), Verdict::Add);
    }
}

#[test]
fn a_pool_with_all_that_there_may_be_blocked_is_exhausted() {
    let mut pacing = pacing(&defaults(2));
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
        without_delay in 0..64_usize,
        step in 0..100_u32,
        longest in 0..1000_u32,
    ) {
        let heads = heads(min, min + room, blocked, min);
        let knobs = defaults(processors)
            .with_blocking_threads_without_delay(without_delay)
            .with_blocking_delay_step(step * MS)
            .with_blocking_max_delay(longest * MS);
        let (mut pacing, start) = (pacing(&knobs), Instant::now());
        let (mut now, mut last) = (start, start);
        while heads.get().wants_more() {
            match pacing.decide(heads.get(), false, now) {
                Verdict::Add => {
                    prop_assert!(heads.try_add());
                    pacing.tried(true, now);
                    prop_assert!(now - last <= longest * MS);
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

#[test]
fn the_limit_to_raise_is_the_one_that_was_set_last() {
    let variable = Origin::Environment("RUNNEXT_MAX_THREADS".to_owned());
    let raise = |limit| format!("raise {limit}, or block in fewer tasks at once");
    for (origin, built) in [
        (variable, "`RUNNEXT_MAX_THREADS`"),
        (Origin::Builder, "`max_threads`, which the program has set"),
        (Origin::Default, "`RUNNEXT_MAX_THREADS` or `max_threads`"),
    ] {
        assert_eq!(remedy(2, false, Some(&origin)), raise(built));
        assert_eq!(remedy(2, true, Some(&origin)), raise("`max` of `Pool::set_threads`"));
        let at_most = "no pool has more, so block in fewer tasks at once";
        assert_eq!(remedy(MAX_WORKERS, false, Some(&origin)), at_most);
    }
}
