//! A route's partitions become links: where each goes on the target, and whether it is the topic that was mirrored before.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::obstacle::Obstacle;
use super::routes::Routed;
use super::{Awaited, Stage, Tracked, Worker};
use crate::config::PartitionPolicy;
use crate::ledger::{Checkpoint, LedgerEntry, Slot, StoredRoute};
use crate::mirror::link::{LinkId, LinkName};
use crate::offset::SourceOffset;
use crate::produce::Tenancy;

impl Worker {
    /// Every partition that has its counterpart on the target becomes a link.
    pub(super) fn open_partitions(&mut self, topic: &str) {
        let Some(route) = self.routes.get(topic) else { return };
        let Some((on_target, _)) = route.ready else { return };
        if route.leaving.is_some() || route.is_stopped() {
            return;
        }
        let new: Vec<i32> = (route.partitions.iter().copied())
            .filter(|partition| !self.by_name.contains_key(&(topic.to_owned(), *partition)))
            .collect();
        if new.is_empty() {
            return;
        }
        if let Some(obstacle) = self.is_another_route(topic) {
            return self.set_obstacle(topic, Some(obstacle));
        }
        let shared = new.iter().filter_map(|partition| self.target_of(topic, *partition, on_target));
        let is_shared = shared.clone().any(|(_, tenancy)| tenancy == Tenancy::Shared);
        if is_shared && self.store.ledger().id(Slot::Exclusive).is_none() {
            return self.set_obstacle(topic, Some(Obstacle::SharedWithoutIds));
        }
        self.store_route(topic);
        let mut missing = 0;
        for partition in new {
            match self.target_of(topic, partition, on_target) {
                Some((target_partition, tenancy)) => self.track(topic, partition, target_partition, tenancy),
                None => missing += 1,
            }
        }
        let Some(route) = self.routes.get(topic) else { return };
        // Where the target's topic is to grow, it is on its way, or what hinders it is told by whoever tries.
        if missing > 0 && route.config.partitions != PartitionPolicy::Grow {
            let (target, source) = (route.target.to_string(), route.partitions.len());
            let obstacle = Obstacle::TooFewPartitions { target, source, on_target, missing };
            self.set_obstacle(topic, Some(obstacle));
        }
    }

    /// Where a partition goes: where it went before; else by the route's policy. `None`: the target does not have it.
    fn target_of(&self, topic: &str, partition: i32, on_target: i32) -> Option<(i32, Tenancy)> {
        let route = self.routes.get(topic)?;
        let before = self.store.ledger().furthest(topic, partition);
        let modulo = route.config.partitions == PartitionPolicy::Modulo;
        let there = match before {
            Some(checkpoint) => checkpoint.target_partition.unwrap_or(partition),
            None if modulo => partition.checked_rem(on_target)?,
            None => partition,
        };
        let shared = modulo || before.is_some_and(|checkpoint| checkpoint.target_partition.is_some());
        let tenancy = if shared { Tenancy::Shared } else { Tenancy::Exclusive };
        (there < on_target).then_some((there, tenancy))
    }

    fn track(&mut self, topic: &str, partition: i32, target_partition: i32, tenancy: Tenancy) {
        let Some(route) = self.routes.get(topic) else { return };
        let id = LinkId(self.link_next);
        let shard = usize::try_from(self.link_next).unwrap_or(0) % self.shards;
        self.link_next = self.link_next.wrapping_add(1);
        let name =
            LinkName { topic: Arc::from(topic), partition, target_topic: route.target.clone(), target_partition };
        let first = route.first.contains(&partition);
        let mut tracked = Tracked {
            name,
            shard,
            tenancy,
            stage: Stage::Placing,
            first,
            checkpoint: self.store.ledger().furthest(topic, partition),
            start: None,
            progress: None,
            told: None,
            is_told: false,
            left_out_told: 0,
            stored_next: SourceOffset(i64::MIN),
            left_out: self.store.ledger().left_out(topic, partition),
            waits: BTreeSet::new(),
            stop_reason: None,
        };
        if let Some(checkpoint) = tracked.checkpoint {
            tracked.stored_next = checkpoint.source_next();
            tracked.left_out.forget_below(checkpoint.source_next().0);
        }
        let claim = tracked.checkpoint.filter(|checkpoint| checkpoint.drained);
        self.by_name.insert((topic.to_owned(), partition), id);
        self.links.insert(id, tracked);
        self.positions.add(id);
        // That its last writer left nothing behind holds until somebody writes again: this is taken back, in the ledger,
        // before the link is opened. Else a crash would leave the old word standing, and the next start would not wait for
        // what may still be under way.
        if let Some(checkpoint) = claim {
            self.claim(id, checkpoint);
        }
    }

    /// Whether the ledger knows the topic as another one, or under another name on the target.
    fn is_another_route(&self, topic: &str) -> Option<Obstacle> {
        let route = self.routes.get(topic)?;
        let ledger = self.store.ledger();
        // Under the same producer id its records and those of another source could not be told apart.
        if let Some(other) = ledger.mirrored_to(&route.target).find(|other| *other != topic) {
            return Some(Obstacle::TargetTaken { target: route.target.to_string(), by: other.to_owned() });
        }
        let mirrored = route
            .partitions
            .iter()
            .filter_map(|partition| ledger.furthest(topic, *partition))
            .map(|of| of.source_next())
            .max()?;
        // A ledger of a first release has no routes: every topic kept its name.
        let before = ledger.route(topic);
        let target = before.map_or(topic, |before| before.target.as_str());
        if target != &*route.target {
            let (before, now) = (target.to_owned(), route.target.to_string());
            return Some(Obstacle::RouteChanged { before, now });
        }
        match before.and_then(|before| before.is_same_topic(&route.stored())) {
            Some(true) => None,
            Some(false) => Some(Obstacle::SourceRecreated(mirrored)),
            None => self.vanished.contains(topic).then_some(Obstacle::SourceBack(mirrored)),
        }
    }

    /// Before anything of it is written the ledger has where a topic goes, and which one it is.
    pub(super) fn store_route(&mut self, topic: &str) {
        let Some(route) = self.routes.get(topic) else { return };
        let stored = route.stored();
        if self.store.ledger().route(topic) != Some(&stored) {
            self.store.put(LedgerEntry::Route { topic: topic.to_owned(), route: stored });
        }
    }

    /// Whether the ledger has where the topic goes.
    pub(super) fn is_route_stored(&self, topic: &str) -> bool {
        let Some(route) = self.routes.get(topic) else { return false };
        self.store.ledger().route(topic) == Some(&route.stored())
    }

    fn claim(&mut self, id: LinkId, checkpoint: Checkpoint) {
        if let Some(tracked) = self.links.get_mut(&id) {
            tracked.waits.insert(Awaited::Claim);
        }
        self.tell_ledger(id, Checkpoint { drained: false, ..checkpoint });
    }
}

impl Routed {
    /// As the ledger has it.
    fn stored(&self) -> StoredRoute {
        StoredRoute::new(&self.target, self.topic_id)
    }
}
