//! Taking turns changes how this process rests, for good; so it is tested in a process of its own.

use std::fs::File;
use std::time::{Duration, Instant};

use runnext_bench::cell::{self, Cell, Effort};
use runnext_bench::turns;

#[test]
fn a_rest_gives_the_turn_away_and_ends_when_it_comes_back() {
    let path = env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml";
    let other = File::open(&path).unwrap();
    turns::join(File::open(&path).unwrap()).unwrap();
    assert!(other.try_lock().is_err(), "we have the turn");
    assert!(
        turns::join(File::open("/dev/null").unwrap()).is_err(),
        "nobody joins twice"
    );

    const HELD: Duration = Duration::from_millis(400);
    let start = Instant::now();
    let neighbour = std::thread::spawn(move || {
        other.lock().unwrap();
        std::thread::sleep(HELD);
    });
    let cell = Cell {
        scenario: "latency-sleep".parse().unwrap(),
        size: Some(1),
        subject: "tokio".parse().unwrap(),
        workers: 2,
        pin: false,
    };
    let measured = cell::run(&cell, Effort::QUICK.with_ops(1)).unwrap();
    // The rest is one millisecond, and the neighbour's turn is part of it, not of the figure.
    assert!(
        start.elapsed() >= HELD && measured.wall_ns < HELD.as_nanos() as f64 / 2.0,
        "{measured:?}"
    );
    neighbour.join().unwrap();
    let late = File::open(&path).unwrap();
    assert!(late.try_lock().is_err(), "the turn is ours again");
}
