use std::collections::BTreeSet;

use super::strangers::{FOLKLORE, NOT_IMPLEMENTED, Stranger, classify};
use super::*;

#[test]
fn the_table_is_in_the_order_of_the_index() {
    for (index, entry) in catalogue().iter().enumerate() {
        assert_eq!(entry.knob as usize, index, "{entry}");
    }
}

#[test]
fn every_variable_occurs_once() {
    let distinct: BTreeSet<_> = variables().collect();
    assert_eq!(distinct.len(), variables().count());
}

#[test]
fn every_default_is_in_its_range() {
    for entry in catalogue() {
        for processors in [1, 2, 3, 64, i64::from(i16::MAX)] {
            let default = entry.preset.value(processors);
            assert!(entry.range.contains(&default), "{entry} {default}");
        }
    }
}

#[test]
fn every_entry_has_its_texts() {
    for entry in catalogue() {
        assert!(
            !entry.effect.is_empty() && !entry.effect.contains('\n'),
            "{entry}"
        );
        assert!(entry.detail.ends_with('.'), "{entry}");
    }
}

#[test]
fn our_spelling_tells_the_unit() {
    for entry in catalogue()
        .iter()
        .filter(|entry| matches!(entry.unit, "us" | "ms"))
    {
        let ending = format!("_{}", entry.unit.to_uppercase());
        assert!(entry.ours.variable.ends_with(&ending), "{entry}");
    }
}

#[test]
fn a_knob_is_found_by_any_spelling() {
    for name in [
        "RunNextStealDelayUs",
        "DOTNET_ThreadPool_RunNextStealDelayUs",
        "ThreadPool_RunNextStealDelayUs",
        "RUNNEXT_RUN_NEXT_STEAL_DELAY_US",
        "RUN_NEXT_STEAL_DELAY_US",
        "run-next-steal-delay-us",
    ] {
        assert_eq!(
            find(name).map(|entry| entry.knob),
            Some(Knob::RunNextStealDelay),
            "{name}"
        );
    }
    assert_eq!(find("RunNext").map(|entry| entry.knob), Some(Knob::RunNext));
    assert_eq!(
        find("PROCESSOR_COUNT").map(|entry| entry.knob),
        Some(Knob::ProcessorCount)
    );
    assert!(find("RunNextStealDelay").is_none());
    assert!(find("").is_none());
}

#[test]
fn short_names_do_not_collide() {
    for entry in catalogue() {
        for spelling in entry.spellings() {
            for name in [spelling.variable, names::short(spelling.variable)] {
                assert_eq!(
                    find(name).map(|found| found.knob),
                    Some(entry.knob),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn nearest_answers_in_the_form_of_the_question() {
    for (name, known) in [
        ("StalledWork", "StalledWorkUs"),
        ("timeout", "ThreadTimeoutMs"),
        ("RUNNEXT_STALED_WORK_US", "RUNNEXT_STALLED_WORK_US"),
        (
            "DOTNET_ThreadPool_CoopBlocking",
            "DOTNET_ThreadPool_CooperativeBlocking",
        ),
    ] {
        assert_eq!(nearest(name), Some(known), "{name}");
    }
}

#[test]
fn what_resembles_nothing_has_no_nearest() {
    for name in [
        "",
        "nonsense",
        "colour",
        "tokio",
        "RUNNEXT_",
        "RUNNEXT_COLOUR",
        "DOTNET_ThreadPool_Nonsense",
        "ééééé",
    ] {
        assert_eq!(nearest(name), None, "{name}");
    }
}

#[test]
fn a_knob_of_ours_in_dotnets_form_is_a_typing_error() {
    for (name, meant) in [
        ("Blocking_MaxDelayMs", "RUNNEXT_BLOCKING_MAX_DELAY_MS"),
        ("Blocking_MaxDelay", "RUNNEXT_BLOCKING_MAX_DELAY_MS"),
        ("Blocking_DelayStepMs", "RUNNEXT_BLOCKING_DELAY_STEP_MS"),
        ("Watch", "RUNNEXT_WATCH"),
        ("SpinLimit", "RUNNEXT_SPIN_LIMIT"),
    ] {
        let name = format!("DOTNET_ThreadPool_{name}");
        assert_eq!(classify(&name), Some(Stranger::Typo(meant)), "{name}");
    }
    let factor = "DOTNET_ThreadPool_Blocking_ThreadsToAddWithoutDelay_ProcCountFactor";
    let nearest = "RUNNEXT_BLOCKING_THREADS_WITHOUT_DELAY";
    assert_eq!(classify(factor), Some(Stranger::Unknown(nearest)));
}

#[test]
fn strangers_are_told_apart() {
    let steal_delay = "DOTNET_ThreadPool_RunNextStealDelayUs";
    let expected = [
        (
            "DOTNET_ThreadPool_RunNextStealDelay",
            Stranger::Typo(steal_delay),
        ),
        (
            "DOTNET_ThreadPool_runnextstealdelayus",
            Stranger::WrongCase(steal_delay),
        ),
        (
            "dotnet_threadpool_RunNextStealDelayUs",
            Stranger::WrongCase(steal_delay),
        ),
        ("DOTNET_RunNextStealDelayUs", Stranger::Typo(steal_delay)),
        (
            "DOTNET_ThreadPol_RunNextStealDelayUs",
            Stranger::Typo(steal_delay),
        ),
        ("RUNNEXT_RunNext", Stranger::Typo("RUNNEXT_RUN_NEXT")),
        ("RUNEXT_WATCH", Stranger::Typo("RUNNEXT_WATCH")),
        ("RUNNEXT_WACTH", Stranger::Typo("RUNNEXT_WATCH")),
        (
            "COMPlus_ThreadPool_RunNext",
            Stranger::Typo("DOTNET_ThreadPool_RunNext"),
        ),
    ];
    for (name, stranger) in expected {
        assert_eq!(classify(name), Some(stranger), "{name}");
    }
    let unlike = classify("RUNNEXT_COLOUR");
    assert!(matches!(unlike, Some(Stranger::Unknown(_))), "{unlike:?}");
}

#[test]
fn the_listed_strangers_are_strangers() {
    for (why, names) in NOT_IMPLEMENTED {
        for name in names {
            assert_eq!(
                classify(name),
                Some(Stranger::NotImplemented(why)),
                "{name}"
            );
            assert!(variables().all(|known| known != *name), "{name}");
        }
    }
    for (name, meant) in FOLKLORE {
        assert_eq!(classify(name), Some(Stranger::Folklore(meant)), "{name}");
        assert!(variables().any(|known| known == meant), "{meant}");
    }
    assert!(matches!(
        classify("DOTNET_HillClimbing_Disable"),
        Some(Stranger::NotImplemented(_))
    ));
}

#[test]
fn k4_other_names_are_left_alone() {
    for name in [
        "",
        "PATH",
        "HOME",
        "WATCH",
        "STATS",
        "RUN_NEXT",
        "DOTNET_ROOT",
        "DOTNET_WATCH",
        "DOTNET_gcServer",
        "DOTNET_TieredPGO",
        "DOTNET_GCHeapCount",
        "DOTNET_SYSTEM_NET_SOCKETS_THREAD_COUNT",
        "COMPlus_gcServer",
        "NUMBER_OF_PROCESSORS",
        "RUNNEXT",
        "RUNNER_OS",
    ] {
        assert_eq!(classify(name), None, "{name}");
    }
}

#[test]
fn a_value_is_told_with_its_unit_or_its_meaning() {
    for (knob, value, told) in [
        (Knob::StalledWork, 1, "1 us"),
        (Knob::StalledWork, 50, "50 us"),
        (Knob::MinThreads, 1, "1 thread"),
        (Knob::MinThreads, 2, "2 threads"),
        (Knob::ThreadTimeout, -1, "-1 (never)"),
        (Knob::ThreadsToKeepAlive, -1, "-1 (all)"),
        (Knob::Watch, 1, "spinner"),
        (Knob::RunNext, 1, "1"),
    ] {
        assert_eq!(knob.entry().describe(value), told);
    }
}
