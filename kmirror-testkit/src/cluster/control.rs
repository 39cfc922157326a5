//! What tests do to a cluster from outside: topics, brokers, leaders.

use std::collections::BTreeMap;

use super::{Cluster, Partition, Topic};
use crate::NodeId;
use crate::configs::{SettingError, read_overrides};
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
    /// Makes a topic with replicas on these brokers, and says its id. What was there under its name is gone.
    pub(crate) fn make_topic(
        &mut self,
        name: &str,
        assignment: &[Vec<NodeId>],
        overrides: BTreeMap<String, String>,
        settings: TopicSettings,
    ) -> [u8; 16] {
        self.remove_topic(name);
        let id = self.new_uuid();
        self.topics.insert(name.to_owned(), Topic { id, partitions: Vec::new(), overrides, settings });
        self.grow_topic(name, assignment);
        id
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

    /// Makes a topic with the brokers' settings, and with replicas on as many of the running brokers as
    /// `default.replication.factor` says. A topic of that name is deleted first, with what groups have committed of it.
    /// Whether clients could create one of that name is not looked at.
    pub fn create_topic(&mut self, name: &str, partitions: usize) {
        self.create(name, partitions, BTreeMap::new(), self.settings.topic.clone());
    }

    /// As [`create_topic`](Self::create_topic), with settings of its own, by Kafka's names.
    ///
    /// ```
    /// use kmirror_testkit::{Cluster, Release};
    ///
    /// let mut cluster = Cluster::builder(Release::V2_0).build()?;
    /// cluster.create_topic_with("keyed", 1, &[("cleanup.policy", "compact"), ("segment.bytes", "1000")])?;
    /// # Ok::<(), kmirror_testkit::SettingError>(())
    /// ```
    ///
    /// # Errors
    /// A setting that topics of the release do not have, or a value that it does not take; no topic is made then.
    pub fn create_topic_with(
        &mut self,
        name: &str,
        partitions: usize,
        settings: &[(&str, &str)],
    ) -> Result<(), SettingError> {
        let overrides = read_overrides(&self.settings, settings.iter().copied())?;
        let settings = TopicSettings::of(&self.settings, &overrides);
        self.create(name, partitions, overrides, settings);
        Ok(())
    }

    fn create(&mut self, name: &str, partitions: usize, overrides: BTreeMap<String, String>, settings: TopicSettings) {
        let assignment = self.assignment(0, partitions, self.settings.replication_factor);
        self.make_topic(name, &assignment, overrides, settings);
        self.settle();
    }

    /// What was set for a topic, in the form in which brokers describe it; what it has from its brokers is not among it.
    ///
    /// # Errors
    /// There is no such topic.
    pub fn topic_settings(&self, name: &str) -> Result<BTreeMap<String, String>, NoSuch> {
        let topic = self.topics.get(name).ok_or_else(|| NoSuch::new("topic", &name))?;
        Ok(topic.overrides.clone())
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
    /// Nothing happens to one that runs.
    ///
    /// # Errors
    /// There is no such broker.
    pub fn start_broker(&mut self, node: NodeId) -> Result<(), NoSuch> {
        let now = self.now();
        let broker = self.brokers.get_mut(&node).ok_or_else(|| NoSuch::new("broker", &node))?;
        if broker.running {
            return Ok(());
        }
        broker.running = true;
        let clean = broker.clean;
        for partition in self.topics.values_mut().flat_map(|topic| &mut topic.partitions) {
            partition.come_back(now, node, clean);
        }
        self.change_followers();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::Release;
    use crate::asking::{Asking, batch};

    #[test]
    fn a_topic_has_settings_of_its_own() {
        let mut cluster = Cluster::builder(Release::V2_0).build().unwrap();
        cluster.create_topic_with("small", 1, &[("max.message.bytes", " 100 ")]).unwrap();
        cluster.create_topic("large", 1);
        let max = |topic: &str| cluster.topics[topic].settings.max_message_bytes;
        assert_eq!((max("small"), max("large")), (100, 1_000_012));
        let own = BTreeMap::from([("max.message.bytes".to_owned(), "100".to_owned())]);
        assert_eq!(cluster.topic_settings("small"), Ok(own));
        assert_eq!(cluster.topic_settings("large"), Ok(BTreeMap::new()));
        let unknown = cluster.create_topic_with("none", 1, &[("no.such", "1")]).unwrap_err();
        assert_eq!(unknown.to_string(), "unknown setting no.such");
        assert!(!cluster.topics.contains_key("none"));
        assert!(cluster.topic_settings("none").is_err());
    }

    /// As if it had been deleted: its records are gone, and its id is another one.
    #[test]
    fn a_topic_is_made_in_the_place_of_another() {
        let mut client = Asking::of(Release::V2_8);
        client.cluster.create_topic("numbers", 1);
        let before = client.cluster.topics["numbers"].id;
        client.produce(3, "numbers", 1, batch(2, Stamp::NONE));
        client.cluster.create_topic("numbers", 3);
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 0)));
        assert_ne!(client.cluster.topics["numbers"].id, before);
    }
}
