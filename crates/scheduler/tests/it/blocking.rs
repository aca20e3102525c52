//! Blocking in a poll: hooks, `block_on` in place, and workers that make up for blocked ones.

mod chaos;
mod compensation;
mod crew;
mod hooks;
mod pace;
mod shutdown;
mod stalls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use runnext::{Builder, Knobs, Pool, Task};

use crate::support::*;

/// Calls `body` with each setting that makes up for blocked workers.
fn for_each_blocking_setting(workers: Workers, body: impl Fn(&Setting)) {
    for_each_setting(workers, |setting| {
        if setting.knobs.cooperative_blocking() {
            body(setting);
        }
    });
}

/// A builder for a pool whose spares end after `timeout`.
fn retiring(setting: &Setting, timeout: Duration) -> Builder {
    let knobs = setting.knobs.clone();
    setting
        .builder()
        .knobs(knobs.with_thread_timeout(Some(timeout)))
}

/// Calls `body` with a pool of each setting that makes up for blocked workers, then shuts it down and looks whether
/// everything is as before.
fn on_each_blocking_pool(workers: Workers, body: fn(&Pool, usize)) {
    for_each_blocking_setting(workers, |setting| {
        let workers = setting.workers;
        let pool = setting
            .builder()
            .max_threads(64)
            .build()
            .expect("the threads start");
        let inner = pool.clone();
        within(LIMIT, &pool, move || {
            body(&inner, workers);
            until(|| inner.stats().blocked_workers == 0);
            inner.shutdown();
        });
        assert_at_rest(&pool);
    });
}

/// Occupies a worker with a section of `blocking` until the sender is gone. Returns once that has begun.
fn block(pool: &Pool) -> (Sender<()>, Task<()>) {
    let (release, released) = channel::<()>();
    let (begins, begun) = channel();
    let task = pool.spawn(async move {
        runnext::blocking(|| {
            begins.send(()).unwrap();
            assert!(released.recv().is_err());
        });
    });
    next(&begun);
    (release, task)
}

/// Occupies `count` workers with polls that compute and never wait for a lock. The returned function stops them and
/// waits for their end.
fn spin(pool: &Pool, count: usize) -> impl FnOnce() + use<> {
    let (stop, begun) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let spawn = |_| {
        let (stop, begun) = (stop.clone(), begun.clone());
        pool.spawn(async move {
            begun.fetch_add(1, Ordering::SeqCst);
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        })
    };
    let tasks: Vec<_> = (0..count).map(spawn).collect();
    until(|| begun.load(Ordering::SeqCst) == count);
    move || {
        stop.store(true, Ordering::Relaxed);
        tasks.into_iter().for_each(runnext::block_on);
    }
}

#[test]
fn work_from_outside_runs_while_every_worker_sits_in_std() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let released: Vec<_> = (0..workers).map(|_| occupy(pool)).collect();
        let tasks: Vec<_> = (0..100).map(|i| pool.spawn(async move { i })).collect();
        let sum: usize = tasks.into_iter().map(|task| pool.block_on(task)).sum();
        assert_eq!(sum, 4950);
        let stats = pool.stats();
        assert!(stats.injected_workers > 0, "{stats}");
        drop(released);
    });
}

#[test]
fn nested_block_ons_wait_for_tasks_of_their_own_pool() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let (sender, results) = channel();
        for _ in 0..2 * workers {
            let (inner, sender) = (pool.clone(), sender.clone());
            pool.spawn(async move {
                let innermost = inner.clone();
                let task = inner.spawn_global(async move {
                    runnext::block_on(innermost.spawn_global(async { 20 })) + 1
                });
                sender.send(runnext::block_on(task) * 2).unwrap();
            })
            .detach();
        }
        drop(sender);
        let results: Vec<u32> = results.iter().collect();
        assert_eq!(results, vec![42; 2 * workers]);
    });
}

#[test]
fn a_task_that_waits_on_this_worker_is_polled_in_place() {
    on_each_pool(Workers::One, |pool| {
        let inner = pool.clone();
        let sum = pool.spawn(async move {
            let tasks: Vec<_> = (0..10).map(|i| inner.spawn(async move { i })).collect();
            tasks.into_iter().rev().map(runnext::block_on).sum::<u32>()
        });
        assert_eq!(pool.block_on(sum), 45);
    });
}

#[test]
fn a_chain_of_tasks_that_wait_in_place_does_not_overflow_the_stack() {
    fn link(pool: Pool, depth: u32) -> u32 {
        match depth {
            0 => 0,
            _ => {
                let inner = pool.clone();
                1 + runnext::block_on(pool.spawn(async move { link(inner, depth - 1) }))
            }
        }
    }
    on_each_blocking_pool(Workers::One, |pool, _| {
        let inner = pool.clone();
        let depth = pool.block_on(pool.spawn(async move { link(inner, 2000) }));
        assert_eq!(depth, 2000);
    });
}

#[test]
fn threads_go_when_nobody_blocks_any_more() {
    for_each_setting(Workers::Any, |setting| {
        if !setting.knobs.cooperative_blocking() {
            return;
        }
        let knobs = setting
            .knobs
            .clone()
            .with_thread_timeout(Some(Duration::from_millis(20)));
        let builder = setting
            .builder()
            .knobs(knobs)
            .max_threads(16)
            .name_prefix("going-");
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            let tasks: Vec<_> = (0..50)
                .map(|_| pool.spawn(async { std::thread::sleep(Duration::from_millis(5)) }))
                .collect();
            tasks.into_iter().for_each(|task| pool.block_on(task));
            until(|| pool.stats().workers_count == workers && pool.stats().spare_workers == 0);
            pool.shutdown();
        });
    });
}
