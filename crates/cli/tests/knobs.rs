//! `runnext knobs` as its users meet it: the real binary, each time in an environment of the test's making.

use std::ffi::OsStr;
use std::process::{Command, Output};

const RUN_NEXT: &str = "DOTNET_ThreadPool_RunNext";
const STALLED: (&str, &str) = ("DOTNET_ThreadPool_StalledWorkUs", "fifty");
const MISSPELT: (&str, &str) = ("DOTNET_ThreadPool_RunNextStealDelay", "5");

struct Told {
    code: i32,
    out: String,
    err: String,
}

/// `runnext knobs` with `args`, with `vars` and nothing else in the environment.
fn knobs(args: &[&str], vars: &[(&str, &str)]) -> Told {
    let vars: Vec<_> = vars
        .iter()
        .map(|(name, value)| (*name, OsStr::new(*value)))
        .collect();
    knobs_os(args, &vars)
}

fn knobs_os(args: &[&str], vars: &[(&str, &OsStr)]) -> Told {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_runnext"))
        .arg("knobs")
        .args(args)
        .env_clear()
        .envs(vars.iter().copied())
        .output()
        .expect("the binary starts");
    Told {
        code: status.code().expect("it ends by itself"),
        out: String::from_utf8(stdout).expect("the answer is text"),
        err: String::from_utf8(stderr).expect("warnings are text"),
    }
}

impl Told {
    /// The columns of our `variable`'s line in the table.
    fn row(&self, variable: &str) -> Vec<&str> {
        self.line(variable).split_whitespace().collect()
    }

    fn line(&self, variable: &str) -> &str {
        let row = |line: &&str| line.split_whitespace().next() == Some(variable);
        let line = self
            .out
            .lines()
            .find(row)
            .unwrap_or_else(|| panic!("no {variable} in\n{}", self.out));
        line.trim_end()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).expect("the answer is JSON")
    }
}

#[test]
fn the_table_has_every_knob_with_names_value_unit_and_origin() {
    let told = knobs(&[], &[]);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    let stalled = [
        "RUNNEXT_STALLED_WORK_US",
        "DOTNET_ThreadPool_StalledWorkUs",
        "50",
        "us",
        "default",
    ];
    assert_eq!(told.row("RUNNEXT_STALLED_WORK_US"), stalled);
    assert_eq!(
        told.row("RUNNEXT_WATCH"),
        ["RUNNEXT_WATCH", "-", "gate", "default"]
    );
    for entry in runnext_knobs::catalogue() {
        assert!(
            told.row(entry.ours.variable).contains(&"default"),
            "{}",
            told.out
        );
    }
}

#[test]
fn a_variable_shows_its_value_and_itself_as_the_origin() {
    let told = knobs(&[], &[(RUN_NEXT, "0")]);
    assert_eq!(
        told.row("RUNNEXT_RUN_NEXT"),
        ["RUNNEXT_RUN_NEXT", RUN_NEXT, "0", RUN_NEXT]
    );
    assert_eq!((told.code, told.err.as_str()), (0, ""));
}

#[test]
fn our_spelling_beside_dotnets_wins() {
    let told = knobs(&[], &[(RUN_NEXT, "0"), ("RUNNEXT_RUN_NEXT", "1")]);
    assert_eq!(
        told.row("RUNNEXT_RUN_NEXT"),
        ["RUNNEXT_RUN_NEXT", RUN_NEXT, "1", "RUNNEXT_RUN_NEXT"]
    );
}

#[test]
fn a_value_that_another_knob_limits_tells_which() {
    let told = knobs(&[], &[("RUNNEXT_RUN_NEXT", "0")]);
    let row = told.row("RUNNEXT_DEFER_WORKER_REQUESTS").join(" ");
    assert!(
        row.ends_with(" 0 default, limited by RUNNEXT_RUN_NEXT"),
        "{row}"
    );
}

#[test]
fn what_is_wrong_is_told_on_standard_error_with_the_default_kept() {
    let told = knobs(&[], &[STALLED, MISSPELT]);
    let lines: Vec<_> = told.err.lines().collect();
    let [unreadable, unknown] = lines[..] else {
        panic!("not two warnings:\n{}", told.err)
    };
    for part in [
        "warning: ",
        STALLED.0,
        "fifty",
        "is not an integer",
        "keeping the default 50 us",
    ] {
        assert!(unreadable.contains(part), "{unreadable}");
    }
    for part in [
        "warning: ",
        MISSPELT.0,
        "`DOTNET_ThreadPool_RunNextStealDelayUs`",
        "keeping the default 5 us",
    ] {
        assert!(unknown.contains(part), "{unknown}");
    }
    assert_eq!(
        told.row("RUNNEXT_STALLED_WORK_US")[2..],
        ["50", "us", "default"]
    );
    assert_eq!(
        told.row("RUNNEXT_RUN_NEXT_STEAL_DELAY_US")[2..],
        ["5", "us", "default"]
    );
    assert_eq!(told.code, 0, "without --check a warning is no failure");
}

#[test]
fn check_fails_on_any_warning_and_only_then() {
    for vars in [&[STALLED][..], &[MISSPELT], &[STALLED, MISSPELT]] {
        let told = knobs(&["--check"], vars);
        assert_eq!(
            (told.code, told.err.lines().count()),
            (1, vars.len()),
            "{}",
            told.err
        );
    }
    let told = knobs(
        &["--check"],
        &[(RUN_NEXT, "0"), ("DOTNET_gcServer", "1"), ("PATH", "/bin")],
    );
    assert_eq!((told.code, told.err.as_str()), (0, ""));
}

#[test]
fn silenced_warnings_still_fail_the_check() {
    let vars = [STALLED, ("RUNNEXT_WARNINGS", "0")];
    assert_eq!(knobs(&[], &vars).err, "");
    let told = knobs(&["--check"], &vars);
    assert!(
        told.code == 1 && told.err.contains(STALLED.0),
        "{}",
        told.err
    );
}

#[test]
fn dotnets_hexadecimal_is_kept_and_told() {
    let told = knobs(&[], &[("DOTNET_ThreadPool_ForceMinWorkerThreads", "10")]);
    assert_eq!(told.row("RUNNEXT_MIN_THREADS")[2..4], ["16", "threads"]);
    for part in [
        "`DOTNET_ThreadPool_ForceMinWorkerThreads=10`",
        "16 threads",
        "`RUNNEXT_MIN_THREADS=10`",
    ] {
        assert!(told.err.contains(part), "{}", told.err);
    }
    assert_eq!(
        knobs(&[], &[("DOTNET_ThreadPool_ForceMinWorkerThreads", "0x10")]).err,
        ""
    );
}

#[test]
fn explain_takes_any_spelling() {
    let names = [
        "StalledWorkUs",
        "DOTNET_ThreadPool_StalledWorkUs",
        "RUNNEXT_STALLED_WORK_US",
        "stalled-work-us",
    ];
    let answers =
        names.map(|name| knobs(&["--explain", name], &[("RUNNEXT_STALLED_WORK_US", "80")]));
    for told in &answers {
        assert_eq!(
            (told.code, told.err.as_str(), &told.out),
            (0, "", &answers[0].out)
        );
    }
    for part in [
        "now      80 us (RUNNEXT_STALLED_WORK_US)",
        "default  50 us",
        "range    0 to 2147483647",
        "octal",
    ] {
        assert!(answers[0].out.contains(part), "{}", answers[0].out);
    }
    assert!(
        answers[0].out.lines().all(|line| line.len() <= 110),
        "{}",
        answers[0].out
    );
}

#[test]
fn explain_of_an_unknown_name_suggests_the_nearest() {
    let told = knobs(&["--explain", "StaledWork"], &[]);
    assert_eq!((told.code, told.out.as_str()), (2, ""));
    assert!(
        told.err.contains("`StaledWork`") && told.err.contains("`StalledWorkUs`"),
        "{}",
        told.err
    );
    let told = knobs(&["--explain", "nonsense"], &[]);
    assert_eq!(
        (told.code, told.out.as_str(), told.err.as_str()),
        (
            2,
            "",
            "error: no knob is called `nonsense`; `runnext knobs` lists all\n"
        )
    );
}

#[test]
fn json_holds_knobs_and_warnings() {
    let told = knobs(&["--json"], &[(RUN_NEXT, "0"), STALLED]);
    let report = told.json();
    let rows = report["knobs"].as_array().expect("a list");
    assert_eq!(rows.len(), runnext_knobs::catalogue().len());
    let row = |variable: &str| {
        rows.iter()
            .find(|row| row["variable"] == variable)
            .expect("a row")
    };
    let run_next = row("RUNNEXT_RUN_NEXT");
    assert_eq!(
        (&run_next["value"], &run_next["origin"]),
        (&0.into(), &RUN_NEXT.into())
    );
    assert_eq!(run_next["dotnet_variable"], RUN_NEXT);
    assert_eq!(row("RUNNEXT_STALLED_WORK_US")["unit"], "us");
    assert_eq!(row("RUNNEXT_WATCH")["value"], "gate");
    assert_eq!(
        row("RUNNEXT_DEFER_WORKER_REQUESTS")["limited_by"],
        "RUNNEXT_RUN_NEXT"
    );
    assert_eq!(report["warnings"][0]["variable"], STALLED.0);
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(1));
    let one = knobs(&["--json", "--explain", "watch"], &[]).json();
    assert_eq!(one["knobs"].as_array().map(Vec::len), Some(1));
}

#[cfg(unix)]
#[test]
fn a_value_of_any_bytes_is_survived() {
    use std::os::unix::ffi::OsStrExt;

    let told = knobs_os(
        &["--check"],
        &[("RUNNEXT_SPIN_LIMIT", OsStr::from_bytes(b"\xff\n"))],
    );
    assert_eq!(
        (told.code, told.err.lines().count()),
        (1, 1),
        "{}",
        told.err
    );
    assert!(
        told.err.contains("RUNNEXT_SPIN_LIMIT") && told.err.contains("UTF-8"),
        "{}",
        told.err
    );
}
