//! What ours does differently from the original, on purpose. `docs/COMPARE.md` lists each.

use std::env;
use std::panic::resume_unwind;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{TryRecvError, channel};
use std::task::Poll;
use std::thread;

use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{self, RemoteHandle};
use futures::task::{Spawn, SpawnExt};
use runnext_compat::executor::{ThreadPool, ThreadPoolBuilder};

use crate::support::{LIMIT, assert_ends, drain, within_limit, yield_once};

fn one_thread() -> ThreadPool {
    ThreadPool::builder().pool_size(1).create().unwrap()
}

/// The original's worker dies of a panic, and its only one takes the pool with it.
///
/// The panics are not reported: a report may block, on standard error or while it reads symbols, and then another worker of
/// ours would take the next task.
#[test]
fn a_panicking_task_costs_no_thread() {
    let (tx, stops) = channel();
    let mut builder = ThreadPool::builder();
    builder
        .pool_size(1)
        .before_stop(move |index| tx.send(index).unwrap());
    let pool = builder.create().unwrap();
    drop(builder);
    for _ in 0..10 {
        pool.spawn_ok(async { resume_unwind(Box::new("on purpose")) });
    }
    let alive = pool.spawn_with_handle(async { thread::current().name().map(str::to_owned) });
    let name = within_limit("the task after the panics", move || {
        block_on(alive.unwrap())
    });
    assert_eq!(name.as_deref(), Some("runnext-0"));
    assert_eq!(stops.try_recv(), Err(TryRecvError::Empty));
    drop(pool);
    assert_eq!(drain(&stops), [0]);
}

/// The original's worker dies of this too.
#[test]
fn a_panicking_hook_costs_no_thread() {
    let (tx, rx) = channel();
    let pool = ThreadPool::builder()
        .pool_size(2)
        .after_start(move |index| {
            tx.send(index).unwrap();
            panic!("on purpose");
        })
        .create()
        .unwrap();
    let mut indices = drain(&rx);
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
    let alive = pool.spawn_with_handle(async { 7 }).unwrap();
    assert_eq!(
        within_limit("the task after the panics", move || block_on(alive)),
        7
    );
}

/// The original polls again in place, so this task would keep its thread for ever.
#[test]
fn a_task_that_wakes_itself_lets_others_run() {
    let pool = one_thread();
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    let spinner = pool.spawn_with_handle(async move {
        while !seen.load(Ordering::Relaxed) {
            yield_once().await;
        }
    });
    pool.spawn_ok(async move { stop.store(true, Ordering::Relaxed) });
    within_limit("the spinning task", move || block_on(spinner.unwrap()));
}

/// The original's workers have entered an executor, and `block_on` panics there.
#[test]
fn block_on_works_inside_a_task() {
    let pool = ThreadPool::builder().pool_size(2).create().unwrap();
    let (tx, rx) = oneshot::channel();
    let outer = pool.spawn_with_handle(async move { block_on(rx) }).unwrap();
    pool.spawn_ok(async move { tx.send(7).unwrap() });
    assert_eq!(
        within_limit("the nested block_on", move || block_on(outer)),
        Ok(7)
    );
}

/// With one thread, which waits for what it has just spawned; ours and the original's `block_on` alike.
#[test]
fn block_on_may_wait_for_tasks_of_its_own_pool() {
    fn nested(pool: ThreadPool, depth: u32, wait: fn(RemoteHandle<u32>) -> u32) -> u32 {
        match depth {
            0 => 0,
            _ => {
                let inner = pool.clone();
                let task = pool.spawn_with_handle(async move { nested(inner, depth - 1, wait) });
                1 + wait(task.unwrap())
            }
        }
    }
    for wait in [block_on, runnext_compat::executor::block_on] {
        let pool = one_thread();
        let depth = within_limit("nested block_ons", move || nested(pool, 4, wait));
        assert_eq!(depth, 4);
    }
}

/// The original leaves its threads unnamed.
#[test]
fn threads_have_a_name_by_default() {
    let pool = one_thread();
    let named = pool.spawn_with_handle(async { thread::current().name().map(str::to_owned) });
    assert_eq!(block_on(named.unwrap()).as_deref(), Some("runnext-0"));
}

/// The original's wakers hold the pool, even those of tasks that ended.
#[test]
fn a_waker_of_an_ended_task_does_not_keep_the_pool() {
    let (tx, stops) = channel();
    let pool = ThreadPool::builder()
        .pool_size(1)
        .before_stop(move |index| tx.send(index).unwrap())
        .create()
        .unwrap();
    let (hand_out, waker) = channel();
    pool.spawn_ok(future::poll_fn(move |cx| {
        hand_out.send(cx.waker().clone()).unwrap();
        Poll::Ready(())
    }));
    let waker = waker.recv_timeout(LIMIT).unwrap();
    drop(pool);
    assert_eq!(drain(&stops), [0]);
    waker.wake();
}

/// The original has no shutdown; through the pool beneath there is one, and the trait reports it.
#[test]
fn the_pool_beneath_can_be_shut_down() {
    let pool = ThreadPool::new().unwrap();
    let (in_task, dropped) = channel::<()>();
    pool.spawn_ok(async move {
        future::pending::<()>().await;
        drop(in_task);
    });
    pool.as_ref().shutdown();
    assert_ends(&dropped);
    assert!(pool.status().unwrap_err().is_shutdown());
    assert!(pool.spawn(async {}).unwrap_err().is_shutdown());
    let (in_task, dropped) = channel();
    pool.spawn_ok(async move { in_task.send("polled").unwrap() });
    assert_ends(&dropped);
}

/// The original asks nobody but the system. Runs itself once more, in a process with another variable.
#[test]
fn the_environment_may_set_the_default_size() {
    const IN_CHILD: &str = "COMPAT_TEST_CHILD";
    if env::var_os(IN_CHILD).is_some() {
        println!(
            "{:?}, {:?}",
            ThreadPoolBuilder::new(),
            ThreadPool::new().unwrap()
        );
        return;
    }
    let child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "deviations::the_environment_may_set_the_default_size",
            "--nocapture",
        ])
        .env(IN_CHILD, "1")
        .env("RUNNEXT_MIN_THREADS", "3")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    let expected = "ThreadPoolBuilder { pool_size: 3, name_prefix: None }, ThreadPool { size: 3 }";
    assert!(printed.contains(expected), "{child:?}");
}
