//! Bars for one line of the board: wall and CPU time of each subject, with whiskers from the least to the most.
//!
//! Wall time is a full bar, CPU time a hatched one, so no colour is needed to tell them apart. A whisker that is far
//! longer than any bar is cut off and ends in an arrow, and so is a bar that is far longer than all others: drawn in
//! full, one disturbed round, or one subject that lets a task wait for 50 ms, would squeeze the rest into nothing. The
//! figure beside the bar and those in the table are whole.

use std::fmt::Display;

use runnext_bench::subject::Subject;

use super::board::Line;
use super::document::{Figures, Row, Spread};
use super::markup::Markup;
use super::picture::{label, line as draw_line, linear_ticks, picture, rect, tick};
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

/// A bar this many times as long as the next one is cut off.
const FAR_LONGER: f64 = 8.0;

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
        if scale.cuts(spread) {
            arrow(svg, scale.x(f64::MAX), top + BAR_HEIGHT / 2.0);
        }
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
    if max <= scale.end {
        draw_line(svg, "whisker", (to, y - 3.0), (to, y + 3.0));
    }
}

/// It goes on to the right.
fn arrow(svg: &mut Markup, x: f64, y: f64) {
    for side in [-4.0, 4.0] {
        draw_line(svg, "whisker", (x - 4.0, y + side), (x, y));
    }
}

/// From nanoseconds to places on the axis.
struct Scale {
    end: f64,
}

impl Scale {
    fn new<'a>(figures: impl Iterator<Item = &'a Figures>) -> Self {
        let spreads: Vec<_> = figures
            .flat_map(|figures| [figures.wall, figures.cpu])
            .collect();
        let mut bars: Vec<_> = spreads.iter().map(|spread| spread.median).collect();
        bars.sort_by(f64::total_cmp);
        // One that is far longer than the next, and perhaps its other bar, must not set the scale.
        let longest = (1..bars.len())
            .rev()
            .take(2)
            .find(|&index| bars[index] > bars[index - 1] * FAR_LONGER)
            .map_or(bars.last(), |index| bars.get(index - 1));
        let longest = longest.copied().unwrap_or(0.0);
        let whiskers = spreads.iter().filter(|spread| spread.median <= longest);
        let ends = whiskers
            .filter_map(|spread| spread.range)
            .map(|(_, max)| max);
        let furthest = ends.fold(0.0, f64::max);
        Self {
            end: longest.max(furthest.min(longest * LONGEST_WHISKER)),
        }
    }

    /// Whether the bar or its whisker goes on beyond the axis.
    fn cuts(&self, spread: Spread) -> bool {
        spread.range.map_or(spread.median, |(_, max)| max) > self.end
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
        for nanoseconds in linear_ticks(self.end) {
            let x = self.x(nanoseconds);
            draw_line(svg, "grid", (x, 0.0), (x, bottom));
            label(svg, "tick", (x, bottom + 15.0), tick(unit, nanoseconds));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(bars: &[(f64, f64)]) -> f64 {
        let figures: Vec<_> = bars
            .iter()
            .map(|&(wall, cpu)| {
                let of = |median| Spread {
                    median,
                    range: Some((median, median * 1.1)),
                };
                Figures {
                    wall: of(wall),
                    cpu: of(cpu),
                    rounds: 3,
                    quantiles: Vec::new(),
                    others: Default::default(),
                    stats: Default::default(),
                }
            })
            .collect();
        Scale::new(figures.iter()).end
    }

    #[test]
    fn a_bar_that_is_far_longer_than_all_others_does_not_set_the_scale() {
        let near = |end: f64, wanted: f64| assert!((end - wanted).abs() < 1e-6, "{end}");
        near(end(&[(10.0, 20.0), (30.0, 40.0)]), 44.0);
        near(end(&[(10.0, 20.0), (5000.0, 40.0)]), 44.0);
        // Both of its bars are.
        near(end(&[(10.0, 20.0), (5000.0, 4000.0)]), 22.0);
        // Several tell of a subject's cost, not of a single one's failure.
        near(
            end(&[(10.0, 20.0), (3000.0, 3000.0), (5000.0, 4000.0)]),
            5500.0,
        );
    }

    #[test]
    fn nothing_has_an_axis_of_no_length() {
        assert_eq!(end(&[]), 0.0);
    }
}
