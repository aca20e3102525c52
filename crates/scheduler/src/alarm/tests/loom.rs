//! Models of the alarm: a ring against a sleeper, and against one who puts the sleep off. In a model a timer that is
//! set never expires, so a ring that is lost is a deadlock.

use std::time::Duration;

use crate::alarm::Alarm;
use crate::model::model;
use crate::sync::{AtomicBool, Ordering};
use loom::sync::Arc;
use loom::thread;

const LONG: Duration = Duration::from_secs(1);

/// As much of the gate as sleeps.
#[derive(Default)]
struct Gate {
    alarm: Alarm,
    woken: AtomicBool,
}

impl Gate {
    fn sleep(&self) {
        let is_rung = || self.woken.swap(false, Ordering::Acquire);
        assert!(self.alarm.sleep(LONG, is_rung));
    }

    fn put_off(&self) {
        self.alarm.put_off();
    }

    fn wake(&self) {
        self.woken.swap(true, Ordering::Release); // as the parker does
        self.alarm.ring();
    }
}

/// A wake ends the sleep, whether it comes before, during or after the way to sleep.
#[test]
fn loom_a_ring_against_a_sleeper() {
    model(3, || {
        let gate = Arc::new(Gate::default());
        let sleeper = thread::spawn({
            let gate = gate.clone();
            move || gate.sleep()
        });
        gate.wake();
        sleeper.join().expect("no panic");
    });
}

/// The same while a worker puts the sleep off: it takes back no ring.
#[test]
fn loom_a_ring_is_never_put_off() {
    model(3, || {
        let gate = Arc::new(Gate::default());
        let threads = [Gate::sleep, Gate::put_off].map(|act| {
            let gate = gate.clone();
            thread::spawn(move || act(&gate))
        });
        gate.wake();
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}
