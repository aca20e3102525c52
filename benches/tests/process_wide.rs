//! Figures of the whole process, in a process without other tests, one at a time.

use std::sync::Mutex;

use runnext_bench::cell::{Cell, Effort, Measured, run};

static ALONE: Mutex<()> = Mutex::new(());

fn measure(scenario: &str, size: Option<u32>, subject: &str, ops: u64) -> Measured {
    let cell = Cell {
        scenario: scenario.parse().unwrap(),
        size,
        subject: subject.parse().unwrap(),
        workers: 2,
        pin: false,
    };
    run(&cell, Effort::QUICK.with_ops(ops)).unwrap()
}

fn bytes_per_op(scenario: &str, size: Option<u32>, subject: &str) -> f64 {
    let measured = measure(scenario, size, subject, 50_000);
    measured.alloc_bytes_per_op.unwrap()
}

#[test]
fn a_hop_allocates_nothing_and_a_spawn_does() {
    let _alone = ALONE.lock();
    for subject in ["run-next", "tokio", "limit"] {
        let hop = bytes_per_op("ping-pong", Some(1), subject);
        assert!(hop < 1.0, "{subject}: {hop}");
        let spawns = bytes_per_op("reply-exit", None, subject);
        assert!((100.0..2000.0).contains(&spawns), "{subject}: {spawns}");
    }
}

#[test]
fn a_suspended_chain_allocates_its_frames_but_the_outermost() {
    let _alone = ALONE.lock();
    for subject in ["run-next", "tokio", "limit"] {
        let [one, ten] = [1, 10].map(|depth| bytes_per_op("suspend-resume", Some(depth), subject));
        assert!(one < 1.0, "{subject}: {one}");
        let frame = (ten - one) / 9.0;
        assert!((32.0..256.0).contains(&frame), "{subject}: {ten}");
    }
}

#[test]
fn what_the_client_burns_between_requests_is_not_theirs() {
    let _alone = ALONE.lock();
    // The gap is 500 us of work; the limit has no other thread, and answers a request in about a microsecond.
    let measured = measure("reply-spaced", None, "limit", 50);
    assert!(measured.cpu_ns < 100_000.0, "{measured:?}");
}
