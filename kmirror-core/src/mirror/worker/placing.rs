//! Where each link starts, in this order: its ledger entry, the group's committed offset, `auto.offset.reset`. A link that
//! was found while the mirror ran starts at its first record, whatever the policy (report B41).

use std::collections::{BTreeMap, BTreeSet};

use kmirror_proto::messages::{AnyResponse, ListOffsetsRequest, ListOffsetsResponse};

use super::{MirrorError, Stage, Worker};
use crate::client::{CallId, CallOptions, EARLIEST, LATEST, Node, Reply, list_offsets};
use crate::clock::{Now, Tick};
use crate::config::StartPolicy;
use crate::ledger::Slot;
use crate::mirror::link::{LinkId, LinkSpec, view_digest};
use crate::mirror::report::ShardCommand;
use crate::observe::{Event, StopReason};
use crate::offset::SourceOffset;
use crate::produce::Tenancy;

/// What is known about the source's logs, of links that are not opened yet.
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// Links that are not opened yet, and may be.
    placing: BTreeSet<LinkId>,
    /// (topic, partition) → the group's committed offset.
    committed: BTreeMap<(String, i32), i64>,
    /// Links whose committed offset, or that there is none, is known.
    covered: BTreeSet<LinkId>,
    starts: BTreeMap<LinkId, i64>,
    ends: BTreeMap<LinkId, i64>,
    calls: BTreeMap<CallId, (Bound, Vec<LinkId>)>,
    /// Links that are in one of the calls.
    asked: BTreeSet<(Bound, LinkId)>,
    retry_at: Option<Tick>,
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

    /// These links' committed offsets are known.
    pub(super) fn add_committed(&mut self, links: Vec<LinkId>, committed: BTreeMap<(String, i32), i64>) {
        self.covered.extend(links);
        self.committed.extend(committed);
    }

    /// The link is to be opened.
    pub(super) fn add(&mut self, id: LinkId) {
        self.placing.insert(id);
    }

    /// The link is opened, or no longer wanted.
    pub(super) fn forget(&mut self, id: LinkId) {
        self.placing.remove(&id);
        self.starts.remove(&id);
        self.ends.remove(&id);
        self.covered.remove(&id);
    }

    fn known(&self, bound: Bound) -> &BTreeMap<LinkId, i64> {
        match bound {
            Bound::Start => &self.starts,
            Bound::End => &self.ends,
        }
    }
}

impl Worker {
    /// The ledger is read.
    pub(super) fn ledger_ready(&mut self, now: Now) {
        if self.phase != super::Phase::Ledger {
            return;
        }
        self.is_new = self.store.ledger().is_new();
        self.phase = super::Phase::Running;
        self.advance(now);
    }

    /// Asks for whatever is still unknown about links that are not opened yet, and opens those of which nothing is.
    pub(super) fn place(&mut self, now: Now) {
        if self.is_ending() || self.positions.retry_at.is_some_and(|at| at > now.tick) {
            return;
        }
        self.positions.retry_at = None;
        if self.positions.placing.is_empty() {
            return;
        }
        let placing: Vec<LinkId> = self.positions.placing.iter().copied().collect();
        // Where a link starts that has a checkpoint, or was found later, the group has no say in.
        let uncovered = placing.iter().copied().filter(|id| self.asks_group(*id));
        let uncovered: Vec<LinkId> = uncovered.collect();
        if !uncovered.is_empty() {
            self.ask_committed(now, uncovered);
        }
        for bound in [Bound::Start, Bound::End] {
            self.ask_bounds(now, bound, &placing);
        }
        let bounded = |id: &LinkId| self.positions.starts.contains_key(id) && self.positions.ends.contains_key(id);
        let known: Vec<LinkId> = placing.into_iter().filter(|id| bounded(id) && !self.asks_group(*id)).collect();
        let mut ready = Vec::new();
        for id in known {
            if self.is_stored(id) && self.has_start(id) {
                ready.push(id);
            }
        }
        if ready.is_empty() {
            return;
        }
        if self.group.as_ref().is_none_or(super::group::Group::is_probed) {
            self.open_links(now, &ready);
        } else {
            self.probe(now);
        }
    }

    /// Whether a link's start depends on what its group has committed, and that is not known.
    pub(super) fn asks_group(&self, id: LinkId) -> bool {
        let Some(tracked) = self.links.get(&id) else { return false };
        self.group.is_some() && tracked.first && tracked.checkpoint.is_none() && !self.positions.covered.contains(&id)
    }

    /// Whether the ledger has what it has to have before a link is opened, and a producer id for it.
    fn is_stored(&mut self, id: LinkId) -> bool {
        let Some(tracked) = self.links.get(&id) else { return false };
        let (topic, partition) = (tracked.name.topic.clone(), tracked.name.partition);
        if tracked.tenancy == Tenancy::Shared && self.producer_id(id).is_none() {
            self.store.want_id(Slot::Shared(partition));
            return false;
        }
        self.links.get(&id).is_some_and(|tracked| tracked.waits.is_empty()) && self.is_route_stored(&topic)
    }

    /// The id that a link writes with: the one that it wrote with before, or its slot's.
    fn producer_id(&self, id: LinkId) -> Option<i64> {
        let tracked = self.links.get(&id)?;
        let before = tracked.checkpoint.and_then(|checkpoint| checkpoint.producing()).map(|producing| producing.id);
        let slot = match tracked.tenancy {
            Tenancy::Exclusive => Slot::Exclusive,
            Tenancy::Shared => Slot::Shared(tracked.name.partition),
        };
        match tracked.tenancy {
            Tenancy::Exclusive => self.store.ledger().id(slot),
            Tenancy::Shared => before.or_else(|| self.store.ledger().id(slot)),
        }
    }

    fn has_start(&mut self, id: LinkId) -> bool {
        if self.links.get(&id).is_some_and(|tracked| tracked.start.is_some()) {
            return true;
        }
        let start = self.start_of(id);
        if let Some(tracked) = self.links.get_mut(&id) {
            tracked.start = start;
        }
        start.is_some()
    }

    fn ask_bounds(&mut self, now: Now, bound: Bound, placing: &[LinkId]) {
        let mut by_leader: BTreeMap<i32, Vec<LinkId>> = BTreeMap::new();
        let mut leaderless = false;
        let metadata = self.source.metadata();
        for id in placing {
            let Some(tracked) = self.links.get(id) else { continue };
            if self.positions.known(bound).contains_key(id) || self.positions.asked.contains(&(bound, *id)) {
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
            self.positions.asked.extend(links.iter().map(|id| (bound, *id)));
            self.positions.calls.insert(call, (bound, links));
        }
        if leaderless {
            self.source.refresh_metadata(now);
            self.retry_positions(now);
        }
    }

    fn bounds_request(&self, bound: Bound, links: &[LinkId]) -> ListOffsetsRequest {
        let timestamp = match bound {
            Bound::Start => EARLIEST,
            Bound::End => LATEST,
        };
        let names = links.iter().filter_map(|id| self.links.get(id)).map(|tracked| &tracked.name);
        // With read_committed the end is the last stable offset: a link cannot get past an open transaction.
        list_offsets(names.map(|name| (&*name.topic, name.partition)), timestamp, self.config.fetch.isolation.level())
    }

    pub(super) fn handle_positions_reply(&mut self, now: Now, reply: Reply) {
        let Some((bound, links)) = self.positions.calls.remove(&reply.call) else { return };
        for id in &links {
            self.positions.asked.remove(&(bound, *id));
        }
        let mut missing: BTreeSet<LinkId> = links.iter().copied().filter(|id| self.links.contains_key(id)).collect();
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

    fn open_links(&mut self, now: Now, ready: &[LinkId]) {
        let mut specs: BTreeMap<usize, Vec<LinkSpec>> = BTreeMap::new();
        for id in ready {
            let Some(spec) = self.spec(*id) else { continue };
            self.positions.forget(*id);
            let Some(tracked) = self.links.get_mut(id) else { continue };
            tracked.stage = Stage::Open;
            specs.entry(tracked.shard).or_default().push(spec);
        }
        if !std::mem::replace(&mut self.opened, true) {
            self.checkpoint_at = Some(now.after(self.config.checkpoint_interval));
        }
        for (shard, specs) in specs {
            self.tell(shard, ShardCommand::Open(specs));
        }
    }

    fn spec(&self, id: LinkId) -> Option<LinkSpec> {
        let tracked = self.links.get(&id)?;
        let route = self.routes.get(&*tracked.name.topic)?;
        let (topic, partition) = (&tracked.name.topic, tracked.name.partition);
        Some(LinkSpec {
            id,
            name: tracked.name.clone(),
            config: route.config.clone(),
            limits: route.ready.map_or_else(Default::default, |(_, limits)| limits),
            tenancy: tracked.tenancy,
            view: view_digest(&route.config.filters, self.config.fetch.isolation),
            left_out: tracked.left_out.clone(),
            start: tracked.start?,
            checkpoint: tracked.checkpoint,
            producer_id: self.producer_id(id),
            epoch: self.store.ledger().epoch(topic, partition),
            until: SourceOffset(self.positions.ends.get(&id).copied().unwrap_or(0)),
        })
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
        if !tracked.first {
            return Some(SourceOffset(start));
        }
        let committed = self.positions.committed.get(&key).copied();
        let by_policy = match self.config.start.in_run(self.is_new) {
            StartPolicy::Latest => Some(end),
            StartPolicy::Earliest => Some(start),
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
