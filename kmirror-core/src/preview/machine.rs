//! The machine: what is known so far, and what follows from it.
//!
//! ```text
//! Connecting ─► Asking ─► Sampling ─► Finished
//!     │ both      │ target topics, ledger, │ the first and the newest batch
//!     │ answer    │ logs, group            │ of some partitions
//!     └───────────┴── nothing answers: Finished, with the reason; single questions without an answer become notes
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use super::errands::{Bound, Due, Errand, Key, LedgerStep};
use super::patterns::patterns;
use super::routes::routes;
use super::sample::Judged;
use super::starts::Found;
use super::{OnTarget, Preview, RouteSeen};
use crate::client::{CallId, Client, ClientEvent, NetAction, NetEvent, addresses, cluster_name};
use crate::clock::{Now, Tick, earliest};
use crate::config::{Config, PartitionPolicy, RouteConfig, Side};
use crate::ledger::{self, StoredRoute};
use crate::limits;
use crate::machine::Machine;
use crate::mirror::worker::MirrorError;
use crate::plan::{Abilities, Magic, TopicLimits};
use crate::topics::{TopicEvent, Topics, Wanted};

/// Finds out what a mirror would do. Driven as every [`Machine`]; what it found is what is left of it.
#[derive(Debug)]
pub struct DryRun {
    pub(super) config: Config,
    pub(super) source: Client,
    pub(super) target: Client,
    topics: Topics,
    phase: Phase,
    /// Target topic → the source topic that goes there.
    sources: BTreeMap<String, String>,
    /// Target topics of which nothing was said yet.
    unsaid: BTreeSet<String>,
    pub(super) found: Found,
    pub(super) todo: VecDeque<Due>,
    pub(super) calls: BTreeMap<(Side, CallId), Due>,
    /// The mirror's ledger: where it is read next, and where it ends.
    pub(super) ledger_position: i64,
    pub(super) ledger_end: i64,
    pub(super) coordinator: Option<i32>,
    /// By source topic.
    pub(super) ready: BTreeMap<String, (Arc<RouteConfig>, TopicLimits)>,
    pub(super) judged: BTreeMap<String, Judged>,
    pub(super) preview: Preview,
    trouble: BTreeMap<Side, String>,
    began: Option<Tick>,
    select_by: Option<Tick>,
    wake: Option<Tick>,
    outcome: Option<Result<(), MirrorError>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Connecting,
    Asking,
    Sampling,
    Finished,
}

impl DryRun {
    /// A dry run of a mirror. `seed` decides the jitter of its connections and nothing else.
    #[must_use]
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            source: Client::new(Side::Source, &config.source, seed),
            target: Client::new(Side::Target, &config.target, seed.wrapping_add(1)),
            topics: Topics::dry(config.target.request_timeout, config.target.retry_backoff),
            phase: Phase::Connecting,
            sources: BTreeMap::new(),
            unsaid: BTreeSet::new(),
            found: Found::default(),
            todo: VecDeque::new(),
            calls: BTreeMap::new(),
            ledger_position: 0,
            ledger_end: 0,
            coordinator: None,
            ready: BTreeMap::new(),
            judged: BTreeMap::new(),
            preview: Preview { mirror: config.name.clone(), ..Preview::default() },
            trouble: BTreeMap::new(),
            began: None,
            select_by: None,
            wake: None,
            outcome: None,
            config,
        }
    }

    /// What came of it, once [`is_finished`](Machine::is_finished).
    ///
    /// # Errors
    ///
    /// [`MirrorError::Unreachable`] if a cluster does not answer; also if it is not finished.
    pub fn into_outcome(self) -> Result<Preview, MirrorError> {
        match self.outcome {
            Some(Ok(())) => Ok(self.preview),
            Some(Err(error)) => Err(error),
            None => Err(MirrorError::Runtime("the dry run did not come to its end".to_owned())),
        }
    }

    fn turn(&mut self, now: Now) {
        let began = *self.began.get_or_insert(now.tick);
        loop {
            self.take_events();
            match self.phase {
                Phase::Connecting => self.connect(now, began),
                Phase::Asking => self.ask_on(now, began),
                Phase::Sampling => self.sample_on(now, began),
                Phase::Finished => return,
            }
            if !self.take_replies(now) {
                return;
            }
        }
    }

    fn take_events(&mut self) {
        let source = std::iter::from_fn(|| self.source.poll_event()).map(|event| (Side::Source, event));
        let target = std::iter::from_fn(|| self.target.poll_event()).map(|event| (Side::Target, event));
        for (side, event) in source.chain(target) {
            match event {
                ClientEvent::ConnectFailed { address, reason, .. }
                | ClientEvent::Disconnected { address, reason, .. } => {
                    self.trouble.insert(side, format!("{address}: {reason}"));
                }
                ClientEvent::MetadataRejected { reason } => {
                    self.trouble.insert(side, reason);
                }
                ClientEvent::MetadataUpdated { .. } | ClientEvent::Connected { .. } | ClientEvent::Throttled { .. } => {
                }
            }
        }
    }

    /// Takes what the clusters answered; whether there was anything.
    fn take_replies(&mut self, now: Now) -> bool {
        let mut any = false;
        while let Some(reply) = self.source.poll_reply() {
            any = true;
            if !self.topics.handle_source_reply(now, &mut self.source, &mut self.target, &reply) {
                self.handle_reply(now, Side::Source, reply);
            }
        }
        while let Some(reply) = self.target.poll_reply() {
            any = true;
            if !self.topics.handle_target_reply(now, &mut self.source, &mut self.target, &reply) {
                self.handle_reply(now, Side::Target, reply);
            }
        }
        any
    }

    fn connect(&mut self, now: Now, began: Tick) {
        let missing = match (self.source.metadata().generation, self.target.metadata().generation) {
            (0, _) => Some((Side::Source, &self.config.source)),
            (_, 0) => Some((Side::Target, &self.config.target)),
            (_, _) => None,
        };
        match missing {
            Some((side, cluster)) if now.tick >= began.after(limits::START_TIMEOUT) => {
                let last = self.trouble.get(&side).cloned().unwrap_or_else(|| "no answer".to_owned());
                let bootstrap = addresses(cluster);
                self.end(now, Err(MirrorError::Unreachable { side, bootstrap, last }));
            }
            Some(_) => {}
            None => {
                let until = *self.select_by.get_or_insert(now.after(limits::SELECT_PATIENCE));
                let topics = &self.source.metadata().topics;
                let any = topics.iter().any(|(name, topic)| !topic.internal && self.config.topics.matches(name));
                // A broker that has just started knows no topics for a moment (report B44).
                if any || now.tick >= until {
                    self.select(now);
                } else {
                    self.source.refresh_metadata(now);
                }
            }
        }
    }

    fn select(&mut self, now: Now) {
        let (source, target) = (self.source.metadata(), self.target.metadata());
        self.preview.source = cluster_name(source, &self.config.source);
        self.preview.target = cluster_name(target, &self.config.target);
        let names = source.topics.iter().filter(|(_, topic)| !topic.internal).map(|(name, _)| name.as_str()).collect();
        self.preview.patterns = patterns(&self.config, &names);
        let wanted = routes(&self.config, source, target, &mut self.preview);
        let mut keys: Vec<Key> = Vec::new();
        for route in &self.preview.routes {
            let partitions = source.topics.get(&route.topic).into_iter().flat_map(|topic| topic.partitions.keys());
            keys.extend(partitions.map(|partition| (route.topic.clone(), *partition)));
        }
        let ledger = ledger::topic_name(&self.config.name);
        // Where a group has never committed anything there is no such topic, and asking for the coordinator makes it.
        let has_groups = self.config.group.is_some() && source.topics.contains_key("__consumer_offsets");
        let has_ledger = target.topics.contains_key(&ledger);
        for Wanted { source, target, config, .. } in &wanted {
            self.sources.insert(target.clone(), source.clone());
            self.unsaid.insert(target.clone());
            self.ready.insert(source.clone(), (config.clone(), TopicLimits::default()));
        }
        for one in wanted {
            self.topics.want(one);
        }
        if has_ledger {
            self.errand(now, Errand::Ledger(LedgerStep::Start));
        } else {
            self.preview.notes.push(format!("the target has no {ledger} yet: the first run makes it"));
        }
        if has_groups && !keys.is_empty() {
            self.errand(now, Errand::Coordinator);
        }
        if !keys.is_empty() {
            self.errand(now, Errand::Bounds(Bound::Start, keys.clone()));
            self.errand(now, Errand::Bounds(Bound::End, keys));
        }
        self.phase = Phase::Asking;
        self.ask_on(now, now.tick);
    }

    fn ask_on(&mut self, now: Now, began: Tick) {
        self.topics.advance(now, &mut self.source, &mut self.target);
        while let Some(event) = self.topics.poll_event() {
            self.take_topic_event(event);
        }
        self.run_errands(now);
        let done = self.unsaid.is_empty() && self.todo.is_empty() && self.calls.is_empty();
        if !done && self.is_out_of_time(now, began) {
            for target in std::mem::take(&mut self.unsaid) {
                if let Some(route) = self.route_to(&target) {
                    route.obstacles.push(format!("the target has not answered about its topic {target} in time"));
                }
            }
        }
        if (done || self.is_out_of_time(now, began)) && self.phase == Phase::Asking {
            self.place();
            self.phase = Phase::Sampling;
            self.want_samples(now);
            self.sample_on(now, began);
        }
    }

    fn sample_on(&mut self, now: Now, began: Tick) {
        self.run_errands(now);
        if (self.todo.is_empty() && self.calls.is_empty()) || self.is_out_of_time(now, began) {
            for route in &mut self.preview.routes {
                let judged = self.judged.remove(&route.topic).unwrap_or_default();
                let (sample, stops) = judged.finish();
                route.sample = sample;
                route.obstacles.extend(stops);
            }
            self.end(now, Ok(()));
        }
    }

    fn is_out_of_time(&mut self, now: Now, began: Tick) -> bool {
        let out = now.tick >= began.after(TIME_MAX);
        if out && !(self.todo.is_empty() && self.calls.is_empty()) {
            self.todo.clear();
            self.calls.clear();
            let text = format!("not everything could be found out within {} s", TIME_MAX.as_secs());
            self.preview.obstacles.push(text);
        }
        out
    }

    fn route_to(&mut self, target: &str) -> Option<&mut RouteSeen> {
        self.preview.route_mut(self.sources.get(target)?)
    }

    fn take_topic_event(&mut self, event: TopicEvent) {
        match event {
            TopicEvent::Ready { target, partitions, limits } => {
                self.unsaid.remove(&target);
                let Some(route) = self.route_to(&target) else { return };
                if route.on_target == OnTarget::Unknown {
                    route.on_target = OnTarget::There { partitions };
                }
                let topic = route.topic.clone();
                if let Some((_, known)) = self.ready.get_mut(&topic) {
                    *known = limits;
                }
            }
            TopicEvent::Created { target, partitions, replication_factor, settings, not_set } => {
                let (settings, not_set) = (settings.into_iter().collect(), not_set.into_iter().collect());
                if let Some(route) = self.route_to(&target) {
                    route.on_target = OnTarget::Created { partitions, replication_factor, settings, not_set };
                }
            }
            TopicEvent::Grown { target, from, to } => {
                if let Some(route) = self.route_to(&target) {
                    route.on_target = OnTarget::Grown { from, to };
                }
            }
            TopicEvent::Blocked { target, why } => {
                self.unsaid.remove(&target);
                if let Some(route) = self.route_to(&target) {
                    route.obstacles.push(why.to_string());
                }
            }
            TopicEvent::SettingsUnknown { side, reason } => {
                self.preview.notes.push(format!("settings of {side} topics are unknown: {reason}"));
            }
        }
    }

    /// Decides where each link starts, and what of a route stands still.
    fn place(&mut self) {
        let batches = self.abilities().magic == Magic::V2;
        for route in &mut self.preview.routes {
            let Some((config, _)) = self.ready.get(&route.topic) else { continue };
            let topic = self.source.metadata().topics.get(&route.topic);
            check_partitions(route, config, batches);
            check_ledger(route, &self.found.ledger, topic.map_or([0; 16], |topic| topic.id));
            for partition in topic.into_iter().flat_map(|topic| topic.partitions.keys()) {
                match self.found.start(self.config.start, &(route.topic.clone(), *partition)) {
                    Some(Ok(start)) => route.starts.push(start),
                    Some(Err(reason)) => route.obstacles.push(format!("partition {partition}: {reason}")),
                    None => {}
                }
            }
        }
    }

    /// What the target's brokers take; before any was talked to, the least.
    pub(super) fn abilities(&self) -> Abilities {
        let least = Abilities { magic: Magic::V1, zstd: false, takes_unknown_ids: false };
        crate::topics::ranges(&self.target).map_or(least, Abilities::of)
    }

    fn end(&mut self, now: Now, outcome: Result<(), MirrorError>) {
        self.phase = Phase::Finished;
        self.outcome.get_or_insert(outcome);
        self.source.close(now);
        self.target.close(now);
    }

    /// When an errand that waits is due.
    pub(super) fn set_wake(&mut self, wake: Option<Tick>) {
        self.wake = wake;
    }
}

/// A target with fewer partitions that is not to grow.
fn check_partitions(route: &mut RouteSeen, config: &RouteConfig, batches: bool) {
    let (source, target) = (route.partitions, &route.target);
    if config.partitions == PartitionPolicy::Modulo && !batches {
        route.obstacles.push(
            "partitions = \"modulo\" needs a target of 0.11 or newer: without producer ids nothing tells which records of a \
             shared partition are whose"
                .to_owned(),
        );
    }
    let OnTarget::There { partitions } = route.on_target else { return };
    let missing = i32::try_from(source).unwrap_or(i32::MAX).saturating_sub(partitions);
    if config.partitions == PartitionPolicy::Stop && missing > 0 {
        route.obstacles.push(format!(
            "the target's topic {target} has {partitions} partitions, the source's has {source}: {missing} of them would stand \
             still; add partitions there (kafka-topics.sh --alter --topic {target} --partitions {source}), or set \
             partitions to \"grow\" or \"modulo\""
        ));
    }
}

/// A ledger that knows the topic as another one, or under another name on the target.
fn check_ledger(route: &mut RouteSeen, ledger: &ledger::Ledger, id: [u8; 16]) {
    let Some(before) = ledger.route(&route.topic) else { return };
    if before.target != route.target {
        route.obstacles.push(format!(
            "until now it was mirrored to target topic {}, and is to go to {} from here on: take the rename back, or start a \
             mirror under another --name, which copies all of it",
            before.target, route.target
        ));
    }
    if before.is_same_topic(&StoredRoute::new(&route.target, id)) == Some(false) {
        route.obstacles.push(
            "the source's topic was deleted and created again, and nothing is appended to the copy of the former one \
             silently: delete the copy or rename the route, and start a mirror under another --name"
                .to_owned(),
        );
    }
}

impl Machine for DryRun {
    /// Nobody has a say.
    type Command = Infallible;
    /// Nothing is told before the end.
    type Report = Infallible;

    fn handle_net(&mut self, now: Now, side: Side, event: NetEvent) {
        match side {
            Side::Source => self.source.handle_net(now, event),
            Side::Target => self.target.handle_net(now, event),
        }
        self.turn(now);
    }

    fn handle_command(&mut self, _now: Now, command: Infallible) {
        match command {}
    }

    fn handle_timeout(&mut self, now: Now) {
        self.source.handle_timeout(now);
        self.target.handle_timeout(now);
        self.turn(now);
    }

    fn poll_net(&mut self) -> Option<(Side, NetAction)> {
        let source = self.source.poll_net().map(|action| (Side::Source, action));
        source.or_else(|| self.target.poll_net().map(|action| (Side::Target, action)))
    }

    fn poll_report(&mut self) -> Option<Infallible> {
        None
    }

    fn poll_timeout(&self) -> Option<Tick> {
        if self.phase == Phase::Finished {
            return None;
        }
        let Some(began) = self.began else { return Some(Tick::ZERO) };
        let clients = earliest(self.source.poll_timeout(), self.target.poll_timeout());
        let own = match self.phase {
            Phase::Connecting => Some(self.select_by.unwrap_or_else(|| began.after(limits::START_TIMEOUT))),
            Phase::Asking | Phase::Sampling => {
                earliest(self.topics.poll_timeout(), earliest(self.wake, Some(began.after(TIME_MAX))))
            }
            Phase::Finished => None,
        };
        earliest(clients, own)
    }

    fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }
}

/// How long the whole may take: ten thousand topics take some seconds.
const TIME_MAX: Duration = Duration::from_secs(120);
