//! What the machine does, measured: waking a thread, sleeping shortly, spinning, a compare-and-swap, reading the clock.
//!
//! A wake is measured with its waker going on, as a worker does: some kernels run the woken thread on the waker's own
//! core, where it stops the waker or waits for it, while another core is idle. How often is counted. Pinned to two cores
//! it cannot happen, so that is measured as well: it is what it takes to wake a core.
//!
//! Loops of instructions give the least of many batches, since everything that disturbs them makes them longer. Waits
//! give quantiles, since their tail is what hurts.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use core_affinity::CoreId;
use runnext_bench::measure::Latencies;
use serde::Serialize;

/// What was measured, in nanoseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Timing {
    /// From `unpark` until the parked thread runs.
    pub(crate) wake: Wait,
    /// Which part of those wakes the kernel let run on the waker's own core; `None` if it does not tell.
    pub(crate) wakes_on_wakers_core: Option<f64>,
    /// The same with the two threads on a core each; `None` with a single core.
    pub(crate) wake_pinned: Option<Wait>,
    /// How much longer a sleep of [`NAP`] took than asked.
    pub(crate) oversleep: Wait,
    /// One `spin_loop`.
    pub(crate) spin_ns: f64,
    /// One compare-and-swap that nobody else wants.
    pub(crate) cas_ns: f64,
    /// One reading of the clock.
    pub(crate) clock_ns: f64,
}

/// How long something was waited for.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Wait {
    pub(crate) p50_ns: f64,
    pub(crate) p99_ns: f64,
}

/// A sleep as short as the gate's.
pub(crate) const NAP: Duration = Duration::from_micros(50);

const WAKES: usize = 400;
const NAPS: usize = 200;

const NO_CORE: usize = usize::MAX;

/// Long enough for a thread to have parked and its core to be idle.
const REST: Duration = Duration::from_micros(300);

/// How long a waker goes on at most, if the woken thread cannot run meanwhile.
const PATIENCE: Duration = Duration::from_millis(5);

impl Timing {
    /// Measures for about a second.
    pub(crate) fn measure() -> Self {
        let counter = AtomicU64::new(0);
        let free = wake(None);
        Self {
            wake: free.wait,
            wakes_on_wakers_core: free.on_wakers_core,
            wake_pinned: two_cores().map(|cores| wake(Some(cores)).wait),
            oversleep: oversleep(),
            spin_ns: least(spin_loop),
            cas_ns: least(|| compare_and_swap(&counter)),
            clock_ns: least(|| {
                black_box(Instant::now());
            }),
        }
    }
}

impl Wait {
    fn of(latencies: &Latencies) -> Self {
        Self {
            p50_ns: latencies.quantile_us(0.5) * 1e3,
            p99_ns: latencies.quantile_us(0.99) * 1e3,
        }
    }
}

fn two_cores() -> Option<(CoreId, CoreId)> {
    match core_affinity::get_core_ids()?.as_slice() {
        [one, other, ..] => Some((*one, *other)),
        _ => None,
    }
}

struct Wakes {
    wait: Wait,
    on_wakers_core: Option<f64>,
}

/// Wakes a parked thread again and again. It runs on the first of `cores`, its waker on the second.
fn wake(cores: Option<(CoreId, CoreId)>) -> Wakes {
    let sent = &Sent::new();
    let (latencies, cores_alike) = thread::scope(|scope| {
        let sleeper = scope.spawn(move || {
            pin(cores.map(|cores| cores.0));
            receive(sent)
        });
        let target = sleeper.thread().clone();
        let waker = scope.spawn(move || {
            pin(cores.map(|cores| cores.1));
            send(sent, &target)
        });
        let cores_alike = waker.join().expect("a waker does not panic");
        let latencies = sleeper.join().expect("a sleeper does not panic");
        (latencies, cores_alike)
    });
    Wakes {
        wait: Wait::of(&latencies),
        on_wakers_core: cores_alike.map(|alike| alike as f64 / WAKES as f64),
    }
}

fn pin(core: Option<CoreId>) {
    if let Some(core) = core {
        // If it fails the figure is that of free threads, which is what such a system has to offer.
        core_affinity::set_for_current(core);
    }
}

/// Returns how many times both threads ran on one core.
fn send(sent: &Sent, target: &thread::Thread) -> Option<usize> {
    let mut alike = 0;
    for _ in 0..WAKES {
        thread::sleep(REST);
        let wakers = current_core()?;
        alike += usize::from(sent.send(target) == wakers);
    }
    Some(alike)
}

fn receive(sent: &Sent) -> Latencies {
    let mut latencies = Latencies::default();
    for _ in 0..WAKES {
        latencies.record(sent.receive());
    }
    latencies
}

#[cfg(target_os = "linux")]
fn current_core() -> Option<usize> {
    nix::sched::sched_getcpu().ok()
}

#[cfg(not(target_os = "linux"))]
fn current_core() -> Option<usize> {
    None
}

/// A wake on its way.
struct Sent {
    since: Instant,
    /// The moment at which it was sent, in nanoseconds after `since`; 0 once it has arrived.
    at: AtomicU64,
    /// Where it arrived.
    core: AtomicUsize,
}

impl Sent {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            at: AtomicU64::new(0),
            core: AtomicUsize::new(NO_CORE),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Wakes `target`, goes on until it runs, and returns the core on which it does.
    fn send(&self, target: &thread::Thread) -> usize {
        self.at.store(self.now().max(1), Ordering::Relaxed);
        target.unpark();
        let start = Instant::now();
        // Ordering: Acquire, pairs with the Release store in `receive`: the core was written before it.
        while self.at.load(Ordering::Acquire) != 0 {
            if start.elapsed() < PATIENCE {
                spin_loop();
            } else {
                thread::sleep(REST);
            }
        }
        self.core.load(Ordering::Relaxed)
    }

    /// Parks until there is a wake, and returns how long it took.
    fn receive(&self) -> Duration {
        loop {
            match self.at.load(Ordering::Relaxed) {
                0 => thread::park(),
                at => {
                    let took = self.now().saturating_sub(at);
                    let core = current_core().unwrap_or(NO_CORE);
                    self.core.store(core, Ordering::Relaxed);
                    // Ordering: Release, pairs with the Acquire load in `send`.
                    self.at.store(0, Ordering::Release);
                    return Duration::from_nanos(took);
                }
            }
        }
    }
}

fn oversleep() -> Wait {
    let mut latencies = Latencies::default();
    for _ in 0..NAPS {
        let start = Instant::now();
        thread::sleep(NAP);
        latencies.record(start.elapsed().saturating_sub(NAP));
    }
    Wait::of(&latencies)
}

fn compare_and_swap(counter: &AtomicU64) {
    let old = counter.load(Ordering::Relaxed);
    let swapped = counter.compare_exchange(old, old + 1, Ordering::AcqRel, Ordering::Relaxed);
    black_box(swapped).expect("nobody else swaps");
}

/// Nanoseconds for one call, in the fastest of many batches.
fn least(mut call: impl FnMut()) -> f64 {
    const BATCHES: u32 = 200;
    const CALLS: u32 = 1000;
    let mut batch = || {
        let start = Instant::now();
        for _ in 0..CALLS {
            call();
        }
        start.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..BATCHES).map(|_| batch()).fold(f64::MAX, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_batch_is_believed() {
        let mut calls = 0;
        let least = least(|| {
            calls += 1;
            if calls % 5000 == 0 {
                thread::sleep(Duration::from_micros(100));
            }
        });
        assert_eq!(calls, 200_000);
        assert!(least < 100.0, "{least}");
    }

    #[test]
    fn every_wake_is_received_once() {
        let Wakes {
            wait,
            on_wakers_core,
        } = wake(None);
        assert!(on_wakers_core.is_none_or(|part| (0.0..=1.0).contains(&part)));
        assert!(0.0 < wait.p50_ns && wait.p50_ns <= wait.p99_ns, "{wait:?}");
    }
}
