//! `runnext report`: the figures of a run as a page.
//!
//! `runnext run --html` writes the same page: it takes the same way, through the JSON, so that a page never shows what
//! a file would not hold.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use runnext_bench::row::Report;

mod bars;
mod board;
mod course;
mod curves;
mod date;
mod document;
mod figures;
mod heat;
mod markup;
mod page;
mod picture;
mod plot;
mod scaling;

use self::document::Document;

const WRONG_USE: u8 = 2;

#[derive(clap::Args)]
pub(crate) struct ReportArgs {
    /// What `runnext run --json FILE` wrote
    #[arg(value_name = "FILE.json")]
    file: PathBuf,

    /// Write the page to this file
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
}

pub(crate) fn run(args: &ReportArgs) -> ExitCode {
    match write_page(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(WRONG_USE)
        }
    }
}

fn write_page(args: &ReportArgs) -> Result<(), String> {
    let document = read(&args.file)?;
    if same_file(&args.file, &args.html) {
        return Err(format!(
            "the page would overwrite `{}`, the figures it is made from; name another file",
            args.html.display()
        ));
    }
    let file = open_for_writing(&args.html)?;
    replace(file, page::render(&document).as_bytes())
        .map_err(|error| format!("cannot write `{}`: {error}", args.html.display()))
}

fn read(path: &Path) -> Result<Document, String> {
    let shown = path.display();
    let text = fs::read(path).map_err(|error| {
        format!("cannot read `{shown}`: {error}; name a file that `runnext run --json FILE` wrote")
    })?;
    Document::parse(&text).map_err(|fault| {
        format!("`{shown}` is no report of this build, {fault}; write it anew with `runnext run --json FILE`")
    })
}

/// The page that shows `report`.
pub(crate) fn page(report: &Report) -> String {
    let json = serde_json::to_vec(report).expect("a report is always JSON");
    let document = Document::parse(&json).expect("we read what we write");
    page::render(&document)
}

/// Whether both names lead to one file that exists.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Opens `path` without touching what it holds: an earlier run's figures stay until this one has some.
pub(crate) fn open_for_writing(path: &Path) -> Result<File, String> {
    OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(|error| {
        format!("cannot write `{}`: {error}; name a file in a directory that exists and may be written", path.display())
    })
}

/// Puts `content` in place of what the file held.
pub(crate) fn replace(mut file: File, content: &[u8]) -> io::Result<()> {
    // A pipe or a terminal has no length to set.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(content)
}
