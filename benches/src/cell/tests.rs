use std::sync::mpsc;
use std::thread;

use super::*;

fn cell(scenario: Scenario, size: Option<u32>, peer: Peer, workers: usize) -> Cell {
    Cell {
        scenario,
        size,
        subject: Subject::Peer(peer),
        workers,
        pin: false,
    }
}

/// Measures on a thread of its own, since a subject that hangs cannot be asked to stop.
fn run_within_a_minute(cell: Cell, ops: u64) -> io::Result<Measured> {
    let (sender, measured) = mpsc::channel();
    thread::spawn(move || {
        // Nobody listens any more only once the test has failed.
        let _ = sender.send(run(&cell, Effort::QUICK.with_ops(ops)));
    });
    match measured.recv_timeout(Duration::from_secs(60)) {
        Ok(measured) => measured,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{cell:?} hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{cell:?} panicked"),
    }
}

/// Every subject runs every scenario it supports, on as many threads as `workers` says.
fn all_subjects_run_on(workers: &[usize], scenario: Scenario, size: Option<u32>, ops: u64) {
    for subject in Subject::all() {
        for &workers in workers {
            let cell = Cell {
                scenario,
                size,
                subject,
                workers,
                pin: false,
            };
            let supported = scenario.supported_by(subject).is_ok();
            let measured = run_within_a_minute(cell, ops);
            assert_eq!(measured.is_ok(), supported, "{cell:?}: {measured:?}");
            let Ok(measured) = measured else { continue };
            assert!(
                measured.ops >= ops && measured.wall_ns > 0.0,
                "{cell:?}: {measured:?}"
            );
            assert_eq!(measured.quantiles.is_some(), scenario.entry().spread);
        }
    }
}

/// On fewer, as many and more threads than there may be cores.
fn all_subjects_run(scenario: Scenario, size: Option<u32>) {
    all_subjects_run_on(&[1, 2, 8], scenario, size, 40);
}

#[test]
fn requeue_runs_on_all_subjects() {
    all_subjects_run(Scenario::Requeue, Some(4));
}

#[test]
fn ping_pong_runs_on_all_subjects() {
    all_subjects_run(Scenario::PingPong, Some(20));
}

#[test]
fn fan_out_runs_on_all_subjects() {
    all_subjects_run(Scenario::FanOut, None);
}

#[test]
fn channel_spsc_runs_on_all_subjects() {
    all_subjects_run(Scenario::ChannelSpsc, None);
}

#[test]
fn yield_global_runs_on_all_subjects() {
    all_subjects_run(Scenario::YieldGlobal, Some(20));
}

#[test]
fn inline_runs_on_all_subjects() {
    all_subjects_run(Scenario::Inline, None);
}

#[test]
fn spawn_runs_on_all_subjects() {
    all_subjects_run(Scenario::Spawn, None);
}

#[test]
fn spawn_outside_runs_on_all_subjects() {
    all_subjects_run(Scenario::SpawnOutside, None);
}

#[test]
fn reply_exit_runs_on_all_subjects() {
    all_subjects_run(Scenario::ReplyExit, None);
}

#[test]
fn reply_housekeeping_runs_on_all_subjects() {
    all_subjects_run(Scenario::ReplyHousekeeping, None);
}

#[test]
fn reply_spaced_runs_on_all_subjects() {
    all_subjects_run(Scenario::ReplySpaced, None);
}

#[test]
fn suspend_resume_runs_on_all_subjects() {
    all_subjects_run(Scenario::SuspendResume, Some(10));
}

#[test]
fn await_pending_task_runs_on_all_subjects() {
    all_subjects_run(Scenario::AwaitPendingTask, Some(10));
}

#[test]
fn await_pending_value_runs_on_all_subjects() {
    all_subjects_run(Scenario::AwaitPendingValue, Some(10));
}

#[test]
fn fan_out_16_runs_on_all_subjects() {
    all_subjects_run(Scenario::FanOut16, Some(10));
}

#[test]
fn yield_runs_on_all_subjects() {
    all_subjects_run(Scenario::Yield, Some(10));
}

#[test]
fn websocket_echo_runs_on_all_subjects() {
    all_subjects_run(Scenario::WebsocketEcho, Some(3));
}

#[test]
fn http_json_runs_on_all_subjects() {
    all_subjects_run(Scenario::HttpJson, Some(3));
}

#[test]
fn latency_spin_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencySpin, Some(1), 2);
}

#[test]
fn latency_spin_late_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencySpinLate, Some(1), 2);
}

#[test]
fn latency_native_block_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencyNativeBlock, Some(1), 2);
}

#[test]
fn latency_sleep_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencySleep, Some(1), 2);
}

#[test]
fn latency_hooked_sleep_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencyHookedSleep, Some(1), 2);
}

#[test]
fn latency_async_mutex_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencyAsyncMutex, Some(1), 2);
}

#[test]
fn latency_condvar_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencyCondvar, Some(1), 2);
}

#[test]
fn latency_mutex_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencyMutex, Some(1), 2);
}

#[test]
fn latency_event_runs_on_all_subjects() {
    all_subjects_run_on(&[1, 2], Scenario::LatencyEvent, Some(1), 2);
}

#[test]
fn a_lone_worker_lets_the_woken_task_wait_for_as_long_as_the_waker_goes_on() {
    use Scenario::{
        LatencyCondvar, LatencyEvent, LatencyMutex, LatencyNativeBlock, LatencySleep, LatencySpin,
        LatencySpinLate,
    };
    for scenario in [
        LatencySpin,
        LatencySpinLate,
        LatencyNativeBlock,
        LatencySleep,
        LatencyCondvar,
        LatencyMutex,
        LatencyEvent,
    ] {
        let cell = cell(scenario, Some(1), Peer::Tokio, 1);
        let measured = run_within_a_minute(cell, 2).unwrap();
        // The mutex is released 50 ms after the waker was spawned, not after it has come to wait.
        // On a busy machine that may be a while.
        let longest = measured.quantiles.unwrap().max_us;
        assert!((20e3..2000e3).contains(&longest), "{measured:?}");
    }
}

#[test]
fn on_the_limit_a_woken_task_waits_for_its_wake_alone() {
    for scenario in [Scenario::LatencySpin, Scenario::LatencyHookedSleep] {
        let cell = cell(scenario, Some(1), Peer::Limit, 1);
        let measured = run_within_a_minute(cell, 3).unwrap();
        assert_eq!(measured.ops, 3);
        // The waker goes on for 50 ms.
        assert!(measured.quantiles.unwrap().p50_us < 45e3, "{measured:?}");
    }
}

#[test]
fn only_a_latency_has_a_rest() {
    let rest = |scenario, size| cell(scenario, size, Peer::Tokio, 1).rest();
    assert_eq!(rest(Scenario::LatencyEvent, Some(3000)).as_secs(), 3);
    assert_eq!(rest(Scenario::PingPong, Some(20)), Duration::ZERO);
    assert_eq!(rest(Scenario::ReplySpaced, None), Duration::ZERO);
}

#[test]
fn a_rest_is_not_measured() {
    let cell = cell(Scenario::LatencySleep, Some(100), Peer::Futures, 2);
    let start = std::time::Instant::now();
    let measured = run_within_a_minute(cell, 2).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert!(measured.wall_ns < 45e6, "{measured:?}");
}

#[test]
fn time_between_requests_is_not_theirs() {
    let cell = cell(Scenario::ReplySpaced, None, Peer::Limit, 1);
    let measured = run_within_a_minute(cell, 20).unwrap();
    // The gap is 500 us of work, and the limit answers a request in about one.
    assert!(measured.wall_ns < 250_000.0, "{measured:?}");
}

#[test]
fn a_batch_is_rounded_up_to_what_the_tasks_can_share() {
    let measured = run(
        &cell(Scenario::PingPong, Some(4), Peer::Tokio, 2),
        Effort::QUICK.with_ops(9),
    )
    .unwrap();
    assert_eq!(
        measured.ops, 16,
        "nine hops are five round trips, and four pairs share them as two each"
    );
}

#[test]
fn the_timed_batch_takes_about_the_time_it_was_given() {
    let effort = Effort {
        warm_up: Duration::from_millis(20),
        timed: Duration::from_millis(20),
        ops: None,
    };
    let measured = run(&cell(Scenario::Requeue, Some(1), Peer::Limit, 1), effort).unwrap();
    let took = Duration::from_nanos((measured.wall_ns * measured.ops as f64) as u64);
    assert!((2..2000).contains(&took.as_millis()), "took {took:?}");
}

#[test]
fn what_a_subject_cannot_do_is_said_as_such() {
    let error = run(
        &cell(Scenario::HttpJson, Some(1), Peer::Limit, 1),
        Effort::QUICK,
    )
    .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
}

#[test]
fn chunks_are_watched_for_as_long_as_asked() {
    let view = View {
        lasts: Duration::from_millis(30),
        chunk_ops: 100,
    };
    let chunks = watch(&cell(Scenario::ReplyExit, None, Peer::Limit, 1), view).unwrap();
    assert_eq!(chunks.chunk_ops, 100);
    assert!(
        chunks.chunks_ns.len() > 1 && chunks.chunks_took_ms >= 30.0,
        "{chunks:?}"
    );
    // The averages and the whole are measured apart, and must fit.
    let sum: f64 = chunks.chunks_ns.iter().map(|ns| ns * 100.0 / 1e6).sum();
    assert!(
        (1.0..=chunks.chunks_took_ms).contains(&sum),
        "{sum} ms of {chunks:?}"
    );
}

#[test]
fn the_time_between_requests_is_in_no_chunk() {
    let view = View {
        lasts: Duration::ZERO,
        chunk_ops: 20,
    };
    let chunks = watch(&cell(Scenario::ReplySpaced, None, Peer::Limit, 1), view).unwrap();
    assert_eq!(chunks.chunks_ns.len(), 1);
    // The gap is 500 us of work.
    assert!(
        chunks.chunks_ns[0] < 250_000.0 && chunks.chunks_took_ms > 5.0,
        "{chunks:?}"
    );
}

#[test]
fn figures_are_per_operation() {
    let cost = Cost {
        wall: Duration::from_micros(6),
        cpu: Duration::from_micros(9),
        voluntary_switches: 1,
    };
    let measured = Measured::new(cost, 4, None);
    assert_eq!(
        (
            measured.wall_ns,
            measured.cpu_ns,
            measured.voluntary_switches_per_op
        ),
        (1500.0, 2250.0, 0.25)
    );
}

#[test]
fn a_batch_is_sized_from_the_speed_of_the_warm_up() {
    assert_eq!(
        ops_for(Duration::from_millis(30), 100, Duration::from_millis(10)),
        300
    );
    assert_eq!(
        ops_for(Duration::from_millis(1), 2, Duration::from_secs(1)),
        1
    );
}
