//! The beginning: both clusters have answered, and there is something to do.

use std::collections::BTreeSet;

use super::{MirrorError, Phase, Worker};
use crate::client::{Metadata, Topic, addresses, cluster_name, is_same_cluster};
use crate::clock::{Now, Tick};
use crate::config::{ClusterConfig, Side, TopicSelection};
use crate::limits;
use crate::observe::{Event, RouteEvent};

impl Worker {
    /// Waits until both clusters have answered; then the ledger is read.
    pub(super) fn connect(&mut self, now: Now, started: Tick) {
        let missing = [Side::Source, Side::Target].into_iter().find(|side| self.metadata(*side).generation == 0);
        match missing {
            None => {
                let until = *self.select_by.get_or_insert(now.after(limits::SELECT_PATIENCE));
                // A broker that has just started knows no topics for a moment (report B44).
                if now.tick >= until || self.wanted().next().is_some() {
                    self.begin(now);
                } else {
                    self.source.refresh_metadata(now);
                }
            }
            Some(side) if now.tick >= started.after(limits::START_TIMEOUT) => {
                let last = self.trouble.get(&side).cloned().unwrap_or_else(|| "no answer".to_owned());
                let bootstrap = addresses(self.cluster(side));
                self.fail(now, MirrorError::Unreachable { side, bootstrap, last });
            }
            Some(_) => {}
        }
    }

    fn begin(&mut self, now: Now) {
        if let Some(topic) = self.copied_into_itself() {
            let cluster = cluster_name(self.metadata(Side::Source), &self.config.source);
            return self.fail(now, MirrorError::SameCluster { cluster, topic });
        }
        if self.wanted().next().is_none() {
            let (pattern, topics) = (self.selection.to_string(), self.source.metadata().topics.len());
            if self.config.until_caught_up {
                let cluster = cluster_name(self.metadata(Side::Source), &self.config.source);
                return self.fail(now, MirrorError::NothingMatches { cluster, pattern, topics });
            }
            self.event(Event::Route(RouteEvent::NothingMatches { pattern, topics }));
        }
        self.phase = Phase::Ledger;
        self.advance(now);
    }

    /// Other topics may be wanted from now on. Both clusters are looked at in any case.
    pub(super) fn select(&mut self, now: Now, selection: TopicSelection) {
        if selection.to_string() != self.selection.to_string() {
            self.event(Event::Route(RouteEvent::Selected { pattern: selection.to_string() }));
        }
        self.selection = selection;
        self.looked = None;
        self.source.refresh_metadata(now);
        self.target.refresh_metadata(now);
    }

    /// The source's topics that are to be mirrored. Where source and target are one cluster, the copies of some are not
    /// among them: a copy would be copied again, and so on.
    pub(super) fn wanted(&self) -> impl Iterator<Item = (&String, &Topic)> {
        let copies: BTreeSet<String> = if is_same_cluster(self.metadata(Side::Source), self.metadata(Side::Target)) {
            let routed = self.selected().map(|(name, _)| (name, self.config.routing.route(name).target));
            let routed = routed.filter(|(name, target)| *name != target).map(|(_, target)| target);
            // Also the copies of what is no longer wanted.
            routed.chain(self.store.ledger().renamed_to().map(str::to_owned)).collect()
        } else {
            BTreeSet::new()
        };
        self.selected().filter(move |(name, _)| !copies.contains(name.as_str()))
    }

    fn selected(&self) -> impl Iterator<Item = (&String, &Topic)> {
        let topics = self.metadata(Side::Source).topics.iter();
        topics.filter(|(name, topic)| !topic.internal && self.selection.matches(name))
    }

    /// The first topic whose records would be appended to itself.
    pub(super) fn copied_into_itself(&self) -> Option<String> {
        if !is_same_cluster(self.metadata(Side::Source), self.metadata(Side::Target)) {
            return None;
        }
        self.wanted().map(|(name, _)| name).find(|name| self.config.routing.route(name).target == **name).cloned()
    }

    pub(super) fn metadata(&self, side: Side) -> &Metadata {
        match side {
            Side::Source => self.source.metadata(),
            Side::Target => self.target.metadata(),
        }
    }

    fn cluster(&self, side: Side) -> &ClusterConfig {
        match side {
            Side::Source => &self.config.source,
            Side::Target => &self.config.target,
        }
    }
}
