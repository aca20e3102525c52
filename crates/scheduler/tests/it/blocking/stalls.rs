//! What the pool tells of polls that hold others up: `on_stall` while it happens, and `dump` on demand.

use std::collections::HashMap;
use std::future::pending;
use std::panic::Location;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use runnext::{Dump, Pool, StallInfo, StallKind, WorkerState};

use super::*;
use crate::support::*;

/// A pool that sends what it reports, with 64 threads at most.
fn reporting(setting: &Setting) -> (Pool, Receiver<StallInfo>) {
    let (reports, reported) = channel();
    let builder = setting.builder().max_threads(64).name_prefix("stalling-");
    let builder = builder.on_stall(move |stall| drop(reports.send(stall.clone())));
    (builder.build().unwrap(), reported)
}

/// The next report of a task that was spawned there.
fn report_of(reported: &Receiver<StallInfo>, place: &Location<'_>) -> StallInfo {
    let mut reports = reported.iter();
    reports
        .find(|stall| stall.spawned_at == Some(place))
        .expect("the pool is there")
}

/// Where [`occupy`] spawns, and where [`spin`] does.
fn place_of<T>(occupy: impl FnOnce() -> T, pool: &Pool) -> (T, &'static Location<'static>) {
    let occupied = occupy();
    let running = |worker: &runnext::WorkerDump| worker.spawned_at;
    let place = pool.dump().workers.iter().find_map(running);
    (occupied, place.expect("a worker runs it"))
}

#[test]
fn a_poll_that_sleeps_is_reported_as_blocked_and_one_that_computes_as_busy() {
    for_each_blocking_setting(Workers::One, |setting| {
        let (pool, reported) = reporting(setting);
        within(LIMIT, &pool.clone(), move || {
            let (occupied, place) = place_of(|| occupy(&pool), &pool);
            let task = pool.spawn(async {});
            let stall = report_of(&reported, place);
            assert_eq!(
                (stall.worker, stall.kind),
                (0, StallKind::Blocked),
                "{stall}"
            );
            assert_eq!(stall.thread_name, "stalling-0");
            assert!(stall.elapsed >= Duration::from_millis(1), "{stall}");
            let text = stall.to_string();
            for part in ["`stalling-0`", "blocked", &place.to_string()] {
                assert!(text.contains(part), "`{part}` is missing from: {text}");
            }
            drop(occupied);
            pool.block_on(task);
            until(|| pool.stats().workers_count == 1);

            let (stop, place) = place_of(|| spin(&pool, 1), &pool);
            let task = pool.spawn(async {});
            let stall = report_of(&reported, place);
            assert_eq!(stall.kind, StallKind::Busy, "{stall}");
            stop();
            pool.block_on(task);
            pool.shutdown();
        });
    });
}

/// With no more workers to be had, what waits behind it waits.
#[test]
fn a_poll_that_says_that_it_blocks_is_reported_too() {
    for_each_blocking_setting(Workers::One, |setting| {
        let (reports, reported) = channel();
        let builder = setting.builder().max_threads(1);
        let builder = builder.on_stall(move |stall| _ = reports.send(stall.kind));
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            let (begins, begun) = channel();
            let (release, released) = channel::<()>();
            let blocks = pool.spawn(async move {
                begins.send(()).unwrap();
                runnext::blocking(|| released.recv()).unwrap_err();
            });
            next(&begun);
            let waits = pool.spawn(async {});
            assert_eq!(next(&reported), StallKind::Blocked);
            drop(release);
            pool.block_on(blocks);
            pool.block_on(waits);
            pool.shutdown();
        });
    });
}

#[test]
fn a_poll_is_reported_once_however_long_it_takes() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let (pool, reported) = reporting(setting);
        let workers = setting.workers;
        within(LIMIT, &pool.clone(), move || {
            let (stop, place) = place_of(|| spin(&pool, workers), &pool);
            let task = pool.spawn(async {});
            let ticks = pool.stats().gate_ticks;
            until(|| pool.stats().gate_ticks > ticks + 40);
            stop();
            pool.block_on(task);
            pool.shutdown();
            drop(pool);
            let mut times = HashMap::new();
            for stall in reported
                .iter()
                .filter(|stall| stall.spawned_at == Some(place))
            {
                *times.entry(stall.worker).or_insert(0) += 1;
            }
            assert!(!times.is_empty(), "nobody was reported");
            assert!(times.values().all(|times| *times == 1), "{times:?}");
        });
    });
}

/// Makes a task wait behind the only worker's poll, for a report.
fn stall(pool: &Pool) {
    until(|| pool.stats().workers_count == 1);
    let occupied = occupy(pool);
    pool.block_on(pool.spawn(async {}));
    drop(occupied);
}

/// A pool whose reports are answered by `answer`, and which stalls a few times.
fn answered(
    setting: &Setting,
    answer: impl Fn(&Pool) + Send + Sync + 'static,
) -> (Pool, Receiver<()>) {
    let own: Arc<OnceLock<Pool>> = Arc::default();
    let (answers, answered) = channel();
    let inner = own.clone();
    let builder = setting.builder().max_threads(64).on_stall(move |_| {
        let _ = answers.send(()); // the test has perhaps seen enough
        answer(inner.wait());
    });
    let pool = builder.build().unwrap();
    own.set(pool.clone()).unwrap();
    (pool, answered)
}

/// Each stall is answered, and the pool then comes to rest.
fn assert_answers_again_and_again(pool: Pool, answers: Receiver<()>) {
    within(LIMIT, &pool.clone(), move || {
        for _ in 0..3 {
            stall(&pool);
            next(&answers);
        }
        pool.shutdown();
        assert_at_rest(&pool);
    });
}

#[test]
fn a_callback_that_panics_is_called_again() {
    for_each_blocking_setting(Workers::One, |setting| {
        let (pool, answers) = answered(setting, |_| {
            panic!("a panic in `on_stall`, which the test wants")
        });
        assert_answers_again_and_again(pool, answers);
    });
}

#[test]
fn a_callback_may_use_its_pool() {
    for_each_blocking_setting(Workers::One, |setting| {
        let (pool, answers) = answered(setting, |pool| {
            pool.block_on(pool.spawn(async {}));
            assert!(pool.stats().workers_count > 0);
            assert!(!pool.dump().workers.is_empty());
            pool.set_threads(1, 64).unwrap();
        });
        assert_answers_again_and_again(pool, answers);
    });
}

#[test]
fn a_callback_may_shut_its_pool_down() {
    for_each_blocking_setting(Workers::One, |setting| {
        let (pool, answers) = answered(setting, Pool::shutdown);
        within(LIMIT, &pool.clone(), move || {
            let occupied = occupy(&pool);
            pool.spawn(async {}).detach();
            next(&answers);
            until(|| pool.is_shutdown());
            drop(occupied);
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn a_callback_that_blocks_holds_nobody_up_but_the_reports() {
    for_each_blocking_setting(Workers::One, |setting| {
        let latch = Arc::new(OnceLock::new());
        let waits = latch.clone();
        let (pool, answers) = answered(setting, move |_| _ = waits.wait());
        within(LIMIT, &pool.clone(), move || {
            stall(&pool);
            next(&answers);
            for _ in 0..100 {
                stall(&pool); // more than are kept
            }
            latch.set(()).unwrap();
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

/// The report that its thread is busy with may end, the others need not be made any more.
#[test]
fn a_shutdown_does_not_wait_for_reports_that_have_not_begun() {
    for_each_blocking_setting(Workers::One, |setting| {
        let go: Arc<OnceLock<()>> = Arc::default();
        let waits = go.clone();
        let (pool, answers) = answered(setting, move |_| _ = waits.wait());
        within(LIMIT, &pool.clone(), move || {
            for _ in 0..10 {
                stall(&pool);
            }
            next(&answers);
            let shutdown = std::thread::spawn({
                let pool = pool.clone();
                move || pool.shutdown()
            });
            until(|| pool.stats().workers_count == 0);
            go.set(()).unwrap();
            shutdown.join().unwrap();
            drop(pool);
            assert_eq!(answers.try_iter().count(), 0);
        });
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_pool_with_a_callback_whose_gate_cannot_be_started_is_refused() {
    const STACK: usize = crate::bad_use::LARGE_STACK;
    let test = "blocking::stalls::a_pool_with_a_callback_whose_gate_cannot_be_started_is_refused";
    let output = fresh_process(test, || {
        crate::bad_use::limit_memory(STACK as u64 * 5 / 2); // a worker, and who makes the reports
        let builder = Pool::builder()
            .threads(1)
            .stack_size(STACK)
            .name_prefix("half-");
        let error = builder
            .on_stall(|_| {})
            .build()
            .expect_err("there is no room");
        assert!(error.to_string().contains("the gate"), "{error}");
        until(|| threads_named("half-") == 0);
    });
    assert!(output.status.success(), "{output:#?}");
}

/// Nothing waits behind the poll at first, so nobody wakes the gate to see it.
#[test]
fn a_poll_ages_from_its_begin_though_the_gate_sleeps() {
    const AGE: Duration = Duration::from_millis(20);
    for_each_blocking_setting(Workers::One, |setting| {
        let (pool, reported) = reporting(setting);
        within(LIMIT, &pool.clone(), move || {
            until_parked(&pool, 0);
            let (occupied, place) = place_of(|| occupy(&pool), &pool);
            let seen = std::time::Instant::now();
            until(|| seen.elapsed() >= AGE);
            let age = pool.dump().workers[0].poll_age;
            assert!(age >= Some(AGE), "{age:?}");
            let task = pool.spawn(async {}); // wakes the gate
            let stall = report_of(&reported, place);
            assert!(stall.elapsed >= AGE, "{stall}");
            drop(occupied);
            pool.block_on(task);
        });
    });
}

/// The first worker's part of `dump`, once it is as `expected`.
fn until_first_is(pool: &Pool, expected: WorkerState) -> Dump {
    until(|| pool.dump().workers[0].state == expected);
    pool.dump()
}

#[test]
fn a_dump_shows_what_each_worker_does() {
    for_each_blocking_setting(Workers::One, |setting| {
        let builder = setting.builder().max_threads(2).name_prefix("shown-");
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            let text = until_first_is(&pool, WorkerState::Parked).to_string();
            assert!(
                text.starts_with("shown-0: parked; slot empty, 0 queued\n"),
                "{text}"
            );
            assert!(
                text.ends_with("injector: 0 queued; tasks alive: 0"),
                "{text}"
            );

            let stop = spin(&pool, 1);
            let dump = until_first_is(&pool, WorkerState::Running);
            let place = dump.workers[0].spawned_at.expect("it polls a task");
            assert_eq!(
                (place.file(), dump.live_tasks_count),
                ("crates/scheduler/tests/it/blocking.rs", 1)
            );
            assert!(
                dump.to_string()
                    .contains(&format!("of a task spawned at {place}")),
                "{dump}"
            );
            stop();

            let (release, task) = block(&pool);
            let dump = until_first_is(&pool, WorkerState::Blocked);
            assert!(dump.to_string().starts_with("shown-0: blocked"), "{dump}");
            drop(release);
            pool.block_on(task);

            until(|| pool.stats().workers_count == 1);
            let found = occupy(&pool);
            pool.block_on(pool.spawn(async {})); // behind it, so the gate looks
            let states: Vec<_> = pool
                .dump()
                .workers
                .iter()
                .map(|worker| worker.state)
                .collect();
            assert!(states.contains(&WorkerState::Blocked), "{states:?}");
            let ages = pool.dump().workers;
            assert!(
                ages.iter().any(|worker| worker.poll_age.is_some()),
                "{ages:?}"
            );
            drop(found);
            until(|| {
                let mut states = pool.dump().workers.into_iter().map(|worker| worker.state);
                states.any(|state| state == WorkerState::Away) // a spare
            });
            pool.shutdown();
        });
    });
}

#[test]
fn a_dump_counts_what_waits_and_where_it_was_spawned() {
    for_each_setting(Workers::One, |setting| {
        let pool = setting.pool();
        within(LIMIT, &pool.clone(), move || {
            for _ in 0..3 {
                pool.spawn(pending::<()>()).detach();
            }
            let line = line!() - 2;
            until_parked(&pool, 0);
            let (filled, full): (Sender<()>, _) = channel();
            let (release, released) = channel::<()>();
            let inner = pool.clone();
            let fills = async move {
                for _ in 0..3 {
                    inner.spawn(async {}).detach();
                }
                filled.send(()).unwrap();
                assert!(released.recv().is_err());
            };
            let task = pool.spawn(fills);
            next(&full);
            pool.spawn(async {}).detach();
            let dump = pool.dump();
            let worker = &dump.workers[0];
            let in_slot = usize::from(pool.knobs().run_next());
            assert_eq!(usize::from(worker.slot_full), in_slot, "{dump}");
            assert_eq!(worker.local_queue_depth, 3 - in_slot, "{dump}");
            assert_eq!(
                (dump.injection_queue_depth, dump.live_tasks_count),
                (1, 8),
                "{dump}"
            );
            let [(place, count)] = dump.waited_tasks[..] else {
                panic!("{dump}");
            };
            assert_eq!((place.line(), count), (line, 3), "{dump}");
            drop(release);
            pool.block_on(task);
            pool.shutdown();
        });
    });
}

#[test]
fn a_dump_may_be_taken_at_any_time() {
    for_each_setting(Workers::Any, |setting| {
        let texts: Arc<Mutex<Vec<String>>> = Arc::default();
        let pool = setting.pool();
        within(LIMIT, &pool.clone(), move || {
            let stop = yield_until_stopped(&pool, 8);
            let (inner, inside) = (pool.clone(), texts.clone());
            let dumps = async move { inside.lock().unwrap().push(inner.dump().to_string()) };
            pool.block_on(pool.spawn(dumps));
            for _ in 0..100 {
                texts.lock().unwrap().push(pool.dump().to_string());
            }
            stop();
            pool.shutdown();
            texts.lock().unwrap().push(pool.dump().to_string());
            let workers = pool.stats().workers.len();
            let lines = |text: &String| text.lines().count() > workers;
            assert!(texts.lock().unwrap().iter().all(lines));
        });
    });
}
