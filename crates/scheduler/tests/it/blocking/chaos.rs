//! Random programs of everything that blocks, on pools whose spares end after a millisecond: whatever happens, nothing
//! is lost, nothing hangs, and afterwards all is as before.
//!
//! `POOL_TEST_ROUNDS` says how many programs run under each setting; a seed that fails is printed, and
//! `POOL_TEST_SEED` runs it again.

use std::cell::RefCell;
use std::future::Future;
use std::mem::forget;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use runnext::{Blocking, Pool, about_to_block, blocking, yield_now};

use super::*;
use crate::support::*;

const MAX: usize = 64;
const DEPTH: u32 = 3;

thread_local!(static KEPT: RefCell<Vec<Blocking>> = const { RefCell::new(Vec::new()) });

/// What the tasks of a program share.
#[derive(Clone)]
struct World {
    pools: Arc<[Pool]>,
    spawned: Drops,
    ended: Drops,
}

impl World {
    /// A task somewhere, with a program of its own.
    fn spawn(&self, rng: &mut Rng, depth: u32) -> Task<()> {
        let pool = &self.pools[rng.usize(..self.pools.len())];
        let (spawned, ended) = (self.spawned.witness(), self.ended.witness());
        drop(spawned);
        let act = self.clone().act(rng.fork(), depth);
        let body = async move {
            let _ended = ended;
            act.await;
        };
        match rng.bool() {
            true => pool.spawn(body),
            false => pool.spawn_global(body),
        }
    }

    fn act(self, mut rng: Rng, depth: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            for _ in 0..rng.u32(1..4) {
                if rng.bool() {
                    self.block(&mut rng, depth);
                } else {
                    self.go_on(&mut rng, depth).await;
                }
            }
        })
    }

    async fn go_on(&self, rng: &mut Rng, depth: u32) {
        match rng.u32(..if depth == 0 { 2 } else { 5 }) {
            0 => yield_now().await,
            1 => self.compute(rng),
            2 => _ = self.spawn(rng, depth - 1).fallible().await,
            3 => self.spawn(rng, depth - 1).detach(),
            _ => drop(self.spawn(rng, depth - 1)), // cancelled, perhaps in time
        }
    }

    fn compute(&self, rng: &mut Rng) {
        for _ in 0..rng.u32(..20_000) {
            std::hint::spin_loop();
        }
    }

    fn block(&self, rng: &mut Rng, depth: u32) {
        let short = Duration::from_micros(rng.u64(..1500));
        match rng.u32(..if depth == 0 { 5 } else { 9 }) {
            0 => blocking(|| thread::sleep(short)),
            1 => thread::sleep(short),
            2 => forget(about_to_block()),
            3 => KEPT.with_borrow_mut(|kept| kept.push(about_to_block())),
            4 => drop(KEPT.with_borrow_mut(Vec::pop)),
            5 => runnext::block_on(self.spawn(rng, depth - 1)),
            6 => futures_lite::future::block_on(self.spawn(rng, depth - 1)),
            7 => blocking(|| {
                thread::sleep(short / 4);
                runnext::block_on(self.spawn(rng, depth - 1));
            }),
            _ => self.wait_in_std(rng, depth),
        }
    }

    fn wait_in_std(&self, rng: &mut Rng, depth: u32) {
        let (ends, ended) = channel::<()>();
        let child = self.spawn(rng, depth - 1);
        let watcher = async move {
            let _ends = ends;
            child.fallible().await;
        };
        self.pools[rng.usize(..self.pools.len())]
            .spawn(watcher)
            .detach();
        assert!(ended.recv().is_err());
    }
}

/// Pools that keep no spare for long, and how many of their threads are there.
fn pools(setting: &Setting, count: usize) -> (Arc<[Pool]>, Arc<AtomicUsize>) {
    let threads: Arc<AtomicUsize> = Arc::default();
    let pool = |_| {
        let (starts, stops) = (threads.clone(), threads.clone());
        let builder = retiring(setting, Duration::from_millis(1)).max_threads(MAX);
        let builder = builder
            .on_thread_start(move |_| _ = starts.fetch_add(1, Ordering::SeqCst))
            .on_thread_stop(move |_| _ = stops.fetch_sub(1, Ordering::SeqCst));
        builder.build().unwrap()
    };
    ((0..count).map(pool).collect(), threads)
}

/// Runs `body`, which uses `pools`, and fails with the state of all of them if it does not return.
#[track_caller]
fn in_time_on(pools: &Arc<[Pool]>, threads: &AtomicUsize, body: impl FnOnce() + Send + 'static) {
    watched(LIMIT, body, || {
        let show = |pool: &Pool| format!("{:#?}\n{}\n{pool:?}\n", pool.stats(), pool.dump());
        let shown: String = pools.iter().map(show).collect();
        format!("{shown}{} threads", threads.load(Ordering::SeqCst))
    });
}

/// Calls `body` with a generator for each program that is to be run.
fn for_each_seed(rounds: usize, body: impl Fn(Rng)) {
    let number = |name| std::env::var(name).ok()?.parse().ok();
    if let Some(seed) = number("POOL_TEST_SEED") {
        return body(Rng::with_seed(seed));
    }
    for _ in 0..number("POOL_TEST_ROUNDS").map_or(rounds, |rounds| rounds as usize) {
        let seed = fastrand::u64(..);
        println!("POOL_TEST_SEED={seed}");
        body(Rng::with_seed(seed));
    }
}

/// Everything that a pool is at rest, once it is; the watchdog ends a wait in vain.
fn until_at_rest(pool: &Pool, workers: usize) {
    until(|| {
        let stats = pool.stats();
        let left = (
            stats.live_tasks_count,
            stats.blocked_workers,
            stats.spare_workers,
        );
        left == (0, 0, 0) && stats.workers_count == workers && stats.parked_workers == workers
    });
    until(|| {
        let ticks = pool.stats().gate_ticks;
        thread::sleep(Duration::from_millis(5));
        pool.stats().gate_ticks == ticks
    });
}

#[test]
fn random_programs_end_and_leave_nothing() {
    for_each_blocking_setting(Workers::Any, |setting| {
        for_each_seed(2, |mut rng| {
            let (pools, threads) = pools(setting, rng.usize(1..4));
            let workers = setting.workers;
            in_time_on(&pools.clone(), &threads.clone(), move || {
                let world = World {
                    pools: pools.clone(),
                    spawned: Drops::default(),
                    ended: Drops::default(),
                };
                let tasks: Vec<_> = (0..rng.usize(1..12))
                    .map(|_| world.spawn(&mut rng, DEPTH))
                    .collect();
                for task in tasks {
                    let pool = &pools[rng.usize(..pools.len())];
                    pool.set_threads(rng.usize(1..6), MAX).unwrap();
                    pool.block_on(task);
                }
                for pool in &*pools {
                    pool.set_threads(workers, MAX).unwrap();
                }
                pools.iter().for_each(|pool| until_at_rest(pool, workers));
                assert_eq!(world.spawned.count(), world.ended.count());
                until(|| threads.load(Ordering::SeqCst) == workers * pools.len());
                pools.iter().for_each(Pool::shutdown);
                pools.iter().for_each(assert_at_rest);
                assert_eq!(threads.load(Ordering::SeqCst), 0);
            });
        });
    });
}

/// A poll that waits for a task which a shutdown has cancelled panics, and that ends it as well.
#[test]
fn random_programs_end_when_their_pools_are_shut_down() {
    for_each_blocking_setting(Workers::Any, |setting| {
        for_each_seed(2, |mut rng| {
            let (pools, threads) = pools(setting, rng.usize(1..4));
            in_time_on(&pools.clone(), &threads.clone(), move || {
                let world = World {
                    pools: pools.clone(),
                    spawned: Drops::default(),
                    ended: Drops::default(),
                };
                for _ in 0..rng.usize(1..12) {
                    world.spawn(&mut rng, DEPTH).detach();
                }
                thread::sleep(Duration::from_micros(rng.u64(..5000)));
                let shutdowns: Vec<_> = (0..pools.len())
                    .map(|index| {
                        let (pools, within) = (pools.clone(), rng.bool());
                        let min = rng.usize(1..6);
                        thread::spawn(move || {
                            let pool = &pools[index];
                            pool.set_threads(min, MAX).unwrap();
                            if within {
                                let inner = pool.clone();
                                pool.spawn(async move { inner.shutdown() }).detach();
                            }
                            pool.shutdown();
                        })
                    })
                    .collect();
                shutdowns
                    .into_iter()
                    .for_each(|shutdown| shutdown.join().unwrap());
                assert_eq!(world.spawned.count(), world.ended.count());
                pools.iter().for_each(assert_at_rest);
                assert_eq!(threads.load(Ordering::SeqCst), 0);
            });
        });
    });
}

/// As many threads as are allowed are too few for all that block, and how many are allowed changes all the time. Nobody
/// waits for anybody here, so all of it ends nevertheless.
#[test]
fn random_programs_end_on_pools_that_are_too_small() {
    const PLACES: usize = 6;
    for_each_blocking_setting(Workers::Any, |setting| {
        for_each_seed(2, |mut rng| {
            let (here, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (starts, stops) = ((here.clone(), most.clone()), here.clone());
            let quiet = setting.knobs.clone().with_warnings_enabled(false);
            let quiet = quiet.with_thread_timeout(Some(Duration::from_millis(1)));
            let pool = setting
                .builder()
                .knobs(quiet)
                .max_threads(setting.workers.max(PLACES))
                .on_thread_start(move |_| {
                    let now = starts.0.fetch_add(1, Ordering::SeqCst) + 1;
                    starts.1.fetch_max(now, Ordering::SeqCst);
                })
                .on_thread_stop(move |_| _ = stops.fetch_sub(1, Ordering::SeqCst))
                .build()
                .unwrap();
            let (pools, workers) = (Arc::from([pool]), setting.workers);
            in_time_on(&Arc::clone(&pools), &here.clone(), move || {
                let world = World {
                    pools: pools.clone(),
                    spawned: Drops::default(),
                    ended: Drops::default(),
                };
                let places = workers.max(PLACES);
                let tasks: Vec<_> = (0..60).map(|_| world.spawn(&mut rng, 0)).collect();
                for task in tasks {
                    let max = rng.usize(1..=places);
                    pools[0].set_threads(rng.usize(1..=max), max).unwrap();
                    pools[0].block_on(task);
                }
                pools[0].set_threads(workers, places).unwrap();
                until_at_rest(&pools[0], workers);
                until(|| here.load(Ordering::SeqCst) == workers);
                assert!(most.load(Ordering::SeqCst) <= places);
                pools[0].shutdown();
                assert_at_rest(&pools[0]);
                assert_eq!(here.load(Ordering::SeqCst), 0);
            });
        });
    });
}
