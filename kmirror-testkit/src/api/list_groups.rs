//! ListGroups: the groups that a broker coordinates, from v4 on filtered by state (KIP-518), from v5 on by type.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{ListGroupsRequest, ListGroupsResponse, ListedGroup};

use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Coordinates, Reply};

/// The only type of group that this crate imitates.
const CLASSIC: &str = "classic";

/// Those of this broker.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &ListGroupsRequest) -> Reply {
    let all = authorized(cluster, call, Operation::Describe, Resource::Cluster);
    // Up to 2.0 all or nothing.
    if !all && cluster.release <= Release::V2_0 {
        let error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
        return Reply::from(ListGroupsResponse { error_code, ..ListGroupsResponse::default() });
    }
    let visible = |id: &str| all || authorized(cluster, call, Operation::Describe, Resource::Group(id));
    let here = |id: &str| cluster.coordinator(Coordinates::Group, id) == Some(call.node) && visible(id);
    let wanted = |filter: &[String], value: &str| {
        filter.is_empty() || filter.iter().any(|wanted| wanted.eq_ignore_ascii_case(value))
    };
    let listed = cluster.groups.iter().filter(|(id, group)| {
        here(id) && wanted(&request.states_filter, group.state.name()) && wanted(&request.types_filter, CLASSIC)
    });
    let groups = listed.map(|(id, group)| ListedGroup {
        group_id: id.to_owned(),
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        group_state: group.state.name().to_owned(),
        group_type: CLASSIC.to_owned(),
    });
    Reply::from(ListGroupsResponse { groups: groups.collect(), ..ListGroupsResponse::default() })
}
