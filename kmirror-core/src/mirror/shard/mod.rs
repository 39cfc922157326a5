//! The shard: some links, one connection to each broker that they need, nothing shared.
//!
//! Call order: feed `handle_*` with what happened, then `poll_net`, `poll_report` until empty, then sleep until
//! `poll_timeout`.

mod fetching;
mod planning;
mod resuming;
mod writing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::link::{Link, LinkId, LinkSpec, State};
use super::report::{LinkProgress, ShardCommand, ShardReport};
use crate::client::{CallId, Client, ClientEvent, NetAction, NetEvent, Reply};
use crate::clock::{Now, Tick, earliest};
use crate::config::{Config, Side};
use crate::limits;
use crate::machine::Machine;
use crate::observe::{Event, StopReason};
use crate::plan::{Joiner, Rewriter};

/// Copies links. See the module's documentation for the order of calls.
pub struct Shard {
    config: Arc<Config>,
    source: Client,
    target: Client,
    links: BTreeMap<LinkId, Link>,
    /// (source topic, partition) → link.
    by_name: BTreeMap<Arc<str>, BTreeMap<i32, LinkId>>,
    fetching: fetching::Fetching,
    writing: writing::Writing,
    /// Questions about a link's place on the target.
    resuming: BTreeMap<CallId, LinkId>,
    /// When which link wants to look for its place. An entry may be out of date: the link's own state decides.
    alarms: BTreeSet<(Tick, LinkId)>,
    /// Builds batches for whichever link needs it.
    rewriter: Option<Rewriter>,
    /// Joins tiny batches for whichever link has too many.
    joiner: Joiner,
    /// Links that are to be let go.
    closing: BTreeSet<LinkId>,
    /// Links that moved since the last report.
    moved: BTreeSet<LinkId>,
    report_at: Option<Tick>,
    reports: VecDeque<ShardReport>,
    stopping: bool,
    finished: bool,
}

impl Shard {
    /// A shard without links. `seed` decides its jitter.
    #[must_use]
    pub fn new(config: Arc<Config>, seed: u64) -> Self {
        let memory = config.memory_bytes_max / config.streams.max(1);
        Self {
            source: Client::new(Side::Source, &config.source, seed),
            target: Client::new(Side::Target, &config.target, seed.wrapping_add(1)),
            links: BTreeMap::new(),
            by_name: BTreeMap::new(),
            fetching: fetching::Fetching::new(memory),
            writing: writing::Writing::default(),
            resuming: BTreeMap::new(),
            alarms: BTreeSet::new(),
            rewriter: None,
            joiner: Joiner::default(),
            closing: BTreeSet::new(),
            moved: BTreeSet::new(),
            report_at: None,
            reports: VecDeque::new(),
            stopping: false,
            finished: false,
            config,
        }
    }

    fn open(&mut self, now: Now, specs: Vec<LinkSpec>) {
        let frame_bytes_max = self.config.source.frame_bytes_max;
        for spec in specs {
            let id = spec.id;
            self.by_name.entry(spec.name.topic.clone()).or_default().insert(spec.name.partition, id);
            let mut link = Link::new(spec, &self.config.fetch, frame_bytes_max);
            if link.checkpoint.is_some_and(|checkpoint| !checkpoint.drained) {
                // Another process, or this one before a crash, may have left requests behind.
                link.may_land_until = now.after(self.config.produce.settle);
                link.unsettled = Some(link.may_land_until);
            }
            self.links.insert(id, link);
            self.alarms.insert((now.tick, id));
        }
        self.fetching.regroup();
        self.source.refresh_metadata(now);
        self.target.refresh_metadata(now);
    }

    /// Lets everything that can go on go on.
    fn advance(&mut self, now: Now) {
        if self.finished {
            return;
        }
        self.take_replies(now);
        loop {
            self.resume_links(now);
            if !self.stopping {
                self.fetch(now);
            }
            self.write(now);
            // A call over a connection that is gone is answered at once, and nothing else would tell of it.
            if !self.take_replies(now) {
                break;
            }
        }
        self.let_go();
        self.report(now);
        if self.stopping && self.is_drained() {
            self.end(now);
        }
    }

    fn close(&mut self, now: Now, links: Vec<LinkId>) {
        for id in links {
            if let Some(link) = self.links.get_mut(&id) {
                link.closing = true;
                self.closing.insert(id);
                self.mark(now, id);
            }
        }
    }

    /// Forgets the links that are to be let go, once what was read of them is written and every answer has come.
    fn let_go(&mut self) {
        let done = self.closing.iter().copied().filter(|id| self.links.get(id).is_none_or(Link::is_quiet));
        for id in done.collect::<Vec<_>>() {
            self.closing.remove(&id);
            let progress = self.progress(id);
            let Some(mut link) = self.links.remove(&id) else { continue };
            self.fetching.release(link.lane.clear());
            self.writing.forget(id);
            self.moved.remove(&id);
            if let Some(partitions) = self.by_name.get_mut(&link.name.topic) {
                partitions.retain(|_, other| *other != id);
            }
            self.by_name.retain(|_, partitions| !partitions.is_empty());
            self.fetching.regroup();
            self.reports.extend(progress.map(ShardReport::Closed));
        }
    }

    /// Takes what the clusters answered; whether there was anything.
    fn take_replies(&mut self, now: Now) -> bool {
        let mut any = false;
        loop {
            let mut idle = true;
            while let Some(reply) = self.source.poll_reply() {
                idle = false;
                self.handle_fetched(now, reply);
            }
            while let Some(reply) = self.target.poll_reply() {
                idle = false;
                self.handle_target_reply(now, reply);
            }
            while let Some(event) = self.source.poll_event() {
                self.handle_client_event(Side::Source, event);
            }
            while let Some(event) = self.target.poll_event() {
                self.handle_client_event(Side::Target, event);
            }
            if idle {
                return any;
            }
            any = true;
        }
    }

    fn handle_target_reply(&mut self, now: Now, reply: Reply) {
        if let Some(link) = self.resuming.remove(&reply.call) {
            self.handle_place(now, link, reply);
        } else {
            self.handle_produced(now, reply);
        }
    }

    fn handle_client_event(&mut self, side: Side, event: ClientEvent) {
        match event {
            ClientEvent::MetadataUpdated { .. } => {
                if side == Side::Source {
                    self.fetching.regroup();
                }
            }
            ClientEvent::Connected { node, .. } => {
                let broker = self.client(side).describe_node(node);
                self.event(Event::Connected { side, broker });
            }
            ClientEvent::Disconnected { node, reason, .. } => {
                let broker = self.client(side).describe_node(node);
                self.event(Event::Disconnected { side, broker, reason });
            }
            ClientEvent::ConnectFailed { node, reason, .. } => {
                let broker = self.client(side).describe_node(node);
                self.event(Event::Disconnected { side, broker, reason });
            }
            ClientEvent::MetadataRejected { .. } | ClientEvent::Throttled { .. } => {}
        }
    }

    fn client(&self, side: Side) -> &Client {
        match side {
            Side::Source => &self.source,
            Side::Target => &self.target,
        }
    }

    fn event(&mut self, event: Event) {
        self.reports.push_back(ShardReport::Event(event));
    }

    /// Marks a link as moved; it is in the next report.
    fn mark(&mut self, now: Now, id: LinkId) {
        self.moved.insert(id);
        if self.report_at.is_none() {
            self.report_at = Some(now.after(limits::PROGRESS_INTERVAL));
        }
    }

    fn report(&mut self, now: Now) {
        if self.report_at.is_none_or(|at| at > now.tick) && !(self.stopping && self.is_drained()) {
            return;
        }
        self.report_at = None;
        let moved = std::mem::take(&mut self.moved);
        let progress: Vec<_> = moved.into_iter().filter_map(|id| self.progress(id)).collect();
        if !progress.is_empty() {
            self.reports.push_back(ShardReport::Progress(progress));
        }
    }

    fn progress(&self, id: LinkId) -> Option<LinkProgress> {
        let link = self.links.get(&id)?;
        let metadata = self.target.metadata();
        Some(LinkProgress {
            link: id,
            state: link.link_state(),
            proved: link.placed.then(|| link.lane.proved()),
            origin: link.is_origin(),
            view: link.view,
            producer: link.producer,
            leader_epoch: metadata
                .topics
                .get(&*link.name.target_topic)
                .and_then(|topic| topic.partitions.get(&link.name.target_partition))
                .map_or(-1, |partition| partition.leader_epoch),
            drained: (self.stopping || link.closing) && link.is_drained(),
            caught_up: link.is_caught_up(),
            source_end: link.visible_end(),
            counters: link.counters,
        })
    }

    /// A link cannot go on behind what was read of it: it is stopped once all of that is written.
    fn stop_behind(&mut self, now: Now, id: LinkId, reason: StopReason) {
        match self.links.get_mut(&id) {
            Some(link) if !link.lane.is_idle() => link.ending = Some(reason),
            Some(_) | None => self.stop_link(now, id, reason),
        }
    }

    /// A link stands still for good.
    fn stop_link(&mut self, now: Now, id: LinkId, reason: StopReason) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let released = link.lane.clear();
        link.state = State::Stopped;
        link.placed = false;
        self.fetching.release(released);
        self.writing.forget(id);
        self.reports.push_back(ShardReport::Stopped { link: id, reason });
        self.mark(now, id);
    }

    fn is_drained(&self) -> bool {
        self.links.values().all(Link::is_quiet)
    }

    fn stop(&mut self, now: Now) {
        self.stopping = true;
        // Every link's last word: whether it left anything behind.
        let ids: Vec<_> = self.links.keys().copied().collect();
        for id in ids {
            self.mark(now, id);
        }
    }

    fn end(&mut self, now: Now) {
        let ids: Vec<_> = self.links.keys().copied().collect();
        self.moved.extend(ids);
        self.report_at = Some(now.tick);
        self.report(now);
        self.reports.push_back(ShardReport::Drained);
        self.abort(now);
    }

    fn abort(&mut self, now: Now) {
        self.source.close(now);
        self.target.close(now);
        self.finished = true;
    }
}

#[cfg(test)]
impl Shard {
    /// The memory budget's bytes: taken by lanes, reserved for answers to come; and what the lanes hold.
    pub(super) fn memory(&self) -> (usize, usize, usize) {
        let (held, reserved) = self.fetching.used();
        (held, reserved, self.links.values().map(|link| link.lane.held_bytes()).sum())
    }

    /// The most requests of one link that are on their way.
    pub(super) fn in_flight(&self) -> usize {
        self.links.values().map(|link| link.lane.in_flight()).max().unwrap_or(0)
    }

    /// What each link does.
    pub(super) fn states(&self) -> Vec<crate::observe::LinkState> {
        self.links.values().map(Link::link_state).collect()
    }
}

impl Machine for Shard {
    type Command = ShardCommand;
    type Report = ShardReport;

    fn handle_net(&mut self, now: Now, side: Side, event: NetEvent) {
        match side {
            Side::Source => self.source.handle_net(now, event),
            Side::Target => self.target.handle_net(now, event),
        }
        self.advance(now);
    }

    fn handle_timeout(&mut self, now: Now) {
        self.source.handle_timeout(now);
        self.target.handle_timeout(now);
        self.advance(now);
    }

    fn handle_command(&mut self, now: Now, command: ShardCommand) {
        match command {
            ShardCommand::Open(specs) => self.open(now, specs),
            ShardCommand::Stored(link, entry) => self.stored(now, link, entry),
            ShardCommand::Close(links) => self.close(now, links),
            ShardCommand::Stop => self.stop(now),
            ShardCommand::Abort => self.abort(now),
        }
        self.advance(now);
    }

    fn poll_net(&mut self) -> Option<(Side, NetAction)> {
        let source = self.source.poll_net().map(|action| (Side::Source, action));
        source.or_else(|| self.target.poll_net().map(|action| (Side::Target, action)))
    }

    fn poll_report(&mut self) -> Option<ShardReport> {
        self.reports.pop_front()
    }

    fn poll_timeout(&self) -> Option<Tick> {
        if self.finished {
            return None;
        }
        let clients = earliest(self.source.poll_timeout(), self.target.poll_timeout());
        let alarm = self.alarms.first().map(|(at, _)| *at);
        let links = earliest(alarm, self.fetching.held_until());
        earliest(earliest(clients, self.report_at), links.filter(|_| !self.stopping))
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

/// The response of a reply, if it is of the wanted kind.
macro_rules! expect_response {
    ($reply:expr, $kind:ident) => {
        match $reply.outcome {
            Ok(kmirror_proto::messages::AnyResponse::$kind(response)) => Ok(response),
            Ok(other) => Err(crate::client::CallError::Unknown(format!("an answer of another kind: {other:?}"))),
            Err(error) => Err(error),
        }
    };
}
use expect_response;
