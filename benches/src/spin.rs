//! Work that takes a known time: arithmetic, of which is known how much this machine does in a nanosecond.
//!
//! Rejected: looking at the clock until the time is over, since a look takes a tenth of the shortest work wanted here,
//! and since a thread that is interrupted meanwhile would do less; and the processor's pause instruction, which takes
//! from 4 to 140 cycles depending on the model, and hands the core to its sibling thread.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// An amount of work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spin {
    turns: u64,
}

impl Spin {
    /// No work at all.
    pub(crate) const NONE: Self = Self { turns: 0 };

    /// As much work as takes `time` on an undisturbed core. The first call takes some milliseconds to find that out.
    pub(crate) fn of(time: Duration) -> Self {
        static TURNS_PER_NS: OnceLock<f64> = OnceLock::new();
        let turns = time.as_nanos() as f64 * TURNS_PER_NS.get_or_init(turns_per_ns);
        Self {
            turns: turns as u64,
        }
    }

    /// Does it.
    pub(crate) fn run(self) {
        for turn in 0..self.turns {
            black_box(turn);
        }
    }
}

/// The best of many tries, since whatever disturbs one makes it slower.
fn turns_per_ns() -> f64 {
    const TRY: Spin = Spin { turns: 10_000 };
    const TRIES: Duration = Duration::from_millis(5);
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < TRIES {
        let try_start = Instant::now();
        TRY.run();
        best = best.min(try_start.elapsed());
    }
    TRY.turns as f64 / best.as_nanos().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_of_several_takes_about_the_time() {
        let spin = Spin::of(Duration::from_micros(50));
        let took = (0..200).map(|_| {
            let start = Instant::now();
            spin.run();
            start.elapsed()
        });
        let quickest = took.min().unwrap().as_micros();
        assert!((25..100).contains(&quickest), "{quickest} us");
    }
}
