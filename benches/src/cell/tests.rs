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

/// Every subject runs every scenario it supports, on fewer, as many and more threads than there may be cores.
fn all_subjects_run(scenario: Scenario, size: Option<u32>) {
    for subject in Subject::all() {
        for workers in [1, 2, 8] {
            let cell = Cell {
                scenario,
                size,
                subject,
                workers,
                pin: false,
            };
            let supported = scenario.supported_by(cell.subject).is_ok();
            let measured = run(&cell, Effort::QUICK.with_ops(40));
            assert_eq!(measured.is_ok(), supported, "{cell:?}: {measured:?}");
            let Ok(measured) = measured else { continue };
            assert!(
                measured.ops >= 40 && measured.wall_ns > 0.0,
                "{cell:?}: {measured:?}"
            );
            assert_eq!(measured.quantiles.is_some(), scenario.entry().io);
        }
    }
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
fn reply_exit_runs_on_all_subjects() {
    all_subjects_run(Scenario::ReplyExit, None);
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
        warm_up: Duration::from_millis(10),
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
