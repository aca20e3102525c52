//! The knobs of the pace: how fast workers come in place of blocked ones.
//!
//! A delay that no test survives, an hour, stands wherever it must not matter. So which knob let the workers come is
//! certain without a look at a clock.

use std::sync::Barrier;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

/// The tasks of a [`meeting`]. With one processor and no longest delay, the default step would keep the last of
/// them waiting for longer than [`LIMIT`].
const MEMBERS: usize = 64;

/// A pool that adds nobody within the hour, but for what `tune` makes of its knobs.
fn slow_pool(setting: &Setting, tune: impl Fn(Knobs) -> Knobs) -> Pool {
    let knobs = setting
        .knobs
        .clone()
        .with_processor_count(1)
        .with_blocking_threads_without_delay(0)
        .with_blocking_delay_step(HOUR)
        .with_blocking_max_delay(HOUR);
    let builder = setting
        .builder()
        .knobs(tune(knobs))
        .max_threads(2 * MEMBERS);
    builder.build().expect("the threads start")
}

/// Tasks that wait for each other in a section of `blocking`: none ends before each has a worker of its own.
fn meeting(pool: &Pool) -> Vec<Task<()>> {
    let barrier = Arc::new(Barrier::new(MEMBERS));
    let member = |_| {
        let barrier = barrier.clone();
        pool.spawn(async move {
            runnext::blocking(|| barrier.wait());
        })
    };
    (0..MEMBERS).map(member).collect()
}

/// Holds a meeting on pools of each setting.
fn meet_with(tune: fn(Knobs) -> Knobs) {
    for_each_blocking_setting(Workers::Any, |setting| {
        let (pool, workers) = (slow_pool(setting, tune), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            meeting(&pool)
                .into_iter()
                .for_each(|task| pool.block_on(task));
            let stats = pool.stats();
            assert!(
                stats.injected_workers >= (MEMBERS - workers) as u64,
                "{stats}"
            );
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn with_a_step_of_zero_workers_come_without_delay() {
    meet_with(|knobs| knobs.with_blocking_delay_step(Duration::ZERO));
}

#[test]
fn with_a_longest_delay_of_zero_workers_come_without_delay() {
    meet_with(|knobs| knobs.with_blocking_max_delay(Duration::ZERO));
}

#[test]
fn as_many_workers_as_the_knob_says_come_without_delay() {
    meet_with(|knobs| knobs.with_blocking_threads_without_delay(MEMBERS));
}

#[test]
fn more_workers_than_the_knob_says_wait_for_the_step() {
    const WITHOUT_DELAY: usize = 3;
    for_each_blocking_setting(Workers::One, |setting| {
        let pool = slow_pool(setting, |knobs| {
            knobs.with_blocking_threads_without_delay(WITHOUT_DELAY)
        });
        within(LIMIT, &pool.clone(), move || {
            let here = 1 + WITHOUT_DELAY;
            let (releases, tasks): (Vec<_>, Vec<_>) = (0..here).map(|_| block(&pool)).unzip();
            let waits = pool.spawn(async {});
            let ticks = pool.stats().gate_ticks;
            until(|| pool.stats().gate_ticks > ticks + 100); // at the default pace one would have come by now
            let stats = pool.stats();
            assert_eq!(
                (stats.injected_workers, stats.blocked_workers),
                (WITHOUT_DELAY as u64, here),
                "{stats}"
            );
            drop(releases);
            tasks.into_iter().for_each(|task| pool.block_on(task));
            pool.block_on(waits);
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}
