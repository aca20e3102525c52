//! Threads that come, wait as spares and go, and the numbers that `set_threads` gives.

use std::future::pending;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use runnext::{Builder, Pool};

use super::*;
use crate::support::*;

/// Lets every stop hook wait for `latch`. Counts those that have begun.
fn with_slow_stops(builder: Builder, latch: &Arc<OnceLock<()>>) -> (Builder, Arc<AtomicUsize>) {
    let (latch, begun) = (latch.clone(), Arc::new(AtomicUsize::new(0)));
    let stops = begun.clone();
    let builder = builder.on_thread_stop(move |_| {
        stops.fetch_add(1, Ordering::SeqCst);
        latch.wait();
    });
    (builder, begun)
}

#[test]
fn c2_a_place_is_kept_until_the_stop_hook_has_ended_however_much_it_is_wanted() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let latch = Arc::new(OnceLock::new());
        let builder = retiring(setting, Duration::ZERO).max_threads(setting.workers + 1);
        let (builder, stops) = with_slow_stops(builder, &latch);
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            let occupied: Vec<_> = (0..workers).map(|_| occupy(&pool)).collect();
            pool.block_on(pool.spawn(async {}));
            drop(occupied);
            until(|| stops.load(Ordering::SeqCst) == 1); // the surplus worker

            let occupied: Vec<_> = (0..workers).map(|_| occupy(&pool)).collect();
            let task = pool.spawn(async {});
            let ticks = pool.stats().gate_ticks;
            until(|| pool.stats().gate_ticks > ticks + 20); // it looks for a thread in vain
            latch.set(()).unwrap();
            pool.block_on(task);
            drop(occupied);
            pool.shutdown();
        });
    });
}

#[test]
fn a_minimum_that_has_to_wait_for_a_stop_hook_is_reached_after_it() {
    for_each_setting(Workers::Several, |setting| {
        let latch = Arc::new(OnceLock::new());
        let (builder, stops) = with_slow_stops(retiring(setting, Duration::ZERO), &latch);
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            pool.set_threads(1, workers).unwrap();
            until(|| stops.load(Ordering::SeqCst) == workers - 1);
            pool.set_threads(workers, workers).unwrap();
            assert_eq!(pool.stats().workers_count, 1, "no place is free");
            latch.set(()).unwrap();
            until(|| pool.stats().workers_count == workers);
            meet(&pool);
            pool.shutdown();
        });
    });
}

/// Who goes to sleep just then must not miss that it is one too many.
#[test]
fn a_lower_minimum_is_reached_whatever_the_workers_do_just_then() {
    for_each_setting(Workers::Several, |setting| {
        for _ in 0..5 {
            let (pool, workers) = (setting.pool(), setting.workers);
            within(LIMIT, &pool.clone(), move || {
                for round in 0..20 {
                    let tasks: Vec<_> = (0..round % 8).map(|_| pool.spawn(async {})).collect();
                    tasks.into_iter().for_each(|task| pool.block_on(task));
                    pool.set_threads(1, workers).unwrap();
                    until(|| pool.stats().workers_count == 1);
                    pool.set_threads(workers, workers).unwrap();
                    until(|| pool.stats().workers_count == workers);
                }
                pool.shutdown();
            });
        }
    });
}

/// The worker that the shutdown finds idle, and relies on for cancelling, gives way instead of leaving.
#[test]
fn l4_a_shutdown_cancels_also_if_the_only_idle_worker_is_one_too_many() {
    for_each_setting(Workers::Several, |setting| {
        for _ in 0..20 {
            let (pool, workers) = (setting.pool(), setting.workers);
            within(LIMIT, &pool.clone(), move || {
                let (ends, ended) = channel::<()>();
                let (begins, begun) = channel();
                let waits = async move {
                    let _ends = ends;
                    pending::<()>().await;
                };
                pool.spawn(waits).detach();
                until_parked(&pool, 0);
                let blocks = async move {
                    begins.send(()).unwrap();
                    assert!(ended.recv().is_err(), "cancelled");
                };
                pool.spawn(blocks).detach();
                next(&begun);
                until_parked(&pool, 1);
                pool.set_threads(1, workers).unwrap();
                pool.shutdown();
                assert_at_rest(&pool);
            });
        }
    });
}

/// Makes up for all workers and lets them go on: afterwards as many are one too many.
fn make_spares(pool: &Pool, count: usize) {
    let occupied: Vec<_> = (0..count).map(|_| occupy(pool)).collect();
    pool.block_on(pool.spawn(async {}));
    drop(occupied);
}

/// A pool that has had spares, with the knob `ThreadsToKeepAlive` as given.
fn keeping(setting: &Setting, timeout: Option<Duration>, kept: Option<usize>) -> Pool {
    let knobs = setting.knobs.clone().with_thread_timeout(timeout);
    let knobs = knobs.with_threads_to_keep_alive(kept);
    let pool = setting
        .builder()
        .knobs(knobs)
        .max_threads(16)
        .build()
        .unwrap();
    let inner = pool.clone();
    let workers = setting.workers;
    within(LIMIT, &pool, move || {
        make_spares(&inner, workers + 1);
        until(|| inner.stats().workers_count == workers);
    });
    pool
}

/// The threads of the pool that are workers or could be.
fn threads(pool: &Pool) -> usize {
    let stats = pool.stats();
    stats.workers_count + stats.spare_workers
}

#[test]
fn spares_end_but_for_those_that_are_to_be_kept_alive() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let short = Some(Duration::from_millis(5));
        let workers = setting.workers;
        for (kept, left) in [(Some(0), workers), (Some(workers + 1), workers + 1)] {
            let pool = keeping(setting, short, kept);
            within(LIMIT, &pool.clone(), move || {
                until(|| threads(&pool) == left);
                let retired = pool.stats().retired_workers;
                assert!(retired > 0);
                thread::sleep(Duration::from_millis(20)); // in which one more would end, if it were to
                assert_eq!(
                    (threads(&pool), pool.stats().retired_workers),
                    (left, retired)
                );
                pool.shutdown();
                assert_eq!(threads(&pool), 0);
            });
        }
    });
}

#[test]
fn spares_stay_if_all_are_to_be_kept_alive_or_none_is_timed_out() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let short = Some(Duration::from_millis(5));
        for (timeout, kept) in [(short, None), (None, Some(0)), (None, None)] {
            let pool = keeping(setting, timeout, kept);
            let workers = setting.workers;
            within(LIMIT, &pool.clone(), move || {
                until(|| pool.stats().spare_workers > 0);
                let before = threads(&pool);
                thread::sleep(Duration::from_millis(20)); // in which they would end
                assert_eq!((threads(&pool), pool.stats().retired_workers), (before, 0));
                // And they are used again.
                let injected = pool.stats().injected_workers;
                make_spares(&pool, workers);
                // A thread is counted just after it has been started, and is a spare just after it has given way.
                until(|| pool.stats().injected_workers > injected && threads(&pool) == before);
                pool.shutdown();
            });
        }
    });
}

#[test]
fn hooks_are_paired_on_threads_that_come_later_too() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let log: Arc<Mutex<Vec<(usize, bool)>>> = Arc::default();
        let note = |starts: bool| {
            let log = log.clone();
            move |index| log.lock().unwrap().push((index, starts))
        };
        let builder = retiring(setting, Duration::from_millis(1)).max_threads(16);
        let builder = builder
            .on_thread_start(note(true))
            .on_thread_stop(note(false));
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            for _ in 0..3 {
                make_spares(&pool, workers + 1);
                until(|| pool.stats().spare_workers == 0 && pool.stats().workers_count == workers);
            }
            pool.shutdown();
            let log = log.lock().unwrap();
            for place in 0..16 {
                let runs: Vec<_> = log.iter().filter(|(index, _)| *index == place).collect();
                let paired =
                    |(run, (_, starts)): (usize, &&(usize, bool))| *starts == (run % 2 == 0);
                assert!(
                    runs.iter().enumerate().all(paired) && runs.len() % 2 == 0,
                    "{log:?}"
                );
            }
            assert!(log.len() > 2 * workers, "{log:?}");
        });
    });
}

#[test]
fn set_threads_refuses_what_makes_no_sense() {
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.builder().max_threads(8).build().unwrap();
        for (min, max) in [
            (0, 1),
            (0, 0),
            (2, 1),
            (1, 9),
            (9, 9),
            (9, 1),
            (1, usize::MAX),
        ] {
            let error = pool
                .set_threads(min, max)
                .expect_err("no pool can have that");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let text = error.to_string();
            let named = [format!("`min` is {min}"), format!("`max` is {max}")];
            for part in [
                &named[0],
                &named[1],
                "1 <= min <= max <= 8",
                "`max_threads`",
            ] {
                assert!(text.contains(part), "`{part}` is missing from: {text}");
            }
        }
        assert_eq!(pool.stats().workers_count, setting.workers);
        let inner = pool.clone();
        within(LIMIT, &pool, move || {
            meet(&inner);
            inner.shutdown();
        });
    });
}

#[test]
fn set_threads_adds_workers_that_work_and_takes_away_those_that_rest() {
    for_each_setting(Workers::Any, |setting| {
        let (pool, workers) = (
            setting.builder().max_threads(8).build().unwrap(),
            setting.workers,
        );
        within(LIMIT, &pool.clone(), move || {
            for (min, max) in [(8, 8), (3, 8), (5, 5), (1, 1), (workers, 8)] {
                pool.set_threads(min, max).unwrap();
                until(|| pool.stats().workers_count == min);
                meet(&pool);
            }
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

/// Those that are too many hand over what waits on them between two polls, also in the middle of much work.
#[test]
fn set_threads_loses_nothing_while_all_workers_are_busy() {
    for_each_setting(Workers::Any, |setting| {
        let (pool, workers) = (
            setting.builder().max_threads(8).build().unwrap(),
            setting.workers,
        );
        within(LIMIT, &pool.clone(), move || {
            let stop = yield_until_stopped(&pool, 30);
            let rounds = ping_pong(&pool, {
                let mut left = 3000;
                move || {
                    left -= 1;
                    if left == 0 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                }
            });
            for min in [8, 1, 4, 2, 8, 1] {
                pool.set_threads(min, 8).unwrap();
                until(|| pool.stats().workers_count == min);
            }
            pool.set_threads(workers, 8).unwrap();
            pool.block_on(rounds);
            stop();
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

/// The maximum may be lower than the number of those that block: none of them is ended for it.
#[test]
fn set_threads_lowers_the_maximum_below_the_number_of_blocked_workers() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let occupied: Vec<_> = (0..workers + 3).map(|_| occupy(pool)).collect();
        pool.set_threads(1, 1).unwrap();
        let task = pool.spawn(async {});
        let stats = pool.stats();
        assert!(stats.workers_count >= workers + 3, "{stats}");
        drop(occupied);
        pool.block_on(task);
        until(|| pool.stats().workers_count == 1);
        meet(pool);
    });
}

#[test]
fn set_threads_does_nothing_to_a_pool_that_is_shut_down() {
    for_each_setting(Workers::Any, |setting| {
        let (pool, workers) = (
            setting.builder().max_threads(8).build().unwrap(),
            setting.workers,
        );
        within(LIMIT, &pool.clone(), move || {
            let release = occupy(&pool);
            let shutdown = thread::spawn({
                let pool = pool.clone();
                move || pool.shutdown()
            });
            until(|| pool.is_shutdown());
            for min in 1..=8 {
                pool.set_threads(min, 8).unwrap();
                assert!(pool.stats().workers_count <= workers);
            }
            drop(release);
            shutdown.join().unwrap();
            pool.set_threads(8, 8).unwrap();
            assert_eq!(threads(&pool), 0);
            assert_at_rest(&pool);
        });
    });
}
