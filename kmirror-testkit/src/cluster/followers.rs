//! Followers that fall behind: what acks all waits for, and what leaves the in-sync replicas.

use std::time::Duration;

use super::{Cluster, NoSuch, Partition};
use crate::NodeId;

impl Cluster {
    /// Keeps a follower from taking over what the leader appends from now on. It stays in sync until it has been
    /// behind for longer than `replica.lag.time.max.ms`; until then acks all waits for it and consumers do not see
    /// what it lacks, and it can be elected with what it has.
    ///
    /// # Errors
    /// There is no such partition, or it has no replica there.
    pub fn stall_follower(&mut self, topic: &str, partition: i32, node: NodeId) -> Result<(), NoSuch> {
        self.set_stalled(topic, partition, node, true)
    }

    /// Lets a stalled follower go on: it takes over what it lacks, and is in sync.
    ///
    /// # Errors
    /// There is no such partition, or it has no replica there.
    pub fn resume_follower(&mut self, topic: &str, partition: i32, node: NodeId) -> Result<(), NoSuch> {
        self.set_stalled(topic, partition, node, false)
    }

    /// The in-sync replicas of a partition, in the order of assignment.
    ///
    /// # Errors
    /// There is no such partition.
    pub fn in_sync(&self, topic: &str, partition: i32) -> Result<Vec<NodeId>, NoSuch> {
        Ok(self.named(topic, partition)?.in_sync().collect())
    }

    /// A partition by name, for whoever named it.
    pub(super) fn named(&self, topic: &str, partition: i32) -> Result<&Partition, NoSuch> {
        let found = self.partition(topic, partition);
        found.ok_or_else(|| NoSuch::new("partition", &format!("{topic}-{partition}")))
    }

    fn set_stalled(&mut self, topic: &str, partition: i32, node: NodeId, stalled: bool) -> Result<(), NoSuch> {
        let name = format!("{topic}-{partition}");
        let (partition, _) = self.partition_mut(topic, partition).ok_or_else(|| NoSuch::new("partition", &name))?;
        let replica = partition.replicas.iter_mut().find(|replica| replica.node == node);
        replica.ok_or_else(|| NoSuch::new("replica", &format!("{name} on broker {node}")))?.stalled = stalled;
        partition.replicate();
        self.change_followers();
        Ok(())
    }

    /// Who follows whom has changed.
    pub(super) fn change_followers(&mut self) {
        self.watch_followers = true;
        self.waits.change();
        self.settle();
    }

    /// Takes those out of the in-sync replicas that have been behind for too long. Costs nothing while all follow.
    pub(super) fn drop_laggards(&mut self) {
        if !self.watch_followers {
            return;
        }
        let (now, lag_max) = (self.now().elapsed, self.settings.replica_lag_max);
        let (mut due, mut any_idle, mut any_dropped) = (None, false, false);
        for partition in self.topics.values_mut().flat_map(|topic| &mut topic.partitions) {
            any_dropped |= partition.drop_laggards(now, lag_max, &mut due, &mut any_idle);
        }
        self.laggards_due = due;
        self.watch_followers = any_idle;
        if any_dropped {
            self.waits.change();
        }
    }
}

impl Partition {
    /// Takes those out that have been behind for longer than `lag_max`; says whether there were any. `due` becomes the
    /// time at which the next one may be, `any_idle` whether any replica does not follow.
    fn drop_laggards(
        &mut self,
        now: Duration,
        lag_max: Duration,
        due: &mut Option<Duration>,
        any_idle: &mut bool,
    ) -> bool {
        let (leader, end) = (self.leader, self.log.end());
        let mut any_dropped = false;
        for replica in self.replicas.iter_mut().filter(|replica| Some(replica.node) != leader) {
            let idle = !replica.follows || replica.stalled;
            *any_idle |= idle;
            if !idle || !replica.in_sync || replica.end >= end || leader.is_none() {
                replica.behind_since = None;
                continue;
            }
            let over = replica.behind_since.get_or_insert(now).saturating_add(lag_max);
            if over <= now {
                replica.in_sync = false;
                any_dropped = true;
            } else {
                *due = Some(due.map_or(over, |due| due.min(over)));
            }
        }
        any_dropped
    }

    /// A broker is there to follow, or is not.
    pub(super) fn set_follows(&mut self, node: NodeId, follows: bool) {
        for replica in self.replicas.iter_mut().filter(|replica| replica.node == node) {
            replica.follows = follows;
        }
        self.replicate();
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::{AnyRequest, AnyResponse, ProducePartition, ProduceRequest, ProduceTopic};
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::Release;
    use crate::asking::{Asking, Came, batch};

    const NODES: [NodeId; 2] = [NodeId(0), NodeId(1)];

    fn two_replicas(in_sync_min: &str) -> Asking {
        let cluster = Cluster::builder(Release::V2_0).brokers(2).setting("default.replication.factor", "2");
        let cluster = cluster.setting("min.insync.replicas", in_sync_min).build().unwrap();
        let mut client = Asking::to(cluster, NodeId(0));
        client.cluster.create_topic("numbers", 1);
        client
    }

    fn acks_all() -> AnyRequest {
        let partitions = vec![ProducePartition { index: 0, records: batch(1, Stamp::NONE).into() }];
        let topics = vec![ProduceTopic { name: "numbers".to_owned(), partitions, ..ProduceTopic::default() }];
        ProduceRequest { acks: -1, timeout_ms: 60_000, topics, ..ProduceRequest::default() }.into()
    }

    fn code(came: Came) -> i16 {
        let Came::Answer(answer) = came else { panic!("no answer: {came:?}") };
        let AnyResponse::Produce(answer) = *answer else { panic!("of another API") };
        answer.topics[0].partitions[0].error_code.0
    }

    /// Acks all waits for a stalled follower, until that goes on or is out of sync.
    #[test]
    fn a_stalled_follower_holds_up_acks_all() {
        let mut client = two_replicas("1");
        client.cluster.stall_follower("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(client.cluster.poll_timeout(), None, "it lacks nothing yet");
        assert_eq!(client.send(3, acks_all()), Came::Nothing);
        client.cluster.resume_follower("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(code(client.wait(Duration::ZERO, 3, &acks_all())), 0);

        client.cluster.stall_follower("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(client.send(3, acks_all()), Came::Nothing);
        assert_eq!(client.cluster.in_sync("numbers", 0).unwrap(), NODES);
        assert_eq!(client.cluster.poll_timeout(), Some(Duration::from_secs(10)), "replica.lag.time.max.ms");
        assert_eq!(code(client.wait(Duration::from_secs(10), 3, &acks_all())), 0);
        assert_eq!(client.cluster.in_sync("numbers", 0).unwrap(), [NodeId(0)]);
        client.cluster.resume_follower("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(client.cluster.in_sync("numbers", 0).unwrap(), NODES);
    }

    /// The records are there, and there were too few replicas left when they were: 20, and 19 from then on.
    #[test]
    fn too_few_replicas_after_the_append() {
        let mut client = two_replicas("2");
        client.cluster.stall_follower("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(client.send(3, acks_all()), Came::Nothing);
        assert_eq!(code(client.wait(Duration::from_secs(10), 3, &acks_all())), 20);
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 1)));
        assert_eq!(code(client.send(3, acks_all())), 19);
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 1)));
    }

    /// A produce that waits for replicas is told when its broker leads no more.
    #[test]
    fn who_waits_for_replicas_is_told_of_another_leader() {
        let mut client = two_replicas("1");
        client.cluster.stall_follower("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(client.send(3, acks_all()), Came::Nothing);
        client.cluster.move_leader("numbers", 0, NodeId(1)).unwrap();
        assert_eq!(code(client.wait(Duration::ZERO, 3, &acks_all())), 6);
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 0)), "the new leader did not have it");
    }

    /// A frozen broker follows nobody.
    #[test]
    fn a_frozen_broker_falls_behind() {
        let mut client = two_replicas("1");
        client.cluster.freeze_broker(NodeId(1)).unwrap();
        assert_eq!(client.send(3, acks_all()), Came::Nothing);
        assert_eq!(code(client.wait(Duration::from_secs(10), 3, &acks_all())), 0);
        assert_eq!(client.cluster.in_sync("numbers", 0).unwrap(), [NodeId(0)]);
        client.cluster.thaw_broker(NodeId(1)).unwrap();
        assert_eq!(client.cluster.in_sync("numbers", 0).unwrap(), NODES);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let mut client = two_replicas("1");
        let errors = [
            client.cluster.stall_follower("letters", 0, NodeId(1)),
            client.cluster.stall_follower("numbers", 1, NodeId(1)),
            client.cluster.stall_follower("numbers", 0, NodeId(7)),
        ];
        let texts = errors.map(|error| error.unwrap_err().to_string());
        let named = ["partition: letters-0", "partition: numbers-1", "replica: numbers-0 on broker 7"];
        assert_eq!(texts, named.map(|name| format!("no such {name}")));
    }
}
