//! Points in time as people write them: ISO 8601, or milliseconds since 1970.
//!
//! ```text
//! 2026-01-31    2026-01-31T08:30    2026-01-31 08:30:15.250Z    2026-01-31T08:30:00+02:00    1769848215250
//! ```
//! A time without an offset is UTC. There are no week dates, ordinal dates or leap seconds.

use std::ops::RangeInclusive;

const DAY_MS: i64 = 86_400_000;

/// Milliseconds since 1970, if `text` is one of these forms.
#[must_use]
pub fn timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(ms) = text.parse::<i64>() {
        // Shorter numbers are years and days rather than a moment of 1970.
        return (text.len() > 8 || ms == 0).then_some(ms).filter(|ms| *ms >= 0);
    }
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let midnight = day(date)?.checked_mul(DAY_MS)?;
    midnight.checked_add(time.map_or(Some(0), within_day)?)
}

/// Days since 1970.
fn day(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, month) = (number(year, 4, 1970..=9999)?, number(month, 2, 1..=12)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let day = number(day, 2, 1..=days)?;
    if parts.next().is_some() {
        return None;
    }
    // Years begin in March here, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 719,468 days lie between 1 March of year 0 and 1 January 1970.
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Milliseconds since midnight UTC; below 0 or beyond a day where an offset says so.
fn within_day(text: &str) -> Option<i64> {
    let (clock, offset) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0),
        None => match text.rfind(['+', '-']) {
            Some(at) => {
                let (clock, offset) = text.split_at_checked(at)?;
                (clock, minutes(offset)?)
            }
            None => (text, 0),
        },
    };
    let mut parts = clock.split(':');
    let (hours, minutes) = (number(parts.next()?, 2, 0..=23)?, number(parts.next()?, 2, 0..=59)?);
    let ms = parts.next().map_or(Some(0), milliseconds)?;
    if parts.next().is_some() {
        return None;
    }
    Some(((hours * 60 + minutes - offset) * 60_000) + ms)
}

/// `15` or `15.25`: seconds with a fraction, of which three digits count.
fn milliseconds(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let seconds = number(seconds, 2, 0..=59)?;
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    Some(seconds * 1000 + thousandths.parse::<i64>().ok()?)
}

/// `+02:00`, `-0330`, `+02`.
fn minutes(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('+') {
        Some(text) => (1, text),
        None => (-1, text.strip_prefix('-')?),
    };
    let (hours, minutes) = match text.split_once(':') {
        Some(parts) => parts,
        None if text.len() == 4 => text.split_at_checked(2)?,
        None => (text, "00"),
    };
    Some(sign * (number(hours, 2, 0..=23)? * 60 + number(minutes, 2, 0..=59)?))
}

fn number(text: &str, digits: usize, range: RangeInclusive<i64>) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|number| plain && range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each expected number is what `date -u -d … +%s` gives.
    #[test]
    fn the_forms_people_write() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1970-03-01", 5_097_600),
            ("2000-02-29", 951_782_400),
            ("2026-01-01", 1_767_225_600),
            ("2026-12-31T23:59:59Z", 1_798_761_599),
            ("2100-03-01", 4_107_542_400),
            ("2026-01-31T08:30", 1_769_848_200),
            ("2026-01-31 08:30:15", 1_769_848_215),
            ("2026-01-31T08:30:00+02:00", 1_769_841_000),
            ("2026-01-31T08:30:00-0330", 1_769_860_800),
            ("2026-01-31T00:30:00+02", 1_769_812_200),
            (" 2026-01-31t08:30:00z ", 1_769_848_200),
        ] {
            assert_eq!(timestamp(text), Some(seconds * 1000), "{text}");
        }
        assert_eq!(timestamp("2026-01-31T08:30:15.25Z"), Some(1_769_848_215_250));
        assert_eq!(timestamp("2026-01-31T08:30:15,2509"), Some(1_769_848_215_250));
        assert_eq!(timestamp("1769848215250"), Some(1_769_848_215_250));
        assert_eq!(timestamp("0"), Some(0));
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "now",
            "2026",
            "20260131",
            "-1",
            "2026-1-31",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "1969-12-31",
            "2026-01-31T",
            "2026-01-31T24:00",
            "2026-01-31T08:30:60Z",
            "2026-01-31T08:30:15.Z",
            "2026-01-31T08:30+2",
            "2026-01-31T08:30:00:00",
            "2026-01-31-01",
            "2026-01-31T08:30+0é",
            "99999999999999999999",
        ] {
            assert_eq!(timestamp(text), None, "{text:?}");
        }
    }
}
