//! Lost wake-ups and work that nobody takes although a worker is free.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use runnext::{Pool, yield_now};

use crate::support::*;

/// A victim that waits is woken by a task which then blocks its worker until the victim has run.
fn wake_and_block(pool: &Pool, parked: bool) {
    let (notify, inner) = (Notify::default(), pool.clone());
    let (waits, waiting) = channel();
    let (runs, ran) = channel();
    let wait = notify.clone();
    pool.spawn(async move {
        waits.send(()).unwrap();
        wait.notified().await;
        runs.send(()).unwrap();
    })
    .detach();
    next(&waiting);
    let blocker = pool.spawn(async move {
        if parked {
            until_parked(&inner, 1);
        }
        notify.notify();
        next(&ran);
    });
    pool.block_on(blocker);
}

/// tokio-rs/tokio#4941: a task woken into the slot never runs while its waker blocks; tokio's own test needs other
/// tasks that keep a worker awake.
#[test]
fn tokio_4941_a_task_woken_by_a_blocked_waker_runs_elsewhere() {
    on_each_pool(Workers::Several, |pool| {
        (0..100).for_each(|i| wake_and_block(pool, i % 2 == 0));
    });
}

#[test]
fn tokio_4941_also_while_others_keep_the_workers_awake() {
    on_each_pool(Workers::Several, |pool| {
        let stop = Arc::new(AtomicBool::new(false));
        let churn = thread::spawn({
            let (pool, stop) = (pool.clone(), stop.clone());
            move || {
                while !stop.load(Ordering::Relaxed) {
                    pool.block_on(pool.spawn(yield_now()));
                }
            }
        });
        (0..100).for_each(|_| wake_and_block(pool, false));
        stop.store(true, Ordering::Relaxed);
        churn.join().unwrap();
    });
}

/// tokio-rs/tokio#525: tasks that come from outside land behind one that hogs its worker.
#[test]
fn tokio_525_tasks_from_outside_do_not_wait_for_a_hog() {
    const TASKS: usize = 1000;
    on_each_pool(Workers::Several, |pool| {
        let left = Arc::new(AtomicUsize::new(TASKS));
        let (ends, ended) = channel::<()>();
        for i in 0..TASKS {
            let (left, ends) = (left.clone(), ends.clone());
            // One of them stays until all others are done, whichever queue they may have got to by then.
            let hog = i == TASKS / 3;
            pool.spawn(async move {
                let _end = ends;
                left.fetch_sub(1, Ordering::SeqCst);
                if hog {
                    until(|| left.load(Ordering::SeqCst) == 0);
                }
            })
            .detach();
        }
        drop(ends);
        assert_dropped(&ended);
    });
}

/// Kotlin/kotlinx.coroutines#1652: a submitter wakes a worker that has just found something long to do; what was
/// submitted waits for it, although others sleep.
#[test]
fn kotlinx_coroutines_1652_a_wake_that_meets_a_busy_worker_is_passed_on() {
    on_each_pool(Workers::Several, |pool| {
        let workers = pool.stats().workers_count;
        for round in 0..300 {
            let short_has_run = Arc::new(AtomicBool::new(false));
            let long: Vec<_> = (1..workers)
                .map(|_| {
                    let short_has_run = short_has_run.clone();
                    pool.spawn(async move { until(|| short_has_run.load(Ordering::SeqCst)) })
                })
                .collect();
            spin(round);
            let short = pool.spawn(async move { short_has_run.store(true, Ordering::SeqCst) });
            pool.block_on(short);
            long.into_iter().for_each(|task| pool.block_on(task));
        }
    });
}

/// Passes a time that differs from round to round, so that what follows meets workers in every state.
fn spin(round: usize) {
    (0..round * 37 % 4096).for_each(|_| std::hint::spin_loop());
}

/// Tasks that all have to run at once, made by `make` one after the other.
fn rendezvous(pool: &Pool, make: fn(&Pool, usize, Arc<Barrier>, Sender<()>)) {
    let workers = pool.stats().workers_count;
    let (ends, ended) = channel();
    make(pool, workers, Arc::new(Barrier::new(workers)), ends);
    (0..workers).for_each(|_| next(&ended));
}

/// JuliaLang/julia#62371: a wake that meets an awake thread counts as done, so parallelism never grows.
#[test]
fn julia_62371_parallelism_grows_to_all_workers_from_outside() {
    fn make(pool: &Pool, count: usize, barrier: Arc<Barrier>, ends: Sender<()>) {
        for _ in 0..count {
            let (barrier, ends) = (barrier.clone(), ends.clone());
            let task = pool.spawn(async move {
                barrier.wait();
                ends.send(()).unwrap();
            });
            task.detach();
        }
    }
    on_each_pool(Workers::Many, |pool| {
        (0..100).for_each(|_| rendezvous(pool, make))
    });
}

#[test]
fn julia_62371_parallelism_grows_to_all_workers_from_a_burst() {
    fn make(pool: &Pool, count: usize, barrier: Arc<Barrier>, ends: Sender<()>) {
        let inner = pool.clone();
        let root = pool.spawn(async move {
            for _ in 1..count {
                let (barrier, ends) = (barrier.clone(), ends.clone());
                let task = inner.spawn(async move {
                    barrier.wait();
                    ends.send(()).unwrap();
                });
                task.detach();
            }
            barrier.wait(); // blocks the worker that has all of them in its slot and queue
            ends.send(()).unwrap();
        });
        root.detach();
    }
    on_each_pool(Workers::Many, |pool| {
        (0..100).for_each(|_| rendezvous(pool, make))
    });
}

#[test]
fn julia_62371_parallelism_grows_to_all_workers_along_a_chain() {
    fn make(pool: &Pool, count: usize, barrier: Arc<Barrier>, ends: Sender<()>) {
        let inner = pool.clone();
        let task = pool.spawn(async move {
            if count > 1 {
                make(&inner, count - 1, barrier.clone(), ends.clone());
            }
            barrier.wait();
            ends.send(()).unwrap();
        });
        task.detach();
    }
    on_each_pool(Workers::Many, |pool| {
        (0..100).for_each(|_| rendezvous(pool, make))
    });
}

/// golang/go#43997: short bursts, between which the workers leave the search; two that leave at once each take the
/// other for the one that stays.
#[test]
fn go_43997_no_burst_is_missed_by_leaving_searchers() {
    on_each_pool(Workers::Many, |pool| {
        let workers = pool.stats().workers_count;
        for round in 0..300 {
            let tasks: Vec<_> = (0..workers).map(|_| pool.spawn(async {})).collect();
            tasks.into_iter().for_each(|task| pool.block_on(task));
            spin(round);
            meet(pool);
        }
    });
}

/// kvark/choir#7: the submitter sees no parked thread, because the thread is only about to park.
#[test]
fn choir_7_a_task_submitted_while_the_worker_is_about_to_park() {
    on_each_pool(Workers::Any, |pool| {
        for round in 0..2000 {
            pool.block_on(pool.spawn(async {}));
            spin(round);
        }
    });
}

/// lewissbaker/cppcoro#114: a stale wake is left over, and the count of sleepers drifts away from the truth.
#[test]
fn cppcoro_114_stray_unparks_of_a_workers_thread_change_nothing() {
    on_each_pool(Workers::Any, |pool| {
        for _ in 0..200 {
            let unpark = async {
                let worker = thread::current();
                worker.unpark();
                worker.unpark();
                worker
            };
            let worker = pool.block_on(pool.spawn(unpark));
            until_parked(pool, 0);
            worker.unpark();
            thread::yield_now();
            until_parked(pool, 0);
            let park = async { thread::park_timeout(Duration::from_micros(10)) };
            pool.block_on(pool.spawn(park));
            meet(pool);
        }
    });
}

/// geph-official/smolscale#2: a `block_on` within another never returns.
#[test]
fn smolscale_2_block_on_may_be_nested() {
    on_each_pool(Workers::Any, |pool| {
        let nested = || {
            runnext::block_on(async {
                yield_now().await;
                runnext::block_on(async {
                    yield_now().await;
                    runnext::block_on(yield_now());
                    7
                })
            })
        };
        assert_eq!(nested(), 7);
        assert_eq!(pool.block_on(pool.spawn(async move { nested() })), 7);
    });
}

#[test]
fn smolscale_2_block_on_in_a_task_may_wait_for_another_task() {
    on_each_pool(Workers::Several, |pool| {
        for _ in 0..100 {
            let inner = pool.clone();
            let task = pool.spawn(async move {
                // In this order the awaited task is behind another in this worker's queue.
                let first = inner.spawn(yield_now());
                let second = inner.spawn(async { 7 });
                let seven = inner.block_on(second);
                inner.block_on(first);
                seven
            });
            assert_eq!(pool.block_on(task), 7);
        }
    });
}

/// A worker with work of its own never looks at others' queues, only at the injector: what waits behind a `block_on`
/// reaches it because it is handed over.
#[test]
fn smolscale_2_block_on_hands_over_to_workers_that_never_search() {
    on_each_pool(Workers::Several, |pool| {
        let stop = yield_until_stopped(pool, pool.stats().workers_count - 1);
        for _ in 0..100 {
            let inner = pool.clone();
            let task = pool.spawn(async move {
                let tasks = [1, 2, 3].map(|i| inner.spawn(async move { i }));
                tasks.map(runnext::block_on).iter().sum::<usize>()
            });
            assert_eq!(pool.block_on(task), 6);
        }
        stop();
    });
}

/// monoio-rs/monoio#146: a wake during the task's own poll is ignored.
#[test]
fn monoio_146_a_wake_during_its_own_poll_polls_again() {
    on_each_pool(Workers::Any, |pool| {
        let wakes: [fn(&std::task::Waker); 3] = [
            |waker| waker.wake_by_ref(),
            |waker| {
                let waker = waker.clone();
                waker.wake();
            },
            |waker| {
                let waker = waker.clone();
                thread::spawn(move || waker.wake()).join().unwrap();
            },
        ];
        for wake in wakes {
            let mut polls = 0;
            let task = pool.spawn(poll_fn(move |cx| {
                polls += 1;
                wake(cx.waker());
                wake(cx.waker());
                if polls < 10 {
                    Poll::Pending
                } else {
                    Poll::Ready(polls)
                }
            }));
            assert_eq!(pool.block_on(task), 10);
        }
    });
}
