//! Thread-local values: pools in them, and destructors that come back when the pool's own thread-local is out of use.

use std::cell::RefCell;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use runnext::Pool;

use crate::support::*;

thread_local! {
    /// Holds whatever is to be dropped when its thread ends.
    static KEPT: RefCell<Vec<Box<dyn Send>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps `value` until the calling thread ends.
fn keep(value: impl Send + 'static) {
    KEPT.with_borrow_mut(|kept| kept.push(Box::new(value)));
}

/// Keeps `value` on the worker until that ends.
fn keep_on_a_worker(pool: &Pool, value: impl Send + 'static) {
    pool.block_on(pool.spawn(async move { keep(value) }));
}

/// tokio-rs/tokio#593: a runtime in a thread-local value panics when its thread ends.
#[test]
fn tokio_593_a_pool_in_a_thread_local() {
    for_each_setting(Workers::Any, |setting| {
        let (stops, stopped) = channel::<()>();
        let builder = setting.builder().on_thread_stop(move |_| {
            let _alive = &stops;
        });
        in_time(move || {
            let thread = thread::spawn(move || {
                let pool = builder.build().unwrap();
                assert_eq!(pool.block_on(pool.spawn(async { 7 })), 7);
                keep(pool);
            });
            thread.join().unwrap();
            assert_dropped(&stopped); // all workers are gone
        });
    });
}

#[test]
fn tokio_593_a_pool_in_a_thread_local_of_another_pools_worker() {
    for_each_setting(Workers::Any, |setting| {
        let (one, two) = (setting.pool(), setting.pool());
        within(LIMIT, &one.clone(), move || {
            let drops = Drops::default();
            let witness = drops.witness();
            let task = two.spawn(async move {
                let _witness = witness;
                std::future::pending::<()>().await;
            });
            task.detach();
            keep_on_a_worker(&one, two);
            one.shutdown();
            until(|| drops.count() == 1);
        });
    });
}

/// tokio-rs/tokio#6091: a wake or a spawn out of a thread-local's destructor, when the scheduler's own is gone.
#[test]
fn tokio_6091_a_thread_local_of_a_plain_thread_wakes_and_spawns() {
    on_each_pool(Workers::Any, |pool| {
        let (notify, (ends, ended)) = (Notify::default(), channel());
        let wait = notify.clone();
        let woken = pool.spawn(async move { wait.notified().await });
        let inner = pool.clone();
        let thread = thread::spawn(move || {
            keep(OnDrop::new(move || {
                notify.notify();
                inner.spawn(async move { ends.send(()) }).detach();
            }));
        });
        thread.join().unwrap();
        next(&ended);
        pool.block_on(woken);
    });
}

#[test]
fn tokio_6091_a_thread_local_of_a_worker_wakes_and_spawns() {
    for_each_setting(Workers::Any, |setting| {
        let (gone, alive) = (setting.pool(), setting.pool());
        within(LIMIT, &alive.clone(), move || {
            let (wakers, waiting) = channel();
            gone.spawn(pending_with_waker(wakers)).detach();
            let (waker, notify) = (next(&waiting), Notify::default());
            let wait = notify.clone();
            let woken = alive.spawn(async move { wait.notified().await });
            let (ends, ended) = channel();
            let (own, other) = (gone.clone(), alive.clone());
            let on_drop = OnDrop::new(move || {
                waker.wake(); // a task of its own pool, which no longer exists
                notify.notify();
                let own = own.spawn(async {});
                other
                    .spawn(async move { ends.send(own.fallible().await) })
                    .detach();
            });
            keep_on_a_worker(&gone, on_drop);
            gone.shutdown();
            assert_eq!(next(&ended), None);
            alive.block_on(woken);
        });
    });
}

/// The destructor of a thread-local runs when the worker's last line has run; the pool may not join that thread from
/// there (databendlabs/databend#20103).
#[test]
fn databend_20103_a_thread_local_of_a_worker_shuts_its_pool_down() {
    let test =
        "replay::thread_locals::databend_20103_a_thread_local_of_a_worker_shuts_its_pool_down";
    let output = fresh_process(test, || {
        for_each_setting(Workers::Any, |setting| {
            let pool = setting.pool();
            let (inner, (returns, returned)) = (pool.clone(), channel());
            let on_drop = OnDrop::new(move || {
                inner.shutdown();
                returns.send(()).unwrap();
            });
            keep_on_a_worker(&pool, on_drop);
            let begin = pool.clone();
            pool.spawn(async move { begin.shutdown() }).detach(); // does not wait, as it is on a worker
            next(&returned);
        });
    });
    assert!(output.status.success(), "{output:#?}");
}

/// A thread-local value that blocks when it is dropped, until the returned end is dropped.
fn blocking_destructor(pool: &Pool) -> Sender<()> {
    let (release, released) = channel::<()>();
    keep_on_a_worker(pool, OnDrop::new(move || _ = released.recv()));
    release
}

#[test]
fn shutdown_timeout_waits_no_longer_than_asked_for_a_thread_local() {
    on_each_pool(Workers::Any, |pool| {
        let release = blocking_destructor(pool);
        assert!(
            !pool.shutdown_timeout(Duration::from_millis(20)),
            "its thread is still there"
        );
        drop(release);
        assert!(pool.shutdown_timeout(LIMIT));
    });
}

#[test]
fn a_second_shutdown_waits_for_the_same_threads() {
    on_each_pool(Workers::Any, |pool| {
        let release = blocking_destructor(pool);
        let first = thread::spawn({
            let pool = pool.clone();
            move || pool.shutdown()
        });
        until(|| pool.is_shutdown());
        for _ in 0..2 {
            assert!(
                !pool.shutdown_timeout(Duration::from_millis(20)),
                "the first still waits"
            );
        }
        drop(release);
        first.join().unwrap();
        assert!(pool.shutdown_timeout(LIMIT));
    });
}

/// The new pool may lie where the gone one lay; it is not its own for that.
#[test]
fn a_thread_local_of_a_gone_pool_waits_for_a_new_one() {
    for_each_setting(Workers::One, |setting| {
        let (old, builder) = (setting.pool(), setting.builder());
        in_time(move || {
            let (sends, pools) = channel::<Pool>();
            let (tells, told) = channel();
            let destructor = move || _ = tells.send(next(&pools).shutdown_timeout(LIMIT));
            keep_on_a_worker(&old, OnDrop::new(destructor));
            drop(old);
            sends.send(builder.build().unwrap()).unwrap();
            assert!(next(&told), "joined, not only begun");
        });
    });
}
