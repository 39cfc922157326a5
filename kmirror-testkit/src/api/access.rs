//! What a client has to be allowed for a request as a whole: for the group, the transaction or the cluster that it is
//! about. What is about single topics, groups or transactions of a request stands where they are served.
//!
//! Measured on 0.11 to 4.4 with an authorizer: 30 for a group, 53 for a transaction, 31 for the cluster. Java:
//! `kafka.server.KafkaApis`, `kafka.server.AuthHelper`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{AnyRequest, AnyResponse};

use crate::Release;
use crate::acls::{Operation, Resource, authorized, authorized_for_some_topic};
use crate::cluster::{Call, Cluster, Reply};
use crate::fault::refusal;

/// The answer to a request that the client may not make.
pub(super) fn refused(cluster: &Cluster, call: &Call, request: &AnyRequest) -> Option<Reply> {
    // The question is for nothing where there are no lists, and it is asked with every request.
    cluster.acls.as_ref()?;
    let code = forbidden(cluster, call, request)?;
    let unanswered = matches!(request, AnyRequest::Produce(request) if request.acks == 0);
    let mut answer = refusal(request, call.version, code).filter(|_| !unanswered);
    if let Some(AnyResponse::InitProducerId(response)) = &mut answer {
        // 0 until the messages were generated: measured up to 2.0, and from 2.4 on.
        response.producer_epoch = if cluster.release >= Release::V2_4 { -1 } else { 0 };
    }
    Some(answer.map_or(Reply::Close, Reply::Answer))
}

/// The error that the whole request is answered with.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are about topics, or look themselves")]
fn forbidden(cluster: &Cluster, call: &Call, request: &AnyRequest) -> Option<ErrorCode> {
    let group = |operation, id: &str| {
        let may = authorized(cluster, call, operation, Resource::Group(id));
        (!may).then_some(ErrorCode::GROUP_AUTHORIZATION_FAILED)
    };
    let transaction = |operation, id: &str| {
        let may = authorized(cluster, call, operation, Resource::TransactionalId(id));
        (!may).then_some(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    };
    match request {
        AnyRequest::JoinGroup(request) => group(Operation::Read, &request.group_id),
        AnyRequest::SyncGroup(request) => group(Operation::Read, &request.group_id),
        AnyRequest::Heartbeat(request) => group(Operation::Read, &request.group_id),
        AnyRequest::LeaveGroup(request) => group(Operation::Read, &request.group_id),
        AnyRequest::OffsetCommit(request) => group(Operation::Read, &request.group_id),
        AnyRequest::OffsetDelete(request) => group(Operation::Delete, &request.group_id),
        AnyRequest::TxnOffsetCommit(request) => transaction(Operation::Write, &request.transactional_id)
            .or_else(|| group(Operation::Read, &request.group_id)),
        AnyRequest::AddOffsetsToTxn(request) => transaction(Operation::Write, &request.transactional_id)
            .or_else(|| group(Operation::Read, &request.group_id)),
        AnyRequest::EndTxn(request) => transaction(Operation::Write, &request.transactional_id),
        AnyRequest::InitProducerId(request) => match &request.transactional_id {
            Some(id) => transaction(Operation::Write, id),
            None => idempotent(cluster, call),
        },
        AnyRequest::Produce(request) => {
            request.transactional_id.as_deref().and_then(|id| transaction(Operation::Write, id))
        }
        _ => None,
    }
}

/// What it takes to read a group's offsets: up to 1.1 as much as to commit them.
pub(super) fn may_fetch_offsets(cluster: &Cluster, call: &Call, group_id: &str) -> bool {
    let operation = if cluster.release <= Release::V1_1 { Operation::Read } else { Operation::Describe };
    authorized(cluster, call, operation, Resource::Group(group_id))
}

/// Whether records may be written to a topic, read from it, or it may be seen.
pub(super) fn topic(cluster: &Cluster, call: &Call, operation: Operation, name: &str) -> Result<(), ErrorCode> {
    let may = authorized(cluster, call, operation, Resource::Topic(name));
    if may { Ok(()) } else { Err(ErrorCode::TOPIC_AUTHORIZATION_FAILED) }
}

/// KIP-679: who may write to some topic may be idempotent, from 2.8 on.
fn idempotent(cluster: &Cluster, call: &Call) -> Option<ErrorCode> {
    let may = authorized(cluster, call, Operation::IdempotentWrite, Resource::Cluster)
        || (cluster.release >= Release::V2_8 && authorized_for_some_topic(cluster, call, Operation::Write));
    (!may).then_some(ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
}

#[cfg(test)]
mod tests;
