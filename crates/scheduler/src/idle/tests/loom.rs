//! Models of the idle protocol: whoever queues work against workers that stop looking.
//!
//! A lost wake-up shows as a worker that sleeps for ever beside an item, which loom reports as a
//! deadlock.

use crate::idle::Idle;
use crate::model::{Pool, counts, found, model};
use crate::slot::Slot;
use crate::sync::{AtomicBool, Ordering, Parker, full_barrier};
use loom::sync::Arc;
use loom::thread;

/// A push from outside against a worker that is about to park.
#[test]
fn loom_push_against_park() {
    model(3, || {
        let pool = Pool::new(1);
        let worker = thread::spawn({
            let pool = pool.clone();
            move || pool.start(0).find_one(0)
        });
        pool.inject(1);
        assert_eq!(found(vec![worker]), [1]);
        pool.assert_at_rest();
    });
}

/// A publish into a slot by a worker that then runs for ever, against one that is about to park.
#[test]
fn loom_publish_against_park() {
    model(3, || {
        let slot = Slot::new();
        let pool = Pool::with_slots(2, &[&slot]);
        let other = thread::spawn({
            let pool = pool.clone();
            move || pool.start(1).find_one(1)
        });
        assert!(slot.publish(Box::new(1)).is_ok());
        pool.idle.request_after_barrier(); // S3
        assert_eq!(found(vec![other]), [1]);
        pool.assert_at_rest();
    });
}

/// A publish that relies on the gate's watch, against the end of the watch, while the other worker parks.
fn publish_against_end_of_watch(asymmetric: bool) {
    model(3, move || {
        let slot = Slot::new();
        let pool = Pool::on_a_system(2, &[&slot], asymmetric);
        pool.idle.wake_gate(true);
        let other = thread::spawn({
            let pool = pool.clone();
            move || pool.start(1).find_one(1)
        });
        let gate = thread::spawn({
            let pool = pool.clone();
            move || pool.watch()
        });
        pool.publish(&slot, 1);
        assert_eq!(found(vec![other]), [1]);
        gate.join().expect("no panic");
        pool.assert_at_rest();
    });
}

#[test]
fn loom_publish_against_end_of_watch() {
    publish_against_end_of_watch(true);
}

#[test]
fn loom_publish_against_end_of_watch_without_heavy_barriers() {
    publish_against_end_of_watch(false);
}

/// A searcher hands its watch to the gate, which sleeps, and parks, while a publisher relies on the one or the other.
#[test]
fn loom_publish_against_hand_over() {
    model(3, || {
        let slot = Slot::new();
        let pool = Pool::with_slots(2, &[&slot]);
        let gate_sleeps = Arc::new(Parker::default());
        let gate = thread::spawn({
            let (pool, gate_sleeps) = (pool.clone(), gate_sleeps.clone());
            move || {
                gate_sleeps.park();
                pool.watch();
            }
        });
        assert!(pool.idle.start_searching(1));
        let searcher = thread::spawn({
            let pool = pool.clone();
            move || {
                assert!(pool.idle.wake_gate(true));
                gate_sleeps.unpark();
                pool.start(1).idle.park(1, true, || pool.leaves_work());
                // Awake again and counted as a searcher: by the gate, or because the re-read refused.
                let item = pool.look();
                pool.idle.stop_searching(|| false);
                item.unwrap_or_else(|| pool.find_one(1))
            }
        });
        pool.publish(&slot, 1);
        assert_eq!(found(vec![searcher]), [1]);
        gate.join().expect("no panic");
        pool.assert_at_rest();
    });
}

/// While nobody is parked the gate looks seldom, and a worker that parks ends that sleep at once: as in
/// `gate`, each writes, executes a full barrier, and reads what the other wrote.
#[test]
fn loom_a_worker_that_parks_ends_the_gates_long_sleep() {
    model(3, || {
        let pool = Pool::new(1);
        let gate_sleeps = Arc::new(Parker::default());
        let slow = Arc::new(AtomicBool::new(false));
        let worker = thread::spawn({
            let (pool, gate_sleeps, slow) = (pool.clone(), gate_sleeps.clone(), slow.clone());
            move || {
                let somebody_parks = || {
                    if slow.swap(false, Ordering::SeqCst) {
                        gate_sleeps.unpark();
                    }
                    false
                };
                pool.start(0).idle.park(0, false, somebody_parks);
                pool.idle.stop_searching(|| false);
            }
        });
        slow.store(true, Ordering::SeqCst);
        full_barrier();
        if pool.idle.counts().parked() == 0 {
            gate_sleeps.park(); // for so long that the model calls it for ever
        }
        assert!(pool.idle.wake_one_more(), "the worker is parked by now");
        worker.join().expect("no panic");
        pool.assert_at_rest();
    });
}

/// A searcher leaves with work while the gate ends its watch and a publisher relies on either: the
/// parked worker is woken, or the gate has taken the promise up again.
#[test]
fn loom_publish_against_a_searcher_and_the_gate_that_leave() {
    model(3, || {
        let slot = Slot::new();
        let pool = Pool::with_slots(3, &[&slot]);
        pool.idle.push(2, false);
        pool.idle.wake_gate(true);
        assert!(pool.idle.start_searching(1));
        let searcher = thread::spawn({
            let pool = pool.clone();
            move || pool.idle.stop_searching(|| pool.leaves_work())
        });
        let gate = thread::spawn({
            let pool = pool.clone();
            move || pool.idle.end_watch(|| pool.has_work())
        });
        pool.publish(&slot, 1);
        searcher.join().expect("no panic");
        gate.join().expect("no panic");
        let woken = pool.idle.counts().parked() == 0;
        assert!(woken || pool.idle.counts().gate_watches());
    });
}

/// A worker that was woken for an item that another took parks again at once, while the next is pushed.
#[test]
fn loom_spurious_dispatch_against_push() {
    model(3, || {
        let pool = Pool::new(1);
        let worker = thread::spawn({
            let pool = pool.clone();
            move || pool.start(0).find_one(0)
        });
        pool.inject(1);
        let taken = pool.injector.pop().is_some();
        if taken {
            pool.inject(2);
        }
        assert_eq!(found(vec![worker]), [if taken { 2 } else { 1 }]);
        pool.assert_at_rest();
    });
}

/// Two pushes, of which a searcher may absorb the second and then leave with the first: the item
/// that is left must still get the other worker, although the first never looks again (I4).
#[test]
fn loom_push_against_a_searcher_that_leaves() {
    model(2, || {
        let pool = Pool::new(2);
        let workers = (0..2)
            .map(|worker| {
                let pool = pool.clone();
                thread::spawn(move || pool.start(worker).find_one(worker))
            })
            .collect();
        pool.inject(1);
        pool.inject(2);
        assert_eq!(found(workers), [1, 2]);
        pool.assert_at_rest();
    });
}

/// What the gate of a model does meanwhile.
#[derive(Clone, Copy)]
enum Gate {
    Sleeps,
    /// It is awake, but has promised nothing: its form where a worker spins over the slots.
    LooksOn,
    /// It will come for whatever is in a slot.
    Watches,
}

/// Two searchers that leave at once, each with work in hand, while `queue_work` leaves some for the
/// third worker, which is parked: one of the three must wake it, whoever thinks it is the last (I4).
fn against_two_leaving_searchers(gate: Gate, queue_work: fn(&Pool, &Slot<Box<u32>>)) {
    model(3, move || {
        let slot = Slot::new();
        let pool = Pool::with_slots(3, &[&slot]);
        pool.idle.push(2, false);
        match gate {
            Gate::Sleeps => {}
            Gate::LooksOn => assert!(pool.idle.wake_gate(false)),
            Gate::Watches => assert!(pool.idle.wake_gate(true)),
        }
        let searchers: Vec<_> = (0..2)
            .map(|_| {
                assert!(pool.idle.start_searching(2));
                let pool = pool.clone();
                thread::spawn(move || pool.idle.stop_searching(|| pool.leaves_work()))
            })
            .collect();
        queue_work(&pool, &slot);
        for searcher in searchers {
            searcher.join().expect("no panic");
        }
        assert_eq!(counts(&pool.idle), (1, 0), "the parked one was woken");
    });
}

#[test]
fn loom_push_against_two_leaving_searchers() {
    against_two_leaving_searchers(Gate::Sleeps, |pool, _| pool.inject(1));
}

/// The gate's promise is about slots: nobody leaves a queue to it.
#[test]
fn loom_push_against_two_leaving_searchers_while_the_gate_watches() {
    against_two_leaving_searchers(Gate::Watches, |pool, _| pool.inject(1));
}

#[test]
fn loom_publish_against_two_leaving_searchers() {
    against_two_leaving_searchers(Gate::Sleeps, |pool, slot| pool.publish(slot, 1));
}

#[test]
fn loom_publish_against_two_leaving_searchers_while_the_gate_only_looks_on() {
    against_two_leaving_searchers(Gate::LooksOn, |pool, slot| pool.publish(slot, 1));
}

/// Two requests from two threads against one worker: one wake, and no stale one left behind.
#[test]
fn loom_two_requests_and_one_parked_worker() {
    model(2, || {
        let pool = Pool::new(1);
        let worker = thread::spawn({
            let pool = pool.clone();
            move || pool.start(0).find_one(0) + pool.find_one(0)
        });
        let other = thread::spawn({
            let pool = pool.clone();
            move || pool.inject(1)
        });
        pool.inject(2);
        other.join().expect("no panic");
        assert_eq!(found(vec![worker]), [3]);
        pool.assert_at_rest();
    });
}

/// A request pops a worker that is just about to withdraw, because it has seen the work as well. Its
/// wake ends that park, however late it comes, and not the next one.
#[test]
fn loom_i3_a_late_wake_does_not_end_the_next_sleep() {
    model(3, || {
        let idle = Arc::new(Idle::new(1));
        let work = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let between = Arc::new(Parker::default());
        let worker = thread::spawn({
            let (idle, work, between) = (idle.clone(), work.clone(), between.clone());
            move || {
                for work in &*work {
                    let is_there = || work.load(Ordering::Relaxed);
                    while !is_there() {
                        idle.park(0, false, is_there);
                        idle.stop_searching(|| false);
                    }
                    between.unpark();
                }
            }
        });
        for work in &*work {
            work.store(true, Ordering::Relaxed);
            idle.request();
            between.park();
        }
        worker.join().expect("no panic");
        assert_eq!(counts(&idle), (0, 0), "I1");
    });
}

/// Two requests at once and two parked workers: one wake in flight is enough (I3).
#[test]
fn loom_i3_two_requests_at_once_wake_one() {
    model(3, || {
        let idle = Arc::new(Idle::new(2));
        idle.push(0, false);
        idle.push(1, false);
        let other = thread::spawn({
            let idle = idle.clone();
            move || idle.request()
        });
        let woke = [idle.request(), other.join().expect("no panic")];
        assert_ne!(woke[0], woke[1], "exactly one woke somebody");
        assert_eq!(counts(&idle), (1, 1), "I3");
    });
}

/// A shutdown against two workers that are about to park: each sees it, or is woken and then
/// sees it. The flag is relaxed, so the stack's lock and the wake are all that orders it.
#[test]
fn loom_wake_all_against_park() {
    model(2, || {
        let pool = Pool::new(2);
        let closing = Arc::new(AtomicBool::new(false));
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (pool, closing) = (pool.clone(), closing.clone());
                thread::spawn(move || {
                    let idle = &pool.start(worker).idle;
                    let is_closing = || closing.load(Ordering::Relaxed);
                    while !is_closing() {
                        idle.park(worker, false, is_closing);
                        idle.stop_searching(|| false);
                    }
                })
            })
            .collect();
        closing.store(true, Ordering::Relaxed);
        pool.idle.wake_all();
        for worker in workers {
            worker.join().expect("no panic");
        }
        pool.assert_at_rest();
    });
}

/// A shutdown and a request at once: each parked worker is popped by one of them, and counted by it.
#[test]
fn loom_wake_all_against_request() {
    model(3, || {
        let idle = Arc::new(Idle::new(2));
        idle.push(0, false);
        idle.push(1, false);
        let other = thread::spawn({
            let idle = idle.clone();
            move || idle.request()
        });
        idle.wake_all();
        other.join().expect("no panic");
        assert_eq!(counts(&idle), (2, 0), "I1");
    });
}

/// What was written before an `unpark` is seen after the `park` that it ends.
#[test]
fn loom_an_unpark_hands_over_memory() {
    model(3, || {
        let parker = Arc::new(Parker::default());
        let written = Arc::new(AtomicBool::new(false));
        let waker = thread::spawn({
            let (parker, written) = (parker.clone(), written.clone());
            move || {
                written.store(true, Ordering::Relaxed);
                parker.unpark();
            }
        });
        parker.park();
        assert!(written.load(Ordering::Relaxed));
        waker.join().expect("no panic");
    });
}

/// A yield into the slot asks nobody (`worker`, W3). If it is the turn of what was injected meanwhile, its
/// owner moves the item to a queue, asks for a worker and then runs the other for ever.
#[test]
fn loom_yield_into_the_slot_asks_nobody() {
    model(2, || {
        let slot = Slot::new();
        let pool = Pool::with_slots(2, &[&slot]);
        let owner = thread::spawn({
            let pool = pool.clone();
            move || {
                assert!(slot.publish_unordered(Box::new(1)).is_ok());
                let Some(injected) = pool.injector.pop() else {
                    return slot
                        .take()
                        .map_or_else(|| pool.start(0).find_one(0), |item| *item);
                };
                if let Some(item) = slot.take() {
                    pool.inject(*item);
                }
                *injected
            }
        });
        let other = thread::spawn({
            let pool = pool.clone();
            move || pool.start(1).find_one(1)
        });
        pool.inject(2);
        assert_eq!(found(vec![owner, other]), [1, 2]);
        pool.assert_at_rest();
    });
}
