//! Brokers that are stopped as by SIGSTOP, and brokers that die.

use super::{Cluster, ConnectionId, NoSuch};
use crate::NodeId;
use crate::api::fetch::Sessions;
use crate::fault::End;

impl Cluster {
    /// Stops a broker as SIGSTOP does: it accepts connections, since its kernel does, and nothing else happens there
    /// before it is [thawed](Self::thaw_broker). It follows nobody meanwhile, and leads what it led until somebody
    /// else is made the leader. What clients send it waits, even if they close their connections; a reset takes it
    /// back.
    ///
    /// The group and transaction coordinators of a frozen broker keep their time: sessions end there as ever.
    ///
    /// # Errors
    /// There is no such broker, or it does not run.
    pub fn freeze_broker(&mut self, node: NodeId) -> Result<(), NoSuch> {
        self.set_frozen(node, true)
    }

    /// Lets a frozen broker go on: it serves what was sent to it, and answers what waited.
    ///
    /// # Errors
    /// There is no such broker.
    pub fn thaw_broker(&mut self, node: NodeId) -> Result<(), NoSuch> {
        self.set_frozen(node, false)?;
        self.expire();
        self.settle();
        Ok(())
    }

    /// Ends a broker as SIGKILL does. As [`stop_broker`](Self::stop_broker), but it has no time to write down what it
    /// knows of producers, and what it had not flushed may be [lost](Self::lose_tail).
    ///
    /// # Errors
    /// There is no such broker.
    pub fn kill_broker(&mut self, node: NodeId) -> Result<(), NoSuch> {
        self.end_broker(node, false)
    }

    fn set_frozen(&mut self, node: NodeId, frozen: bool) -> Result<(), NoSuch> {
        let broker = self.brokers.get_mut(&node).ok_or_else(|| NoSuch::new("broker", &node))?;
        if frozen && !broker.running {
            return Err(NoSuch::new("running broker", &node));
        }
        broker.frozen = frozen;
        let follows = broker.running && !frozen;
        for partition in self.topics.values_mut().flat_map(|topic| &mut topic.partitions) {
            partition.set_follows(node, follows);
        }
        self.change_followers();
        Ok(())
    }

    /// Ends a broker, having written down what it knows or not.
    pub(super) fn end_broker(&mut self, node: NodeId, clean: bool) -> Result<(), NoSuch> {
        let broker = self.brokers.get_mut(&node).ok_or_else(|| NoSuch::new("broker", &node))?;
        (broker.running, broker.frozen, broker.clean) = (false, false, clean);
        broker.sessions = Sessions::default();
        let cut = self.connections.iter().filter(|(_, connection)| connection.node == node);
        let cut: Vec<ConnectionId> = cut.map(|(id, _)| *id).collect();
        for id in cut {
            self.end(id, End::Reset);
        }
        for topic in self.topics.values_mut() {
            let unclean = topic.settings.unclean_leader_election;
            for partition in &mut topic.partitions {
                partition.leave(node);
                partition.find_leader(unclean);
            }
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
    use crate::asking::{Asking, Came, batch};

    #[test]
    fn only_a_running_broker_is_frozen() {
        let mut cluster = Cluster::builder(Release::V2_0).build().unwrap();
        cluster.stop_broker(NodeId(0)).unwrap();
        assert_eq!(cluster.freeze_broker(NodeId(0)).unwrap_err().to_string(), "no such running broker: 0");
        cluster.start_broker(NodeId(0)).unwrap();
        cluster.freeze_broker(NodeId(0)).unwrap();
        cluster.start_broker(NodeId(0)).unwrap();
        assert!(cluster.is_frozen(NodeId(0)), "it runs: there is nothing to start");
    }

    /// Freezing is for brokers that run: one that is ended is thawed with that, and says so when it is back.
    #[test]
    fn a_broker_that_ends_is_not_frozen_any_more() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        client.cluster.freeze_broker(NodeId(0)).unwrap();
        client.cluster.kill_broker(NodeId(0)).unwrap();
        client.cluster.start_broker(NodeId(0)).unwrap();
        client.connect(NodeId(0));
        assert_eq!(client.produce(3, "numbers", 1, batch(1, Stamp::NONE)).base_offset, 0);
    }

    #[test]
    fn a_killed_broker_cuts_its_connections() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.kill_broker(NodeId(0)).unwrap();
        let request = kmirror_proto::messages::ApiVersionsRequest::default();
        assert_eq!(client.send(0, request), Came::Closed);
        assert!(client.cluster.connect(client.now, NodeId(0)).is_none());
        let gone = [client.cluster.kill_broker(NodeId(9)), client.cluster.freeze_broker(NodeId(9))];
        assert!(gone.iter().all(Result::is_err));
    }
}
