//! The heat map: each cell's wall time in terms of the best peer of its line.
//!
//! It is a table whose cells are coloured, not a drawing of one, so that it can be read aloud, searched and copied. Each
//! cell prints its figure; a cell inside the spread is grey, says so by a sign, and claims nothing.

use std::fmt::Display;

use super::bars::why_empty;
use super::board::{Board, Line, Ratio};
use super::document::{Row, Spread};
use super::markup::Markup;
use crate::units::{three_digits, time};

/// Writes the map of all lines.
pub(crate) fn write(page: &mut Markup, board: &Board<'_>) {
    page.element("table", &[("class", &"heat")], |table| {
        table.leaf("caption", &[], CAPTION);
        table.element("thead", &[], |head| {
            head.element("tr", &[], |tr| {
                tr.leaf("th", &[("scope", &"col")], "scenario");
                tr.leaf("th", &[("scope", &"col")], "workers");
                for subject in &board.subjects {
                    tr.leaf("th", &[("scope", &"col")], subject);
                }
            });
        });
        table.element("tbody", &[], |body| {
            for line in &board.lines {
                body.element("tr", &[], |tr| write_line(tr, line));
            }
        });
    });
}

const CAPTION: &str = "Wall time per operation as a multiple of the line's best peer: below 1 is \
    faster. Grey with \u{2248}: the rounds of both overlap, so the difference is within the spread. \
    `limit` is no executor to choose, and is never the best peer.";

fn write_line(tr: &mut Markup, line: &Line<'_>) {
    let best = line.best_peer();
    tr.leaf("th", &[("scope", &"row")], line.work());
    tr.leaf("td", &[("class", &"count")], line.workers);
    for cell in &line.cells {
        match cell {
            Some(row) => write_cell(tr, row, best),
            None => tr.leaf("td", &[("class", &"none")], "-"),
        }
    }
}

fn write_cell(tr: &mut Markup, row: &Row, best: Option<(&Row, Spread)>) {
    let Some(figures) = &row.figures else {
        tr.leaf("td", &[("class", &"none")], why_empty(row));
        return;
    };
    let ratio = best.and_then(|(_, reference)| Ratio::new(figures.wall, reference));
    let is_best = best.is_some_and(|(best, _)| std::ptr::eq(best, row));
    let (class, text) = match ratio {
        Some(_) if is_best => ("best", "best peer".to_owned()),
        Some(ratio) => (class(ratio), text(ratio)),
        None => ("none", "no peer".to_owned()),
    };
    tr.element("td", &[("class", &class)], |td| {
        td.text(text);
        td.leaf("small", &[], time(figures.wall.median));
    });
}

/// A multiple, marked if it is within the spread.
pub(crate) fn text(ratio: Ratio) -> String {
    let sign = if ratio.differs { "" } else { "\u{2248} " };
    format!("{sign}{}\u{d7}", three_digits(ratio.value))
}

/// How the multiple looks.
pub(crate) fn class(ratio: Ratio) -> &'static str {
    match ratio.value {
        _ if !ratio.differs => "unclear",
        value if value < 0.5 => "faster3",
        value if value < 0.75 => "faster2",
        value if value < 1.0 => "faster1",
        value if value < 1.33 => "slower1",
        value if value < 2.0 => "slower2",
        _ => "slower3",
    }
}

/// The steps of [`class`], with what each stands for.
pub(crate) fn legend(page: &mut Markup) {
    let steps: [(&str, &dyn Display); 7] = [
        ("faster3", &"below 0.5"),
        ("faster2", &"0.5 to 0.75"),
        ("faster1", &"0.75 to 1"),
        ("unclear", &"\u{2248} within the spread"),
        ("slower1", &"1 to 1.33"),
        ("slower2", &"1.33 to 2"),
        ("slower3", &"2 and above"),
    ];
    page.element("ul", &[("class", &"legend")], |list| {
        for (class, text) in steps {
            list.leaf("li", &[("class", &class)], text);
        }
    });
}
