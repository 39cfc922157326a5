//! Our messages about groups and their members as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{maybe, text};

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
