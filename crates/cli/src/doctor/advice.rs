//! What follows from the facts: sentences, each with the knob to turn where there is one.
//!
//! Advice is given only where a figure is off by a factor that no noise explains; a machine that the defaults suit gets
//! none. The rules are a pure function of facts, figures and knobs, so that each can be tested without such a machine.

use runnext_knobs::{Knobs, Setting};
use serde::Serialize;

use super::host::Host;
use super::timing::Timing;
use crate::units::time;

/// One thing to do or to know.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Advice {
    /// Whole sentences.
    pub(crate) text: String,
    /// The variable to set, and to what; `None` if it is for the program or the system to change.
    pub(crate) set: Option<(&'static str, i64)>,
}

/// The length of one unit of the spin limit.
pub(crate) const SPIN_UNIT_NS: f64 = 35.0;

/// The part of wakes that may run on the waker's core before it is worth a word.
const OWN_CORE: f64 = 0.2;

/// Reading the clock costs less than this where it needs no system call.
const QUICK_CLOCK_NS: f64 = 150.0;

/// All that is to be said.
pub(crate) fn advise(host: &Host, timing: &Timing, knobs: &Knobs) -> Vec<Advice> {
    let rules = [
        single_core(host),
        quota(host, knobs),
        crowd(host, knobs),
        spin_limit(timing, knobs),
        pinning(timing, knobs),
        timers(timing, knobs),
        clock(host, timing, knobs),
    ];
    rules.into_iter().flatten().collect()
}

fn single_core(host: &Host) -> Option<Advice> {
    (host.usable == 1).then(|| Advice {
        text: "There is one core, so nobody can take over while a task polls for long. Hand what \
               blocks to a thread outside of the pool."
            .to_owned(),
        set: None,
    })
}

/// More threads than the quota feeds are all stopped together once it is used up.
fn quota(host: &Host, knobs: &Knobs) -> Option<Advice> {
    let quota = host.quota?;
    let setting = setting(knobs, "RUNNEXT_PROCESSOR_COUNT")?;
    let fitting = (quota.ceil() as i64).max(1);
    (setting.value > fitting).then(|| {
        let text = format!(
            "The control group grants the time of {quota} cores, but the pool counts on {}: when the \
             time is used up, all threads stop until the next period.",
            setting.value
        );
        turn(text, &setting, fitting)
    })
}

/// Workers that take turns on a core hold up what waits for each of them, and those that spin keep the others from it.
fn crowd(host: &Host, knobs: &Knobs) -> Option<Advice> {
    const FEW_FOR_A_CORE: i64 = 2;
    let setting = setting(knobs, "RUNNEXT_MIN_THREADS")?;
    let cores = host.usable as i64;
    (setting.value > cores * FEW_FOR_A_CORE).then(|| {
        let text = format!(
            "The pool starts {} workers for the {cores} that can run at a time, and the kernel decides \
             which of them wait. Keep as many only if most of them block.",
            setting.value
        );
        turn(text, &setting, cores)
    })
}

/// To spin pays for about as long as a wake would have taken.
fn spin_limit(timing: &Timing, knobs: &Knobs) -> Option<Advice> {
    let setting = setting(knobs, "RUNNEXT_SPIN_LIMIT")?;
    let budget = setting.value as f64 * SPIN_UNIT_NS;
    // Free threads may share a core, and then no wake has to start one.
    let wake = timing.wake_pinned.unwrap_or(timing.wake).p50_ns;
    let fitting = (wake / SPIN_UNIT_NS).ceil() as i64;
    let problem = match budget / wake {
        ratio if ratio < 0.5 => "so workers park too early, and pay for a wake soon after",
        ratio if ratio > 8.0 => "so workers burn time that a wake would not have cost",
        _ => return None,
    };
    let text = format!(
        "To wake another core takes {}, and a worker without work spins for {} before it parks, {problem}.",
        time(wake),
        time(budget)
    );
    Some(turn(text, &setting, fitting))
}

/// A kernel that runs woken threads on their waker's core undoes what a wake was for.
fn pinning(timing: &Timing, knobs: &Knobs) -> Option<Advice> {
    let setting = setting(knobs, "RUNNEXT_PIN_THREADS")?;
    let part = timing.wakes_on_wakers_core?;
    let needed = timing.wake_pinned.is_some() && setting.value == 0 && part > OWN_CORE;
    needed.then(|| {
        let text = format!(
            "The kernel ran {:.0} % of the woken threads on their waker's own core, where the one stops \
             the other, instead of on another core. If the machine does little else, keep workers on \
             their cores.",
            part * 100.0
        );
        turn(text, &setting, 1)
    })
}

fn timers(timing: &Timing, knobs: &Knobs) -> Option<Advice> {
    let setting = setting(knobs, "RUNNEXT_STALLED_WORK_US")?;
    let (wanted, late) = (setting.value as f64 * 1e3, timing.oversleep.p50_ns);
    (late > 2.0 * wanted).then(|| {
        let text = format!(
            "Timers are late by {}, far more than the {} after which stalled work should be noticed: \
             expect the sum of both. A smaller value gains nothing here.",
            time(late),
            time(wanted)
        );
        Advice { text, set: None }
    })
}

fn clock(host: &Host, timing: &Timing, knobs: &Knobs) -> Option<Advice> {
    let setting = setting(knobs, "RUNNEXT_RUN_NEXT_STEAL_DELAY_US")?;
    let fitting = (timing.clock_ns * 20.0 / 1e3).ceil() as i64;
    (timing.clock_ns > QUICK_CLOCK_NS && setting.value < fitting).then(|| {
        let source = host.clock_source.as_deref().unwrap_or("of unknown kind");
        let text = format!(
            "Reading the clock (`{source}`) takes {}, which looks like a system call. Switch the \
             kernel to a quicker one; until then, do not let searchers measure delays of a few readings.",
            time(timing.clock_ns)
        );
        turn(text, &setting, fitting)
    })
}

fn setting<'a>(knobs: &'a Knobs, variable: &str) -> Option<Setting<'a>> {
    let mut settings = knobs.settings();
    settings.find(|setting| setting.entry.ours.variable == variable)
}

/// Advice to set a knob, to something that it takes.
fn turn(text: String, setting: &Setting<'_>, value: i64) -> Advice {
    let entry = setting.entry;
    let value = value.clamp(*entry.range.start(), *entry.range.end());
    let variable = entry.ours.variable;
    Advice {
        text: format!("{text} Try `{variable}={value}`."),
        set: Some((variable, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::timing::Wait;
    use super::*;

    fn wait(p50_us: f64, p99_us: f64) -> Wait {
        Wait {
            p50_ns: p50_us * 1e3,
            p99_ns: p99_us * 1e3,
        }
    }

    fn host() -> Host {
        Host {
            usable: 4,
            online: None,
            affinity: None,
            quota: None,
            timer_slack_ns: Some(50_000),
            clock_source: Some("tsc".to_owned()),
        }
    }

    /// A machine that the defaults suit.
    fn timing() -> Timing {
        Timing {
            wake: wait(30.0, 60.0),
            wakes_on_wakers_core: Some(0.05),
            wake_pinned: Some(wait(25.0, 50.0)),
            oversleep: wait(55.0, 80.0),
            spin_ns: 12.0,
            cas_ns: 6.0,
            clock_ns: 25.0,
        }
    }

    fn knobs(variables: &[(&str, &str)]) -> Knobs {
        let (knobs, warnings) = Knobs::from_vars(variables.iter().copied());
        assert!(warnings.is_empty(), "{warnings:?}");
        knobs
    }

    fn set(host: &Host, timing: &Timing, knobs: &Knobs) -> Vec<Option<(&'static str, i64)>> {
        let advice = advise(host, timing, knobs);
        advice.into_iter().map(|advice| advice.set).collect()
    }

    #[test]
    fn a_machine_that_the_defaults_suit_gets_no_advice() {
        assert_eq!(advise(&host(), &timing(), &knobs(&[])), []);
    }

    #[test]
    fn the_spin_limit_follows_the_cost_of_a_wake() {
        let of = |wake, limit| {
            let timing = Timing {
                wake_pinned: Some(wake),
                ..timing()
            };
            set(&host(), &timing, &knobs(&[("RUNNEXT_SPIN_LIMIT", limit)]))
        };
        let long = of(wait(140.0, 200.0), "1024");
        assert_eq!(long, [Some(("RUNNEXT_SPIN_LIMIT", 4000))]);
        let short = of(wait(3.5, 9.0), "1024");
        assert_eq!(short, [Some(("RUNNEXT_SPIN_LIMIT", 100))]);
        assert_eq!(of(wait(140.0, 200.0), "4000"), []);
    }

    #[test]
    fn pinning_is_advised_where_wakes_share_a_core_and_it_is_not_there_yet() {
        let shared = Timing {
            wakes_on_wakers_core: Some(0.9),
            ..timing()
        };
        let pin = [Some(("RUNNEXT_PIN_THREADS", 1))];
        assert_eq!(set(&host(), &shared, &knobs(&[])), pin);
        let pinned = knobs(&[("RUNNEXT_PIN_THREADS", "1")]);
        assert_eq!(set(&host(), &shared, &pinned), []);
        let single = Timing {
            wake_pinned: None,
            ..shared
        };
        assert_eq!(set(&host(), &single, &knobs(&[])), []);
    }

    #[test]
    fn a_quota_limits_the_threads_only_if_they_are_more() {
        let host = Host {
            quota: Some(1.5),
            ..host()
        };
        let of = |count| {
            set(
                &host,
                &timing(),
                &knobs(&[("RUNNEXT_PROCESSOR_COUNT", count)]),
            )
        };
        assert_eq!(of("4"), [Some(("RUNNEXT_PROCESSOR_COUNT", 2))]);
        assert_eq!(of("2"), []);
    }

    #[test]
    fn many_more_workers_than_cores_are_told() {
        let of = |count| {
            set(
                &host(),
                &timing(),
                &knobs(&[("RUNNEXT_MIN_THREADS", count)]),
            )
        };
        assert_eq!(of("9"), [Some(("RUNNEXT_MIN_THREADS", 4))]);
        assert_eq!(of("8"), []);
    }

    #[test]
    fn slow_clocks_late_timers_and_single_cores_are_told() {
        let host = Host {
            usable: 1,
            ..host()
        };
        let timing = Timing {
            oversleep: wait(1000.0, 4000.0),
            clock_ns: 900.0,
            ..timing()
        };
        let advice = advise(&host, &timing, &knobs(&[]));
        let texts: Vec<_> = advice.iter().map(|one| one.text.as_str()).collect();
        assert!(texts[0].starts_with("There is one core"), "{texts:?}");
        assert!(texts[1].contains("late by 1.00 ms"), "{texts:?}");
        assert!(
            texts[2].contains("Reading the clock (`tsc`) takes 900 ns"),
            "{texts:?}"
        );
        assert_eq!(advice[2].set, Some(("RUNNEXT_RUN_NEXT_STEAL_DELAY_US", 18)));
    }
}
