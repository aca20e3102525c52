//! `runnext knobs`: what the environment asks for, what holds, and what is wrong.
//!
//! Standard output is the answer, a table or JSON; warnings go to standard error, so that they never end in a pipe.
//! Nothing here knows a knob by name: all is written from the catalogue.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use comfy_table::presets::{NOTHING, UTF8_FULL_CONDENSED};
use comfy_table::{ContentArrangement, Table};
use runnext_knobs::{Knobs, Rule, Setting, Spelling, Warning, find, nearest};
use serde::Serialize;

/// A wrong command line.
const USAGE: u8 = 2;

#[derive(clap::Args)]
pub(crate) struct KnobsArgs {
    /// Say only what is wrong with the environment; exit with 1 if anything is
    #[arg(long)]
    check: bool,
    /// Tell all about one knob, by any of its names
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: KnobsArgs) -> ExitCode {
    let (knobs, warnings) = Knobs::from_env();
    let mut shown: Vec<_> = knobs.settings().collect();
    if let Some(name) = &args.explain {
        let Some(entry) = find(name) else {
            return unknown(name);
        };
        shown.retain(|setting| std::ptr::eq(setting.entry, entry));
    }
    if args.check || knobs.warnings_enabled() {
        for warning in &warnings {
            // A closed standard error is no reason to fail: `eprintln!` would panic.
            let _ = writeln!(io::stderr(), "warning: {warning}");
        }
    }
    let answer = match &args {
        KnobsArgs { json: true, .. } => json(&shown, &warnings),
        KnobsArgs {
            explain: Some(_), ..
        } => shown.iter().map(explanation).collect(),
        KnobsArgs { check: true, .. } => verdict(shown.len(), &warnings),
        _ => format!("{}\n", table(&shown, io::stdout().is_terminal())),
    };
    print(&answer);
    ExitCode::from(u8::from(args.check && !warnings.is_empty()))
}

fn unknown(name: &str) -> ExitCode {
    let meant = nearest(name).map_or_else(String::new, |known| format!("did you mean `{known}`? "));
    let _ = writeln!(
        io::stderr(),
        "error: no knob is called `{name}`; {meant}`runnext knobs` lists all"
    );
    ExitCode::from(USAGE)
}

/// A reader that has seen enough, as in `runnext knobs | head`, is no reason to fail: `print!` would panic.
fn print(answer: &str) {
    let _ = io::stdout().write_all(answer.as_bytes());
}

fn verdict(knobs: usize, warnings: &[Warning]) -> String {
    match warnings.len() {
        0 => format!("{knobs} knobs, nothing wrong\n"),
        1 => "1 warning\n".to_owned(),
        count => format!("{count} warnings\n"),
    }
}

/// Fits a terminal, by .NET's short names among other things; elsewhere plain columns, a line for each knob.
fn table(shown: &[Setting<'_>], terminal: bool) -> Table {
    let mut table = Table::new();
    let (style, arrangement) = match terminal {
        true => (UTF8_FULL_CONDENSED, ContentArrangement::Dynamic),
        false => (NOTHING, ContentArrangement::Disabled),
    };
    table.load_style(style).set_content_arrangement(arrangement);
    table.set_header(["knob", "in .NET", "value", "unit", "origin"]);
    for setting in shown {
        let entry = setting.entry;
        let dotnet = entry.dotnet.map(|spelling| {
            if terminal {
                entry.name()
            } else {
                spelling.variable
            }
        });
        let value = entry.text(setting.value);
        let row = [
            entry.ours.variable,
            dotnet.unwrap_or("-"),
            &value,
            entry.unit,
            &origin(setting),
        ];
        table.add_row(row);
    }
    table
}

/// Who decided the value, and which other knob limits it.
fn origin(setting: &Setting<'_>) -> String {
    match setting.limited_by {
        Some(other) => format!("{}, limited by {other}", setting.origin),
        None => setting.origin.to_string(),
    }
}

fn explanation(setting: &Setting<'_>) -> String {
    let entry = setting.entry;
    let mut lines = vec![
        entry.to_string(),
        format!("  {}", entry.effect),
        String::new(),
    ];
    lines.push(format!(
        "  now      {} ({})",
        entry.describe(setting.value),
        origin(setting)
    ));
    lines.push(format!("  default  {}", entry.default_text()));
    lines.push(format!("  range    {}", entry.range_text()));
    lines.extend(
        entry
            .spellings()
            .map(|spelling| format!("  set by   {}", spelled(spelling))),
    );
    lines.extend(entry.needs().map(|needed| format!("  needs    {needed}=1")));
    lines.push(format!("  from     {}", entry.source));
    lines.push(String::new());
    lines.extend(wrapped(entry.detail));
    lines.join("\n") + "\n"
}

fn spelled(Spelling { variable, rule, .. }: Spelling) -> String {
    format!("{variable}: {rule}")
}

/// Indented lines of at most 80 columns.
fn wrapped(text: &str) -> Vec<String> {
    const COLUMNS: usize = 80;
    let mut lines = Vec::new();
    let mut line = " ".to_owned();
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > COLUMNS {
            lines.push(std::mem::replace(&mut line, " ".to_owned()));
        }
        line.push(' ');
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[derive(Serialize)]
struct Report {
    knobs: Vec<Knob>,
    warnings: Vec<Wrong>,
}

#[derive(Serialize)]
struct Knob {
    name: &'static str,
    variable: &'static str,
    dotnet_variable: Option<&'static str>,
    value: Value,
    unit: Option<&'static str>,
    origin: String,
    limited_by: Option<&'static str>,
    default: String,
    range: String,
    effect: &'static str,
    source: &'static str,
}

/// A switch is 0 or 1, as in the environment.
#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(i64),
    Word(String),
}

#[derive(Serialize)]
struct Wrong {
    variable: String,
    message: String,
}

fn json(shown: &[Setting<'_>], warnings: &[Warning]) -> String {
    let wrong = |warning: &Warning| Wrong {
        variable: warning.variable().to_owned(),
        message: warning.to_string(),
    };
    let report = Report {
        knobs: shown.iter().map(knob).collect(),
        warnings: warnings.iter().map(wrong).collect(),
    };
    let text = serde_json::to_string_pretty(&report).expect("a report has only string keys");
    text + "\n"
}

fn knob(setting: &Setting<'_>) -> Knob {
    let entry = setting.entry;
    Knob {
        name: entry.name(),
        variable: entry.ours.variable,
        dotnet_variable: entry.dotnet.map(|spelling| spelling.variable),
        value: match entry.ours.rule {
            Rule::Choice(_) => Value::Word(entry.text(setting.value)),
            _ => Value::Number(setting.value),
        },
        unit: Some(entry.unit).filter(|unit| !unit.is_empty()),
        origin: setting.origin.to_string(),
        limited_by: setting.limited_by.map(|other| other.ours.variable),
        default: entry.default_text(),
        range: entry.range_text(),
        effect: entry.effect,
        source: entry.source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_terminal_the_table_has_borders_and_short_names() {
        let knobs = Knobs::default();
        let shown: Vec<_> = knobs.settings().collect();
        let text = table(&shown, true).to_string();
        assert!(
            text.contains('│') && text.contains("StalledWorkUs"),
            "{text}"
        );
        assert!(!text.contains("DOTNET_"), "{text}");
    }

    #[test]
    fn wrapping_keeps_every_word_within_80_columns() {
        for entry in runnext_knobs::catalogue() {
            let lines = wrapped(entry.detail);
            assert!(
                lines
                    .iter()
                    .all(|line| line.starts_with("  ") && line.len() <= 80),
                "{lines:#?}"
            );
            let words: Vec<_> = lines
                .iter()
                .flat_map(|line| line.split_whitespace())
                .collect();
            assert_eq!(words, entry.detail.split_whitespace().collect::<Vec<_>>());
        }
    }
}
