//! Topics come and go by the admin APIs.

use std::collections::BTreeMap;

use super::topic::Replica;
use super::{Cluster, Partition, Topic};
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
        self.make_topic(name, assignment, overrides, settings)
    }

    /// Adds partitions on these brokers to a topic; they begin empty.
    pub(crate) fn grow_topic(&mut self, name: &str, assignment: &[Vec<NodeId>]) {
        let (release, running) = (self.release, self.running().collect::<Vec<NodeId>>());
        let Some(topic) = self.topics.get_mut(name) else { return };
        for nodes in assignment {
            let mut partition = Partition::new(release, nodes);
            partition.begin_on(&running);
            topic.partitions.push(partition);
        }
        self.waits.change();
    }

    /// Takes a topic away, with its records and what groups have committed of it.
    pub(crate) fn remove_topic(&mut self, name: &str) -> Option<Topic> {
        let topic = self.topics.remove(name)?;
        self.groups.forget_topic(name);
        self.waits.change();
        Some(topic)
    }

    /// Moves a partition to other brokers, at once: those that run have everything, and an in-sync one leads.
    pub(crate) fn reassign(&mut self, topic: &str, index: i32, nodes: &[NodeId]) {
        let running: Vec<NodeId> = self.running().collect();
        if let Some((partition, _)) = self.partition_mut(topic, index) {
            partition.reassign(nodes, &running);
        }
        self.waits.change();
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
    /// Other brokers for it. Who leads goes on to lead if it stays; else one takes over that was in sync before, or any.
    fn reassign(&mut self, nodes: &[NodeId], running: &[NodeId]) {
        let end = self.log.end();
        let before: Vec<NodeId> = self.in_sync().collect();
        let new = nodes.iter().map(|node| {
            let runs = running.contains(node);
            let mut replica = Replica::new(*node);
            (replica.end, replica.in_sync, replica.follows) = if runs { (end, true, true) } else { (0, false, false) };
            replica
        });
        self.replicas = new.collect();
        if self.leader.is_none_or(|leader| !nodes.contains(&leader)) {
            let stays = nodes.iter().find(|node| before.contains(node) && running.contains(node));
            let next = stays.or_else(|| nodes.iter().find(|node| running.contains(node)));
            match next {
                Some(node) => self.elect(*node),
                None => self.leader = None,
            }
        }
    }

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
