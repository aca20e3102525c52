//! What a run found, for people: a line for each scenario and parameter, a column for each subject.
//!
//! A second line holds median and 99th percentile of scenarios that take the time of each operation: there the tail is
//! what matters, and a mean hides it.
//!
//! Where the window is too narrow for all subjects, the table goes on below with the rest of them and the same lines.
//! Rejected: wrapping the cells, after which no two figures that belong together stand side by side.

use std::collections::BTreeSet;
use std::ops::Range;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use runnext_bench::cell::{Cell, Quantiles};
use runnext_bench::chunks::Drift;
use runnext_bench::machine::Machine;
use runnext_bench::row::{Figures, Report, Row};
use runnext_bench::scenario::Scenario;
use runnext_bench::subject::{Peer, Subject};

use super::grid::{Grid, Line};
use crate::units::{Unit, team, three_digits, time};

/// Columns of a window whose width is not known, as of a file.
const WIDTH: usize = 120;

/// What a column needs besides its text: a blank on either side, and a line.
const FRAME: usize = 3;

/// One printed line: the scenario, its number of workers, and a text for each subject.
type Texts = Vec<String>;

/// How many texts of a line stand before those of the subjects.
const LABELS: usize = 2;

/// The machine, the table, and how to read it.
pub(crate) fn render(grid: &Grid, report: &Report, rounds: u32) -> String {
    let width = Table::new().width().map_or(WIDTH, usize::from);
    let lines = lines(grid, report);
    let tables: Vec<_> = blocks(&lines, width)
        .into_iter()
        .map(|subjects| block(&lines, subjects).to_string())
        .collect();
    let spread = grid.lines.iter().any(|line| line.scenario.entry().spread);
    format!(
        "{}\n{}\nwall / CPU time per operation{}, {}{}",
        machine(&report.machine),
        tables.join("\n"),
        if spread {
            "; p50 / p99 of single operations"
        } else {
            ""
        },
        describe_rounds(report, rounds),
        describe_limit(grid),
    )
}

/// A line for those who see `limit` where it is not the loop that they know.
fn describe_limit(grid: &Grid) -> &'static str {
    let limit = Subject::Peer(Peer::Limit);
    let mut cells = grid.cells.iter();
    if cells.any(|cell| cell.subject == limit && !cell.rest().is_zero()) {
        "\nlimit, in latency-*: two threads without an executor, what the machine takes to wake one after the other"
    } else {
        ""
    }
}

fn describe_rounds(report: &Report, rounds: u32) -> String {
    let measured = report.rows.iter().filter_map(|row| row.figures.as_ref());
    let fewest = measured.map(|figures| figures.rounds).min();
    match rounds {
        1 => "one round".to_owned(),
        _ if fewest < Some(rounds as usize) => format!("median of up to {rounds} rounds"),
        _ => format!("median of {rounds} rounds"),
    }
}

/// The headings and everything below them.
fn lines(grid: &Grid, report: &Report) -> Vec<Texts> {
    let labels = ["scenario", "workers"].map(str::to_owned);
    let subjects = grid
        .subjects
        .iter()
        .map(|subject| heading(*subject, &grid.lines));
    let mut lines = vec![labels.into_iter().chain(subjects).collect()];
    for line in &grid.lines {
        let rows: Vec<_> = grid
            .subjects
            .iter()
            .map(|subject| find(*line, *subject, grid, report))
            .collect();
        let labels = [scenario(line.scenario, line.size), line.workers.to_string()];
        let costs = rows.iter().map(|row| row.map_or_else(String::new, cost));
        lines.push(labels.into_iter().chain(costs).collect());
        if rows.iter().flatten().any(|row| quantiles(row).is_some()) {
            let labels = ["  p50 / p99".to_owned(), String::new()];
            let tails = rows.iter().map(|row| {
                row.and_then(quantiles)
                    .map_or_else(String::new, median_and_tail)
            });
            lines.push(labels.into_iter().chain(tails).collect());
        }
        if line.scenario.entry().io {
            let labels = ["  per second".to_owned(), String::new()];
            let rates = rows.iter().map(|row| row.map_or_else(String::new, rate));
            lines.push(labels.into_iter().chain(rates).collect());
        }
    }
    lines
}

fn find<'a>(line: Line, subject: Subject, grid: &Grid, report: &'a Report) -> Option<&'a Row> {
    let workers = line.workers_of(subject);
    let index = grid.cells.iter().position(|cell| {
        (cell.subject, cell.workers) == (subject, workers)
            && (cell.scenario, cell.size) == (line.scenario, line.size)
    })?;
    report.rows.get(index)
}

/// Which columns stand in one table each, about as many in each, if none may be wider than `width`. A single one may.
fn blocks(lines: &[Texts], width: usize) -> Vec<Range<usize>> {
    let subjects = lines[0].len() - LABELS;
    let fewest = filled_blocks(lines, width, subjects);
    let even = subjects.div_ceil(fewest.len());
    let balanced = filled_blocks(lines, width, even);
    if balanced.len() == fewest.len() {
        balanced
    } else {
        fewest
    }
}

/// The same, each with as many columns as fit, but `most` of them.
fn filled_blocks(lines: &[Texts], width: usize, most: usize) -> Vec<Range<usize>> {
    let columns = lines[0].len();
    let needs = |column: usize| {
        let texts = lines.iter().map(|line| line[column].chars().count());
        texts.max().unwrap_or(0) + FRAME
    };
    let labels: usize = 1 + (0..LABELS).map(needs).sum::<usize>();
    let (mut blocks, mut first, mut used) = (Vec::new(), LABELS, labels);
    for column in LABELS..columns {
        let full = used + needs(column) > width || column - first == most;
        if full && column > first {
            blocks.push(first..column);
            (first, used) = (column, labels);
        }
        used += needs(column);
    }
    blocks.push(first..columns);
    blocks
}

fn block(lines: &[Texts], subjects: Range<usize>) -> Table {
    let texts = |line: &Texts| [&line[..LABELS], &line[subjects.clone()]].concat();
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(texts(&lines[0]));
    table.add_rows(lines[1..].iter().map(texts));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A line for each cell that failed.
pub(crate) fn failures(report: &Report) -> impl Iterator<Item = String> {
    report.rows.iter().filter_map(|row| {
        let reason = row.error.as_ref()?;
        Some(format!("failed: {}: {reason}", describe_row(row)))
    })
}

/// A line for each cell whose cost, as it was watched from the first operation on, clearly changed.
pub(crate) fn drifts(report: &Report) -> impl Iterator<Item = String> {
    report.rows.iter().filter_map(|row| {
        let Drift { first_ns, last_ns } = row.chunks.as_ref()?.drift()?;
        let direction = if last_ns < first_ns {
            "faster"
        } else {
            "slower"
        };
        Some(format!(
            "{}: {direction} in its last chunks, {}, than in its first, {}",
            describe_row(row),
            time(last_ns),
            time(first_ns)
        ))
    })
}

fn describe_row(row: &Row) -> String {
    let params = row.params.iter();
    let params: String = params
        .map(|(name, value)| format!(" {name} {value}"))
        .collect();
    format!(
        "{}{params}, {}, {}",
        row.scenario,
        row.subject,
        team(row.scenario.parse().ok(), row.subject, row.workers as u64)
    )
}

/// One cell, in a few words.
pub(crate) fn describe(cell: &Cell) -> String {
    format!(
        "{}, {}, {}",
        scenario(cell.scenario, cell.size),
        cell.subject,
        team(Some(cell.scenario), cell.subject, cell.workers as u64)
    )
}

fn scenario(scenario: Scenario, size: Option<u32>) -> String {
    match (scenario.entry().param, size) {
        (Some(param), Some(size)) => format!("{scenario} {} {size}", param.name),
        _ => scenario.to_string(),
    }
}

/// The subject; and its threads where their number is not that of the line, as in `limit (1 or 2 threads)`.
fn heading(subject: Subject, lines: &[Line]) -> String {
    let threads = lines
        .iter()
        .map(|line| line.scenario.fixed_threads(subject));
    let threads: BTreeSet<_> = threads.flatten().collect();
    let counts: Vec<_> = threads.iter().map(usize::to_string).collect();
    match threads.last() {
        None => subject.to_string(),
        Some(1) => format!("{subject} (1 thread)"),
        Some(_) => format!("{subject} ({} threads)", counts.join(" or ")),
    }
}

fn machine(machine: &Machine) -> String {
    let cpu = machine.cpu.as_deref().unwrap_or(&machine.arch);
    let kernel = machine.kernel.as_deref().unwrap_or_default();
    let commit = machine.commit.as_deref().unwrap_or(&machine.version);
    let pinned = if machine.pinned {
        "pinned"
    } else {
        "not pinned"
    };
    format!(
        "{} cores of {cpu}, {} {kernel}, runnext {commit}, workers {pinned}",
        machine.cores, machine.os
    )
}

fn cost(row: &Row) -> String {
    match (&row.figures, &row.error, &row.unsupported) {
        (Some(figures), None, _) => wall_and_cpu(figures),
        (Some(figures), Some(_), _) => format!("{} (failed later)", wall_and_cpu(figures)),
        (None, Some(_), _) => "failed".to_owned(),
        (None, None, Some(_)) => "unsupported".to_owned(),
        (None, None, None) => "not measured".to_owned(),
    }
}

/// Requests that a server answers in a second, in thousands.
fn rate(row: &Row) -> String {
    let rate = row.figures.as_ref().and_then(|figures| figures.per_second);
    rate.map_or_else(String::new, |rate| {
        format!("{} k", three_digits(rate / 1e3))
    })
}

fn quantiles(row: &Row) -> Option<Quantiles> {
    row.figures.as_ref()?.quantiles
}

fn wall_and_cpu(figures: &Figures) -> String {
    pair(figures.wall_ns, figures.cpu_ns)
}

fn median_and_tail(quantiles: Quantiles) -> String {
    pair(quantiles.p50_us * 1e3, quantiles.p99_us * 1e3)
}

/// Two times, both in the unit that suits the first.
fn pair(one: f64, other: f64) -> String {
    let unit = Unit::of(one);
    format!(
        "{} / {} {}",
        unit.figure(one),
        unit.figure(other),
        unit.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_widths(widths: &[usize]) -> Vec<Texts> {
        vec![widths.iter().map(|width| "x".repeat(*width)).collect()]
    }

    #[test]
    fn a_table_that_is_too_wide_goes_on_below() {
        let lines = of_widths(&[10, 7, 14, 14, 14]);
        let blocks = |width| -> Vec<_> {
            let blocks = blocks(&lines, width).into_iter();
            blocks.map(|block| (block.start, block.end)).collect()
        };
        // One line at the left, and of each column its text and three more.
        assert_eq!(blocks(1 + 13 + 10 + 3 * 17), [(2, 5)]);
        assert_eq!(blocks(1 + 13 + 10 + 2 * 17), [(2, 4), (4, 5)]);
        assert_eq!(blocks(1 + 13 + 10 + 17), [(2, 3), (3, 4), (4, 5)]);
        assert_eq!(blocks(0), [(2, 3), (3, 4), (4, 5)]);
        let widest = block(&lines, 2..4).to_string();
        let width = widest.lines().map(|line| line.chars().count()).max();
        assert_eq!(width, Some(1 + 13 + 10 + 2 * 17));
    }

    #[test]
    fn no_subject_is_left_alone_where_it_need_not_be() {
        let lines = of_widths(&[10, 7, 14, 14, 14, 14, 14, 14]);
        // Five would fit into the first table.
        let blocks = blocks(&lines, 1 + 13 + 10 + 5 * 17);
        assert_eq!(blocks, [2..5, 5..8]);
    }

    #[test]
    fn a_heading_says_how_many_threads_the_limit_has() {
        let heading = |subject: &str, scenarios: &[Scenario]| {
            let lines = scenarios.iter().map(|&scenario| Line {
                scenario,
                size: None,
                workers: 4,
            });
            heading(subject.parse().unwrap(), &Vec::from_iter(lines))
        };
        let (one, two) = (Scenario::Requeue, Scenario::LatencySleep);
        assert_eq!(heading("limit", &[one]), "limit (1 thread)");
        assert_eq!(heading("limit", &[two]), "limit (2 threads)");
        assert_eq!(heading("limit", &[one, two, one]), "limit (1 or 2 threads)");
        assert_eq!(heading("tokio", &[one, two]), "tokio");
    }

    #[test]
    fn two_times_share_the_unit_of_the_first() {
        assert_eq!(pair(1234.0, 250.0), "1.23 / 0.25 us");
        assert_eq!(pair(812.0, 1580.0), "812 / 1580 ns");
    }
}
