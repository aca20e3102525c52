//! Destructors that come back to the pool: they wake, spawn, cancel, take locks, and shut it down.

use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use runnext::{Pool, Task};

use crate::support::*;

/// Spawns a task that waits for ever and runs `then` when its future is dropped. Returns once it waits.
fn sleeper_with_destructor(pool: &Pool, then: impl FnOnce() + Send + 'static) -> (Task<()>, Waker) {
    let (wakers, waiting) = channel();
    let on_drop = OnDrop::new(then);
    let task = pool.spawn(async move {
        let _on_drop = on_drop;
        pending_with_waker(wakers).await;
    });
    (task, next(&waiting))
}

/// tokio-rs/tokio#2046, #2082: tasks that wake each other from their destructors, under the scheduler's lock.
#[test]
fn tokio_2046_destructors_wake_each_other_during_a_shutdown() {
    for_each_setting(Workers::Any, |setting| {
        for _ in 0..20 {
            let pool = setting.pool();
            within(LIMIT, &pool.clone(), move || {
                let drops = Drops::default();
                let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
                for _ in 0..2 {
                    let (others, witness) = (wakers.clone(), drops.witness());
                    let (task, waker) = sleeper_with_destructor(&pool, move || {
                        let others = others.lock().unwrap().clone();
                        others.into_iter().for_each(Waker::wake);
                        drop(witness);
                    });
                    wakers.lock().unwrap().push(waker);
                    task.detach();
                }
                pool.shutdown();
                assert_eq!(drops.count(), 2);
            });
        }
    });
}

/// nginx/ngx-rust#294: an executor that polled inside `wake`, whose caller held the lock that the poll wanted.
#[test]
fn ngx_rust_294_a_wake_never_polls() {
    on_each_pool(Workers::Any, |pool| {
        let lock = Arc::new(Mutex::new(0));
        let (wakers, waiting) = channel();
        let wait = {
            let lock = lock.clone();
            poll_fn(move |cx| {
                wakers.send(cx.waker().clone()).unwrap();
                match *lock.lock().unwrap() {
                    2 => Poll::Ready(()),
                    _ => Poll::Pending,
                }
            })
        };
        let task = pool.spawn(wait);
        let wake = |waker: Waker| {
            let mut state = lock.lock().unwrap();
            *state += 1;
            waker.wake();
        };
        wake(next(&waiting)); // from outside
        let (lock, waker) = (lock.clone(), next(&waiting));
        let inside = async move {
            let mut state = lock.lock().unwrap();
            *state += 1;
            waker.wake();
        };
        pool.block_on(pool.spawn(inside));
        pool.block_on(task);
    });
}

/// tokio-rs/tokio#3869: destructors ran while a poll that held their lock had been cut short.
#[test]
fn tokio_3869_a_destructor_takes_the_lock_of_a_running_poll() {
    on_each_pool(Workers::Several, |pool| {
        let lock = Arc::new(Mutex::new(false));
        let inner = lock.clone();
        let (result, seen) = channel();
        let (task, _waker) = sleeper_with_destructor(pool, move || {
            result.send(*inner.lock().unwrap()).unwrap();
        });
        task.detach();
        let (begins, begun) = channel();
        let inner = pool.clone();
        let poll = async move {
            let mut ended = lock.lock().unwrap();
            begins.send(()).unwrap();
            until(|| inner.is_shutdown());
            *ended = true;
        };
        pool.spawn(poll).detach();
        next(&begun);
        pool.shutdown();
        assert!(next(&seen), "the running poll came to its end first");
    });
}

#[test]
fn a_destructor_spawns_during_a_shutdown() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        for spawn in [Pool::spawn, Pool::spawn_global] {
            let (inner, witness) = (pool.clone(), drops.witness());
            let (task, _waker) = sleeper_with_destructor(pool, move || {
                spawn(&inner, async move { drop(witness) }).detach();
            });
            task.detach();
        }
        pool.shutdown();
        assert_eq!(drops.count(), 2);
    });
}

#[test]
fn a_destructor_cancels_another_task() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        let witness = drops.witness();
        let (second, _waker) = sleeper_with_destructor(pool, move || drop(witness));
        let (first, _waker) = sleeper_with_destructor(pool, move || drop(second));
        drop(first);
        until(|| drops.count() == 1);
    });
}

#[test]
fn a_destructor_blocks_on_a_future_of_its_own() {
    on_each_pool(Workers::Any, |pool| {
        let (sends, sent) = channel();
        let (task, _waker) = sleeper_with_destructor(pool, move || {
            sends.send(runnext::block_on(async { 7 })).unwrap();
        });
        task.detach();
        pool.shutdown();
        assert_eq!(next(&sent), 7);
    });
}

/// databendlabs/databend#20103: a pool that is shut down from within itself joins itself.
/// A future that owns a server, whose destructor shuts its pool down, is enough.
#[test]
fn databend_20103_a_destructor_shuts_the_pool_down() {
    on_each_pool(Workers::Any, |pool| {
        let shutting_down = |returned: Sender<()>| {
            let inner = pool.clone();
            move || {
                inner.shutdown();
                returned.send(()).unwrap();
            }
        };
        let (returns, returned) = channel();
        // On a worker, because the task is cancelled; then on the last one, because the pool is closing.
        let (cancelled, _waker) = sleeper_with_destructor(pool, shutting_down(returns.clone()));
        let (left, _waker) = sleeper_with_destructor(pool, shutting_down(returns));
        left.detach();
        drop(cancelled);
        (0..2).for_each(|_| next(&returned));
    });
}

/// With no idle worker at the beginning of the shutdown, others than the workers may run the destructor.
#[test]
fn databend_20103_a_destructor_shuts_the_pool_down_whose_workers_are_all_busy() {
    for_each_setting(Workers::Any, |setting| {
        for _ in 0..20 {
            let pool = setting.pool();
            within(LIMIT, &pool.clone(), move || {
                let inner = pool.clone();
                let (returns, returned) = channel();
                let (task, _waker) = sleeper_with_destructor(&pool, move || {
                    inner.shutdown();
                    returns.send(()).unwrap();
                });
                task.detach();
                let busy: Vec<_> = (0..pool.stats().workers_count)
                    .map(|_| occupy(&pool))
                    .collect();
                let began = !pool.shutdown_timeout(Duration::from_millis(1));
                assert!(began, "no worker can have left");
                drop(busy);
                next(&returned);
                pool.shutdown();
                assert_at_rest(&pool);
            });
        }
    });
}

#[test]
fn l2_a_destructor_drops_the_last_handle() {
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.pool();
        in_time(move || {
            let (drops, (last, set)) = (Drops::default(), channel::<Pool>());
            let witness = drops.witness();
            let (task, waker) = sleeper_with_destructor(&pool, move || {
                drop(next(&set));
                drop(witness);
            });
            last.send(pool).unwrap();
            drop(task); // cancels, so that a worker drops the future and with it the pool
            until(|| drops.count() == 1);
            drop(waker);
        });
    });
}

#[test]
fn l1_each_future_is_dropped_without_a_lock_held() {
    // Each destructor calls everything that takes one of the pool's locks.
    on_each_pool(Workers::Any, |pool| {
        let (wakers, drops) = (Arc::new(Mutex::new(Vec::new())), Drops::default());
        for _ in 0..10 {
            let (inner, others, witness) = (pool.clone(), wakers.clone(), drops.witness());
            let (task, waker) = sleeper_with_destructor(pool, move || {
                let wakers: Vec<Waker> = others.lock().unwrap().clone();
                wakers.iter().for_each(Waker::wake_by_ref);
                drop(inner.spawn(pending::<()>()));
                assert!(!format!("{inner:?} {}", inner.stats()).is_empty());
                drop(witness);
            });
            wakers.lock().unwrap().push(waker);
            task.detach();
        }
        pool.shutdown();
        assert_eq!(drops.count(), 10);
    });
}

/// A wake that races with the end of its task's pool: it is either early enough for a poll or does nothing.
#[test]
fn wakes_race_with_the_destructors_of_a_shutdown() {
    for_each_setting(Workers::Any, |setting| {
        for _ in 0..20 {
            let pool = setting.pool();
            within(LIMIT, &pool.clone(), move || {
                let (drops, stop) = (Drops::default(), Arc::new(AtomicBool::new(false)));
                let wakers: Vec<Waker> = (0..8)
                    .map(|_| {
                        let witness = drops.witness();
                        let (task, waker) = sleeper_with_destructor(&pool, || drop(witness));
                        task.detach();
                        waker
                    })
                    .collect();
                let waking = thread::spawn({
                    let stop = stop.clone();
                    move || {
                        while !stop.load(Ordering::Relaxed) {
                            wakers.iter().for_each(Waker::wake_by_ref);
                        }
                    }
                });
                pool.shutdown();
                assert_eq!(drops.count(), 8);
                stop.store(true, Ordering::Relaxed);
                waking.join().unwrap();
                assert_at_rest(&pool);
            });
        }
    });
}
