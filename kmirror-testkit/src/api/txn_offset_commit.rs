//! TxnOffsetCommit: offsets of a group that hold once the transaction is committed (KIP-98), from v3 on for a member of
//! the group (KIP-447). The rules stand in [`groups`](crate::groups).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{TxnOffsetCommitRequest, TxnOffsetCommitResponse};

use super::offset_commit::Commit;
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::{Committing, MemberOf};
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
    let commit = Commit { group_id: &request.group_id, by, allowed, by_topic_id: call.version >= BY_ID_FROM };
    let topics = commit.topics(cluster, call, &request.topics);
    Reply::from(TxnOffsetCommitResponse { topics, ..TxnOffsetCommitResponse::default() })
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
