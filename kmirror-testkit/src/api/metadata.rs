//! Metadata: brokers, topics, leaders; and topics that come to be by being asked for.
//!
//! Measured (facts of the releases): a missing topic is created when auto creation is on; the answer that created it says
//! 5 (LEADER_NOT_AVAILABLE), on 4.x 3 (UNKNOWN_TOPIC_OR_PARTITION), the next one has it. A bad name is 17. An unknown id
//! is 100 (KIP-516). Java: `kafka.server.KafkaApis.handleTopicMetadataRequest`.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    MetadataBroker, MetadataPartition, MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataTopic,
};

use super::topic_names;
use crate::cluster::{Call, Cluster, Partition, Reply, Topic};
use crate::{NodeId, Release};

/// No id: what a topic is asked for by when it is asked for by name.
pub(crate) const NO_ID: [u8; 16] = [0; 16];

/// Answers for the whole cluster, whichever broker is asked.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &MetadataRequest) -> Reply {
    // Nobody could forbid it before v4.
    let create = cluster.settings.auto_create_topics && (call.version < 4 || request.allow_auto_topic_creation);
    let topics = match &request.topics {
        None => cluster.topics.iter().map(|(name, topic)| described(cluster, name, topic)).collect(),
        Some(topics) => topics.iter().map(|topic| one(cluster, topic, create)).collect(),
    };
    Reply::from(MetadataResponse {
        brokers: cluster.running().filter_map(|node| broker(cluster, node)).collect(),
        cluster_id: Some(cluster.id.clone()),
        controller_id: cluster.controller().map_or(-1, |node| node.0),
        topics,
        ..MetadataResponse::default()
    })
}

fn broker(cluster: &Cluster, node: NodeId) -> Option<MetadataBroker> {
    let broker = cluster.brokers.get(&node)?;
    Some(MetadataBroker {
        node_id: node.0,
        host: broker.host.clone(),
        port: i32::from(broker.port),
        rack: broker.rack.clone(),
    })
}

fn one(cluster: &mut Cluster, asked: &MetadataRequestTopic, create: bool) -> MetadataTopic {
    let Some(name) = &asked.name else { return by_id(cluster, asked.topic_id) };
    if let Some(topic) = cluster.topics.get(name) {
        return described(cluster, name, topic);
    }
    if !topic_names::is_valid(name) {
        return refused(name, ErrorCode::INVALID_TOPIC_EXCEPTION);
    }
    if !create {
        return refused(name, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    }
    let settings = &cluster.settings;
    let assignment = cluster.assignment(0, settings.partitions, settings.replication_factor);
    cluster.make_topic(name, &assignment, BTreeMap::new(), cluster.settings.topic.clone());
    let absent_yet = if cluster.release >= Release::V4_4 {
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    } else {
        ErrorCode::LEADER_NOT_AVAILABLE
    };
    refused(name, absent_yet)
}

fn by_id(cluster: &Cluster, id: [u8; 16]) -> MetadataTopic {
    let found = cluster.topics.iter().find(|(_, topic)| topic.id == id);
    match found {
        Some((name, topic)) => described(cluster, name, topic),
        None => MetadataTopic { topic_id: id, ..refused("", ErrorCode::UNKNOWN_TOPIC_ID) },
    }
}

fn refused(name: &str, error_code: ErrorCode) -> MetadataTopic {
    MetadataTopic { error_code, name: name.to_owned(), ..MetadataTopic::default() }
}

fn described(cluster: &Cluster, name: &str, topic: &Topic) -> MetadataTopic {
    let indexed = (0..).zip(&topic.partitions);
    MetadataTopic {
        name: name.to_owned(),
        topic_id: if cluster.release >= Release::V2_8 { topic.id } else { NO_ID },
        is_internal: topic_names::INTERNAL.contains(&name),
        partitions: indexed.map(|(index, partition)| partition_of(cluster, index, partition)).collect(),
        ..MetadataTopic::default()
    }
}

/// What clients are told of a partition.
pub(crate) fn partition_of(cluster: &Cluster, partition_index: i32, partition: &Partition) -> MetadataPartition {
    let runs = |node: &NodeId| cluster.brokers.get(node).is_some_and(|broker| broker.running);
    let replicas = partition.replicas.iter().map(|replica| replica.node);
    MetadataPartition {
        error_code: if partition.leader.is_some() { ErrorCode::NONE } else { ErrorCode::LEADER_NOT_AVAILABLE },
        partition_index,
        leader_id: partition.leader.map_or(-1, |node| node.0),
        leader_epoch: partition.leader_epoch,
        replica_nodes: replicas.clone().map(|node| node.0).collect(),
        isr_nodes: partition.in_sync().map(|node| node.0).collect(),
        offline_replicas: replicas.filter(|node| !runs(node)).map(|node| node.0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asking::Asking;

    fn asked(name: &str) -> MetadataRequest {
        let topic = MetadataRequestTopic { topic_id: NO_ID, name: Some(name.to_owned()) };
        MetadataRequest { topics: Some(vec![topic]), ..MetadataRequest::default() }
    }

    /// The first answer about a topic that it creates says that it is not there yet; which error, is the release's.
    #[test]
    fn a_missing_topic_is_created_by_asking() {
        for (release, first) in [(Release::V0_10_0, 5), (Release::V2_0, 5), (Release::V3_9, 5), (Release::V4_4, 3)] {
            let mut client = Asking::of(release);
            let answer: MetadataResponse = client.ask(1, asked("new"));
            assert_eq!((answer.topics[0].error_code.0, answer.topics[0].partitions.len()), (first, 0), "{release}");
            let answer: MetadataResponse = client.ask(1, asked("new"));
            assert_eq!((answer.topics[0].error_code.0, answer.topics[0].partitions.len()), (0, 1), "{release}");
        }
    }

    #[test]
    fn from_v4_on_asking_does_not_have_to_create() {
        let mut client = Asking::of(Release::V2_0);
        let absent = MetadataRequest { allow_auto_topic_creation: false, ..asked("absent") };
        for _ in 0..2 {
            let answer: MetadataResponse = client.ask(4, absent.clone());
            assert_eq!(answer.topics[0].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
        }
    }

    #[test]
    fn names_that_are_none() {
        let mut client = Asking::of(Release::V2_0);
        for name in ["a b", "", "..", &"n".repeat(250)] {
            let answer: MetadataResponse = client.ask(1, asked(name));
            assert_eq!(answer.topics[0].error_code, ErrorCode::INVALID_TOPIC_EXCEPTION, "{name:?}");
        }
    }
}
