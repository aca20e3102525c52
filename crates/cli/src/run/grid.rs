//! Which cells a command line asks for, and in which order they are measured and shown.

use std::thread;

use runnext_bench::cell::Cell;
use runnext_bench::scenario::Scenario;
use runnext_bench::subject::{Peer, Subject, Variant};

use super::list::{List, Workers};

/// The cells of one run: every scenario, each value of its parameter, each number of workers, each subject.
#[derive(Debug)]
pub(crate) struct Grid {
    /// The columns of the table.
    pub(crate) subjects: Vec<Subject>,
    /// The lines of the table.
    pub(crate) lines: Vec<Line>,
    /// In the order in which they are measured: the subjects of one line follow each other.
    pub(crate) cells: Vec<Cell>,
}

/// What the cells of one line of the table have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) scenario: Scenario,
    pub(crate) size: Option<u32>,
    pub(crate) workers: usize,
}

impl Grid {
    /// The whole grid. An error if it has no cell.
    pub(crate) fn new(
        scenarios: &[Scenario],
        variants: &List<Variant>,
        peers: &List<Peer>,
        workers: Option<&List<Workers>>,
        pin: bool,
    ) -> Result<Self, String> {
        let ours = variants.0.iter().copied().map(Subject::Variant);
        let subjects: Vec<_> = ours
            .chain(peers.0.iter().copied().map(Subject::Peer))
            .collect();
        if subjects.is_empty() {
            return Err(
                "nothing to measure: `--variants` and `--peers` are both `none`; name at least one"
                    .to_owned(),
            );
        }
        let workers = workers.map_or_else(cores, |list| {
            list.0.iter().map(|workers| workers.0).collect()
        });
        if workers.is_empty() {
            return Err(
                "nothing to measure with: `--workers` is `none`; name a number, as in `1,2`"
                    .to_owned(),
            );
        }
        let lines = lines(scenarios, &workers);
        let cells = cells(&lines, &subjects, pin);
        Ok(Self {
            subjects,
            lines,
            cells,
        })
    }
}

impl Line {
    /// How many workers `subject` has on this line: fewer than the others, if it cannot have as many.
    pub(crate) fn workers_of(self, subject: Subject) -> usize {
        subject
            .max_workers()
            .map_or(self.workers, |max| self.workers.min(max))
    }
}

fn cores() -> Vec<usize> {
    vec![thread::available_parallelism().map_or(1, usize::from)]
}

fn lines(scenarios: &[Scenario], workers: &[usize]) -> Vec<Line> {
    let scenarios = if scenarios.is_empty() {
        &Scenario::ALL[..]
    } else {
        scenarios
    };
    let mut lines = Vec::new();
    for &scenario in scenarios {
        for size in scenario.sizes() {
            let of_size = workers.iter().map(|&workers| Line {
                scenario,
                size,
                workers,
            });
            lines.extend(
                of_size
                    .filter(|line| !lines.contains(line))
                    .collect::<Vec<_>>(),
            );
        }
    }
    lines
}

/// A subject that is the same on two lines, because it cannot have as many workers, is measured once.
fn cells(lines: &[Line], subjects: &[Subject], pin: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for line in lines {
        for &subject in subjects {
            let workers = line.workers_of(subject);
            let cell = Cell {
                scenario: line.scenario,
                size: line.size,
                subject,
                workers,
                pin,
            };
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(
        scenarios: &[Scenario],
        variants: &str,
        peers: &str,
        workers: &str,
    ) -> Result<Grid, String> {
        let workers = workers.parse()?;
        Grid::new(
            scenarios,
            &variants.parse()?,
            &peers.parse()?,
            Some(&workers),
            false,
        )
    }

    #[test]
    fn subjects_of_a_line_are_measured_one_after_the_other() {
        let grid = grid(&[Scenario::Requeue], "base,run-next", "tokio", "1,2").unwrap();
        let order: Vec<_> = grid
            .cells
            .iter()
            .map(|cell| (cell.size, cell.workers, cell.subject.name()))
            .collect();
        assert_eq!(
            order[..6],
            [
                (Some(1), 1, "base"),
                (Some(1), 1, "run-next"),
                (Some(1), 1, "tokio"),
                (Some(1), 2, "base"),
                (Some(1), 2, "run-next"),
                (Some(1), 2, "tokio"),
            ]
        );
        assert_eq!(order.len(), 12);
    }

    #[test]
    fn no_scenario_means_all_and_a_repeated_one_counts_once() {
        let all = grid(&[], "base", "none", "1").unwrap();
        assert_eq!(
            all.lines.len(),
            Scenario::ALL
                .iter()
                .map(|scenario| scenario.sizes().len())
                .sum::<usize>()
        );
        assert_eq!(
            grid(&[Scenario::ReplyExit; 2], "base", "none", "1")
                .unwrap()
                .lines
                .len(),
            1
        );
    }

    #[test]
    fn the_limit_is_measured_once_however_many_workers_the_others_get() {
        let grid = grid(&[Scenario::ReplyExit], "none", "limit,tokio", "2,4").unwrap();
        let limits: Vec<_> = grid
            .cells
            .iter()
            .filter(|cell| cell.subject.name() == "limit")
            .collect();
        assert_eq!(limits.len(), 1);
        assert_eq!(limits[0].workers, 1);
    }

    #[test]
    fn an_empty_grid_is_refused() {
        assert!(
            grid(&[], "none", "none", "1")
                .unwrap_err()
                .contains("--peers")
        );
        assert!(
            grid(&[], "base", "none", "none")
                .unwrap_err()
                .contains("--workers")
        );
    }
}
