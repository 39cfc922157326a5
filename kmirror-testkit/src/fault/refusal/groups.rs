//! Refusals of what is about groups and their offsets.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    CommittedPartition, CommittedTopic, Coordinator, DeleteGroupsRequest, DeleteGroupsResponse, DeletedGroup,
    DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup, FetchedOffset, FetchedOffsetGroup,
    FetchedOffsetTopic, FindCoordinatorRequest, FindCoordinatorResponse, HeartbeatResponse, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupResponse, ListGroupsResponse, OffsetCommitRequest, OffsetCommitResponse,
    OffsetCommitTopic, OffsetDeleteResponse, OffsetFetchRequest, OffsetFetchResponse, SyncGroupResponse,
    TxnOffsetCommitRequest, TxnOffsetCommitResponse,
};

use super::{all, each};

pub(super) fn find_coordinator(
    request: &FindCoordinatorRequest,
    error_code: ErrorCode,
) -> Option<FindCoordinatorResponse> {
    let coordinators = each(&request.keys, |key| Coordinator {
        key: key.clone(),
        node_id: -1,
        port: -1,
        error_code,
        ..Coordinator::default()
    })?;
    Some(FindCoordinatorResponse { coordinators, ..FindCoordinatorResponse::default() })
}

pub(super) fn join(request: &JoinGroupRequest, error_code: ErrorCode) -> JoinGroupResponse {
    JoinGroupResponse { error_code, member_id: request.member_id.clone(), ..JoinGroupResponse::default() }
}

pub(super) fn sync(error_code: ErrorCode) -> SyncGroupResponse {
    SyncGroupResponse { error_code, ..SyncGroupResponse::default() }
}

pub(super) fn heartbeat(error_code: ErrorCode) -> HeartbeatResponse {
    HeartbeatResponse { error_code, ..HeartbeatResponse::default() }
}

pub(super) fn leave(error_code: ErrorCode) -> LeaveGroupResponse {
    LeaveGroupResponse { error_code, ..LeaveGroupResponse::default() }
}

pub(super) fn offset_commit(request: &OffsetCommitRequest, error_code: ErrorCode) -> Option<OffsetCommitResponse> {
    let topics = each(&request.topics, |topic| uncommitted(topic, error_code))?;
    Some(OffsetCommitResponse { topics, ..OffsetCommitResponse::default() })
}

pub(super) fn txn_offset_commit(
    request: &TxnOffsetCommitRequest,
    error_code: ErrorCode,
) -> Option<TxnOffsetCommitResponse> {
    let topics = each(&request.topics, |topic| uncommitted(topic, error_code))?;
    Some(TxnOffsetCommitResponse { topics, ..TxnOffsetCommitResponse::default() })
}

fn uncommitted(topic: &OffsetCommitTopic, error_code: ErrorCode) -> CommittedTopic {
    CommittedTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: all(&topic.partitions, |asked| CommittedPartition {
            partition_index: asked.partition_index,
            error_code,
        }),
    }
}

/// Of each group, and of each partition that it names: v0 and v1 have no other place.
pub(super) fn offset_fetch(
    request: &OffsetFetchRequest,
    version: i16,
    error_code: ErrorCode,
) -> Option<OffsetFetchResponse> {
    let names_some = request.groups.iter().any(|group| group.topics.iter().flatten().next().is_some());
    if version < 2 && !names_some {
        return None;
    }
    let groups = each(&request.groups, |group| FetchedOffsetGroup {
        group_id: group.group_id.clone(),
        topics: all(group.topics.as_deref().unwrap_or_default(), |topic| FetchedOffsetTopic {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partitions: all(&topic.partition_indexes, |index| FetchedOffset {
                partition_index: *index,
                committed_offset: -1,
                committed_leader_epoch: -1,
                metadata: Some(String::new()),
                error_code,
            }),
        }),
        error_code,
    })?;
    Some(OffsetFetchResponse { groups, ..OffsetFetchResponse::default() })
}

pub(super) fn offset_delete(error_code: ErrorCode) -> OffsetDeleteResponse {
    OffsetDeleteResponse { error_code, ..OffsetDeleteResponse::default() }
}

pub(super) fn describe(request: &DescribeGroupsRequest, error_code: ErrorCode) -> Option<DescribeGroupsResponse> {
    let groups = each(&request.groups, |group| DescribedGroup {
        error_code,
        group_id: group.clone(),
        ..DescribedGroup::default()
    })?;
    Some(DescribeGroupsResponse { groups, ..DescribeGroupsResponse::default() })
}

pub(super) fn list(error_code: ErrorCode) -> ListGroupsResponse {
    ListGroupsResponse { error_code, ..ListGroupsResponse::default() }
}

pub(super) fn delete(request: &DeleteGroupsRequest, error_code: ErrorCode) -> Option<DeleteGroupsResponse> {
    let results = each(&request.groups_names, |group| DeletedGroup {
        group_id: group.clone(),
        error_code,
        ..DeletedGroup::default()
    })?;
    Some(DeleteGroupsResponse { results, ..DeleteGroupsResponse::default() })
}
