//! Numbers for people: the table at the end, and the words of the progress line.

use std::time::Duration;

use kmirror_core::observe::Status;

/// One line for each topic, and one for all where there are several.
///
/// ```text
/// topic          records      bytes  dropped  links    lag
/// test-mirror  1,000,000   85.8 MiB        0  32/32      0
/// in 12.3 s
/// ```
pub(crate) fn table(status: &Status) -> String {
    let header = ["topic", "records", "bytes", "dropped", "links", "lag"].map(str::to_owned);
    let mut rows = vec![header];
    let total = status.total();
    let all = (status.topics.len() > 1).then_some(("all topics", &total));
    let topics = status.topics.iter().map(|(name, topic)| (name.as_str(), topic));
    for (name, topic) in topics.chain(all) {
        rows.push([
            name.escape_debug().to_string(),
            grouped(topic.counters.records),
            bytes(topic.counters.bytes),
            grouped(topic.counters.dropped),
            format!("{}/{}", topic.links_caught_up, topic.links),
            lag(topic.lag),
        ]);
    }
    let mut out = String::new();
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
            let padding = " ".repeat(width - cell.chars().count());
            match column {
                0 => out.push_str(&format!("{cell}{padding}")),
                _ => out.push_str(&format!("  {padding}{cell}")),
            }
        }
        out.push('\n');
    }
    out.push_str(&format!("in {}\n", seconds(status.elapsed)));
    out
}

/// `1,000,000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `85.8 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut tenths = u128::from(number) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// A lag in records; `?` where it is not known yet.
pub(crate) fn lag(lag: Option<i64>) -> String {
    lag.map_or_else(|| "?".to_owned(), |lag| grouped(lag.max(0).unsigned_abs()))
}

/// `12.3 s`, `2 min 05 s`, `3 h 07 min`.
pub(crate) fn seconds(time: Duration) -> String {
    let whole = time.as_secs();
    match (whole / 3600, whole / 60 % 60) {
        (0, 0) => format!("{whole}.{} s", time.subsec_millis() / 100),
        (0, minutes) => format!("{minutes} min {:02} s", whole % 60),
        (hours, minutes) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use kmirror_core::observe::{Counters, TopicStatus};

    use super::*;

    fn topic(records: u64, bytes: u64, lag: Option<i64>) -> TopicStatus {
        let counters = Counters { records, bytes, ..Counters::default() };
        TopicStatus { counters, links: 32, links_caught_up: 32, lag, ..TopicStatus::default() }
    }

    #[test]
    fn one_topic_has_one_line() {
        let topics = [("test-mirror".to_owned(), topic(1_000_000, 90_000_000, Some(0)))].into();
        let text = table(&Status { topics, elapsed: Duration::from_millis(12_340), ..Status::default() });
        assert_eq!(
            text,
            "topic          records     bytes  dropped  links  lag\n\
             test-mirror  1,000,000  85.8 MiB        0  32/32    0\n\
             in 12.3 s\n"
        );
    }

    #[test]
    fn several_topics_have_a_sum() {
        let topics = [("a".to_owned(), topic(1, 10, Some(2))), ("b".to_owned(), topic(2, 20, None))].into();
        let text = table(&Status { topics, elapsed: Duration::from_secs(125), ..Status::default() });
        assert_eq!(
            text,
            "topic       records  bytes  dropped  links  lag\n\
             a                 1   10 B        0  32/32    2\n\
             b                 2   20 B        0  32/32    ?\n\
             all topics        3   30 B        0  64/64    ?\n\
             in 2 min 05 s\n"
        );
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([0, 999, 1000, 31_250, 1_234_567].map(grouped), ["0", "999", "1,000", "31,250", "1,234,567"]);
        assert_eq!(
            [0, 1023, 1024, 1536, 1 << 20, 5 << 30].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "5.0 GiB"]
        );
        assert_eq!(bytes(u64::MAX), "15.9 EiB");
        assert_eq!(seconds(Duration::from_secs(11_220)), "3 h 07 min");
        assert_eq!(lag(Some(-1)), "0");
    }
}
