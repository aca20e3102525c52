//! Figures as people read them: three significant digits, in the unit that suits.
//!
//! More digits would claim what no median of a handful of rounds holds.

use runnext_bench::scenario::Scenario;
use runnext_bench::subject::Subject;

/// A unit of time for figures that are shown together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    nanoseconds: f64,
}

impl Unit {
    const ALL: [Self; 4] = [
        Self::new("ns", 1.0),
        Self::new("us", 1e3),
        Self::new("ms", 1e6),
        Self::new("s", 1e9),
    ];

    const fn new(name: &'static str, nanoseconds: f64) -> Self {
        Self { name, nanoseconds }
    }

    /// The unit in which this many nanoseconds are a number from 1 to 1000, where there is one.
    pub(crate) fn of(nanoseconds: f64) -> Self {
        let fits = |unit: &&Self| nanoseconds < unit.nanoseconds * 1e3;
        Self::ALL.iter().find(fits).copied().unwrap_or(Self::ALL[3])
    }

    /// The figure alone, in this unit.
    pub(crate) fn figure(self, nanoseconds: f64) -> String {
        three_digits(nanoseconds / self.nanoseconds)
    }

    /// A round figure, as at an axis, with its unit but without the zeros that would claim precision.
    pub(crate) fn tick(self, nanoseconds: f64) -> String {
        let thousandths = (nanoseconds / self.nanoseconds * 1e3).round();
        format!("{} {}", thousandths / 1e3, self.name)
    }
}

/// A time with its unit.
pub(crate) fn time(nanoseconds: f64) -> String {
    let unit = Unit::of(nanoseconds);
    format!("{} {}", unit.figure(nanoseconds), unit.name)
}

/// A time that is exact, with its unit and no more digits than it has.
pub(crate) fn exact(nanoseconds: f64) -> String {
    Unit::of(nanoseconds).tick(nanoseconds)
}

/// As in `2 workers`.
pub(crate) fn workers(count: u64) -> String {
    counted(count, "worker")
}

/// The same for `subject`, as in `2 threads` where it has as many as it needs. A scenario that is not known is `None`.
pub(crate) fn team(scenario: Option<Scenario>, subject: Subject, count: u64) -> String {
    match scenario.and_then(|scenario| scenario.fixed_threads(subject)) {
        Some(threads) => counted(threads as u64, "thread"),
        None => workers(count),
    }
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Three significant digits; whole numbers from 100 on.
pub(crate) fn three_digits(figure: f64) -> String {
    match figure {
        small if small < 9.995 => format!("{small:.2}"),
        middle if middle < 99.95 => format!("{middle:.1}"),
        large => format!("{large:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let texts = [0.0, 1.234, 9.996, 12.34, 99.96, 1234.5].map(three_digits);
        assert_eq!(texts, ["0.00", "1.23", "10.0", "12.3", "100", "1234"]);
    }

    #[test]
    fn a_subject_has_the_workers_that_were_chosen_or_the_threads_that_it_needs() {
        let team = |scenario: &str, subject: &str, count| {
            team(scenario.parse().ok(), subject.parse().unwrap(), count)
        };
        assert_eq!(team("latency-spin", "tokio", 4), "4 workers");
        assert_eq!(team("latency-spin", "limit", 1), "2 threads");
        assert_eq!(team("requeue", "limit", 1), "1 thread");
        assert_eq!(team("of a newer run", "limit", 1), "1 worker");
    }

    #[test]
    fn times_are_in_the_unit_that_suits() {
        let texts = [0.5, 999.0, 1e3, 2.5e6, 7e12].map(time);
        assert_eq!(Unit::of(5e5).tick(2.5e5), "250 us");
        assert_eq!(Unit::of(2e6).tick(5e5), "0.5 ms");
        assert_eq!(texts, ["0.50 ns", "999 ns", "1.00 us", "2.50 ms", "7000 s"]);
    }
}
