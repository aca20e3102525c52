//! `runnext cell`, which nobody types: `runnext run` starts it, one process for each cell and round.
//!
//! The job comes as one JSON argument and the result leaves as one JSON line, so both sides share one definition of
//! each. What goes wrong leaves on stderr, with exit code 1.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::panic;
use std::process::{self, ExitCode};
use std::str::FromStr;

use runnext_bench::cell::{self, Cell, Effort, View};
use runnext_bench::turns;
use serde::{Deserialize, Serialize};

#[derive(clap::Args)]
pub(crate) struct CellArgs {
    /// What to measure, as JSON
    job: Job,
}

/// What one process does.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) cell: Cell,
    pub(crate) look: Look,
    /// Whether it takes turns with others, by the lock of the file that is its standard input.
    #[serde(default)]
    pub(crate) in_turns: bool,
}

/// What to find out of a cell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Look {
    /// Prints [`cell::Measured`].
    Measure(Effort),
    /// Prints [`runnext_bench::chunks::Chunks`].
    Watch(View),
}

impl FromStr for Job {
    type Err = serde_json::Error;

    fn from_str(json: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(json)
    }
}

pub(crate) fn run(args: &CellArgs) -> ExitCode {
    exit_on_panic();
    match find_out(&args.job) {
        Ok(found) => {
            crate::print(&found);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn find_out(job: &Job) -> io::Result<String> {
    if job.in_turns {
        turns::join(File::from(io::stdin().as_fd().try_clone_to_owned()?))?;
    }
    let found = match job.look {
        Look::Measure(effort) => serde_json::to_string(&cell::run(&job.cell, effort)?),
        Look::Watch(view) => serde_json::to_string(&cell::watch(&job.cell, view)?),
    };
    Ok(found?)
}

/// A panic in a task is caught by most subjects; whoever waits for that task would then wait until time is up.
fn exit_on_panic() {
    panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        process::exit(1);
    }));
}
