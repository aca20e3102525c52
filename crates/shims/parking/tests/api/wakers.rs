//! An unparker as a waker.

use std::task::Waker;
use std::thread;
use std::time::Duration;

use crate::in_time;

#[test]
fn a_wake_puts_the_token() {
    let (parker, unparker) = parking::pair();
    let waker = Waker::from(unparker);
    waker.wake_by_ref();
    assert!(parker.park_timeout(Duration::ZERO));
    let another = waker.clone();
    another.wake();
    assert!(parker.park_timeout(Duration::ZERO));
    waker.wake_by_ref();
    assert!(!parker.unpark(), "it is the same token");
}

#[test]
fn a_waker_that_is_dropped_wakes_nobody() {
    let (parker, unparker) = parking::pair();
    drop(Waker::from(unparker));
    assert!(!parker.park_timeout(Duration::ZERO));
}

#[test]
fn a_waker_knows_the_others_of_its_parker() {
    let (_parker, unparker) = parking::pair();
    let waker = Waker::from(unparker.clone());
    assert!(waker.will_wake(&waker.clone()));
    assert!(waker.will_wake(&Waker::from(unparker)));
    assert!(!waker.will_wake(&Waker::from(parking::pair().1)));
}

#[test]
fn a_waker_ends_a_wait_on_another_thread() {
    in_time(|| {
        let (parker, unparker) = parking::pair();
        let waker = Waker::from(unparker);
        let waiter = thread::spawn(move || parker.park());
        waker.wake();
        waiter.join().unwrap();
    });
}
