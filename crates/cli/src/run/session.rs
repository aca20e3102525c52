//! The order in which cells are measured, and what was found of each.
//!
//! A **round** measures every cell once. In each, first come the cells that work, one after the other; then those that
//! rest, which in a hurry run side by side, as many as can have a turn within one rest ([`Pace::together`]). After the
//! last round, cells whose scenario has chunks are watched, each in one more process.
//!
//! A cell that fails is not tried again and does not stop the others. Only one that failed beside others is: it may have
//! waited in vain for the turn of another that hung.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use runnext_bench::cell::{Cell, Effort, Measured, View};
use runnext_bench::chunks::Chunks;
use runnext_bench::row::Row;
use serde::de::DeserializeOwned;

use super::process::{Outcome, Processes};
use super::table;
use crate::cell::{Job, Look};

/// The user wants no more.
pub(crate) struct Interrupted;

/// How much is done for each cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) rounds: u32,
    pub(crate) effort: Effort,
    /// Whether cells rest side by side.
    pub(crate) hurried: bool,
    /// How long cells are watched, and what part of their scenario's chunk is one; `None`: not at all.
    pub(crate) watched: Option<(Duration, u64)>,
}

impl Pace {
    /// How many cells that rest for so long run side by side: as many as can have a turn during one rest, since a cell
    /// should have its own when its rest is over.
    fn together(self, rest: Duration) -> usize {
        /// A little more than a waker goes on for.
        const TURN: Duration = Duration::from_millis(60);
        if self.hurried {
            1 + (rest.as_millis() / TURN.as_millis()) as usize
        } else {
            1
        }
    }

    /// The effort for `cell`. In a hurry, one that rests does so for one sample a round.
    fn effort(self, cell: &Cell) -> Effort {
        if self.hurried && !cell.rest().is_zero() {
            self.effort.with_ops(1)
        } else {
            self.effort
        }
    }

    fn view(self, cell: &Cell) -> Option<View> {
        let (lasts, parts) = self.watched?;
        let chunk_ops = (cell.scenario.entry().chunk? / parts).max(1);
        Some(View { lasts, chunk_ops })
    }
}

/// What was found so far, cell by cell.
pub(crate) struct Session<'a> {
    found: Vec<Found<'a>>,
    pace: Pace,
}

struct Found<'a> {
    cell: &'a Cell,
    rounds: Vec<Measured>,
    chunks: Option<Chunks>,
    error: Option<String>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(cells: &'a [Cell], pace: Pace) -> Self {
        let nothing = |cell| Found {
            cell,
            rounds: Vec::new(),
            chunks: None,
            error: None,
        };
        Self {
            found: cells.iter().map(nothing).collect(),
            pace,
        }
    }

    /// Measures all rounds, then watches.
    pub(crate) fn measure(&mut self, processes: &Processes) -> Result<(), Interrupted> {
        let batches = batches(self.found.iter().map(|found| found.cell), self.pace);
        let watched = self
            .found
            .iter()
            .filter_map(|found| self.pace.view(found.cell));
        let cells = self.found.len() as u64 * u64::from(self.pace.rounds);
        let progress = progress(cells + watched.count() as u64);
        for _ in 0..self.pace.rounds {
            for batch in &batches {
                progress.set_message(self.describe(batch));
                self.measure_batch(batch, processes)?;
                progress.inc(batch.len() as u64);
            }
        }
        for found in &mut self.found {
            if let Some(view) = self.pace.view(found.cell) {
                progress.set_message(format!("{}, in chunks", table::describe(found.cell)));
                found.watch(view, processes)?;
                progress.inc(1);
            }
        }
        // An interrupt leaves the bar to be dropped, which clears it as well.
        progress.finish_and_clear();
        Ok(())
    }

    /// One round of the cells with these numbers, side by side.
    fn measure_batch(&mut self, batch: &[usize], processes: &Processes) -> Result<(), Interrupted> {
        let batch: Vec<_> = batch
            .iter()
            .copied()
            .filter(|&index| self.found[index].can_be_measured())
            .collect();
        let jobs: Vec<_> = batch
            .iter()
            .map(|&index| self.found[index].job(self.pace, batch.len() > 1))
            .collect();
        let outcomes = processes.run_together(&jobs);
        for (&index, outcome) in batch.iter().zip(outcomes) {
            let found = &mut self.found[index];
            let outcome = match outcome {
                Outcome::Failed(_) if batch.len() > 1 => {
                    processes.run(&found.job(self.pace, false))
                }
                outcome => outcome,
            };
            let measured = found.keep(outcome)?;
            found.rounds.extend(measured);
        }
        Ok(())
    }

    fn describe(&self, batch: &[usize]) -> String {
        let first = table::describe(self.found[batch[0]].cell);
        match batch.len() {
            1 => first,
            count => format!("{first}, and {} more at rest", count - 1),
        }
    }

    pub(crate) fn rows(self) -> Vec<Row> {
        let row = |found: Found<'_>| {
            Row::new(found.cell, &found.rounds, found.error).with_chunks(found.chunks)
        };
        self.found.into_iter().map(row).collect()
    }
}

impl Found<'_> {
    fn can_be_measured(&self) -> bool {
        self.error.is_none() && self.cell.scenario.supported_by(self.cell.subject).is_ok()
    }

    fn job(&self, pace: Pace, in_turns: bool) -> Job {
        Job {
            cell: *self.cell,
            look: Look::Measure(pace.effort(self.cell)),
            in_turns,
        }
    }

    fn watch(&mut self, view: View, processes: &Processes) -> Result<(), Interrupted> {
        if self.can_be_measured() {
            let job = Job {
                cell: *self.cell,
                look: Look::Watch(view),
                in_turns: false,
            };
            self.chunks = self.keep(processes.run(&job))?;
        }
        Ok(())
    }

    /// What was found, if anything; why not, otherwise, is kept.
    fn keep<T: DeserializeOwned>(&mut self, outcome: Outcome<T>) -> Result<Option<T>, Interrupted> {
        match outcome {
            Outcome::Found(found) => Ok(Some(found)),
            Outcome::Failed(reason) => {
                self.error = Some(reason);
                Ok(None)
            }
            Outcome::Interrupted => Err(Interrupted),
        }
    }
}

/// The cells by number, those together that run side by side: by the length of their rest, otherwise in their order.
fn batches<'a>(cells: impl Iterator<Item = &'a Cell>, pace: Pace) -> Vec<Vec<usize>> {
    let rests: Vec<_> = cells.map(Cell::rest).collect();
    let mut order: Vec<_> = (0..rests.len()).collect();
    if pace.hurried {
        order.sort_by_key(|&index| rests[index]);
    }
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        match batches.last_mut() {
            Some(batch)
                if rests[batch[0]] == rests[index] && batch.len() < pace.together(rests[index]) =>
            {
                batch.push(index);
            }
            _ => batches.push(vec![index]),
        }
    }
    batches
}

/// A bar on stderr; nothing if that is not a terminal.
fn progress(cells: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {wide_msg}");
    ProgressBar::new(cells).with_style(style.expect("the template names only known fields"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(hurried: bool) -> Pace {
        Pace {
            rounds: 3,
            effort: Effort::QUICK,
            hurried,
            watched: Some((Duration::from_millis(250), 10)),
        }
    }

    fn cell(scenario: &str, size: Option<u32>) -> Cell {
        Cell {
            scenario: scenario.parse().unwrap(),
            size,
            subject: "tokio".parse().unwrap(),
            workers: 2,
            pin: false,
        }
    }

    #[test]
    fn in_a_hurry_those_with_a_like_rest_run_side_by_side() {
        let cells = [
            cell("latency-spin", Some(3000)),
            cell("requeue", Some(1)),
            cell("latency-sleep", Some(3000)),
            cell("latency-spin", Some(100)),
            cell("requeue", Some(4)),
        ];
        let hurried = batches(cells.iter(), pace(true));
        assert_eq!(hurried, [vec![1], vec![4], vec![3], vec![0, 2]]);
        let patient = batches(cells.iter(), pace(false));
        assert_eq!(patient, [vec![0], vec![1], vec![2], vec![3], vec![4]]);
    }

    #[test]
    fn no_more_rest_together_than_can_have_a_turn_meanwhile() {
        let cells = [cell("latency-spin", Some(100)); 5];
        let sizes: Vec<_> = batches(cells.iter(), pace(true))
            .iter()
            .map(Vec::len)
            .collect();
        assert_eq!(sizes, [2, 2, 1]);
    }

    #[test]
    fn only_scenarios_with_chunks_are_watched() {
        assert_eq!(pace(true).view(&cell("requeue", Some(1))), None);
        let view = pace(true).view(&cell("reply-exit", None)).unwrap();
        assert_eq!((view.chunk_ops, view.lasts.as_millis()), (2000, 250));
    }
}
