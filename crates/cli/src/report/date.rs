//! A moment as a date, in UTC: the one thing that a date library would be needed for.

const DAY: u64 = 24 * 60 * 60;

/// As in `2026-11-30 11:14 UTC`; seconds since 1970 if that is not a date of our days.
pub(crate) fn utc(unix_time: u64) -> String {
    const YEAR_9999: u64 = 253_402_300_799;
    if unix_time > YEAR_9999 {
        return format!("{unix_time} seconds after 1970");
    }
    let (year, month, day) = calendar(unix_time / DAY);
    let minutes = unix_time % DAY / 60;
    let (hour, minute) = (minutes / 60, minutes % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Year, month and day from 1, of the day that many days after the first of 1970.
fn calendar(mut days: u64) -> (u64, u64, u64) {
    let (mut year, mut month) = (1970, 1);
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    while days >= days_of_month(year, month) {
        days -= days_of_month(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

fn days_of_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // By `date -u -d @SECONDS`.
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_798_761_599), "2026-12-31 23:59 UTC");
        assert_eq!(utc(4_107_542_400), "2100-03-01 00:00 UTC");
        assert_eq!(utc(u64::MAX), format!("{} seconds after 1970", u64::MAX));
    }
}
