//! Durations and sizes with their units: `10s`, `8MiB`. Written as they are read.

use std::time::Duration;

/// (unit, milliseconds), the largest last; the first name of a length is the one that is written.
const DURATIONS: [(&str, u64); 6] =
    [("ms", 1), ("s", 1000), ("min", 60_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// (unit, bytes), the largest last.
const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1000),
    ("KB", 1000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// What a duration looks like, for messages.
pub(super) const DURATION_FORM: &str = "a duration with its unit, such as \"10s\" (ms, s, min, h, d)";

/// What a size looks like, for messages.
pub(super) const SIZE_FORM: &str = "a size with its unit, such as \"8MiB\" (B, kB, KiB, MB, MiB, GB, GiB)";

/// `500ms`, `10s`, `5min`, `2h`, `1d`; a bare number is none.
pub(super) fn duration(text: &str) -> Option<Duration> {
    amount(text, &DURATIONS).map(Duration::from_millis)
}

/// `8MiB`, `800kB`, `512 B`; a bare number is none.
pub(super) fn size(text: &str) -> Option<usize> {
    amount(text, &SIZES).and_then(|bytes| usize::try_from(bytes).ok())
}

/// As [`duration`] reads it, in the largest unit that leaves a whole number.
pub(super) fn duration_text(duration: Duration) -> String {
    let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    written(ms, &[DURATIONS[4], DURATIONS[2], DURATIONS[1], DURATIONS[0]])
}

/// As [`size`] reads it, in the largest binary unit that leaves a whole number.
pub(super) fn size_text(bytes: usize) -> String {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    written(bytes, &[SIZES[7], SIZES[5], SIZES[3], SIZES[0]])
}

fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// `units` from the largest to the smallest.
fn written(amount: u64, units: &[(&str, u64)]) -> String {
    let whole = units.iter().find(|(_, factor)| amount >= *factor && amount.is_multiple_of(*factor));
    match whole.or(units.last()) {
        Some((unit, factor)) => format!("{}{unit}", amount / factor),
        None => amount.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_is_written() {
        for (text, ms) in
            [("500ms", 500), ("10s", 10_000), ("90s", 90_000), ("5min", 300_000), ("2h", 7_200_000), ("0ms", 0)]
        {
            assert_eq!(duration(text), Some(Duration::from_millis(ms)));
            assert_eq!(duration_text(Duration::from_millis(ms)), text);
        }
        for (text, bytes) in [("1B", 1), ("8MiB", 8 << 20), ("800000B", 800_000), ("3KiB", 3072), ("2GiB", 2 << 30)] {
            assert_eq!(size(text), Some(bytes));
            assert_eq!(size_text(bytes), text);
        }
    }

    #[test]
    fn other_units() {
        assert_eq!(duration(" 5 m "), Some(Duration::from_secs(300)));
        assert_eq!(duration("1d"), Some(Duration::from_secs(86_400)));
        assert_eq!((size("800kB"), size("1MB"), size("1 GB")), (Some(800_000), Some(1_000_000), Some(1_000_000_000)));
    }

    #[test]
    fn a_number_without_its_unit_is_refused() {
        for text in
            ["", "10", "s", "10 ", "-1s", "1.5s", "10sec", "10S", "99999999999999999999s", "18446744073709551615d"]
        {
            assert_eq!(duration(text), None, "{text:?}");
        }
        for text in ["", "10", "8mib", "8M", "8 MiB s", "99999999999999999999B"] {
            assert_eq!(size(text), None, "{text:?}");
        }
    }
}
