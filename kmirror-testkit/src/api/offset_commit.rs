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
    let commit = Commit { group_id: &request.group_id, by, allowed, by_topic_id: call.version >= BY_ID_FROM };
    let topics = commit.topics(cluster, call, &request.topics);
    Reply::from(OffsetCommitResponse { topics, ..OffsetCommitResponse::default() })
}

/// Offsets that a group is to remember, at once or for a transaction.
pub(super) struct Commit<'a> {
    pub(super) group_id: &'a str,
    pub(super) by: Committing<'a>,
    /// What the group says to the commit as a whole.
    pub(super) allowed: Result<(), ErrorCode>,
    /// Topics are named by their ids.
    pub(super) by_topic_id: bool,
}

impl Commit<'_> {
    /// Commits what is allowed, and says what became of each partition.
    pub(super) fn topics(
        &self,
        cluster: &mut Cluster,
        call: &Call,
        topics: &[OffsetCommitTopic],
    ) -> Vec<CommittedTopic> {
        let topic = |topic: &OffsetCommitTopic| {
            let name = cluster.name_of(self.by_topic_id, &topic.name, &topic.topic_id);
            let partition = |partition: &OffsetCommitPartition| CommittedPartition {
                partition_index: partition.partition_index,
                error_code: self.one(cluster, call, name.as_deref(), partition).err().unwrap_or(ErrorCode::NONE),
            };
            let partitions = topic.partitions.iter().map(partition).collect();
            CommittedTopic { name: topic.name.clone(), topic_id: topic.topic_id, partitions }
        };
        topics.iter().map(topic).collect()
    }

    fn one(
        &self,
        cluster: &mut Cluster,
        call: &Call,
        topic: Option<&str>,
        asked: &OffsetCommitPartition,
    ) -> Result<(), ErrorCode> {
        // Who may not read the topic is told so before anything about the group.
        topic.map_or(Ok(()), |name| access::topic(cluster, call, Operation::Read, name))?;
        self.allowed?;
        let topic = topic.ok_or(ErrorCode::UNKNOWN_TOPIC_ID)?;
        let known = match cluster.topics.get(topic) {
            Some(_) if cluster.release < Release::V2_0 => true,
            Some(_) => cluster.partition(topic, asked.partition_index).is_some(),
            None => false,
        };
        if !known {
            return Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
        }
        let committed = Committed::from(asked);
        cluster.groups.commit(self.group_id, self.by, (topic.to_owned(), asked.partition_index, committed))
    }
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
