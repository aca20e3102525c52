use std::time::Duration;

use super::*;

#[test]
fn the_program_sets_every_knob() {
    let knobs = Knobs::default()
        .with_run_next(true)
        .with_defer_worker_requests(true)
        .with_lazy_dispatch_request(true)
        .with_run_next_steal_delay(Duration::from_micros(7))
        .with_stalled_work(Duration::from_millis(1))
        .with_spurious_dispatch_no_spin_threshold(3)
        .with_spin_limit(0)
        .with_min_threads(2)
        .with_max_threads(9)
        .with_thread_timeout(None)
        .with_threads_to_keep_alive(Some(1))
        .with_cooperative_blocking(false)
        .with_starvation_detection(false)
        .with_blocking_threads_without_delay(0)
        .with_blocking_delay_step(Duration::ZERO)
        .with_blocking_max_delay(Duration::from_secs(1))
        .with_processor_count(5)
        .with_watch(Watch::Spinner)
        .with_pin_threads(true)
        .with_stats_at_exit(true)
        .with_warnings_enabled(false);
    assert!(
        knobs
            .settings()
            .all(|setting| *setting.origin == Origin::Builder)
    );
    assert!(knobs.run_next() && knobs.defer_worker_requests() && knobs.lazy_dispatch_request());
    assert_eq!(knobs.run_next_steal_delay(), Duration::from_micros(7));
    assert_eq!(knobs.stalled_work(), Duration::from_millis(1));
    assert_eq!(knobs.spurious_dispatch_no_spin_threshold(), 3);
    assert_eq!(knobs.spin_limit(), 0);
    assert_eq!((knobs.min_threads(), knobs.max_threads()), (2, 9));
    assert_eq!(knobs.thread_timeout(), None);
    assert_eq!(knobs.threads_to_keep_alive(), Some(1));
    assert!(!knobs.cooperative_blocking() && !knobs.starvation_detection());
    assert_eq!(knobs.blocking_threads_without_delay(), 0);
    assert_eq!(knobs.blocking_delay_step(), Duration::ZERO);
    assert_eq!(knobs.blocking_max_delay(), Duration::from_secs(1));
    assert_eq!(knobs.processor_count(), 5);
    assert_eq!(knobs.watch(), Watch::Spinner);
    assert!(knobs.pin_threads() && knobs.stats_at_exit() && !knobs.warnings_enabled());
    assert_eq!(knobs.check(), Ok(()));
}

#[test]
fn short_times_are_rounded_up() {
    let knobs = Knobs::default()
        .with_run_next_steal_delay(Duration::from_nanos(1))
        .with_blocking_delay_step(Duration::from_nanos(1))
        .with_thread_timeout(Some(Duration::from_micros(1500)));
    assert_eq!(knobs.run_next_steal_delay(), Duration::from_micros(1));
    assert_eq!(knobs.blocking_delay_step(), Duration::from_millis(1));
    assert_eq!(knobs.thread_timeout(), Some(Duration::from_millis(2)));
}

#[test]
fn the_stronger_limit_wins_and_the_weaker_one_tells_so() {
    let (from_env, _) =
        Knobs::from_vars([("RUNNEXT_MIN_THREADS", "6"), ("RUNNEXT_MAX_THREADS", "8")]);
    let limits = |knobs: &Knobs| (knobs.min_threads(), knobs.max_threads());

    let knobs = from_env.clone().with_max_threads(3);
    assert_eq!(limits(&knobs), (3, 3));
    assert_eq!(
        knobs.setting(Knob::MinThreads).limited_by.unwrap().knob,
        Knob::MaxThreads
    );
    assert!(knobs.setting(Knob::MaxThreads).limited_by.is_none());

    let knobs = from_env.with_min_threads(10);
    assert_eq!(limits(&knobs), (10, 10));
    assert_eq!(
        knobs.setting(Knob::MaxThreads).limited_by.unwrap().knob,
        Knob::MinThreads
    );
    assert_eq!(knobs.check(), Ok(()));
}

#[test]
fn what_nothing_limits_tells_nothing() {
    let knobs = Knobs::for_processors(4)
        .with_min_threads(4)
        .with_max_threads(4);
    assert!(
        knobs.settings().all(|setting| setting.limited_by.is_none()),
        "{knobs:?}"
    );
}

#[test]
fn a_switch_that_its_requirement_holds_off_tells_so() {
    let knobs = Knobs::default()
        .with_defer_worker_requests(true)
        .with_run_next(false);
    assert!(!knobs.defer_worker_requests());
    let setting = knobs.setting(Knob::DeferWorkerRequests);
    assert_eq!(
        (setting.value, setting.limited_by.unwrap().knob),
        (0, Knob::RunNext)
    );
}

#[test]
fn values_that_no_pool_can_have_are_told_and_never_returned() {
    let none = Knobs::default().with_min_threads(0);
    assert_eq!(none.min_threads(), 1);
    assert_eq!(
        none.check().unwrap_err().to_string(),
        "`RUNNEXT_MIN_THREADS` was set to 0 threads by the program: give 1 to 4096"
    );
    let many = Knobs::default().with_max_threads(usize::MAX);
    assert_eq!(many.max_threads(), 32_767);
    assert!(many.check().is_err());
    let long = Knobs::default().with_thread_timeout(Some(Duration::MAX));
    assert!(
        long.check()
            .unwrap_err()
            .to_string()
            .ends_with("or -1 for never")
    );
    let crossed = Knobs::default().with_min_threads(5).with_max_threads(4);
    assert_eq!((crossed.min_threads(), crossed.max_threads()), (5, 5));
    assert!(
        crossed
            .check()
            .unwrap_err()
            .to_string()
            .contains("`RUNNEXT_MAX_THREADS` to 4")
    );
}

#[test]
fn display_is_an_export_list_of_every_knob() {
    let list = Knobs::default()
        .with_run_next(false)
        .with_thread_timeout(None)
        .to_string();
    let lines: Vec<_> = list.lines().collect();
    assert_eq!(lines.len(), catalogue().len());
    assert_eq!(
        lines[..2],
        [
            "export RUNNEXT_RUN_NEXT=0",
            "export RUNNEXT_DEFER_WORKER_REQUESTS=0"
        ]
    );
    for line in [
        "export RUNNEXT_STALLED_WORK_US=50",
        "export RUNNEXT_THREAD_TIMEOUT_MS=-1",
        "export RUNNEXT_WATCH=gate",
    ] {
        assert!(lines.contains(&line), "{list}");
    }
}

#[test]
fn debug_shows_values_with_origins() {
    let text = format!(
        "{:?}",
        Knobs::default().with_stalled_work(Duration::from_micros(9))
    );
    assert!(
        text.contains(r#""StalledWorkUs": "9 us (builder)""#),
        "{text}"
    );
    assert!(text.contains(r#""RunNext": "1 (default)""#), "{text}");
}
