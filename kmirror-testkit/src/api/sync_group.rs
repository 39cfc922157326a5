//! SyncGroup: the leader's assignment goes to the members. The rules stand in [`groups`](crate::groups).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{SyncGroupRequest, SyncGroupResponse};

use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::{MemberOf, Synced, Syncing};

/// Answered by the group coordinator, once the leader has brought the assignment.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: SyncGroupRequest) -> Reply {
    if let Err(code) = cluster.coordinates(call, Coordinates::Group, &request.group_id) {
        return Reply::from(response(Err(code)));
    }
    let assignments = request.assignments.into_iter().map(|of| (of.member_id, of.assignment)).collect();
    let member = MemberOf {
        id: &request.member_id,
        instance_id: request.group_instance_id.as_deref(),
        generation: request.generation_id,
    };
    let (protocol_type, protocol) = (request.protocol_type.as_deref(), request.protocol_name.as_deref());
    let syncing = Syncing { ticket: call.ticket, member, protocol_type, protocol, assignments };
    cluster.groups.sync(call.now, &request.group_id, &syncing);
    Reply::Later
}

/// As the coordinator decided.
pub(crate) fn response(synced: Result<Synced, ErrorCode>) -> SyncGroupResponse {
    match synced {
        Err(error_code) => SyncGroupResponse { error_code, ..SyncGroupResponse::default() },
        Ok(synced) => SyncGroupResponse {
            protocol_type: synced.protocol_type,
            protocol_name: synced.protocol,
            assignment: synced.assignment,
            ..SyncGroupResponse::default()
        },
    }
}
