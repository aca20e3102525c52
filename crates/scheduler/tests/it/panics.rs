//! Panics: in polls, which go to whoever awaits; in destructors of futures, which are contained; in destructors of
//! outputs, which abort the process rather than get lost.

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::task::Poll;

use runnext::{Pool, Task, yield_now};

use crate::support::*;

/// A payload that is no text.
#[derive(Debug, PartialEq)]
struct Payload(u32);

/// Panics when it is dropped.
#[derive(Debug)]
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("a panic in a destructor, which the test wants");
    }
}

/// The payload of the panic in which awaiting `task` ends.
fn panic_of<T>(pool: &Pool, task: Task<T>) -> Option<Payload> {
    let payload = catch_unwind(AssertUnwindSafe(|| pool.block_on(task))).err()?;
    payload.downcast().ok().map(|payload| *payload)
}

#[test]
fn a_panic_resumes_in_whoever_awaits_the_task() {
    on_each_pool(Workers::Any, |pool| {
        let at_once = pool.spawn(async { panic_any(Payload(1)) });
        assert_eq!(panic_of::<()>(pool, at_once), Some(Payload(1)));
        let later = pool.spawn(async {
            yield_now().await;
            panic_any(Payload(2))
        });
        assert_eq!(panic_of::<()>(pool, later), Some(Payload(2)));
    });
}

#[test]
fn a_panic_passes_through_a_chain_of_tasks() {
    on_each_pool(Workers::Any, |pool| {
        let inner = pool.spawn(async { panic_any(Payload(1)) });
        let middle = pool.spawn(inner);
        let outer = pool.spawn(middle);
        assert_eq!(panic_of::<()>(pool, outer), Some(Payload(1)));
    });
}

#[test]
fn a_panic_passes_through_a_block_on_in_a_task() {
    on_each_pool(Workers::Any, |pool| {
        let task = pool.spawn(async { runnext::block_on(async { panic_any(Payload(1)) }) });
        assert_eq!(panic_of::<()>(pool, task), Some(Payload(1)));
    });
}

#[test]
fn a_panic_before_a_cancellation_is_not_lost() {
    on_each_pool(Workers::Any, |pool| {
        let task = pool.spawn(async { panic_any(Payload(1)) });
        until(|| task.is_finished());
        let cancel = pool.spawn(task.cancel());
        assert_eq!(panic_of::<Option<()>>(pool, cancel), Some(Payload(1)));
    });
}

/// glommio/glommio#37: a panic killed its worker, later tasks had nobody.
#[test]
fn glommio_37_each_worker_survives_a_panic() {
    on_each_pool(Workers::Many, |pool| {
        let workers = pool.stats().workers_count;
        let barrier = Arc::new(Barrier::new(workers));
        let tasks: Vec<Task<()>> = (0..workers)
            .map(|_| {
                let barrier = barrier.clone();
                pool.spawn(async move {
                    barrier.wait(); // so that each worker runs one
                    panic_any(Payload(1));
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(panic_of(pool, task), Some(Payload(1)));
        }
        meet(pool);
    });
}

#[test]
fn a_future_is_dropped_when_its_poll_panics() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        let witness = drops.witness();
        let panics = poll_fn(move |_| {
            let _witness = &witness;
            panic_any(Payload(1))
        });
        let task = pool.spawn(panics);
        assert_eq!(panic_of::<()>(pool, task), Some(Payload(1)));
        assert_eq!(drops.count(), 1);
        assert_eq!(pool.stats().live_tasks_count, 0);
    });
}

#[test]
fn a_panicking_destructor_of_a_future_does_not_reach_the_awaiter() {
    on_each_pool(Workers::Any, |pool| {
        let grenade = Grenade;
        // Held by the future itself and not by its body, so that it outlives the last poll.
        let task = pool.spawn(poll_fn(move |_| {
            let _grenade = &grenade;
            Poll::Ready(7)
        }));
        assert_eq!(pool.block_on(task), 7);
        assert_eq!(pool.stats().live_tasks_count, 0);
        meet(pool);
    });
}

#[test]
fn a_panicking_destructor_does_not_stop_a_cancellation() {
    on_each_pool(Workers::Any, |pool| {
        let (wakers, waiting) = channel();
        let task = pool.spawn(async move {
            let _grenade = Grenade;
            pending_with_waker(wakers).await;
        });
        drop(next(&waiting));
        assert_eq!(pool.block_on(task.cancel()), None);
        meet(pool);
    });
}

#[test]
fn l1_a_panicking_destructor_does_not_stop_a_shutdown() {
    on_each_pool(Workers::Any, |pool| {
        let drops = Drops::default();
        for _ in 0..10 {
            let witness = drops.witness();
            pool.spawn(async move {
                let _held = (witness, Grenade);
                pending::<()>().await;
            })
            .detach();
        }
        pool.shutdown();
        assert_eq!(drops.count(), 10);
    });
}

#[test]
fn a_payload_that_panics_when_dropped_reaches_the_awaiter() {
    on_each_pool(Workers::Any, |pool| {
        let task: Task<()> = pool.spawn(async { panic_any(Grenade) });
        let payload = catch_unwind(AssertUnwindSafe(|| pool.block_on(task))).unwrap_err();
        std::mem::forget(payload.downcast::<Grenade>().expect("it is the same one"));
        meet(pool);
    });
}

/// tokio-rs/tokio#4412: dropping a handle drops the output as well, whose panic hits whoever drops the handle.
/// Nobody else is there to be told, so that is right.
#[test]
fn tokio_4412_dropping_the_handle_of_a_completed_task_drops_its_output() {
    on_each_pool(Workers::Any, |pool| {
        let task = pool.spawn(async { Grenade });
        until(|| task.is_finished());
        let caught = catch_unwind(AssertUnwindSafe(|| drop(task)));
        assert!(caught.is_err());
        meet(pool);
    });
}

/// Whether a process aborts in which a task's output panics when it is dropped, because `let_go` gave up the task's
/// handle before the poll that makes the output came to its end.
#[cfg(unix)]
fn aborts(test: &str, let_go: fn(Task<Grenade>)) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let output = fresh_process(test, || {
        let pool = Pool::builder().threads(1).max_threads(1).build().unwrap();
        let (begins, begun) = channel();
        let (releases, released) = channel::<()>();
        let task = pool.spawn(async move {
            begins.send(()).unwrap();
            let _ = released.recv();
            Grenade
        });
        next(&begun);
        let_go(task);
        drop(releases);
        pool.block_on(pool.spawn(async {})); // behind it, on the only worker
    });
    output.status.signal() == Some(libc::SIGABRT)
}

#[test]
#[cfg(unix)]
fn a_panicking_destructor_of_a_detached_output_aborts() {
    let test = "panics::a_panicking_destructor_of_a_detached_output_aborts";
    assert!(aborts(test, Task::detach));
}

#[test]
#[cfg(unix)]
fn a_panicking_destructor_of_an_output_cancelled_while_it_was_made_aborts() {
    let test = "panics::a_panicking_destructor_of_an_output_cancelled_while_it_was_made_aborts";
    assert!(aborts(test, drop));
}
