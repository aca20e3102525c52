//! What a run found, for people: a line for each scenario and parameter, a column for each subject.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use runnext_bench::cell::Cell;
use runnext_bench::machine::Machine;
use runnext_bench::row::{Figures, Report, Row};
use runnext_bench::scenario::Scenario;
use runnext_bench::subject::Subject;

use super::grid::{Grid, Line};
use crate::units::{Unit, workers};

/// The machine, the table, and how to read it.
pub(crate) fn render(grid: &Grid, report: &Report, rounds: u32) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    let columns = grid.subjects.iter().map(|subject| heading(*subject));
    table.set_header(
        ["scenario".to_owned(), "workers".to_owned()]
            .into_iter()
            .chain(columns),
    );
    for line in &grid.lines {
        table.add_row(texts(*line, grid, report));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let measured = report.rows.iter().filter_map(|row| row.figures.as_ref());
    let fewest = measured.map(|figures| figures.rounds).min();
    let rounds = match rounds {
        1 => "one round".to_owned(),
        _ if fewest < Some(rounds as usize) => format!("median of up to {rounds} rounds"),
        _ => format!("median of {rounds} rounds"),
    };
    format!(
        "{}\n{table}\nwall / CPU time per operation, {rounds}",
        machine(&report.machine)
    )
}

/// A line for each cell that failed.
pub(crate) fn failures(report: &Report) -> impl Iterator<Item = String> {
    report.rows.iter().filter_map(|row| {
        let reason = row.error.as_ref()?;
        let params = row
            .params
            .iter()
            .map(|(name, value)| format!(" {name} {value}"))
            .collect::<String>();
        Some(format!(
            "failed: {}{params}, {}, {}: {reason}",
            row.scenario,
            row.subject,
            workers(row.workers as u64)
        ))
    })
}

/// One cell, in a few words.
pub(crate) fn describe(cell: &Cell) -> String {
    format!(
        "{}, {}, {}",
        scenario(cell.scenario, cell.size),
        cell.subject,
        workers(cell.workers as u64)
    )
}

fn scenario(scenario: Scenario, size: Option<u32>) -> String {
    match (scenario.entry().param, size) {
        (Some(param), Some(size)) => format!("{scenario} {} {size}", param.name),
        _ => scenario.to_string(),
    }
}

fn heading(subject: Subject) -> String {
    match subject.max_workers() {
        Some(1) => format!("{subject} (1 worker)"),
        _ => subject.to_string(),
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

fn texts(line: Line, grid: &Grid, report: &Report) -> Vec<String> {
    let mut texts = vec![scenario(line.scenario, line.size), line.workers.to_string()];
    texts.extend(grid.subjects.iter().map(|subject| {
        let workers = line.workers_of(*subject);
        let index = grid.cells.iter().position(|cell| {
            cell.subject == *subject
                && cell.workers == workers
                && (cell.scenario, cell.size) == (line.scenario, line.size)
        });
        index.map_or_else(String::new, |index| text(&report.rows[index]))
    }));
    texts
}

fn text(row: &Row) -> String {
    match (&row.figures, &row.error, &row.unsupported) {
        (Some(figures), None, _) => wall_and_cpu(figures),
        (Some(figures), Some(_), _) => format!("{} (failed later)", wall_and_cpu(figures)),
        (None, Some(_), _) => "failed".to_owned(),
        (None, None, Some(_)) => "unsupported".to_owned(),
        (None, None, None) => "not measured".to_owned(),
    }
}

/// Both in the unit that suits the wall time.
fn wall_and_cpu(figures: &Figures) -> String {
    let unit = Unit::of(figures.wall_ns);
    let (wall, cpu) = (unit.figure(figures.wall_ns), unit.figure(figures.cpu_ns));
    format!("{wall} / {cpu} {}", unit.name)
}
