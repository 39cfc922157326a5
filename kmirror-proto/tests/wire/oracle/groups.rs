//! Our messages about groups and their members as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{maybe, text, topic};

pub(super) fn join_group_request(it: &ours::JoinGroupRequest) -> theirs::JoinGroupRequest {
    let protocol = |p: &ours::JoinGroupProtocol| {
        theirs::join_group_request::JoinGroupRequestProtocol::default()
            .with_name(text(&p.name))
            .with_metadata(p.metadata.clone())
    };
    theirs::JoinGroupRequest::default()
        .with_group_id(text(&it.group_id).into())
        .with_session_timeout_ms(it.session_timeout_ms)
        .with_rebalance_timeout_ms(it.rebalance_timeout_ms)
        .with_member_id(text(&it.member_id))
        .with_group_instance_id(maybe(it.group_instance_id.as_ref()))
        .with_protocol_type(text(&it.protocol_type))
        .with_protocols(it.protocols.iter().map(protocol).collect())
        .with_reason(maybe(it.reason.as_ref()))
}

pub(super) fn join_group_response(it: &ours::JoinGroupResponse) -> theirs::JoinGroupResponse {
    let member = |m: &ours::JoinedMember| {
        theirs::join_group_response::JoinGroupResponseMember::default()
            .with_member_id(text(&m.member_id))
            .with_group_instance_id(maybe(m.group_instance_id.as_ref()))
            .with_metadata(m.metadata.clone())
    };
    theirs::JoinGroupResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_generation_id(it.generation_id)
        .with_protocol_type(maybe(it.protocol_type.as_ref()))
        .with_protocol_name(maybe(it.protocol_name.as_ref()))
        .with_leader(text(&it.leader))
        .with_skip_assignment(it.skip_assignment)
        .with_member_id(text(&it.member_id))
        .with_members(it.members.iter().map(member).collect())
}

pub(super) fn sync_group_request(it: &ours::SyncGroupRequest) -> theirs::SyncGroupRequest {
    let assigned = |a: &ours::SyncGroupAssignment| {
        theirs::sync_group_request::SyncGroupRequestAssignment::default()
            .with_member_id(text(&a.member_id))
            .with_assignment(a.assignment.clone())
    };
    theirs::SyncGroupRequest::default()
        .with_group_id(text(&it.group_id).into())
        .with_generation_id(it.generation_id)
        .with_member_id(text(&it.member_id))
        .with_group_instance_id(maybe(it.group_instance_id.as_ref()))
        .with_protocol_type(maybe(it.protocol_type.as_ref()))
        .with_protocol_name(maybe(it.protocol_name.as_ref()))
        .with_assignments(it.assignments.iter().map(assigned).collect())
}

pub(super) fn sync_group_response(it: &ours::SyncGroupResponse) -> theirs::SyncGroupResponse {
    theirs::SyncGroupResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_protocol_type(maybe(it.protocol_type.as_ref()))
        .with_protocol_name(maybe(it.protocol_name.as_ref()))
        .with_assignment(it.assignment.clone())
}

pub(super) fn heartbeat_request(it: &ours::HeartbeatRequest) -> theirs::HeartbeatRequest {
    theirs::HeartbeatRequest::default()
        .with_group_id(text(&it.group_id).into())
        .with_generation_id(it.generation_id)
        .with_member_id(text(&it.member_id))
        .with_group_instance_id(maybe(it.group_instance_id.as_ref()))
}

pub(super) fn heartbeat_response(it: &ours::HeartbeatResponse) -> theirs::HeartbeatResponse {
    theirs::HeartbeatResponse::default().with_throttle_time_ms(it.throttle_time_ms).with_error_code(it.error_code.0)
}

pub(super) fn leave_group_request(version: i16, it: &ours::LeaveGroupRequest) -> theirs::LeaveGroupRequest {
    let member = |m: &ours::LeavingMember| {
        theirs::leave_group_request::MemberIdentity::default()
            .with_member_id(text(&m.member_id))
            .with_group_instance_id(maybe(m.group_instance_id.as_ref()))
            .with_reason(maybe(m.reason.as_ref()))
    };
    let request = theirs::LeaveGroupRequest::default().with_group_id(text(&it.group_id).into());
    if version >= 3 {
        request.with_members(it.members.iter().map(member).collect())
    } else {
        request.with_member_id(text(&it.members[0].member_id))
    }
}

pub(super) fn leave_group_response(it: &ours::LeaveGroupResponse) -> theirs::LeaveGroupResponse {
    let member = |m: &ours::LeftMember| {
        theirs::leave_group_response::MemberResponse::default()
            .with_member_id(text(&m.member_id))
            .with_group_instance_id(maybe(m.group_instance_id.as_ref()))
            .with_error_code(m.error_code.0)
    };
    theirs::LeaveGroupResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_members(it.members.iter().map(member).collect())
}

pub(super) fn describe_groups_request(it: &ours::DescribeGroupsRequest) -> theirs::DescribeGroupsRequest {
    theirs::DescribeGroupsRequest::default()
        .with_groups(it.groups.iter().map(|group| text(group).into()).collect())
        .with_include_authorized_operations(it.include_authorized_operations)
}

pub(super) fn describe_groups_response(it: &ours::DescribeGroupsResponse) -> theirs::DescribeGroupsResponse {
    let member = |m: &ours::DescribedGroupMember| {
        theirs::describe_groups_response::DescribedGroupMember::default()
            .with_member_id(text(&m.member_id))
            .with_group_instance_id(maybe(m.group_instance_id.as_ref()))
            .with_client_id(text(&m.client_id))
            .with_client_host(text(&m.client_host))
            .with_member_metadata(m.member_metadata.clone())
            .with_member_assignment(m.member_assignment.clone())
    };
    let group = |g: &ours::DescribedGroup| {
        theirs::describe_groups_response::DescribedGroup::default()
            .with_error_code(g.error_code.0)
            .with_error_message(maybe(g.error_message.as_ref()))
            .with_group_id(text(&g.group_id).into())
            .with_group_state(text(&g.group_state))
            .with_protocol_type(text(&g.protocol_type))
            .with_protocol_data(text(&g.protocol_data))
            .with_members(g.members.iter().map(member).collect())
            .with_authorized_operations(g.authorized_operations)
    };
    theirs::DescribeGroupsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_groups(it.groups.iter().map(group).collect())
}

pub(super) fn list_groups_request(it: &ours::ListGroupsRequest) -> theirs::ListGroupsRequest {
    theirs::ListGroupsRequest::default()
        .with_states_filter(it.states_filter.iter().map(|state| text(state)).collect())
        .with_types_filter(it.types_filter.iter().map(|kind| text(kind)).collect())
}

pub(super) fn list_groups_response(it: &ours::ListGroupsResponse) -> theirs::ListGroupsResponse {
    let group = |g: &ours::ListedGroup| {
        theirs::list_groups_response::ListedGroup::default()
            .with_group_id(text(&g.group_id).into())
            .with_protocol_type(text(&g.protocol_type))
            .with_group_state(text(&g.group_state))
            .with_group_type(text(&g.group_type))
    };
    theirs::ListGroupsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_groups(it.groups.iter().map(group).collect())
}

pub(super) fn delete_groups_request(it: &ours::DeleteGroupsRequest) -> theirs::DeleteGroupsRequest {
    theirs::DeleteGroupsRequest::default()
        .with_groups_names(it.groups_names.iter().map(|group| text(group).into()).collect())
}

/// They do not know v3 and its error messages.
pub(super) fn delete_groups_response(it: &ours::DeleteGroupsResponse) -> theirs::DeleteGroupsResponse {
    let result = |r: &ours::DeletedGroup| {
        theirs::delete_groups_response::DeletableGroupResult::default()
            .with_group_id(text(&r.group_id).into())
            .with_error_code(r.error_code.0)
    };
    theirs::DeleteGroupsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_results(it.results.iter().map(result).collect())
}

pub(super) fn offset_delete_request(it: &ours::OffsetDeleteRequest) -> theirs::OffsetDeleteRequest {
    let partition =
        |&n: &i32| theirs::offset_delete_request::OffsetDeleteRequestPartition::default().with_partition_index(n);
    let deleted = |t: &ours::OffsetDeleteTopic| {
        theirs::offset_delete_request::OffsetDeleteRequestTopic::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partition_indexes.iter().map(partition).collect())
    };
    theirs::OffsetDeleteRequest::default()
        .with_group_id(text(&it.group_id).into())
        .with_topics(it.topics.iter().map(deleted).collect())
}

pub(super) fn offset_delete_response(it: &ours::OffsetDeleteResponse) -> theirs::OffsetDeleteResponse {
    let partition = |p: &ours::DeletedOffset| {
        theirs::offset_delete_response::OffsetDeleteResponsePartition::default()
            .with_partition_index(p.partition_index)
            .with_error_code(p.error_code.0)
    };
    let deleted = |t: &ours::DeletedOffsetTopic| {
        theirs::offset_delete_response::OffsetDeleteResponseTopic::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::OffsetDeleteResponse::default()
        .with_error_code(it.error_code.0)
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(deleted).collect())
}
