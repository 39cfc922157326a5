//! Who leads a partition: elections by hand, and logs that come back shorter.

use super::{Cluster, NoSuch, Partition};
use crate::NodeId;

impl Cluster {
    /// The leader of a partition; `None` while it has none.
    ///
    /// # Errors
    /// There is no such partition.
    pub fn leader(&self, topic: &str, partition: i32) -> Result<Option<NodeId>, NoSuch> {
        Ok(self.named(topic, partition)?.leader)
    }

    /// Makes another in-sync replica the leader of a partition. One that was [stalled](Self::stall_follower) leads with
    /// what it has: records above the high watermark are gone. Nothing happens if the broker leads already.
    ///
    /// # Errors
    /// There is no such partition, or the broker has no in-sync replica of it, or does not run.
    pub fn move_leader(&mut self, topic: &str, partition: i32, to: NodeId) -> Result<(), NoSuch> {
        if self.leader(topic, partition)? == Some(to) {
            return Ok(());
        }
        let in_sync = self.in_sync(topic, partition)?.contains(&to);
        self.elect(topic, partition, in_sync.then_some(to).ok_or(to), "in-sync replica")
    }

    /// Makes any replica the leader (KIP-183 would call it unclean): the log is what that replica has of it, also below
    /// the high watermark, and it alone is in sync until the others have truncated theirs and follow.
    ///
    /// # Errors
    /// There is no such partition, or the broker has no replica of it, or does not run.
    pub fn elect_unclean(&mut self, topic: &str, partition: i32, to: NodeId) -> Result<(), NoSuch> {
        let replica = self.named(topic, partition)?.replicas.iter().any(|replica| replica.node == to);
        let runs = self.is_running(to);
        if replica
            && runs
            && let Some((partition, _)) = self.partition_mut(topic, partition)
        {
            partition.out_of_sync_but(to);
        }
        self.elect(topic, partition, replica.then_some(to).ok_or(to), "replica")
    }

    /// Makes the preferred replica, the first of the assignment, the leader of a partition.
    ///
    /// # Errors
    /// There is no such partition, or that replica is not in sync.
    pub fn elect_preferred(&mut self, topic: &str, partition: i32) -> Result<(), NoSuch> {
        let preferred = self.named(topic, partition)?.replicas.first().map(|replica| replica.node);
        let Some(preferred) = preferred else {
            return Err(NoSuch::new("preferred replica", &format!("{topic}-{partition}")));
        };
        self.move_leader(topic, partition, preferred)
    }

    /// Has a broker that does not run come back without what it had of a partition at `to` and behind it: what it had
    /// not flushed when it died. If it was the only one in sync, that is the end of these records.
    ///
    /// # Errors
    /// There is no such partition, or no broker with a replica of it that does not run.
    pub fn lose_tail(&mut self, topic: &str, partition: i32, node: NodeId, to: i64) -> Result<(), NoSuch> {
        let name = format!("{topic}-{partition}");
        let stopped = !self.is_running(node);
        let (partition, _) = self.partition_mut(topic, partition).ok_or_else(|| NoSuch::new("partition", &name))?;
        let replica = partition.replicas.iter_mut().find(|replica| stopped && replica.node == node);
        let replica = replica.ok_or_else(|| NoSuch::new("stopped replica", &format!("{name} on broker {node}")))?;
        replica.end = replica.end.min(to.max(partition.log.start()));
        Ok(())
    }

    fn elect(
        &mut self,
        topic: &str,
        partition: i32,
        to: Result<NodeId, NodeId>,
        what: &'static str,
    ) -> Result<(), NoSuch> {
        let absent = |node| NoSuch::new(what, &format!("{topic}-{partition} on broker {node}"));
        let to = to.map_err(absent)?;
        if !self.is_running(to) {
            return Err(absent(to));
        }
        if let Some((partition, _)) = self.partition_mut(topic, partition) {
            partition.elect(to);
        }
        self.change_followers();
        Ok(())
    }
}

impl Partition {
    /// Nobody but this broker counts as in sync.
    fn out_of_sync_but(&mut self, node: NodeId) {
        for replica in &mut self.replicas {
            replica.in_sync = replica.node == node;
        }
    }

    /// Finds a leader where there is none: somebody in sync who is there, or anybody who is, if it may be unclean.
    pub(super) fn find_leader(&mut self, unclean: bool) {
        if self.leader.is_some() {
            return;
        }
        let mut there = self.replicas.iter().filter(|replica| replica.follows);
        let any = there.clone().next().map(|replica| replica.node);
        let clean = there.find(|replica| replica.in_sync).map(|replica| replica.node);
        if let Some(node) = clean {
            self.elect(node);
        } else if unclean && let Some(node) = any {
            self.out_of_sync_but(node);
            self.elect(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::Release;
    use crate::asking::{Asking, batch};

    /// Two records that both replicas have, and one that only the leader, broker 0, has.
    fn with_a_laggard(unclean: &str) -> Asking {
        let cluster = Cluster::builder(Release::V2_0).brokers(2).setting("default.replication.factor", "2");
        let mut client = Asking::to(cluster.build().unwrap(), NodeId(0));
        client.cluster.create_topic("numbers", 1);
        client.cluster.topics.get_mut("numbers").unwrap().settings.unclean_leader_election = unclean == "unclean";
        client.produce(3, "numbers", 1, batch(2, Stamp::NONE));
        client.cluster.stall_follower("numbers", 0, NodeId(1)).unwrap();
        client.produce(3, "numbers", 1, batch(1, Stamp::NONE));
        client
    }

    fn state(client: &Asking) -> (Option<i32>, i64, Vec<i32>) {
        let leader = client.cluster.leader("numbers", 0).unwrap().map(|node| node.0);
        let in_sync = client.cluster.in_sync("numbers", 0).unwrap().into_iter().map(|node| node.0);
        (leader, client.cluster.offsets("numbers", 0).unwrap().1, in_sync.collect())
    }

    /// A follower that has not fetched the last record yet is in sync, and may be elected: what acks 1 acknowledged is
    /// gone, and nobody did anything unclean.
    #[test]
    fn a_clean_election_can_lose_what_acks_1_acknowledged() {
        let mut client = with_a_laggard("clean");
        client.cluster.stop_broker(NodeId(0)).unwrap();
        assert_eq!(state(&client), (Some(1), 2, vec![1]));
        client.cluster.start_broker(NodeId(0)).unwrap();
        assert_eq!(state(&client), (Some(1), 2, vec![0, 1]));
    }

    /// Once the follower is out of sync the partition waits for its leader, and nothing is lost.
    #[test]
    fn without_anybody_in_sync_the_partition_waits() {
        let mut client = with_a_laggard("clean");
        client.now = client.now.later(std::time::Duration::from_secs(11));
        client.cluster.advance(client.now);
        client.cluster.stop_broker(NodeId(0)).unwrap();
        assert_eq!(state(&client), (None, 3, vec![0]));
        assert!(client.cluster.move_leader("numbers", 0, NodeId(1)).is_err(), "not in sync");
        client.cluster.start_broker(NodeId(0)).unwrap();
        assert_eq!(state(&client), (Some(0), 3, vec![0]));
    }

    /// By hand, or because the topic allows it: the log ends where the new leader's does.
    #[test]
    fn an_unclean_election_truncates() {
        for by_hand in [true, false] {
            let mut client = with_a_laggard(if by_hand { "clean" } else { "unclean" });
            client.now = client.now.later(std::time::Duration::from_secs(11));
            client.cluster.advance(client.now);
            if by_hand {
                client.cluster.elect_unclean("numbers", 0, NodeId(1)).unwrap();
                assert_eq!(state(&client), (Some(1), 2, vec![0, 1]), "broker 0 has truncated its log and follows");
            } else {
                client.cluster.stop_broker(NodeId(0)).unwrap();
                assert_eq!(state(&client), (Some(1), 2, vec![1]));
            }
            client.connect(NodeId(1));
            assert_eq!(client.produce(3, "numbers", 1, batch(1, Stamp::NONE)).base_offset, 2, "written again");
        }
    }

    #[test]
    fn the_preferred_leader_is_the_first_of_the_assignment() {
        let mut client = with_a_laggard("clean");
        client.cluster.resume_follower("numbers", 0, NodeId(1)).unwrap();
        client.cluster.move_leader("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(state(&client), (Some(1), 3, vec![0, 1]));
        client.cluster.elect_preferred("numbers", 0).unwrap();
        assert_eq!(state(&client), (Some(0), 3, vec![0, 1]));
        client.cluster.stop_broker(NodeId(0)).unwrap();
        assert!(client.cluster.elect_preferred("numbers", 0).is_err(), "it is not there");
    }

    /// A machine loses power: what its only broker had not flushed is gone, whatever was acknowledged.
    #[test]
    fn a_killed_broker_loses_what_it_had_not_flushed() {
        let mut client = with_a_laggard("clean");
        client.cluster.stop_broker(NodeId(1)).unwrap();
        assert!(client.cluster.lose_tail("numbers", 0, NodeId(0), 1).is_err(), "it runs");
        client.cluster.kill_broker(NodeId(0)).unwrap();
        client.cluster.lose_tail("numbers", 0, NodeId(0), 2).unwrap();
        client.cluster.start_broker(NodeId(0)).unwrap();
        assert_eq!(state(&client), (Some(0), 2, vec![0]));
    }

    /// While another broker has everything, nothing is lost.
    #[test]
    fn a_lost_tail_is_fetched_again() {
        let mut client = with_a_laggard("clean");
        client.cluster.resume_follower("numbers", 0, NodeId(1)).unwrap();
        client.cluster.kill_broker(NodeId(0)).unwrap();
        client.cluster.lose_tail("numbers", 0, NodeId(0), 0).unwrap();
        client.cluster.start_broker(NodeId(0)).unwrap();
        assert_eq!(state(&client), (Some(1), 3, vec![0, 1]));
    }

    /// Kafka elects nobody who leads: no epoch begins, and what is known of producers is not forgotten.
    #[test]
    fn who_leads_is_not_elected() {
        let mut client = with_a_laggard("clean");
        client.cluster.move_leader("numbers", 0, NodeId(0)).unwrap();
        assert_eq!(client.cluster.partition("numbers", 0).unwrap().leader_epoch, 0);
    }

    /// An election that cannot be leaves everything as it was.
    #[test]
    fn a_broker_that_is_down_is_not_elected() {
        let mut client = with_a_laggard("clean");
        client.cluster.resume_follower("numbers", 0, NodeId(1)).unwrap();
        client.cluster.stop_broker(NodeId(1)).unwrap();
        let before = state(&client);
        assert!(client.cluster.elect_unclean("numbers", 0, NodeId(1)).is_err());
        assert!(client.cluster.move_leader("numbers", 0, NodeId(1)).is_err());
        assert_eq!(state(&client), before);
    }
}
