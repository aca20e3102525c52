use serde_json::{Value, json, to_value};

use super::*;
use crate::scenario::Scenario;
use crate::subject::Peer;

fn cell(scenario: Scenario, size: Option<u32>) -> Cell {
    Cell {
        scenario,
        size,
        subject: Subject::Peer(Peer::Tokio),
        workers: 2,
        pin: false,
    }
}

fn round(wall_ns: f64, cpu_ns: f64) -> Measured {
    Measured {
        wall_ns,
        cpu_ns,
        ops: 10,
        voluntary_switches_per_op: 0.5,
        alloc_bytes_per_op: None,
        threads: None,
        quantiles: None,
        stats: BTreeMap::new(),
    }
}

#[test]
fn the_median_is_the_middle_or_the_mean_of_the_two_there() {
    let median = |figures: &[f64]| super::median(figures, |figure| *figure);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    assert_eq!(median(&[7.0]), Some(7.0));
    assert_eq!(median(&[]), None);
}

#[test]
fn wall_and_cpu_have_medians_of_their_own() {
    let rounds = [round(1.0, 30.0), round(2.0, 10.0), round(9.0, 20.0)];
    let figures = Figures::of(&rounds).unwrap();
    assert_eq!((figures.wall_ns, figures.cpu_ns), (2.0, 20.0));
    assert_eq!((figures.wall_min, figures.wall_max), (1.0, 9.0));
    assert_eq!((figures.cpu_min, figures.cpu_max), (10.0, 30.0));
    assert_eq!((figures.rounds, figures.ops), (3, 30));
}

#[test]
fn a_row_has_the_documented_shape() {
    let row = Row::new(&cell(Scenario::Requeue, Some(4)), &[round(1.5, 2.0)], None);
    let expected = json!({
        "scenario": "requeue",
        "params": { "chains": 4 },
        "subject": "tokio",
        "workers": 2,
        "wall_ns": 1.5,
        "cpu_ns": 2.0,
        "wall_min": 1.5,
        "wall_max": 1.5,
        "cpu_min": 2.0,
        "cpu_max": 2.0,
        "rounds": 1,
        "ops": 10,
        "voluntary_switches_per_op": 0.5,
    });
    assert_eq!(to_value(row).unwrap(), expected);
}

#[test]
fn quantiles_stand_beside_the_other_figures() {
    let quantiles = Quantiles {
        p50_us: 1.0,
        p75_us: 1.5,
        p90_us: 2.0,
        p99_us: 3.0,
        max_us: 4.0,
    };
    let measured = Measured {
        quantiles: Some(quantiles),
        ..round(1.5, 2.0)
    };
    let row = to_value(Row::new(
        &cell(Scenario::HttpJson, Some(32)),
        &[measured],
        None,
    ))
    .unwrap();
    assert_eq!(
        ["p50_us", "p75_us", "p90_us", "p99_us", "max_us"].map(|name| row[name].clone()),
        [1.0, 1.5, 2.0, 3.0, 4.0].map(|us| json!(us))
    );
    assert_eq!(row["params"], json!({ "connections": 32 }));
}

#[test]
fn chunks_stand_beside_the_other_figures_and_read_back() {
    let chunks = Chunks {
        chunk_ops: 500,
        chunks_ns: vec![4.0, 3.0],
        chunks_took_ms: 7.5,
    };
    let row = Row::new(&cell(Scenario::ReplyExit, None), &[round(1.0, 1.0)], None);
    let json = to_value(row.clone()).unwrap();
    assert!(json.get("chunks_ns").is_none(), "{json}");
    let row = row.with_chunks(Some(chunks));
    let json = to_value(&row).unwrap();
    assert_eq!(
        (&json["chunk_ops"], &json["chunks_ns"]),
        (&json!(500), &json!([4.0, 3.0]))
    );
    assert_eq!(serde_json::from_value::<Row>(json).unwrap(), row);
}

#[test]
fn the_longest_operation_of_all_rounds_is_the_maximum() {
    let slowest = |max_us| Measured {
        quantiles: Some(Quantiles {
            p50_us: 1.0,
            p75_us: 1.0,
            p90_us: 1.0,
            p99_us: 1.0,
            max_us,
        }),
        ..round(1.0, 1.0)
    };
    let figures = Figures::of(&[slowest(2.0), slowest(9.0), slowest(3.0)]).unwrap();
    assert_eq!(figures.quantiles.unwrap().max_us, 9.0);
}

#[test]
fn allocated_bytes_are_left_out_where_nobody_counted_them() {
    let counted = Measured {
        alloc_bytes_per_op: Some(96.0),
        ..round(1.0, 1.0)
    };
    let figures = Figures::of(&[round(1.0, 1.0), counted]).unwrap();
    assert_eq!(to_value(figures).unwrap()["alloc_bytes_per_op"], 96.0);
    let figures = Figures::of(&[round(1.0, 1.0)]).unwrap();
    assert_eq!(to_value(figures).unwrap().get("alloc_bytes_per_op"), None);
}

#[test]
fn a_server_s_row_says_how_many_requests_a_second_and_the_most_threads() {
    let with_threads = |threads| Measured {
        threads: Some(threads),
        ..round(2e6, 1.0)
    };
    let rounds = [with_threads(7), with_threads(9), with_threads(8)];
    let server = to_value(Row::new(&cell(Scenario::HttpJson, Some(32)), &rounds, None)).unwrap();
    assert_eq!(
        (&server["per_second"], &server["threads"]),
        (&json!(500.0), &json!(9))
    );
    let hop = to_value(Row::new(&cell(Scenario::Requeue, Some(1)), &rounds, None)).unwrap();
    assert_eq!(hop.get("per_second"), None);
}

#[test]
fn counts_are_added_up_as_the_operations_are() {
    let counted = |polls| Measured {
        stats: BTreeMap::from([("polls".to_owned(), polls)]),
        ..round(1.0, 1.0)
    };
    let row = to_value(Row::new(
        &cell(Scenario::Requeue, Some(1)),
        &[counted(3), counted(4)],
        None,
    ))
    .unwrap();
    assert_eq!(
        (&row["stats"], &row["ops"]),
        (&json!({ "polls": 7 }), &json!(20))
    );
}

#[test]
fn a_row_without_a_single_round_says_why_and_has_no_figures() {
    let row = Row::new(
        &cell(Scenario::ReplyExit, None),
        &[],
        Some("timed out".to_owned()),
    );
    let json = to_value(&row).unwrap();
    assert_eq!(
        (&json["error"], &json["params"], &json["wall_ns"]),
        (&json!("timed out"), &json!({}), &Value::Null)
    );
    assert_eq!(serde_json::from_value::<Row>(json).unwrap(), row);
}

#[test]
fn what_a_subject_cannot_do_is_not_an_error() {
    let cell = Cell {
        subject: Subject::Peer(Peer::Limit),
        ..cell(Scenario::HttpJson, Some(32))
    };
    let row = Row::new(&cell, &[], None);
    assert!(row.unsupported.is_some() && row.error.is_none());
}

#[test]
fn a_report_reads_back() {
    let rows = vec![Row::new(
        &cell(Scenario::Requeue, Some(1)),
        &[round(1.5, 2.0)],
        None,
    )];
    let report = Report {
        machine: Machine::detect(None, false),
        rows,
    };
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
}
