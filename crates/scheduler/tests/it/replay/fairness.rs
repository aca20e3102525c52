//! Starvation, and loads that other executors' schedulers suffered from.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use runnext::{Pool, Task, yield_now};

use crate::support::*;

/// Most polls that older work waits while a chain of hops runs on its worker: the queues have their turn every 61
/// polls.
const FAIR: u64 = 64;

/// smol-rs/smol#171: a future that wakes itself monopolises the executor.
#[test]
fn smol_171_a_greedy_task_lets_others_run() {
    on_each_pool(Workers::Any, |pool| {
        let stop = yield_until_stopped(pool, pool.stats().workers_count);
        // From outside; and in turns with a task that is woken on the greedy one's own worker.
        for _ in 0..20 {
            pool.block_on(pool.spawn(async {}));
            let inner = pool.clone();
            pool.block_on(pool.spawn(async move { inner.spawn(yield_now()).await }));
        }
        stop();
    });
}

/// rust-lang/futures-rs#2593: a self-waking future is given up before it is ready.
#[test]
fn futures_rs_2593_a_future_that_yields_comes_to_its_end() {
    on_each_pool(Workers::Any, |pool| {
        for yields in 0..10 {
            let task = pool.spawn(async move {
                for _ in 0..yields {
                    yield_now().await;
                }
                yields
            });
            assert_eq!(pool.block_on(task), yields);
        }
    });
}

/// Three parties where two keep waking each other; tokio-rs/tokio#2349, #5686: the third never ran.
#[test]
fn tokio_2349_two_tasks_that_wake_each_other_let_a_third_run() {
    on_each_pool(Workers::Any, |pool| {
        let (ping, pong) = (Notify::default(), Notify::default());
        let stop = Arc::new(AtomicBool::new(false));
        let hop = |own: &Notify, other: &Notify| {
            let (own, other, stop) = (own.clone(), other.clone(), stop.clone());
            pool.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    other.notify();
                    own.notified().await;
                }
                other.notify();
            })
        };
        let pair = [hop(&ping, &pong), hop(&pong, &ping)];
        let third = pool.spawn({
            let (inner, stop) = (pool.clone(), stop.clone());
            async move {
                for _ in 0..20 {
                    yield_now().await;
                    inner.spawn_global(async {}).await;
                }
                stop.store(true, Ordering::Relaxed);
            }
        });
        pool.block_on(third);
        pair.into_iter().for_each(|task| pool.block_on(task));
    });
}

/// tokio-rs/tokio#4606: `spawn(..).await` in a loop on every worker.
#[test]
fn tokio_4606_spawn_and_await_in_a_loop_on_every_worker() {
    const ROUNDS: usize = 1000;
    on_each_pool(Workers::Many, |pool| {
        let loops: Vec<_> = (0..pool.stats().workers_count)
            .map(|_| {
                let pool = pool.clone();
                pool.clone().spawn(async move {
                    let mut sum = 0;
                    for i in 0..ROUNDS {
                        sum += pool.spawn(async move { i }).await;
                    }
                    sum
                })
            })
            .collect();
        for task in loops {
            assert_eq!(pool.block_on(task), (ROUNDS - 1) * ROUNDS / 2);
        }
    });
}

/// tokio-rs/tokio#7944: many threads spawn from outside at once.
#[test]
fn tokio_7944_many_outside_spawners() {
    const TASKS: usize = 12_800;
    on_each_pool(Workers::Any, |pool| {
        for spawners in [1, 8, 64] {
            let runs = Arc::new(AtomicUsize::new(0));
            let spawn_share = |pool: &Pool, runs: &Arc<AtomicUsize>| {
                let tasks: Vec<_> = (0..TASKS / spawners)
                    .map(|_| {
                        let runs = runs.clone();
                        pool.spawn(async move { runs.fetch_add(1, Ordering::Relaxed) })
                    })
                    .collect();
                for task in tasks {
                    pool.block_on(task);
                }
            };
            thread::scope(|scope| {
                for _ in 0..spawners {
                    scope.spawn(|| spawn_share(pool, &runs));
                }
            });
            assert_eq!(runs.load(Ordering::Relaxed), TASKS);
        }
    });
}

/// The polls that a task made by `spawn` waits for while two others hop on its worker.
fn polls_waited(pool: &Pool, spawn: fn(&Pool, Polls) -> Task<()>) -> u64 {
    let (inner, waited) = (pool.clone(), Arc::new(AtomicU64::new(0)));
    let (mut round, mut third) = (0, None);
    let result = waited.clone();
    let hops = ping_pong(pool, move || {
        round += 1;
        if round == 200 {
            third = Some(spawn(&inner, Polls::begin(&inner, &waited)));
        }
        match &third {
            Some(task) if task.is_finished() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    pool.block_on(hops);
    result.load(Ordering::Relaxed)
}

/// Counts polls from its making to [`end`](Self::end).
struct Polls {
    pool: Pool,
    begun: u64,
    result: Arc<AtomicU64>,
}

impl Polls {
    fn begin(pool: &Pool, result: &Arc<AtomicU64>) -> Self {
        Polls {
            pool: pool.clone(),
            begun: pool.stats().total.polls_count,
            result: result.clone(),
        }
    }

    fn end(self) {
        let polls = self.pool.stats().total.polls_count - self.begun;
        self.result.store(polls, Ordering::Relaxed);
    }
}

/// tokio-rs/tokio#5686, and tokio's own test of the slot's budget.
#[test]
fn tokio_5686_a_chain_of_hops_does_not_starve_the_local_queue() {
    on_each_pool(Workers::One, |pool| {
        let waited = polls_waited(pool, |pool, polls| pool.spawn(async { polls.end() }));
        assert!((1..=FAIR).contains(&waited), "{waited} polls");
    });
}

/// Two chains on one worker get on alike: none has the slot to itself.
#[test]
fn chains_of_hops_share_a_worker_equally() {
    const ROUNDS: u64 = 3000;
    on_each_pool(Workers::One, |pool| {
        let rounds = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let (here, over) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let chains = [0, 1].map(|own| {
            let (rounds, here, over) = (rounds[own].clone(), here.clone(), over.clone());
            let mut is_here = false;
            ping_pong(pool, move || {
                if !std::mem::replace(&mut is_here, true) {
                    here.fetch_add(1, Ordering::Relaxed);
                }
                if here.load(Ordering::Relaxed) < 2 {
                    return ControlFlow::Continue(()); // counted from when both have begun
                }
                let ends = rounds.fetch_add(1, Ordering::Relaxed) == ROUNDS;
                match over.fetch_or(ends, Ordering::Relaxed) || ends {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })
        });
        chains.into_iter().for_each(|chain| pool.block_on(chain));
        let least = rounds
            .iter()
            .map(|rounds| rounds.load(Ordering::Relaxed))
            .min();
        assert!(least > Some(ROUNDS / 2), "{rounds:?}");
    });
}

#[test]
fn tokio_5686_a_chain_of_hops_does_not_starve_the_injector() {
    on_each_pool(Workers::One, |pool| {
        let waited = polls_waited(pool, |pool, polls| pool.spawn_global(async { polls.end() }));
        assert!((1..=FAIR).contains(&waited), "{waited} polls");
    });
}

/// The worker waits in its poll for the thread that spawns, so the polls are counted from the very spawn.
#[test]
fn tokio_5686_a_chain_of_hops_does_not_starve_what_comes_from_outside() {
    on_each_pool(Workers::One, |pool| {
        let waited = polls_waited(pool, |pool, polls| {
            thread::scope(|scope| {
                let spawner = scope.spawn(|| pool.spawn(async { polls.end() }));
                spawner.join().expect("a spawn does not panic")
            })
        });
        assert!((1..=FAIR).contains(&waited), "{waited} polls");
    });
}

/// tokio's own test of the slot's budget has a chain of tasks that each spawn the next, which takes the slot.
#[test]
fn tokio_5686_a_chain_of_spawns_does_not_starve_the_local_queue() {
    fn link(pool: Pool, behind: Arc<AtomicBool>) {
        let inner = pool.clone();
        let task = async move {
            if !behind.load(Ordering::Relaxed) {
                link(inner, behind);
            }
        };
        pool.spawn(task).detach();
    }
    on_each_pool(Workers::One, |pool| {
        let (inner, waited) = (pool.clone(), Arc::new(AtomicU64::new(0)));
        let result = waited.clone();
        let root = pool.spawn(async move {
            let ran = Arc::new(AtomicBool::new(false));
            link(inner.clone(), ran.clone()); // has the slot, if there is one
            let polls = Polls::begin(&inner, &waited);
            let behind = inner.spawn(async move {
                polls.end();
                ran.store(true, Ordering::Relaxed);
            });
            behind.await;
        });
        pool.block_on(root);
        let waited = result.load(Ordering::Relaxed);
        assert!((1..=FAIR).contains(&waited), "{waited} polls");
    });
}

#[test]
fn tokio_5686_work_from_outside_is_served_while_chains_saturate_every_worker() {
    on_each_pool(Workers::Many, |pool| {
        let served = Arc::new(AtomicBool::new(false));
        let chains: Vec<_> = (0..pool.stats().workers_count)
            .map(|_| {
                let served = served.clone();
                ping_pong(pool, move || match served.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                })
            })
            .collect();
        until(|| pool.stats().total.polls_count > 1000); // the chains are on their way
        for _ in 0..100 {
            pool.block_on(pool.spawn(async {}));
        }
        served.store(true, Ordering::Relaxed);
        chains.into_iter().for_each(|chain| pool.block_on(chain));
    });
}

/// A yield into the slot asks for no worker. When its worker then turns to something else for long, whoever
/// was asked for that has to find the slot.
#[test]
fn w3_a_task_that_yields_is_found_when_its_worker_runs_something_else() {
    on_each_pool(Workers::Several, |pool| {
        let (yields, stop) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let yielding = pool.spawn({
            let (yields, stop) = (yields.clone(), stop.clone());
            async move {
                while !stop.load(Ordering::Relaxed) {
                    yields.fetch_add(1, Ordering::Relaxed);
                    yield_now().await;
                }
            }
        });
        for _ in 0..200 {
            let yields = yields.clone();
            let something_else = pool.spawn(async move {
                let seen = yields.load(Ordering::Relaxed);
                until(|| yields.load(Ordering::Relaxed) > seen + 100);
            });
            pool.block_on(something_else);
        }
        stop.store(true, Ordering::Relaxed);
        pool.block_on(yielding);
    });
}
