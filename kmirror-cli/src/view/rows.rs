//! From two looks at the counters to what a row of the table shows: rates, and the time that is left.
//!
//! A rate is the average of the last [`MEMORY`] or so: each look's share fades by the same factor a second, so that one
//! burst neither hides what came before nor stays for long.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_core::clock::Tick;
use kmirror_core::observe::{Status, TopicState, TopicStatus};

/// After so long a look counts for a third of what a new one does.
const MEMORY: Duration = Duration::from_secs(5);

/// How fast things go, now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pace {
    /// Records a second.
    pub(crate) records: f64,
    /// Bytes a second.
    pub(crate) bytes: f64,
    /// Until the lag is gone at the rate at which it shrinks; `None` where it is unknown or does not shrink.
    pub(crate) left: Option<Duration>,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    /// Which mirror, where there are several.
    pub(crate) mirror: Option<&'a str>,
    /// The source's name of the topic.
    pub(crate) topic: &'a str,
    /// How it stands.
    pub(crate) status: &'a TopicStatus,
    /// How fast it goes.
    pub(crate) pace: Pace,
}

/// What the rates of one mirror's topics are told by.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    seen: Option<Tick>,
    topics: BTreeMap<String, Meter>,
    total: Meter,
}

/// What a rate is told by.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    /// Seconds that count, the older the less.
    weight: f64,
    /// Records and bytes of those seconds, the older the less.
    records: f64,
    bytes: f64,
    /// The same for the lag, which has been known for a shorter time.
    lag_weight: f64,
    lag_shrunk: f64,
    last: (u64, u64, Option<i64>),
}

impl Meters {
    /// Takes a look. The first one is only what the next is compared with.
    pub(crate) fn look(&mut self, now: Tick, status: &Status) {
        let since = self.seen.map(|seen| now.since(seen));
        self.seen = Some(now);
        let total = status.total();
        let Some(since) = since else {
            self.total.last = counts(&total);
            self.topics = status.topics.iter().map(|(topic, status)| (topic.clone(), Meter::new(status))).collect();
            return;
        };
        let before = self.topics.len();
        self.topics.retain(|topic, _| status.topics.contains_key(topic));
        let mut others = self.topics.len() != before;
        for (topic, status) in &status.topics {
            match self.topics.get_mut(topic) {
                Some(meter) => meter.look(since, status),
                None => {
                    others = true;
                    self.topics.insert(topic.clone(), Meter::new(status));
                }
            }
        }
        self.total.look(since, &total);
        if others {
            // The lag of other topics says nothing about how fast it shrinks.
            (self.total.lag_weight, self.total.lag_shrunk) = (0.0, 0.0);
        }
    }

    /// The rows of this mirror, in no order.
    pub(crate) fn rows<'a>(&self, mirror: Option<&'a str>, status: &'a Status) -> impl Iterator<Item = Row<'a>> {
        status.topics.iter().map(move |(topic, status)| {
            let pace = self.topics.get(topic).map(|meter| meter.pace(status.lag)).unwrap_or_default();
            Row { mirror, topic, status, pace }
        })
    }

    /// How fast the mirror goes as a whole.
    pub(crate) fn total(&self, total: &TopicStatus) -> Pace {
        self.total.pace(total.lag)
    }
}

impl Meter {
    fn new(status: &TopicStatus) -> Self {
        Self { last: counts(status), ..Self::default() }
    }

    fn look(&mut self, since: Duration, status: &TopicStatus) {
        let (records, bytes, lag) = counts(status);
        let kept = (-since.as_secs_f64() / MEMORY.as_secs_f64()).exp();
        // The view is made for people: 53 bits are enough.
        let (new_records, new_bytes) =
            (records.saturating_sub(self.last.0) as f64, bytes.saturating_sub(self.last.1) as f64);
        self.weight = self.weight * kept + since.as_secs_f64();
        self.records = self.records * kept + new_records;
        self.bytes = self.bytes * kept + new_bytes;
        match (self.last.2, lag) {
            (Some(before), Some(lag)) => {
                self.lag_weight = self.lag_weight * kept + since.as_secs_f64();
                self.lag_shrunk = self.lag_shrunk * kept + before.saturating_sub(lag) as f64;
            }
            (None, _) | (_, None) => (self.lag_weight, self.lag_shrunk) = (0.0, 0.0),
        }
        self.last = (records, bytes, lag);
    }

    fn pace(&self, lag: Option<i64>) -> Pace {
        if self.weight <= 0.0 {
            return Pace::default();
        }
        let left = match lag {
            None => None,
            Some(lag) if lag <= 0 => Some(Duration::ZERO),
            Some(lag) if self.lag_shrunk > 0.0 => {
                Duration::try_from_secs_f64(lag as f64 * self.lag_weight / self.lag_shrunk).ok()
            }
            Some(_) => None,
        };
        Pace { records: self.records / self.weight, bytes: self.bytes / self.weight, left }
    }
}

/// What needs somebody comes first, then what is furthest behind.
pub(crate) fn urgency(a: &Row<'_>, b: &Row<'_>) -> Ordering {
    let rank = |row: &Row<'_>| match row.status.state {
        TopicState::Stopped => 0,
        TopicState::Blocked => 1,
        TopicState::Preparing | TopicState::Running => 2,
        TopicState::Gone => 3,
    };
    let lag = |row: &Row<'_>| row.status.lag.unwrap_or(-1);
    // Of those without lag the busy ones are of interest.
    let busy = |row: &Row<'_>| row.pace.records;
    rank(a)
        .cmp(&rank(b))
        .then(lag(b).cmp(&lag(a)))
        .then(busy(b).total_cmp(&busy(a)))
        .then_with(|| (a.mirror, a.topic).cmp(&(b.mirror, b.topic)))
}

fn counts(status: &TopicStatus) -> (u64, u64, Option<i64>) {
    (status.counters.records, status.counters.bytes, status.lag)
}

#[cfg(test)]
mod tests {
    use kmirror_core::observe::Counters;

    use super::*;

    fn status(records: u64, lag: Option<i64>) -> Status {
        let counters = Counters { records, bytes: records * 100, ..Counters::default() };
        let topic = TopicStatus { counters, lag, ..TopicStatus::default() };
        Status { topics: [("t".to_owned(), topic)].into(), ..Status::default() }
    }

    fn at(ms: u64) -> Tick {
        Tick::ZERO.after(Duration::from_millis(ms))
    }

    fn pace(meters: &Meters, status: &Status) -> Pace {
        meters.rows(None, status).next().unwrap().pace
    }

    #[test]
    fn a_steady_rate_is_right_from_the_second_look_on() {
        let mut meters = Meters::default();
        for look in 0..60_u64 {
            let now = status(7_000_000 + 5_000 * look, Some(300_000 - 5_000 * i64::try_from(look).unwrap()));
            meters.look(at(500 * look), &now);
            let pace = pace(&meters, &now);
            if look == 0 {
                assert_eq!(pace, Pace::default());
            } else {
                assert_eq!((pace.records.round(), pace.bytes.round()), (10_000.0, 1_000_000.0));
                assert_eq!(pace.left.map(|left| left.as_millis()), Some(u128::from(30_000 - 500 * look)));
            }
            assert_eq!(meters.total(&now.total()), pace, "one topic is all topics");
        }
    }

    /// A pause shows: of the rate a third is left after five seconds, and a fiftieth after twenty.
    #[test]
    fn what_was_fades() {
        let mut meters = Meters::default();
        for look in 0..100_u64 {
            meters.look(at(500 * look), &status(500 * look, None));
        }
        let end = status(500 * 99, None);
        meters.look(at(49_500 + 5_000), &end);
        assert!((250.0..400.0).contains(&pace(&meters, &end).records), "{:?}", pace(&meters, &end));
        meters.look(at(49_500 + 20_000), &end);
        assert!(pace(&meters, &end).records < 20.0);
    }

    #[test]
    fn no_time_is_promised_while_the_lag_grows_or_is_unknown() {
        let mut meters = Meters::default();
        meters.look(at(0), &status(0, Some(100)));
        meters.look(at(500), &status(50, Some(150)));
        assert_eq!(pace(&meters, &status(50, Some(150))).left, None, "it grows");
        meters.look(at(1000), &status(50, None));
        assert_eq!(pace(&meters, &status(50, None)).left, None, "unknown");
        meters.look(at(1500), &status(100, Some(500)));
        assert_eq!(pace(&meters, &status(100, Some(500))).left, None, "known again, and nothing to compare it with");
        meters.look(at(2000), &status(200, Some(400)));
        assert_eq!(pace(&meters, &status(200, Some(400))).left, Some(Duration::from_secs(2)));
        assert_eq!(pace(&meters, &status(600, Some(0))).left, Some(Duration::ZERO));
    }

    /// Without topics there is no lag, and with the first ones there is a lot of it.
    #[test]
    fn a_topic_that_comes_is_no_growth() {
        let mut meters = Meters::default();
        meters.look(at(0), &Status::default());
        meters.look(at(500), &status(0, Some(1_000)));
        meters.look(at(1000), &status(100, Some(900)));
        let total = status(100, Some(900)).total();
        assert_eq!(meters.total(&total).left, Some(Duration::from_millis(4_500)));
    }

    #[test]
    fn what_needs_somebody_comes_first() {
        let topic = |state, lag| TopicStatus { state, lag, ..TopicStatus::default() };
        let topics = [
            ("a", topic(TopicState::Running, Some(5))),
            ("b", topic(TopicState::Preparing, None)),
            ("c", topic(TopicState::Running, Some(5_000))),
            ("d", topic(TopicState::Stopped, None)),
            ("e", topic(TopicState::Blocked, Some(1))),
            ("f", topic(TopicState::Running, Some(5))),
            ("g", topic(TopicState::Gone, Some(1_000_000))),
        ];
        let status =
            Status { topics: topics.map(|(name, topic)| (name.to_owned(), topic)).into(), ..Status::default() };
        let meters = Meters::default();
        let mut rows: Vec<Row<'_>> = meters.rows(None, &status).collect();
        rows.sort_by(urgency);
        let order: String = rows.iter().map(|row| row.topic).collect();
        assert_eq!(order, "decafbg");
    }

    #[test]
    fn a_topic_that_goes_leaves_nothing_behind() {
        let mut meters = Meters::default();
        meters.look(at(0), &status(0, None));
        meters.look(at(500), &Status::default());
        assert!(meters.topics.is_empty());
    }
}
