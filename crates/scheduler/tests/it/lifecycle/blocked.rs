//! Shutdown while polls sit in `block_on` and wait for tasks of the same pool (L4).

use std::future::{Future, pending};
use std::sync::mpsc::{Sender, channel};

use runnext::{Pool, Task};

use crate::support::*;

/// Spawns, for each worker, a task that blocks its worker until `child` ends. Returns once all of them block.
fn block_workers<F>(pool: &Pool, child: fn() -> F, alive: &Drops)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (blocks, blocking) = channel();
    let workers = pool.stats().workers_count;
    for _ in 0..workers {
        let (blocks, witness) = (blocks.clone(), alive.witness());
        pool.spawn_global(async move {
            let _witness = witness;
            wait_for(runnext::spawn(child()), &blocks);
        })
        .detach();
    }
    (0..workers).for_each(|_| next(&blocking));
}

fn wait_for(task: Task<()>, blocks: &Sender<()>) {
    blocks.send(()).unwrap();
    assert_eq!(runnext::block_on(task.fallible()), None, "cancelled");
}

#[test]
fn l4_a_shutdown_cancels_what_blocked_polls_wait_for() {
    on_each_pool(Workers::Any, |pool| {
        let (alive, workers) = (Drops::default(), pool.stats().workers_count);
        block_workers(pool, pending, &alive);
        assert!(pool.shutdown_timeout(LIMIT));
        assert_eq!(alive.count(), workers);
        assert_at_rest(pool);
    });
}

#[test]
fn l4_so_does_the_drop_of_the_last_handle() {
    for_each_setting(Workers::Any, |setting| {
        let (stops, stopped) = channel::<()>();
        let builder = setting.builder().on_thread_stop(move |_| {
            let _alive = &stops;
        });
        in_time(move || {
            let pool = builder.build().unwrap();
            block_workers(&pool, pending, &Drops::default());
            drop(pool);
            assert_dropped(&stopped); // all workers are gone
        });
    });
}

#[test]
fn l4_a_poll_that_blocks_after_the_shutdown_began_is_freed_too() {
    on_each_pool(Workers::Any, |pool| {
        let (blocks, _blocking) = channel();
        let (runs, running) = channel();
        let (go, gone) = channel::<()>();
        pool.spawn(async move {
            let child = runnext::spawn(pending());
            runs.send(()).unwrap();
            next(&gone);
            wait_for(child, &blocks);
        })
        .detach();
        next(&running);
        let shutdown = std::thread::spawn({
            let pool = pool.clone();
            move || pool.shutdown_timeout(LIMIT)
        });
        until(|| pool.is_shutdown());
        go.send(()).unwrap();
        assert!(shutdown.join().unwrap());
    });
}

/// As above, but the poll waits in the standard library, where no hook of ours sees it: what it has just queued lies in
/// its own worker's slot or queue, and the others leave instead of stealing.
#[test]
fn l4_a_poll_that_waits_in_std_for_what_it_has_queued_is_freed() {
    for_each_setting(Workers::Any, |setting| {
        for queued in [1, 3] {
            let pool = setting.pool();
            in_time(move || {
                let (blocks, blocking) = channel();
                pool.spawn(async move {
                    let (ends, ended) = channel::<()>();
                    for _ in 0..queued {
                        let ends = ends.clone();
                        runnext::spawn(async move { drop(ends) }).detach();
                    }
                    drop(ends);
                    blocks.send(()).unwrap();
                    assert!(ended.recv().is_err(), "all have ended, run or cancelled");
                })
                .detach();
                next(&blocking);
                assert!(pool.shutdown_timeout(LIMIT));
                assert_at_rest(&pool);
            });
        }
    });
}

/// Destructors that wait for the ends of other tasks, as many of them as there are workers and more: whoever cancels one
/// goes on cancelling within it.
#[test]
fn l4_destructors_that_wait_for_what_only_a_cancellation_ends() {
    for_each_setting(Workers::Any, |setting| {
        for each in [1, 3] {
            let (pool, count) = (setting.pool(), each * setting.workers);
            within(LIMIT, &pool.clone(), move || {
                let (ends, ended) = async_channel::bounded::<()>(1);
                let tasks = (0..count).map(|_| {
                    let ended = ended.clone();
                    let waits = OnDrop::new(move || {
                        assert!(
                            runnext::block_on(ended.recv()).is_err(),
                            "it is only dropped"
                        );
                    });
                    pool.spawn(async move {
                        let _waits = waits;
                        pending::<()>().await;
                    })
                });
                let tasks: Vec<_> = tasks.collect();
                let last = pool.spawn(async move {
                    let _ends = ends;
                    pending::<()>().await;
                });
                until_parked(&pool, 0);
                assert!(pool.shutdown_timeout(LIMIT));
                assert_at_rest(&pool);
                drop((tasks, last));
            });
        }
    });
}
