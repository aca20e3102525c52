//! `runnext run` as a user meets it: the real binary, its exit codes, its table and its file.
//!
//! Nothing here looks at a figure's size; the operations are few, so that a debug build takes moments.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

/// More operations than anything does within the test's patience.
const ENDLESS: &str = "1000000000000000";

fn command<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runnext"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn runnext(line: &str) -> Output {
    command(line.split_whitespace())
        .output()
        .expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("the file is there")).expect("the file is JSON")
}

#[test]
fn a_run_prints_a_table_and_writes_its_figures() {
    let directory = directory();
    let file = directory.path().join("out.json");
    let line = "run ping-pong --quick --ops 64 --rounds 2 --workers 1,2 --json";
    let output = command(
        line.split_whitespace()
            .map(OsStr::new)
            .chain([file.as_os_str()]),
    )
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for heading in [
        "base",
        "run-next",
        "defer",
        "lazy",
        "tokio",
        "async-executor",
        "futures",
        "limit",
        "ping-pong pairs 20",
    ] {
        assert!(
            stdout(&output).contains(heading),
            "no `{heading}` in\n{}",
            stdout(&output)
        );
    }

    let report = read_json(&file);
    assert!(report["machine"]["cores"].as_u64() > Some(0));
    let rows = report["rows"].as_array().unwrap();
    // Three values of the parameter; seven subjects at two numbers of workers each, and `limit` at one.
    assert_eq!(rows.len(), 3 * (7 * 2 + 1));
    for row in rows {
        let (min, wall, max) = (
            number(row, "wall_min"),
            number(row, "wall_ns"),
            number(row, "wall_max"),
        );
        assert!(0.0 < min && min <= wall && wall <= max, "{row}");
        assert_eq!(
            (&row["rounds"], row.get("error")),
            (&json!(2), None),
            "{row}"
        );
        assert!(
            row["ops"].as_u64() >= Some(128) && row["params"]["pairs"].is_u64(),
            "{row}"
        );
    }
}

fn number(row: &Value, name: &str) -> f64 {
    row[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no `{name}` in {row}"))
}

#[test]
fn a_run_writes_the_page_that_report_makes_of_its_file() {
    let directory = directory();
    let [json, page, again] =
        ["a.json", "a.html", "b.html"].map(|name| directory.path().join(name));
    let line = "run ping-pong --ops 64 --rounds 2 --workers 1,2 --json";
    let files = [json.as_os_str(), OsStr::new("--html"), page.as_os_str()];
    let output = command(line.split_whitespace().map(OsStr::new).chain(files)).output();
    assert_eq!(output.unwrap().status.code(), Some(0));
    let report = [
        OsStr::new("report"),
        json.as_os_str(),
        OsStr::new("--html"),
        again.as_os_str(),
    ];
    assert_eq!(command(report).output().unwrap().status.code(), Some(0));
    let [page, again] = [page, again].map(|page| fs::read_to_string(page).unwrap());
    assert!(page.contains("ping-pong, pairs 20") && page.contains("Adding workers"));
    assert!(page == again, "the two pages differ");
}

#[test]
fn replies_are_watched_from_the_first_one_on() {
    let directory = directory();
    let file = directory.path().join("out.json");
    let line = format!(
        "run reply-exit reply-spaced --quick --rounds 1 --variants defer --peers limit --workers 2 --json {}",
        file.display()
    );
    let output = runnext(&line);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = read_json(&file);
    for row in report["rows"].as_array().unwrap() {
        let chunks = row["chunks_ns"]
            .as_array()
            .unwrap_or_else(|| panic!("no chunks in {row}"));
        assert!(
            !chunks.is_empty() && chunks.iter().all(|chunk| chunk.as_f64() > Some(0.0)),
            "{row}"
        );
        assert!(number(row, "chunks_took_ms") >= 250.0, "{row}");
    }
}

#[test]
fn cells_that_rest_do_so_side_by_side_in_a_hurry() {
    let directory = directory();
    let file = directory.path().join("out.json");
    let line = format!(
        "run latency-sleep latency-event --quick --rounds 1 --variants base,defer --peers tokio,limit --workers 2 --json {}",
        file.display()
    );
    let start = Instant::now();
    let output = runnext(&line);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for row in read_json(&file)["rows"].as_array().unwrap() {
        assert_eq!(row["ops"].as_u64(), Some(1), "{row}");
        assert!(number(row, "p50_us") > 0.0, "{row}");
    }
    for told in ["limit (2 threads)", "limit, in latency-*"] {
        assert!(stdout(&output).contains(told), "{}", stdout(&output));
    }
    // Eight cells rest for three seconds each, and as many for a tenth.
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "they rested one after the other"
    );
}

#[test]
fn the_switches_of_the_variants_show_in_the_counters() {
    let directory = directory();
    let file = directory.path().join("out.json");
    let line = format!(
        "run ping-pong --ops 1000 --rounds 1 --peers none --workers 2 --json {}",
        file.display()
    );
    // The environment must not turn a variant into another one.
    let output = command(line.split_whitespace())
        .env("RUNNEXT_RUN_NEXT", "1")
        .env_remove("RUNNEXT_PIN_THREADS")
        .output();
    assert_eq!(output.unwrap().status.code(), Some(0));
    for row in read_json(&file)["rows"].as_array().unwrap() {
        let uses_slot = row["stats"]["slot_polls"].as_u64() > Some(0);
        assert_eq!(uses_slot, row["subject"] != "base", "{row}");
    }
}

#[test]
fn servers_report_the_spread_of_their_round_trips() {
    let directory = directory();
    let file = directory.path().join("out.json");
    let line = "run websocket-echo http-json --ops 600 --rounds 1 --workers 2 --json";
    let output = command(
        line.split_whitespace()
            .map(OsStr::new)
            .chain([file.as_os_str()]),
    )
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("unsupported"));
    // One line for each number of connections of each scenario.
    let shown = stdout(&output);
    let tails = shown.lines().filter(|line| line.contains("  p50 / p99 "));
    assert_eq!(tails.count() % (2 * 2), 0, "{shown}");
    assert!(shown.contains("  p50 / p99 "), "{shown}");
    for row in read_json(&file)["rows"].as_array().unwrap() {
        if row["subject"] == "limit" {
            assert!(
                row["unsupported"].is_string() && row.get("wall_ns").is_none(),
                "{row}"
            );
        } else {
            assert!(number(row, "p50_us") <= number(row, "p99_us"), "{row}");
        }
    }
}

#[test]
fn wrong_use_is_answered_with_what_is_possible_before_anything_is_measured() {
    let cases = [
        (
            "run nonsense",
            "unknown scenario `nonsense`; choose from `requeue`, `ping-pong`",
        ),
        (
            "run --variants x",
            "unknown variant `x`; choose from `base`, `run-next`, `defer`, `lazy`",
        ),
        (
            "run --peers glommio",
            "unknown peer `glommio`; choose from `tokio`, `async-executor`, `futures`, `limit`",
        ),
        (
            "run --workers 0",
            "`0` is not a number of workers; choose from 1 to 1024",
        ),
        ("run --workers 2,x", "`x` is not a number of workers"),
        ("run --workers none", "nothing to measure with"),
        ("run --variants none --peers none", "nothing to measure"),
        ("run --rounds 0", "0 is not in 1.."),
        ("run --ops 0", "--ops"),
        (
            "run --json /nowhere/at/all.json",
            "cannot write `/nowhere/at/all.json`",
        ),
        (
            "run --html /nowhere/at/all.html",
            "cannot write `/nowhere/at/all.html`",
        ),
        (
            "run --json /dev/null --html /dev/null",
            "`--json` and `--html` both name `/dev/null`",
        ),
    ];
    for (line, answer) in cases {
        let output = runnext(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(answer),
            "{line}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{line}");
    }
}

#[test]
fn a_cell_that_takes_too_long_is_ended_and_reported() {
    let directory = directory();
    let file = directory.path().join("out.json");
    let line = format!(
        "run reply-exit --variants none --peers tokio,limit --ops {ENDLESS} --time-limit 1 --workers 2 --json {}",
        file.display()
    );
    let output = runnext(&line);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("failed"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("reply-exit, tokio, 2 workers: timed out after 1 s"),
        "{}",
        stderr(&output)
    );
    for row in read_json(&file)["rows"].as_array().unwrap() {
        assert_eq!(row["error"], "timed out after 1 s");
    }
}

#[test]
fn a_cell_that_fails_does_not_stop_the_others() {
    // 512 connections need more files than this, 32 do not.
    let line = format!(
        "ulimit -n 256; exec {} run http-json --variants none --peers tokio --ops 64 --rounds 2 --workers 2",
        env!("CARGO_BIN_EXE_runnext")
    );
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("`ulimit -Hn` is 256; raise that limit"),
        "{}",
        stderr(&output)
    );
    assert!(
        stdout(&output)
            .lines()
            .any(|line| line.contains("connections 32") && line.contains("us"))
    );
    assert!(
        stdout(&output)
            .lines()
            .any(|line| line.contains("connections 512") && line.contains("failed"))
    );
}

#[test]
fn an_interrupt_ends_the_child_and_shows_what_there_is() {
    let directory = directory();
    let file = directory.path().join("out.json");
    let page = directory.path().join("out.html");
    let line = format!(
        "run requeue --variants none --peers limit --ops {ENDLESS} --rounds 1 --json {} --html {}",
        file.display(),
        page.display()
    );
    let parent = command(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = i32::try_from(parent.id()).unwrap();
    let child = wait_for("a child process", || child_of(id));
    kill(Pid::from_raw(id), Signal::SIGINT).unwrap();

    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("not measured"),
        "{}",
        stdout(&output)
    );
    assert_eq!(read_json(&file)["rows"].as_array().map(Vec::len), Some(2));
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("requeue, chains 4") && page.ends_with("</html>\n"));
    wait_for("the child's end", || gone(child).then_some(()));
}

#[test]
fn an_interrupt_ends_all_children_that_rest_side_by_side() {
    let line = "run latency-sleep --quick --variants none --peers tokio,futures --workers 2";
    let parent = command(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = i32::try_from(parent.id()).unwrap();
    let children = wait_for("two child processes", || {
        let children = children_of(id);
        (children.len() == 2).then_some(children)
    });
    kill(Pid::from_raw(id), Signal::SIGINT).unwrap();
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    for child in children {
        wait_for("a child's end", || gone(child).then_some(()));
    }
}

#[test]
fn who_ran_out_of_time_beside_others_is_measured_alone() {
    // Nobody rests for three seconds in two, together or alone.
    let line = "run latency-sleep --quick --rounds 1 --variants none --peers tokio,futures --workers 2 --time-limit 2";
    let output = runnext(line);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    for peer in ["tokio", "futures"] {
        let failure = format!("latency-sleep rest_ms 3000, {peer}, 2 workers: timed out after 2 s");
        assert!(stderr(&output).contains(&failure), "{}", stderr(&output));
    }
    assert!(
        !stderr(&output).contains("rest_ms 100"),
        "{}",
        stderr(&output)
    );
}

fn child_of(id: i32) -> Option<i32> {
    children_of(id).first().copied()
}

fn children_of(id: i32) -> Vec<i32> {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    children
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect()
}

fn gone(child: i32) -> bool {
    !Path::new(&format!("/proc/{child}")).exists()
}

/// Asks again until there is an answer; a test that waits for ever would say less than one that fails.
fn wait_for<T>(what: &str, mut answer: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "waited a minute for {what}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_catalogue_is_listed_for_people_and_as_json() {
    let table = runnext("scenarios");
    assert_eq!(table.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&runnext("scenarios --json").stdout).unwrap();
    for entry in json.as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        assert!(
            stdout(&table).contains(name),
            "no `{name}` in\n{}",
            stdout(&table)
        );
        assert!(
            entry["operation"].is_string() && entry["stands_for"].is_string(),
            "{entry}"
        );
    }
    assert_eq!(
        json[0]["param"],
        json!({ "name": "chains", "values": [1, 4] })
    );
}
