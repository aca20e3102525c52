//! `runnext scenarios`: the catalogue, for people and as JSON.

use std::process::ExitCode;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};
use runnext_bench::scenario::{Param, Scenario};

#[derive(clap::Args)]
pub(crate) struct ScenariosArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ScenariosArgs) -> ExitCode {
    let entries = Scenario::ALL.map(Scenario::entry);
    if args.json {
        crate::print(
            &serde_json::to_string_pretty(&entries).expect("the catalogue is always JSON"),
        );
        return ExitCode::SUCCESS;
    }
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["scenario", "parameter", "one operation", "stands for"]);
    for entry in entries {
        let param = entry.param.as_ref().map_or_else(String::new, describe);
        table.add_row([entry.name, &param, entry.operation, entry.stands_for]);
    }
    crate::print(&table.to_string());
    ExitCode::SUCCESS
}

fn describe(param: &Param) -> String {
    let values: Vec<_> = param.values.iter().map(u32::to_string).collect();
    format!("{} {}", param.name, values.join(", "))
}
