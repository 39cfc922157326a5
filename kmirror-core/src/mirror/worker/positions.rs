//! Where each link starts, in this order: its ledger entry, the group's committed offset, `auto.offset.reset`.

use std::collections::{BTreeMap, BTreeSet};

use kmirror_proto::messages::{
    AnyResponse, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};

use super::{MirrorError, Phase, Worker};
use crate::client::{ByTopic, CallId, CallOptions, Node, Reply};
use crate::clock::{Now, Tick};
use crate::config::{Isolation, StartPolicy};
use crate::ledger::Checkpoint;
use crate::mirror::link::{LinkId, LinkSpec};
use crate::mirror::report::ShardCommand;
use crate::observe::{Event, StopReason};
use crate::offset::SourceOffset;

/// What is known about the source's logs.
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// (topic, partition) → the group's committed offset.
    committed: Option<BTreeMap<(String, i32), i64>>,
    starts: BTreeMap<LinkId, i64>,
    ends: BTreeMap<LinkId, i64>,
    calls: BTreeMap<CallId, (Bound, Vec<LinkId>)>,
    retry_at: Option<Tick>,
    /// Where each link starts, per shard, while the group is probed.
    specs: Option<BTreeMap<usize, Vec<LinkSpec>>>,
}

/// Which end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Start,
    End,
}

impl Positions {
    pub(super) fn retry_at(&self) -> Option<Tick> {
        self.retry_at
    }

    /// The group's committed offsets are known.
    pub(super) fn set_committed(&mut self, committed: BTreeMap<(String, i32), i64>) {
        self.committed = Some(committed);
    }

    /// Whether the group's committed offsets are known.
    pub(super) fn is_committed_known(&self) -> bool {
        self.committed.is_some()
    }

    fn known(&self, bound: Bound) -> &BTreeMap<LinkId, i64> {
        match bound {
            Bound::Start => &self.starts,
            Bound::End => &self.ends,
        }
    }

    fn is_asked(&self, bound: Bound, id: LinkId) -> bool {
        self.calls.values().any(|(asked, links)| *asked == bound && links.contains(&id))
    }
}

impl Worker {
    /// The ledger is read: every link has its checkpoint or has none.
    pub(super) fn ledger_ready(&mut self, now: Now) {
        if self.phase != Phase::Ledger {
            return;
        }
        let ids: Vec<LinkId> = self.links.keys().copied().collect();
        for id in ids {
            self.take_checkpoint(now, id);
        }
        self.phase = Phase::Positions;
        if self.group.is_none() {
            self.positions.set_committed(BTreeMap::new());
        }
        self.advance(now);
    }

    /// Takes what the ledger says of a link. That its last writer left nothing behind holds until somebody writes again:
    /// this is taken back, in the ledger, before the link is opened. Else a crash would leave the old word standing, and
    /// the next start would not wait for what may still be under way.
    fn take_checkpoint(&mut self, now: Now, id: LinkId) {
        let Some(tracked) = self.links.get_mut(&id) else { return };
        tracked.checkpoint = self.store.ledger().furthest(&tracked.name.topic, tracked.name.partition);
        if let Some(checkpoint) = tracked.checkpoint.filter(|checkpoint| checkpoint.drained) {
            let claimed = Checkpoint { drained: false, written_ms: now.unix_ms, ..checkpoint };
            self.tell_ledger(id, claimed);
        }
    }

    /// Asks for whatever is still unknown, and opens the links once nothing is.
    pub(super) fn position(&mut self, now: Now) {
        self.store.advance(now, &mut self.target);
        if self.positions.retry_at.is_some_and(|at| at > now.tick) {
            return;
        }
        self.positions.retry_at = None;
        if self.positions.committed.is_none() {
            self.ask_committed(now);
        }
        for bound in [Bound::Start, Bound::End] {
            self.ask_bounds(now, bound);
        }
        let links = self.links.len();
        let known = self.positions.starts.len() == links && self.positions.ends.len() == links;
        if known && self.positions.committed.is_some() && self.store.is_idle() {
            let specs = self.positions.specs.take().unwrap_or_else(|| self.place_links());
            if self.group.as_ref().is_none_or(super::group::Group::is_probed) {
                self.open_links(now, specs);
            } else {
                self.positions.specs = Some(specs);
                self.probe(now);
            }
        }
    }

    fn ask_bounds(&mut self, now: Now, bound: Bound) {
        let mut by_leader: BTreeMap<i32, Vec<LinkId>> = BTreeMap::new();
        let mut leaderless = false;
        let metadata = self.source.metadata();
        for (id, tracked) in &self.links {
            if self.positions.known(bound).contains_key(id) || self.positions.is_asked(bound, *id) {
                continue;
            }
            match metadata.leader(&tracked.name.topic, tracked.name.partition) {
                Some(leader) => by_leader.entry(leader).or_default().push(*id),
                None => leaderless = true,
            }
        }
        for (leader, links) in by_leader {
            let request = self.bounds_request(bound, &links);
            let options = CallOptions::within(self.config.source.request_timeout);
            let call = self.source.call(now, Node::Id(leader), request.into(), options);
            self.positions.calls.insert(call, (bound, links));
        }
        if leaderless {
            self.source.refresh_metadata(now);
            self.retry_positions(now);
        }
    }

    fn bounds_request(&self, bound: Bound, links: &[LinkId]) -> ListOffsetsRequest {
        let timestamp = match bound {
            Bound::Start => -2,
            Bound::End => -1,
        };
        let mut grouped = ByTopic::new();
        for name in links.iter().filter_map(|id| self.links.get(id)).map(|tracked| &tracked.name) {
            let partition =
                ListOffsetsPartition { partition_index: name.partition, current_leader_epoch: -1, timestamp };
            grouped.push(&name.topic, partition);
        }
        let topics = grouped.into_topics(|name, partitions| ListOffsetsTopic { name, partitions });
        // With read_committed the end is the last stable offset: a link cannot get past an open transaction.
        let isolation_level = match self.config.fetch.isolation {
            Isolation::ReadCommitted => 1,
            Isolation::ReadUncommitted => 0,
        };
        ListOffsetsRequest { isolation_level, topics }
    }

    pub(super) fn handle_positions_reply(&mut self, now: Now, reply: Reply) {
        let Some((bound, links)) = self.positions.calls.remove(&reply.call) else { return };
        let mut missing: BTreeSet<LinkId> = links.iter().copied().collect();
        if let Ok(AnyResponse::ListOffsets(response)) = reply.outcome {
            for id in links {
                let Some(offset) = self.offset_of(id, &response) else { continue };
                missing.remove(&id);
                match bound {
                    Bound::Start => self.positions.starts.insert(id, offset),
                    Bound::End => self.positions.ends.insert(id, offset),
                };
            }
        }
        if !missing.is_empty() {
            self.source.refresh_metadata(now);
            self.retry_positions(now);
        }
    }

    fn offset_of(&self, id: LinkId, response: &ListOffsetsResponse) -> Option<i64> {
        let name = &self.links.get(&id)?.name;
        let topic = response.topics.iter().find(|topic| *topic.name == *name.topic)?;
        let listed = topic.partitions.iter().find(|listed| listed.partition_index == name.partition)?;
        listed.error_code.is_ok().then_some(listed.offset.max(0))
    }

    pub(super) fn retry_positions(&mut self, now: Now) {
        self.positions.retry_at = Some(now.after(self.config.source.retry_backoff));
    }

    /// Decides where each link starts.
    fn place_links(&mut self) -> BTreeMap<usize, Vec<LinkSpec>> {
        let mut specs: BTreeMap<usize, Vec<LinkSpec>> = BTreeMap::new();
        let ids: Vec<LinkId> = self.links.keys().copied().collect();
        for id in ids {
            let Some(start) = self.start_of(id) else { continue };
            let Some(tracked) = self.links.get_mut(&id) else { continue };
            tracked.start = Some(start);
            let until = self.positions.ends.get(&id).copied().unwrap_or(0);
            let spec = LinkSpec {
                id,
                name: tracked.name.clone(),
                start,
                checkpoint: tracked.checkpoint,
                producer_id: self.store.ledger().id(crate::ledger::Slot::Exclusive),
                epoch: self.store.ledger().epoch(&tracked.name.topic, tracked.name.partition),
                until: SourceOffset(until),
            };
            specs.entry(tracked.shard).or_default().push(spec);
        }
        specs
    }

    fn open_links(&mut self, now: Now, specs: BTreeMap<usize, Vec<LinkSpec>>) {
        self.phase = Phase::Running;
        self.undrained = specs.keys().copied().collect();
        for (shard, specs) in specs {
            self.tell(shard, ShardCommand::Open(specs));
        }
        self.checkpoint_at = Some(now.after(self.config.checkpoint_interval));
        self.keep_up(now);
    }

    /// Where a link starts that has no checkpoint; `None` if it cannot.
    fn start_of(&mut self, id: LinkId) -> Option<SourceOffset> {
        let tracked = self.links.get(&id)?;
        if let Some(checkpoint) = tracked.checkpoint {
            return Some(checkpoint.source_next());
        }
        let start = self.positions.starts.get(&id).copied().unwrap_or(0);
        let end = self.positions.ends.get(&id).copied().unwrap_or(0);
        let key = (tracked.name.topic.to_string(), tracked.name.partition);
        let committed = self.positions.committed.as_ref().and_then(|committed| committed.get(&key)).copied();
        let by_policy = match self.config.start {
            StartPolicy::Earliest => Some(start),
            StartPolicy::Latest => Some(end),
            StartPolicy::None => None,
        };
        let link = tracked.name.to_string();
        match (committed, by_policy) {
            (Some(committed), _) if (start..=end).contains(&committed) => Some(SourceOffset(committed)),
            (committed, Some(chosen)) => {
                if let Some(committed) = committed {
                    self.event(Event::CommittedOutOfRange {
                        link,
                        committed: SourceOffset(committed),
                        log: (SourceOffset(start), SourceOffset(end)),
                        start: SourceOffset(chosen),
                    });
                }
                Some(SourceOffset(chosen))
            }
            (_, None) => {
                self.link_stopped(id, StopReason::NoPosition);
                None
            }
        }
    }

    /// The group's offsets cannot be read.
    pub(super) fn committed_unknown(&mut self, now: Now, group: String, reason: String) {
        self.fail(now, MirrorError::Group { group, reason });
    }
}
