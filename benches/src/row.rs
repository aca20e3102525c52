//! The file that a run leaves behind: the machine, and a row for each cell with the median of its rounds.
//!
//! A median, because one disturbed round says nothing about the subject; minimum and maximum beside it, because a claim
//! smaller than the spread should not be made. Medians of wall and CPU time are taken apart: each is the middle of its
//! own figures. What failed, and what a subject cannot do, is a row too.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Measured, Quantiles};
use crate::chunks::Chunks;
use crate::machine::Machine;
use crate::subject::Subject;

/// Everything a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// One for each cell, in the order of the table.
    pub rows: Vec<Row>,
}

/// One scenario with one parameter on one subject with one number of workers, all rounds together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's parameter and its value; empty if it has none.
    pub params: BTreeMap<String, u32>,
    /// A variant or a peer.
    pub subject: Subject,
    /// How many workers it had. One for `limit`, however many its threads are.
    pub workers: usize,
    /// What was measured; absent if no round succeeded.
    #[serde(flatten)]
    pub figures: Option<Figures>,
    /// How the cost of an operation changed from the first one on; absent if nobody watched.
    #[serde(flatten)]
    pub chunks: Option<Chunks>,
    /// Why a round failed or was ended, if one did: the last such reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why the subject cannot run this scenario, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
}

/// The figures of a row; times are per operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Nanoseconds on the clock, the median of the rounds.
    pub wall_ns: f64,
    /// Nanoseconds of processor time, all threads together, the median of the rounds.
    pub cpu_ns: f64,
    /// The fastest round's nanoseconds on the clock.
    pub wall_min: f64,
    /// The slowest round's nanoseconds on the clock.
    pub wall_max: f64,
    /// The least nanoseconds of processor time that a round took.
    pub cpu_min: f64,
    /// The most nanoseconds of processor time that a round took.
    pub cpu_max: f64,
    /// Rounds that succeeded.
    pub rounds: usize,
    /// Operations that were timed, all rounds together.
    pub ops: u64,
    /// How often a thread went to sleep, the median of the rounds.
    pub voluntary_switches_per_op: f64,
    /// Bytes that were asked of the allocator, the median of the rounds; where they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alloc_bytes_per_op: Option<f64>,
    /// Operations in a second, from the median on the clock; of scenarios whose operations are requests to a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// Threads of the process, clients and reactor included, the most of the rounds; where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The spread of single operations' times, where the scenario takes them: medians of the rounds' quantiles,
    /// and the greatest of their maxima.
    #[serde(flatten)]
    pub quantiles: Option<Quantiles>,
    /// What the subject counted of its own doings, all timed operations together; empty for peers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stats: BTreeMap<String, u64>,
}

impl Row {
    /// The row of `cell`, from what its rounds found.
    #[must_use]
    pub fn new(cell: &Cell, rounds: &[Measured], error: Option<String>) -> Self {
        let name = cell
            .scenario
            .entry()
            .param
            .map(|param| param.name.to_owned());
        Self {
            scenario: cell.scenario.to_string(),
            params: name.into_iter().zip(cell.size).collect(),
            subject: cell.subject,
            workers: cell.workers,
            figures: Figures::of(rounds).map(|figures| Figures {
                per_second: cell.scenario.entry().io.then(|| 1e9 / figures.wall_ns),
                ..figures
            }),
            chunks: None,
            error,
            unsupported: cell
                .scenario
                .supported_by(cell.subject)
                .err()
                .map(str::to_owned),
        }
    }

    /// The same row, with what [`crate::cell::watch`] found of its cell.
    #[must_use]
    pub fn with_chunks(self, chunks: Option<Chunks>) -> Self {
        Self { chunks, ..self }
    }
}

impl Figures {
    /// `None` if there is nothing to take a median of.
    #[must_use]
    pub fn of(rounds: &[Measured]) -> Option<Self> {
        let (wall_min, wall_max) = range(rounds, |round| round.wall_ns)?;
        let (cpu_min, cpu_max) = range(rounds, |round| round.cpu_ns)?;
        let counted: Vec<_> = rounds
            .iter()
            .filter_map(|round| round.alloc_bytes_per_op)
            .collect();
        Some(Self {
            wall_ns: median(rounds, |round| round.wall_ns)?,
            cpu_ns: median(rounds, |round| round.cpu_ns)?,
            wall_min,
            wall_max,
            cpu_min,
            cpu_max,
            rounds: rounds.len(),
            ops: rounds.iter().map(|round| round.ops).sum(),
            voluntary_switches_per_op: median(rounds, |round| round.voluntary_switches_per_op)?,
            alloc_bytes_per_op: median(&counted, |bytes| *bytes),
            per_second: None,
            threads: rounds.iter().filter_map(|round| round.threads).max(),
            quantiles: Quantiles::median(rounds),
            stats: sum(rounds.iter().map(|round| &round.stats)),
        })
    }
}

impl Quantiles {
    fn median(rounds: &[Measured]) -> Option<Self> {
        let rounds: Vec<_> = rounds.iter().filter_map(|round| round.quantiles).collect();
        Some(Self {
            p50_us: median(&rounds, |round| round.p50_us)?,
            p75_us: median(&rounds, |round| round.p75_us)?,
            p90_us: median(&rounds, |round| round.p90_us)?,
            p99_us: median(&rounds, |round| round.p99_us)?,
            max_us: rounds.iter().map(|round| round.max_us).reduce(f64::max)?,
        })
    }
}

fn sum<'a>(counts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    for (name, count) in counts.flatten() {
        *sum.entry(name.clone()).or_default() += count;
    }
    sum
}

fn sorted<T>(rounds: &[T], figure: impl Fn(&T) -> f64) -> Vec<f64> {
    let mut figures: Vec<_> = rounds.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures
}

fn range<T>(rounds: &[T], figure: impl Fn(&T) -> f64) -> Option<(f64, f64)> {
    let figures = sorted(rounds, figure);
    Some((*figures.first()?, *figures.last()?))
}

/// The middle figure, or the mean of the two in the middle.
fn median<T>(rounds: &[T], figure: impl Fn(&T) -> f64) -> Option<f64> {
    let figures = sorted(rounds, figure);
    let upper = *figures.get(figures.len() / 2)?;
    let lower = figures[(figures.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests;
