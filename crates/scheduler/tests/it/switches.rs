//! What run-next changes and what it does not: which items go to the slot, what order that gives, who may steal from
//! it, and that no chain of hops keeps older work waiting.

use std::future::Future;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use runnext::{Pool, yield_now};

use crate::support::*;

/// Runs `root` on the pool and gives the order in which it and the tasks that it makes call their [`Diary`].
fn diary<F: Future<Output = ()> + Send + 'static>(
    pool: &Pool,
    root: impl FnOnce(Diary) -> F,
) -> Vec<&'static str> {
    let (write, read) = channel();
    pool.spawn(root(Diary {
        pool: pool.clone(),
        write,
    }))
    .detach();
    read.iter().collect() // until the last task has dropped its end
}

#[derive(Clone)]
struct Diary {
    pool: Pool,
    write: std::sync::mpsc::Sender<&'static str>,
}

impl Diary {
    fn note(&self, name: &'static str) {
        self.write.send(name).expect("the reader is there");
    }

    /// Spawns a task that notes its name.
    fn spawn(&self, name: &'static str) {
        self.spawn_and(name, |_| {});
    }

    /// Spawns a task that notes its name and then does something.
    fn spawn_and(&self, name: &'static str, then: impl FnOnce(&Diary) + Send + 'static) {
        let diary = self.clone();
        let task = async move {
            diary.note(name);
            then(&diary);
        };
        self.pool.spawn(task).detach();
    }
}

#[test]
fn counters_prove_which_switch_is_on() {
    on_each_pool(Workers::Many, |pool| {
        let mut rounds = 0..1000;
        let hops = ping_pong(pool, move || match rounds.next() {
            Some(_) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        });
        pool.block_on(hops);
        let inner = pool.clone();
        let bursts = pool.spawn(async move {
            for _ in 0..100 {
                let tasks: Vec<_> = (0..10).map(|_| inner.spawn(yield_now())).collect();
                for task in tasks {
                    task.await;
                }
            }
        });
        pool.block_on(bursts);
        let total = pool.stats().total;
        if pool.knobs().run_next() {
            assert!(
                total.slot_polls > 0 && total.slot_refusals > 0,
                "{total:#?}"
            );
        } else {
            assert_no_slot(pool);
            assert!(total.local_schedule_count >= 3000, "{total:#?}");
        }
    });
}

#[test]
fn the_first_of_a_burst_runs_next_and_the_rest_in_order() {
    on_each_pool(Workers::One, |pool| {
        let order = diary(pool, async |diary: Diary| {
            // `next` takes the slot, if there is one, so that the next two are older than its burst.
            diary.spawn_and("next", |diary| {
                for name in ["first", "second", "third"] {
                    diary.spawn(name);
                }
            });
            diary.spawn("old");
            diary.spawn("older than the burst");
        });
        let expected = match pool.knobs().run_next() {
            true => ["next", "first", "old", "older than the burst"],
            false => ["next", "old", "older than the burst", "first"],
        };
        assert_eq!(order[..4], expected);
        assert_eq!(order[4..], ["second", "third"]);
    });
}

#[test]
fn woken_tasks_run_in_the_order_of_their_wakes() {
    on_each_pool(Workers::One, |pool| {
        let order = diary(pool, async |diary: Diary| {
            let sleepers = ["a", "b", "c", "d"].map(|name| {
                let (notify, diary) = (Notify::default(), diary.clone());
                let (pool, wait) = (diary.pool.clone(), notify.clone());
                let body = async move {
                    wait.notified().await;
                    diary.note(name);
                };
                pool.spawn(body).detach();
                notify
            });
            yield_now().await; // behind all four, so they wait by now
            sleepers.iter().for_each(Notify::notify);
        });
        assert_eq!(order, ["a", "b", "c", "d"]);
    });
}

#[test]
fn a_yield_goes_behind_what_waits_on_its_worker() {
    on_each_pool(Workers::One, |pool| {
        let order = diary(pool, async |diary: Diary| {
            diary.spawn("a");
            diary.spawn("b");
            yield_now().await;
            diary.note("again");
        });
        assert_eq!(order, ["a", "b", "again"]);
    });
}

/// The slot is empty when `a` yields, because `a` has come out of it.
#[test]
fn a_yield_goes_behind_what_waits_also_when_the_slot_is_empty() {
    on_each_pool(Workers::One, |pool| {
        let order = diary(pool, async |diary: Diary| {
            let inner = diary.clone();
            let yields = async move {
                inner.note("a");
                yield_now().await;
                inner.note("a again");
            };
            diary.pool.spawn(yields).detach();
            diary.spawn("b");
            diary.spawn("c");
        });
        assert_eq!(order, ["a", "b", "c", "a again"]);
    });
}

/// The order is slot, local queue, injector; but every 61 polls the injector comes first.
#[test]
fn a_task_that_yields_for_ever_does_not_starve_the_injector() {
    on_each_pool(Workers::One, |pool| {
        let order = diary(pool, async |diary: Diary| {
            let remote = diary.clone();
            let body = async move { remote.note("injected") };
            diary.pool.spawn_global(body).detach();
            for _ in 0..61 {
                yield_now().await;
            }
            diary.note("again");
        });
        assert_eq!(order, ["injected", "again"]);
    });
}

#[test]
fn a_yield_with_nothing_older_keeps_the_slot() {
    on_each_pool(Workers::One, |pool| {
        let yields = pool.spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        pool.block_on(yields);
        let total = pool.stats().total;
        let (slot, queue) = (total.slot_polls, total.local_schedule_count);
        match pool.knobs().run_next() {
            true => assert_eq!((slot, queue), (100, 0)),
            false => assert_eq!((slot, queue), (0, 100)),
        }
    });
}

/// Spawns a task that waits to be notified, then runs `then`.
fn sleeper(pool: &Pool, then: impl FnOnce() + Send + 'static) -> Notify {
    let notify = Notify::default();
    let wait = notify.clone();
    let (waits, waiting) = channel();
    let body = async move {
        waits.send(()).unwrap();
        wait.notified().await;
        then();
    };
    pool.spawn(body).detach();
    next(&waiting);
    notify
}

#[test]
fn a_woken_task_runs_elsewhere_before_its_wakers_poll_ends() {
    on_each_pool(Workers::Several, |pool| {
        let (inner, ran) = (pool.clone(), Arc::new(AtomicBool::new(false)));
        let notify = sleeper(pool, {
            let ran = ran.clone();
            move || ran.store(true, Ordering::Release)
        });
        let waker = async move {
            until_parked(&inner, 1); // and nothing else goes on that could keep a worker awake
            notify.notify();
            until(|| ran.load(Ordering::Acquire));
        };
        pool.block_on(pool.spawn(waker));
        let total = pool.stats().total;
        if pool.knobs().run_next() {
            assert!(total.slot_steals > 0, "{total:#?}");
        } else {
            assert!(total.steal_operations > 0, "{total:#?}");
        }
    });
}

/// How long the poll of a waker goes on after the wake.
const LONG: Duration = Duration::from_millis(5);

/// How long a task waits whose waker keeps running.
fn wait_behind_a_long_poll(pool: &Pool) -> Duration {
    let (starts, started) = channel();
    let notify = sleeper(pool, move || starts.send(Instant::now()).unwrap());
    until_parked(pool, 0); // so its first poll has ended: a task woken in its poll stays with its worker
    let woken = pool.block_on(pool.spawn(async move {
        let woken = Instant::now();
        notify.notify();
        until(|| woken.elapsed() >= LONG);
        woken
    }));
    next(&started) - woken
}

/// Rounds, because any single one may fall victim to the machine's own scheduler.
#[test]
fn a_woken_task_waits_less_than_1_ms_behind_a_poll_of_5_ms() {
    on_each_pool(Workers::Several, |pool| {
        until(|| wait_behind_a_long_poll(pool) < Duration::from_millis(1));
    });
}

/// Rounds here as well: a thief that comes too early may be late in any single one.
#[test]
fn no_item_leaves_the_slot_before_the_steal_delay() {
    for_each_setting(Workers::Several, |setting| {
        let knobs = setting.knobs.clone();
        let knobs = knobs
            .with_run_next_steal_delay(LIMIT)
            .with_stalled_work(LIMIT);
        let pool = setting.builder().knobs(knobs).build().unwrap();
        within(LIMIT, &pool.clone(), move || {
            for _ in 0..20 {
                let waited = wait_behind_a_long_poll(&pool);
                assert!(waited >= LONG || !pool.knobs().run_next(), "{waited:?}");
            }
            assert_eq!(pool.stats().total.slot_steals, 0);
        });
    });
}
