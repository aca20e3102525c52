//! The reference page `docs/KNOBS.md`, written from the catalogue. A test fails when the file is stale.

use std::fmt::Write;

use crate::catalogue::{Entry, catalogue};

const HEAD: &str = "\
# Knobs

<!-- Made from the catalogue in crates/knobs. Do not edit: change the catalogue, then run
     cargo run -p runnext-knobs --example knobs-page > docs/KNOBS.md -->

";

/// The reference page of all knobs, in Markdown.
pub fn reference_page() -> String {
    let mut page = HEAD.to_owned();
    for entry in catalogue() {
        let _ = writeln!(page, "## {}\n\n{}\n", entry.name(), entry.effect);
    }
    page
}
#[allow(dead_code)]
fn unused(_: &Entry) {}
