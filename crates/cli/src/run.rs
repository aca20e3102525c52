//! `runnext run`: measures a grid of cells and prints one table.
//!
//! Every cell runs in a process of its own, because what ran before in a process changes how its pool behaves. The
//! rounds are interleaved, all cells once, then all cells again: a machine that slows down for a while then touches one
//! round of many cells instead of all rounds of one, and the median drops it. A cell that fails or takes too long is
//! not tried again and does not stop the others.
//!
//! `--quick` must end within three minutes on two cores, and differs from a full run in three ways. A cell is timed for
//! a fiftieth of the time, but in as many rounds, since it is processes that differ. Cells that rest, for 100 ms or 3 s
//! before each operation, do so for one operation a round, and side by side; one of them at a time does anything else,
//! its own start included, so that no figure is disturbed. What has rested is then the pool but not the machine, and a
//! rest may be longer by another cell's turn. Cells are watched chunk by chunk for a quarter of a second instead of ten,
//! in chunks of a tenth.
//!
//! Rejected: rests in fewer rounds, or shorter ones. A rest of 3 s once a run says nothing of the spread, and one of a
//! second does not show what a pool does with its threads after three. Two rests of 100 ms a round: their
//! median was no more than the lesser of two, and a round of all that rest took 24 s instead of 18. And fewer rounds of
//! twice the time: by chance alone, all three rounds of one run then lie outside of those of the next in one of thirty
//! comparisons; with five it is one of thousands.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use runnext_bench::cell::Effort;
use runnext_bench::machine::Machine;
use runnext_bench::row::Report;
use runnext_bench::scenario::Scenario;
use runnext_bench::subject::{Peer, Variant};
use runnext_knobs::Knobs;

use crate::report::{self, open_for_writing, replace, same_file};

mod grid;
mod list;
mod process;
mod session;
mod table;

use self::grid::Grid;
use self::list::{List, Workers};
use self::process::Processes;
use self::session::{Pace, Session};

const WRONG_USE: u8 = 2;
const INTERRUPTED: u8 = 130;

/// How long a cell is watched chunk by chunk, and what part of its scenario's chunk is one.
const WATCHED: (Duration, u64) = (Duration::from_secs(10), 1);
const WATCHED_QUICKLY: (Duration, u64) = (Duration::from_millis(250), 10);

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

    /// How often to measure each cell
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Keep worker i on core i, for every subject alike
    #[arg(long)]
    pin: bool,

    /// Measure each cell for a fiftieth of the time, those that rest but once a round and together: within minutes
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
    /// Whoever says how many operations there shall be gets just those, one cell after the other.
    fn pace(&self) -> Pace {
        let (effort, (watched, parts)) = if self.quick {
            (Effort::QUICK, WATCHED_QUICKLY)
        } else {
            (Effort::FULL, WATCHED)
        };
        let half_the_limit = Duration::from_secs(self.time_limit) / 2;
        Pace {
            rounds: self.rounds,
            effort: self.ops.map_or(effort, |ops| effort.with_ops(ops.get())),
            hurried: self.quick && self.ops.is_none(),
            watched: self
                .ops
                .is_none()
                .then_some((watched.min(half_the_limit), parts)),
        }
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
    let pace = args.pace();
    let mut session = Session::new(&grid.cells, pace);
    let interrupted = session.measure(processes).is_err();
    let report = Report {
        machine,
        rows: session.rows(),
    };
    crate::print(&table::render(grid, &report, pace.rounds));
    for drift in table::drifts(&report) {
        crate::print(&drift);
    }
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
