//! Finding out which workers are blocked, where nobody says so: in a std mutex, a sleep, a file, foreign code.
//!
//! # Concepts
//!
//! A worker that has stayed in one poll while work waits is a **suspect**. It may compute, and then another thread would
//! only take the processor away from it; or it may be blocked, and then another thread is all that helps. Two things tell
//! them apart: whether it has used processor time since the last glance, and whether its thread wants a processor now.
//! Each alone can be wrong. One that computes uses no time while others have all processors; one that blocks again
//! and again for moments is asleep at most glances, but gets on.
//!
//! Linux knows both. Where the second cannot be read, a suspect gets the benefit of the doubt for [`UNSURE`]; where
//! neither, for [`UNKNOWN`], .NET's limit for starvation.

use std::time::{Duration, Instant};

use crate::sync::{AtomicI32, Ordering};

#[cfg(test)]
mod tests;

/// The least time between two glances that are compared.
pub(crate) const GLANCE: Duration = Duration::from_millis(1);
/// How long a suspect has to use no processor time when it is not known whether it wants any.
const UNSURE: Duration = Duration::from_millis(100);
/// How long a suspect has to stay in one poll when nothing is known of its thread.
const UNKNOWN: Duration = Duration::from_millis(500);
/// A suspect that uses less than this part of the time is not computing.
const PART: u32 = 8;
/// One that was found blocked, and then uses more than this part of it, computes again. So much more, that one that does
/// both in turn is not found and forgotten in turn.
const LARGE_PART: u32 = 2;

/// What is known of a thread.
pub(crate) trait Evidence {
    /// The processor time that it has used so far.
    fn cpu_time(&self) -> Option<Duration>;
    /// Whether it runs or waits only for a processor.
    fn is_runnable(&self) -> Option<bool>;
}

/// What a second glance makes of a suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It has begun another poll, and used processor time as far as that is known.
    GetsOn,
    /// It stays in its poll, or has begun another one and slept nearly all the time: the next glance should come soon,
    /// or it may miss each sleep of a worker that blocks again and again.
    Perhaps,
    /// It is blocked in its poll.
    Blocked,
}

/// What was seen of a worker at a glance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    polls: u64,
    at: Instant,
    cpu_time: Option<Duration>,
}

impl Suspect {
    /// Sees a worker in its poll number `polls`.
    pub(crate) fn new(polls: u64, thread: &impl Evidence, now: Instant) -> Self {
        Suspect {
            polls,
            at: now,
            cpu_time: thread.cpu_time(),
        }
    }

    /// Looks again at it, in its poll number `polls`.
    pub(crate) fn look_again(&mut self, polls: u64, thread: &impl Evidence, now: Instant) -> Finding {
        let elapsed = now.saturating_duration_since(self.at);
        let stays = polls == self.polls;
        if stays && elapsed < GLANCE {
            return Finding::Perhaps;
        }
        let fresh = Suspect::new(polls, thread, now);
        let used = fresh.cpu_time.zip(self.cpu_time);
        let computed = used.map(|(now, before)| now.saturating_sub(before) * PART > elapsed);
        if !stays || computed == Some(true) {
            *self = fresh;
            return match stays || computed == Some(false) {
                true => Finding::Perhaps,
                false => Finding::GetsOn,
            };
        }
        let patience = match (fresh.cpu_time, thread.is_runnable()) {
            (None, _) => UNKNOWN,
            (Some(_), None) => UNSURE,
            (Some(_), Some(true)) => return Finding::Perhaps,
            (Some(_), Some(false)) => Duration::ZERO,
        };
        match elapsed >= patience {
            true => Finding::Blocked,
            false => Finding::Perhaps,
        }
    }

    /// Looks again at one that was found blocked: whether it has been computing since.
    pub(crate) fn computes(&mut self, thread: &impl Evidence, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.at);
        if elapsed < GLANCE {
            return false;
        }
        let fresh = Suspect::new(self.polls, thread, now);
        let before = std::mem::replace(self, fresh);
        match (before.cpu_time, fresh.cpu_time) {
            (Some(before), Some(now)) => now.saturating_sub(before) * LARGE_PART > elapsed,
            _ => false,
        }
    }
}

/// A thread, as the system knows it.
#[derive(Debug, Default)]
pub(crate) struct ThreadId {
    /// Its number and its clock; 0 for none.
    number: AtomicI32,
    clock: AtomicI32,
}

impl ThreadId {
    /// Makes this the calling thread.
    pub(crate) fn set(&self) {
        let (number, clock) = system::current().unwrap_or_default();
        // Relaxed: evidence only; where the two do not belong together, it is wrong once.
        self.number.store(number, Ordering::Relaxed);
        self.clock.store(clock, Ordering::Relaxed);
    }

    /// Forgets the thread, which is about to end.
    pub(crate) fn clear(&self) {
        // Relaxed: as above.
        self.number.store(0, Ordering::Relaxed);
    }

    fn known(&self, part: &AtomicI32) -> Option<i32> {
        // Relaxed: as above.
        let known = self.number.load(Ordering::Relaxed) != 0;
        known.then(|| part.load(Ordering::Relaxed))
    }
}

impl Evidence for ThreadId {
    fn cpu_time(&self) -> Option<Duration> {
        system::cpu_time(self.known(&self.clock)?)
    }

    fn is_runnable(&self) -> Option<bool> {
        system::is_runnable(self.known(&self.number)?)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::mem::MaybeUninit;
    use std::time::Duration;

    /// The calling thread's number and clock.
    pub(super) fn current() -> Option<(i32, i32)> {
        let mut clock = 0;
        // SAFETY: has no requirement.
        let this = unsafe { libc::pthread_self() };
        // SAFETY: the calling thread is alive, and `clock` may be written.
        let failed = unsafe { libc::pthread_getcpuclockid(this, &raw mut clock) };
        let number = rustix::thread::gettid().as_raw_nonzero().get();
        (failed == 0).then_some((number, clock))
    }

    /// `None` once the thread is gone.
    pub(super) fn cpu_time(clock: i32) -> Option<Duration> {
        let mut time = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: `time` may be written.
        let failed = unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) };
        if failed != 0 {
            return None;
        }
        // SAFETY: a call that succeeds has written it.
        let time = unsafe { time.assume_init() };
        let seconds = u64::try_from(time.tv_sec).ok()?;
        Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
    }

    /// `None` where there is no `/proc`, or once the thread is gone.
    pub(super) fn is_runnable(number: i32) -> Option<bool> {
        let stat = fs::read(format!("/proc/self/task/{number}/stat")).ok()?;
        // The name before it stands in parentheses and may hold any byte.
        let after_name = stat.iter().rposition(|&byte| byte == b')')?;
        stat.get(after_name + 2).map(|&state| state == b'R')
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    pub(super) fn current() -> Option<(i32, i32)> {
        None
    }

    pub(super) fn cpu_time(_: i32) -> Option<Duration> {
        None
    }

    pub(super) fn is_runnable(_: i32) -> Option<bool> {
        None
    }
}
