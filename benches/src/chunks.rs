//! How the cost of an operation changes from a process's first one on: the average of each chunk of so many operations.
//!
//! A cell's other figures are taken after a warm-up, which hides what the warm-up was for. Here nothing comes before the
//! first chunk, so that a cliff shows, whether the cost falls off it or climbs it.
//!
//! A **drift** is claimed only if the middle half of the first chunks and the middle half of the last ones lie apart, and
//! by a fifth at least: chunks are short, and one that was disturbed is no drift.

use serde::{Deserialize, Serialize};

/// The averages of all chunks, in the order in which they were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunks {
    /// How many operations each chunk has.
    pub chunk_ops: u64,
    /// Nanoseconds on the clock for one operation.
    pub chunks_ns: Vec<f64>,
    /// How long all of it took, in milliseconds; time between operations, which is in no average, included.
    pub chunks_took_ms: f64,
}

/// A clear difference between the first chunks and the last ones, in nanoseconds for one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// The median of the first chunks.
    pub first_ns: f64,
    /// The median of the last chunks.
    pub last_ns: f64,
}

/// The part of all chunks that are the first ones, and the last ones; but never fewer than [`FEWEST`].
const PART: usize = 10;

const FEWEST: usize = 8;

/// How many times the one median the other must be at least.
const CLEARLY: f64 = 1.2;

impl Chunks {
    /// Whether there are enough chunks to tell the last ones from the first.
    #[must_use]
    pub fn tell(&self) -> bool {
        self.chunks_ns.len() >= 2 * FEWEST
    }

    /// How the last chunks differ from the first, if they clearly do. `None` where there are too few to tell.
    #[must_use]
    pub fn drift(&self) -> Option<Drift> {
        if !self.tell() {
            return None;
        }
        let count = (self.chunks_ns.len() / PART).max(FEWEST);
        let first = Middle::of(&self.chunks_ns[..count]);
        let last = Middle::of(&self.chunks_ns[self.chunks_ns.len() - count..]);
        let apart = first.upper < last.lower || last.upper < first.lower;
        let ratio = first.median / last.median;
        (apart && ratio.max(1.0 / ratio) >= CLEARLY).then_some(Drift {
            first_ns: first.median,
            last_ns: last.median,
        })
    }
}

/// What half of some figures lie between.
struct Middle {
    lower: f64,
    median: f64,
    upper: f64,
}

impl Middle {
    /// `figures` must not be empty.
    fn of(figures: &[f64]) -> Self {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quarter = |quarters: usize| sorted[(sorted.len() - 1) * quarters / 4];
        Self {
            lower: quarter(1),
            median: quarter(2),
            upper: quarter(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drift(chunks_ns: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
        let chunks = Chunks {
            chunk_ops: 10,
            chunks_ns: chunks_ns.into_iter().collect(),
            chunks_took_ms: 1.0,
        };
        chunks.drift().map(|drift| (drift.first_ns, drift.last_ns))
    }

    /// So many chunks of a figure that wanders by a twentieth.
    fn around(figure: f64, count: usize) -> impl Iterator<Item = f64> {
        (0..count).map(move |index| figure * (1.0 + (index % 5) as f64 / 100.0))
    }

    #[test]
    fn a_cliff_is_seen_wherever_it_is_and_in_either_direction() {
        for cliff in [10, 50, 90] {
            let falls = around(200.0, cliff).chain(around(100.0, 100 - cliff));
            assert_eq!(drift(falls), Some((204.0, 102.0)), "{cliff}");
        }
        let climbs = around(100.0, 60).chain(around(200.0, 40));
        assert_eq!(drift(climbs), Some((102.0, 204.0)));
    }

    #[test]
    fn neither_wandering_nor_a_disturbed_chunk_is_a_drift() {
        assert_eq!(drift(around(100.0, 100)), None);
        let disturbed = around(100.0, 100).enumerate();
        let disturbed = disturbed.map(|(index, ns)| if index % 7 == 1 { 900.0 } else { ns });
        assert_eq!(drift(disturbed), None);
        // Apart, but by less than a fifth.
        assert_eq!(drift(around(100.0, 50).chain(around(115.0, 50))), None);
    }

    #[test]
    fn too_few_chunks_tell_nothing() {
        let halves = |count| around(200.0, count).chain(around(100.0, count));
        assert_eq!(drift(halves(FEWEST - 1)), None);
        assert!(drift(halves(FEWEST)).is_some());
        assert_eq!(drift([]), None);
    }
}
