//! On a pool: what waits behind a worker that parks is run by another worker, at once and not when the gate finds it.
//!
//! The gate is told to look every quarter of an hour, so that nothing here passes because it has looked. Only the hook is left,
//! which calls a worker, or wakes the gate to add one.
//! No result depends on how long something took: a watchdog turns a hang into a failure that shows the workers.
#![cfg(not(any(loom, runnext_loom)))]

mod ways;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use parking::Parker;
use runnext::{Builder, Knobs, Pool, Stats, Task};

use ways::{Act, WAYS, Way};

/// How long anything here may take before it counts as lost. Nothing waits so long in a run that passes.
const LIMIT: Duration = Duration::from_secs(30);

/// A pool of so many workers that defers requests, with a gate that does not look in time.
fn pool(workers: usize) -> Pool {
    let knobs = Knobs::default()
        .with_run_next(true)
        .with_defer_worker_requests(true)
        .with_stalled_work(Duration::from_secs(900));
    let builder = Builder::new().threads(workers).knobs(knobs);
    builder.build().expect("the threads start")
}

/// Runs `body`, and fails with the state of every worker if it does not return in time; then the pool has to be at rest.
#[track_caller]
fn on_pool(workers: usize, body: impl FnOnce(&Pool) + Send + 'static) {
    let pool = pool(workers);
    let (inner, (done, ended)) = (pool.clone(), channel());
    let thread = thread::spawn(move || {
        body(&inner);
        inner.shutdown();
        let _ = done.send(());
    });
    if ended.recv_timeout(LIMIT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        panic!("no end within {LIMIT:?}: {:#?}", pool.stats());
    }
    thread
        .join()
        .unwrap_or_else(|payload| std::panic::resume_unwind(payload));
    assert_at_rest(&pool);
}

#[track_caller]
fn assert_at_rest(pool: &Pool) {
    let stats = pool.stats();
    let queued = stats.injection_queue_depth + stats.total.local_queue_depth;
    assert_eq!(
        (stats.live_tasks_count, queued, stats.total.slot_full),
        (0, 0, false),
        "{stats:#?}"
    );
    assert_eq!(
        (stats.stall_rescues, stats.gate_rescues),
        (0, 0),
        "{stats:#?}"
    );
}

/// Returns when it has been called `times` times, without blocking: each caller is on a worker of its own.
fn meet(here: &AtomicUsize, times: usize) {
    here.fetch_add(1, Ordering::Relaxed);
    while here.load(Ordering::Relaxed) < times {
        thread::yield_now();
    }
}

/// Returns when `count` workers sleep. As a rule they have left the watch to the gate, and what is published now wakes
/// nobody.
fn until_parked(pool: &Pool, count: usize) {
    until(pool, |stats| stats.parked_workers >= count);
}

fn until(pool: &Pool, reached: impl Fn(&Stats) -> bool) {
    while !reached(&pool.stats()) {
        thread::yield_now();
    }
}

/// Tasks that each spawn a child, into their worker's slot, and then wait until they are released.
struct Parked {
    tasks: Vec<Task<()>>,
    releases: Vec<Act>,
    returned: Arc<AtomicUsize>,
    children: Receiver<()>,
}

impl Parked {
    fn new(pool: &Pool, count: usize, way: Way) -> Parked {
        let (ran, children) = channel();
        let (here, returned) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (mut tasks, mut releases) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (wait, release) = way();
            let (here, returned) = (here.clone(), returned.clone());
            let (inner, ran) = (pool.clone(), ran.clone());
            tasks.push(pool.spawn(async move {
                meet(&here, count);
                let child = inner.spawn(async move { report(&ran) });
                meet(&here, 2 * count);
                wait();
                returned.fetch_add(1, Ordering::Relaxed);
                child.await;
            }));
            releases.push(release);
        }
        Parked {
            tasks,
            releases,
            returned,
            children,
        }
    }

    /// All children have run while all their parents were waiting, and the pool knows of each that it waits.
    #[track_caller]
    fn expect_children(&self, pool: &Pool) {
        for _ in &self.tasks {
            self.children.recv().expect("the pool has the tasks");
        }
        // More where the gate has seen a worker stand still as well, on a busy machine.
        until(pool, |stats| stats.blocked_workers >= self.tasks.len());
        let returned = self.returned.load(Ordering::Relaxed);
        assert_eq!(returned, 0, "nobody was released yet");
    }

    fn release(self, pool: &Pool) {
        self.releases.into_iter().for_each(|release| release());
        for task in self.tasks {
            pool.block_on(task);
        }
        until(pool, |stats| stats.blocked_workers == 0);
    }
}

fn report(ran: &Sender<()>) {
    ran.send(()).expect("the test waits for it");
}

/// On every number of workers, with one of them left or none: then the pool gets more.
#[test]
fn what_waits_in_the_slots_of_parked_workers_is_run_by_others() {
    for (workers, parked) in [(1, 1), (2, 1), (2, 2), (4, 3), (4, 4)] {
        for (name, way) in WAYS {
            println!("{parked} of {workers} workers, {name}");
            on_pool(workers, move |pool| {
                let parked = Parked::new(pool, parked, way);
                parked.expect_children(pool);
                parked.release(pool);
            });
        }
    }
}

/// A worker that waits for what is in its own slot would wait for ever.
#[test]
fn a_worker_may_park_until_its_own_child_has_run() {
    for workers in [1, 2, 4] {
        for (name, way) in WAYS {
            println!("workers {workers}, {name}");
            on_pool(workers, move |pool| {
                let inner = pool.clone();
                pool.block_on(pool.spawn(async move {
                    let (wait, release) = way();
                    let child = inner.spawn(async move { release() });
                    wait();
                    child.await;
                }));
            });
        }
    }
}

/// With a token there, or no time, nobody is called for what waits behind.
#[test]
fn a_park_that_does_not_wait_calls_nobody() {
    on_pool(2, |pool| {
        let inner = pool.clone();
        pool.block_on(pool.spawn(async move { while !calls_nobody(&inner).await {} }));
    });
}

/// False if the child called for a worker itself, so that there was nothing to see.
async fn calls_nobody(pool: &Pool) -> bool {
    let (ran, children) = channel();
    let wakes = || pool.stats().total.wakes_requested;
    until_parked(pool, 1);
    let before = wakes();
    let child = pool.spawn(async move { report(&ran) });
    let deferred = wakes() == before;
    if deferred {
        parks_that_do_not_wait();
        assert_eq!((wakes(), children.try_recv().is_ok()), (before, false));
    }
    child.await;
    deferred
}

fn parks_that_do_not_wait() {
    let parker = Parker::new();
    parker.unpark();
    parker.park();
    assert!(!parker.park_timeout(Duration::ZERO));
    assert!(!parker.park_deadline(Instant::now()));
    parker.unpark();
    assert!(parker.park_timeout(LIMIT));
}

/// A thread's destructors run when much of the thread is gone already.
#[test]
fn a_worker_that_ends_may_still_park() {
    struct ParksLast(Parker);
    impl Drop for ParksLast {
        fn drop(&mut self) {
            assert!(!self.0.park_timeout(Duration::from_millis(1)));
        }
    }
    thread_local!(static LAST: ParksLast = ParksLast(Parker::new()));
    on_pool(1, |pool| {
        pool.block_on(pool.spawn(async { LAST.with(|last| last.0.unpark()) }));
        pool.block_on(pool.spawn(async { LAST.with(|last| last.0.park_timeout(Duration::ZERO)) }));
    });
}
