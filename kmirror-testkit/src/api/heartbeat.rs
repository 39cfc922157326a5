//! Heartbeat: a member is alive, and learns whether it has to join again. The rules stand in [`groups`](crate::groups).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{HeartbeatRequest, HeartbeatResponse};

use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::MemberOf;

/// Answered by the group coordinator.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &HeartbeatRequest) -> Reply {
    let beat = beat(cluster, call, request);
    let error_code = beat.err().unwrap_or(ErrorCode::NONE);
    Reply::from(HeartbeatResponse { error_code, ..HeartbeatResponse::default() })
}

fn beat(cluster: &mut Cluster, call: &Call, request: &HeartbeatRequest) -> Result<(), ErrorCode> {
    cluster.coordinates(call, Coordinates::Group, &request.group_id)?;
    let member = MemberOf {
        id: &request.member_id,
        instance_id: request.group_instance_id.as_deref(),
        generation: request.generation_id,
    };
    cluster.groups.heartbeat(call.now, &request.group_id, &member)
}
