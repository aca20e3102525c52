//! What a stretch of work cost: wall time, the process's CPU time, and voluntary context switches.
//!
//! CPU time is the whole process's, all threads and the kernel's share included: a scheduler that burns a second core
//! to save wall time shows it here. Voluntary switches count how often a thread went to sleep, which is what a
//! wake-up that should not have happened ends in.
//!
//! The kernel's own accounting is read, once before and once after, so nothing is added to the work itself.

use std::fmt;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

/// Started before the work, stopped after it.
#[derive(Debug)]
#[must_use = "a stopwatch that is never stopped measures nothing"]
pub struct Stopwatch {
    wall: Instant,
    cpu: Duration,
    switches: u64,
}

/// What the work cost, all operations together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Time on the clock.
    pub wall: Duration,
    /// Processor time of all threads of this process.
    pub cpu: Duration,
    /// How often a thread of this process gave up its processor to wait.
    pub voluntary_switches: u64,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        // The clock is read last here and first in `stop`, so that the two slower readings stay outside.
        let (cpu, switches) = (process_cpu(), voluntary_switches());
        Self {
            wall: Instant::now(),
            cpu,
            switches,
        }
    }

    /// The cost since the start.
    #[must_use]
    pub fn stop(self) -> Cost {
        Cost {
            wall: self.wall.elapsed(),
            cpu: process_cpu().saturating_sub(self.cpu),
            voluntary_switches: voluntary_switches().saturating_sub(self.switches),
        }
    }
}

impl Cost {
    /// What is left of it without `aside`.
    #[must_use]
    pub fn without(self, aside: Aside) -> Self {
        Self {
            wall: self.wall.saturating_sub(aside.wall),
            cpu: self.cpu.saturating_sub(aside.cpu),
            ..self
        }
    }
}

/// What was done between operations and is part of none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Aside {
    /// Time on the clock.
    pub wall: Duration,
    /// Processor time of the threads that did it; what others did meanwhile is not theirs.
    pub cpu: Duration,
}

impl Aside {
    /// Does `work` on this thread.
    pub fn of(work: impl FnOnce()) -> Self {
        let (wall, cpu) = (Instant::now(), thread_cpu());
        work();
        let cpu = thread_cpu().saturating_sub(cpu);
        Self {
            wall: wall.elapsed(),
            cpu,
        }
    }
}

impl AddAssign for Aside {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.cpu += other.cpu;
    }
}

/// How long single operations took, to two significant digits.
#[derive(Clone)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        // Two digits keep a histogram at a few KiB, and there may be one for each of hundreds of connections.
        Self(Histogram::new(2).expect("a histogram may have two significant digits"))
    }
}

impl Latencies {
    /// Adds one operation.
    pub fn record(&mut self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.0
            .record(nanoseconds)
            .expect("a histogram that may grow takes any time");
    }

    /// The operations of both.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        self.0
            .add(other.0)
            .expect("a histogram that may grow takes any other");
        self
    }

    /// The time in microseconds that the given part of the operations, 0.0 to 1.0, did not exceed.
    #[must_use]
    pub fn quantile_us(&self, part: f64) -> f64 {
        self.0.value_at_quantile(part) as f64 / 1000.0
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Latencies({} operations, median {} us)",
            self.0.len(),
            self.quantile_us(0.5)
        )
    }
}

fn process_cpu() -> Duration {
    cpu(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

fn thread_cpu() -> Duration {
    cpu(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    time.expect("this system has no clock of CPU time, so there is nothing to compare")
        .into()
}

fn voluntary_switches() -> u64 {
    let usage =
        getrusage(UsageWho::RUSAGE_SELF).expect("a process may always ask for its own usage");
    u64::try_from(usage.voluntary_context_switches()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_costs_wall_time_and_a_switch_but_little_cpu() {
        let watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(30));
        let cost = watch.stop();
        assert!(cost.wall >= Duration::from_millis(30));
        assert!(cost.voluntary_switches >= 1);
    }

    #[test]
    fn quantiles_are_those_of_all_merged_operations() {
        let mut even = Latencies::default();
        let mut odd = Latencies::default();
        for microseconds in 1..=50 {
            even.record(Duration::from_micros(2 * microseconds));
            odd.record(Duration::from_micros(2 * microseconds - 1));
        }
        let all = even.merged(odd);
        assert!((49.5..=50.5).contains(&all.quantile_us(0.5)), "{all:?}");
        assert!((98.0..=100.0).contains(&all.quantile_us(0.99)), "{all:?}");
    }

    #[test]
    fn cpu_time_of_other_threads_counts() {
        let watch = Stopwatch::start();
        std::thread::scope(|scope| {
            scope.spawn(|| while thread_cpu() < Duration::from_millis(20) {});
        });
        assert!(watch.stop().cpu >= Duration::from_millis(20));
    }

    #[test]
    fn what_was_done_aside_is_taken_off() {
        let work = || {
            let start = thread_cpu();
            while thread_cpu() < start + Duration::from_millis(20) {}
        };
        let watch = Stopwatch::start();
        work();
        let aside = Aside::of(work);
        let cost = watch.stop();
        assert!(aside.cpu >= Duration::from_millis(20) && aside.wall >= aside.cpu);
        let rest = cost.without(aside);
        assert_eq!(
            (rest.wall, rest.cpu),
            (cost.wall - aside.wall, cost.cpu - aside.cpu)
        );
    }
}
