//! Writing: per target broker, the lanes that have something to send share requests; each answer is audited.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kmirror_proto::error_code::ErrorCode;
use kmirror_proto::messages::{ProducePartition, ProduceRequest, ProduceTopic, ProducedPartition, RecordChunks};

use super::{Shard, expect_response};
use crate::client::{ByTopic, CallError, CallId, CallOptions, ConnId, Node, Reply};
use crate::clock::{Now, Tick};
use crate::config::{Coalesce, LossPolicy, Policies};
use crate::limits;
use crate::mirror::link::{Link, LinkId, LinkName, State};
use crate::mirror::report::{Omitted, ShardReport};
use crate::observe::{StopReason, advice};
use crate::offset::TargetOffset;
use crate::plan::{Magic, TopicLimits, joined_bytes_max};
use crate::produce::{Audit, Joining, Verdict, Window, audit};
use crate::resume::horizon_ms;

/// What the shard knows about its writes.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// Target broker → links that may have something to send.
    ready: BTreeMap<i32, BTreeSet<LinkId>>,
    /// Target broker → the link that was served last.
    last: BTreeMap<i32, LinkId>,
    flights: BTreeMap<CallId, ProduceFlight>,
    /// Requests that are out, per broker.
    out: BTreeMap<i32, usize>,
}

#[derive(Debug)]
struct ProduceFlight {
    node: i32,
    /// Target topic and partition → the link whose answer is due.
    links: BTreeMap<Arc<str>, BTreeMap<i32, LinkId>>,
}

impl Writing {
    /// A link may have something to send.
    pub(super) fn wake(&mut self, id: LinkId, links: &BTreeMap<LinkId, Link>) {
        let Some(link) = links.get(&id) else { return };
        let Some(route) = link.route else { return };
        if matches!(link.state, State::Running) && link.lane.is_ready() {
            self.ready.entry(route.node).or_default().insert(id);
        }
    }

    /// A link has nothing to send any more.
    pub(super) fn forget(&mut self, id: LinkId) {
        for links in self.ready.values_mut() {
            links.remove(&id);
        }
    }
}

/// A request that is being filled. All its lanes were placed over one connection, and take one format.
struct Filling {
    conn: ConnId,
    magic: Magic,
    partitions: ByTopic<ProducePartition>,
    links: BTreeMap<Arc<str>, BTreeMap<i32, LinkId>>,
    bytes: usize,
}

impl Filling {
    /// Whether it holds a batch of that target partition: a request takes one of each (fact R4).
    fn has(&self, name: &LinkName) -> bool {
        self.links.get(&name.target_topic).is_some_and(|partitions| partitions.contains_key(&name.target_partition))
    }
}

impl Shard {
    /// Sends what can be sent now.
    pub(super) fn write(&mut self, now: Now) {
        let nodes: Vec<i32> =
            self.writing.ready.iter().filter(|(_, links)| !links.is_empty()).map(|(node, _)| *node).collect();
        for node in nodes {
            while self.writing.out.get(&node).copied().unwrap_or(0) < limits::PRODUCE_REQUESTS_IN_FLIGHT_MAX {
                if !self.write_to(now, node) {
                    break;
                }
            }
        }
    }

    /// Fills and sends one request; `false` if no lane of the broker has anything.
    fn write_to(&mut self, now: Now, node: i32) -> bool {
        let Some(filling) = self.fill(node) else { return false };
        let timeout = self.config.target.request_timeout;
        let produce = ProduceRequest {
            transactional_id: None,
            acks: -1,
            timeout_ms: i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX),
            topics: filling.partitions.into_topics(|name, partitions| ProduceTopic {
                name,
                partitions,
                ..ProduceTopic::default()
            }),
        };
        let (min_version, max_version) = match filling.magic {
            // v2 is the first that takes timestamps; v3 and later take nothing but magic 2 (fact M1).
            Magic::V1 => (2, 2),
            Magic::V2 => (3, i16::MAX),
        };
        let options = CallOptions { min_version, max_version, timeout, on: Some(filling.conn) };
        let call = self.target.call(now, Node::Id(node), produce.into(), options);
        for id in filling.links.values().flat_map(BTreeMap::values) {
            if let Some(link) = self.links.get_mut(id) {
                link.answers_due += 1;
            }
        }
        *self.writing.out.entry(node).or_default() += 1;
        self.writing.flights.insert(call, ProduceFlight { node, links: filling.links });
        true
    }

    fn fill(&mut self, node: i32) -> Option<Filling> {
        let bytes_max = self.config.produce.request_bytes_max;
        let ready = self.writing.ready.get_mut(&node)?;
        // Round robin: begin behind the one that was served last.
        let order: Vec<LinkId> = match self.writing.last.get(&node) {
            Some(last) => {
                ready.iter().filter(|id| *id > last).chain(ready.iter().filter(|id| *id <= last)).copied().collect()
            }
            None => ready.iter().copied().collect(),
        };
        let mut filling: Option<Filling> = None;
        for id in order {
            let Some(link) = self.links.get_mut(&id) else { continue };
            let Some(route) = link.route.filter(|route| route.node == node && matches!(link.state, State::Running))
            else {
                ready.remove(&id);
                continue;
            };
            if filling.as_ref().is_some_and(|filled| filled.conn != route.conn || filled.has(&link.name)) {
                continue;
            }
            let apart = link.lane.proved().source_next < link.apart_to;
            let used = filling.as_ref().map_or(0, |filled| filled.bytes);
            let room = if apart { 0 } else { bytes_max.saturating_sub(used) };
            let joins = link.config.coalesce == Coalesce::Auto && link.lane.proved().source_next >= link.joins_from;
            let joining = (joins && !apart).then(|| Joining {
                joiner: &mut self.joiner,
                bytes_max: room.min(joined_bytes_max(self.config.produce.batch_bytes_max, &link.limits)),
            });
            let Some(outgoing) = link.lane.take(room, joining) else {
                ready.remove(&id);
                continue;
            };
            let filled = filling.get_or_insert_with(|| Filling {
                conn: route.conn,
                magic: route.abilities.magic,
                partitions: ByTopic::new(),
                links: BTreeMap::new(),
                bytes: 0,
            });
            filled.bytes += outgoing.bytes;
            let index = link.name.target_partition;
            filled.links.entry(link.name.target_topic.clone()).or_default().insert(index, id);
            let partition = ProducePartition { index, records: RecordChunks(outgoing.chunks) };
            filled.partitions.push(&link.name.target_topic, partition);
            if !link.lane.is_ready() {
                ready.remove(&id);
            }
            self.writing.last.insert(node, id);
            if filled.bytes >= bytes_max {
                break;
            }
        }
        filling
    }

    /// Takes a reply to a write.
    pub(super) fn handle_produced(&mut self, now: Now, reply: Reply) {
        let Some(mut flight) = self.writing.flights.remove(&reply.call) else { return };
        if let Some(out) = self.writing.out.get_mut(&flight.node) {
            *out = out.saturating_sub(1);
        }
        for id in flight.links.values().flat_map(BTreeMap::values) {
            self.answer_came(now, *id);
        }
        let sent = reply.sent;
        let broker = self.target.describe_node(flight.node);
        let answered = expect_response!(reply, Produce);
        for topic in answered.iter().flat_map(|response| &response.topics) {
            for produced in &topic.partitions {
                let of_topic = flight.links.get_mut(topic.name.as_str());
                if let Some(id) = of_topic.and_then(|links| links.remove(&produced.index)) {
                    self.take_ack(now, id, produced, sent, &broker);
                }
            }
        }
        let unanswered: Vec<LinkId> = flight.links.into_values().flat_map(BTreeMap::into_values).collect();
        match answered {
            Ok(_) => {
                for id in unanswered {
                    let why = format!("{broker}: its answer leaves the partition out");
                    self.doubt(now, id, why, sent.or(Some(now.tick)));
                }
            }
            Err(error) => self.produce_failed(now, &unanswered, &error, sent),
        }
    }

    /// An answer that was due for a link has come, whatever it says.
    fn answer_came(&mut self, now: Now, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.answers_due = link.answers_due.saturating_sub(1);
        if let State::Doubting(until) = link.state
            && link.answers_due == 0
        {
            self.alarms.insert((until.max(now.tick), id));
        }
    }

    fn produce_failed(&mut self, now: Now, links: &[LinkId], error: &CallError, sent: Option<Tick>) {
        // NotSent: no byte left this process. Unknown: it may yet take effect.
        let unsettled = match error {
            CallError::NotSent(_) | CallError::Unsupported { .. } => None,
            CallError::Unknown(_) => Some(sent.unwrap_or(now.tick)),
        };
        for id in links {
            if let CallError::Unsupported { .. } = error {
                self.stop_link(now, *id, StopReason::NoCommonVersion(error.to_string()));
            } else {
                self.doubt(now, *id, error.to_string(), unsettled);
            }
        }
        self.target.refresh_metadata(now);
    }

    fn take_ack(&mut self, now: Now, id: LinkId, produced: &ProducedPartition, sent: Option<Tick>, broker: &str) {
        let Some(link) = self.links.get_mut(&id) else { return };
        // After a doubt the answers still due change nothing: the log will be read.
        if !matches!(link.state, State::Running) {
            return;
        }
        let expected = link.lane.expected();
        let (error, base_offset, tenancy) = (produced.error_code, produced.base_offset, link.tenancy);
        match audit(Audit { error, base_offset, expected, tenancy }) {
            Verdict::Written => self.written(now, id, TargetOffset(base_offset)),
            Verdict::Elsewhere { base_offset } => {
                if link.producer.is_none() && base_offset > expected.0 {
                    // Without stamps nothing tells whose records lie between, but that they do is certain.
                    let reason = StopReason::AppendedElsewhere { expected, found: base_offset };
                    return self.stop_link(now, id, reason);
                }
                // A duplicate's answer, say. The log tells what it is, but not for ever.
                link.out_of_sequence += 1;
                if link.out_of_sequence > OUT_OF_SEQUENCE_MAX {
                    let reason = StopReason::AppendedElsewhere { expected, found: base_offset };
                    return self.stop_link(now, id, reason);
                }
                let why = format!("{broker}: appended at offset {base_offset}, expected at {expected}");
                self.doubt(now, id, why, sent);
            }
            Verdict::Retry(code) => {
                self.target.refresh_metadata(now);
                self.doubt(now, id, format!("{broker}: {code}"), None);
            }
            Verdict::Unknown(code) => self.unclear(now, id, code, sent, broker),
            Verdict::Final(code) => self.refused(now, id, code),
        }
    }

    fn written(&mut self, now: Now, id: LinkId, base_offset: TargetOffset) {
        let in_flight_max = self.config.produce.in_flight_max;
        let Some(link) = self.links.get_mut(&id) else { return };
        let released = link.lane.acknowledge_at(base_offset);
        link.counters.records += u64::from(released.records);
        link.counters.headers_dropped += u64::from(released.headers_dropped);
        link.counters.bytes += u64::try_from(released.bytes).unwrap_or(u64::MAX);
        link.counters.batches_raw += u64::from(released.batches.raw);
        link.counters.batches_rewritten += u64::from(released.batches.rewritten);
        link.counters.batches_joined += u64::from(released.batches.joined);
        link.out_of_sequence = 0;
        link.refused = None;
        link.write_backoff.reset();
        link.lane.set_window(link.window(now, in_flight_max));
        let ending = if link.lane.is_idle() { link.ending.take() } else { None };
        self.fetching.release(released.bytes);
        self.writing.wake(id, &self.links);
        self.mark(now, id);
        if let Some(reason) = ending {
            self.stop_link(now, id, reason);
        }
    }

    /// An answer that does not say whether the batch is there.
    fn unclear(&mut self, now: Now, id: LinkId, code: ErrorCode, sent: Option<Tick>, broker: &str) {
        let about_sequences = matches!(
            code,
            ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
                | ErrorCode::UNKNOWN_PRODUCER_ID
                | ErrorCode::INVALID_PRODUCER_EPOCH
        );
        if about_sequences {
            let Some(link) = self.links.get_mut(&id) else { return };
            link.out_of_sequence += 1;
            link.refused = link.lane.alone().filter(|_| code != ErrorCode::INVALID_PRODUCER_EPOCH);
            if link.out_of_sequence > OUT_OF_SEQUENCE_MAX {
                return self.stop_link(now, id, StopReason::OutOfSequence(code));
            }
        }
        if code == ErrorCode::UNKNOWN_SERVER_ERROR {
            self.unexplained(id);
        }
        // A refused sequence was not appended; everything else may have been.
        self.doubt(now, id, format!("{broker}: {code}"), if about_sequences { None } else { sent });
        self.target.refresh_metadata(now);
    }

    /// So a broker answers in trouble of its own, and to a payload that it cannot read (fact R18). If it says so of one batch
    /// again and again, that is looked into.
    fn unexplained(&mut self, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let Some((from, to, _)) = link.lane.oldest() else { return };
        let (at, times) = link.unexplained;
        let times = if at == from { times + 1 } else { 1 };
        link.unexplained = (from, times);
        if times < UNEXPLAINED_MAX {
            return;
        }
        if link.lane.oldest_is_joined() {
            link.joins_from = to;
        } else {
            link.apart_to = to;
        }
    }

    /// The target refuses a batch for good: its records go one by one, if that can help; the one that it does not take
    /// stops the link, or is left out, as the route's policy says.
    fn refused(&mut self, now: Now, id: LinkId, code: ErrorCode) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let Some((from, to, records)) = link.lane.oldest() else { return };
        if link.lane.oldest_is_joined() {
            // Whatever it is about is told of fewer records by the batches as they came.
            link.joins_from = to;
            return self.doubt(
                now,
                id,
                format!("{code} for source offsets [{from}, {to}), joined: they go as they came"),
                None,
            );
        }
        if records > 1 && is_about_records(code) {
            link.apart_to = to;
            let why = format!("{code} for source offsets [{from}, {to}): its {records} records go one by one");
            return self.doubt(now, id, why, None);
        }
        let unknown = link.limits == TopicLimits::default() && link.keys_to < to;
        if matches!(code, ErrorCode::CORRUPT_MESSAGE | ErrorCode::INVALID_RECORD) && unknown {
            // So a compacted topic answers to a record without a key (report B20), and nothing tells of its settings: this
            // one is looked at.
            link.keys_to = to;
            return self.doubt(now, id, format!("{code} for source offset {from}: is it for want of a key?"), None);
        }
        let reason = StopReason::TargetRefuses { from, to, code };
        // What is not about these records would refuse the next ones just so.
        if !is_about_records(code) || policy(&link.config.policies, code) == LossPolicy::Refuse {
            return self.stop_link(now, id, reason);
        }
        let why = format!("the target refuses them: {code}: {}", advice(code));
        self.leave_out(now, id, vec![Omitted { from, to, records, why }]);
        self.doubt(now, id, format!("{records} records are left out"), None);
    }

    /// Records are left out for good. Nothing more is read before the ledger has it.
    pub(super) fn leave_out(&mut self, now: Now, id: LinkId, omitted: Vec<Omitted>) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.left_out.forget_below(link.lane.proved().source_next.0);
        for omitted in &omitted {
            link.left_out.add(omitted.from.0, omitted.to.0);
            link.counters.dropped += u64::from(omitted.records);
        }
        link.left_out_told += 1;
        let progress = self.progress(id);
        self.reports.extend(progress.map(|progress| ShardReport::LeftOut { progress, omitted }));
        self.mark(now, id);
    }
}

/// The policy for what a refusal is about.
fn policy(policies: &Policies, code: ErrorCode) -> LossPolicy {
    match code {
        ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => policies.too_large,
        ErrorCode::INVALID_TIMESTAMP => policies.timestamps,
        _ => policies.refused,
    }
}

impl Link {
    /// How many requests may be on their way after an acknowledgement (rule P8).
    fn window(&self, now: Now, in_flight_max: usize) -> Window {
        let Some(route) = self.route else { return Window::One };
        if self.producer.is_none() || self.unstable {
            Window::One
        } else if route.abilities.takes_unknown_ids {
            Window::WhileYoung { limit: in_flight_max, horizon_ms: horizon_ms(now) }
        } else {
            Window::Open(in_flight_max)
        }
    }
}

/// Whether a refusal may be about some of a batch's records, or their number, and not about all of them.
fn is_about_records(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::MESSAGE_TOO_LARGE
            | ErrorCode::RECORD_LIST_TOO_LARGE
            | ErrorCode::CORRUPT_MESSAGE
            | ErrorCode::INVALID_RECORD
            | ErrorCode::INVALID_TIMESTAMP
    )
}

/// So often an error without a reason is taken for the broker's own trouble.
const UNEXPLAINED_MAX: u32 = 3;

/// Resumes in a row that end in an answer about sequences before the link is stopped. With their back-off they last
/// longer than the settle time: what was appended but not yet replicated is visible by then.
const OUT_OF_SEQUENCE_MAX: u32 = 20;
