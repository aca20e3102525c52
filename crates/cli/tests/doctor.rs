//! `runnext doctor` as a user meets it. What it finds depends on the machine, so only that it finds something is tested
//! here; the rules of its advice are tested beside them.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn doctor(arguments: &[&str], spin_limit: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_runnext"))
        .arg("doctor")
        .args(arguments)
        .env("RUNNEXT_SPIN_LIMIT", spin_limit)
        .env_remove("RUNNEXT_PIN_THREADS")
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

#[test]
fn every_figure_is_measured() {
    let output = doctor(&["--json"], "1024");
    assert_eq!(output.status.code(), Some(0));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["host"]["usable"].as_u64() >= Some(1), "{found}");
    let timing = &found["timing"];
    for name in ["spin_ns", "cas_ns", "clock_ns"] {
        let figure = timing[name].as_f64().unwrap();
        assert!(0.0 < figure && figure < 1e6, "{name}: {figure}");
    }
    for name in ["wake", "oversleep"] {
        let (p50, p99) = (&timing[name]["p50_ns"], &timing[name]["p99_ns"]);
        assert!(
            p50.as_f64() > Some(0.0) && p50.as_f64() <= p99.as_f64(),
            "{timing}"
        );
    }
    let units = found["spins_per_unit"].as_f64().unwrap() * timing["spin_ns"].as_f64().unwrap();
    assert!((34.9..35.1).contains(&units), "{units}");
}

#[test]
fn a_knob_that_does_not_suit_is_named_with_a_value() {
    // No wake takes less than a unit, so a limit of one unit is too small anywhere.
    let output = doctor(&[], "1");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    for name in [
        "processor",
        "quota",
        "timer slack",
        "wake, pinned",
        "compare-and-swap",
    ] {
        assert!(
            text.contains(&format!("\n{name}")) || text.starts_with(name),
            "{name}: {text}"
        );
    }
    assert!(text.contains("Try `RUNNEXT_SPIN_LIMIT="), "{text}");
}
