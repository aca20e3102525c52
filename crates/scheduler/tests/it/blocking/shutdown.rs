//! The end of pools in which workers are blocked, others were added for them, and spares sleep.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use runnext::Pool;

use super::*;
use crate::support::*;

/// A pool with a blocked worker for each of its minimum, workers that were added for them and rest, and a spare or two.
/// Returns what releases the blocked.
fn in_all_states(pool: &Pool, workers: usize) -> Vec<Sender<()>> {
    let occupied: Vec<_> = (0..workers).map(|_| occupy(pool)).collect();
    let more: Vec<_> = (0..workers).map(|_| occupy(pool)).collect();
    pool.block_on(pool.spawn(async {}));
    drop(more);
    until(|| {
        let stats = pool.stats();
        stats.blocked_workers == workers && stats.spare_workers > 0 && stats.searching_workers == 0
    });
    occupied
}

#[test]
fn a_shutdown_ends_the_spares_and_waits_for_the_blocked() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let occupied = in_all_states(pool, workers);
        assert!(
            !pool.shutdown_timeout(Duration::from_millis(10)),
            "some are blocked"
        );
        until(|| {
            let stats = pool.stats();
            (stats.spare_workers, stats.workers_count) == (0, workers)
        });
        drop(occupied);
        assert!(pool.shutdown_timeout(LIMIT));
        assert_eq!(pool.stats().workers_count, 0);
    });
}

/// A pool, and how many of its threads are between their hooks.
fn counting_threads(builder: Builder) -> (Pool, Arc<AtomicUsize>) {
    let threads = Arc::new(AtomicUsize::new(0));
    let (starts, stops) = (threads.clone(), threads.clone());
    let builder = builder
        .on_thread_start(move |_| _ = starts.fetch_add(1, Ordering::SeqCst))
        .on_thread_stop(move |_| _ = stops.fetch_sub(1, Ordering::SeqCst));
    (builder.build().unwrap(), threads)
}

#[test]
fn the_drop_of_the_last_handle_ends_every_thread() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let (pool, threads) = counting_threads(setting.builder().max_threads(64));
        let workers = setting.workers;
        in_time(move || {
            let occupied = in_all_states(&pool, workers);
            drop(pool);
            // The first to leave goes on cancelling (L4).
            until(|| threads.load(Ordering::SeqCst) <= workers + 1);
            drop(occupied);
            until(|| threads.load(Ordering::SeqCst) == 0);
        });
    });
}

/// Each waits for a task that only a cancellation ends: with the hook, without, and in sections of `blocking`.
#[test]
fn l4_a_shutdown_frees_every_kind_of_blocked_poll() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let (begins, begun) = channel();
        let alive = Drops::default();
        let count = workers.max(4);
        for kind in 0..count {
            let (begins, witness) = (begins.clone(), alive.witness());
            let inner = pool.clone();
            let blocks = async move {
                let _witness = witness;
                block_for_ever(&inner, kind, || begins.send(()).unwrap());
            };
            pool.spawn(blocks).detach();
        }
        (0..count).for_each(|_| next(&begun));
        assert!(pool.shutdown_timeout(LIMIT));
        assert_eq!(alive.count(), count);
    });
}

fn block_for_ever(pool: &Pool, kind: usize, begins: impl FnOnce()) {
    let (ends, ended) = channel::<()>();
    let child = pool.spawn(async move {
        let _ends = ends;
        pending::<()>().await;
    });
    begins();
    let wait = |child: Task<()>| {
        child.detach();
        assert!(ended.recv().is_err());
    };
    match kind % 4 {
        0 => _ = runnext::block_on(child.fallible()),
        1 => _ = futures_lite::future::block_on(child.fallible()),
        2 => wait(child),
        _ => runnext::blocking(|| wait(child)),
    }
}

/// What was injected for a blocked worker goes with the pool while it is still being asked for.
#[test]
fn a_shutdown_in_the_middle_of_compensation_loses_nobody() {
    for_each_blocking_setting(Workers::Any, |setting| {
        for round in 0..20 {
            let (pool, threads) =
                counting_threads(retiring(setting, Duration::ZERO).max_threads(64));
            let workers = setting.workers;
            within(LIMIT, &pool.clone(), move || {
                let tasks: Vec<_> = (0..2 * workers + 4).map(|_| block_in_vain(&pool)).collect();
                let ticks = pool.stats().gate_ticks;
                until(|| {
                    let stats = pool.stats();
                    stats.gate_ticks >= ticks + round % 5 || stats.live_tasks_count == 0
                });
                drop(tasks);
                pool.shutdown();
                assert_at_rest(&pool);
                assert_eq!(threads.load(Ordering::SeqCst), 0);
            });
        }
    });
}

/// A task that blocks for a moment if it ever begins, and then queues another one.
fn block_in_vain(pool: &Pool) -> Task<()> {
    let inner = pool.clone();
    pool.spawn(async move {
        std::thread::sleep(Duration::from_micros(300));
        runnext::blocking(|| std::thread::sleep(Duration::from_micros(300)));
        inner.spawn(async {}).detach();
    })
}
