//! A scenario of the library as a criterion group: one benchmark for each subject that can run it.
//!
//! Every figure is the time for **one operation**, as everywhere. Each call measures a cell with as many operations as
//! criterion asks for, on a pool of its own, after as many that are not counted; starting the pool is not in the figure.
//!
//! All of it happens in one process, where what ran before changes how a pool behaves. So these benches show what a
//! change of ours does to a subject, against the same bench before it. To compare subjects there is `runnext run`.

use std::thread;
use std::time::Duration;

use criterion::Criterion;
use runnext_bench::cell::{self, Cell, Effort};
use runnext_bench::scenario::Scenario;
use runnext_bench::subject::Subject;

/// As many workers for all, so that figures of two machines differ by the machine only.
const WORKERS: usize = 2;

/// Fewer operations would measure how they are started.
const FEWEST_OPS: u64 = 1000;

/// Short, since there are many benchmarks; the figures of a cell are steady after milliseconds.
pub(crate) fn config() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20)
}

/// Measures `scenario`, at each value of its parameter, on all subjects.
pub(crate) fn all_subjects(c: &mut Criterion, scenario: Scenario) {
    for size in scenario.sizes() {
        let mut group = c.benchmark_group(name(scenario, size));
        for subject in Subject::all() {
            if scenario.supported_by(subject).is_err() {
                continue;
            }
            let workers = subject
                .max_workers()
                .map_or(WORKERS, |max| max.min(WORKERS));
            let cell = Cell {
                scenario,
                size,
                subject,
                workers,
                pin: true,
            };
            group.bench_function(subject.name(), |b| b.iter_custom(|ops| measure(cell, ops)));
        }
        group.finish();
    }
}

fn name(scenario: Scenario, size: Option<u32>) -> String {
    match (scenario.entry().param, size) {
        (Some(param), Some(size)) => format!("{scenario}, {} {size}", param.name),
        _ => scenario.to_string(),
    }
}

/// The time for `ops` operations.
fn measure(cell: Cell, ops: u64) -> Duration {
    let effort = Effort::QUICK.with_ops(ops.max(FEWEST_OPS));
    // On a thread of its own: a subject may pin the calling thread, and later threads would inherit that.
    let measured = thread::spawn(move || cell::run(&cell, effort))
        .join()
        .expect("a cell reports an error instead of panicking")
        .unwrap_or_else(|error| panic!("cannot measure {cell:?}: {error}"));
    Duration::from_nanos((measured.wall_ns * ops as f64) as u64)
}
