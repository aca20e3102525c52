use std::collections::HashSet;
use std::thread::{self, ThreadId};
use std::time::Duration;

use super::*;
use crate::subject::Variant;

fn free(workers: usize) -> Threads {
    Threads::new(workers, false).unwrap()
}

/// The threads that ran `count` tasks which wait for each other, so that they need as many threads.
fn threads_seen<P: Pool>(pool: &P, count: usize) -> HashSet<ThreadId> {
    let barrier = Arc::new(std::sync::Barrier::new(count));
    let (sender, receiver) = mpsc::channel();
    for _ in 0..count {
        let (barrier, sender) = (barrier.clone(), sender.clone());
        pool.spawner().spawn(async move {
            barrier.wait();
            sender.send(thread::current().id()).unwrap();
        });
    }
    drop(sender);
    receiver.iter().collect()
}

/// For a pool of three threads.
fn has_its_threads_and_returns_the_root(pool: &impl Pool) {
    assert_eq!(threads_seen(pool, 3).len(), 3);
    let outside = thread::current().id();
    assert_ne!(
        pool.drive(async move { thread::current().id() }),
        Some(outside)
    );
}

#[test]
fn tokio_starts_and_drives() {
    has_its_threads_and_returns_the_root(&tokio::start(&free(3)).unwrap());
}

#[test]
fn async_executor_starts_and_drives() {
    for io in [false, true] {
        has_its_threads_and_returns_the_root(&async_executor::start(&free(3), io).unwrap());
    }
}

#[test]
fn futures_starts_and_drives() {
    has_its_threads_and_returns_the_root(&futures::start(&free(3)).unwrap());
}

#[test]
fn all_variants_start_and_drive() {
    for variant in Variant::ALL {
        has_its_threads_and_returns_the_root(&runnext::start(variant, &free(3)).unwrap());
    }
}

#[test]
fn a_variants_switches_are_really_set() {
    let slot_polls = |variant| {
        let pool = runnext::start(variant, &free(1)).unwrap();
        let spawner = pool.spawner();
        pool.drive(async move {
            let (sender, receiver) = ::futures::channel::oneshot::channel();
            Spawner::spawn(&spawner, async move { sender.send(()).unwrap() });
            receiver.await.unwrap();
        });
        pool.spawner().counters()["slot_polls"]
    };
    assert_eq!(slot_polls(Variant::Base), 0);
    for variant in [Variant::RunNext, Variant::Defer, Variant::Lazy] {
        assert!(slot_polls(variant) > 0, "{variant}");
    }
}

#[test]
fn limit_runs_on_the_calling_thread_and_notices_that_nothing_is_left() {
    let pool = limit::start(&free(1));
    let here = thread::current().id();
    assert_eq!(pool.drive(async { thread::current().id() }), Some(here));
    assert_eq!(pool.drive(std::future::pending::<()>()), None);
}

#[test]
fn the_limit_of_a_wake_has_two_threads_and_waits_for_them_to_end() {
    let pool = limit::pair::start(&free(1)).unwrap();
    let threads = threads_seen(&pool, 2);
    assert_eq!(threads.len(), 2);
    let here = thread::current().id();
    assert!(!threads.contains(&here));
    assert_eq!(pool.drive(async { thread::current().id() }), Some(here));
    let (sender, receiver) = mpsc::channel();
    pool.spawner().spawn(async move {
        thread::sleep(Duration::from_millis(20));
        sender.send(()).unwrap();
    });
    drop(pool);
    assert_eq!(receiver.try_recv(), Ok(()));
}

#[test]
fn each_thread_of_the_limit_of_a_wake_has_a_core_of_its_own() {
    let threads = Threads::new(1, true).unwrap();
    let pool = limit::pair::start(&threads).unwrap();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..2 {
        let sender = sender.clone();
        pool.spawner()
            .spawn(async move { sender.send(core_affinity::get_core_ids()).unwrap() });
    }
    drop(pool);
    let mut cores: Vec<_> = receiver.try_iter().flatten().flatten().collect();
    cores.sort();
    let second = threads.cores[1 % threads.cores.len()];
    assert_eq!(cores, [threads.cores[0], second]);
}

#[test]
fn pinning_wraps_around_the_cores() {
    let threads = Threads::new(1, true).unwrap();
    let cores = threads.cores.len();
    thread::scope(|scope| {
        scope.spawn(|| {
            threads.pin_worker(cores);
            assert_eq!(core_affinity::get_core_ids().unwrap(), [threads.cores[0]]);
        });
    });
}
