//! Points in time as people read them, in UTC.

/// `2026-10-01T08:30:15.250Z`, from milliseconds since 1970.
pub(crate) fn utc(unix_ms: i64) -> String {
    let (day, in_day) = (unix_ms.div_euclid(DAY_MS), unix_ms.rem_euclid(DAY_MS));
    let (hours, minutes) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (seconds, ms) = (in_day / 1000 % 60, in_day % 1000);
    format!("{}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z", date(day))
}

/// `2026-10-01`, from days since 1970. Counted in eras of 400 years that begin in March, so that the leap day comes last
/// (Howard Hinnant, "chrono-compatible low-level date algorithms").
pub(crate) fn date(day: i64) -> String {
    let day = day + 719_468;
    let (era, in_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_and_after_1970_and_at_the_ends_of_what_there_is() {
        assert_eq!(utc(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(utc(1_709_210_096_789), "2024-02-29T12:34:56.789Z");
        assert!(utc(i64::MAX).starts_with("292278994-08-17T") && utc(i64::MIN).ends_with('Z'));
    }
}
