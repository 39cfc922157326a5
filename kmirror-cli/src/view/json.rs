//! `--json`: what tools read.
//!
//! Standard output has one object a line. Every ten seconds there is one for each mirror:
//!
//! ```text
//! {"time":"…","mirror":"orders-mirror","status":{"elapsed_ms":10000,"total":{…},"topics":[{"topic":"orders",…}]}}
//! ```
//! The last line is the report:
//!
//! ```text
//! {"mirrors":[{"mirror":"orders-mirror","outcome":"ok","reason":"…","elapsed_ms":…,"total":{…},"topics":[…]}]}
//! ```
//! Log lines on standard error (or in the file of `--log-dir`) are objects with `time`, `level`, `message`, and `mirror`
//! where there are several. Counters are since the start. `lag` (records) and `left_s` are null where they are unknown; so are rates at the end.

use kmirror_core::observe::{Status, TopicState, TopicStatus};
use serde::Serialize;

use super::Shown;
use super::rows::{Meters, Pace};
use super::words::whole;

/// One mirror, now.
#[derive(Debug, Serialize)]
pub(crate) struct StatusLine<'a> {
    time: &'a str,
    mirror: &'a str,
    status: Standing<'a>,
}

/// All mirrors, at the end.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    mirrors: Vec<Ended<'a>>,
}

#[derive(Debug, Serialize)]
struct Ended<'a> {
    mirror: &'a str,
    /// `ok` or `failed`.
    outcome: &'a str,
    /// Why it ended well, else why it failed.
    reason: Option<&'a str>,
    #[serde(flatten)]
    standing: Standing<'a>,
}

#[derive(Debug, Serialize)]
struct Standing<'a> {
    elapsed_ms: u64,
    total: Topic<'a>,
    topics: Vec<Topic<'a>>,
}

#[derive(Debug, Serialize)]
struct Topic<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    records: u64,
    bytes: u64,
    batches_raw: u64,
    batches_rewritten: u64,
    batches_joined: u64,
    batches_skipped: u64,
    filtered: u64,
    dropped: u64,
    headers_dropped: u64,
    links: usize,
    links_caught_up: usize,
    links_stopped: usize,
    lag: Option<i64>,
    records_per_s: Option<u64>,
    bytes_per_s: Option<u64>,
    left_s: Option<u64>,
}

impl<'a> StatusLine<'a> {
    /// How a mirror stands now.
    pub(crate) fn of(time: &'a str, status: &'a Status, meters: &Meters) -> Self {
        let total = status.total();
        let standing = Standing {
            elapsed_ms: elapsed_ms(status),
            topics: meters
                .rows(None, status)
                .map(|row| Topic::of(Some(row.topic), row.status, Some(row.pace)))
                .collect(),
            total: Topic::sum(&total, Some(meters.total(&total))),
        };
        Self { time, mirror: &status.name, status: standing }
    }
}

impl<'a> Report<'a> {
    /// How all mirrors ended.
    pub(crate) fn of(mirrors: &'a [Shown]) -> Self {
        Self { mirrors: mirrors.iter().map(Ended::of).collect() }
    }
}

impl<'a> Ended<'a> {
    fn of(shown: &'a Shown) -> Self {
        let status = &shown.status;
        let (outcome, reason) = match &shown.ended {
            None => ("running", None),
            Some(Ok(reason)) => ("ok", Some(reason.as_str())),
            Some(Err(reason)) => ("failed", Some(reason.as_str())),
        };
        let standing = Standing {
            elapsed_ms: elapsed_ms(status),
            topics: status.topics.iter().map(|(name, topic)| Topic::of(Some(name), topic, None)).collect(),
            total: Topic::sum(&status.total(), None),
        };
        Self { mirror: &status.name, outcome, reason, standing }
    }
}

impl<'a> Topic<'a> {
    fn of(topic: Option<&'a str>, status: &'a TopicStatus, pace: Option<Pace>) -> Self {
        let target = (!status.target.is_empty()).then_some(status.target.as_str());
        Self { topic, target, reason: status.reason.as_deref(), ..Self::sum(status, pace) }
    }

    /// Without what is one topic's own.
    fn sum(status: &TopicStatus, pace: Option<Pace>) -> Self {
        let counters = &status.counters;
        Self {
            topic: None,
            target: None,
            state: state(status.state),
            reason: None,
            records: counters.records,
            bytes: counters.bytes,
            batches_raw: counters.batches_raw,
            batches_rewritten: counters.batches_rewritten,
            batches_joined: counters.batches_joined,
            batches_skipped: counters.batches_skipped,
            filtered: counters.filtered,
            dropped: counters.dropped,
            headers_dropped: counters.headers_dropped,
            links: status.links,
            links_caught_up: status.links_caught_up,
            links_stopped: status.links_stopped,
            lag: status.lag,
            records_per_s: pace.map(|pace| whole(pace.records)),
            bytes_per_s: pace.map(|pace| whole(pace.bytes)),
            left_s: pace.and_then(|pace| pace.left).map(|left| left.as_secs()),
        }
    }
}

fn elapsed_ms(status: &Status) -> u64 {
    u64::try_from(status.elapsed.as_millis()).unwrap_or(u64::MAX)
}

const fn state(state: TopicState) -> &'static str {
    match state {
        TopicState::Gone => "gone",
        TopicState::Preparing => "preparing",
        TopicState::Running => "running",
        TopicState::Blocked => "blocked",
        TopicState::Stopped => "stopped",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kmirror_core::clock::Tick;
    use kmirror_core::observe::Counters;

    use super::*;
    use crate::logging::json_line;

    fn status(records: u64, lag: Option<i64>) -> Status {
        let counters = Counters { records, bytes: records * 10, batches_raw: 3, dropped: 1, ..Counters::default() };
        let topic = TopicStatus {
            target: "west.a".to_owned(),
            state: TopicState::Blocked,
            reason: Some("no \"leader\"".to_owned()),
            counters,
            links: 2,
            lag,
            ..TopicStatus::default()
        };
        let topics = [("a\u{1b}[2J".to_owned(), topic)].into();
        Status { name: "m".to_owned(), topics, elapsed: Duration::from_secs(10) }
    }

    fn parsed(line: &str) -> serde_json::Value {
        assert_eq!((line.lines().count(), line.ends_with('\n')), (1, true), "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn a_status_has_counters_and_rates() {
        let mut meters = Meters::default();
        meters.look(Tick::ZERO, &status(0, Some(300)));
        let now = status(100, Some(200));
        meters.look(Tick::ZERO.after(Duration::from_secs(10)), &now);
        let line = parsed(&json_line(&StatusLine::of("T", &now, &meters)));
        assert!(line["time"] == "T" && line["mirror"] == "m");
        let topic = &line["status"]["topics"][0];
        assert_eq!(topic["topic"], "a\u{1b}[2J", "unchanged, behind JSON's escapes");
        for (key, value) in [("target", "west.a"), ("state", "blocked"), ("reason", "no \"leader\"")] {
            assert_eq!(topic[key], value);
        }
        for (key, value) in [("records_per_s", 10), ("bytes_per_s", 100), ("left_s", 20)] {
            assert_eq!(topic[key], value);
        }
        let total = &line["status"]["total"];
        for (key, value) in [("lag", 200), ("dropped", 1), ("links", 2)] {
            assert_eq!(total[key], value);
        }
        assert!(total.get("topic").is_none() && total.get("reason").is_none());
    }

    #[test]
    fn a_report_says_how_each_mirror_ended() {
        let well = Shown { status: status(5, None), ended: Some(Ok("stopped".to_owned())) };
        let badly = Shown { status: Status::default(), ended: Some(Err("no broker answers".to_owned())) };
        let mirrors = [well, badly];
        let report = parsed(&json_line(&Report::of(&mirrors)));
        let (first, second) = (&report["mirrors"][0], &report["mirrors"][1]);
        assert!(first["outcome"] == "ok" && first["reason"] == "stopped", "{first}");
        assert!(first["elapsed_ms"] == 10_000 && first["topics"][0]["records"] == 5, "{first}");
        assert!(first["topics"][0]["lag"].is_null() && first["topics"][0]["records_per_s"].is_null());
        assert!(second["outcome"] == "failed" && second["reason"] == "no broker answers", "{second}");
    }
}
