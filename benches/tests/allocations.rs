//! Bytes for each operation, in a process of their own: the counter sees all threads, other tests' as well.

use runnext_bench::cell::{Cell, Effort, run};

fn bytes_per_op(scenario: &str, size: Option<u32>, subject: &str) -> f64 {
    let cell = Cell {
        scenario: scenario.parse().unwrap(),
        size,
        subject: subject.parse().unwrap(),
        workers: 2,
        pin: false,
    };
    let measured = run(&cell, Effort::QUICK.with_ops(50_000)).unwrap();
    measured.alloc_bytes_per_op.unwrap()
}

#[test]
fn a_hop_allocates_nothing_and_a_spawn_does() {
    for subject in ["run-next", "tokio", "limit"] {
        let hop = bytes_per_op("ping-pong", Some(1), subject);
        assert!(hop < 1.0, "{subject}: {hop}");
        let spawns = bytes_per_op("reply-exit", None, subject);
        assert!((100.0..2000.0).contains(&spawns), "{subject}: {spawns}");
    }
}
