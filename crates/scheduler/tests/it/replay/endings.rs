//! Cancellation, shutdown and the last handle.

use std::future::pending;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

use runnext::{Pool, yield_now};

use crate::support::*;

/// compio-rs/compio#489: a waker that outlives the runtime re-creates the cycle between queue and task.
#[test]
fn compio_489_a_waker_that_outlives_the_pool_keeps_no_future() {
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.pool();
        in_time(move || {
            let drops = Drops::default();
            let witness = drops.witness();
            let (wakers, waiting) = channel();
            let task = pool.spawn(async move {
                let _witness = witness;
                pending_with_waker(wakers).await;
            });
            task.detach();
            let waker = next(&waiting);
            drop(pool);
            until(|| drops.count() == 1);
            waker.wake_by_ref();
            let last = waker.clone();
            drop(waker);
            last.wake();
            assert_eq!(drops.count(), 1);
        });
    });
}

/// rust-lang/futures-rs#1470: neither waits nor drops anything.
#[test]
fn futures_rs_1470_nothing_is_shared_with_the_pool_once_shutdown_returns() {
    on_each_pool(Workers::Any, |pool| {
        let shared = Arc::new(());
        for _ in 0..10 {
            let held = shared.clone();
            pool.spawn(async move {
                let _held = held;
                pending::<()>().await;
            })
            .detach();
        }
        pool.shutdown();
        assert_eq!(Arc::strong_count(&shared), 1);
    });
}

/// databendlabs/databend#20103: a task that owns the last handle ends on the pool, which then joins itself.
#[test]
fn databend_20103_a_task_drops_the_last_handle() {
    for_each_setting(Workers::Any, |setting| {
        for in_the_middle in [false, true] {
            let (stops, stopped) = channel::<()>();
            let builder = setting.builder().on_thread_stop(move |_| {
                let _alive = &stops;
            });
            in_time(move || {
                let pool = builder.build().unwrap();
                let (give, given) = channel::<Pool>();
                let (ends, ended) = channel();
                let task = pool.spawn(async move {
                    let last = next(&given);
                    if in_the_middle {
                        drop(last);
                        ends.send(runnext::spawn(async {}).fallible().await)
                            .unwrap();
                    } else {
                        yield_now().await; // and so ends as a future that is dropped
                        ends.send(None).unwrap();
                    }
                });
                task.detach();
                give.send(pool).unwrap();
                assert_eq!(next(&ended), None, "nothing is accepted any more");
                assert_dropped(&stopped); // all threads are gone
            });
        }
    });
}

/// tokio-rs/tokio#3548: a spawn during a shutdown hangs or leaks.
#[test]
fn tokio_3548_spawns_race_with_a_shutdown() {
    for_each_setting(Workers::Any, |setting| {
        for round in 0..30 {
            let pool = setting.pool();
            within(LIMIT, &pool.clone(), move || {
                let drops = Drops::default();
                let barrier = Arc::new(Barrier::new(4));
                let spawners: Vec<_> = (0..3)
                    .map(|spawner| {
                        let (pool, drops, barrier) = (pool.clone(), drops.clone(), barrier.clone());
                        thread::spawn(move || {
                            barrier.wait();
                            spawn_some(&pool, &drops, spawner == 0)
                        })
                    })
                    .collect();
                barrier.wait();
                (0..round * 100).for_each(|_| std::hint::spin_loop());
                pool.shutdown();
                let spawned: usize = spawners
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .sum();
                assert_eq!(drops.count(), spawned);
                assert_at_rest(&pool);
            });
        }
    });
}

/// Spawns 100 tasks, in part from a worker, and awaits each. Gives the number of futures.
fn spawn_some(pool: &Pool, drops: &Drops, inside: bool) -> usize {
    for i in 0..100 {
        let (witness, inner, second) = (drops.witness(), pool.clone(), drops.witness());
        let body = async move {
            let _witness = witness;
            let body = async move {
                let _witness = second;
                yield_now().await;
                i
            };
            match inside {
                true => inner.spawn(body).fallible().await,
                false => Some(body.await),
            }
        };
        let output = pool.block_on(pool.spawn(body).fallible());
        assert!(output.is_none() || output == Some(Some(i)) || output == Some(None));
        assert!(
            output.is_some() || pool.is_shutdown(),
            "cancelled before the shutdown"
        );
    }
    200
}

/// tokio-rs/tokio#3157: cancelling from a plain thread panics, because that has no scheduler.
#[test]
fn tokio_3157_tasks_are_cancelled_from_plain_threads() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        for i in 0..100 {
            let witness = drops.witness();
            let task = pool.spawn(async move {
                let _witness = witness;
                pending::<()>().await;
            });
            thread::spawn(move || match i % 2 {
                0 => drop(task),
                _ => assert_eq!(runnext::block_on(task.cancel()), None),
            })
            .join()
            .unwrap();
        }
        until(|| drops.count() == 100);
    });
}

/// tokio-rs/tokio#3964: a cancellation has no effect when the handle goes at once.
#[test]
fn tokio_3964_a_queued_task_is_cancelled_unpolled() {
    on_each_pool(Workers::One, |pool| {
        let (drops, inner) = (Drops::default(), pool.clone());
        let witness = drops.witness();
        let task = pool.spawn(async move {
            let queued = inner.spawn(async move {
                drop(witness);
                panic!("the task was polled");
            });
            drop(queued); // while its only worker runs us
            yield_now().await;
        });
        pool.block_on(task);
        assert_eq!(drops.count(), 1, "the yield let it be dropped");
    });
}

#[test]
fn tokio_3964_a_running_task_is_cancelled_when_its_poll_ends() {
    on_each_pool(Workers::Any, |pool| {
        let (drops, (begins, begun)) = (Drops::default(), channel());
        let (releases, released) = channel::<()>();
        let witness = drops.witness();
        let task = pool.spawn(async move {
            let _witness = witness;
            begins.send(()).unwrap();
            let _ = released.recv();
            pending::<()>().await;
        });
        next(&begun);
        drop(task);
        assert_eq!(drops.count(), 0, "its poll still runs");
        drop(releases);
        until(|| drops.count() == 1);
    });
}

/// tokio-rs/tokio#1715: a pool that is built and dropped inside a task of another one.
#[test]
fn tokio_1715_a_pool_lives_within_a_task_of_another() {
    for_each_setting(Workers::Any, |setting| {
        let outer = setting.pool();
        let setting = setting.clone();
        within(LIMIT, &outer.clone(), move || {
            let task = outer.spawn(async move {
                let dropped = setting.pool();
                dropped.spawn(pending::<()>()).detach();
                drop(dropped);
                let inner = setting.pool();
                let seven = inner.spawn(async { 7 }).await;
                let eight = inner.block_on(inner.spawn(async { 8 }));
                inner.shutdown(); // it is not our own, so this waits
                assert_at_rest(&inner);
                seven + eight
            });
            assert_eq!(outer.block_on(task), 15);
            outer.shutdown();
        });
    });
}

/// smol-rs/async-executor#60: a wake comes back to the scheduler out of a destructor, while that is borrowed.
#[test]
fn async_executor_60_the_destructor_of_an_output_schedules_on_its_worker() {
    on_each_pool(Workers::Any, |pool| {
        let (ends, ended) = channel();
        for i in 0..100 {
            let (inner, ends, notify) = (pool.clone(), ends.clone(), Notify::default());
            let wait = notify.clone();
            let woken = pool.spawn(async move { wait.notified().await });
            let output = OnDrop::new(move || {
                notify.notify();
                inner.spawn(async move { ends.send(i) }).detach();
            });
            pool.spawn(async move { output }).detach();
            pool.block_on(woken);
        }
        drop(ends);
        let mut ended: Vec<_> = ended.iter().collect();
        ended.sort_unstable();
        assert!(ended.into_iter().eq(0..100));
    });
}
