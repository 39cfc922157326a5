//! Where each link stands, in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a link is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkState {
    /// It waits for a leader, a connection or a back-off.
    #[default]
    Waiting,
    /// It reads the target's log to find its place.
    Resuming,
    /// It walks the source over what is on the target already.
    Walking,
    /// It copies.
    Running,
    /// It stands still for good.
    Stopped,
}

/// What a link, a topic or a mirror has done since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Records acknowledged by the target where they were expected.
    pub records: u64,
    /// Bytes of record sets that carried them.
    pub bytes: u64,
    /// Batches that went through with an untouched payload.
    pub batches_raw: u64,
    /// Batches that were decoded and built again.
    pub batches_rewritten: u64,
    /// Tiny batches that waited and were joined with their neighbours.
    pub batches_joined: u64,
    /// Batches passed over: control records, aborted transactions, empty batches.
    pub batches_skipped: u64,
    /// Records whose headers the target's format cannot carry.
    pub headers_dropped: u64,
    /// Records that were left out: MirrorMaker's `numDroppedMessages`.
    pub dropped: u64,
    /// Records that the route's filters do not let through.
    pub filtered: u64,
}

/// What a topic is doing: the worst of what its links do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicState {
    /// It was let go: deleted on the source, or no longer wanted.
    Gone,
    /// Every link copies.
    Running,
    /// The target's topic is prepared, or links look for their place.
    #[default]
    Preparing,
    /// Something outside has to change first; it is looked for again and again.
    Blocked,
    /// At least one link stands still for good.
    Stopped,
}

/// One topic of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicStatus {
    /// Its name on the target.
    pub target: String,
    /// What it is doing.
    pub state: TopicState,
    /// Why it is blocked or stopped: the first reason, in one sentence with the way out.
    pub reason: Option<String>,
    /// What was done.
    pub counters: Counters,
    /// Links of the topic.
    pub links: usize,
    /// Links that have reached the source's end as of the start.
    pub links_caught_up: usize,
    /// Links that stand still for good.
    pub links_stopped: usize,
    /// Records of the source that are not mirrored yet, where known.
    pub lag: Option<i64>,
}

/// The whole mirror.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The mirror's name.
    pub name: String,
    /// By source topic.
    pub topics: BTreeMap<String, TopicStatus>,
    /// Since the start.
    pub elapsed: Duration,
}

impl Counters {
    /// Adds what another part did.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.batches_raw += other.batches_raw;
        self.batches_rewritten += other.batches_rewritten;
        self.batches_joined += other.batches_joined;
        self.batches_skipped += other.batches_skipped;
        self.headers_dropped += other.headers_dropped;
        self.dropped += other.dropped;
        self.filtered += other.filtered;
    }
}

impl Status {
    /// All topics together. What was let go has no lag any more.
    #[must_use]
    pub fn total(&self) -> TopicStatus {
        let state = self.topics.values().map(|topic| topic.state).max().unwrap_or_default();
        let mut total = TopicStatus { state, lag: Some(0), ..TopicStatus::default() };
        for topic in self.topics.values() {
            total.counters.add(&topic.counters);
            total.links += topic.links;
            total.links_caught_up += topic.links_caught_up;
            total.links_stopped += topic.links_stopped;
            if topic.state != TopicState::Gone {
                total.lag = total.lag.zip(topic.lag).map(|(a, b)| a.saturating_add(b));
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(topics: &[(TopicState, Option<i64>)]) -> (TopicState, Option<i64>) {
        let topic = |(state, lag): &(TopicState, Option<i64>)| TopicStatus {
            state: *state,
            lag: *lag,
            ..TopicStatus::default()
        };
        let topics = topics.iter().enumerate().map(|(number, parts)| (number.to_string(), topic(parts)));
        let total = Status { topics: topics.collect(), ..Status::default() }.total();
        (total.state, total.lag)
    }

    #[test]
    fn all_topics_together_are_as_bad_as_the_worst_and_what_was_let_go_lags_no_more() {
        use TopicState::{Blocked, Gone, Preparing, Running};
        assert_eq!(total(&[]), (Preparing, Some(0)));
        assert_eq!(total(&[(Running, Some(2)), (Running, Some(3))]), (Running, Some(5)));
        assert_eq!(total(&[(Running, Some(2)), (Gone, None)]), (Running, Some(2)));
        assert_eq!(total(&[(Running, Some(2)), (Blocked, None), (Preparing, Some(1))]), (Blocked, None));
    }
}
