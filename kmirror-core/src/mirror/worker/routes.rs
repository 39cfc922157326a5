//! Which routes and links there are: both clusters are looked at again whenever either has changed.
//!
//! ```text
//! topic on the source ─► Routed ─► target's topic ready ─► one Tracked per partition ─► placing
//!      gone, or no longer wanted ─► its links leave their shards, write their last word ─► departed
//! ```

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::obstacle::Obstacle;
use super::{MirrorError, Stage, Worker};
use crate::client::{Topic, cluster_name};
use crate::clock::{Now, Tick};
use crate::config::{RouteConfig, Side};
use crate::mirror::link::LinkId;
use crate::mirror::report::ShardCommand;
use crate::observe::{Event, RouteEvent};
use crate::plan::TopicLimits;
use crate::topics::names::collision_key;
use crate::topics::{TopicEvent, Wanted};

/// The clusters as they were looked at: the generations of their metadata.
pub(super) type Looked = (u64, u64);

/// One route as the worker knows it.
#[derive(Debug)]
pub(super) struct Routed {
    /// The target's topic.
    pub(super) target: Arc<str>,
    pub(super) config: Arc<RouteConfig>,
    /// The source topic's id, zeros where its cluster has none.
    pub(super) topic_id: [u8; 16],
    /// Partitions of the source.
    pub(super) partitions: BTreeSet<i32>,
    /// Those that were there when the mirror began and could be mirrored at once.
    pub(super) first: BTreeSet<i32>,
    /// Partitions of the target, and what its topic takes, once it can be written.
    pub(super) ready: Option<(i32, TopicLimits)>,
    /// Why it is not mirrored, or not all of it.
    pub(super) obstacle: Option<Obstacle>,
    /// Since when the source's brokers do not name it.
    absent_since: Option<Tick>,
    /// Whether it is being let go, and whether because it is gone.
    pub(super) leaving: Option<bool>,
}

impl Routed {
    fn collides(&self) -> bool {
        matches!(self.obstacle, Some(Obstacle::Collision { .. }))
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.obstacle.as_ref().is_some_and(Obstacle::is_final)
    }
}

impl Worker {
    /// Looks at both clusters, if either has changed; whether to look again at once.
    pub(super) fn look(&mut self, now: Now) -> bool {
        if self.is_ending() {
            return false;
        }
        let generations = (self.metadata(Side::Source).generation, self.metadata(Side::Target).generation);
        let due = self.look_at.is_some_and(|at| at <= now.tick);
        if self.looked == Some(generations) && !due {
            return false;
        }
        self.look_at = None;
        if let Some(topic) = self.copied_into_itself() {
            let cluster = cluster_name(self.metadata(Side::Source), &self.config.source);
            self.fail(now, MirrorError::SameCluster { cluster, topic });
            return false;
        }
        self.looked = Some(generations);
        let first = !std::mem::replace(&mut self.begun, true);
        let wanted: BTreeMap<String, ([u8; 16], BTreeSet<i32>)> = self
            .wanted()
            .map(|(name, topic)| (name.clone(), (topic.id, topic.partitions.keys().copied().collect())))
            .collect();
        self.let_go_of_others(now, &wanted);
        for (name, (topic_id, partitions)) in &wanted {
            self.take_topic(first, name, *topic_id, partitions);
        }
        self.check_names();
        self.want_topics();
        let names: Vec<String> = self.routes.keys().cloned().collect();
        for name in names {
            self.open_partitions(&name);
        }
        if first {
            self.event(Event::Started {
                name: self.config.name.clone(),
                topics: wanted.len(),
                links: wanted.values().map(|(_, partitions)| partitions.len()).sum(),
                streams: self.shards,
            });
        }
        self.looked.is_none()
    }

    /// A topic that is wanted: new, or with other partitions than before.
    fn take_topic(&mut self, first: bool, name: &str, topic_id: [u8; 16], partitions: &BTreeSet<i32>) {
        let Some(route) = self.routes.get_mut(name) else {
            let route = self.config.routing.route(name);
            let target: Arc<str> = Arc::from(route.target);
            if !first {
                let (topic, target) = (name.to_owned(), target.to_string());
                self.event(Event::Route(RouteEvent::TopicFound { topic, target, partitions: partitions.len() }));
            }
            let routed = Routed {
                target,
                config: route.config,
                topic_id,
                partitions: partitions.clone(),
                first: if first { partitions.clone() } else { BTreeSet::new() },
                ready: None,
                obstacle: None,
                absent_since: None,
                leaving: None,
            };
            self.routed_to.entry(routed.target.clone()).or_default().insert(name.to_owned());
            self.routes.insert(name.to_owned(), routed);
            return;
        };
        if route.leaving.is_some() {
            return;
        }
        let learned = route.topic_id == [0; 16] && topic_id != [0; 16];
        if learned {
            route.topic_id = topic_id;
        }
        let (from, to) = (route.partitions.len(), partitions.len());
        // A broker that lags behind leaves out what is new: nothing is taken back (report B44).
        route.partitions.extend(partitions);
        if to > from {
            self.event(Event::Route(RouteEvent::PartitionsFound { topic: name.to_owned(), from, to }));
        }
        if learned {
            self.store_route(name);
        }
    }

    /// Lets go of every route whose topic is gone, is another one by now, or is no longer wanted.
    fn let_go_of_others(&mut self, now: Now, wanted: &BTreeMap<String, ([u8; 16], BTreeSet<i32>)>) {
        let mut others = Vec::new();
        for (name, route) in self.routes.iter_mut().filter(|(_, route)| route.leaving.is_none()) {
            let there = self.source.metadata().topics.get(name).map(|topic| topic.id);
            let is_another = there.is_some_and(|id| id != route.topic_id && route.topic_id != [0; 16] && id != [0; 16]);
            route.absent_since = if there.is_none() { route.absent_since.or(Some(now.tick)) } else { None };
            let gone_at = route.absent_since.map(|since| since.after(GONE_PATIENCE));
            if is_another || gone_at.is_some_and(|at| at <= now.tick) {
                others.push((name.clone(), true));
            } else if gone_at.is_some() {
                self.look_at = Some(now.after(GONE_LOOK));
            } else if !wanted.contains_key(name) {
                others.push((name.clone(), false));
            }
        }
        if self.look_at.is_some() {
            self.source.refresh_metadata(now);
        }
        for (name, gone) in others {
            self.let_go(&name, gone);
        }
    }

    fn let_go(&mut self, topic: &str, gone: bool) {
        let Some(route) = self.routes.get_mut(topic) else { return };
        route.leaving = Some(gone);
        self.topics.forget(&route.target);
        if gone {
            self.vanished.insert(topic.to_owned());
        }
        self.event(Event::Route(RouteEvent::LetGo { topic: topic.to_owned(), gone }));
        let mut close: BTreeMap<usize, Vec<LinkId>> = BTreeMap::new();
        let mut drop = Vec::new();
        for id in self.links_of(topic) {
            let Some(tracked) = self.links.get_mut(&id) else { continue };
            match tracked.stage {
                Stage::Placing => drop.push(id),
                Stage::Open | Stage::Leaving => {
                    tracked.stage = Stage::Leaving;
                    close.entry(tracked.shard).or_default().push(id);
                }
                Stage::Closed => {}
            }
        }
        for id in drop {
            self.forget_link(id);
        }
        for (shard, links) in close {
            self.tell(shard, ShardCommand::Close(links));
        }
        self.forget_route_if_empty(topic);
    }

    /// A shard has let a link go: its last word goes to the ledger. Until it is there the link is not forgotten: whoever takes
    /// it up again has to find it.
    pub(super) fn link_closed(&mut self, now: Now, id: LinkId) {
        let Some(tracked) = self.links.get_mut(&id) else { return };
        tracked.stage = Stage::Closed;
        let link = (tracked.name.topic.to_string(), tracked.name.partition);
        if !tracked.is_stopped() {
            self.checkpoint(now, id);
        }
        self.forget_closed(&link);
    }

    /// Forgets a link that was let go, once the ledger has its last word.
    pub(super) fn forget_closed(&mut self, link: &(String, i32)) {
        let Some((id, tracked)) = self.by_name.get(link).and_then(|id| Some((*id, self.links.get(id)?))) else {
            return;
        };
        if tracked.stage == Stage::Closed && (tracked.told.is_none() || tracked.is_told) {
            self.forget_link(id);
            self.forget_route_if_empty(&link.0);
        }
    }

    fn forget_link(&mut self, id: LinkId) {
        let Some(tracked) = self.links.remove(&id) else { return };
        self.positions.forget(id);
        let topic = tracked.name.topic.to_string();
        if let Some(progress) = tracked.progress {
            self.departed.entry(topic.clone()).or_default().add(&progress.counters);
        }
        self.by_name.remove(&(topic, tracked.name.partition));
    }

    fn forget_route_if_empty(&mut self, topic: &str) {
        let leaving = self.routes.get(topic).is_some_and(|route| route.leaving.is_some());
        if leaving && self.links_of(topic).is_empty() {
            if let Some(route) = self.routes.remove(topic)
                && let Entry::Occupied(mut sources) = self.routed_to.entry(route.target)
            {
                sources.get_mut().remove(topic);
                if sources.get().is_empty() {
                    sources.remove();
                }
            }
            self.departed.entry(topic.to_owned()).or_default();
            // It may be wanted again already.
            self.looked = None;
        }
    }

    pub(super) fn links_of(&self, topic: &str) -> Vec<LinkId> {
        let (from, to) = ((topic.to_owned(), i32::MIN), (topic.to_owned(), i32::MAX));
        self.by_name.range(from..=to).map(|(_, id)| *id).collect()
    }

    /// Two sources for one target: their records would mix, so neither begins. One that runs already goes on.
    fn check_names(&mut self) {
        // One that is leaving is among them: it still writes what it has read.
        let mut obstacles = Vec::new();
        for (target, sources) in &self.routed_to {
            for name in sources {
                let Some(route) = self.routes.get(name) else { continue };
                let collides = sources.len() > 1 && route.ready.is_none();
                if collides {
                    let others = sources.iter().filter(|other| *other != name).cloned().collect();
                    let obstacle = Obstacle::Collision { target: target.to_string(), others };
                    obstacles.push((name.clone(), Some(obstacle)));
                } else if route.collides() {
                    obstacles.push((name.clone(), None));
                }
            }
        }
        for (name, obstacle) in obstacles {
            self.set_obstacle(&name, obstacle);
        }
        self.check_dots();
    }

    /// `a.b` and `a_b` on one cluster: said once for each pair, when the second one comes.
    fn check_dots(&mut self) {
        let new: Vec<Arc<str>> = (self.routed_to.keys())
            .filter(|target| {
                !self.target.metadata().topics.contains_key(&***target) && !self.named.contains(&***target)
            })
            .cloned()
            .collect();
        if new.is_empty() {
            return;
        }
        let there =
            self.target.metadata().topics.keys().map(String::as_str).chain(self.named.iter().map(|name| &**name));
        let mut keys: BTreeMap<String, String> = there.map(|name| (collision_key(name), name.to_owned())).collect();
        for target in new {
            if let Some(other) = keys.insert(collision_key(&target), target.to_string()) {
                self.event(Event::Route(RouteEvent::NamesCollide { target: target.to_string(), other }));
            }
            self.named.insert(target);
        }
    }

    /// Every route that nothing stands in the way of needs its target topic, with as many partitions as the source has.
    fn want_topics(&mut self) {
        for (name, route) in &self.routes {
            if route.leaving.is_some() || route.collides() || route.is_stopped() {
                continue;
            }
            self.topics.want(Wanted {
                source: name.clone(),
                target: route.target.to_string(),
                partitions: route.partitions.last().map_or(0, |last| last.saturating_add(1)),
                source_replicas: self.source.metadata().topics.get(name).map_or(1, Topic::replicas_max),
                config: route.config.clone(),
            });
        }
    }

    /// Takes what there is to say about the target's topics.
    pub(super) fn take_topic_events(&mut self) {
        while let Some(event) = self.topics.poll_event() {
            match event {
                TopicEvent::Ready { target, partitions, limits } => {
                    let Some(name) = self.route_to(&target) else { continue };
                    if let Some(route) = self.routes.get_mut(&name) {
                        route.ready = Some((partitions, limits));
                    }
                    self.set_obstacle(&name, None);
                    self.open_partitions(&name);
                }
                TopicEvent::Created { target, partitions, replication_factor, settings, not_set } => {
                    self.event(Event::Route(RouteEvent::TopicCreated {
                        target,
                        partitions,
                        replication_factor,
                        settings,
                        not_set,
                    }));
                }
                TopicEvent::Grown { target, from, to } => {
                    self.event(Event::Route(RouteEvent::PartitionsAdded { target, from, to }));
                }
                TopicEvent::Blocked { target, why } => {
                    if let Some(name) = self.route_to(&target) {
                        self.set_obstacle(&name, Some(Obstacle::Target(why)));
                    }
                }
                TopicEvent::SettingsUnknown { side, reason } => {
                    self.event(Event::Route(RouteEvent::SettingsUnknown { side, reason }));
                }
            }
        }
    }

    fn route_to(&self, target: &str) -> Option<String> {
        let mut sources = self.routed_to.get(target)?.iter();
        let goes =
            |name: &&String| self.routes.get(*name).is_some_and(|route| route.leaving.is_none() && !route.collides());
        sources.find(goes).cloned()
    }

    /// Something stands in a route's way, or no longer does. Said once for each reason.
    pub(super) fn set_obstacle(&mut self, topic: &str, obstacle: Option<Obstacle>) {
        let Some(route) = self.routes.get_mut(topic) else { return };
        if route.obstacle == obstacle {
            return;
        }
        route.obstacle = obstacle;
        if let Some(obstacle) = &route.obstacle {
            // What could not begin with the others has to be mirrored from its first record on (report B41).
            let begun: BTreeSet<i32> = route
                .first
                .iter()
                .copied()
                .filter(|partition| self.by_name.contains_key(&(topic.to_owned(), *partition)))
                .collect();
            route.first = begun;
            let event = RouteEvent::Blocked { topic: topic.to_owned(), reason: obstacle.to_string() };
            self.event(Event::Route(event));
        }
    }
}

/// How long a topic is missing from the source's metadata before it counts as gone: a broker that has just started knows
/// none for a moment (report B44).
const GONE_PATIENCE: Duration = Duration::from_secs(5);

/// How often a topic that seems to be gone is looked for.
const GONE_LOOK: Duration = Duration::from_secs(1);
