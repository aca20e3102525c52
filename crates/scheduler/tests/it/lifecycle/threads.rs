//! The worker threads: their names, their hooks, where they run, and that they are gone afterwards.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::panic_any;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::thread;

use runnext::{Builder, Pool};

use crate::support::*;

/// What the hooks did: (index, name of the thread), in order.
type Log = Arc<Mutex<Vec<(usize, String)>>>;

fn note(log: &Log) -> impl Fn(usize) + Send + Sync + use<> {
    let log = log.clone();
    move |index| {
        let name = thread::current().name().unwrap_or_default().to_owned();
        log.lock().unwrap().push((index, name));
    }
}

/// Both hooks, which note each run and then panic if they should.
fn logging(builder: Builder, panic: bool) -> (Builder, Log, Log) {
    let (started, stopped) = (Log::default(), Log::default());
    let hook = |log: &Log| {
        let note = note(log);
        move |index| {
            note(index);
            assert!(!panic, "a panic in a hook, which the test wants");
        }
    };
    let builder = builder
        .on_thread_start(hook(&started))
        .on_thread_stop(hook(&stopped));
    (builder, started, stopped)
}

fn sorted(log: &Log) -> Vec<(usize, String)> {
    let mut log = log.lock().unwrap().clone();
    log.sort();
    log
}

#[test]
fn l3_hooks_run_once_on_each_worker_before_the_shutdown_returns() {
    for_each_setting(Workers::Many, |setting| {
        let (builder, started, stopped) = logging(setting.builder(), false);
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            meet(&pool);
            assert!(stopped.lock().unwrap().is_empty());
            let workers = pool.stats().workers_count;
            pool.shutdown();
            let expected: Vec<_> = (0..workers).map(|i| (i, format!("runnext-{i}"))).collect();
            assert_eq!(
                (sorted(&started), sorted(&stopped)),
                (expected.clone(), expected)
            );
        });
    });
}

/// tikv/tikv#20099: a panic skipped `before_stop`, and what `after_start` had set up leaked.
#[test]
fn tikv_20099_hooks_are_paired_whatever_panics() {
    for_each_setting(Workers::Any, |setting| {
        let (builder, started, stopped) = logging(setting.builder(), true);
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            for _ in 0..10 {
                let task = pool.spawn(async { panic!("a panic in a task, which the test wants") });
                task.detach();
            }
            meet(&pool);
            let workers = pool.stats().workers_count;
            pool.shutdown();
            assert_eq!(sorted(&started), sorted(&stopped));
            assert_eq!(sorted(&started).len(), workers);
        });
    });
}

/// A payload that panics once more when it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("a panic in the destructor of a payload, which the test wants");
    }
}

#[test]
fn l3_a_hook_whose_panic_cannot_be_dropped_still_counts_as_ended() {
    for_each_setting(Workers::Any, |setting| {
        let builder = setting.builder();
        let pool = builder
            .on_thread_start(|_| panic_any(Grenade))
            .on_thread_stop(|_| panic_any(Grenade))
            .build()
            .unwrap();
        within(LIMIT, &pool.clone(), move || {
            meet(&pool);
            pool.shutdown();
        });
    });
}

#[test]
fn l3_a_hook_whose_destructor_panics_still_counts_as_ended() {
    for_each_setting(Workers::Any, |setting| {
        let grenade = Grenade;
        let builder = setting.builder().on_thread_stop(move |_| {
            let _held = &grenade;
            panic_any(Grenade);
        });
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            meet(&pool);
            pool.shutdown();
        });
    });
}

#[test]
fn the_start_hook_comes_before_the_first_task() {
    thread_local!(static READY: Cell<bool> = const { Cell::new(false) });
    for_each_setting(Workers::Any, |setting| {
        let builder = setting.builder().on_thread_start(|_| READY.set(true));
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            for _ in 0..100 {
                assert!(pool.block_on(pool.spawn(async { READY.get() })));
            }
        });
    });
}

#[test]
fn the_stop_hook_comes_after_the_last_task_of_its_thread() {
    thread_local!(static STOPPED: Cell<bool> = const { Cell::new(false) });
    for_each_setting(Workers::Any, |setting| {
        let builder = setting.builder().on_thread_stop(|_| STOPPED.set(true));
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            let (sends, sent) = channel();
            for _ in 0..10 {
                let sends = sends.clone();
                let on_drop = OnDrop::new(move || sends.send(STOPPED.get()).unwrap());
                pool.spawn(async move {
                    let _on_drop = on_drop;
                    std::future::pending::<()>().await;
                })
                .detach();
            }
            drop(sends);
            pool.shutdown();
            assert_eq!(sent.iter().collect::<Vec<_>>(), [false; 10]);
        });
    });
}

#[test]
fn l2_a_stop_hook_shuts_its_own_pool_down() {
    for_each_setting(Workers::Any, |setting| {
        let own: Arc<OnceLock<Pool>> = Arc::default();
        let inner = own.clone();
        let builder = setting.builder().on_thread_stop(move |_| {
            inner.wait().shutdown();
        });
        let pool = builder.build().unwrap();
        own.set(pool.clone()).unwrap();
        within(LIMIT, &pool.clone(), move || pool.shutdown());
    });
}

#[test]
fn hooks_spawn_on_their_own_pool() {
    for_each_setting(Workers::Any, |setting| {
        let own: Arc<OnceLock<Pool>> = Arc::default();
        let (sends, sent) = channel();
        let spawn = move |own: &Arc<OnceLock<Pool>>| {
            let (own, sends) = (own.clone(), sends.clone());
            move |_| {
                let sends = sends.clone();
                own.wait().spawn(async move { sends.send(()) }).detach();
            }
        };
        let builder = setting
            .builder()
            .on_thread_start(spawn(&own))
            .on_thread_stop(spawn(&own));
        let pool = builder.build().unwrap();
        own.set(pool.clone()).unwrap();
        within(LIMIT, &pool.clone(), move || {
            let workers = pool.stats().workers_count;
            (0..workers).for_each(|_| next(&sent));
            pool.shutdown();
            assert!(sent.try_recv().is_err(), "after the shutdown nothing runs");
            assert_at_rest(&pool);
        });
    });
}

#[test]
fn what_hooks_capture_is_dropped_with_the_pool() {
    for_each_setting(Workers::Any, |setting| {
        let drops = Drops::default();
        let (start, stop) = (drops.witness(), drops.witness());
        let builder = setting
            .builder()
            .on_thread_start(move |_| _ = &start)
            .on_thread_stop(move |_| _ = &stop);
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            pool.shutdown();
            assert_eq!(drops.count(), 2);
        });
    });
}

#[test]
fn threads_are_named_by_prefix_and_index() {
    for_each_setting(Workers::Many, |setting| {
        let pool = setting.builder().name_prefix("web ").build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            let workers = pool.stats().workers_count;
            let barrier = Arc::new(Barrier::new(workers));
            let tasks: Vec<_> = (0..workers)
                .map(|_| {
                    let barrier = barrier.clone();
                    pool.spawn(async move {
                        barrier.wait();
                        thread::current().name().unwrap_or_default().to_owned()
                    })
                })
                .collect();
            let names: BTreeSet<_> = tasks.into_iter().map(|task| pool.block_on(task)).collect();
            assert_eq!(names, (0..workers).map(|i| format!("web {i}")).collect());
        });
    });
}

#[test]
fn the_stack_is_as_large_as_asked_for() {
    const ASKED: usize = 32 << 20;
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.builder().stack_size(ASKED).build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            // Four times the default stack, so that with less the process dies here.
            let task = pool.spawn(async {
                let large = [1_u8; ASKED / 4];
                std::hint::black_box(&large).iter().step_by(4096).count()
            });
            assert_eq!(pool.block_on(task), ASKED / 4 / 4096);
        });
    });
}

#[test]
#[cfg(target_os = "linux")]
fn pinned_workers_have_one_processor_each() {
    for_each_setting(Workers::Any, |setting| {
        let pool = setting.builder().pin_threads(true).build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            for _ in 0..10 {
                let processors = pool.spawn(async { core_affinity::get_core_ids() });
                assert_eq!(pool.block_on(processors).map(|ids| ids.len()), Some(1));
            }
        });
    });
}

#[test]
#[cfg(target_os = "linux")]
fn no_thread_outlives_the_shutdown() {
    for_each_setting(Workers::Many, |setting| {
        let pool = setting.builder().name_prefix("outlive-").build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            meet(&pool);
            let gate = usize::from(pool.knobs().run_next()); // all switches off: none
            until(|| threads_named("outlive-") == pool.stats().workers_count + gate);
            pool.shutdown();
            until(|| threads_named("outlive-") == 0); // the system forgets a joined thread a moment later
        });
    });
}
