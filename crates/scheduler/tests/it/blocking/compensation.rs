//! Workers that make up for blocked ones: how many, when, and what happens where none can be had.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use runnext::{Builder, Knobs, Pool};

use super::*;
use crate::support::*;

/// Spawns `count` tasks from outside and waits for them. How long that took.
fn run_from_outside(pool: &Pool, count: usize) -> Duration {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..count).map(|i| pool.spawn(async move { i })).collect();
    let sum: usize = tasks.into_iter().map(|task| pool.block_on(task)).sum();
    assert_eq!(sum, count * (count - 1) / 2);
    begun.elapsed()
}

#[test]
fn a_hundred_tasks_from_outside_do_not_wait_for_workers_that_sleep() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let occupied: Vec<_> = (0..workers).map(|_| occupy(pool)).collect();
        println!("done after {:?}", run_from_outside(pool, 100));
        let stats = pool.stats();
        assert!(
            (1..=workers as u64).contains(&stats.injected_workers),
            "{stats}"
        );
        drop(occupied);
    });
}

/// A task queues some that hop for ever and eight that do not, and its poll goes on by `turn` until the eight have run.
/// Whoever steals for it gets a part of them, and is then never idle again.
fn queue_behind_tasks_that_hop(pool: &Pool, workers: usize, turn: fn()) {
    let (ran, over) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let inner = pool.clone();
    pool.block_on(pool.spawn(async move {
        for _ in 0..2 * workers {
            let over = over.clone();
            let hops = async move {
                while !over.load(Ordering::SeqCst) {
                    runnext::yield_now().await;
                }
            };
            inner.spawn(hops).detach();
        }
        for _ in 0..8 {
            let ran = ran.clone();
            let counts = async move { ran.fetch_add(1, Ordering::SeqCst) };
            inner.spawn(counts).detach();
        }
        while ran.load(Ordering::SeqCst) < 8 {
            turn();
        }
        over.store(true, Ordering::SeqCst);
    }));
}

#[test]
fn workers_that_never_run_dry_come_for_what_waits_behind_one_that_blocks() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        queue_behind_tasks_that_hop(pool, workers, || thread::sleep(Duration::from_millis(1)));
    });
}

#[test]
fn workers_that_never_run_dry_come_for_what_waits_behind_one_that_computes() {
    on_each_blocking_pool(Workers::Many, |pool, workers| {
        if workers > 1 {
            queue_behind_tasks_that_hop(pool, workers, std::hint::spin_loop);
        }
    });
}

/// Tasks block for a while each, so that workers are found blocked, come, and are one too many, all the time.
#[test]
fn a_thousand_tasks_that_block_have_no_more_threads_than_the_maximum() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let max = 8.max(setting.workers + 1);
        let (here, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let builder = retiring(setting, Duration::from_millis(10));
        let builder = builder.max_threads(max).name_prefix("thousand-");
        let (starts, stops) = ((here.clone(), most.clone()), here);
        let builder = builder
            .on_thread_start(move |_| {
                let now = starts.0.fetch_add(1, Ordering::SeqCst) + 1;
                starts.1.fetch_max(now, Ordering::SeqCst);
            })
            .on_thread_stop(move |_| _ = stops.fetch_sub(1, Ordering::SeqCst));
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            let block = || thread::sleep(Duration::from_millis(2));
            let count = if workers == 2 { 1000 } else { 200 };
            let tasks: Vec<_> = (0..count)
                .map(|_| pool.spawn(async move { block() }))
                .collect();
            for task in tasks {
                pool.block_on(task);
                let stats = pool.stats();
                assert!(stats.workers_count <= max, "{stats}");
            }
            let most = most.load(Ordering::SeqCst);
            assert!((workers + 1..=max).contains(&most), "{most} threads");
            until(|| pool.stats().workers_count == workers && pool.stats().blocked_workers == 0);
            #[cfg(target_os = "linux")]
            until(|| threads_named("thousand-") == workers + 1); // and the gate
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn a_pool_at_rest_after_blocking_makes_no_looks() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let occupied: Vec<_> = (0..workers).map(|_| occupy(pool)).collect();
        run_from_outside(pool, 10);
        drop(occupied);
        let rests = || {
            let ticks = pool.stats().gate_ticks;
            thread::sleep(Duration::from_millis(20)); // in which a gate that does not rest looks several times
            pool.stats().gate_ticks == ticks
        };
        until(rests);
        let stats = pool.stats();
        assert_eq!(
            (stats.blocked_workers, stats.workers_count),
            (0, workers),
            "{stats}"
        );
    });
}

/// A worker that stays blocked while nothing waits keeps nobody busy either.
#[test]
fn a_pool_whose_only_work_is_blocked_makes_no_looks() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let occupied: Vec<_> = (0..workers).map(|_| occupy(pool)).collect();
        until(|| {
            let ticks = pool.stats().gate_ticks;
            thread::sleep(Duration::from_millis(20));
            pool.stats().gate_ticks == ticks
        });
        drop(occupied);
    });
}

#[test]
fn workers_that_compute_are_not_taken_for_blocked_ones() {
    for_each_blocking_setting(Workers::Many, |setting| {
        let builder = setting.builder().max_threads(64);
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            let stop = spin(&pool, workers);
            let task = pool.spawn(async {});
            let ticks = pool.stats().gate_ticks;
            until(|| pool.stats().gate_ticks > ticks + 15);
            let stats = pool.stats();
            assert_eq!(
                (stats.injected_workers, stats.blocked_workers),
                (0, 0),
                "{stats}"
            );
            stop();
            pool.block_on(task);
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn one_that_blocks_among_those_that_compute_is_made_up_for() {
    on_each_blocking_pool(Workers::Several, |pool, workers| {
        let stop = spin(pool, workers - 1);
        let occupied = occupy(pool);
        run_from_outside(pool, 10);
        assert_eq!(pool.stats().injected_workers, 1);
        drop(occupied);
        stop();
    });
}

/// Waits in a task for what only others can bring: `wait` gets a function that another task calls.
fn nested(pool: &Pool, workers: usize, wait: fn(Pool) -> u32) {
    let tasks: Vec<_> = (0..2 * workers)
        .map(|_| {
            let inner = pool.clone();
            pool.spawn(async move { wait(inner) })
        })
        .collect();
    tasks
        .into_iter()
        .for_each(|task| assert_eq!(pool.block_on(task), 7));
}

#[test]
fn other_peoples_block_on_may_be_nested() {
    fn wait(pool: Pool) -> u32 {
        let inner = pool.clone();
        futures_lite::future::block_on(pool.spawn(async move {
            futures_lite::future::block_on(inner.spawn_global(async { 3 })) + 4
        }))
    }
    on_each_blocking_pool(Workers::Any, |pool, workers| nested(pool, workers, wait));
}

#[test]
fn channels_of_std_may_be_waited_for() {
    fn wait(pool: Pool) -> u32 {
        let (sender, receiver) = channel();
        for value in [3, 4] {
            let sender = sender.clone();
            pool.spawn(async move { sender.send(value).unwrap() })
                .detach();
        }
        drop(sender);
        receiver.iter().sum()
    }
    on_each_blocking_pool(Workers::Any, |pool, workers| nested(pool, workers, wait));
}

#[test]
fn a_tree_of_block_ons_ends() {
    fn grow(pool: &Pool, depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let spawn = |global: bool| {
            let inner = pool.clone();
            let body = async move { grow(&inner, depth - 1) };
            if global {
                pool.spawn_global(body)
            } else {
                pool.spawn(body)
            }
        };
        let (near, far) = (spawn(false), spawn(true));
        runnext::block_on(far) + runnext::block_on(near)
    }
    on_each_blocking_pool(Workers::Any, |pool, _| {
        let inner = pool.clone();
        let leaves = pool.block_on(pool.spawn(async move { grow(&inner, 3) }));
        assert_eq!(leaves, 8);
    });
}

#[test]
fn a_block_on_that_is_woken_from_outside_goes_on() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let (sender, receiver) = async_channel::bounded::<u32>(1);
        let tasks: Vec<_> = (0..2 * workers)
            .map(|_| {
                let receiver = receiver.clone();
                pool.spawn(async move { runnext::block_on(receiver.recv()).unwrap() })
            })
            .collect();
        (0..2 * workers).for_each(|_| sender.send_blocking(7).unwrap());
        tasks
            .into_iter()
            .for_each(|task| assert_eq!(pool.block_on(task), 7));
    });
}

/// A builder of a pool with one worker, and no other limit than that of `knobs`.
fn one_worker(knobs: Knobs) -> Builder {
    Pool::builder().knobs(knobs).threads(1)
}

/// Both workers that `pool` may have at most block while a task waits, again and again.
fn exhaust(pool: &Pool) {
    for _ in 0..3 {
        let occupied = occupy(pool);
        let more = occupy(pool);
        let task = pool.spawn(async {});
        let ticks = pool.stats().gate_ticks;
        until(|| pool.stats().gate_ticks > ticks + 20);
        let stats = pool.stats();
        assert_eq!(
            (stats.workers_count, stats.blocked_workers),
            (2, 2),
            "{stats}"
        );
        drop(more); // one returns, and work goes on
        pool.block_on(task);
        assert_eq!(pool.stats().workers_count, 2, "the other one still blocks");
        drop(occupied);
    }
    pool.shutdown();
    assert_at_rest(pool);
}

/// The warnings of a process in which `body` runs alone, for the `test` that asks.
fn warnings(test: &str, body: fn()) -> Vec<String> {
    let output = fresh_process(&format!("blocking::compensation::{test}"), body);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let warnings = told.lines().filter(|line| line.contains("warning"));
    warnings.map(str::to_owned).collect()
}

/// What an exhausted pool of two says if `limit` is to be raised.
fn exhausted(limit: &str) -> String {
    format!(
        "runnext: warning: every worker is blocked while work waits, and there may be no more than 2: \
         raise {limit}, or block in fewer tasks at once"
    )
}

#[test]
fn a_pool_that_is_exhausted_says_so_once_and_names_the_programs_limit() {
    let test = "a_pool_that_is_exhausted_says_so_once_and_names_the_programs_limit";
    let told = warnings(test, || {
        let pool = one_worker(Knobs::default()).max_threads(2).build();
        exhaust(&pool.unwrap());
    });
    let limit = "`max_threads`, which the program has set";
    assert_eq!(told, [exhausted(limit)]);
}

#[test]
fn a_pool_that_is_exhausted_names_the_variable_that_limits_it() {
    let test = "a_pool_that_is_exhausted_names_the_variable_that_limits_it";
    let told = warnings(test, || {
        let (knobs, _) = Knobs::from_vars([("DOTNET_ThreadPool_ForceMaxWorkerThreads", "0x2")]);
        exhaust(&one_worker(knobs).build().unwrap());
    });
    let limit = "`DOTNET_ThreadPool_ForceMaxWorkerThreads`";
    assert_eq!(told, [exhausted(limit)]);
}

#[test]
fn a_pool_that_is_exhausted_names_set_threads_if_that_limits_it() {
    let test = "a_pool_that_is_exhausted_names_set_threads_if_that_limits_it";
    let told = warnings(test, || {
        let pool = one_worker(Knobs::default()).max_threads(8).build().unwrap();
        pool.set_threads(1, 2).unwrap();
        exhaust(&pool);
    });
    assert_eq!(told, [exhausted("`max` of `Pool::set_threads`")]);
}

#[test]
fn a_pool_that_is_exhausted_says_nothing_without_warnings() {
    let test = "a_pool_that_is_exhausted_says_nothing_without_warnings";
    let told = warnings(test, || {
        let knobs = Knobs::default().with_warnings_enabled(false);
        exhaust(&one_worker(knobs).max_threads(2).build().unwrap());
    });
    assert_eq!(told, [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn threads_that_cannot_be_started_are_tried_again() {
    const STACK: usize = crate::bad_use::LARGE_STACK;
    let test = "blocking::compensation::threads_that_cannot_be_started_are_tried_again";
    let output = fresh_process(test, || {
        let builder = Pool::builder().threads(1).max_threads(8).stack_size(STACK);
        let pool = builder.build().unwrap();
        let occupied = occupy(&pool);
        crate::bad_use::limit_memory(STACK as u64 / 2);
        let task = pool.spawn(async { 7 });
        until(|| pool.stats().failed_thread_starts >= 3);
        let stats = pool.stats();
        assert_eq!(
            (stats.workers_count, stats.injected_workers),
            (1, 0),
            "{stats}"
        );
        let error = pool.set_threads(2, 8).expect_err("there is no room");
        assert!(error.to_string().contains("os error"), "{error}");
        pool.set_threads(1, 8).unwrap();
        crate::bad_use::limit_memory(STACK as u64 * 4);
        assert_eq!(pool.block_on(task), 7);
        let stats = pool.stats();
        assert_eq!(
            (stats.workers_count, stats.injected_workers),
            (2, 1),
            "{stats}"
        );
        drop(occupied);
        pool.shutdown();
        assert_at_rest(&pool);
    });
    assert!(output.status.success(), "{output:#?}");
}

#[test]
fn without_cooperative_blocking_the_gate_finds_those_that_block_in_a_section_as_well() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let knobs = setting.knobs.clone().with_cooperative_blocking(false);
        let builder = setting.builder().knobs(knobs).max_threads(64);
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            let (releases, tasks): (Vec<_>, Vec<_>) = (0..workers).map(|_| block(&pool)).unzip();
            run_from_outside(&pool, 10);
            assert!(pool.stats().injected_workers > 0);
            drop(releases);
            tasks.into_iter().for_each(|task| pool.block_on(task));
            until(|| pool.stats().blocked_workers == 0);
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn without_starvation_detection_only_those_are_made_up_for_that_say_so() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let knobs = setting.knobs.clone().with_starvation_detection(false);
        let builder = setting.builder().knobs(knobs).max_threads(64);
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            let occupied: Vec<_> = (0..workers).map(|_| occupy(&pool)).collect();
            let task = pool.spawn(async {});
            let ticks = pool.stats().gate_ticks;
            until(|| pool.stats().gate_ticks > ticks + 20);
            assert_eq!(pool.stats().injected_workers, 0);
            drop(occupied);
            pool.block_on(task);

            let (releases, tasks): (Vec<_>, Vec<_>) = (0..workers).map(|_| block(&pool)).unzip();
            run_from_outside(&pool, 10);
            assert!(pool.stats().injected_workers > 0);
            drop(releases);
            tasks.into_iter().for_each(|task| pool.block_on(task));
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn with_both_off_nobody_is_added() {
    for_each_setting(Workers::Any, |setting| {
        let knobs = setting.knobs.clone().with_cooperative_blocking(false);
        let knobs = knobs.with_starvation_detection(false);
        let builder = setting.builder().knobs(knobs).max_threads(64);
        let (pool, workers) = (builder.build().unwrap(), setting.workers);
        within(LIMIT, &pool.clone(), move || {
            let (releases, tasks): (Vec<_>, Vec<_>) = (0..workers).map(|_| block(&pool)).unzip();
            let task = pool.spawn(async {});
            thread::sleep(Duration::from_millis(5)); // in which the gate, if there is one, looks
            let stats = pool.stats();
            assert_eq!(
                (stats.workers_count, stats.injected_workers),
                (workers, 0),
                "{stats}"
            );
            assert_eq!(stats.blocked_workers, 0, "{stats}");
            drop(releases);
            tasks.into_iter().for_each(|task| pool.block_on(task));
            pool.block_on(task);
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn a_worker_that_computes_again_in_the_poll_in_which_it_blocked_is_no_longer_made_up_for() {
    on_each_blocking_pool(Workers::One, |pool, _| {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, (release, released)) = (stop.clone(), channel::<()>());
        let (begins, begun) = channel();
        let blocks = pool.spawn(async move {
            begins.send(()).unwrap();
            assert!(released.recv().is_err());
            begins.send(()).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        next(&begun);
        run_from_outside(pool, 10); // so the gate has found it
        drop(release);
        next(&begun);
        let busy = spin(pool, 1);
        let waits = pool.spawn(async {}); // nobody is idle, so the gate looks
        until(|| pool.stats().blocked_workers == 0);
        stop.store(true, Ordering::Relaxed);
        busy();
        pool.block_on(blocks);
        pool.block_on(waits);
    });
}
