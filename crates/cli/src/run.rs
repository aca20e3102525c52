//! `runnext run`: measures a grid of cells and prints one table.
//!
//! Every cell runs in a process of its own, because what ran before in a process changes how its pool behaves. The
//! rounds are interleaved, all cells once, then all cells again: a machine that slows down for a while then touches one
//! round of many cells instead of all rounds of one, and the median drops it. A cell that fails or takes too long is
//! not tried again and does not stop the others.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use runnext_bench::cell::{Cell, Effort, Measured};
use runnext_bench::machine::Machine;
use runnext_bench::row::{Report, Row};
use runnext_bench::scenario::Scenario;
use runnext_bench::subject::{Peer, Variant};
use runnext_knobs::Knobs;

use crate::cell::Job;
use crate::report::{self, open_for_writing, replace, same_file};

mod grid;
mod list;
mod process;
mod table;

use self::grid::Grid;
use self::list::{List, Workers};
use self::process::{Outcome, Processes};

const WRONG_USE: u8 = 2;
const INTERRUPTED: u8 = 130;

/// A rest before each operation that `--quick` takes only once.
const LONG_REST: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// Scenarios to measure; all of them if none is named
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<Scenario>,

    /// Settings of our own pool, or `none`
    #[arg(long, value_name = "LIST", default_value_t = List(Variant::ALL.to_vec()))]
    variants: List<Variant>,

    /// Executors to compare with, or `none`
    #[arg(long, value_name = "LIST", default_value_t = List(Peer::ALL.to_vec()))]
    peers: List<Peer>,

    /// Numbers of worker threads, as in `1,2`; one for each core if left out
    #[arg(long, value_name = "LIST")]
    workers: Option<List<Workers>>,

    /// How often to measure each cell; 5, or 3 with `--quick`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// Keep worker i on core i, for every subject alike
    #[arg(long)]
    pin: bool,

    /// Measure each cell for a tenth of a second instead of one, to see the order of things within minutes
    #[arg(long)]
    quick: bool,

    /// Time this many operations in each cell, however long they take
    #[arg(long, value_name = "N")]
    ops: Option<NonZeroU64>,

    /// End a cell that takes longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,

    /// Write all figures, minimum and maximum included, to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write a page with pictures of all figures to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Where the figures go besides the table.
struct Files {
    json: Option<File>,
    html: Option<File>,
}

impl RunArgs {
    fn effort(&self) -> Effort {
        let effort = if self.quick {
            Effort::QUICK
        } else {
            Effort::FULL
        };
        self.ops.map_or(effort, |ops| effort.with_ops(ops.get()))
    }

    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 3 } else { 5 })
    }

    /// Whether `cell` takes part in the given round, counted from 0. In a hurry nobody rests for seconds twice.
    fn measures(&self, cell: &Cell, round: u32) -> bool {
        round == 0 || !self.quick || self.rounds.is_some() || cell.rest() < LONG_REST
    }
}

pub(crate) fn run(args: &RunArgs) -> ExitCode {
    match prepare(args) {
        Ok((grid, processes, files)) => measure_and_show(args, &grid, &processes, files),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(WRONG_USE)
        }
    }
}

/// Everything that can be wrong with the command line or its surroundings, before anything is measured.
fn prepare(args: &RunArgs) -> Result<(Grid, Processes, Files), String> {
    let grid = Grid::new(
        &args.scenarios,
        &args.variants,
        &args.peers,
        args.workers.as_ref(),
        args.pin,
    )?;
    let files = Files::open(args)?;
    let processes = Processes::new(Duration::from_secs(args.time_limit))
        .map_err(|error| format!("cannot start processes of this program: {error}"))?;
    if !args.variants.0.is_empty() {
        // Warns here, once; the processes of the cells are told not to.
        Knobs::from_env_or_warn();
    }
    Ok((grid, processes, files))
}

impl Files {
    fn open(args: &RunArgs) -> Result<Self, String> {
        let open = |path: &Option<PathBuf>| path.as_deref().map(open_for_writing).transpose();
        let files = Self {
            json: open(&args.json)?,
            html: open(&args.html)?,
        };
        match (&args.json, &args.html) {
            // Only now that both exist can two names be known to be one file.
            (Some(json), Some(html)) if same_file(json, html) => Err(format!(
                "`--json` and `--html` both name `{}`; name two files",
                html.display()
            )),
            _ => Ok(files),
        }
    }

    fn write(self, report: &Report) -> io::Result<()> {
        if let Some(file) = self.json {
            let mut json = serde_json::to_vec_pretty(report)?;
            json.push(b'\n');
            replace(file, &json)?;
        }
        if let Some(file) = self.html {
            replace(file, report::page(report).as_bytes())?;
        }
        Ok(())
    }
}

fn measure_and_show(args: &RunArgs, grid: &Grid, processes: &Processes, files: Files) -> ExitCode {
    let machine = Machine::detect(option_env!("BUILD_COMMIT"), args.pin);
    let mut session = Session::new(&grid.cells);
    let interrupted = session.measure(args, processes);
    let report = Report {
        machine,
        rows: session.rows(),
    };
    crate::print(&table::render(grid, &report, args.rounds()));
    for failure in table::failures(&report) {
        eprintln!("{failure}");
    }
    if let Err(error) = files.write(&report) {
        eprintln!("error: cannot write what was measured to a file: {error}");
        return ExitCode::FAILURE;
    }
    if interrupted {
        eprintln!("interrupted; the table holds what was measured until then");
        return ExitCode::from(INTERRUPTED);
    }
    let failed = report.rows.iter().any(|row| row.error.is_some());
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// What was found so far, cell by cell.
struct Session<'a>(Vec<Found<'a>>);

struct Found<'a> {
    cell: &'a Cell,
    rounds: Vec<Measured>,
    error: Option<String>,
}

impl<'a> Session<'a> {
    fn new(cells: &'a [Cell]) -> Self {
        Self(
            cells
                .iter()
                .map(|cell| Found {
                    cell,
                    rounds: Vec::new(),
                    error: None,
                })
                .collect(),
        )
    }

    /// Measures all rounds; returns whether it was interrupted.
    fn measure(&mut self, args: &RunArgs, processes: &Processes) -> bool {
        let progress = progress(self.0.len() as u64 * u64::from(args.rounds()));
        for round in 0..args.rounds() {
            for found in &mut self.0 {
                if !args.measures(found.cell, round) {
                    progress.inc(1);
                    continue;
                }
                progress.set_message(table::describe(found.cell));
                if found.measure(args.effort(), processes).is_break() {
                    progress.finish_and_clear();
                    return true;
                }
                progress.inc(1);
            }
        }
        progress.finish_and_clear();
        false
    }

    fn rows(self) -> Vec<Row> {
        self.0
            .into_iter()
            .map(|found| Row::new(found.cell, &found.rounds, found.error))
            .collect()
    }
}

impl Found<'_> {
    fn measure(&mut self, effort: Effort, processes: &Processes) -> std::ops::ControlFlow<()> {
        if self.error.is_some() || self.cell.scenario.supported_by(self.cell.subject).is_err() {
            return std::ops::ControlFlow::Continue(());
        }
        match processes.run(&Job {
            cell: *self.cell,
            effort,
        }) {
            Outcome::Measured(measured) => self.rounds.push(measured),
            Outcome::Failed(reason) => self.error = Some(reason),
            Outcome::Interrupted => return std::ops::ControlFlow::Break(()),
        }
        std::ops::ControlFlow::Continue(())
    }
}

/// A bar on stderr; nothing if that is not a terminal.
fn progress(cells: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {wide_msg}");
    ProgressBar::new(cells).with_style(style.expect("the template names only known fields"))
}
