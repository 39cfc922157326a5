//! Numbers for people: the table at the end, and the words of the summary.

use std::time::Duration;

use kmirror_core::observe::{Counters, Status, TopicState, TopicStatus};

use crate::view::{cell, plain, shorten};

/// One line for each topic, and one for all where there are several; below them why topics do not go on.
///
/// ```text
/// topic          records      bytes    raw  rewritten  dropped  links    lag
/// test-mirror  1,000,000   85.8 MiB  99.8%       0.2%        0  32/32      0
/// in 12.3 s
/// ```
/// The shares are those of batches: `raw` went through with an untouched payload, `rewritten` were decoded and built
/// again, `skipped` carry no records for consumers. What nobody had (rewritten, skipped, filtered records, headers that
/// the target's format cannot carry) has no column. On a terminal of this width names are shortened until the lines fit.
pub(crate) fn table(status: &Status, width: Option<usize>) -> String {
    let total = status.total();
    let all = (status.topics.len() > 1).then_some(("all topics".to_owned(), &total));
    let topics = status.topics.iter().map(|(name, topic)| (shown_name(name, topic), topic));
    let rows: Vec<(String, &TopicStatus)> = topics.chain(all).collect();
    let mut lines = vec![String::new(); rows.len() + 1];
    for (head, cell, rare) in COLUMNS {
        if rare.is_none_or(|count| count(&total.counters) > 0) {
            append(&mut lines, head, rows.iter().map(|(_, topic)| cell(topic)).collect());
        }
    }
    let numbers = lines.first().map_or(0, |line| line.chars().count());
    let longest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default().max("topic".len());
    let room = width.map_or(longest, |width| longest.min(width.saturating_sub(numbers).max(NAME_MIN)));
    let names = std::iter::once("topic").chain(rows.iter().map(|(name, _)| name.as_str()));
    let mut out = String::new();
    for (name, line) in names.zip(&lines) {
        out.push_str(&format!("{:room$}{line}\n", shorten(name, room)));
    }
    for (name, topic) in &status.topics {
        let state = match topic.state {
            TopicState::Stopped => "stopped",
            TopicState::Blocked => "blocked",
            TopicState::Gone => "gone",
            TopicState::Preparing | TopicState::Running => continue,
        };
        let reason = topic.reason.as_deref().map(|reason| format!(": {}", plain(reason))).unwrap_or_default();
        out.push_str(&format!("{}: {state}{reason}\n", cell(name)));
    }
    out.push_str(&format!("in {}\n", seconds(status.elapsed)));
    out
}

/// A column: its head, what stands in it, and what has to have happened for it to be there.
type Column = (&'static str, fn(&TopicStatus) -> String, Option<fn(&Counters) -> u64>);

const COLUMNS: [Column; 11] = [
    ("records", |topic| grouped(topic.counters.records), None),
    ("bytes", |topic| bytes(topic.counters.bytes), None),
    ("raw", |topic| share(topic.counters.batches_raw, &topic.counters), None),
    ("rewritten", |topic| share(topic.counters.batches_rewritten, &topic.counters), Some(|all| all.batches_rewritten)),
    ("joined", |topic| share(topic.counters.batches_joined, &topic.counters), Some(|all| all.batches_joined)),
    ("skipped", |topic| share(topic.counters.batches_skipped, &topic.counters), Some(|all| all.batches_skipped)),
    ("filtered", |topic| grouped(topic.counters.filtered), Some(|all| all.filtered)),
    ("no headers", |topic| grouped(topic.counters.headers_dropped), Some(|all| all.headers_dropped)),
    ("dropped", |topic| grouped(topic.counters.dropped), None),
    ("links", |topic| format!("{}/{}", topic.links_caught_up, topic.links), None),
    ("lag", |topic| lag(topic.lag), None),
];

/// Names are not made shorter than that.
const NAME_MIN: usize = 12;

/// Adds one column to all lines.
fn append(lines: &mut [String], head: &str, cells: Vec<String>) {
    let cells: Vec<String> = std::iter::once(head.to_owned()).chain(cells).collect();
    let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or_default();
    for (line, cell) in lines.iter_mut().zip(cells) {
        line.push_str(&format!("  {cell:>width$}"));
    }
}

/// The topic, and its name on the target where that is another one.
fn shown_name(name: &str, topic: &TopicStatus) -> String {
    if topic.target.is_empty() || topic.target == name {
        cell(name)
    } else {
        format!("{} → {}", cell(name), cell(&topic.target))
    }
}

/// The share of all batches. Only all of them are 100%, only none 0%.
fn share(part: u64, counters: &Counters) -> String {
    let all = u128::from(counters.batches_raw)
        + u128::from(counters.batches_rewritten)
        + u128::from(counters.batches_joined)
        + u128::from(counters.batches_skipped);
    let part = u128::from(part);
    match part {
        _ if all == 0 => "-".to_owned(),
        0 => "0%".to_owned(),
        part if part == all => "100%".to_owned(),
        part => {
            let tenths = (part * 1000 / all).clamp(1, 999);
            format!("{}.{}%", tenths / 10, tenths % 10)
        }
    }
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
    use super::*;

    fn topic(records: u64, bytes: u64, lag: Option<i64>) -> TopicStatus {
        let counters = Counters { records, bytes, batches_raw: 4, ..Counters::default() };
        TopicStatus { counters, links: 32, links_caught_up: 32, lag, ..TopicStatus::default() }
    }

    #[test]
    fn one_topic_has_one_line() {
        let topics = [("test-mirror".to_owned(), topic(1_000_000, 90_000_000, Some(0)))].into();
        let text = table(&Status { topics, elapsed: Duration::from_millis(12_340), ..Status::default() }, None);
        assert_eq!(
            text,
            "topic          records     bytes   raw  dropped  links  lag\n\
             test-mirror  1,000,000  85.8 MiB  100%        0  32/32    0\n\
             in 12.3 s\n"
        );
    }

    #[test]
    fn several_topics_have_a_sum() {
        let b = TopicStatus { target: "west.b".to_owned(), ..topic(2, 20, None) };
        let topics = [("a".to_owned(), topic(1, 10, Some(2))), ("b".to_owned(), b)].into();
        let text = table(&Status { topics, elapsed: Duration::from_secs(125), ..Status::default() }, None);
        assert_eq!(
            text,
            "topic       records  bytes   raw  dropped  links  lag\n\
             a                 1   10 B  100%        0  32/32    2\n\
             b → west.b        2   20 B  100%        0  32/32    ?\n\
             all topics        3   30 B  100%        0  64/64    ?\n\
             in 2 min 05 s\n"
        );
    }

    #[test]
    fn what_happened_to_some_has_a_column_and_a_reason_a_line() {
        let counters = Counters {
            records: 10,
            batches_raw: 9_999,
            batches_rewritten: 1,
            filtered: 5,
            headers_dropped: 1_000,
            dropped: 2,
            ..Counters::default()
        };
        let a = TopicStatus {
            counters,
            state: TopicState::Stopped,
            reason: Some("the source begins at offset 7".to_owned()),
            ..TopicStatus::default()
        };
        let b = TopicStatus { state: TopicState::Blocked, ..TopicStatus::default() };
        let status = Status { topics: [("a".to_owned(), a), ("b\u{1b}[2J".to_owned(), b)].into(), ..Status::default() };
        assert_eq!(
            table(&status, None),
            "topic       records  bytes    raw  rewritten  filtered  no headers  dropped  links  lag\n\
             a                10    0 B  99.9%       0.1%         5       1,000        2    0/0    ?\n\
             b\\u{1b}[2J        0    0 B      -          -         0           0        0    0/0    ?\n\
             all topics       10    0 B  99.9%       0.1%         5       1,000        2    0/0    ?\n\
             a: stopped: the source begins at offset 7\n\
             b\\u{1b}[2J: blocked\n\
             in 0.0 s\n"
        );
    }

    #[test]
    fn on_a_terminal_names_are_shortened_until_it_fits() {
        let long = "clicks.of-all-users-in-all-countries.v2".to_owned();
        let status = Status { topics: [(long, topic(1_000, 10, Some(0)))].into(), ..Status::default() };
        let line = |width| table(&status, Some(width)).lines().nth(1).unwrap_or_default().to_owned();
        assert_eq!(line(60), "clicks.o…tries.v2    1,000   10 B  100%        0  32/32    0");
        assert_eq!(line(10), "clicks…es.v2    1,000   10 B  100%        0  32/32    0", "a name has to be known again");
        assert!(line(200).starts_with("clicks.of-all-users-in-all-countries.v2    1,000"));
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
