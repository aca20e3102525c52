//! What needs more than the crate's own process: the environment, the reference page, the public face.

mod environment;

use runnext_knobs::{Entry, Invalid, Knobs, Origin, Rule, Warning, Watch, reference_page};

#[test]
fn the_reference_page_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/KNOBS.md");
    let (page, fresh) = (
        std::fs::read_to_string(path).unwrap_or_default(),
        reference_page(),
    );
    let stale = page
        .lines()
        .zip(fresh.lines())
        .find(|(old, new)| old != new);
    let remedy = "run the command in its third line";
    assert!(
        page == fresh,
        "docs/KNOBS.md is stale, {remedy}; first difference: {stale:#?}"
    );
}

#[test]
fn public_types_cross_threads_and_can_be_shown() {
    fn check<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    check::<Knobs>();
    check::<Origin>();
    check::<Warning>();
    check::<Invalid>();
    check::<Entry>();
    check::<Rule>();
    check::<Watch>();
}
