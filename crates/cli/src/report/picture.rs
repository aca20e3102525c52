//! What all pictures share: an SVG element with a name and a description, lines, boxes, labels and round ticks.
//!
//! Positions are in the picture's own units, and the page scales it. Looks come from the style sheet alone, by class, so
//! that one page is readable in light and in dark.

use std::fmt::{self, Display};

use super::markup::Markup;
use crate::units::Unit;

/// A position or a length, to a tenth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}

/// Draws a picture. `name` is read aloud in its place; the numbers are in a table beside it.
pub(crate) fn picture(
    page: &mut Markup,
    (width, height): (f64, f64),
    name: &str,
    content: impl FnOnce(&mut Markup),
) {
    let view = format!("0 0 {} {}", Px(width), Px(height));
    let attributes: [(&str, &dyn Display); 3] =
        [("role", &"img"), ("aria-label", &name), ("viewBox", &view)];
    page.element("svg", &attributes, |svg| {
        svg.leaf("title", &[], name);
        content(svg);
    });
}

/// A line from one point to another.
pub(crate) fn line(svg: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    let (x1, y1, x2, y2) = (Px(from.0), Px(from.1), Px(to.0), Px(to.1));
    svg.empty(
        "line",
        &[
            ("class", &class),
            ("x1", &x1),
            ("y1", &y1),
            ("x2", &x2),
            ("y2", &y2),
        ],
    );
}

/// A box, by its upper left corner and its size.
pub(crate) fn rect(svg: &mut Markup, class: &str, at: (f64, f64), size: (f64, f64)) {
    let (x, y, width, height) = (Px(at.0), Px(at.1), Px(size.0), Px(size.1));
    svg.empty(
        "rect",
        &[
            ("class", &class),
            ("x", &x),
            ("y", &y),
            ("width", &width),
            ("height", &height),
        ],
    );
}

/// A text; the class says which end of it is at the point.
pub(crate) fn label(svg: &mut Markup, class: &str, at: (f64, f64), text: impl Display) {
    let (x, y) = (Px(at.0), Px(at.1));
    svg.leaf("text", &[("class", &class), ("x", &x), ("y", &y)], text);
}

/// What stands at a tick of a time axis that begins with 0.
pub(crate) fn tick(unit: Unit, nanoseconds: f64) -> String {
    if nanoseconds == 0.0 {
        "0".to_owned()
    } else {
        unit.tick(nanoseconds)
    }
}

/// Round figures from 0 to `end`, three to six of them.
pub(crate) fn linear_ticks(end: f64) -> Vec<f64> {
    if !(end.is_finite() && end > 0.0) {
        return vec![0.0];
    }
    let magnitude = 10f64.powf((end / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * magnitude);
    let step = steps
        .into_iter()
        .find(|step| end / step <= 5.0)
        .unwrap_or(end);
    let count = (end / step).floor() as u32;
    (0..=count).map(|index| f64::from(index) * step).collect()
}

/// Figures that begin with 1, 2 or 5 from the one below `low` to the one above `high`, both positive.
pub(crate) fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = decades(low, high);
    let ticks = decades
        .iter()
        .flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * decade));
    let ticks: Vec<_> = ticks.collect();
    let first = ticks.iter().rposition(|tick| *tick <= low).unwrap_or(0);
    let last = ticks.iter().position(|tick| *tick >= high);
    let last = last.unwrap_or(ticks.len() - 1).max(first + 1);
    ticks[first..=last].to_vec()
}

/// Powers of ten from the one below `low` to the one above `high`, both positive.
pub(crate) fn decades(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor(), high.log10().ceil());
    let last = last.max(first + 1.0);
    (first as i32..=last as i32)
        .map(|power| 10f64.powi(power))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(linear_ticks(10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear_ticks(0.0), [0.0]);
        for end in [0.003, 0.7, 1.0, 7.3, 99.0, 101.0, 1.2e9] {
            let ticks = linear_ticks(end);
            assert!((3..=6).contains(&ticks.len()), "{end}: {ticks:?}");
            assert!(ticks.last().is_some_and(|last| *last <= end * 1.000_001));
        }
    }

    #[test]
    fn decades_enclose_all_figures() {
        assert_eq!(decades(12.0, 340.0), [10.0, 100.0, 1000.0]);
        assert_eq!(decades(10.0, 10.0), [10.0, 100.0]);
        assert_eq!(
            round_ticks(12.0, 340.0),
            [10.0, 20.0, 50.0, 100.0, 200.0, 500.0]
        );
        assert_eq!(round_ticks(10.0, 10.0), [10.0, 20.0]);
    }
}
