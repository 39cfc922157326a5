//! DeleteGroups: empty groups, with what they have committed (KIP-229).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{DeleteGroupsRequest, DeleteGroupsResponse, DeletedGroup};

use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Coordinates, Reply};

/// Answered by the coordinator of each.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &DeleteGroupsRequest) -> Reply {
    let results = request.groups_names.iter().map(|id| {
        let allowed = authorized(cluster, call, Operation::Delete, Resource::Group(id));
        let allowed = allowed.then_some(()).ok_or(ErrorCode::GROUP_AUTHORIZATION_FAILED);
        let here = allowed.and_then(|()| cluster.coordinates(call, Coordinates::Group, id));
        let deleted = here.and_then(|()| cluster.groups.delete(id));
        let error_code = deleted.err().unwrap_or(ErrorCode::NONE);
        DeletedGroup { group_id: id.clone(), error_code, ..DeletedGroup::default() }
    });
    Reply::from(DeleteGroupsResponse { results: results.collect(), ..DeleteGroupsResponse::default() })
}
