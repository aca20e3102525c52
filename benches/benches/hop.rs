//! The hop: one task waking another on the same pool, on every variant and peer.
//!
//! `cargo bench -p runnext-bench --bench hop`; with `-- --quick` it takes about a minute. `requeue` is the bare turn
//! through the scheduler, `ping-pong` the hop between two tasks, `channel-spsc` what is left of it in a channel whose ends
//! seldom wait.

#![forbid(unsafe_code)]

use criterion::{Criterion, criterion_group, criterion_main};
use runnext_bench::scenario::Scenario;

mod cells;

fn hops(c: &mut Criterion) {
    for scenario in [Scenario::Requeue, Scenario::PingPong, Scenario::ChannelSpsc] {
        cells::all_subjects(c, scenario);
    }
}

criterion_group! {
    name = benches;
    config = cells::config();
    targets = hops
}
criterion_main!(benches);
