//! Bars for one line of the board: wall and CPU time of each subject, with whiskers from the least to the most.
//!
//! Wall time is a full bar, CPU time a hatched one, so no colour is needed to tell them apart. A whisker that is far
//! longer than any bar is cut off and ends in an arrow: drawn in full, one disturbed round would squeeze all bars into
//! nothing. Its end is in the table.

use std::fmt::Display;

use runnext_bench::subject::Subject;

use super::board::Line;
use super::document::{Figures, Row, Spread};
use super::markup::Markup;
use super::picture::{label, line as draw_line, linear_ticks, picture, rect};
use crate::units::{Unit, time};

const WIDTH: f64 = 640.0;
/// Where the bars begin and end; names are to the left, figures to the right.
const LEFT: f64 = 120.0;
const RIGHT: f64 = 550.0;
const SUBJECT_HEIGHT: f64 = 40.0;
const BAR_HEIGHT: f64 = 13.0;
const AXIS_HEIGHT: f64 = 22.0;

/// How far the axis may reach beyond the longest bar.
const LONGEST_WHISKER: f64 = 1.6;

/// The pattern of the CPU bars, once for all pictures of a page.
pub(crate) fn define_hatching(page: &mut Markup) {
    let hidden: [(&str, &dyn Display); 2] = [("class", &"defs"), ("aria-hidden", &"true")];
    let pattern: [(&str, &dyn Display); 5] = [
        ("id", &"hatched"),
        ("patternUnits", &"userSpaceOnUse"),
        ("patternTransform", &"rotate(45)"),
        ("width", &5),
        ("height", &5),
    ];
    page.element("svg", &hidden, |svg| {
        svg.element("pattern", &pattern, |pattern| {
            pattern.empty("path", &[("d", &"M0,0 V5")]);
        });
    });
}

/// Draws `line`.
pub(crate) fn draw(page: &mut Markup, line: &Line<'_>) {
    let rows: Vec<_> = line.rows().collect();
    let height = rows.len() as f64 * SUBJECT_HEIGHT + AXIS_HEIGHT;
    let scale = Scale::new(rows.iter().filter_map(|row| row.figures.as_ref()));
    let best = line.best_peer().map(|(row, _)| row.subject);
    let name = format!(
        "Wall and CPU time per operation: {}, {}",
        line.scenario,
        line.terms()
    );
    picture(page, (WIDTH, height), &name, |svg| {
        scale.draw_axis(svg, height - AXIS_HEIGHT);
        for (index, row) in rows.iter().enumerate() {
            let top = index as f64 * SUBJECT_HEIGHT;
            subject(svg, row, top, best == Some(row.subject));
            match &row.figures {
                Some(figures) => bars(svg, figures, &scale, top),
                None => label(svg, "note", (LEFT + 6.0, top + 24.0), why_empty(row)),
            }
        }
        let bottom = height - AXIS_HEIGHT;
        draw_line(svg, "base", (LEFT, 0.0), (LEFT, bottom));
    });
}

/// Why a cell has no figures, in a word.
pub(crate) fn why_empty(row: &Row) -> &'static str {
    match (&row.error, &row.unsupported) {
        (Some(_), _) => "failed",
        (None, Some(_)) => "unsupported",
        (None, None) => "not measured",
    }
}

fn subject(svg: &mut Markup, row: &Row, top: f64, is_best: bool) {
    let class = match row.subject {
        Subject::Variant(_) => "name ours",
        Subject::Peer(_) => "name",
    };
    label(svg, class, (LEFT - 8.0, top + 18.0), row.subject);
    let note = match (&row.error, is_best) {
        (Some(_), _) if row.figures.is_some() => "failed later",
        (_, true) => "best peer",
        _ => return,
    };
    label(svg, "name note", (LEFT - 8.0, top + 32.0), note);
}

fn bars(svg: &mut Markup, figures: &Figures, scale: &Scale, top: f64) {
    for (class, spread, top) in [
        ("wall", figures.wall, top + 6.0),
        ("cpu", figures.cpu, top + 6.0 + BAR_HEIGHT + 2.0),
    ] {
        let length = scale.x(spread.median) - LEFT;
        rect(svg, class, (LEFT, top), (length, BAR_HEIGHT));
        whisker(svg, spread, scale, top + BAR_HEIGHT / 2.0);
        let at = (RIGHT + 10.0, top + BAR_HEIGHT - 2.0);
        label(svg, class, at, time(spread.median));
    }
}

fn whisker(svg: &mut Markup, spread: Spread, scale: &Scale, y: f64) {
    let Some((min, max)) = spread.range else {
        return;
    };
    let (from, to) = (scale.x(min), scale.x(max));
    draw_line(svg, "whisker", (from, y), (to, y));
    draw_line(svg, "whisker", (from, y - 3.0), (from, y + 3.0));
    if max > scale.end {
        draw_line(svg, "whisker", (to - 4.0, y - 4.0), (to, y));
        draw_line(svg, "whisker", (to - 4.0, y + 4.0), (to, y));
    } else {
        draw_line(svg, "whisker", (to, y - 3.0), (to, y + 3.0));
    }
}

/// From nanoseconds to places on the axis.
struct Scale {
    end: f64,
}

impl Scale {
    fn new<'a>(figures: impl Iterator<Item = &'a Figures>) -> Self {
        let (mut longest, mut furthest) = (0f64, 0f64);
        for spread in figures.flat_map(|figures| [figures.wall, figures.cpu]) {
            longest = longest.max(spread.median);
            furthest = furthest.max(spread.range.map_or(0.0, |(_, max)| max));
        }
        Self {
            end: longest.max(furthest.min(longest * LONGEST_WHISKER)),
        }
    }

    /// Never outside of the axis.
    fn x(&self, nanoseconds: f64) -> f64 {
        let part = if self.end > 0.0 {
            nanoseconds.min(self.end) / self.end
        } else {
            0.0
        };
        LEFT + part * (RIGHT - LEFT)
    }

    fn draw_axis(&self, svg: &mut Markup, bottom: f64) {
        let unit = Unit::of(self.end);
        for tick in linear_ticks(self.end) {
            let x = self.x(tick);
            draw_line(svg, "grid", (x, 0.0), (x, bottom));
            let text = if tick == 0.0 {
                "0".to_owned()
            } else {
                unit.tick(tick)
            };
            label(svg, "tick", (x, bottom + 15.0), text);
        }
    }
}
