//! Spawning: a task that does nothing, from a worker and from a thread outside, on every variant and peer.
//!
//! `cargo bench -p runnext-bench --bench spawn`; with `-- --quick` it takes less than a minute. `reply-exit` is what
//! spawning is mostly for: two tasks for a request, the second of which wakes the client.

#![forbid(unsafe_code)]

use criterion::{Criterion, criterion_group, criterion_main};
use runnext_bench::scenario::Scenario;

mod cells;

fn spawns(c: &mut Criterion) {
    for scenario in [Scenario::Spawn, Scenario::SpawnOutside, Scenario::ReplyExit] {
        cells::all_subjects(c, scenario);
    }
}

criterion_group! {
    name = benches;
    config = cells::config();
    targets = spawns
}
criterion_main!(benches);
