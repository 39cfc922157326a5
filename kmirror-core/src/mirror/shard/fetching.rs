//! Reading: one fetch at a time per source broker, with every link of that broker that has room in its lane.

use std::collections::{BTreeMap, BTreeSet};

use kmirror_proto::ApiKey;
use kmirror_proto::error_code::ErrorCode;
use kmirror_proto::messages::{FetchRequest, FetchResponse, FetchTopic, FetchedPartition, ListOffsetsResponse};

use super::{Shard, expect_response};
use crate::client::{ByTopic, CallId, CallOptions, EARLIEST, Node, Reply, fetch_partition, list_offsets};
use crate::clock::{Now, Tick};
use crate::config::Isolation;
use crate::fetch::Aborted;
use crate::limits;
use crate::mirror::link::{Link, LinkId, State};
use crate::observe::StopReason;
use crate::offset::SourceOffset;

/// What the shard knows about its fetches.
#[derive(Debug)]
pub(super) struct Fetching {
    /// Source broker → links whose partition it leads.
    by_leader: BTreeMap<i32, Vec<LinkId>>,
    /// The leaders changed: group again.
    stale: bool,
    /// The fetch that is out, per broker.
    flights: BTreeMap<i32, FetchFlight>,
    /// Questions about a source log's bounds.
    bounds: BTreeMap<CallId, LinkId>,
    /// Until when which link is not asked for.
    holds: BTreeSet<(Tick, LinkId)>,
    /// Bytes of the memory budget, and those that are taken by lanes and by answers to come.
    memory: usize,
    held: usize,
    reserved: usize,
}

#[derive(Debug)]
struct FetchFlight {
    call: CallId,
    /// From which offset on.
    asked: BTreeMap<LinkId, i64>,
    reserved: usize,
}

impl Fetching {
    pub(super) fn new(memory: usize) -> Self {
        Self {
            by_leader: BTreeMap::new(),
            stale: true,
            flights: BTreeMap::new(),
            bounds: BTreeMap::new(),
            holds: BTreeSet::new(),
            memory,
            held: 0,
            reserved: 0,
        }
    }

    /// The leaders or the links changed.
    pub(super) fn regroup(&mut self) {
        self.stale = true;
    }

    /// Bytes of a lane were acknowledged or dropped.
    pub(super) fn release(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// When a link that is held back may be asked for again.
    pub(super) fn held_until(&self) -> Option<Tick> {
        self.holds.first().map(|(at, _)| *at)
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> (usize, usize) {
        (self.held, self.reserved)
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// How much of the budget the next answer may fill; `None` if it has to wait for acknowledgements. An idle shard
    /// always reads: one oversize batch must not stop it for ever.
    fn room(&self, wanted: usize, least: usize) -> Option<usize> {
        let used = self.held + self.reserved;
        let free = self.memory.saturating_sub(used);
        if free >= least || used == 0 { Some(wanted.min(free.max(least))) } else { None }
    }
}

impl Shard {
    /// Sends what can be fetched now.
    pub(super) fn fetch(&mut self, now: Now) {
        while self.fetching.held_until().is_some_and(|at| at <= now.tick) {
            self.fetching.holds.pop_first();
        }
        if self.fetching.stale {
            self.group_by_leader(now);
        }
        let idle: Vec<i32> =
            self.fetching.by_leader.keys().filter(|node| !self.fetching.flights.contains_key(node)).copied().collect();
        for node in idle {
            self.fetch_from(now, node);
        }
    }

    fn group_by_leader(&mut self, now: Now) {
        self.fetching.stale = false;
        let mut groups: BTreeMap<i32, Vec<LinkId>> = BTreeMap::new();
        let metadata = self.source.metadata();
        let mut leaderless = false;
        for (id, link) in &self.links {
            match metadata.leader(&link.name.topic, link.name.partition) {
                Some(node) => groups.entry(node).or_default().push(*id),
                None => leaderless = true,
            }
        }
        self.fetching.by_leader = groups;
        if leaderless {
            self.source.refresh_metadata(now);
        }
    }

    fn fetch_from(&mut self, now: Now, node: i32) {
        let lane_bytes = self.config.fetch.partition_bytes_max.saturating_mul(limits::LANE_FETCHES_MAX);
        let least = self.config.fetch.partition_bytes_max;
        let Some(room) = self.fetching.room(self.config.fetch.bytes_max, least) else { return };
        let Some(ids) = self.fetching.by_leader.get_mut(&node) else { return };
        // The broker fills the answer in the order of the request: the one that was first is last next time.
        if !ids.is_empty() {
            ids.rotate_left(1);
        }
        let mut held_back = false;
        // Fetch v2 has no limit for the answer as a whole: there the partitions' own have to add up to it.
        let limited = self.source.versions(node).is_some_and(|versions| versions.reaches(ApiKey::FETCH, 3));
        let mut bytes = 0_usize;
        let mut asked = BTreeMap::new();
        let mut grouped = ByTopic::new();
        for id in ids.iter() {
            let Some(link) = self.links.get_mut(id) else { continue };
            let Some(next) = link.reads_at() else { continue };
            if link.fetch_not_before > now.tick {
                continue;
            }
            if link.lane.queued_bytes() >= lane_bytes {
                held_back = true;
                continue;
            }
            bytes = bytes.saturating_add(usize::try_from(link.cursor.bytes()).unwrap_or(usize::MAX));
            if !limited && bytes > room && !asked.is_empty() {
                break;
            }
            asked.insert(*id, next.0);
            let partition = fetch_partition(link.name.partition, next.0, link.cursor.bytes());
            grouped.push(&link.name.topic, partition);
        }
        if asked.is_empty() {
            return;
        }
        let wait = if held_back { limits::FETCH_WAIT_HELD } else { self.config.fetch.wait_max };
        let fetch = FetchRequest {
            max_wait_ms: i32::try_from(wait.as_millis()).unwrap_or(i32::MAX),
            min_bytes: i32::try_from(self.config.fetch.bytes_min).unwrap_or(1),
            max_bytes: i32::try_from(room).unwrap_or(i32::MAX),
            isolation_level: self.config.fetch.isolation.level(),
            topics: grouped.into_topics(|name, partitions| FetchTopic { name, partitions, ..FetchTopic::default() }),
            ..FetchRequest::default()
        };
        let timeout = self.config.source.request_timeout.saturating_add(wait);
        // Fetch v0 and v1 answer in magic 0: timestamps would be lost (fact F1). Every broker from 0.10 on has v2.
        let options = CallOptions { min_version: 2, max_version: i16::MAX, timeout, on: None };
        let call = self.source.call(now, Node::Id(node), fetch.into(), options);
        self.fetching.reserved += room;
        self.fetching.flights.insert(node, FetchFlight { call, asked, reserved: room });
    }

    /// Takes a reply of the source: a fetch, or a log's bounds.
    pub(super) fn handle_fetched(&mut self, now: Now, reply: Reply) {
        if let Some(link) = self.fetching.bounds.remove(&reply.call) {
            return self.handle_bounds(now, link, reply);
        }
        let Some(node) =
            self.fetching.flights.iter().find(|(_, flight)| flight.call == reply.call).map(|(node, _)| *node)
        else {
            return;
        };
        let Some(flight) = self.fetching.flights.remove(&node) else { return };
        self.fetching.reserved = self.fetching.reserved.saturating_sub(flight.reserved);
        let version = reply.version;
        match expect_response!(reply, Fetch) {
            Ok(response) => self.take_answer(now, &flight, version, response),
            Err(_) => {
                // The client's event names the broker and the reason; its links try again, at a new leader if need be.
                for id in flight.asked.into_keys() {
                    self.hold(now, id);
                }
                self.source.refresh_metadata(now);
            }
        }
    }

    fn take_answer(&mut self, now: Now, flight: &FetchFlight, version: i16, response: FetchResponse) {
        if !response.error_code.is_ok() {
            for id in flight.asked.keys() {
                self.hold(now, *id);
            }
            return;
        }
        // Since KIP-74 the first partition that has anything gets at least one batch: none has, if none got one.
        let records =
            response.topics.iter().flat_map(|topic| &topic.partitions).filter_map(|fetched| fetched.records.as_ref());
        let size: usize = records.map(bytes::Bytes::len).sum();
        let barren = size == 0;
        for topic in response.topics {
            for mut fetched in topic.partitions {
                fetched.records = fetched.records.map(|records| apart_from(size, records));
                let id = self.by_name.get(topic.name.as_str()).and_then(|of| of.get(&fetched.partition_index)).copied();
                // What was not asked for, or is no longer wanted, is not looked at.
                let Some(id) = id else { continue };
                let Some(offset) = flight.asked.get(&id) else { continue };
                let current = self.links.get(&id).and_then(Link::reads_at);
                if current == Some(SourceOffset(*offset)) {
                    // Without the last stable offset an open transaction looks like an end (fact F8); before v4 there
                    // are none.
                    let committed_only = version >= 4 && self.config.fetch.isolation == Isolation::ReadCommitted;
                    let barren = barren && (!committed_only || fetched.last_stable_offset >= 0);
                    self.take_partition(now, id, fetched, barren);
                }
            }
        }
    }

    fn take_partition(&mut self, now: Now, id: LinkId, fetched: FetchedPartition, barren: bool) {
        match fetched.error_code {
            ErrorCode::NONE => {}
            ErrorCode::OFFSET_OUT_OF_RANGE => return self.ask_bounds(now, id),
            code if code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR => {
                self.hold(now, id);
                self.source.refresh_metadata(now);
                self.fetching.regroup();
                return;
            }
            code => return self.stop_behind(now, id, StopReason::SourceRefuses(code)),
        }
        let Some(link) = self.links.get_mut(&id) else { return };
        // With read_committed a link is at the end when it is at the last stable offset; 2.0 does not say it (fact F8).
        let end = match self.config.fetch.isolation {
            Isolation::ReadCommitted if fetched.last_stable_offset >= 0 => fetched.last_stable_offset,
            Isolation::ReadCommitted | Isolation::ReadUncommitted => fetched.high_watermark,
        };
        if link.source_end != Some(SourceOffset(end)) {
            link.source_end = Some(SourceOffset(end));
            self.mark(now, id);
        }
        let Some(link) = self.links.get_mut(&id) else { return };
        let records = fetched.records.unwrap_or_default();
        if records.is_empty() {
            link.fetch_backoff.reset();
            if barren {
                self.nothing_up_to(now, id, SourceOffset(end));
            }
            return self.nothing_more(now, id, fetched.high_watermark);
        }
        let aborted = match self.config.fetch.isolation {
            Isolation::ReadCommitted => Aborted::new(fetched.aborted_transactions.as_deref()).and_of(&records),
            Isolation::ReadUncommitted => Aborted::default(),
        };
        match self.links.get(&id).map(|link| &link.state) {
            Some(State::Walking(_)) => self.walk(now, id, records, aborted),
            Some(State::Running) => self.plan(now, id, records, aborted),
            _ => {}
        }
    }

    /// The source goes on up to `end`, but has no records behind the cursor: compaction took its tail.
    fn nothing_up_to(&mut self, now: Now, id: LinkId, end: SourceOffset) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let vacant = Some((link.cursor.next, end)).filter(|(from, to)| from < to);
        if link.vacant != vacant {
            link.vacant = vacant;
            self.mark(now, id);
        }
    }

    /// The source has nothing behind the cursor. A walk that is not done then never will be: the target holds more than
    /// the source ever had (rule P13).
    fn nothing_more(&mut self, now: Now, id: LinkId, high_watermark: i64) {
        let Some(link) = self.links.get(&id) else { return };
        let State::Walking(walk) = link.state else { return };
        if high_watermark <= link.cursor.next.0 {
            let reason = StopReason::MoreThanSource {
                source_end: link.cursor.next,
                written: walk.total,
                found: walk.total - walk.left,
            };
            self.stop_link(now, id, reason);
        }
    }

    /// The link tries again a little later.
    pub(super) fn hold(&mut self, now: Now, id: LinkId) {
        if let Some(link) = self.links.get_mut(&id) {
            link.fetch_not_before = now.after(link.fetch_backoff.next());
            self.fetching.holds.insert((link.fetch_not_before, id));
        }
    }

    /// The source does not have the wanted offset: what does it have?
    fn ask_bounds(&mut self, now: Now, id: LinkId) {
        self.hold(now, id);
        let Some(link) = self.links.get(&id) else { return };
        let Some(node) = self.source.metadata().leader(&link.name.topic, link.name.partition) else { return };
        let list = list_offsets([(&*link.name.topic, link.name.partition)], EARLIEST, 0);
        let timeout = self.config.source.request_timeout;
        let options = CallOptions { min_version: 0, max_version: i16::MAX, timeout, on: None };
        let call = self.source.call(now, Node::Id(node), list.into(), options);
        self.fetching.bounds.insert(call, id);
    }

    fn handle_bounds(&mut self, now: Now, id: LinkId, reply: Reply) {
        let Ok(response) = expect_response!(reply, ListOffsets) else { return };
        let Some(start) = first_offset(&response) else { return };
        let Some(link) = self.links.get(&id) else { return };
        let Some(wanted) = link.reads_at() else { return };
        let reason = if start > wanted.0 {
            StopReason::SourceGone { wanted, log_start: SourceOffset(start) }
        } else {
            let log_end = link.source_end.filter(|end| *end < wanted).unwrap_or(SourceOffset(start));
            StopReason::SourceTruncated { wanted, log_end }
        };
        self.stop_behind(now, id, reason);
    }
}

fn first_offset(response: &ListOffsetsResponse) -> Option<i64> {
    let listed = response.topics.first()?.partitions.first()?;
    listed.error_code.is_ok().then_some(listed.offset)
}

/// A slice keeps the whole answer in memory for as long as it waits in its lane. Where it is a small part of it, it is
/// copied, so that a slow link does not hold on to what others have long written.
fn apart_from(answer_bytes: usize, records: bytes::Bytes) -> bytes::Bytes {
    if records.len() < answer_bytes / limits::PINNED_SHARE_MIN {
        bytes::Bytes::copy_from_slice(&records)
    } else {
        records
    }
}
