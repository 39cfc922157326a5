//! LeaveGroup: one member up to v2, several from v3 on. The rules stand in [`groups`](crate::groups).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember, LeftMember};

use crate::cluster::{Call, Cluster, Coordinates, Reply};

/// Answered by the group coordinator.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &LeaveGroupRequest) -> Reply {
    if let Err(error_code) = cluster.coordinates(call, Coordinates::Group, &request.group_id) {
        return Reply::from(LeaveGroupResponse { error_code, ..LeaveGroupResponse::default() });
    }
    let members: Vec<LeftMember> =
        request.members.iter().map(|member| left(cluster, call, &request.group_id, member)).collect();
    // Up to v2 there is one member, and its error is that of the answer.
    let only = members.first().map_or(ErrorCode::NONE, |member| member.error_code);
    let error_code = if call.version < 3 { only } else { ErrorCode::NONE };
    Reply::from(LeaveGroupResponse { error_code, members, ..LeaveGroupResponse::default() })
}

fn left(cluster: &mut Cluster, call: &Call, group_id: &str, member: &LeavingMember) -> LeftMember {
    let instance_id = member.group_instance_id.as_deref();
    let left = cluster.groups.leave(call.now, group_id, &member.member_id, instance_id);
    LeftMember {
        member_id: member.member_id.clone(),
        group_instance_id: member.group_instance_id.clone(),
        error_code: left.err().unwrap_or(ErrorCode::NONE),
    }
}
