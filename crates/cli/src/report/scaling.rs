//! "Adding workers never hurts": each subject's wall time with more workers, in terms of its own with the fewest.
//!
//! Only where the file has several numbers of workers. A subject that cannot have more than one has no column.

use runnext_bench::subject::Subject;

use super::board::{Board, Line, Ratio};
use super::document::Spread;
use super::heat::{class, text};
use super::markup::Markup;
use crate::units::{time, workers};

/// The lines of one work: the one with the fewest workers, and those with more, in rising order.
struct Scaling<'a> {
    fewest: &'a Line<'a>,
    more: Vec<&'a Line<'a>>,
}

/// Whether `board` has anything to compare.
pub(crate) fn has_any(board: &Board<'_>) -> bool {
    !scalings(board).is_empty()
}

/// Writes the table.
pub(crate) fn write(page: &mut Markup, board: &Board<'_>) {
    let columns: Vec<_> = columns(board).collect();
    let scalings = scalings(board);
    page.leaf("p", &[], verdict(&scalings, &columns));
    page.element("table", &[("class", &"heat")], |table| {
        table.leaf("caption", &[], CAPTION);
        table.element("thead", &[], |head| {
            head.element("tr", &[], |tr| {
                for heading in ["scenario", "workers", "against"] {
                    tr.leaf("th", &[("scope", &"col")], heading);
                }
                for (_, subject) in &columns {
                    tr.leaf("th", &[("scope", &"col")], subject);
                }
            });
        });
        table.element("tbody", &[], |body| {
            for scaling in &scalings {
                for line in &scaling.more {
                    body.element("tr", &[], |tr| write_line(tr, scaling, line, &columns));
                }
            }
        });
    });
}

const CAPTION: &str = "Wall time per operation as a multiple of the same subject's with the fewest \
    workers: above 1, the added workers hurt.";

fn columns<'a>(board: &'a Board<'_>) -> impl Iterator<Item = (usize, Subject)> + 'a {
    let subjects = board.subjects.iter().copied().enumerate();
    subjects.filter(|(_, subject)| subject.max_workers() != Some(1))
}

fn scalings<'a>(board: &'a Board<'a>) -> Vec<Scaling<'a>> {
    let mut scalings: Vec<Vec<&Line<'_>>> = Vec::new();
    for line in &board.lines {
        match scalings.iter_mut().find(|lines| lines[0].same_work(line)) {
            Some(lines) => lines.push(line),
            None => scalings.push(vec![line]),
        }
    }
    let sorted = |mut lines: Vec<&'a Line<'a>>| {
        lines.sort_by_key(|line| line.workers);
        let fewest = lines.remove(0);
        (!lines.is_empty()).then_some(Scaling {
            fewest,
            more: lines,
        })
    };
    scalings.into_iter().filter_map(sorted).collect()
}

impl Scaling<'_> {
    fn ratio(&self, line: &Line<'_>, column: usize) -> Option<Ratio> {
        Ratio::new(wall(line, column)?, wall(self.fewest, column)?)
    }
}

fn wall(line: &Line<'_>, column: usize) -> Option<Spread> {
    Some(line.cells[column]?.figures.as_ref()?.wall)
}

fn write_line(
    tr: &mut Markup,
    scaling: &Scaling<'_>,
    line: &Line<'_>,
    columns: &[(usize, Subject)],
) {
    tr.leaf("th", &[("scope", &"row")], line.work());
    tr.leaf("td", &[("class", &"count")], line.workers);
    tr.leaf("td", &[("class", &"count")], scaling.fewest.workers);
    for (column, _) in columns {
        match (scaling.ratio(line, *column), wall(line, *column)) {
            (Some(ratio), Some(wall)) => tr.element("td", &[("class", &class(ratio))], |td| {
                td.text(text(ratio));
                td.leaf("small", &[], time(wall.median));
            }),
            _ => tr.leaf("td", &[("class", &"none")], "-"),
        }
    }
}

/// How often added workers hurt each subject, in a sentence.
fn verdict(scalings: &[Scaling<'_>], columns: &[(usize, Subject)]) -> String {
    let ratios = |column: usize| {
        scalings.iter().flat_map(move |scaling| {
            let ratio = move |line: &&Line<'_>| scaling.ratio(line, column);
            scaling.more.iter().filter_map(ratio)
        })
    };
    let counts: Vec<_> = columns
        .iter()
        .map(|(column, subject)| {
            let hurt = ratios(*column).filter(|ratio| ratio.differs && ratio.value > 1.0);
            let (hurt, all) = (hurt.count(), ratios(*column).count());
            format!("{subject} in {hurt} of {all}")
        })
        .collect();
    let fewest = scalings.iter().map(|scaling| scaling.fewest.workers).min();
    format!(
        "Slower than with {}, by more than the spread: {}.",
        workers(fewest.unwrap_or(1)),
        counts.join(", ")
    )
}
