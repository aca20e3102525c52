//! One thread and one token: what is there, what is taken, and when a wait ends without.

use std::thread;
use std::time::{Duration, Instant};

use parking::Parker;

use crate::in_time;

const SHORT: Duration = Duration::from_millis(5);
const NEVER: Duration = Duration::from_secs(3600);

#[test]
fn there_is_no_token_at_first() {
    for parker in [Parker::new(), Parker::default(), parking::pair().0] {
        assert!(!parker.park_timeout(Duration::ZERO));
    }
}

#[test]
fn there_is_at_most_one_token() {
    let (parker, unparker) = parking::pair();
    assert!(unparker.unpark());
    assert!(!unparker.unpark());
    assert!(!parker.unpark());
    assert!(parker.park_timeout(Duration::ZERO));
    assert!(!parker.park_timeout(Duration::ZERO));
    assert!(parker.unpark());
}

#[test]
fn every_park_takes_the_token() {
    in_time(|| {
        let parker = Parker::new();
        parker.unpark();
        parker.park();
        assert!(!parker.park_timeout(Duration::ZERO));
        parker.unpark();
        assert!(parker.park_timeout(NEVER));
        assert!(!parker.park_timeout(Duration::ZERO));
        parker.unpark();
        assert!(parker.park_deadline(Instant::now() + NEVER));
        assert!(!parker.park_timeout(Duration::ZERO));
    });
}

#[test]
fn a_limit_that_is_over_only_looks() {
    let parker = Parker::new();
    let now = Instant::now();
    assert!(!parker.park_deadline(now));
    parker.unpark();
    assert!(parker.park_deadline(now));
}

#[test]
fn a_wait_without_token_lasts_until_its_limit() {
    in_time(|| {
        let parker = Parker::new();
        let begun = Instant::now();
        assert!(!parker.park_timeout(SHORT));
        assert!(begun.elapsed() >= SHORT);
        let deadline = Instant::now() + SHORT;
        assert!(!parker.park_deadline(deadline));
        assert!(Instant::now() >= deadline);
    });
}

#[test]
fn a_token_after_a_wait_in_vain_is_there_for_the_next() {
    in_time(|| {
        let parker = Parker::new();
        assert!(!parker.park_timeout(SHORT));
        assert!(parker.unpark(), "nothing of the wait is left");
        parker.park();
    });
}

#[test]
fn a_limit_beyond_the_clock_is_no_limit() {
    in_time(|| {
        let (parker, unparker) = parking::pair();
        let waiter = thread::spawn(move || parker.park_timeout(Duration::MAX));
        assert!(unparker.unpark());
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn tokens_of_threads_and_of_other_parkers_are_left_alone() {
    in_time(|| {
        let (parker, other) = (Parker::new(), Parker::new());
        thread::current().unpark();
        other.unpark();
        assert!(!parker.park_timeout(SHORT));
        thread::park();
        other.park();
    });
}

#[test]
fn handles_know_their_parker() {
    let (parker, unparker) = parking::pair();
    let (stranger, stranger_unparker) = parking::pair();
    assert!(unparker.will_unpark(&parker));
    assert!(unparker.clone().will_unpark(&parker));
    assert!(!unparker.will_unpark(&stranger));
    assert!(unparker.same_parker(&parker.unparker()));
    assert!(!unparker.same_parker(&stranger_unparker));
}

#[test]
fn a_handle_outlives_its_parker() {
    let (parker, unparker) = parking::pair();
    drop(parker);
    assert!(unparker.unpark());
    assert!(!unparker.unpark());
}
