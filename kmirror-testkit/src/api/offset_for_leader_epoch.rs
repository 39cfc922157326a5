//! OffsetForLeaderEpoch: where an epoch ends, so that a reader can tell whether the log was truncated (KIP-101, KIP-320).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    EpochEnd, EpochEndTopic, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition,
};

use super::access;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};

/// Looks each partition up in its leader's log.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &OffsetForLeaderEpochRequest) -> Reply {
    let topics = request.topics.iter().map(|topic| EpochEndTopic {
        name: topic.name.clone(),
        partitions: topic.partitions.iter().map(|asked| one(cluster, call, &topic.name, asked)).collect(),
    });
    Reply::from(OffsetForLeaderEpochResponse { topics: topics.collect(), ..OffsetForLeaderEpochResponse::default() })
}

fn one(cluster: &Cluster, call: &Call, topic: &str, asked: &OffsetForLeaderPartition) -> EpochEnd {
    let refused = |error_code| EpochEnd { error_code, partition: asked.partition, leader_epoch: -1, end_offset: -1 };
    // Brokers ask too, and may do so about all topics.
    let broker = authorized(cluster, call, Operation::ClusterAction, Resource::Cluster);
    let may = if broker { Ok(()) } else { access::topic(cluster, call, Operation::Describe, topic) };
    if let Err(code) = may {
        return refused(code);
    }
    let Some(partition) = cluster.partition(topic, asked.partition) else {
        return refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    if let Err(code) = partition.may_ask(call.node, asked.current_leader_epoch) {
        return refused(code);
    }
    let (leader_epoch, end_offset) = partition.log.end_of_epoch(asked.leader_epoch);
    EpochEnd { error_code: ErrorCode::NONE, partition: asked.partition, leader_epoch, end_offset }
}
