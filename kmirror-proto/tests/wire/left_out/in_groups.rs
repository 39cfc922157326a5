//! The same of messages about groups.

use kmirror_proto::messages::{
    DescribeGroupsRequest, DescribedGroup, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    LeaveGroupResponse, LeavingMember, LeftMember, ListGroupsRequest, SyncGroupRequest,
};
use kmirror_proto::{AnyResponse, EncodeError, ErrorCode, decode_response, encode_response};

use super::refused;
use crate::round_trip::body;

/// Takes out what is not ignorable, as `version` lacks it: a leader would assign anew, and one error has no room for
/// the errors of two members.
pub(super) fn without_what_is_refused(version: i16, response: &mut AnyResponse) {
    if let AnyResponse::JoinGroup(join) = response {
        join.skip_assignment &= version >= 9;
    }
    if let AnyResponse::LeaveGroup(leave) = response
        && version < 3
    {
        leave.members.clear();
    }
}

fn comes_back(version: i16, response: impl Into<AnyResponse>) -> AnyResponse {
    let response = response.into();
    let frame = encode_response(1, version, &response).expect("encodes");
    decode_response(response.key(), version, body(&frame)).expect("decodes").1
}

#[test]
fn a_static_member_is_never_taken_for_another() {
    let group_instance_id = Some("i".to_owned());
    let join = JoinGroupRequest { group_instance_id: group_instance_id.clone(), ..Default::default() };
    refused(4, join, "it would join as a member of its own");
    let sync = SyncGroupRequest { group_instance_id: group_instance_id.clone(), ..Default::default() };
    refused(2, sync, "the static member would not be fenced");
    let beat = HeartbeatRequest { group_instance_id: group_instance_id.clone(), ..Default::default() };
    refused(2, beat, "the static member would not be fenced");
    let members = vec![LeavingMember { group_instance_id, ..Default::default() }];
    refused(2, LeaveGroupRequest { members, ..Default::default() }, "nobody would leave");
}

#[test]
fn one_member_at_a_time_leaves_below_v3() {
    for members in [Vec::new(), vec![LeavingMember::default(); 2]] {
        refused(2, LeaveGroupRequest { members, ..Default::default() }, "another number of members would leave");
    }
    let left = |error_code| LeftMember { error_code, ..Default::default() };
    let members = vec![left(ErrorCode::UNKNOWN_MEMBER_ID)];
    let response = LeaveGroupResponse { members, ..Default::default() };
    let AnyResponse::LeaveGroup(back) = comes_back(2, response.clone()) else { panic!("leave") };
    assert_eq!((back.error_code, back.members), (ErrorCode::UNKNOWN_MEMBER_ID, Vec::new()));
    let response = LeaveGroupResponse { error_code: ErrorCode::NOT_COORDINATOR, ..response };
    let AnyResponse::LeaveGroup(back) = comes_back(2, response) else { panic!("leave") };
    assert_eq!(back.error_code, ErrorCode::NOT_COORDINATOR, "that of the group goes before");

    let members = vec![left(ErrorCode::NONE), left(ErrorCode::UNKNOWN_MEMBER_ID)];
    let error = encode_response(1, 2, &LeaveGroupResponse { members, ..Default::default() }.into())
        .expect_err("one of the errors would be lost");
    assert_eq!(error, EncodeError::NotInVersion { what: "more members than one", version: 2 });
}

#[test]
fn a_question_about_groups_is_never_another() {
    let asked = DescribeGroupsRequest { include_authorized_operations: true, ..Default::default() };
    refused(2, asked, "the answer would lack what was asked for");
    let empty = ListGroupsRequest { states_filter: vec!["Empty".to_owned()], ..Default::default() };
    refused(3, empty, "groups in any state would be listed");
    let classic = ListGroupsRequest { types_filter: vec!["classic".to_owned()], ..Default::default() };
    refused(4, classic, "groups of any type would be listed");
}

#[test]
fn a_leader_is_not_made_to_assign_anew() {
    let response = JoinGroupResponse { skip_assignment: true, ..Default::default() }.into();
    let error = encode_response(1, 8, &response).expect_err("the leader would assign");
    assert_eq!(error, EncodeError::NotInVersion { what: "skip assignment", version: 8 });
}

/// An answer with an error has no protocol. Clients of the versions without null get an empty name, as from Java.
#[test]
fn no_protocol_is_an_empty_one_below_v7() {
    let none = JoinGroupResponse { protocol_name: None, ..Default::default() };
    let AnyResponse::JoinGroup(back) = comes_back(6, none.clone()) else { panic!("join") };
    assert_eq!(back.protocol_name.as_deref(), Some(""));
    for version in 7..=9 {
        assert_eq!(comes_back(version, none.clone()), none.clone().into());
    }
}

#[test]
fn defaults_are_those_of_kafka() {
    assert_eq!(JoinGroupRequest::default().rebalance_timeout_ms, -1);
    let joined = JoinGroupResponse::default();
    assert_eq!(DescribedGroup::default().authorized_operations, i32::MIN);
    assert_eq!((joined.generation_id, joined.protocol_name.as_deref()), (-1, Some("")));
}
