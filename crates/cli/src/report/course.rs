//! How the cost of an operation changed from the first one on, for one line of the board: a curve for each subject,
//! through the averages of its chunks.
//!
//! Time goes from left to right as it passed, so that a subject that does more in it has more chunks in its curve. There
//! may be thousands: where several share a place, their mean is drawn.

use runnext_bench::chunks::Chunks;

use super::board::Line;
use super::document::Row;
use super::markup::Markup;
use super::picture::{linear_ticks, round_ticks, tick};
use super::plot::{Curve, Plot};
use crate::units::{Unit, time};

/// So many places has a curve at most.
const PLACES: usize = 150;

/// How many points of a curve are marked with its shape, about.
const MARKS: usize = 6;

/// Whether there is anything to draw for `line`.
pub(crate) fn has_any(line: &Line<'_>) -> bool {
    watched(line).next().is_some()
}

/// Draws `line`.
pub(crate) fn draw(page: &mut Markup, line: &Line<'_>) {
    let longest = watched(line).map(|(.., chunks)| chunks.chunks_took_ms * 1e6);
    let longest = longest.fold(1.0, f64::max);
    let curves: Vec<_> = watched(line)
        .map(|(column, row, chunks)| curve(column, row, chunks, longest))
        .collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let least = points().map(|(_, ns)| *ns).fold(f64::MAX, f64::min);
    let most = points().map(|(_, ns)| *ns).fold(1.0, f64::max);
    let plot = Plot {
        name: format!(
            "From the first operation on: {}, {}",
            line.scenario,
            line.terms()
        ),
        across: linear_ticks(longest)
            .into_iter()
            .map(|passed| (passed / longest, tick(Unit::of(longest), passed)))
            .collect(),
        up: round_ticks(least.max(1.0), most),
    };
    plot.draw(page, &curves);
}

/// What the picture shows, and whose cost clearly changed.
pub(crate) fn caption(line: &Line<'_>) -> String {
    let ops = watched(line).map(|(.., chunks)| chunks.chunk_ops).max();
    let drifts: String = watched(line)
        .filter_map(|(_, row, chunks)| {
            let drift = chunks.drift()?;
            let (first, last) = (time(drift.first_ns), time(drift.last_ns));
            Some(format!("; {} went from {first} to {last}", row.subject))
        })
        .collect();
    let drifts = match watched(line).any(|(.., chunks)| chunks.tell()) {
        false => "; too few to tell a change",
        true if drifts.is_empty() => "; no clear change",
        true => &drifts,
    };
    format!(
        "without warm-up, the average of each {} operations, {}{drifts}",
        ops.unwrap_or(0),
        line.terms()
    )
}

/// A word on curves that end too soon to show much, if these do.
pub(crate) fn warning(line: &Line<'_>) -> Option<&'static str> {
    const LONG_ENOUGH_MS: f64 = 5e3;
    let longest = watched(line).map(|(.., chunks)| chunks.chunks_took_ms);
    (longest.fold(0.0, f64::max) < LONG_ENOUGH_MS).then_some(
        "A quick run: fewer and shorter chunks, and what changes only after seconds is not seen.",
    )
}

/// The column, row and chunks of each subject that was watched.
fn watched<'a>(line: &Line<'a>) -> impl Iterator<Item = (usize, &'a Row, &'a Chunks)> {
    let cells = line.cells.iter().enumerate();
    cells.filter_map(|(column, row)| {
        let row = (*row)?;
        let chunks = row.chunks.as_ref()?;
        (!chunks.chunks_ns.is_empty()).then_some((column, row, chunks))
    })
}

fn curve(column: usize, row: &Row, chunks: &Chunks, longest_ns: f64) -> Curve {
    let width = chunks.chunks_took_ms * 1e6 / longest_ns;
    let points = places(&chunks.chunks_ns)
        .into_iter()
        .map(|(part, ns)| (part * width, ns))
        .collect::<Vec<_>>();
    let step = points.len().div_ceil(MARKS);
    // Not all at the same time, where they would cover each other.
    let first = (step * column / 8).min(points.len() - 1);
    Curve {
        column,
        name: row.subject.to_string(),
        points,
        marks: (step, first),
    }
}

/// When each chunk ended, as a part of the whole, and its average; of neighbours together, if there are too many.
fn places(chunks_ns: &[f64]) -> Vec<(f64, f64)> {
    let whole: f64 = chunks_ns.iter().sum();
    let mut passed = 0.0;
    let neighbours = chunks_ns.chunks(chunks_ns.len().div_ceil(PLACES).max(1));
    neighbours
        .map(|some| {
            let sum: f64 = some.iter().sum();
            passed += sum;
            (passed / whole, sum / some.len() as f64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_stand_where_they_ended() {
        assert_eq!(places(&[30.0, 10.0]), [(0.75, 30.0), (1.0, 10.0)]);
    }

    #[test]
    fn of_too_many_chunks_neighbours_are_drawn_as_one() {
        let many: Vec<_> = (0..2 * PLACES)
            .map(|index| (index % 2 * 2) as f64)
            .collect();
        let places = places(&many);
        assert_eq!(places.len(), PLACES);
        assert!(places.iter().all(|(_, ns)| *ns == 1.0));
        assert!((places[PLACES - 1].0 - 1.0).abs() < 1e-9);
    }
}
