//! OffsetCommit: v0 into ZooKeeper, v1 and later to the group. The rules stand in [`groups`](crate::groups).
//!
//! A partition that the topic does not have is refused (3) from 2.0 on, and taken without a word before (measured).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    CommittedPartition, CommittedTopic, OffsetCommitPartition, OffsetCommitRequest, OffsetCommitResponse,
    OffsetCommitTopic,
};

use super::access;
use crate::Release;
use crate::acls::Operation;
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::{Committed, Committing, MemberOf};

/// The first version whose topics go by id.
pub(crate) const BY_ID_FROM: i16 = 10;

/// Commits partition by partition; a commit that the group does not take is refused as a whole.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &OffsetCommitRequest) -> Reply {
    let by = by(call, request);
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
        let OffsetCommitTopic { name, topic_id, .. } = topic;
        CommittedTopic { name: name.clone(), topic_id: *topic_id, partitions }
    });
    Reply::from(OffsetCommitResponse { topics: topics.collect(), ..OffsetCommitResponse::default() })
}

fn by<'a>(call: &Call, request: &'a OffsetCommitRequest) -> Committing<'a> {
    if call.version == 0 {
        return Committing::ToZooKeeper;
    }
    Committing::Member(MemberOf {
        id: &request.member_id,
        instance_id: request.group_instance_id.as_deref(),
        generation: request.generation_id_or_member_epoch,
    })
}

fn allowed(
    cluster: &mut Cluster,
    call: &Call,
    request: &OffsetCommitRequest,
    by: Committing<'_>,
) -> Result<(), ErrorCode> {
    if !matches!(by, Committing::ToZooKeeper) {
        cluster.coordinates(call, Coordinates::Group, &request.group_id)?;
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
    let known = match cluster.topics.get(topic) {
        Some(_) if cluster.release < Release::V2_0 => true,
        Some(_) => cluster.partition(topic, partition.partition_index).is_some(),
        None => false,
    };
    if !known {
        return Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    }
    let committed = Committed::from(partition);
    cluster.groups.commit(group_id, by, (topic.to_owned(), partition.partition_index, committed))
}
