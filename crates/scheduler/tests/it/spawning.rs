//! From a spawn to an output: who may spawn, what a handle does, that nothing runs twice or never, and that the
//! counters tell the truth about it.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use runnext::{Pool, Stats, WorkerStats, yield_now};

use crate::support::*;

#[test]
fn a_task_spawned_outside_gives_its_output() {
    on_each_pool(Workers::Many, |pool| {
        let tasks: Vec<_> = (0..100).map(|i| pool.spawn(async move { i })).collect();
        // Newest first, so that most are awaited after they have completed.
        for (i, task) in tasks.into_iter().enumerate().rev() {
            assert_eq!(pool.block_on(task), i);
        }
    });
}

#[test]
fn a_task_spawned_inside_gives_its_output() {
    on_each_pool(Workers::Many, |pool| {
        let inner = pool.clone();
        let sum = pool.block_on(pool.spawn(async move {
            let tasks: Vec<_> = (0..100).map(|i| inner.spawn(async move { i })).collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await;
            }
            sum
        }));
        assert_eq!(sum, 99 * 100 / 2);
    });
}

#[test]
fn tasks_spawn_tasks_to_any_depth() {
    type Boxed = Pin<Box<dyn Future<Output = usize> + Send>>;
    /// The number of nodes of a tree whose nodes are tasks.
    fn nodes(pool: Pool, depth: usize) -> Boxed {
        Box::pin(async move {
            if depth == 0 {
                return 1;
            }
            let left = pool.spawn(nodes(pool.clone(), depth - 1));
            let right = pool.spawn_global(nodes(pool.clone(), depth - 1));
            left.await + right.await + 1
        })
    }
    on_each_pool(Workers::Many, |pool| {
        let root = pool.spawn(nodes(pool.clone(), 9));
        assert_eq!(pool.block_on(root), 1023);
    });
}

#[test]
fn spawn_global_does_not_wait_for_its_spawner() {
    on_each_pool(Workers::Several, |pool| {
        let inner = pool.clone();
        pool.block_on(pool.spawn(async move {
            let (ran, has_run) = channel();
            inner.spawn_global(async move { ran.send(()) }).detach();
            next(&has_run); // blocks this worker until another has run it
        }));
    });
}

#[test]
fn a_free_spawn_on_a_worker_uses_that_workers_pool() {
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.builder().name_prefix("own-").build().unwrap();
        let name = within(LIMIT, &pool.clone(), move || {
            pool.block_on(pool.spawn(async {
                let task = runnext::spawn(async { thread::current().name().map(str::to_owned) });
                task.await
            }))
        });
        assert!(name.as_ref().unwrap().starts_with("own-"), "{name:?}");
    });
}

#[test]
fn a_free_spawn_elsewhere_uses_the_global_pool() {
    in_time(|| {
        let task = runnext::spawn(async { thread::current().name().map(str::to_owned) });
        let name = runnext::block_on(task);
        assert!(name.as_ref().unwrap().starts_with("runnext-"), "{name:?}");
        assert!(!runnext::global().is_shutdown());
    });
}

#[test]
fn a_detached_task_runs_to_its_end() {
    on_each_pool(Workers::Any, |pool| {
        let (ran, has_run) = channel();
        pool.spawn(async move {
            yield_now().await;
            ran.send(7)
        })
        .detach();
        assert_eq!(next(&has_run), 7);
    });
}

#[test]
fn dropping_a_task_cancels_it() {
    on_each_pool(Workers::Any, |pool| {
        let (held, gone) = channel::<()>();
        let task = pool.spawn(async move {
            let _held = held;
            pending::<()>().await;
        });
        drop(task);
        assert_dropped(&gone);
    });
}

#[test]
fn cancel_waits_until_the_future_is_dropped() {
    on_each_pool(Workers::Any, |pool| {
        for round in 0..100 {
            let drops = Drops::default();
            let witness = drops.witness();
            let task = pool.spawn(async move {
                let _witness = witness;
                pending::<()>().await;
            });
            if round % 2 == 0 {
                until(|| pool.stats().total.polls_count > round / 2); // after its first poll
            }
            assert_eq!(pool.block_on(task.cancel()), None);
            assert_eq!(drops.count(), 1);
        }
    });
}

#[test]
fn cancel_of_a_completed_task_gives_its_output() {
    on_each_pool(Workers::Any, |pool| {
        let task = pool.spawn(async { 7 });
        until(|| task.is_finished());
        assert_eq!(pool.block_on(task.cancel()), Some(7));
    });
}

#[test]
fn a_fallible_task_tells_an_output_from_a_cancellation() {
    on_each_pool(Workers::Any, |pool| {
        assert_eq!(pool.block_on(pool.spawn(async { 7 }).fallible()), Some(7));
        let never = pool.spawn(pending::<()>()).fallible();
        pool.shutdown();
        assert_eq!(pool.block_on(never), None);
    });
}

#[test]
fn each_of_100_000_tasks_runs_exactly_once() {
    const TASKS: usize = 100_000;
    on_each_pool(Workers::Any, |pool| {
        let runs: Arc<[AtomicU8]> = (0..TASKS).map(|_| AtomicU8::new(0)).collect();
        let left = Arc::new(AtomicUsize::new(TASKS));
        let (done, all_done) = channel();
        let spawn_part = move |pool: &Pool, part: usize| {
            for i in (0..TASKS).filter(|i| i % 4 == part) {
                let (runs, left, done) = (runs.clone(), left.clone(), done.clone());
                let body = async move {
                    runs[i].fetch_add(1, Ordering::Relaxed);
                    if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                        done.send(runs).unwrap();
                    }
                };
                match i % 8 {
                    0..4 => pool.spawn(body).detach(),
                    _ => pool.spawn_global(body).detach(),
                }
            }
        };
        // Half from two tasks, half from this thread.
        for part in 0..2 {
            let (inner, spawn_part) = (pool.clone(), spawn_part.clone());
            pool.spawn(async move { spawn_part(&inner, part) }).detach();
        }
        (2..4).for_each(|part| spawn_part(pool, part));
        let runs = next(&all_done);
        assert!(runs.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    });
}

#[test]
fn no_task_is_live_once_all_have_been_awaited() {
    on_each_pool(Workers::Many, |pool| {
        for _ in 0..50 {
            let tasks: Vec<_> = (0..20).map(|_| pool.spawn(yield_now())).collect();
            tasks.into_iter().for_each(|task| pool.block_on(task));
            assert_eq!(pool.stats().live_tasks_count, 0);
        }
    });
}

/// The counts of a snapshot, which may only grow.
fn counts(stats: &Stats) -> Vec<u64> {
    let worker = |worker: &WorkerStats| {
        [
            worker.polls_count,
            worker.slot_polls,
            worker.local_schedule_count,
            worker.slot_refusals,
            worker.slot_steals,
            worker.steal_operations,
            worker.injector_polls,
            worker.searches,
            worker.park_count,
            worker.noop_count,
            worker.wakes_requested,
            worker.spawned,
            worker.finished,
        ]
    };
    let mut counts = vec![stats.num_remote_schedules, stats.remote_wakes_requested];
    counts.extend(worker(&stats.total));
    counts.extend(stats.workers.iter().flat_map(worker));
    counts
}

/// typelevel/cats-effect#2871: a gauge that went below zero, which unsigned shows as an absurdly large one.
#[test]
fn cats_effect_2871_no_count_decreases_and_no_gauge_is_negative() {
    const TASKS: usize = 20_000;
    on_each_pool(Workers::Many, |pool| {
        let stop = Arc::new(AtomicBool::new(false));
        let sampler = thread::spawn({
            let (pool, stop) = (pool.clone(), stop.clone());
            move || {
                let mut before = counts(&pool.stats());
                while !stop.load(Ordering::Relaxed) {
                    let stats = pool.stats();
                    let now = counts(&stats);
                    assert!(
                        before.iter().zip(&now).all(|(a, b)| a <= b),
                        "{before:?}\n{now:?}"
                    );
                    before = now;
                    assert!(stats.live_tasks_count <= TASKS + 1, "{stats:#?}");
                    // Two loads each, so a depth may be too large by what went through between them.
                    let depths = [stats.injection_queue_depth, stats.total.local_queue_depth];
                    assert!(
                        depths.iter().all(|&depth| depth < usize::MAX / 2),
                        "{stats:#?}"
                    );
                    let idle = stats.searching_workers + stats.parked_workers;
                    assert!(idle <= stats.workers_count, "I1: {stats:#?}");
                }
            }
        });
        let inner = pool.clone();
        pool.block_on(pool.spawn(async move {
            let tasks: Vec<_> = (0..TASKS).map(|_| inner.spawn(yield_now())).collect();
            for (i, task) in tasks.into_iter().enumerate() {
                match i % 3 {
                    0 => task.await,
                    1 => drop(task.cancel().await),
                    _ => drop(task),
                }
            }
        }));
        stop.store(true, Ordering::Relaxed);
        sampler.join().unwrap();
    });
}
