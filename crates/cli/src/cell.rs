//! `runnext cell`, which nobody types: `runnext run` starts it, one process for each cell and round.
//!
//! The job comes as one JSON argument and the result leaves as one JSON line, so both sides share one definition of
//! each. What goes wrong leaves on stderr, with exit code 1.

use std::panic;
use std::process::{self, ExitCode};
use std::str::FromStr;

use runnext_bench::cell::{self, Cell, Effort};
use serde::{Deserialize, Serialize};

#[derive(clap::Args)]
pub(crate) struct CellArgs {
    /// What to measure, as JSON
    job: Job,
}

/// What one process measures.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) cell: Cell,
    pub(crate) effort: Effort,
}

impl FromStr for Job {
    type Err = serde_json::Error;

    fn from_str(json: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(json)
    }
}

pub(crate) fn run(args: &CellArgs) -> ExitCode {
    exit_on_panic();
    match cell::run(&args.job.cell, args.job.effort) {
        Ok(measured) => {
            crate::print(&serde_json::to_string(&measured).expect("figures are always JSON"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A panic in a task is caught by most subjects; whoever waits for that task would then wait until time is up.
fn exit_on_panic() {
    panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        process::exit(1);
    }));
}
