//! One value of every message about groups and their members, at every version.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DeleteGroupsRequest, DeleteGroupsResponse, DeletedGroup, DeletedOffset, DeletedOffsetTopic, DescribeGroupsRequest,
    DescribeGroupsResponse, DescribedGroup, DescribedGroupMember, HeartbeatRequest, HeartbeatResponse,
    JoinGroupProtocol, JoinGroupRequest, JoinGroupResponse, JoinedMember, LeaveGroupRequest, LeaveGroupResponse,
    LeavingMember, LeftMember, ListGroupsRequest, ListGroupsResponse, ListedGroup, OffsetDeleteRequest,
    OffsetDeleteResponse, OffsetDeleteTopic, SyncGroupAssignment, SyncGroupRequest, SyncGroupResponse,
};

use super::{carried, text};

pub(super) fn join_group_request(v: i16) -> JoinGroupRequest {
    let protocol =
        |name: &str, metadata: &'static [u8]| JoinGroupProtocol { name: name.to_owned(), metadata: metadata.into() };
    JoinGroupRequest {
        group_id: "group".to_owned(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: carried(v >= 1, 300_000, -1),
        member_id: "member-1".to_owned(),
        group_instance_id: carried(v >= 5, text("instance-1"), None),
        protocol_type: "consumer".to_owned(),
        protocols: vec![protocol("range", &[0, 1, 0, 0]), protocol("roundrobin", &[])],
        reason: carried(v >= 8, text("rebalance enforced by user"), None),
    }
}

pub(super) fn join_group_response(v: i16) -> JoinGroupResponse {
    let member = |id: &str, instance: Option<String>, metadata: Bytes| JoinedMember {
        member_id: id.to_owned(),
        group_instance_id: carried(v >= 5, instance, None),
        metadata,
    };
    JoinGroupResponse {
        throttle_time_ms: carried(v >= 2, 100, 0),
        error_code: ErrorCode::MEMBER_ID_REQUIRED,
        generation_id: 12,
        protocol_type: carried(v >= 7, text("consumer"), None),
        protocol_name: text("range"),
        leader: "member-1".to_owned(),
        skip_assignment: v >= 9,
        member_id: "member-2".to_owned(),
        members: vec![
            member("member-1", text("instance-1"), Bytes::from(vec![7; 300])),
            member("member-2", None, Bytes::new()),
        ],
    }
}

pub(super) fn sync_group_request(v: i16) -> SyncGroupRequest {
    let assigned = |member: &str, assignment: &'static [u8]| SyncGroupAssignment {
        member_id: member.to_owned(),
        assignment: assignment.into(),
    };
    SyncGroupRequest {
        group_id: "group".to_owned(),
        generation_id: 12,
        member_id: "member-1".to_owned(),
        group_instance_id: carried(v >= 3, text("instance-1"), None),
        protocol_type: carried(v >= 5, text("consumer"), None),
        protocol_name: carried(v >= 5, text("range"), None),
        assignments: vec![assigned("member-1", &[0, 1, 0, 0, 0, 0]), assigned("member-2", &[])],
    }
}

pub(super) fn sync_group_response(v: i16) -> SyncGroupResponse {
    SyncGroupResponse {
        throttle_time_ms: carried(v >= 1, 100, 0),
        error_code: ErrorCode::REBALANCE_IN_PROGRESS,
        protocol_type: carried(v >= 5, text("consumer"), None),
        protocol_name: carried(v >= 5, text("range"), None),
        assignment: Bytes::from_static(&[0, 1, 0, 0, 0, 0]),
    }
}

pub(super) fn heartbeat_request(v: i16) -> HeartbeatRequest {
    HeartbeatRequest {
        group_id: "group".to_owned(),
        generation_id: 12,
        member_id: "member-1".to_owned(),
        group_instance_id: carried(v >= 3, text("instance-1"), None),
    }
}

pub(super) fn heartbeat_response(v: i16) -> HeartbeatResponse {
    HeartbeatResponse { throttle_time_ms: carried(v >= 1, 100, 0), error_code: ErrorCode::ILLEGAL_GENERATION }
}

pub(super) fn leave_group_request(v: i16) -> LeaveGroupRequest {
    let member = |id: &str, instance: Option<String>, reason: Option<String>| LeavingMember {
        member_id: id.to_owned(),
        group_instance_id: carried(v >= 3, instance, None),
        reason: carried(v >= 5, reason, None),
    };
    let mut members = vec![member("member-1", text("instance-1"), text("the consumer is being closed"))];
    if v >= 3 {
        members.push(member("", None, None));
    }
    LeaveGroupRequest { group_id: "group".to_owned(), members }
}

pub(super) fn leave_group_response(v: i16) -> LeaveGroupResponse {
    let member = |id: &str, instance: Option<String>, error_code: ErrorCode| LeftMember {
        member_id: id.to_owned(),
        group_instance_id: instance,
        error_code,
    };
    let members = vec![
        member("member-1", text("instance-1"), ErrorCode::FENCED_INSTANCE_ID),
        member("member-2", None, ErrorCode::UNKNOWN_MEMBER_ID),
    ];
    LeaveGroupResponse {
        throttle_time_ms: carried(v >= 1, 100, 0),
        error_code: ErrorCode::NOT_COORDINATOR,
        members: carried(v >= 3, members, Vec::new()),
    }
}

pub(super) fn describe_groups_request(v: i16) -> DescribeGroupsRequest {
    DescribeGroupsRequest {
        groups: vec!["group".to_owned(), "other".to_owned()],
        include_authorized_operations: v >= 3,
    }
}

pub(super) fn describe_groups_response(v: i16) -> DescribeGroupsResponse {
    let member = |id: &str, instance: Option<String>, assignment: &'static [u8]| DescribedGroupMember {
        member_id: id.to_owned(),
        group_instance_id: carried(v >= 4, instance, None),
        client_id: "billing".to_owned(),
        client_host: "/127.0.0.1".to_owned(),
        member_metadata: Bytes::from_static(&[0, 1, 0, 0]),
        member_assignment: assignment.into(),
    };
    let group = |id: &str, error_message: Option<String>, members: Vec<DescribedGroupMember>| DescribedGroup {
        error_code: ErrorCode::GROUP_ID_NOT_FOUND,
        error_message: carried(v >= 6, error_message, None),
        group_id: id.to_owned(),
        group_state: "Stable".to_owned(),
        protocol_type: "consumer".to_owned(),
        protocol_data: "range".to_owned(),
        members,
        authorized_operations: carried(v >= 3, 328, i32::MIN),
    };
    let members = vec![member("member-1", text("instance-1"), &[0, 1, 0, 0]), member("member-2", None, &[])];
    DescribeGroupsResponse {
        throttle_time_ms: carried(v >= 1, 100, 0),
        groups: vec![group("group", text("not here"), members), group("other", None, Vec::new())],
    }
}

pub(super) fn list_groups_request(v: i16) -> ListGroupsRequest {
    ListGroupsRequest {
        states_filter: carried(v >= 4, vec!["Stable".to_owned(), "Empty".to_owned()], Vec::new()),
        types_filter: carried(v >= 5, vec!["classic".to_owned()], Vec::new()),
    }
}

pub(super) fn list_groups_response(v: i16) -> ListGroupsResponse {
    let group = |id: &str, protocol_type: &str| ListedGroup {
        group_id: id.to_owned(),
        protocol_type: protocol_type.to_owned(),
        group_state: carried(v >= 4, "Empty".to_owned(), String::new()),
        group_type: carried(v >= 5, "classic".to_owned(), String::new()),
    };
    ListGroupsResponse {
        throttle_time_ms: carried(v >= 1, 100, 0),
        error_code: ErrorCode::COORDINATOR_NOT_AVAILABLE,
        groups: vec![group("group", "consumer"), group("positions", "")],
    }
}

pub(super) fn delete_groups_request(_: i16) -> DeleteGroupsRequest {
    DeleteGroupsRequest { groups_names: vec!["group".to_owned(), "other".to_owned()] }
}

pub(super) fn delete_groups_response(v: i16) -> DeleteGroupsResponse {
    let result = |id: &str, error_message: Option<String>| DeletedGroup {
        group_id: id.to_owned(),
        error_code: ErrorCode::NON_EMPTY_GROUP,
        error_message: carried(v >= 3, error_message, None),
    };
    DeleteGroupsResponse {
        throttle_time_ms: 100,
        results: vec![result("group", text("it has members")), result("other", None)],
    }
}

pub(super) fn offset_delete_request(_: i16) -> OffsetDeleteRequest {
    OffsetDeleteRequest {
        group_id: "group".to_owned(),
        topics: vec![OffsetDeleteTopic { name: "orders".to_owned(), partition_indexes: vec![0, 1] }],
    }
}

pub(super) fn offset_delete_response(_: i16) -> OffsetDeleteResponse {
    let deleted = |n: i32| DeletedOffset { partition_index: n, error_code: ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC };
    OffsetDeleteResponse {
        error_code: ErrorCode::NOT_COORDINATOR,
        throttle_time_ms: 100,
        topics: vec![DeletedOffsetTopic { name: "orders".to_owned(), partitions: vec![deleted(0), deleted(1)] }],
    }
}
