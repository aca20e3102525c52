//! Spinning: how long a searcher waits between two looks, and when it has waited enough.
//!
//! The unit is about 35 ns, .NET's, so that `UnfairSemaphoreSpinLimit` means here what it means
//! there. `spin_loop` takes 5 to 50 ns depending on the processor, hence it is timed once. The default
//! budget of 1024 units, 36 us, is about the cost of a wake-up: spinning for as long as a wake-up
//! costs is never more than twice as dear as knowing the future (seed 2).
//!
//! Waits grow exponentially: step 0 waits not at all, step `n` a random number of units
//! in `2^(n-1) .. 2^n`, and from step 7 on in 64 .. 128, which is 2.2 to 4.4 us. The cap bounds how late a
//! searcher notices work; the randomness keeps two searchers from looking in step.

use crate::sync::{now, spin_loop};
use once_cell::sync::OnceCell;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// The length of one unit of the spin limit.
const UNIT: Duration = Duration::from_nanos(35);
/// The last step whose wait still doubles.
const LAST_STEP: u32 = 7;

/// How many `spin_loop`s take one [`UNIT`], measured on first use (about 50 us).
pub(crate) fn loops_per_unit() -> u32 {
    static MEASURED: OnceCell<u32> = OnceCell::new();
    *MEASURED.get_or_init(|| {
        // The quickest of several rounds: interruptions only ever add.
        let round = (0..5).map(|_| time_of_loops(200)).min();
        let per_loop = round.unwrap_or(UNIT).as_nanos().max(1) as u64;
        (UNIT.as_nanos() as u64 * 200 / per_loop).clamp(1, 64) as u32
    })
}

fn time_of_loops(loops: u32) -> Duration {
    let start = now();
    (0..loops).for_each(|_| spin_loop());
    start.elapsed()
}

/// One search's waits: grows step by step, ends when the budget is spent.
#[derive(Debug)]
pub(crate) struct Backoff {
    units_left: u32,
    step: u32,
}

impl Backoff {
    /// Waits that add up to about `budget` units.
    pub(crate) fn new(budget: u32) -> Self {
        Backoff {
            units_left: budget,
            step: 0,
        }
    }

    /// The waits of a searcher that may not leave yet, because it has just seen something that is too
    /// young to take: at least one, and all of them as long as the cap permits. Whatever the spin
    /// limit is, it then neither takes the owner's cache line away all the time nor looks too late.
    pub(crate) fn patient(budget: u32) -> Self {
        Backoff {
            units_left: budget.max(1 << LAST_STEP),
            step: LAST_STEP,
        }
    }

    /// Waits until the next look is due, or until `alarm` goes off, which is asked once a unit and
    /// should cost no more than a load. False if the budget was spent before.
    pub(crate) fn wait(&mut self, rng: &mut fastrand::Rng, alarm: impl Fn() -> bool) -> bool {
        if self.units_left == 0 {
            return false;
        }
        let units = self.next_units(rng).min(self.units_left);
        for _ in 0..units {
            self.units_left -= 1; // also when the alarm goes off, so that every search ends
            if alarm() {
                break;
            }
            (0..loops_per_unit()).for_each(|_| spin_loop());
        }
        true
    }

    fn next_units(&mut self, rng: &mut fastrand::Rng) -> u32 {
        let step = self.step;
        self.step = (step + 1).min(LAST_STEP);
        if step == 0 {
            return 0;
        }
        rng.u32(1 << (step - 1)..1 << step)
    }
}
