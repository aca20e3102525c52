//! Shutdown: what it waits for, what it cancels, and from where it may be called.
//!
//! Its further concerns have modules of their own: polls that block meanwhile, destructors that come back to the
//! pool, and the threads with their hooks.

mod blocked;
mod destructors;
#[cfg(unix)]
mod fork;
mod threads;

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use runnext::{Pool, yield_now};

use crate::support::*;

/// Spawns tasks that wait for ever, and gives their wakers once all of them wait.
fn sleepers(pool: &Pool, count: usize, drops: &Drops) -> Vec<Waker> {
    let (wakers, waiting) = channel();
    for _ in 0..count {
        let (wakers, witness) = (wakers.clone(), drops.witness());
        pool.spawn(async move {
            let _witness = witness;
            pending_with_waker(wakers).await;
        })
        .detach();
    }
    waiting.iter().take(count).collect()
}

#[test]
fn shutdown_waits_for_running_polls() {
    on_each_pool(Workers::Any, |pool| {
        let ended = Arc::new(AtomicBool::new(false));
        let (begins, begun) = channel();
        let poll = {
            let (pool, ended) = (pool.clone(), ended.clone());
            async move {
                begins.send(()).unwrap();
                until(|| pool.is_shutdown()); // so the shutdown finds this poll running
                ended.store(true, Ordering::SeqCst);
            }
        };
        pool.spawn(poll).detach();
        next(&begun);
        pool.shutdown();
        assert!(ended.load(Ordering::SeqCst));
    });
}

#[test]
fn l1_shutdown_drops_each_waiting_future_once() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        let wakers = sleepers(pool, 100, &drops);
        pool.shutdown();
        assert_eq!(drops.count(), 100);
        wakers.iter().for_each(Waker::wake_by_ref);
        drop(wakers);
        assert_eq!(drops.count(), 100);
    });
}

#[test]
fn l1_shutdown_drops_queued_futures_unpolled() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        let polls = Arc::new(AtomicUsize::new(0));
        let workers = pool.stats().workers_count;
        let busy: Vec<_> = (1..workers).map(|_| occupy(pool)).collect();
        let spawn = {
            let (pool, drops, polls) = (pool.clone(), drops.clone(), polls.clone());
            move || {
                for _ in 0..50 {
                    let (witness, polls) = (drops.witness(), polls.clone());
                    pool.spawn(async move {
                        let _witness = witness;
                        polls.fetch_add(1, Ordering::SeqCst);
                    })
                    .detach();
                }
            }
        };
        // The last worker fills slot and local queue, this thread the injector.
        let (fills, filled) = channel();
        let last = {
            let (pool, spawn) = (pool.clone(), spawn.clone());
            async move {
                spawn();
                fills.send(()).unwrap();
                until(|| pool.is_shutdown());
            }
        };
        pool.spawn(last).detach();
        next(&filled);
        spawn();
        let ended = pool.shutdown_timeout(Duration::ZERO);
        assert!(!ended || busy.is_empty());
        drop(busy);
        pool.shutdown();
        assert_eq!((drops.count(), polls.load(Ordering::SeqCst)), (100, 0));
    });
}

#[test]
fn l1_no_future_is_dropped_inside_a_wake() {
    thread_local!(static IN_WAKE: AtomicBool = const { AtomicBool::new(false) });
    let in_wake = || IN_WAKE.with(|flag| flag.load(Ordering::Relaxed));
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.pool();
        within(LIMIT, &pool.clone(), move || {
            let violated = Arc::new(AtomicBool::new(false));
            let (wakers, waiting) = channel();
            for _ in 0..100 {
                let (wakers, violated) = (wakers.clone(), violated.clone());
                let watch = OnDrop::new(move || {
                    violated.fetch_or(in_wake(), Ordering::SeqCst);
                });
                pool.spawn(async move {
                    let _watch = watch;
                    pending_with_waker(wakers).await;
                })
                .detach();
            }
            let wakers: Vec<Waker> = waiting.iter().take(100).collect();
            drop(waiting);
            let waking = thread::spawn({
                let pool = pool.clone();
                move || {
                    // Past the beginning of the shutdown, and each to its very end.
                    let mut rounds_left = 3;
                    while rounds_left > 0 {
                        rounds_left -= usize::from(pool.is_shutdown());
                        IN_WAKE.with(|flag| flag.store(true, Ordering::Relaxed));
                        wakers.iter().for_each(Waker::wake_by_ref);
                        IN_WAKE.with(|flag| flag.store(false, Ordering::Relaxed));
                    }
                }
            });
            pool.shutdown();
            waking.join().unwrap();
            assert!(!violated.load(Ordering::SeqCst));
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn shutdown_timeout_tells_whether_a_poll_still_runs() {
    on_each_pool(Workers::Any, |pool| {
        let release = occupy(pool);
        assert!(!pool.shutdown_timeout(Duration::ZERO));
        assert!(!pool.shutdown_timeout(Duration::from_millis(5)));
        drop(release);
        assert!(pool.shutdown_timeout(LIMIT));
        assert!(pool.shutdown_timeout(Duration::ZERO), "and remains true");
        assert!(
            pool.shutdown_timeout(Duration::MAX),
            "no deadline that far exists"
        );
    });
}

#[test]
fn several_threads_may_wait_for_the_same_shutdown() {
    on_each_pool(Workers::Any, |pool| {
        let release = occupy(pool);
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || {
                    pool.shutdown();
                    pool.stats().live_tasks_count
                })
            })
            .collect();
        until(|| pool.is_shutdown());
        drop(release);
        for thread in waiting {
            assert_eq!(thread.join().unwrap(), 0);
        }
    });
}

#[test]
fn shutdown_from_a_task_of_its_own_begins_but_does_not_wait() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        drop(sleepers(pool, 10, &drops));
        let (returns, returned) = channel();
        let inner = pool.clone();
        pool.spawn(async move {
            inner.shutdown();
            let ended = inner.shutdown_timeout(LIMIT);
            returns.send((inner.is_shutdown(), ended)).unwrap();
        })
        .detach();
        assert_eq!(next(&returned), (true, false));
        pool.shutdown();
        assert_eq!(drops.count(), 10);
    });
}

#[test]
fn a_spawn_after_shutdown_is_cancelled() {
    on_each_pool(Workers::Any, |pool| {
        pool.shutdown();
        let drops = Drops::default();
        for spawn in [Pool::spawn, Pool::spawn_global] {
            let witness = drops.witness();
            let task = spawn(pool, async move { drop(witness) });
            assert_eq!(pool.block_on(task.fallible()), None);
        }
        assert_eq!(drops.count(), 2);
    });
}

#[test]
fn a_spawn_by_the_last_poll_is_cancelled() {
    on_each_pool(Workers::Any, |pool| {
        let (sends, sent) = channel();
        let inner = pool.clone();
        pool.spawn(async move {
            inner.shutdown(); // only begins it, as we are on a worker
            let tasks = [inner.spawn(pending::<()>()), inner.spawn_global(pending())];
            sends.send(tasks).unwrap();
        })
        .detach();
        for task in next(&sent) {
            assert_eq!(pool.block_on(task.fallible()), None);
        }
    });
}

#[test]
fn a_task_that_keeps_yielding_does_not_hold_up_a_shutdown() {
    on_each_pool(Workers::Any, |pool| {
        let polls = Arc::new(AtomicUsize::new(0));
        for _ in 0..4 {
            let polls = polls.clone();
            pool.spawn(async move {
                loop {
                    polls.fetch_add(1, Ordering::Relaxed);
                    yield_now().await;
                }
            })
            .detach();
        }
        until(|| polls.load(Ordering::Relaxed) > 100);
        pool.shutdown();
    });
}

#[test]
fn l2_dropping_the_last_handle_does_not_wait() {
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.pool();
        in_time(move || {
            let drops = Drops::default();
            let wakers = sleepers(&pool, 10, &drops);
            let release = occupy(&pool);
            drop(pool);
            drop(release); // only now may the poll end
            until(|| drops.count() == 10);
            drop(wakers);
        });
    });
}

#[test]
fn a_clone_keeps_the_pool_open() {
    on_each_pool(Workers::Any, |pool| {
        drop(pool.clone());
        assert!(!pool.is_shutdown());
        assert_eq!(pool.block_on(pool.spawn(async { 7 })), 7);
    });
}

#[test]
fn a_pool_may_be_dropped_at_once() {
    for_each_setting(Workers::Many, |setting| {
        for _ in 0..20 {
            let (stops, stopped): (Sender<()>, Receiver<()>) = channel();
            let builder = setting.builder().on_thread_stop(move |_| {
                let _alive = &stops;
            });
            in_time(move || {
                drop(builder.build().unwrap());
                assert_dropped(&stopped);
            });
        }
    });
}

#[test]
fn two_pools_work_for_each_other() {
    for_each_setting(Workers::Any, |setting| {
        let (one, two) = (setting.pool(), setting.pool());
        within(LIMIT, &one.clone(), move || {
            let other = two.clone();
            let task = one.spawn(async move {
                let mut sum = 0;
                for i in 0..500 {
                    sum += other.spawn(async move { i }).await;
                }
                sum
            });
            assert_eq!(two.block_on(task), 499 * 500 / 2);
            two.shutdown();
            assert_eq!(one.block_on(one.spawn(async { 7 })), 7, "not its business");
            one.shutdown();
            [one, two].iter().for_each(assert_at_rest);
        });
    });
}

#[test]
fn a_wake_between_two_pools_stays_harmless_when_one_is_gone() {
    for_each_setting(Workers::Any, |setting| {
        let (gone, alive) = (setting.pool(), setting.pool());
        within(LIMIT, &alive.clone(), move || {
            let (wakers, waiting) = channel();
            gone.spawn(pending_with_waker(wakers)).detach();
            let waker = next(&waiting);
            gone.shutdown();
            let wake = poll_fn(move |_| {
                waker.wake_by_ref();
                Poll::Ready(())
            });
            alive.block_on(alive.spawn(wake));
        });
    });
}
