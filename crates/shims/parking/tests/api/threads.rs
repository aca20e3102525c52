//! Many threads: no token is lost, none is taken twice, and what was written before it is seen after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking::{Parker, Unparker};

use crate::in_time;

const ROUNDS: usize = 20_000;

#[test]
fn no_wake_is_lost_between_two() {
    in_time(|| {
        let (here, wake_here) = parking::pair();
        let (there, wake_there) = parking::pair();
        let other = thread::spawn(move || {
            for _ in 0..ROUNDS {
                there.park();
                wake_here.unpark();
            }
        });
        for _ in 0..ROUNDS {
            assert!(wake_there.unpark());
            here.park();
        }
        other.join().unwrap();
    });
}

#[test]
fn no_wake_is_lost_in_a_ring() {
    const THREADS: usize = 8;
    in_time(|| {
        let parkers = Vec::from_iter((0..THREADS).map(|_| Parker::new()));
        let mut next = Vec::from_iter(parkers.iter().map(Parker::unparker));
        next.rotate_left(1);
        let first = parkers[0].unparker();
        let threads = parkers.into_iter().zip(next).map(|(parker, next)| {
            thread::spawn(move || {
                for _ in 0..ROUNDS / THREADS {
                    parker.park();
                    next.unpark();
                }
            })
        });
        let threads = Vec::from_iter(threads);
        first.unpark();
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
}

/// Each `unpark` that says it was the first since the last taking is answered by one taking: of every kind, at every
/// moment of a wait, the last one included, when its time is over and the token comes.
#[test]
fn each_token_that_was_put_is_taken_once() {
    const THREADS: usize = 4;
    in_time(|| {
        let (parker, unparker) = parking::pair();
        let putters = (0..THREADS).map(|_| {
            let unparker = unparker.clone();
            thread::spawn(move || (0..ROUNDS).filter(|_| put(&unparker)).count())
        });
        let putters = Vec::from_iter(putters);
        let mut taken = 0;
        for turn in 0.. {
            taken += usize::from(take(&parker, turn));
            if putters.iter().all(|p| p.is_finished()) {
                break;
            }
        }
        let put: usize = putters.into_iter().map(|p| p.join().unwrap()).sum();
        taken += usize::from(parker.park_timeout(Duration::ZERO));
        assert_eq!(taken, put);
        assert!(taken > 0);
    });
}

fn put(unparker: &Unparker) -> bool {
    thread::yield_now();
    unparker.unpark()
}

/// Tries to take the token, each time in another way. Most limits are over about when the thread would go to sleep, where
/// the step out of the wait meets a token that just comes.
fn take(parker: &Parker, turn: u64) -> bool {
    let limit = Duration::from_nanos(turn % 2000);
    match turn % 3 {
        0 => parker.park_timeout(Duration::ZERO),
        1 => parker.park_timeout(limit),
        _ => parker.park_deadline(Instant::now() + limit),
    }
}

/// Also a token that was there already brings what was written before it was put again.
#[test]
fn what_was_written_before_is_seen_after() {
    in_time(|| {
        let (parker, unparker) = parking::pair();
        let (written, over) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let writer = thread::spawn({
            let (written, over) = (written.clone(), over.clone());
            move || {
                for round in 1..=ROUNDS {
                    written.store(round, Ordering::Relaxed);
                    unparker.unpark();
                }
                over.store(true, Ordering::Relaxed);
                unparker.unpark();
            }
        });
        while !over.load(Ordering::Relaxed) {
            parker.park();
        }
        assert_eq!(written.load(Ordering::Relaxed), ROUNDS);
        writer.join().unwrap();
    });
}
