//! Percentile curves for one line of the board: which part of the operations took how long, on a logarithmic axis.
//!
//! The parts stand in equal steps, as people name them: on an axis true to scale, p50 to p90 would fill the picture and
//! the tail, which is what matters, would be its edge. Subjects are told apart by the shape of their points and by a
//! label at the curve's end; colour comes on top.

use super::board::Line;
use super::document::Quantile;
use super::markup::Markup;
use super::picture::{Px, decades, label, line as draw_line, picture};
use crate::units::exact;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 268.0;
const LABEL_HEIGHT: f64 = 15.0;

/// One subject's curve.
struct Curve<'a> {
    /// The column of the board: a subject looks the same in all pictures.
    column: usize,
    name: String,
    quantiles: &'a [Quantile],
}

/// Whether there is anything to draw for `line`.
pub(crate) fn has_any(line: &Line<'_>) -> bool {
    !curves(line).is_empty()
}

/// Draws `line`.
pub(crate) fn draw(page: &mut Markup, line: &Line<'_>) {
    let curves = curves(line);
    let parts = parts(&curves);
    let times = || curves.iter().flat_map(|curve| curve.quantiles);
    let shortest = times().map(|one| one.nanoseconds).fold(f64::MAX, f64::min);
    let longest = times().map(|one| one.nanoseconds).fold(1.0, f64::max);
    let axes = Axes {
        parts: &parts,
        ticks: decades(shortest.max(1.0), longest),
    };
    let name = format!("Percentiles: {}, {}", line.scenario, line.terms());
    picture(page, (WIDTH, HEIGHT), &name, |svg| {
        axes.draw(svg);
        for curve in &curves {
            axes.draw_curve(svg, curve);
        }
        for (curve, y) in curves.iter().zip(label_places(&curves, &axes)) {
            let class = format!("end s{}", curve.column);
            label(svg, &class, (RIGHT + 22.0, y + 4.0), &curve.name);
            draw_point(svg, curve.column, (RIGHT + 13.0, y));
        }
    });
}

fn curves<'a>(line: &Line<'a>) -> Vec<Curve<'a>> {
    let mut curves = Vec::new();
    for (column, row) in line.cells.iter().enumerate() {
        if let Some((row, figures)) = row.and_then(|row| Some((row, row.figures.as_ref()?)))
            && !figures.quantiles.is_empty()
        {
            curves.push(Curve {
                column,
                name: row.subject.to_string(),
                quantiles: &figures.quantiles,
            });
        }
    }
    curves
}

/// All parts that any curve has, in rising order, each once.
fn parts<'a>(curves: &[Curve<'a>]) -> Vec<&'a Quantile> {
    let mut parts: Vec<_> = curves.iter().flat_map(|curve| curve.quantiles).collect();
    parts.sort_by(|one, other| one.part.total_cmp(&other.part));
    parts.dedup_by(|one, other| one.part == other.part);
    parts
}

/// Where each curve's label goes: beside its end, but no two on top of each other.
fn label_places(curves: &[Curve<'_>], axes: &Axes<'_>) -> Vec<f64> {
    let mut order: Vec<_> = (0..curves.len()).collect();
    let end = |curve: &Curve<'_>| axes.y(curve.quantiles[curve.quantiles.len() - 1].nanoseconds);
    order.sort_by(|&one, &other| end(&curves[one]).total_cmp(&end(&curves[other])));
    let mut places = vec![0.0; curves.len()];
    let mut free = TOP;
    for (done, &index) in order.iter().enumerate() {
        // The labels still to come must fit in below.
        let last = BOTTOM - (order.len() - 1 - done) as f64 * LABEL_HEIGHT;
        places[index] = end(&curves[index]).max(free).min(last);
        free = places[index] + LABEL_HEIGHT;
    }
    places
}

/// A shape for each column; after the sixth they begin again, with another colour.
fn draw_point(svg: &mut Markup, column: usize, (x, y): (f64, f64)) {
    let class = format!("point s{column}");
    let shape = match column % 6 {
        0 => "-4,-4 4,-4 4,4 -4,4",
        1 => "0,-5 5,4 -5,4",
        2 => "0,-5 5,0 0,5 -5,0",
        3 => "0,5 5,-4 -5,-4",
        4 => "-5,-2 -2,-2 -2,-5 2,-5 2,-2 5,-2 5,2 2,2 2,5 -2,5 -2,2 -5,2",
        _ => "-2,-5 2,-5 5,-2 5,2 2,5 -2,5 -5,2 -5,-2",
    };
    let place = format!("translate({} {})", Px(x), Px(y));
    let points: [(&str, &dyn std::fmt::Display); 3] =
        [("class", &class), ("transform", &place), ("points", &shape)];
    svg.empty("polygon", &points);
}

/// From quantiles to places in the picture.
struct Axes<'a> {
    parts: &'a [&'a Quantile],
    ticks: Vec<f64>,
}

impl Axes<'_> {
    fn x(&self, quantile: &Quantile) -> f64 {
        let index = self
            .parts
            .iter()
            .take_while(|other| other.part < quantile.part)
            .count();
        let last = (self.parts.len() - 1).max(1);
        LEFT + index as f64 / last as f64 * (RIGHT - LEFT)
    }

    fn y(&self, nanoseconds: f64) -> f64 {
        let (low, high) = (self.ticks[0], self.ticks[self.ticks.len() - 1]);
        let part = (nanoseconds.max(low) / low).log10() / (high / low).log10();
        BOTTOM - part * (BOTTOM - TOP)
    }

    fn draw(&self, svg: &mut Markup) {
        for tick in &self.ticks {
            let y = self.y(*tick);
            draw_line(svg, "grid", (LEFT, y), (RIGHT, y));
            label(svg, "tick left", (LEFT - 8.0, y + 4.0), exact(*tick));
        }
        for part in self.parts {
            let x = self.x(part);
            draw_line(svg, "grid", (x, TOP), (x, BOTTOM));
            label(svg, "tick", (x, BOTTOM + 18.0), &part.name);
        }
    }

    fn draw_curve(&self, svg: &mut Markup, curve: &Curve<'_>) {
        let places: Vec<_> = curve
            .quantiles
            .iter()
            .map(|quantile| (self.x(quantile), self.y(quantile.nanoseconds)))
            .collect();
        let points: Vec<_> = places
            .iter()
            .map(|(x, y)| format!("{},{}", Px(*x), Px(*y)))
            .collect();
        let class = format!("curve s{}", curve.column);
        svg.empty(
            "polyline",
            &[("class", &class), ("points", &points.join(" "))],
        );
        for place in places {
            draw_point(svg, curve.column, place);
        }
    }
}
