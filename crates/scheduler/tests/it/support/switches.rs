//! The settings of the switches under which pools are tested, here and in the stress program.

use runnext::{Knobs, Watch};

/// Turns the switches of `knobs` to one setting.
pub(crate) type Turn = fn(Knobs) -> Knobs;

/// The settings of the switches, by name.
pub(crate) const SWITCHES: [(&str, Turn); 5] = [
    ("base", |knobs| {
        let knobs = knobs.with_run_next(false);
        knobs
            .with_cooperative_blocking(false)
            .with_starvation_detection(false)
    }),
    ("run-next", |knobs| {
        knobs.with_run_next(true).with_defer_worker_requests(false)
    }),
    ("defer", deferring),
    ("lazy", |knobs| {
        deferring(knobs).with_lazy_dispatch_request(true)
    }),
    ("spinner", |knobs| {
        deferring(knobs).with_watch(Watch::Spinner)
    }),
];

fn deferring(knobs: Knobs) -> Knobs {
    knobs.with_run_next(true).with_defer_worker_requests(true)
}
