mod properties;

use std::time::Duration;

use super::*;
use crate::{Rule, Watch};

type Vars<'a> = &'a [(&'a str, &'a str)];

/// The knobs that `vars` give, which must be without fault.
fn good(vars: Vars) -> Knobs {
    let (knobs, warnings) = Knobs::from_vars(vars.iter().copied());
    assert_eq!(warnings, [], "{vars:?}");
    knobs
}

/// The knobs that `vars` give and the one warning, which must name `variable`.
fn bad(vars: Vars, variable: &str) -> (Knobs, String) {
    let (knobs, warnings) = Knobs::from_vars(vars.iter().copied());
    let [warning] = &warnings[..] else {
        panic!("not one warning for {vars:?}: {warnings:#?}")
    };
    assert_eq!(warning.variable(), variable);
    (knobs, warning.to_string())
}

/// Fixes the defaults that differ between machines.
const ON_4: (&str, &str) = ("RUNNEXT_PROCESSOR_COUNT", "4");

#[test]
fn nothing_set_gives_the_defaults() {
    let knobs = good(&[]);
    assert_eq!(knobs, Knobs::default());
    assert!(knobs.run_next() && knobs.defer_worker_requests() && !knobs.lazy_dispatch_request());
    assert_eq!(knobs.run_next_steal_delay(), Duration::from_micros(5));
    assert_eq!(knobs.stalled_work(), Duration::from_micros(50));
    assert_eq!(knobs.spin_limit(), 1024);
    assert_eq!(knobs.max_threads(), 512);
    assert_eq!(knobs.thread_timeout(), Some(Duration::from_secs(20)));
    assert_eq!(knobs.threads_to_keep_alive(), Some(0));
    assert!(knobs.cooperative_blocking() && knobs.starvation_detection());
    assert_eq!(knobs.blocking_delay_step(), Duration::from_millis(25));
    assert_eq!(knobs.blocking_max_delay(), Duration::from_millis(250));
    assert_eq!(knobs.watch(), Watch::Gate);
    assert!(!knobs.pin_threads() && !knobs.stats_at_exit() && knobs.warnings_enabled());
    let detected = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(knobs.processor_count(), detected);
    assert_eq!(knobs.min_threads(), detected);
    assert_eq!(knobs.blocking_threads_without_delay(), detected);
    assert_eq!(
        knobs.spurious_dispatch_no_spin_threshold(),
        detected * 2 / 3
    );
}

#[test]
fn defaults_follow_the_processors() {
    for name in ["RUNNEXT_PROCESSOR_COUNT", "DOTNET_PROCESSOR_COUNT"] {
        let knobs = good(&[(name, "8")]);
        assert_eq!((knobs.processor_count(), knobs.min_threads()), (8, 8));
        assert_eq!(knobs.blocking_threads_without_delay(), 8);
        assert_eq!(knobs.spurious_dispatch_no_spin_threshold(), 5);
    }
}

#[test]
fn every_knob_is_set_by_either_spelling() {
    for entry in catalogue() {
        for spelling in entry.spellings() {
            let text = if let Rule::Choice(words) = spelling.rule {
                words[1]
            } else {
                "1"
            };
            let knobs = good(&[(spelling.variable, text)]);
            assert_eq!(knobs.effective(entry.knob).0, 1, "{spelling:?}");
            let origin = Origin::Environment(spelling.variable.to_owned());
            assert_eq!(knobs.origin(entry.name()), Some(&origin));
        }
    }
}

#[test]
fn our_spelling_wins_over_dotnets_and_the_program_over_both() {
    let dotnet = ("DOTNET_ThreadPool_RunNext", "0");
    let knobs = good(&[dotnet]);
    assert!(!knobs.run_next());
    assert_eq!(
        knobs.origin("RunNext").unwrap().to_string(),
        "DOTNET_ThreadPool_RunNext"
    );

    let knobs = good(&[dotnet, ("RUNNEXT_RUN_NEXT", "1")]);
    assert!(knobs.run_next());
    assert_eq!(
        knobs.origin("RunNext").unwrap().to_string(),
        "RUNNEXT_RUN_NEXT"
    );

    let knobs = knobs.with_run_next(false);
    assert!(!knobs.run_next());
    assert_eq!(knobs.origin("RunNext"), Some(&Origin::Builder));
}

#[test]
fn empty_is_unset_and_the_first_of_a_name_counts() {
    assert_eq!(
        good(&[("RUNNEXT_RUN_NEXT", ""), ("RUNNEXT_NO_SUCH", "")]),
        Knobs::default()
    );
    assert!(!good(&[("RUNNEXT_RUN_NEXT", ""), ("DOTNET_ThreadPool_RunNext", "0")]).run_next());
    assert!(!good(&[("RUNNEXT_RUN_NEXT", "0"), ("RUNNEXT_RUN_NEXT", "1")]).run_next());
}

#[test]
fn dotnets_other_bases_hold_and_are_told() {
    let (knobs, text) = bad(
        &[("DOTNET_ThreadPool_ForceMinWorkerThreads", "10")],
        "DOTNET_ThreadPool_ForceMinWorkerThreads",
    );
    assert_eq!(knobs.min_threads(), 16);
    assert!(
        text.contains("is hexadecimal")
            && text.contains("16 threads")
            && text.contains("`RUNNEXT_MIN_THREADS=10`"),
        "{text}"
    );
    let (knobs, text) = bad(
        &[("DOTNET_ThreadPool_StalledWorkUs", "010")],
        "DOTNET_ThreadPool_StalledWorkUs",
    );
    assert_eq!(knobs.stalled_work(), Duration::from_micros(8));
    assert!(
        text.contains("is octal")
            && text.contains("8 us")
            && text.contains("`RUNNEXT_STALLED_WORK_US=10`"),
        "{text}"
    );
    assert_eq!(
        good(&[("DOTNET_ThreadPool_ForceMinWorkerThreads", "0x10")]).min_threads(),
        16
    );
    assert_eq!(
        good(&[("DOTNET_ThreadPool_UnfairSemaphoreSpinLimit", "0x46")]).spin_limit(),
        0x46
    );
}

#[test]
fn k1_a_wrong_value_changes_nothing_and_is_told() {
    for (variable, value, reason, kept) in [
        (
            "DOTNET_ThreadPool_StalledWorkUs",
            "fifty",
            "is not an integer",
            "the default 50 us",
        ),
        (
            "DOTNET_ThreadPool_StalledWorkUs",
            "-1",
            "is outside 0 to 2147483647",
            "the default 50 us",
        ),
        (
            "DOTNET_ThreadPool_StalledWorkUs",
            "0x100000000",
            "is outside 0 to",
            "the default 50 us",
        ),
        (
            "DOTNET_ThreadPool_StalledWorkUs",
            "2147483648",
            "outside 0 to",
            "the default 50 us",
        ),
        (
            "RUNNEXT_STALLED_WORK_US",
            "0x10",
            "is not a decimal integer",
            "the default 50 us",
        ),
        (
            "RUNNEXT_RUN_NEXT",
            "yes",
            "is not 1, 0, true or false",
            "the default 1",
        ),
        (
            "DOTNET_ThreadPool_RunNext",
            " 1",
            "is not 1, 0, true or false",
            "the default 1",
        ),
        (
            "RUNNEXT_MAX_THREADS",
            "0",
            "is outside 1 to 32767",
            "the default 512 threads",
        ),
        (
            "DOTNET_ThreadPool_ForceMaxWorkerThreads",
            "8000",
            "means 32768, outside",
            "the default 512 threads",
        ),
        (
            "RUNNEXT_THREAD_TIMEOUT_MS",
            "-2",
            "or -1 for never",
            "the default 20000 ms",
        ),
        (
            "RUNNEXT_BLOCKING_DELAY_STEP_MS",
            "-1",
            "is outside 0 to 2147483647",
            "the default 25 ms",
        ),
        (
            "RUNNEXT_BLOCKING_MAX_DELAY_MS",
            "2147483648",
            "is outside 0 to 2147483647",
            "the default 250 ms",
        ),
        (
            "RUNNEXT_BLOCKING_THREADS_WITHOUT_DELAY",
            "32768",
            "is outside 0 to 32767",
            "keeping the default",
        ),
        (
            "DOTNET_ThreadPool_DisableStarvationDetection",
            "true",
            "hexadecimal",
            "the default 0",
        ),
        (
            "RUNNEXT_WATCH",
            "guard",
            "is not gate or spinner",
            "the default gate",
        ),
        (
            "RUNNEXT_PROCESSOR_COUNT",
            "0",
            "outside 1 to",
            "keeping the default",
        ),
    ] {
        let (knobs, text) = bad(&[(variable, value)], variable);
        assert_eq!(knobs, Knobs::default(), "{variable}={value}");
        let given = format!("`{variable}={value}`");
        assert!(
            text.contains(&given) && text.contains(reason) && text.contains(kept),
            "{text}"
        );
    }
}

#[test]
fn k1_a_wrong_value_leaves_the_other_spelling_in_force() {
    let vars = [
        ("RUNNEXT_STALLED_WORK_US", "fifty"),
        ("DOTNET_ThreadPool_StalledWorkUs", "80"),
    ];
    let (knobs, text) = bad(&vars, "RUNNEXT_STALLED_WORK_US");
    assert_eq!(knobs.stalled_work(), Duration::from_micros(80));
    assert!(
        text.ends_with("keeping 80 us from `DOTNET_ThreadPool_StalledWorkUs`"),
        "{text}"
    );

    let vars = [
        ("RUNNEXT_STALLED_WORK_US", "80"),
        ("DOTNET_ThreadPool_StalledWorkUs", "fifty"),
    ];
    let (knobs, text) = bad(&vars, "DOTNET_ThreadPool_StalledWorkUs");
    assert_eq!(knobs.stalled_work(), Duration::from_micros(80));
    assert!(
        text.ends_with("keeping 80 us from `RUNNEXT_STALLED_WORK_US`"),
        "{text}"
    );
}

#[test]
fn an_overridden_value_is_not_told_to_be_hexadecimal() {
    let vars = [
        ("RUNNEXT_MIN_THREADS", "10"),
        ("DOTNET_ThreadPool_ForceMinWorkerThreads", "10"),
    ];
    assert_eq!(good(&vars).min_threads(), 10);
}

#[test]
fn the_special_values_are_read() {
    assert_eq!(
        good(&[("RUNNEXT_THREAD_TIMEOUT_MS", "-1")]).thread_timeout(),
        None
    );
    assert_eq!(
        good(&[("DOTNET_ThreadPool_ThreadTimeoutMs", "0xffffffff")]).thread_timeout(),
        None
    );
    assert_eq!(
        good(&[("DOTNET_ThreadPool_ThreadsToKeepAlive", "-1")]).threads_to_keep_alive(),
        None
    );
    assert_eq!(
        good(&[("RUNNEXT_THREADS_TO_KEEP_ALIVE", "3")]).threads_to_keep_alive(),
        Some(3)
    );
    assert_eq!(
        good(&[("RUNNEXT_WATCH", "SPINNER")]).watch(),
        Watch::Spinner
    );
    assert!(!good(&[("RUNNEXT_DISABLE_STARVATION_DETECTION", "true")]).starvation_detection());
}

#[test]
fn a_switch_without_its_requirement_is_ignored_and_told() {
    for (defer, run_next) in [
        (
            "DOTNET_ThreadPool_DeferWorkerRequests",
            "DOTNET_ThreadPool_RunNext",
        ),
        ("RUNNEXT_DEFER_WORKER_REQUESTS", "RUNNEXT_RUN_NEXT"),
    ] {
        let (knobs, text) = bad(&[(run_next, "0"), (defer, "1")], defer);
        assert!(!knobs.defer_worker_requests());
        assert_eq!(knobs.origin(defer), Some(&Origin::Default));
        assert!(
            text.contains("`RUNNEXT_RUN_NEXT=1`") && text.contains(&format!("`{run_next}`")),
            "{text}"
        );
        assert!(
            knobs.with_run_next(true).defer_worker_requests(),
            "the default comes back"
        );
    }
}

#[test]
fn a_switch_that_is_on_by_default_goes_off_with_its_requirement_silently() {
    let knobs = good(&[("RUNNEXT_RUN_NEXT", "0")]);
    assert!(!knobs.defer_worker_requests());
    assert!(
        !good(&[
            ("RUNNEXT_RUN_NEXT", "0"),
            ("RUNNEXT_DEFER_WORKER_REQUESTS", "0")
        ])
        .defer_worker_requests()
    );
}

#[test]
fn contradictory_limits_are_both_dropped_and_told() {
    let vars = [
        ON_4,
        ("RUNNEXT_MIN_THREADS", "9"),
        ("DOTNET_ThreadPool_ForceMaxWorkerThreads", "8"),
    ];
    let (knobs, text) = bad(&vars, "RUNNEXT_MIN_THREADS");
    assert_eq!((knobs.min_threads(), knobs.max_threads()), (4, 512));
    for part in [
        "`RUNNEXT_MIN_THREADS=9`",
        "`DOTNET_ThreadPool_ForceMaxWorkerThreads=8`",
        "the default 4 threads",
        "the default 512 threads",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_default_limit_gives_way_to_a_variable() {
    let limits = |vars| {
        let knobs = good(vars);
        (knobs.min_threads(), knobs.max_threads())
    };
    assert_eq!(limits(&[ON_4, ("RUNNEXT_MIN_THREADS", "600")]), (600, 600));
    assert_eq!(limits(&[ON_4, ("RUNNEXT_MAX_THREADS", "1")]), (1, 1));
    assert_eq!(limits(&[("RUNNEXT_PROCESSOR_COUNT", "600")]), (600, 600));
}

#[test]
fn unknown_names_are_told_with_what_they_may_mean() {
    for (variable, parts) in [
        (
            "DOTNET_ThreadPool_RunNextStealDelay",
            &[
                "did you mean `DOTNET_ThreadPool_RunNextStealDelayUs`?",
                "keeping the default 5 us",
            ][..],
        ),
        (
            "runnext_stalled_work_us",
            &["case", "`RUNNEXT_STALLED_WORK_US`", "the default 50 us"],
        ),
        ("RUNNEXT_COLOUR", &["ignored", "nearest known one is `"]),
        (
            "DOTNET_ThreadPool_Blocking_MaxDelayMs",
            &[
                "did you mean `RUNNEXT_BLOCKING_MAX_DELAY_MS`?",
                "the default 250 ms",
            ],
        ),
        (
            "DOTNET_ThreadPool_MinThreads",
            &[
                "exists nowhere",
                "`DOTNET_ThreadPool_ForceMinWorkerThreads`",
            ],
        ),
        (
            "DOTNET_ThreadPool_UnfairSemaphoreWakeCooldown",
            &["known to .NET, but not implemented"],
        ),
        (
            "DOTNET_HillClimbing_Disable",
            &["known to .NET, but not implemented"],
        ),
    ] {
        let (knobs, text) = bad(&[(variable, "5")], variable);
        assert_eq!(knobs, Knobs::default());
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn a_warning_stays_one_short_line() {
    let long = "x".repeat(10_000);
    let (_, text) = bad(&[("RUNNEXT_SPIN_LIMIT", &long)], "RUNNEXT_SPIN_LIMIT");
    assert!(text.len() < 250 && text.contains("xxx...`"), "{text}");
    let (_, text) = bad(
        &[("RUNNEXT_SPIN_LIMIT", "1\n\u{1b}[31m2")],
        "RUNNEXT_SPIN_LIMIT",
    );
    assert!(
        text.contains(r"`RUNNEXT_SPIN_LIMIT=1\n\u{1b}[31m2`"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn bytes_that_are_not_utf_8_are_told() {
    use std::os::unix::ffi::OsStrExt;

    let name = OsStr::from_bytes(b"RUNNEXT_\xff");
    let (knobs, warnings) = Knobs::from_vars([(name, "1"), (OsStr::new("RUNNEXT_RUN_NEXT"), "0")]);
    assert!(!knobs.run_next());
    assert_eq!(
        warnings.iter().map(Warning::variable).collect::<Vec<_>>(),
        ["RUNNEXT_\u{fffd}"]
    );

    let (knobs, warnings) = Knobs::from_vars([("RUNNEXT_RUN_NEXT", OsStr::from_bytes(b"0\xff"))]);
    assert!(knobs.run_next());
    let text = warnings[0].to_string();
    assert!(
        text.contains("is not UTF-8; keeping the default 1"),
        "{text}"
    );
}
