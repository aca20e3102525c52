//! Prints the reference page of the knobs. From the root of the repository:
//! `cargo run -p runnext-knobs --example knobs-page > docs/KNOBS.md`

fn main() {
    print!("{}", runnext_knobs::reference_page());
}
