//! Models of the token's protocol; `scripts/conformance` runs them beside the original's own.
#![cfg(all(loom, feature = "loom"))]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

/// A wake that comes before, during or after the step into the wait ends it.
#[test]
fn no_wake_is_lost() {
    loom::model(|| {
        let (parker, unparker) = parking::pair();
        let other = thread::spawn(move || assert!(unparker.unpark()));
        parker.park();
        other.join().unwrap();
    });
}

/// Two waits in turn, so that the ring for the first may reach the second.
#[test]
fn a_late_ring_ends_no_wait() {
    loom::model(|| {
        let (parker, unparker) = parking::pair();
        let seen = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let seen = seen.clone();
            move || {
                unparker.unpark();
                while seen.load(Relaxed) == 0 {
                    thread::yield_now();
                }
                assert!(unparker.unpark(), "the first token was taken");
            }
        });
        parker.park();
        seen.store(1, Relaxed);
        parker.park();
        other.join().unwrap();
    });
}

/// Whoever finds the token there has written before the taker reads all the same.
#[test]
fn both_of_two_wakers_are_seen() {
    loom::model(|| {
        let (parker, unparker) = parking::pair();
        let written = Arc::new(AtomicUsize::new(0));
        let wakers = [1, 2].map(|bit| {
            let (written, unparker) = (written.clone(), unparker.clone());
            thread::spawn(move || {
                written.fetch_add(bit, Relaxed);
                unparker.unpark()
            })
        });
        parker.park();
        let seen = written.load(Relaxed);
        let first = wakers.map(|w| w.join().unwrap());
        match first {
            // Both before the take: it saw both. One put found the token of the other.
            [true, false] | [false, true] => assert_eq!(seen, 3),
            [true, true] => parker.park(),
            [false, false] => unreachable!("nobody put the token that was taken"),
        }
        assert_eq!(written.load(Relaxed), 3);
    });
}
