//! TxnOffsetCommit: offsets of a group that hold once the transaction is committed (KIP-98), from v3 on for a member of
//! the group (KIP-447). The rules stand in [`groups`](crate::groups).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    CommittedPartition, CommittedTopic, OffsetCommitPartition, TxnOffsetCommitRequest, TxnOffsetCommitResponse,
};

use super::access;
use crate::acls::Operation;
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::{Committed, Committing, MemberOf};
use crate::transactions::Identity;

/// The first version that adds the group to the transaction by itself (KIP-890).
const ADDS_FROM: i16 = 5;

/// The first version whose topics go by id.
const BY_ID_FROM: i16 = 6;

/// Answered by the group's coordinator.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &TxnOffsetCommitRequest) -> Reply {
    let member = MemberOf {
        id: &request.member_id,
        instance_id: request.group_instance_id.as_deref(),
        generation: request.generation_id_or_member_epoch,
    };
    let by = Committing::Transaction { producer_id: request.producer_id, member: Some(member) };
    let allowed = allowed(cluster, call, request, by);
    let topics = request.topics.iter().map(|topic| {
        let name = cluster.name_of(call.version >= BY_ID_FROM, &topic.name, &topic.topic_id);
        let partitions = topic.partitions.iter().map(|partition| CommittedPartition {
            partition_index: partition.partition_index,
            error_code: match (name.as_deref().map(|name| (name, may(cluster, call, name))), allowed) {
                // Who may not read the topic is told so before anything about the group.
                (Some((_, Err(code))), _) | (_, Err(code)) => code,
                (None, Ok(())) => ErrorCode::UNKNOWN_TOPIC_ID,
                (Some((name, Ok(()))), Ok(())) => {
                    one(cluster, &request.group_id, by, name, partition).err().unwrap_or(ErrorCode::NONE)
                }
            },
        });
        let partitions = partitions.collect();
        CommittedTopic { name: topic.name.clone(), topic_id: topic.topic_id, partitions }
    });
    Reply::from(TxnOffsetCommitResponse { topics: topics.collect(), ..TxnOffsetCommitResponse::default() })
}

fn allowed(
    cluster: &mut Cluster,
    call: &Call,
    request: &TxnOffsetCommitRequest,
    by: Committing<'_>,
) -> Result<(), ErrorCode> {
    cluster.coordinates(call, Coordinates::Group, &request.group_id)?;
    if call.version >= ADDS_FROM {
        let producer = Identity { id: request.producer_id, epoch: request.producer_epoch };
        let place = cluster.coordinated_by(Coordinates::Group, &request.group_id);
        cluster.transactions.add(call.now, (&request.transactional_id, producer), true, place)?;
    }
    cluster.groups.may_commit(call.now, &request.group_id, by)
}

fn may(cluster: &Cluster, call: &Call, name: &str) -> Result<(), ErrorCode> {
    access::topic(cluster, call, Operation::Read, name)
}

fn one(
    cluster: &mut Cluster,
    group_id: &str,
    by: Committing<'_>,
    topic: &str,
    partition: &OffsetCommitPartition,
) -> Result<(), ErrorCode> {
    if cluster.partition(topic, partition.partition_index).is_none() {
        return Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    }
    let committed = Committed::from(partition);
    cluster.groups.commit(group_id, by, (topic.to_owned(), partition.partition_index, committed))
}
