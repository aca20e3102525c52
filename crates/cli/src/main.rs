//! The command `runnext`: what the pool's knobs are set to, and what the pool costs beside its peers.
//!
//! Exit codes: 0 for success, 1 if something was checked or measured and did not hold, 2 for a wrong command line,
//! 130 after an interrupt.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod cell;
mod doctor;
mod knobs;
mod report;
mod run;
mod scenarios;
mod units;

#[derive(Parser)]
#[command(
    name = "runnext",
    version,
    about = "Knobs and measurements of the runnext executor"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the knobs: their values, where each comes from, and what is wrong with the environment
    Knobs(knobs::KnobsArgs),
    /// List the scenarios: their parameters, what one operation is, what each stands for
    Scenarios(scenarios::ScenariosArgs),
    /// Measure scenarios on our pool and on its peers, one process for each cell of the table
    Run(run::RunArgs),
    /// Make a page with pictures of what a run found
    Report(report::ReportArgs),
    /// Measure what this machine does to a pool, and say which knobs do not suit it
    Doctor(doctor::DoctorArgs),
    /// Measure one cell in this process and print what it found as JSON
    #[command(hide = true)]
    Cell(cell::CellArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Knobs(args) => knobs::run(args),
        Command::Scenarios(args) => scenarios::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Cell(args) => cell::run(&args),
    }
}

/// Prints a line. A reader that has seen enough, as in `runnext run | head`, is no reason to panic.
fn print(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}
