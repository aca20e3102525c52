//! Threads that come, wait as spares and go, and the numbers that `set_threads` gives.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use runnext::Builder;

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
        let (pool, workers) = (setting.pool(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            for round in 0..100 {
                let tasks: Vec<_> = (0..round % 8).map(|_| pool.spawn(async {})).collect();
                tasks.into_iter().for_each(|task| pool.block_on(task));
                pool.set_threads(1, workers).unwrap();
                until(|| pool.stats().workers_count == 1);
                pool.set_threads(workers, workers).unwrap();
                until(|| pool.stats().workers_count == workers);
            }
            pool.shutdown();
        });
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

/// A thread-local whose destructor waits for the latch.
struct SlowEnd(Arc<OnceLock<()>>, Arc<AtomicUsize>);

impl Drop for SlowEnd {
    fn drop(&mut self) {
        self.0.wait();
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
#[ignore = "a retired thread is forgotten as soon as its body has ended, not its thread-locals' destructors"]
fn l3_a_shutdown_waits_for_the_thread_locals_of_a_thread_that_has_retired() {
    thread_local!(static LOCAL: OnceLock<SlowEnd> = const { OnceLock::new() });
    for_each_setting(Workers::One, |setting| {
        let (latch, ended) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let slow_end = {
            let (latch, ended) = (latch.clone(), ended.clone());
            move |_| LOCAL.with(|local| _ = local.set(SlowEnd(latch.clone(), ended.clone())))
        };
        let builder = retiring(setting, Duration::ZERO).max_threads(2);
        let pool = builder.on_thread_start(slow_end).build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            let started = (0..5).map(|_| {
                pool.set_threads(2, 2).unwrap(); // which forgets threads that have ended
                pool.set_threads(1, 2).unwrap();
                until(|| pool.stats().retired_workers > 0 && pool.stats().spare_workers == 0);
            });
            let started = 1 + started.count();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(20)); // so that a shutdown which does not wait has returned
                latch.set(()).unwrap();
            });
            pool.shutdown();
            assert_eq!(ended.load(Ordering::SeqCst), started);
        });
    });
}
