//! DescribeGroups: where groups are, and who is in them.
//!
//! A group that is not there is `Dead`, without an error; from v6 on that is 69 (KIP-1043).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup, DescribedGroupMember};

use crate::Release;
use crate::acls::{Operation, Resource, authorized, authorized_operations};
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::{Group, State};

/// The first version that says that a group is not there.
const SAYS_NOT_FOUND_FROM: i16 = 6;

/// Answered by the coordinator of each.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &DescribeGroupsRequest) -> Reply {
    let silent = if cluster.release == Release::V2_4 { 0 } else { i32::MIN };
    let groups = request.groups.iter().map(|id| {
        let mut group = one(cluster, call, id);
        let told = request.include_authorized_operations && group.error_code.is_ok();
        let operations = || authorized_operations(cluster, call, Resource::Group(id));
        group.authorized_operations = if told { operations() } else { silent };
        group
    });
    let groups = groups.collect();
    Reply::from(DescribeGroupsResponse { groups, ..DescribeGroupsResponse::default() })
}

fn one(cluster: &Cluster, call: &Call, id: &str) -> DescribedGroup {
    let empty = DescribedGroup { group_id: id.to_owned(), ..DescribedGroup::default() };
    if !authorized(cluster, call, Operation::Describe, Resource::Group(id)) {
        return DescribedGroup { error_code: ErrorCode::GROUP_AUTHORIZATION_FAILED, ..empty };
    }
    if let Err(error_code) = cluster.coordinates(call, Coordinates::Group, id) {
        return DescribedGroup { error_code, ..empty };
    }
    match cluster.groups.get(id) {
        Some(group) => described(id, group),
        None => {
            let says = call.version >= SAYS_NOT_FOUND_FROM;
            let error_code = if says { ErrorCode::GROUP_ID_NOT_FOUND } else { ErrorCode::NONE };
            DescribedGroup { error_code, group_state: "Dead".to_owned(), ..empty }
        }
    }
}

fn described(id: &str, group: &Group) -> DescribedGroup {
    let stable = group.state == State::Stable;
    let members = group.in_order().into_iter().map(|(id, member)| DescribedGroupMember {
        member_id: id.to_owned(),
        group_instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.host.clone(),
        member_metadata: if stable { group.metadata_of(member) } else { bytes::Bytes::new() },
        member_assignment: member.assignment.clone(),
    });
    DescribedGroup {
        group_id: id.to_owned(),
        group_state: group.state.name().to_owned(),
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        protocol_data: group.protocol.clone().filter(|_| stable).unwrap_or_default(),
        members: members.collect(),
        ..DescribedGroup::default()
    }
}
