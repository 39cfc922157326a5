//! The summary in one line, for logs and pipes.

use std::time::Duration;

use kmirror_core::observe::Status;

use crate::table::{bytes, grouped, lag, seconds};

/// What was seen last, to tell the rate by.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    last: (Duration, u64),
}

impl Progress {
    /// Where the mirror is.
    pub(crate) fn line(&mut self, status: &Status) -> String {
        let line = line(status, self.last);
        self.last = (status.elapsed, status.total().counters.records);
        line
    }
}

fn line(status: &Status, (since, records): (Duration, u64)) -> String {
    if status.topics.is_empty() {
        return "waiting for both clusters".to_owned();
    }
    let total = status.total();
    let new = u128::from(total.counters.records.saturating_sub(records));
    let ms = status.elapsed.saturating_sub(since).as_millis().max(1);
    let rate = u64::try_from(new * 1000 / ms).unwrap_or(u64::MAX);
    let stopped = if total.links_stopped > 0 { format!(", {} STOPPED", total.links_stopped) } else { String::new() };
    let dropped = if total.counters.dropped > 0 {
        format!(", {} DROPPED", grouped(total.counters.dropped))
    } else {
        String::new()
    };
    format!(
        "{} records ({}) in {}, {}/s, lag {}, {} of {} links caught up{stopped}{dropped}",
        grouped(total.counters.records),
        bytes(total.counters.bytes),
        seconds(status.elapsed),
        grouped(rate),
        lag(total.lag),
        total.links_caught_up,
        total.links,
    )
}

#[cfg(test)]
mod tests {
    use kmirror_core::observe::{Counters, TopicStatus};

    use super::*;

    fn status(counters: Counters, links_stopped: usize) -> Status {
        let topic = TopicStatus {
            counters,
            links: 8,
            links_caught_up: 3,
            links_stopped,
            lag: Some(1200),
            ..TopicStatus::default()
        };
        Status { topics: [("t".to_owned(), topic)].into(), elapsed: Duration::from_secs(20), ..Status::default() }
    }

    #[test]
    fn the_rate_is_that_since_the_last_line() {
        let counters = Counters { records: 30_000, bytes: 3_072_000, ..Counters::default() };
        assert_eq!(
            line(&status(counters, 0), (Duration::from_secs(10), 10_000)),
            "30,000 records (2.9 MiB) in 20.0 s, 2,000/s, lag 1,200, 3 of 8 links caught up"
        );
    }

    #[test]
    fn before_there_are_topics_there_are_no_numbers() {
        assert_eq!(line(&Status::default(), (Duration::ZERO, 0)), "waiting for both clusters");
    }

    #[test]
    fn what_went_wrong_stands_out() {
        let counters = Counters { dropped: 1000, ..Counters::default() };
        let text = line(&status(counters, 2), (Duration::from_secs(20), 0));
        assert!(text.ends_with("links caught up, 2 STOPPED, 1,000 DROPPED"), "{text}");
    }
}
