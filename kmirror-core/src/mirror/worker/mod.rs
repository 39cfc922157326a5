//! The worker: which links there are, where they start, what the ledger and the source's group are told, and when it
//! ends.
//!
//! ```text
//! Connecting ─► Ledger ─► Running ─► Stopping ─► Closing ─► Finished
//!     │ clusters    │ read    │ routes,   │ shards      │ last checkpoints,
//!     │ answer      │         │ links     │ drain       │ group offsets
//!     └─────────────┴─────────┴── a fault that concerns the whole mirror: Stopping or Finished, with the reason
//! ```
//!
//! While it runs it looks at both clusters again and again (`routes`): a topic becomes a route, a route gets its target topic
//! ([`crate::topics`]), a partition becomes a link (`linking`), a link gets its start (`placing`) and is opened in a shard.
//! What is gone from the source, or no longer wanted, goes the way back.

mod ending;
mod error;
mod group;
mod linking;
mod obstacle;
mod placing;
mod routes;
mod running;
mod selecting;
mod status;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::link::{LinkId, LinkName};
use super::report::{LinkProgress, ShardCommand, ShardReport};
use crate::client::{Client, ClientEvent, NetAction, NetEvent, Reply};
use crate::clock::{Now, Tick, earliest};
use crate::config::{ClusterConfig, Config, Side, TopicSelection};
use crate::ledger::{Checkpoint, Store, StoreEvent};
use crate::limits;
use crate::machine::Machine;
use crate::observe::{Counters, Event, Status};
use crate::offset::SourceOffset;
use crate::plan::LeftOut;
use crate::produce::Tenancy;
use crate::topics::Topics;

pub use ending::{EndReason, Summary};
pub use error::MirrorError;

/// What a worker is told.
#[derive(Clone, Debug)]
pub enum WorkerCommand {
    /// A shard reports.
    FromShard(usize, ShardReport),
    /// Look at both clusters at once, and mirror these topics from now on.
    Select(TopicSelection),
    /// End cleanly.
    Stop,
    /// End now.
    Abort,
}

/// What a worker says.
#[derive(Clone, Debug)]
pub enum WorkerReport {
    /// To one of its shards.
    ToShard(usize, ShardCommand),
    /// Something happened.
    Event(Event),
    /// Where everything stands.
    Status(Status),
    /// How it ended; the last report.
    Finished(Result<Summary, MirrorError>),
}

/// Decides about links; see the module's documentation.
pub struct Worker {
    config: Arc<Config>,
    source: Client,
    target: Client,
    store: Store,
    topics: Topics,
    phase: Phase,
    /// How many shards there are.
    shards: usize,
    /// Which topics are wanted.
    selection: TopicSelection,
    /// By source topic.
    routes: BTreeMap<String, routes::Routed>,
    /// Target topic → the source topics that go there.
    routed_to: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// What was looked at last.
    looked: Option<routes::Looked>,
    /// Whether the clusters were looked at yet: what is found later starts at its first record.
    begun: bool,
    /// When to look again though nothing has changed: a topic seems to be gone.
    look_at: Option<Tick>,
    /// Target names that were compared with all others.
    named: BTreeSet<Arc<str>>,
    /// Topics of which it was said that their records' headers are dropped.
    headers_told: BTreeSet<String>,
    /// Topics that were let go, with what was mirrored of them.
    departed: BTreeMap<String, Counters>,
    /// Source topics that were seen to vanish: under the same name there can only be another one.
    vanished: BTreeSet<String>,
    links: BTreeMap<LinkId, Tracked>,
    link_next: u32,
    /// (source topic, partition) → link.
    by_name: BTreeMap<(String, i32), LinkId>,
    /// Links that stopped for good, and why: the mirror does not end well.
    refused: Vec<String>,
    positions: placing::Positions,
    group: Option<group::Group>,
    /// Whether a link was opened yet.
    opened: bool,
    /// Whether the ledger had no link when it was read: the configured start counts.
    is_new: bool,
    /// Shards that have not said that they are drained.
    undrained: BTreeSet<usize>,
    ending: Option<ending::Ending>,
    /// The last thing that a cluster's brokers said when they could not be talked to.
    trouble: BTreeMap<Side, String>,
    started: Option<Tick>,
    /// Until when a topic that is missing may still show up.
    select_by: Option<Tick>,
    checkpoint_at: Option<Tick>,
    deadline: Option<Tick>,
    out: VecDeque<WorkerReport>,
}

/// What the worker is doing; drawn above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Connecting,
    Ledger,
    Running,
    Stopping,
    Closing,
    Finished,
}

/// One link as the worker knows it.
#[derive(Debug)]
struct Tracked {
    name: LinkName,
    shard: usize,
    tenancy: Tenancy,
    stage: Stage,
    /// Whether it was there when the mirror began; else it starts at its first record (report B41).
    first: bool,
    checkpoint: Option<Checkpoint>,
    /// Where it starts, once that is decided.
    start: Option<SourceOffset>,
    progress: Option<LinkProgress>,
    /// What the ledger was last told.
    told: Option<Checkpoint>,
    /// Whether the ledger has that for certain.
    is_told: bool,
    /// Up to where the ledger has it for certain.
    stored_next: SourceOffset,
    /// Records that are left out for good, behind the last stored checkpoint.
    left_out: LeftOut,
    /// How often its shard has told of such records.
    left_out_told: u64,
    /// What is on its way to the ledger, and waited for.
    waits: BTreeSet<Awaited>,
    /// Why it stands still for good, in one sentence with the partition's name.
    stop_reason: Option<String>,
}

impl Tracked {
    fn is_stopped(&self) -> bool {
        self.stop_reason.is_some()
    }
}

/// How far a link is on its way into a shard and out of it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its start is not decided yet.
    Placing,
    /// Its shard has it.
    Open,
    /// Its shard was told to let it go.
    Leaving,
    /// Its shard has let it go, and its last word is on its way to the ledger.
    Closed,
}

/// What the ledger has to have before a link goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    /// That the last writer's "drained" no longer holds.
    Claim,
    /// Its place, before its first write.
    Place,
    /// Its raised epoch.
    Epoch,
    /// The records that it leaves out.
    LeftOut,
}

impl Worker {
    /// A worker with `shards` shards. `seed` decides its jitter.
    #[must_use]
    pub fn new(config: Arc<Config>, shards: usize, seed: u64) -> Self {
        let target = &config.target;
        // Nobody else looks for topics: the shards are told which partitions are theirs.
        let looking = |cluster: &ClusterConfig| ClusterConfig {
            metadata_max_age: cluster.metadata_max_age.min(config.refresh_interval),
            ..cluster.clone()
        };
        Self {
            source: Client::new(Side::Source, &looking(&config.source), seed),
            target: Client::new(Side::Target, &looking(target), seed.wrapping_add(1)),
            store: Store::new(&config.name, target.request_timeout, target.retry_backoff),
            topics: Topics::new(target.request_timeout, target.retry_backoff),
            phase: Phase::Connecting,
            shards: shards.max(1),
            selection: config.topics.clone(),
            routes: BTreeMap::new(),
            routed_to: BTreeMap::new(),
            looked: None,
            begun: false,
            look_at: None,
            named: BTreeSet::new(),
            headers_told: BTreeSet::new(),
            departed: BTreeMap::new(),
            vanished: BTreeSet::new(),
            links: BTreeMap::new(),
            link_next: 0,
            by_name: BTreeMap::new(),
            refused: Vec::new(),
            positions: placing::Positions::default(),
            group: config.group.clone().map(group::Group::new),
            opened: false,
            is_new: true,
            undrained: BTreeSet::new(),
            ending: None,
            trouble: BTreeMap::new(),
            started: None,
            select_by: None,
            checkpoint_at: None,
            deadline: None,
            out: VecDeque::new(),
            config,
        }
    }

    fn advance(&mut self, now: Now) {
        let started = *self.started.get_or_insert(now.tick);
        self.take_replies(now);
        loop {
            match self.phase {
                Phase::Connecting => self.connect(now, started),
                Phase::Ledger => self.store.advance(now, &mut self.target),
                Phase::Running => self.keep_up(now),
                Phase::Stopping => self.wind_down(now),
                Phase::Closing => self.close(now),
                Phase::Finished => {}
            }
            self.take_store_events(now);
            // A question that cannot be asked is answered at once, and nothing else would tell of it.
            if !self.take_replies(now) {
                break;
            }
        }
    }

    /// Takes what the clusters answered; whether there was anything.
    fn take_replies(&mut self, now: Now) -> bool {
        let mut any = false;
        while let Some(reply) = self.source.poll_reply() {
            any = true;
            self.handle_source_reply(now, reply);
        }
        while let Some(reply) = self.target.poll_reply() {
            any = true;
            if !self.store.handle_reply(now, &mut self.target, &reply) {
                self.topics.handle_target_reply(now, &mut self.source, &mut self.target, &reply);
            }
        }
        while let Some(event) = self.source.poll_event() {
            self.handle_client_event(Side::Source, event);
        }
        while let Some(event) = self.target.poll_event() {
            self.handle_client_event(Side::Target, event);
        }
        any
    }

    fn handle_source_reply(&mut self, now: Now, reply: Reply) {
        if self.topics.handle_source_reply(now, &mut self.source, &mut self.target, &reply) {
            return;
        }
        if let Some(reply) = self.handle_group_reply(now, reply) {
            self.handle_positions_reply(now, reply);
        }
    }

    fn handle_client_event(&mut self, side: Side, event: ClientEvent) {
        match event {
            ClientEvent::ConnectFailed { address, reason, .. } | ClientEvent::Disconnected { address, reason, .. } => {
                self.trouble.insert(side, format!("{address}: {reason}"));
            }
            ClientEvent::MetadataRejected { reason } => {
                self.trouble.insert(side, reason);
            }
            ClientEvent::MetadataUpdated { .. } | ClientEvent::Connected { .. } | ClientEvent::Throttled { .. } => {}
        }
    }

    fn take_store_events(&mut self, now: Now) {
        while let Some(event) = self.store.poll_event() {
            match event {
                StoreEvent::Ready => self.ledger_ready(now),
                StoreEvent::Stored(entries) => self.stored(now, entries),
                StoreEvent::Identified(_) => self.place(now),
                StoreEvent::Delayed(reason) => {
                    let topic = self.store.topic().to_owned();
                    self.event(Event::LedgerDelayed { topic, reason });
                }
                StoreEvent::Failed(reason) => {
                    let topic = self.store.topic().to_owned();
                    self.fail(now, MirrorError::Ledger { topic, reason });
                }
            }
        }
    }

    fn event(&mut self, event: Event) {
        self.out.push_back(WorkerReport::Event(event));
    }

    fn tell(&mut self, shard: usize, command: ShardCommand) {
        self.out.push_back(WorkerReport::ToShard(shard, command));
    }

    fn tell_all(&mut self, command: &ShardCommand) {
        for shard in 0..self.shards {
            self.tell(shard, command.clone());
        }
    }
}

impl Machine for Worker {
    type Command = WorkerCommand;
    type Report = WorkerReport;

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

    fn handle_command(&mut self, now: Now, command: WorkerCommand) {
        match command {
            WorkerCommand::FromShard(shard, report) => self.handle_report(now, shard, report),
            WorkerCommand::Select(selection) => self.select(now, selection),
            WorkerCommand::Stop => self.stop(now),
            WorkerCommand::Abort => self.abort(now),
        }
        self.advance(now);
    }

    fn poll_net(&mut self) -> Option<(Side, NetAction)> {
        let source = self.source.poll_net().map(|action| (Side::Source, action));
        source.or_else(|| self.target.poll_net().map(|action| (Side::Target, action)))
    }

    fn poll_report(&mut self) -> Option<WorkerReport> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Tick> {
        if self.phase == Phase::Finished {
            return None;
        }
        let clients = earliest(self.source.poll_timeout(), self.target.poll_timeout());
        let store = if self.phase == Phase::Connecting { None } else { self.store.poll_timeout() };
        let own = match self.phase {
            Phase::Connecting => {
                self.select_by.or_else(|| self.started.map(|started| started.after(limits::START_TIMEOUT)))
            }
            Phase::Running => {
                let places = earliest(self.positions.retry_at(), self.topics.poll_timeout());
                let group = self.group.as_ref().and_then(group::Group::poll_timeout);
                earliest(earliest(places, self.look_at), earliest(self.checkpoint_at, group))
            }
            Phase::Stopping | Phase::Closing => self.deadline,
            Phase::Ledger | Phase::Finished => None,
        };
        earliest(clients, earliest(store, own))
    }

    fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }
}
