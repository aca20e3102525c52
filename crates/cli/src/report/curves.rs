//! Percentile curves for one line of the board: which part of the operations took how long.
//!
//! The parts stand in equal steps, as people name them: on an axis true to scale, p50 to p90 would fill the picture and
//! the tail, which is what matters, would be its edge.

use super::board::Line;
use super::document::Quantile;
use super::markup::Markup;
use super::picture::decades;
use super::plot::{Curve, Plot};

/// Whether there is anything to draw for `line`.
pub(crate) fn has_any(line: &Line<'_>) -> bool {
    quantiles(line).next().is_some()
}

/// Draws `line`.
pub(crate) fn draw(page: &mut Markup, line: &Line<'_>) {
    let parts = parts(line);
    let times = || quantiles(line).flat_map(|(_, _, quantiles)| quantiles);
    let shortest = times().map(|one| one.nanoseconds).fold(f64::MAX, f64::min);
    let longest = times().map(|one| one.nanoseconds).fold(1.0, f64::max);
    let last = (parts.len() - 1).max(1) as f64;
    let place = |part: f64| {
        let below = parts.iter().filter(|other| other.part < part);
        below.count() as f64 / last
    };
    let plot = Plot {
        name: format!("Percentiles: {}, {}", line.scenario, line.terms()),
        across: parts
            .iter()
            .map(|quantile| (place(quantile.part), quantile.name.clone()))
            .collect(),
        up: decades(shortest.max(1.0), longest),
    };
    let curves: Vec<_> = quantiles(line)
        .map(|(column, name, quantiles)| Curve {
            column,
            name,
            points: quantiles
                .iter()
                .map(|quantile| (place(quantile.part), quantile.nanoseconds))
                .collect(),
            marks: (1, 0),
        })
        .collect();
    plot.draw(page, &curves);
}

/// The column, name and quantiles of each subject that has some.
fn quantiles<'a>(line: &Line<'a>) -> impl Iterator<Item = (usize, String, &'a [Quantile])> {
    let cells = line.cells.iter().enumerate();
    cells.filter_map(|(column, row)| {
        let row = (*row)?;
        let quantiles = &row.figures.as_ref()?.quantiles;
        (!quantiles.is_empty()).then(|| (column, row.subject.to_string(), &quantiles[..]))
    })
}

/// All parts that any curve has, in rising order, each once.
fn parts<'a>(line: &Line<'a>) -> Vec<&'a Quantile> {
    let mut parts: Vec<_> = quantiles(line)
        .flat_map(|(_, _, quantiles)| quantiles)
        .collect();
    parts.sort_by(|one, other| one.part.total_cmp(&other.part));
    parts.dedup_by(|one, other| one.part == other.part);
    parts
}
