//! Tests of the evidence on a virtual clock, and of what this system knows of a thread.

use super::{Evidence, Finding, GLANCE, Suspect, ThreadId, UNKNOWN, UNSURE};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A thread about which this much is known.
#[derive(Clone, Copy)]
struct Known {
    cpu_time: Option<Duration>,
    is_runnable: Option<bool>,
}

impl Evidence for Known {
    fn cpu_time(&self) -> Option<Duration> {
        self.cpu_time
    }

    fn is_runnable(&self) -> Option<bool> {
        self.is_runnable
    }
}

const ASLEEP: Known = Known {
    cpu_time: Some(Duration::ZERO),
    is_runnable: Some(false),
};

/// Whether a worker that was seen as `before` is found blocked `after` that, as `now`.
fn is_blocked(before: Known, now: Known, after: Duration) -> bool {
    let start = Instant::now();
    Suspect::new(7, &before, start).look_again(7, &now, start + after) == Finding::Blocked
}

#[test]
fn a_thread_that_sleeps_and_uses_no_time_is_blocked() {
    assert!(is_blocked(ASLEEP, ASLEEP, GLANCE));
}

#[test]
fn two_glances_at_once_prove_nothing() {
    assert!(!is_blocked(ASLEEP, ASLEEP, GLANCE / 2));
}

#[test]
fn another_poll_starts_the_suspicion_anew() {
    let start = Instant::now();
    let mut suspect = Suspect::new(7, &ASLEEP, start);
    let mut look_again = |after| suspect.look_again(8, &ASLEEP, start + after);
    assert_eq!(look_again(GLANCE), Finding::Perhaps);
    assert_eq!(look_again(GLANCE + GLANCE / 2), Finding::Perhaps);
    assert_eq!(look_again(2 * GLANCE), Finding::Blocked);
}

/// Looks at the pace of the sleeps would find it in a new one each time.
#[test]
fn who_sleeps_through_poll_after_poll_is_looked_at_again_soon() {
    let after = |cpu_time| {
        let (start, thread) = (Instant::now(), Known { cpu_time, ..ASLEEP });
        Suspect::new(7, &ASLEEP, start).look_again(9, &thread, start + 4 * GLANCE)
    };
    assert_eq!(after(Some(Duration::ZERO)), Finding::Perhaps);
    assert_eq!(after(Some(GLANCE)), Finding::GetsOn);
    assert_eq!(after(None), Finding::GetsOn);
}

#[test]
fn a_thread_that_computes_is_not_blocked_even_if_it_sleeps_just_now() {
    let used = Known {
        cpu_time: Some(GLANCE / 2),
        ..ASLEEP
    };
    assert!(!is_blocked(ASLEEP, used, GLANCE));
}

/// Eight workers on two processors: most of them use no time for many milliseconds.
#[test]
fn a_thread_that_waits_for_a_processor_is_not_blocked() {
    let waits = Known {
        is_runnable: Some(true),
        ..ASLEEP
    };
    assert!(!is_blocked(waits, waits, UNKNOWN));
}

#[test]
fn where_less_is_known_it_takes_longer() {
    let unsure = Known {
        is_runnable: None,
        ..ASLEEP
    };
    assert!(!is_blocked(unsure, unsure, UNSURE / 2));
    assert!(is_blocked(unsure, unsure, UNSURE));
    let unknown = Known {
        cpu_time: None,
        is_runnable: None,
    };
    assert!(!is_blocked(unknown, unknown, UNKNOWN / 2));
    assert!(is_blocked(unknown, unknown, UNKNOWN));
}

#[test]
fn who_was_blocked_computes_again_once_it_uses_most_of_the_time() {
    let start = Instant::now();
    let mut suspect = Suspect::new(7, &ASLEEP, start);
    let after_use_of = |cpu_time| Known {
        cpu_time: Some(cpu_time),
        ..ASLEEP
    };
    assert!(!suspect.computes(&after_use_of(GLANCE), start + GLANCE / 2), "too soon");
    assert!(!suspect.computes(&after_use_of(GLANCE / 4), start + GLANCE));
    assert!(suspect.computes(&after_use_of(GLANCE), start + 2 * GLANCE));
}

#[cfg(target_os = "linux")]
#[test]
fn the_system_knows_whether_a_thread_waits() {
    let id = ThreadId::default();
    assert_eq!((id.cpu_time(), id.is_runnable()), (None, None));
    thread::scope(|scope| {
        let (go_on, wait) = mpsc::channel::<()>();
        let (started, is_there) = mpsc::channel();
        let sleeper = scope.spawn({
            let id = &id;
            move || {
                id.set();
                started.send(()).expect("the test waits");
                wait.recv().expect_err("the test only hangs up");
                id.clear();
            }
        });
        is_there.recv().expect("the thread starts");
        let patience = Instant::now() + Duration::from_secs(10);
        while id.is_runnable() != Some(false) {
            assert!(Instant::now() < patience, "a thread in `recv` is not seen waiting");
            thread::yield_now();
        }
        let before = id.cpu_time();
        assert!(before.is_some());
        assert_eq!(id.cpu_time(), before);
        drop(go_on);
        sleeper.join().expect("no panic");
    });
    assert_eq!((id.cpu_time(), id.is_runnable()), (None, None));
    id.set();
    assert_eq!(id.is_runnable(), Some(true));
}
