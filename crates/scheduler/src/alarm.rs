//! An alarm that others may put off: how the gate sleeps while all workers run.
//!
//! # Concepts
//!
//! While every worker begins poll after poll there is nothing for the gate to see, and yet it has to look soon
//! after one of them stops. So it **sleeps** for a while, workers that see each other get on **put off** the end of that
//! sleep, and whoever wants it awake **rings**.
//!
//! No other thread can lengthen a sleep with a time limit, as a futex or a condition variable offers it. A timer can
//! be set anew while somebody waits for it: on Linux a `timerfd`, made at the first sleep. Where there is none,
//! [`sleep`](Alarm::sleep) says so, and the gate looks every few milliseconds.
//!
//! # Protocol: a ring is never put off
//!
//! Setting a timer also takes back an expiry that nobody has seen yet. So a timer is set only under the lock, and only
//! while the sleep is on; a ring ends the sleep first.
//!
//! | whoever rings | the sleeper |
//! |---|---|
//! | 1 say why (a flag of the caller's) | 1 lock |
//! | 2 lock | 2 read the flag; if it is up, do not sleep |
//! | 3 if the sleep is on: it no longer is, and the timer expires | 3 the sleep is on, and the timer is set |
//!
//! Whichever locks second sees what the first has done.

use std::time::Duration;

use crate::sync::{Mutex, Timer, lock};

#[cfg(test)]
mod tests;

/// The alarm of one sleeper.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    timer: Timer,
    /// How long the sleep lasts from when it is put off; none if it is not on.
    sleep: Mutex<Option<Duration>>,
}

impl Alarm {
    /// Sleeps for `time`, and longer if that is put off, or less if it rings or a signal comes; not at all if `is_rung`.
    /// False if the system has no timer for this, or refuses. The sleeper only.
    pub(crate) fn sleep(&self, time: Duration, is_rung: impl FnOnce() -> bool) -> bool {
        {
            let mut sleep = lock(&self.sleep);
            if is_rung() {
                return true;
            }
            if !self.timer.set(time) {
                return false;
            }
            *sleep = Some(time);
        }
        let waited = self.timer.wait();
        *lock(&self.sleep) = None;
        waited
    }

    /// Lets a sleep that is on last its whole time from now. False if none is. Any thread.
    pub(crate) fn put_off(&self) -> bool {
        let sleep = lock(&self.sleep);
        sleep.is_some_and(|time| self.timer.set(time))
    }

    /// Ends a sleep that is on. The next one is for its `is_rung` to prevent. Any thread.
    pub(crate) fn ring(&self) {
        let mut sleep = lock(&self.sleep);
        if sleep.take().is_some() {
            self.timer.set(Duration::ZERO);
        }
    }
}
