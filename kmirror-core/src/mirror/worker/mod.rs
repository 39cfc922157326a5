//! The worker: which links there are, where they start, what the ledger and the source's group are told, and when it
//! ends.
//!
//! ```text
//! Connecting ─► Ledger ─► Positions ─► Running ─► Stopping ─► Closing ─► Finished
//!     │ clusters    │ read    │ group offsets,       │ shards      │ last checkpoints,
//!     │ answer,     │         │ log bounds           │ drain       │ group offsets
//!     │ topics are  │         │                      │
//!     └ selected    └─────────┴── a fault that concerns the whole mirror: Stopping or Finished, with the reason
//! ```

mod ending;
mod error;
mod group;
mod positions;
mod running;
mod selecting;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::link::{LinkId, LinkName};
use super::report::{LinkProgress, ShardCommand, ShardReport};
use crate::client::{Client, ClientEvent, NetAction, NetEvent, Reply};
use crate::clock::{Now, Tick, earliest};
use crate::config::{Config, Side};
use crate::ledger::{Checkpoint, Store, StoreEvent};
use crate::machine::Machine;
use crate::observe::{Event, Status};
use crate::offset::SourceOffset;

pub use ending::{EndReason, Summary};
pub use error::MirrorError;

/// What a worker is told.
#[derive(Clone, Debug)]
pub enum WorkerCommand {
    /// A shard reports.
    FromShard(usize, ShardReport),
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
    phase: Phase,
    /// How many shards there are.
    shards: usize,
    links: BTreeMap<LinkId, Tracked>,
    /// (source topic, partition) → link.
    by_name: BTreeMap<(String, i32), LinkId>,
    /// Routes that cannot be mirrored: reported, and the mirror does not end well.
    refused: Vec<String>,
    positions: positions::Positions,
    group: Option<group::Group>,
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
    Positions,
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
    checkpoint: Option<Checkpoint>,
    /// Where it starts, once that is decided.
    start: Option<SourceOffset>,
    progress: Option<LinkProgress>,
    /// What the ledger was last told.
    told: Option<Checkpoint>,
    /// Its first checkpoint or its raised epoch is on its way to the ledger, and the shard waits for it.
    waits: bool,
    stopped: bool,
}

/// How long a cluster may be out of reach at the start before the mirror gives up.
const START_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(15);

/// How long a wanted topic may be missing at the start before it is said to be. The controller tells a broker that has
/// just started about its topics within a second.
const SELECT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

impl Worker {
    /// A worker with `shards` shards. `seed` decides its jitter.
    #[must_use]
    pub fn new(config: Arc<Config>, shards: usize, seed: u64) -> Self {
        let target = &config.target;
        Self {
            source: Client::new(Side::Source, &config.source, seed),
            target: Client::new(Side::Target, target, seed.wrapping_add(1)),
            store: Store::new(&config.name, target.request_timeout, target.retry_backoff),
            phase: Phase::Connecting,
            shards: shards.max(1),
            links: BTreeMap::new(),
            by_name: BTreeMap::new(),
            refused: Vec::new(),
            positions: positions::Positions::default(),
            group: config.group.clone().map(group::Group::new),
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
                Phase::Positions => self.position(now),
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
            self.store.handle_reply(now, &mut self.target, &reply);
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
                StoreEvent::Stored(entries) => self.stored(entries),
                StoreEvent::Identified(_) => {}
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
            Phase::Connecting => self.select_by.or_else(|| self.started.map(|started| started.after(START_TIMEOUT))),
            Phase::Positions => self.positions.retry_at(),
            Phase::Running => earliest(self.checkpoint_at, self.group.as_ref().and_then(group::Group::poll_timeout)),
            Phase::Stopping | Phase::Closing => self.deadline,
            Phase::Ledger | Phase::Finished => None,
        };
        earliest(clients, earliest(store, own))
    }

    fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }
}
