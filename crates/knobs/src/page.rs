//! The reference page `docs/KNOBS.md`, written from the catalogue. A test fails when the file is stale.

use std::fmt::{self, Write};

use crate::catalogue::{Entry, FOLKLORE, NOT_IMPLEMENTED, Spelling, catalogue};

const HEAD: &str = "\
# Knobs

<!-- Written from the catalogue in crates/knobs; do not edit. To renew it:
     cargo run -p runnext-knobs --example knobs-page > docs/KNOBS.md -->

Environment variables that switch and tune a pool. They are read once, when the pool is built.
`runnext knobs` shows the values in force and where each comes from, `runnext knobs --check` what is wrong.

- Each knob has our own spelling, `RUNNEXT_...`, and where .NET has the knob, .NET's, `DOTNET_...`. Ours wins
  over .NET's, and the program's builder wins over both.
- Our spelling is decimal, and a switch is 1, 0, true or false in any case. .NET's spelling is read as .NET reads it,
  which for some variables is hexadecimal: a warning says so when that changes the number.
- An empty variable counts as not set.
- A value that cannot be read or is out of range changes nothing; a warning names it and what is kept.
- A name that looks meant for us and is not known gives a warning with the nearest known name.
- `RUNNEXT_WARNINGS=0` silences the warnings.
";

const NOT_IMPLEMENTED_HEAD: &str = "
## Known to .NET, not implemented

Setting one of these has no effect and gives a warning.

";

const FOLKLORE_HEAD: &str = "
## Known to nobody

Seen in deployments, but they do not exist.

";

/// The reference page of all knobs, in Markdown.
pub fn reference_page() -> String {
    let mut page = HEAD.to_owned();
    // Writing to a `String` cannot fail.
    let _ = overview(&mut page);
    let _ = catalogue()
        .iter()
        .try_for_each(|entry| section(&mut page, entry));
    let _ = strangers(&mut page);
    page
}

fn overview(page: &mut String) -> fmt::Result {
    page.write_str("\n| knob | default | effect |\n|---|---|---|\n")?;
    for entry in catalogue() {
        let default = entry.default_text();
        writeln!(
            page,
            "| [`{entry}`](#{}) | {default} | {} |",
            anchor(entry),
            entry.effect,
        )?;
    }
    Ok(())
}

fn section(page: &mut String, entry: &Entry) -> fmt::Result {
    let sentence = capitalised(entry.effect);
    write!(page, "\n## {entry}\n\n{sentence}.\n\n{}\n\n", entry.detail)?;
    writeln!(page, "- default: {}", entry.default_text())?;
    writeln!(page, "- range: {}{}", entry.range_text(), unit(entry))?;
    for Spelling { variable, rule } in entry.spellings() {
        writeln!(page, "- `{variable}` takes {rule}")?;
    }
    if let Some(needed) = entry.needs() {
        writeln!(page, "- needs `{needed}=1`")?;
    }
    writeln!(page, "- from: {}", entry.source)
}

fn strangers(page: &mut String) -> fmt::Result {
    page.write_str(NOT_IMPLEMENTED_HEAD)?;
    for (why, variables) in NOT_IMPLEMENTED {
        for variable in variables {
            let family = if variable.ends_with('_') { "*" } else { "" };
            writeln!(page, "- `{variable}{family}`: {why}")?;
        }
    }
    page.write_str(FOLKLORE_HEAD)?;
    for (variable, meant) in FOLKLORE {
        writeln!(page, "- `{variable}`: use `{meant}`")?;
    }
    Ok(())
}

/// GitHub's anchor of a section.
fn anchor(entry: &Entry) -> String {
    entry.ours.variable.to_lowercase()
}

fn unit(entry: &Entry) -> String {
    if entry.unit.is_empty() {
        String::new()
    } else {
        format!(" ({})", entry.unit)
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
