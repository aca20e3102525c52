//! `runnext doctor`: what the executor has to expect of this machine, and which knobs do not suit it.
//!
//! Facts are read, figures are measured in about a second, and advice follows from both. It changes nothing, and its
//! exit code is 0 whatever it finds: advice is no failure.

use std::process::ExitCode;

use runnext_bench::machine::Machine;
use runnext_knobs::Knobs;
use serde::Serialize;

use crate::units::{exact, three_digits, time};

mod advice;
mod host;
mod timing;

use self::advice::{Advice, SPIN_UNIT_NS, advise};
use self::host::Host;
use self::timing::{NAP, Timing, Wait};

#[derive(clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Everything that was found.
#[derive(Serialize)]
struct Diagnosis {
    machine: Machine,
    host: Host,
    timing: Timing,
    /// How many `spin_loop`s make up one unit of the spin limit.
    spins_per_unit: f64,
    advice: Vec<Advice>,
}

pub(crate) fn run(args: &DoctorArgs) -> ExitCode {
    let diagnosis = Diagnosis::make();
    if args.json {
        let json = serde_json::to_string_pretty(&diagnosis);
        crate::print(&json.expect("a diagnosis is always JSON"));
    } else {
        crate::print(&diagnosis.text());
    }
    ExitCode::SUCCESS
}

impl Diagnosis {
    fn make() -> Self {
        let (host, timing) = (Host::detect(), Timing::measure());
        let advice = advise(&host, &timing, &Knobs::from_env_or_warn());
        Self {
            machine: Machine::detect(option_env!("BUILD_COMMIT"), false),
            spins_per_unit: SPIN_UNIT_NS / timing.spin_ns,
            host,
            timing,
            advice,
        }
    }

    fn text(&self) -> String {
        let facts = self.facts().into_iter().chain(self.figures());
        let mut text: String = facts
            .map(|(name, value)| format!("{name:<18}{value}\n"))
            .collect();
        if self.advice.is_empty() {
            text.push_str("\nThe knobs suit this machine.");
        }
        for advice in &self.advice {
            text.push_str(&format!("\n* {}", advice.text));
        }
        text
    }

    fn facts(&self) -> [(&'static str, String); 6] {
        let (machine, host) = (&self.machine, &self.host);
        let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "not known".to_owned());
        [
            ("processor", known(&machine.cpu)),
            (
                "cores",
                format!(
                    "{} usable; online {}; affinity {} ({})",
                    host.usable,
                    known(&host.online),
                    known(&host.affinity),
                    host.allowed()
                ),
            ),
            (
                "quota",
                host.quota.map_or_else(
                    || "none".to_owned(),
                    |quota| format!("{quota} cores' time, by the control group"),
                ),
            ),
            ("clock source", known(&host.clock_source)),
            (
                "timer slack",
                host.timer_slack_ns
                    .map_or_else(|| "not known".to_owned(), |slack| exact(slack as f64)),
            ),
            ("kernel", known(&machine.kernel)),
        ]
    }

    fn wake(&self) -> String {
        let wake = spread(self.timing.wake);
        match self.timing.wakes_on_wakers_core {
            Some(part) => format!("{wake}, {:.0} % on the waker's own core", part * 100.0),
            None => wake,
        }
    }

    fn figures(&self) -> [(&'static str, String); 6] {
        let timing = &self.timing;
        [
            ("wake", self.wake()),
            (
                "wake, pinned",
                timing
                    .wake_pinned
                    .map_or_else(|| "needs two cores".to_owned(), spread),
            ),
            (
                "sleep",
                format!(
                    "asked for {}, longer by {}",
                    exact(NAP.as_nanos() as f64),
                    spread(timing.oversleep)
                ),
            ),
            (
                "spin_loop",
                format!(
                    "{}, so {} make up a unit of {}",
                    time(timing.spin_ns),
                    three_digits(self.spins_per_unit),
                    exact(SPIN_UNIT_NS)
                ),
            ),
            ("compare-and-swap", time(timing.cas_ns)),
            ("clock reading", time(timing.clock_ns)),
        ]
    }
}

fn spread(wait: Wait) -> String {
    format!("{} (p99 {})", time(wait.p50_ns), time(wait.p99_ns))
}
