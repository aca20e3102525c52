//! Curves on a logarithmic axis of times: the axes, a curve for each subject, and its name at the curve's end.
//!
//! Subjects are told apart by the shape of their points and by the name; colour comes on top.

use super::markup::Markup;
use super::picture::{Px, label, line as draw_line, picture};
use crate::units::exact;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 268.0;
const LABEL_HEIGHT: f64 = 15.0;

/// One subject's curve. It must have a point.
pub(crate) struct Curve {
    /// The column of the board: a subject looks the same in all pictures.
    pub(crate) column: usize,
    pub(crate) name: String,
    /// From left, 0 to 1, and nanoseconds.
    pub(crate) points: Vec<(f64, f64)>,
    /// After how many points, and from which on, one is marked by its shape.
    pub(crate) marks: (usize, usize),
}

/// The axes.
pub(crate) struct Plot {
    /// Read aloud in the picture's place.
    pub(crate) name: String,
    /// From left, 0 to 1, with what stands there.
    pub(crate) across: Vec<(f64, String)>,
    /// Nanoseconds in rising order, at least two, that enclose all points.
    pub(crate) up: Vec<f64>,
}

impl Plot {
    /// Draws `curves`.
    pub(crate) fn draw(&self, page: &mut Markup, curves: &[Curve]) {
        picture(page, (WIDTH, HEIGHT), &self.name, |svg| {
            self.draw_axes(svg);
            for curve in curves {
                self.draw_curve(svg, curve);
            }
            for (curve, y) in curves.iter().zip(self.label_places(curves)) {
                let class = format!("end s{}", curve.column);
                label(svg, &class, (RIGHT + 22.0, y + 4.0), &curve.name);
                draw_point(svg, curve.column, (RIGHT + 13.0, y));
            }
        });
    }

    fn y(&self, nanoseconds: f64) -> f64 {
        let (low, high) = (self.up[0], self.up[self.up.len() - 1]);
        let part = (nanoseconds.max(low) / low).log10() / (high / low).log10();
        BOTTOM - part * (BOTTOM - TOP)
    }

    fn draw_axes(&self, svg: &mut Markup) {
        for tick in &self.up {
            let y = self.y(*tick);
            draw_line(svg, "grid", (LEFT, y), (RIGHT, y));
            label(svg, "tick left", (LEFT - 8.0, y + 4.0), exact(*tick));
        }
        for (part, text) in &self.across {
            let x = x(*part);
            draw_line(svg, "grid", (x, TOP), (x, BOTTOM));
            label(svg, "tick", (x, BOTTOM + 18.0), text);
        }
    }

    fn draw_curve(&self, svg: &mut Markup, curve: &Curve) {
        let points = curve.points.iter();
        let places: Vec<_> = points.map(|(part, ns)| (x(*part), self.y(*ns))).collect();
        let points: Vec<_> = places
            .iter()
            .map(|(x, y)| format!("{},{}", Px(*x), Px(*y)))
            .collect();
        let class = format!("curve s{}", curve.column);
        svg.empty(
            "polyline",
            &[("class", &class), ("points", &points.join(" "))],
        );
        let (step, first) = curve.marks;
        for place in places.iter().skip(first).step_by(step.max(1)) {
            draw_point(svg, curve.column, *place);
        }
    }

    /// Where each curve's label goes: beside its end, but no two on top of each other.
    fn label_places(&self, curves: &[Curve]) -> Vec<f64> {
        let end = |curve: &Curve| self.y(curve.points.last().map_or(0.0, |(_, ns)| *ns));
        let mut order: Vec<_> = (0..curves.len()).collect();
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
}

fn x(part: f64) -> f64 {
    LEFT + part * (RIGHT - LEFT)
}

/// A shape for each column; after the eighth they begin again.
fn draw_point(svg: &mut Markup, column: usize, (x, y): (f64, f64)) {
    let class = format!("point s{column}");
    let shape = match column % 8 {
        0 => "-4,-4 4,-4 4,4 -4,4",
        1 => "0,-5 5,4 -5,4",
        2 => "0,-5 5,0 0,5 -5,0",
        3 => "0,5 5,-4 -5,-4",
        4 => "-5,-2 -2,-2 -2,-5 2,-5 2,-2 5,-2 5,2 2,2 2,5 -2,5 -2,2 -5,2",
        5 => "-2,-5 2,-5 5,-2 5,2 2,5 -2,5 -5,2 -5,-2",
        6 => "-5,-2 5,-2 5,2 -5,2",
        _ => "-2,-5 2,-5 2,5 -2,5",
    };
    let place = format!("translate({} {})", Px(x), Px(y));
    let points: [(&str, &dyn std::fmt::Display); 3] =
        [("class", &class), ("transform", &place), ("points", &shape)];
    svg.empty("polygon", &points);
}
