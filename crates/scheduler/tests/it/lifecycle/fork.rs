//! F1, F2: a child of `fork` never hangs on a pool of its parent.

use std::future::pending;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use runnext::{Pool, yield_now};

use crate::support::*;

/// Forks. Returns 0 in the child, which does not live for long, and the child's number in the parent.
fn fork() -> libc::pid_t {
    /// Seconds until a child that hangs gets a signal that ends it.
    const PATIENCE: libc::c_uint = 20;
    // SAFETY: the child uses the allocator and threads, which the system's libraries that we test on keep usable.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no process to be had");
    if child == 0 {
        // SAFETY: takes a number.
        unsafe { libc::alarm(PATIENCE) };
    }
    child
}

/// How `child` has ended.
fn wait_for(child: libc::pid_t) -> ExitStatus {
    let mut status = 0;
    // SAFETY: `status` is there for the call to write.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    ExitStatus::from_raw(status)
}

/// Calls `body` in a child of this process, which then exits with 0, or with 1 if `body` panics.
fn in_child(body: impl FnOnce()) -> ExitStatus {
    let child = fork();
    if child == 0 {
        let ended = catch_unwind(AssertUnwindSafe(body));
        // SAFETY: ends the child, without what the parent has registered for its own end.
        unsafe { libc::_exit(ended.is_err().into()) };
    }
    wait_for(child)
}

/// Runs `body` in a fresh process, as the test of this name, and returns what it wrote to standard error. No other test
/// then is in the middle of anything when it forks.
fn alone(test: &str, body: impl FnOnce()) -> String {
    let output = fresh_process(&format!("lifecycle::fork::{test}"), body);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    told
}

/// Does with `pool`, which is gone, all that one can do with a pool.
fn use_in_vain(pool: Pool) {
    assert!(pool.is_shutdown());
    let drops = Drops::default();
    let witness = drops.witness();
    let task = pool.spawn(async move { drop(witness) });
    assert_eq!(drops.count(), 1, "the future is dropped at once");
    assert!(task.is_finished());
    pool.spawn_global(async {}).detach();
    pool.set_threads(1, 1).unwrap_err();
    assert_eq!(pool.stats().spare_workers, 0);
    assert!(pool.dump().workers.is_empty());
    assert_eq!(pool.block_on(async { 7 }), 7);
    assert!(pool.shutdown_timeout(Duration::MAX));
    pool.shutdown();
}

#[test]
fn f1_in_a_child_a_pool_counts_as_shut_down() {
    let told = alone("f1_in_a_child_a_pool_counts_as_shut_down", || {
        let pool = Pool::new().unwrap();
        pool.block_on(pool.spawn(async {}));
        for _ in 0..2 {
            let inner = pool.clone();
            assert!(in_child(|| use_in_vain(inner)).success());
        }
        pool.block_on(pool.spawn(async {})); // and the parent's goes on
    });
    let warnings = told.matches("warning: this process was forked").count();
    assert_eq!(warnings, 2, "once in each child: {told}");
}

#[test]
fn f1_a_wake_or_a_drop_of_an_old_task_does_nothing_in_a_child() {
    alone(
        "f1_a_wake_or_a_drop_of_an_old_task_does_nothing_in_a_child",
        || {
            let pool = Pool::new().unwrap();
            let (wakers, waker) = std::sync::mpsc::channel();
            let task = pool.spawn(pending_with_waker(wakers));
            let waker = next(&waker);
            let status = in_child(|| {
                waker.wake_by_ref();
                drop(task);
                waker.wake();
                assert_eq!(pool.stats().injection_queue_depth, 0);
                drop(pool);
            });
            assert!(status.success(), "{status}");
        },
    );
}

#[test]
fn f1_a_child_that_waits_for_an_old_task_is_told() {
    let told = alone("f1_a_child_that_waits_for_an_old_task_is_told", || {
        let pool = Pool::new().unwrap();
        let task = pool.spawn(pending::<()>());
        assert_eq!(in_child(|| pool.block_on(task)).code(), Some(1));
    });
    assert!(
        told.contains("will not end: this process was forked"),
        "{told}"
    );
}

#[test]
fn f1_the_global_pool_of_a_child_is_its_own() {
    alone("f1_the_global_pool_of_a_child_is_its_own", || {
        let answer = || runnext::block_on(runnext::spawn(async { 7 }));
        assert_eq!(answer(), 7);
        let status = in_child(|| {
            assert_eq!(answer(), 7);
            assert!(in_child(|| assert_eq!(answer(), 7)).success());
            assert_eq!(answer(), 7);
        });
        assert!(status.success(), "{status}");
        assert_eq!(answer(), 7);
    });
}

/// Locks are held and queues are in between at most of these forks.
#[test]
fn f1_a_child_of_a_busy_process_does_not_hang() {
    alone("f1_a_child_of_a_busy_process_does_not_hang", || {
        let pool = Pool::builder().threads(4).build().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        let burst: Vec<_> = (0..8).map(|_| pool.spawn(yield_now())).collect();
                        burst.into_iter().for_each(|task| pool.block_on(task));
                        pool.set_threads(2, 4).unwrap();
                        pool.set_threads(4, 4).unwrap();
                    }
                });
            }
            for _ in 0..50 {
                let inner = pool.clone();
                let status = in_child(|| use_in_vain(inner));
                assert!(status.success(), "{status}");
            }
            over.store(true, Ordering::Relaxed);
        });
    });
}

#[test]
fn f2_a_task_may_fork_and_its_child_build_a_pool() {
    alone("f2_a_task_may_fork_and_its_child_build_a_pool", || {
        let pool = Pool::new().unwrap();
        let inner = pool.clone();
        let forks = pool.spawn(async move {
            let gone = inner.clone();
            let status = in_child(|| {
                let fresh = Pool::new().unwrap();
                assert_eq!(fresh.block_on(fresh.spawn(async { 7 })), 7);
                fresh.shutdown();
                assert_eq!(runnext::block_on(runnext::spawn(async { 7 })), 7);
                use_in_vain(gone);
            });
            assert!(status.success(), "{status}");
            inner.spawn(yield_now()).await; // the parent's worker is one still
        });
        pool.block_on(forks);
    });
}

#[test]
fn f2_a_child_whose_poll_returns_aborts_and_says_why() {
    let told = alone("f2_a_child_whose_poll_returns_aborts_and_says_why", || {
        let pool = Pool::new().unwrap();
        let parent = std::process::id();
        let child = pool.block_on(pool.spawn(async { fork() }));
        assert_eq!(std::process::id(), parent, "the child does not get here");
        assert_eq!(wait_for(child).signal(), Some(libc::SIGABRT));
    });
    assert!(
        told.contains("error: a task has forked and then returned"),
        "{told}"
    );
}
