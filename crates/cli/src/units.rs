//! Figures as people read them: three significant digits, in the unit that suits.
//!
//! More digits would claim what no median of a handful of rounds holds.

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
    if count == 1 {
        "1 worker".to_owned()
    } else {
        format!("{count} workers")
    }
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
    fn times_are_in_the_unit_that_suits() {
        let texts = [0.5, 999.0, 1e3, 2.5e6, 7e12].map(time);
        assert_eq!(Unit::of(5e5).tick(2.5e5), "250 us");
        assert_eq!(Unit::of(2e6).tick(5e5), "0.5 ms");
        assert_eq!(texts, ["0.50 ns", "999 ns", "1.00 us", "2.50 ms", "7000 s"]);
    }
}
