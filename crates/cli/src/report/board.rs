//! The rows of a file as a board: a line for each scenario, its parameters and number of workers, a column for each
//! subject; and what may be said when two of its cells are compared.
//!
//! The **best peer** of a line is the fastest executor that one could use instead of ours. `limit` is none: it shows
//! where the floor is, but nobody could ship it.
//!
//! Two figures **differ** only if no round of the one lies between rounds of the other. Anything else is inside the
//! spread, and so is everything where the spread is not known, as after a single round.

use std::collections::BTreeMap;

use runnext_bench::subject::{Peer, Subject};

use super::document::{Document, Row, Spread};
use crate::units::workers;

/// All lines, in the order of the file.
#[derive(Debug)]
pub(crate) struct Board<'a> {
    /// The columns.
    pub(crate) subjects: Vec<Subject>,
    pub(crate) lines: Vec<Line<'a>>,
}

/// What ran under equal terms.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) scenario: &'a str,
    params: &'a BTreeMap<String, u64>,
    pub(crate) workers: u64,
    /// One for each subject of the board; `None` if it was not part of the run.
    pub(crate) cells: Vec<Option<&'a Row>>,
}

/// One figure in terms of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) differs: bool,
}

impl<'a> Board<'a> {
    /// Sorts the rows of `document` into lines and columns.
    pub(crate) fn new(document: &'a Document) -> Self {
        let rows = &document.rows;
        let subjects: Vec<_> = Subject::all()
            .into_iter()
            .filter(|subject| rows.iter().any(|row| row.subject == *subject))
            .collect();
        let mut lines: Vec<Line<'a>> = Vec::new();
        for row in rows {
            if makes_a_line(row, rows) && !lines.iter().any(|line| line.is_of(row)) {
                lines.push(Line::new(row, &subjects, rows));
            }
        }
        Self { subjects, lines }
    }

    /// The lines by scenario, in the order of the file.
    pub(crate) fn scenarios(&self) -> Vec<(&'a str, Vec<&Line<'a>>)> {
        let mut scenarios: Vec<(&str, Vec<_>)> = Vec::new();
        for line in &self.lines {
            match scenarios
                .iter_mut()
                .find(|(name, _)| *name == line.scenario)
            {
                Some((_, lines)) => lines.push(line),
                None => scenarios.push((line.scenario, vec![line])),
            }
        }
        scenarios
    }
}

/// Whether `row` has as many workers as the others: one that cannot have as many joins their lines.
fn makes_a_line(row: &Row, rows: &[Row]) -> bool {
    let unbounded = |other: &Row| {
        other.subject.max_workers().is_none()
            && (&other.scenario, &other.params) == (&row.scenario, &row.params)
    };
    row.subject.max_workers().is_none() || !rows.iter().any(unbounded)
}

impl<'a> Line<'a> {
    fn new(row: &'a Row, subjects: &[Subject], rows: &'a [Row]) -> Self {
        let find = |subject: &Subject| {
            let bound = subject.max_workers().map_or(u64::MAX, |max| max as u64);
            rows.iter().find(|other| {
                other.subject == *subject
                    && other.workers == row.workers.min(bound)
                    && (&other.scenario, &other.params) == (&row.scenario, &row.params)
            })
        };
        Self {
            scenario: &row.scenario,
            params: &row.params,
            workers: row.workers,
            cells: subjects.iter().map(find).collect(),
        }
    }

    fn is_of(&self, row: &Row) -> bool {
        (self.scenario, self.params, self.workers)
            == (row.scenario.as_str(), &row.params, row.workers)
    }

    /// Whether `other` is the same work with another number of workers.
    pub(crate) fn same_work(&self, other: &Self) -> bool {
        (self.scenario, self.params) == (other.scenario, other.params)
    }

    /// The scenario and its parameters, as in `ping-pong, pairs 4`.
    pub(crate) fn work(&self) -> String {
        let params = self.params.iter();
        params.fold(self.scenario.to_owned(), |work, (name, value)| {
            format!("{work}, {name} {value}")
        })
    }

    /// The parameters and the number of workers, as in `pairs 4, 2 workers`.
    pub(crate) fn terms(&self) -> String {
        let params = self.params.iter();
        params.fold(String::new(), |terms, (name, value)| {
            format!("{terms}{name} {value}, ")
        }) + &workers(self.workers)
    }

    /// The cells of subjects that were part of the run.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &'a Row> {
        self.cells.iter().flatten().copied()
    }

    /// The fastest executor that one could use instead of ours.
    pub(crate) fn best_peer(&self) -> Option<(&'a Row, Spread)> {
        let peers = self.rows().filter(|row| {
            matches!(row.subject, Subject::Peer(peer) if peer != Peer::Limit) && row.error.is_none()
        });
        peers
            .filter_map(|row| Some((row, row.figures.as_ref()?.wall)))
            .min_by(|(_, one), (_, other)| one.median.total_cmp(&other.median))
    }
}

impl Ratio {
    /// How many times `reference` fits into `figure`; `None` if that is not a number.
    pub(crate) fn new(figure: Spread, reference: Spread) -> Option<Self> {
        let value = figure.median / reference.median;
        value.is_finite().then(|| Self {
            value,
            differs: differ(figure, reference),
        })
    }
}

fn differ(one: Spread, other: Spread) -> bool {
    match (one.range, other.range) {
        (Some((min, max)), Some((other_min, other_max))) => max < other_min || other_max < min,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(min: f64, median: f64, max: f64) -> Spread {
        Spread {
            median,
            range: Some((min, max)),
        }
    }

    #[test]
    fn figures_differ_only_if_their_rounds_lie_apart() {
        let reference = spread(90.0, 100.0, 110.0);
        let differs = |figure| Ratio::new(figure, reference).unwrap().differs;
        assert!(differs(spread(40.0, 50.0, 89.0)) && differs(spread(111.0, 120.0, 130.0)));
        assert!(!differs(spread(40.0, 50.0, 90.0)) && !differs(spread(95.0, 96.0, 97.0)));
        let single = Spread {
            median: 1.0,
            range: None,
        };
        assert!(!differs(single), "one round has no spread to be outside of");
    }

    #[test]
    fn nothing_is_a_multiple_of_nothing() {
        let zero = spread(0.0, 0.0, 0.0);
        assert_eq!(Ratio::new(zero, zero), None);
    }
}
