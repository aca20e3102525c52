//! The README's table is the one that `scripts/measure` wrote to `docs/MEASUREMENTS.md`.

const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";

fn table(page: &str) -> &str {
    let (_, rest) = page.split_once(BEGIN).expect("the page marks its table");
    let (table, _) = rest.split_once(END).expect("the table has an end");
    table.trim()
}

#[test]
fn the_readmes_table_is_the_measured_one() {
    let readme = table(include_str!("../../../README.md"));
    let measured = table(include_str!("../../../docs/MEASUREMENTS.md"));
    assert!(readme.starts_with("| scenario |"), "no table: {readme}");
    assert_eq!(
        readme, measured,
        "run `scripts/measure`, do not edit by hand"
    );
}
