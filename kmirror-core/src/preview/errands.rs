//! The questions that only read: ends of logs, the ledger, the group's offsets, and samples of records.
//!
//! Each is made again until it is answered, for a while; then it is given up, and that is said.

use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, FetchedPartition, FindCoordinatorRequest, ListOffsetsResponse, OffsetFetchRequest,
    OffsetFetchTopic,
};
use kmirror_proto::records::{Entry, split};

use super::machine::DryRun;
use super::sample::Bench;
use crate::client::{ByTopic, CallOptions, EARLIEST, LATEST, Node, Reply, fetch_one, fetch_partition, list_offsets};
use crate::clock::{Now, Tick, earliest};
use crate::config::Side;
use crate::fetch::Aborted;
use crate::ledger::topic_name;

/// A source topic and partition.
pub(super) type Key = (String, i32);

/// One question.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    /// An end of these source logs.
    Bounds(Bound, Vec<Key>),
    Ledger(LedgerStep),
    /// Who knows the group's offsets.
    Coordinator,
    /// The group's offsets.
    Committed,
    /// Records of a source partition from an offset on, and how many bytes of them.
    Sample(Key, i64, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Start,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LedgerStep {
    Start,
    End,
    Read,
}

/// A question, and when it is asked.
#[derive(Clone, Debug)]
pub(super) struct Due {
    errand: Errand,
    /// When it was first to be asked.
    since: Tick,
    at: Tick,
}

impl DryRun {
    pub(super) fn errand(&mut self, now: Now, errand: Errand) {
        self.todo.push_back(Due { errand, since: now.tick, at: now.tick });
    }

    /// Asks what is due, as far as there is room.
    pub(super) fn run_errands(&mut self, now: Now) {
        for _ in 0..self.todo.len() {
            if self.calls.len() >= CALLS_MAX {
                break;
            }
            let Some(due) = self.todo.pop_front() else { break };
            if due.at > now.tick {
                self.todo.push_back(due);
            } else {
                self.ask(now, due);
            }
        }
        let waits = self.todo.iter().map(|due| due.at).filter(|at| *at > now.tick);
        self.set_wake(waits.fold(None, |first, at| earliest(first, Some(at))));
    }

    fn ask(&mut self, now: Now, due: Due) {
        match &due.errand {
            Errand::Bounds(bound, keys) => {
                let (bound, keys) = (*bound, keys.clone());
                self.ask_bounds(now, &due, bound, keys);
            }
            Errand::Ledger(step) => {
                let topic = topic_name(&self.config.name);
                let Some(leader) = self.target.metadata().leader(&topic, 0) else {
                    self.target.refresh_metadata(now);
                    return self.later(now, due, "it has no leader");
                };
                let request = match step {
                    LedgerStep::Start => list_offsets([(topic.as_str(), 0)], EARLIEST, 0).into(),
                    LedgerStep::End => list_offsets([(topic.as_str(), 0)], LATEST, 0).into(),
                    LedgerStep::Read => {
                        let partition = fetch_partition(0, self.ledger_position, LEDGER_BYTES);
                        fetch_one(&topic, partition, WAIT_MS, 0).into()
                    }
                };
                self.call(now, Side::Target, Node::Id(leader), request, FETCH_VERSION_MIN, due);
            }
            Errand::Coordinator => {
                let Some(group) = self.config.group.clone() else { return };
                let request = FindCoordinatorRequest::group(group);
                self.call(now, Side::Source, Node::Any, request.into(), 0, due);
            }
            Errand::Committed => {
                let Some((group_id, coordinator)) = self.config.group.clone().zip(self.coordinator) else { return };
                let mut grouped = ByTopic::new();
                for route in &self.preview.routes {
                    let topic = self.source.metadata().topics.get(&route.topic);
                    for partition in topic.into_iter().flat_map(|topic| topic.partitions.keys()) {
                        grouped.push(&route.topic, *partition);
                    }
                }
                let topics = grouped.into_topics(|name, partition_indexes| OffsetFetchTopic {
                    name,
                    partition_indexes,
                    ..OffsetFetchTopic::default()
                });
                let request = OffsetFetchRequest::group(group_id, Some(topics));
                // v0 asks ZooKeeper, where only the consumers of 0.8 committed.
                self.call(now, Side::Source, Node::Id(coordinator), request.into(), 1, due);
            }
            Errand::Sample((topic, partition), offset, bytes) => {
                let Some(leader) = self.source.metadata().leader(topic, *partition) else {
                    return self.later(now, due, "it has no leader");
                };
                let bytes = i32::try_from(*bytes).unwrap_or(i32::MAX);
                let partition = fetch_partition(*partition, *offset, bytes);
                let request = fetch_one(topic, partition, WAIT_MS, self.config.fetch.isolation.level());
                self.call(now, Side::Source, Node::Id(leader), request.into(), FETCH_VERSION_MIN, due);
            }
        }
    }

    fn call(&mut self, now: Now, side: Side, node: Node, request: AnyRequest, version_min: i16, due: Due) {
        let version_min = if matches!(request, AnyRequest::ListOffsets(_)) { 0 } else { version_min };
        let (client, timeout) = match side {
            Side::Source => (&mut self.source, self.config.source.request_timeout),
            Side::Target => (&mut self.target, self.config.target.request_timeout),
        };
        let options = CallOptions::within(timeout.min(PATIENCE)).versions(version_min, i16::MAX);
        let call = client.call(now, node, request, options);
        self.calls.insert((side, call), due);
    }

    fn ask_bounds(&mut self, now: Now, due: &Due, bound: Bound, keys: Vec<Key>) {
        let timestamp = if bound == Bound::Start { EARLIEST } else { LATEST };
        let isolation = self.config.fetch.isolation.level();
        let mut by_leader: BTreeMap<i32, Vec<Key>> = BTreeMap::new();
        let mut leaderless = Vec::new();
        for key in keys {
            match self.source.metadata().leader(&key.0, key.1) {
                Some(leader) => by_leader.entry(leader).or_default().push(key),
                None => leaderless.push(key),
            }
        }
        for (leader, keys) in by_leader {
            let partitions = keys.iter().map(|(topic, partition)| (topic.as_str(), *partition));
            let request = list_offsets(partitions, timestamp, isolation).into();
            let due = Due { errand: Errand::Bounds(bound, keys), ..due.clone() };
            self.call(now, Side::Source, Node::Id(leader), request, 0, due);
        }
        if !leaderless.is_empty() {
            self.source.refresh_metadata(now);
            self.later(now, Due { errand: Errand::Bounds(bound, leaderless), ..due.clone() }, "it has no leader");
        }
    }

    pub(super) fn handle_reply(&mut self, now: Now, side: Side, reply: Reply) {
        let Some(due) = self.calls.remove(&(side, reply.call)) else { return };
        let taken = match reply.outcome {
            Ok(response) => self.take(now, &due, response),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = taken {
            match side {
                Side::Source => self.source.refresh_metadata(now),
                Side::Target => self.target.refresh_metadata(now),
            }
            self.later(now, due, &reason);
        }
    }

    /// Takes an answer; `Err` if the question has to be asked again.
    fn take(&mut self, now: Now, due: &Due, response: AnyResponse) -> Result<(), String> {
        match (&due.errand, response) {
            (Errand::Bounds(bound, keys), AnyResponse::ListOffsets(answer)) => {
                self.take_bounds(now, due, *bound, keys, answer);
                Ok(())
            }
            (Errand::Ledger(step), AnyResponse::ListOffsets(answer)) => {
                let listed = answer.topics.first().and_then(|topic| topic.partitions.first());
                let listed = listed.ok_or("an empty answer")?;
                ok(listed.error_code)?;
                if *step == LedgerStep::Start {
                    self.ledger_position = listed.offset;
                    self.errand(now, Errand::Ledger(LedgerStep::End));
                } else {
                    self.ledger_end = listed.offset;
                    self.read_ledger_on(now);
                }
                Ok(())
            }
            (Errand::Ledger(_), AnyResponse::Fetch(answer)) => {
                let fetched = answer.topics.first().and_then(|topic| topic.partitions.first());
                let fetched = fetched.ok_or("an empty answer")?;
                ok(fetched.error_code)?;
                let before = self.ledger_position;
                let records = fetched.records.clone().unwrap_or_default();
                self.found.ledger.read_records(&mut self.ledger_position, records)?;
                if self.ledger_position == before && before < self.ledger_end {
                    return Err("it does not answer with its records".to_owned());
                }
                self.read_ledger_on(now);
                Ok(())
            }
            (Errand::Coordinator, AnyResponse::FindCoordinator(answer)) => {
                let coordinator = answer.into_only();
                ok(coordinator.error_code)?;
                self.coordinator = Some(coordinator.node_id);
                self.errand(now, Errand::Committed);
                Ok(())
            }
            (Errand::Committed, AnyResponse::OffsetFetch(answer)) => {
                let group = answer.into_only();
                ok(group.error_code)?;
                for topic in group.topics {
                    for found in topic.partitions.iter().filter(|found| found.committed_offset >= 0) {
                        let key = (topic.name.clone(), found.partition_index);
                        self.found.committed.insert(key, found.committed_offset);
                    }
                }
                Ok(())
            }
            (Errand::Sample(key, offset, bytes), AnyResponse::Fetch(answer)) => {
                let fetched = answer.topics.first().and_then(|topic| topic.partitions.first());
                self.sampled(now, key, *offset, *bytes, fetched.ok_or("an empty answer")?)
            }
            (_, other) => Err(format!("an answer to another question: {}", other.key())),
        }
    }

    fn take_bounds(&mut self, now: Now, due: &Due, bound: Bound, keys: &[Key], answer: ListOffsetsResponse) {
        let mut left = keys.to_vec();
        let mut reason = "the answer leaves it out".to_owned();
        for topic in answer.topics {
            for listed in topic.partitions {
                let key = (topic.name.clone(), listed.partition_index);
                if !listed.error_code.is_ok() {
                    reason = listed.error_code.to_string();
                    continue;
                }
                left.retain(|wanted| *wanted != key);
                let of = if bound == Bound::Start { &mut self.found.starts } else { &mut self.found.ends };
                of.insert(key, listed.offset.max(0));
            }
        }
        if !left.is_empty() {
            let due = Due { errand: Errand::Bounds(bound, left), ..due.clone() };
            self.source.refresh_metadata(now);
            self.later(now, due, &reason);
        }
    }

    fn read_ledger_on(&mut self, now: Now) {
        if self.ledger_position < self.ledger_end {
            self.errand(now, Errand::Ledger(LedgerStep::Read));
        }
    }

    /// Some partitions of each route, the first ones of it that hold anything, from where their links would start.
    pub(super) fn want_samples(&mut self, now: Now) {
        let routes = self.preview.routes.iter().filter(|route| self.ready.contains_key(&route.topic)).count();
        let each = (SAMPLES_MAX / routes.max(1)).clamp(1, SAMPLED_PARTITIONS_MAX);
        let mut wanted = Vec::new();
        for route in &self.preview.routes {
            let keys = route.starts.iter().map(|start| ((route.topic.clone(), start.partition), start.offset));
            let holding = keys.filter_map(|(key, offset)| {
                let (start, end) = (*self.found.starts.get(&key)?, *self.found.ends.get(&key)?);
                (start < end).then_some((key, offset, end))
            });
            let holding = holding.take(each);
            // Of one that is mirrored to its end there is the newest batch only.
            wanted.extend(holding.map(|(key, offset, end)| Errand::Sample(key, offset.min(end - 1), SAMPLE_BYTES)));
        }
        let all = wanted.len();
        wanted.truncate(SAMPLES_MAX);
        if wanted.len() < all {
            let text =
                format!("there are too many topics to look into all of them: records of {SAMPLES_MAX} were read");
            self.preview.notes.push(text);
        }
        for errand in wanted {
            self.errand(now, errand);
        }
    }

    fn sampled(
        &mut self,
        now: Now,
        key: &Key,
        offset: i64,
        bytes: usize,
        fetched: &FetchedPartition,
    ) -> Result<(), String> {
        ok(fetched.error_code)?;
        let records = fetched.records.clone().unwrap_or_default();
        // v2 and v3 cut an answer at the asked size, also within its first message (fact F5).
        if let Some(Ok(Entry::Partial(partial))) = split(records.clone()).next()
            && bytes == SAMPLE_BYTES
        {
            let bytes = partial.need.unwrap_or(0).clamp(SAMPLE_BYTES + 1, self.config.fetch.bytes_max);
            self.errand(now, Errand::Sample(key.clone(), offset, bytes));
            return Ok(());
        }
        let Some((route, limits)) = self.ready.get(&key.0) else { return Ok(()) };
        let start =
            self.preview.route(&key.0).and_then(|route| route.starts.iter().find(|start| start.partition == key.1));
        let bench = Bench {
            config: &self.config,
            route,
            target: self.abilities(),
            limits: *limits,
            topic: &key.0,
            partition: key.1,
            from: start.map_or(offset, |start| start.offset),
            now_ms: now.unix_ms,
        };
        let aborted = Aborted::new(fetched.aborted_transactions.as_deref());
        let mut judged = self.judged.remove(&key.0).unwrap_or_default();
        let next = judged.take(&bench, offset, &records, &aborted);
        self.judged.insert(key.0.clone(), judged);
        // The newest batch, unless this was it.
        let newest = self.found.ends.get(key).map_or(0, |end| end - 1);
        if offset < newest && next <= newest {
            self.errand(now, Errand::Sample(key.clone(), newest, SAMPLE_BYTES));
        }
        Ok(())
    }

    /// Asked again after a pause, or given up.
    fn later(&mut self, now: Now, due: Due, reason: &str) {
        if now.tick < due.since.after(PATIENCE) {
            self.todo.push_back(Due { at: now.after(PAUSE), ..due });
            let next = self.todo.iter().map(|due| due.at).filter(|at| *at > now.tick).min();
            return self.set_wake(next);
        }
        match due.errand {
            Errand::Bounds(_, keys) => {
                for (topic, partition) in keys {
                    self.obstruct(&topic, format!("partition {partition} does not say where its log ends: {reason}"));
                }
            }
            Errand::Ledger(_) => {
                let topic = topic_name(&self.config.name);
                self.preview.obstacles.push(format!("target topic {topic}: the ledger cannot be read: {reason}"));
            }
            Errand::Coordinator | Errand::Committed => {
                let group = self.config.group.clone().unwrap_or_default();
                self.preview.obstacles.push(format!(
                    "source group {group}: its committed offsets cannot be read: {reason}: grant READ on the group"
                ));
            }
            Errand::Sample((topic, partition), ..) => {
                self.obstruct(&topic, format!("partition {partition} cannot be read: {reason}"));
            }
        }
    }

    fn obstruct(&mut self, topic: &str, text: String) {
        if let Some(route) = self.preview.route_mut(topic).filter(|route| !route.obstacles.contains(&text)) {
            route.obstacles.push(text);
        }
    }
}

fn ok(code: ErrorCode) -> Result<(), String> {
    if code.is_ok() { Ok(()) } else { Err(code.to_string()) }
}

/// Older ones answer in magic 0 (fact F1).
const FETCH_VERSION_MIN: i16 = 2;

/// Questions that are out at once.
const CALLS_MAX: usize = 16;

/// How long one question is asked again.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause before it is.
const PAUSE: Duration = Duration::from_millis(200);

/// How long a broker may wait for a record of a log that was not at its end.
const WAIT_MS: i32 = 100;

/// As consumers do by default, in bytes.
const LEDGER_BYTES: i32 = 1 << 20;

/// How much of a log one sample is: a broker answers with one whole batch at least, from 0.11 on.
const SAMPLE_BYTES: usize = 64 << 10;

/// How many partitions are sampled, all in all: two answers each.
const SAMPLES_MAX: usize = 200;

/// How many of one topic.
const SAMPLED_PARTITIONS_MAX: usize = 3;
