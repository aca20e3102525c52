//! `blocking` and `about_to_block`: what the others get of it, and that nothing is left behind.

use std::cell::RefCell;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use runnext::{Blocking, Pool, about_to_block, blocking, yield_now};

use super::*;
use crate::support::*;

/// The blocked workers that the pool counts, called on one of its workers.
fn blocked(pool: &Pool) -> usize {
    pool.stats().blocked_workers
}

/// Runs `body` as a task of the pool and waits for it.
fn on_a_worker<T: Send + 'static>(pool: &Pool, body: impl FnOnce(Pool) -> T + Send + 'static) -> T {
    let inner = pool.clone();
    pool.block_on(pool.spawn(async move { body(inner) }))
}

/// Spawns tasks into the slot and the local queue of this worker and, once `hooked`, waits in std until all have run.
fn wait_behind(pool: &Pool, queued: usize, hooked: impl FnOnce(&dyn Fn())) {
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..queued {
        let ran = ran.clone();
        pool.spawn(async move { ran.fetch_add(1, Ordering::SeqCst) })
            .detach();
    }
    hooked(&|| until(|| ran.load(Ordering::SeqCst) == queued));
}

/// Neither the steal delay nor a rescue by the gate nor its glances could bring anybody in time.
#[test]
fn what_waits_behind_a_section_runs_elsewhere_at_once() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let knobs = setting.knobs.clone().with_run_next_steal_delay(LIMIT);
        let knobs = knobs
            .with_stalled_work(LIMIT)
            .with_starvation_detection(false);
        let builder = setting.builder().knobs(knobs).max_threads(64);
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            for queued in [1, 2, 40] {
                on_a_worker(&pool, move |pool| {
                    wait_behind(&pool, queued, |wait| blocking(wait));
                    assert_eq!(blocked(&pool), 0, "after the closure");
                    wait_behind(&pool, queued, |wait| {
                        let _section = about_to_block();
                        wait();
                    });
                    assert_eq!(blocked(&pool), 0, "after the guard");
                });
            }
            pool.shutdown();
            assert_at_rest(&pool);
        });
    });
}

/// Where nothing is made up for, other workers come all the same.
#[test]
fn what_waits_behind_a_section_is_free_to_be_stolen_under_every_switch() {
    for_each_setting(Workers::Several, |setting| {
        let knobs = setting.knobs.clone().with_run_next_steal_delay(LIMIT);
        let knobs = knobs
            .with_stalled_work(LIMIT)
            .with_cooperative_blocking(false)
            .with_starvation_detection(false);
        let pool = setting.builder().knobs(knobs).build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            for queued in [1, 2, 40] {
                on_a_worker(&pool, move |pool| {
                    wait_behind(&pool, queued, |wait| blocking(wait));
                    assert_eq!(blocked(&pool), 0, "nobody counts");
                });
            }
            pool.shutdown();
            assert_at_rest(&pool);
            assert_eq!(pool.stats().injected_workers, 0);
        });
    });
}

#[test]
fn nested_sections_count_once() {
    on_each_blocking_pool(Workers::Any, |pool, _| {
        on_a_worker(pool, |pool| {
            let outer = about_to_block();
            let inner = about_to_block();
            assert_eq!(blocking(|| blocking(|| blocked(&pool))), 1);
            drop(inner);
            assert_eq!(blocked(&pool), 1, "the outer one goes on");
            drop(outer);
            assert_eq!(blocked(&pool), 0);
        });
    });
}

#[test]
fn sections_that_end_in_the_wrong_order_leave_nothing() {
    on_each_blocking_pool(Workers::Any, |pool, _| {
        on_a_worker(pool, |_| {
            let (first, second, third) = (about_to_block(), about_to_block(), about_to_block());
            drop(second);
            drop(first);
            drop(third);
        });
    });
}

#[test]
fn guards_that_are_leaked_leave_nothing() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        for _ in 0..10 * workers {
            on_a_worker(pool, |pool| {
                forget(about_to_block());
                forget(about_to_block());
                assert!(blocked(&pool) >= 1);
            });
        }
        until(|| blocked(pool) == 0);
        // And the workers are as good as ever.
        meet(pool);
    });
}

#[test]
fn a_guard_that_is_dropped_in_a_later_poll_ends_no_other_section_for_ever() {
    thread_local!(static KEPT: RefCell<Vec<Blocking>> = const { RefCell::new(Vec::new()) });
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let tasks: Vec<_> = (0..20 * workers)
            .map(|round| {
                pool.spawn(async move {
                    KEPT.with_borrow_mut(|kept| kept.push(about_to_block()));
                    yield_now().await;
                    blocking(|| match round % 3 {
                        0 => KEPT.take().clear(),
                        1 => drop(KEPT.with_borrow_mut(|kept| kept.pop())),
                        _ => forget(KEPT.with_borrow_mut(|kept| kept.pop())),
                    });
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| pool.block_on(task));
        until(|| blocked(pool) == 0);
    });
}

#[test]
fn a_panic_ends_its_section() {
    on_each_blocking_pool(Workers::Any, |pool, _| {
        on_a_worker(pool, |pool| {
            let panics = || blocking(|| panic!("a panic in a section, which the test wants"));
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
            assert_eq!(blocked(&pool), 0);
        });
        // One that ends the poll as well.
        let task = pool.spawn(async {
            let _section = about_to_block();
            panic!("a panic in a section, which the test wants");
        });
        assert!(catch_unwind(AssertUnwindSafe(|| pool.block_on(task))).is_err());
    });
}

#[test]
fn off_the_workers_a_section_is_nothing() {
    on_each_blocking_pool(Workers::Any, |pool, _| {
        assert_eq!(blocking(|| blocked(pool)), 0);
        let section = about_to_block();
        assert_eq!(blocked(pool), 0);
        assert_eq!(format!("{section:?}"), "Blocking { on_worker: false }");
    });
}

#[test]
fn a_section_counts_for_the_pool_whose_worker_it_is_on() {
    on_each_blocking_pool(Workers::Any, |pool, workers| {
        let other = Pool::builder().threads(workers).build().unwrap();
        let (ours, inner) = (pool.clone(), other.clone());
        let counts = other.spawn(async move {
            let _section = about_to_block();
            // A task of the first pool, which the section must not keep waiting.
            runnext::block_on(ours.spawn(async {}));
            (blocked(&ours), blocked(&inner))
        });
        assert_eq!(pool.block_on(counts), (0, 1));
        other.shutdown();
        assert_at_rest(&other);
    });
}

#[test]
fn a_section_around_a_task_that_is_polled_in_place_counts_once() {
    on_each_blocking_pool(Workers::Any, |pool, _| {
        on_a_worker(pool, |pool| {
            let inner = pool.clone();
            let counted = blocking(|| {
                let within = runnext::block_on(pool.spawn(async move { blocked(&inner) }));
                (within, blocked(&pool))
            });
            assert_eq!(counted.1, 1);
            assert!(counted.0 <= 1);
            assert_eq!(blocked(&pool), 0);
        });
    });
}

/// A task ends while a section of it does not: its destructor runs on the worker that dropped it.
#[test]
fn sections_in_destructors_and_start_hooks_leave_nothing() {
    for_each_blocking_setting(Workers::Any, |setting| {
        let hooked = |_| blocking(|| forget(about_to_block()));
        let builder = setting.builder().max_threads(64);
        let builder = builder.on_thread_start(hooked).on_thread_stop(hooked);
        let pool = builder.build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            let (ends, ended) = channel();
            for _ in 0..10 {
                let ends = ends.clone();
                let on_drop = OnDrop::new(move || blocking(|| ends.send(()).unwrap()));
                let pending = async move {
                    let _on_drop = on_drop;
                    std::future::pending::<()>().await;
                };
                pool.spawn(pending).detach();
            }
            drop(ends);
            meet(&pool);
            until(|| blocked(&pool) == 0);
            pool.shutdown();
            assert_eq!(ended.iter().count(), 10);
            assert_at_rest(&pool);
        });
    });
}

/// A poll in place has a number of its own, behind which the section around it must not be forgotten and found anew.
#[test]
fn a_section_that_goes_on_after_a_poll_in_place_counts_once() {
    on_each_blocking_pool(Workers::One, |pool, _| {
        let (begins, begun) = channel();
        let (release, released) = channel::<()>();
        let inner = pool.clone();
        let blocks = pool.spawn(async move {
            blocking(|| {
                runnext::block_on(inner.spawn(async {}));
                begins.send(()).unwrap();
                assert!(released.recv().is_err());
            });
        });
        next(&begun);
        let stop = spin(pool, 1);
        pool.spawn(async {}).detach(); // nobody is idle, so the gate looks for the blocked
        let ticks = pool.stats().gate_ticks;
        until(|| blocked(pool) > 1 || pool.stats().gate_ticks > ticks + 20);
        assert_eq!(blocked(pool), 1);
        stop();
        drop(release);
        pool.block_on(blocks);
    });
}
