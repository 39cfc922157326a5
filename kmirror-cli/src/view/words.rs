//! Cells of the live table: names and numbers that fit.

use std::time::Duration;

use crate::table::grouped;

/// Text for a cell: one column for each character, and nothing that a terminal obeys. Kafka's names are ASCII; whatever
/// else a cluster sends is spelled out.
pub(crate) fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' => out.push(c),
            // Of this program's own sentences.
            '…' | '→' | '–' | '—' => out.push(c),
            other => out.extend(other.escape_default()),
        }
    }
    out
}

/// Text for a log line: any script, but nothing that a terminal obeys or that looks like another line.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => out.push(c),
            other => out.extend(other.escape_debug()),
        }
    }
    out
}

/// Shortened in the middle, where names that belong together differ least.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else { return String::new() };
    let tail = room / 2;
    let head = text.chars().take(room - tail);
    head.chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

/// Cut off at the end.
pub(crate) fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    text.chars().take(room).chain((width > 0).then_some('…')).collect()
}

/// A number in at most six columns: `12,345`, `123k`, `1.23M`, `45.6G`.
pub(crate) fn short(number: u64) -> String {
    const UNITS: [char; 6] = ['k', 'M', 'G', 'T', 'P', 'E'];
    if number < 100_000 {
        return grouped(number);
    }
    let (mut scaled, mut unit) = (number, 0);
    let mut thousandths = scaled % 1000;
    scaled /= 1000;
    while scaled >= 1000 && unit + 1 < UNITS.len() {
        thousandths = scaled % 1000;
        scaled /= 1000;
        unit += 1;
    }
    let letter = UNITS[unit];
    match scaled {
        0..=9 => format!("{scaled}.{:02}{letter}", thousandths / 10),
        10..=99 => format!("{scaled}.{}{letter}", thousandths / 100),
        _ => format!("{scaled}{letter}"),
    }
}

/// Megabytes per second, from bytes per second.
pub(crate) fn megabytes(bytes_per_second: f64) -> String {
    let megabytes = bytes_per_second / 1e6;
    match megabytes {
        m if m < 0.005 => "0".to_owned(),
        m if m < 10.0 => format!("{m:.2}"),
        m if m < 1000.0 => format!("{m:.1}"),
        m => short(whole(m)),
    }
}

/// A wait in at most six columns: `59s`, `12m30s`, `3h05m`, `4d02h`; `-` where it is unknown or longer than a year.
pub(crate) fn left(time: Option<Duration>) -> String {
    let Some(seconds) = time.map(|time| time.as_secs()).filter(|seconds| *seconds < 365 * 86_400) else {
        return "-".to_owned();
    };
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, minutes) => format!("{minutes}m{:02}s", seconds % 60),
        (0, hours, minutes) => format!("{hours}h{minutes:02}m"),
        (days, hours, _) => format!("{days}d{hours:02}h"),
    }
}

/// The nearest whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is wanted")]
pub(crate) fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cluster_sends_is_spelled_out() {
        assert_eq!(cell("orders.v1"), "orders.v1");
        assert_eq!(cell("a\u{1b}[2Jb\r\n"), "a\\u{1b}[2Jb\\r\\n");
        assert_eq!(cell("bestellungen-ü-\u{202e}-\u{9b}"), "bestellungen-\\u{fc}-\\u{202e}-\\u{9b}");
        assert_eq!(plain("/logs/Müller: \"a\" it's\u{1b}[0m\nWARN\u{9b}\u{202e}"), {
            "/logs/Müller: \"a\" it's\\u{1b}[0m\\nWARN\\u{9b}\\u{202e}"
        });
    }

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(shorten("orders", 6), "orders");
        assert_eq!(shorten("orders-of-last-year", 11), "order…-year");
        assert_eq!(["orders", "orders"].map(|name| shorten(name, 1)), ["…", "…"]);
        assert_eq!(shorten("orders", 0), "");
        assert_eq!((clip("stopped", 5), clip("stopped", 7), clip("x", 0)), {
            ("stop…".to_owned(), "stopped".to_owned(), String::new())
        });
    }

    #[test]
    fn numbers_fit_into_six_columns() {
        assert_eq!(
            [0, 99_999, 100_000, 1_234_567, 12_345_678, 123_456_789, 9_999_999_999].map(short),
            ["0", "99,999", "100k", "1.23M", "12.3M", "123M", "9.99G"]
        );
        assert_eq!(short(u64::MAX), "18.4E");
        assert_eq!([0.0, 4_000.0, 9_000.0, 52e6, 1.5e9].map(megabytes), ["0", "0", "0.01", "52.0", "1,500"]);
        let times = [0, 59, 750, 11_100, 354_000, 400 * 86_400];
        let words = times.map(|seconds| left(Some(Duration::from_secs(seconds))));
        assert_eq!(words, ["0s", "59s", "12m30s", "3h05m", "4d02h", "-"]);
        assert_eq!(left(None), "-");
    }
}
