//! Which links there are: what both clusters look like decides.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{MirrorError, Phase, SELECT_PATIENCE, START_TIMEOUT, Tracked, Worker};
use crate::client::{Metadata, Topic};
use crate::clock::{Now, Tick};
use crate::config::{ClusterConfig, Side};
use crate::mirror::link::{LinkId, LinkName};
use crate::observe::{Event, StopReason};

impl Worker {
    /// Waits until both clusters have answered, then selects.
    pub(super) fn connect(&mut self, now: Now, started: Tick) {
        let missing = [Side::Source, Side::Target].into_iter().find(|side| self.metadata(*side).generation == 0);
        match missing {
            None => {
                let until = *self.select_by.get_or_insert(now.after(SELECT_PATIENCE));
                if now.tick >= until || self.is_all_there() {
                    self.select(now);
                } else {
                    self.source.refresh_metadata(now);
                    self.target.refresh_metadata(now);
                }
            }
            Some(side) if now.tick >= started.after(START_TIMEOUT) => {
                let last = self.trouble.get(&side).cloned().unwrap_or_else(|| "no answer".to_owned());
                let bootstrap = addresses(self.cluster(side));
                self.fail(now, MirrorError::Unreachable { side, bootstrap, last });
            }
            Some(_) => {}
        }
    }

    /// Whether every topic that is wanted is on both sides. A broker that has just started knows none for a moment
    /// (report B44), so what is missing is looked for again before it is said to be missing.
    fn is_all_there(&self) -> bool {
        let target = &self.metadata(Side::Target).topics;
        let mut wanted = self.wanted().peekable();
        wanted.peek().is_some()
            && wanted.all(|(name, topic)| {
                target.get(name).is_some_and(|there| there.partitions.len() >= topic.partitions.len())
            })
    }

    /// The source's topics that are to be mirrored.
    fn wanted(&self) -> impl Iterator<Item = (&String, &Topic)> {
        let topics = self.metadata(Side::Source).topics.iter();
        topics.filter(|(name, topic)| !topic.internal && self.config.topics.matches(name))
    }

    fn metadata(&self, side: Side) -> &Metadata {
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

    fn select(&mut self, now: Now) {
        let topics: Vec<(String, Vec<i32>)> =
            self.wanted().map(|(name, topic)| (name.clone(), topic.partitions.keys().copied().collect())).collect();
        let Some((first, _)) = topics.first() else {
            let error = MirrorError::NothingMatches {
                cluster: cluster_name(self.metadata(Side::Source), &self.config.source),
                pattern: self.config.topics.to_string(),
                topics: self.source.metadata().topics.len(),
            };
            return self.fail(now, error);
        };
        if is_same_cluster(self.metadata(Side::Source), self.metadata(Side::Target)) {
            let cluster = cluster_name(self.metadata(Side::Source), &self.config.source);
            let topic = first.clone();
            return self.fail(now, MirrorError::SameCluster { cluster, topic });
        }
        let count = topics.len();
        for (name, partitions) in topics {
            self.select_topic(&name, &partitions);
        }
        let event = Event::Started {
            name: self.config.name.clone(),
            topics: count,
            links: self.links.len(),
            streams: self.shards,
        };
        self.event(event);
        if self.links.is_empty() {
            let error = self.links_stopped();
            return self.fail(now, error);
        }
        self.phase = Phase::Ledger;
        self.advance(now);
    }

    fn select_topic(&mut self, name: &str, partitions: &[i32]) {
        let on_target = self.target.metadata().topics.get(name).map(|topic| topic.partitions.len());
        let reason = match on_target {
            None => Some(StopReason::NoTargetTopic { topic: name.to_owned(), partitions: partitions.len() }),
            Some(target) if target < partitions.len() => {
                Some(StopReason::TooFewPartitions { topic: name.to_owned(), source: partitions.len(), target })
            }
            Some(_) => None,
        };
        if let Some(reason) = reason {
            let cluster = cluster_name(self.metadata(Side::Target), &self.config.target);
            self.refused.push(format!("target cluster {cluster}, topic {name}: {reason}"));
            return self.event(Event::Stopped { link: name.to_owned(), reason });
        }
        let topic: Arc<str> = Arc::from(name);
        for partition in partitions {
            let number = self.links.len();
            let id = LinkId(u32::try_from(number).unwrap_or(u32::MAX));
            let name = LinkName { topic: topic.clone(), target_topic: topic.clone(), partition: *partition };
            let tracked = Tracked {
                name,
                shard: number % self.shards,
                checkpoint: None,
                start: None,
                progress: None,
                told: None,
                waits: false,
                stopped: false,
            };
            self.by_name.insert((topic.to_string(), *partition), id);
            self.links.insert(id, tracked);
        }
    }
}

/// Whether both sides are one cluster: by id, or where 0.10.0 has none, by the brokers' addresses.
fn is_same_cluster(source: &Metadata, target: &Metadata) -> bool {
    match (&source.cluster_id, &target.cluster_id) {
        (Some(source), Some(target)) => source == target,
        (None, None) => brokers(source) == brokers(target),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn brokers(metadata: &Metadata) -> BTreeSet<(&str, u16)> {
    metadata.brokers.values().map(|broker| (broker.host.as_str(), broker.port)).collect()
}

/// A cluster's id, or its configured addresses.
fn cluster_name(metadata: &Metadata, config: &ClusterConfig) -> String {
    metadata.cluster_id.clone().unwrap_or_else(|| addresses(config))
}

/// The configured addresses, as in `bootstrap.servers`.
fn addresses(config: &ClusterConfig) -> String {
    let addresses: Vec<String> = config.bootstrap.iter().map(|(host, port)| format!("{host}:{port}")).collect();
    addresses.join(",")
}
