//! What tests do to a cluster from outside: topics, brokers, leaders.

use std::collections::BTreeMap;

use super::{Cluster, Partition, Topic};
use crate::NodeId;
use crate::settings::TopicSettings;

/// What was named does not exist, or is not in a state for this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such {what}: {name}")]
pub struct NoSuch {
    /// What kind of thing.
    pub what: &'static str,
    /// Its name.
    pub name: String,
}

impl NoSuch {
    pub(crate) fn new(what: &'static str, name: &impl ToString) -> Self {
        Self { what, name: name.to_string() }
    }
}

impl Cluster {
    /// Makes a topic with replicas on the brokers round robin; what was there under its name is gone.
    pub(crate) fn make_topic(
        &mut self,
        name: &str,
        assignment: &[Vec<NodeId>],
        overrides: BTreeMap<String, String>,
        settings: TopicSettings,
    ) {
        let partitions = assignment.iter().map(|replicas| Partition::new(self.release, replicas)).collect();
        let id = self.new_topic_id();
        self.topics.insert(name.to_owned(), Topic { id, partitions, overrides, settings });
        self.waits.change();
    }

    /// Which brokers `partitions` partitions go to when nobody says: round robin, beginning with the `first`-th one.
    pub(crate) fn assignment(&self, first: usize, partitions: usize, replication_factor: usize) -> Vec<Vec<NodeId>> {
        let nodes: Vec<NodeId> = self.running().collect();
        let node = |at: usize| nodes.get(at % nodes.len().max(1)).copied();
        let replicas = |partition| (0..replication_factor.min(nodes.len())).filter_map(move |n| node(partition + n));
        (first..first + partitions).map(|partition| replicas(partition).collect()).collect()
    }

    /// The brokers that run.
    pub(crate) fn running(&self) -> impl Iterator<Item = NodeId> {
        self.brokers.iter().filter(|(_, broker)| broker.running).map(|(id, _)| *id)
    }

    /// The broker that answers for the cluster: the first that runs.
    pub(crate) fn controller(&self) -> Option<NodeId> {
        self.running().next()
    }

    /// The name of a topic that a request names, or gives the id of; `None` for an id that no topic has.
    pub(crate) fn name_of(&self, by_id: bool, name: &str, id: &[u8; 16]) -> Option<String> {
        if !by_id {
            return Some(name.to_owned());
        }
        self.topics.iter().find(|(_, topic)| topic.id == *id).map(|(name, _)| name.clone())
    }

    /// A partition of a topic.
    pub(crate) fn partition(&self, topic: &str, partition: i32) -> Option<&Partition> {
        self.topics.get(topic)?.partitions.get(usize::try_from(partition).ok()?)
    }

    /// A partition of a topic, and the topic's settings.
    pub(crate) fn partition_mut(&mut self, topic: &str, partition: i32) -> Option<(&mut Partition, &TopicSettings)> {
        let topic = self.topics.get_mut(topic)?;
        Some((topic.partitions.get_mut(usize::try_from(partition).ok()?)?, &topic.settings))
    }

    /// Makes a topic, with replicas on as many brokers as `default.replication.factor` says.
    pub fn create_topic(&mut self, name: &str, partitions: usize) {
        let assignment = self.assignment(0, partitions, self.settings.replication_factor);
        self.make_topic(name, &assignment, BTreeMap::new(), self.settings.topic.clone());
    }

    /// The first offset of a partition and the one behind its last record.
    ///
    /// # Errors
    /// There is no such partition.
    pub fn offsets(&self, topic: &str, partition: i32) -> Result<(i64, i64), NoSuch> {
        let found = self.named(topic, partition)?;
        Ok((found.log.start(), found.log.end()))
    }

    /// Ends a broker in order: its connections are cut, and other in-sync replicas take its partitions over; others
    /// too where `unclean.leader.election.enable` says so.
    ///
    /// # Errors
    /// There is no such broker.
    pub fn stop_broker(&mut self, node: NodeId) -> Result<(), NoSuch> {
        self.end_broker(node, true)
    }

    /// Starts a broker that was ended: it follows the leaders again, and leads what has no leader and knows it in sync.
    ///
    /// # Errors
    /// There is no such broker.
    pub fn start_broker(&mut self, node: NodeId) -> Result<(), NoSuch> {
        let broker = self.brokers.get_mut(&node).ok_or_else(|| NoSuch::new("broker", &node))?;
        broker.running = true;
        let (now, clean) = (self.now(), self.brokers.get(&node).is_some_and(|broker| broker.clean));
        for partition in self.topics.values_mut().flat_map(|topic| &mut topic.partitions) {
            partition.come_back(now, node, clean);
        }
        self.change_followers();
        Ok(())
    }
}
