//! Topics come and go by the admin APIs.

use std::collections::BTreeMap;

use super::{Cluster, Partition};
use crate::NodeId;
use crate::settings::TopicSettings;

impl Cluster {
    /// Makes a topic with these overrides on brokers that may not all be there, and says its id.
    pub(crate) fn place_topic(
        &mut self,
        name: &str,
        assignment: &[Vec<NodeId>],
        overrides: BTreeMap<String, String>,
    ) -> [u8; 16] {
        let settings = TopicSettings::of(&self.settings, &overrides);
        self.make_topic(name, assignment, overrides, settings);
        let running: Vec<NodeId> = self.running().collect();
        let Some(topic) = self.topics.get_mut(name) else { return [0; 16] };
        for partition in &mut topic.partitions {
            partition.begin_on(&running);
        }
        topic.id
    }

    /// Other settings for the whole cluster; they hold for the topics that do not say otherwise.
    pub(crate) fn change_settings(&mut self, of_cluster: BTreeMap<String, String>) {
        self.settings = self.settings.with_of_cluster(of_cluster);
        for topic in self.topics.values_mut() {
            topic.settings = TopicSettings::of(&self.settings, &topic.overrides);
        }
    }
}

impl Partition {
    /// A new partition begins on the brokers that run: the first of them leads, the others are not in sync.
    pub(crate) fn begin_on(&mut self, running: &[NodeId]) {
        for replica in &mut self.replicas {
            let runs = running.contains(&replica.node);
            replica.in_sync = runs;
            replica.follows = runs;
        }
        let leader = self.in_sync().next();
        self.leader = leader;
    }
}
