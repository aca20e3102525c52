//! The environment, each case in a fresh process: this test binary runs itself, asking for [`child`] alone.
//!
//! Rejected: `set_var` in a test's thread. Other tests read the environment at the same time.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Output};

use runnext_knobs::Knobs;

/// What a child prints before each line that is meant for us; the test harness prints lines of its own.
const MARK: &str = "knobs: ";

/// Not a test but the process that the tests start.
#[test]
#[ignore = "started by the other tests, in an environment of their making"]
fn child() {
    let first = Knobs::from_env_or_warn();
    let second = Knobs::from_env_or_warn();
    let (third, _) = Knobs::from_env();
    assert!(first == second && second == third);
    for line in first.to_string().lines() {
        println!("{MARK}{line}");
    }
}

/// Runs [`child`] with `vars` and nothing else.
fn run(vars: &[(&str, &OsStr)]) -> Output {
    let output = Command::new(std::env::current_exe().expect("a test has a path"))
        .args(["--exact", "environment::child", "--ignored", "--nocapture"])
        .env_clear()
        .envs(vars.iter().copied())
        .output()
        .expect("the test binary starts");
    assert!(output.status.success(), "{output:?}");
    output
}

/// What the child found in force, and its standard error.
fn told(vars: &[(&str, &str)]) -> (Vec<String>, String) {
    let vars: Vec<_> = vars
        .iter()
        .map(|(name, value)| (*name, OsStr::new(*value)))
        .collect();
    let output = run(&vars);
    let text = String::from_utf8(output.stdout).expect("the list is text");
    let lines = text
        .lines()
        .filter_map(|line| line.split_once(MARK))
        .map(|(_, line)| line.to_owned());
    (
        lines.collect(),
        String::from_utf8(output.stderr).expect("warnings are text"),
    )
}

#[test]
fn an_empty_environment_gives_the_defaults_silently() {
    let (list, errors) = told(&[]);
    let defaults: Vec<_> = Knobs::default()
        .to_string()
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!((list, errors), (defaults, String::new()));
}

#[test]
fn variables_are_read() {
    let (list, errors) = told(&[
        ("DOTNET_ThreadPool_RunNext", "0"),
        ("RUNNEXT_STALLED_WORK_US", "80"),
    ]);
    assert!(
        list.contains(&"export RUNNEXT_RUN_NEXT=0".to_owned()),
        "{list:?}"
    );
    assert!(
        list.contains(&"export RUNNEXT_STALLED_WORK_US=80".to_owned()),
        "{list:?}"
    );
    assert_eq!(errors, "");
}

#[test]
fn each_warning_is_printed_once() {
    let (list, errors) = told(&[
        ("RUNNEXT_STALLED_WORK_US", "fifty"),
        ("RUNNEXT_RUN_NXT", "0"),
    ]);
    assert!(
        list.contains(&"export RUNNEXT_STALLED_WORK_US=50".to_owned()),
        "{list:?}"
    );
    let lines: Vec<_> = errors.lines().collect();
    assert_eq!(lines.len(), 2, "{errors}");
    assert!(
        lines[0].starts_with("runnext: warning: `RUNNEXT_STALLED_WORK_US=fifty`"),
        "{errors}"
    );
    assert!(lines[1].contains("`RUNNEXT_RUN_NXT`"), "{errors}");
}

#[test]
fn warnings_can_be_silenced() {
    let (_, errors) = told(&[
        ("RUNNEXT_STALLED_WORK_US", "fifty"),
        ("RUNNEXT_WARNINGS", "0"),
    ]);
    assert_eq!(errors, "");
}

#[test]
fn what_is_printed_can_be_pasted_into_an_environment() {
    let knobs = Knobs::default()
        .with_run_next(false)
        .with_spin_limit(7)
        .with_thread_timeout(None);
    let list = knobs.to_string();
    let exported = list
        .lines()
        .filter_map(|line| line.strip_prefix("export ")?.split_once('='));
    let (again, errors) = told(&exported.collect::<Vec<_>>());
    assert_eq!((again.join("\n"), errors), (list.clone(), String::new()));
}

#[cfg(unix)]
#[test]
fn a_value_of_any_bytes_is_survived() {
    use std::os::unix::ffi::OsStringExt;

    let value = OsString::from_vec(vec![b'5', 0xff]);
    let output = run(&[("RUNNEXT_SPIN_LIMIT", &value)]);
    let errors = String::from_utf8(output.stderr).expect("warnings are text");
    assert!(
        errors.contains("is not UTF-8; keeping the default 1024 spins"),
        "{errors}"
    );
}
