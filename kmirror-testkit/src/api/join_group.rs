//! JoinGroup: into a group, and into its next generation. The rules stand in [`groups`](crate::groups).

use std::time::Duration;

use kmirror_proto::messages::{JoinGroupRequest, JoinGroupResponse, JoinedMember};

use crate::Release;
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::{Joined, Joining, Refused};

/// Answered by the group coordinator, at once or after the rebalance.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: JoinGroupRequest) -> Reply {
    let member_id = request.member_id;
    if let Err(code) = cluster.coordinates(call, Coordinates::Group, &request.group_id) {
        return Reply::from(response(cluster.release, Err(Refused { code, member_id })));
    }
    let ms = |ms: i32| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    let rebalance_ms = if call.version == 0 { request.session_timeout_ms } else { request.rebalance_timeout_ms };
    let protocols = request.protocols.into_iter().map(|protocol| (protocol.name, protocol.metadata));
    let joining = Joining {
        ticket: call.ticket,
        member_id,
        instance_id: request.group_instance_id,
        client_id: call.client_id.clone().unwrap_or_default(),
        host: "/127.0.0.1".to_owned(),
        session_timeout: ms(request.session_timeout_ms),
        rebalance_timeout: ms(rebalance_ms),
        protocol_type: request.protocol_type,
        protocols: protocols.collect(),
        id_first: call.version >= 4,
        skips: call.version >= 9,
    };
    cluster.groups.join(call.now, &request.group_id, joining);
    Reply::Later
}

/// As the coordinator decided.
pub(crate) fn response(release: Release, joined: Result<Joined, Refused>) -> JoinGroupResponse {
    match joined {
        Err(Refused { code, member_id }) => {
            // Measured on 2.0 and 2.8.
            let generation_id = if release < Release::V2_4 { 0 } else { -1 };
            JoinGroupResponse { error_code: code, generation_id, member_id, ..JoinGroupResponse::default() }
        }
        Ok(joined) => JoinGroupResponse {
            generation_id: joined.generation,
            protocol_type: joined.protocol_type,
            protocol_name: joined.protocol,
            leader: joined.leader,
            skip_assignment: joined.skip_assignment,
            member_id: joined.member_id,
            members: joined.members.into_iter().map(member).collect(),
            ..JoinGroupResponse::default()
        },
    }
}

fn member((member_id, group_instance_id, metadata): (String, Option<String>, bytes::Bytes)) -> JoinedMember {
    JoinedMember { member_id, group_instance_id, metadata }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::ErrorCode;
    use kmirror_proto::messages::{
        AnyRequest, AnyResponse, HeartbeatRequest, HeartbeatResponse, JoinGroupProtocol, LeaveGroupRequest,
        LeaveGroupResponse, LeavingMember, SyncGroupAssignment, SyncGroupRequest, SyncGroupResponse,
    };

    use super::*;
    use crate::NodeId;
    use crate::asking::{Asking, Came};

    fn join(member_id: &str, metadata: &'static [u8]) -> JoinGroupRequest {
        let protocol = JoinGroupProtocol { name: "kmirror".to_owned(), metadata: metadata.into() };
        JoinGroupRequest {
            group_id: "g".to_owned(),
            session_timeout_ms: 6000,
            member_id: member_id.to_owned(),
            protocol_type: "kmirror".to_owned(),
            protocols: vec![protocol],
            ..JoinGroupRequest::default()
        }
    }

    fn sync(generation_id: i32, member_id: &str, assignments: &[(&str, &'static [u8])]) -> SyncGroupRequest {
        let assignment = |(member, bytes): &(&str, &'static [u8])| SyncGroupAssignment {
            member_id: (*member).to_owned(),
            assignment: (*bytes).into(),
        };
        SyncGroupRequest {
            group_id: "g".to_owned(),
            generation_id,
            member_id: member_id.to_owned(),
            assignments: assignments.iter().map(assignment).collect(),
            ..SyncGroupRequest::default()
        }
    }

    fn beat(client: &mut Asking, generation_id: i32, member_id: &str) -> i16 {
        let (group_id, member_id) = ("g".to_owned(), member_id.to_owned());
        let request = HeartbeatRequest { group_id, generation_id, member_id, ..HeartbeatRequest::default() };
        let answer: HeartbeatResponse = client.ask(0, request);
        answer.error_code.0
    }

    fn with_group(release: Release) -> Asking {
        let mut client = Asking::of(release);
        client.cluster.make_internal_topic(Coordinates::Group);
        client
    }

    /// The measured course of `group kmirror`, the same on 0.9 to 4.4.
    #[test]
    fn one_member_on_every_release() {
        for release in Release::ALL {
            let mut client = with_group(release);
            let joined: JoinGroupResponse = client.ask(0, join("", b"META"));
            let member = joined.member_id.clone();
            assert_eq!((joined.generation_id, joined.leader.as_str()), (1, member.as_str()), "{release}");
            assert_eq!(joined.members[0].metadata.as_ref(), b"META", "{release}");
            let synced: SyncGroupResponse = client.ask(0, sync(1, &member, &[(&member, b"ASSIGN\x00\xff")]));
            assert_eq!(synced.assignment.as_ref(), b"ASSIGN\x00\xff", "{release}");
            let beats = [beat(&mut client, 1, &member), beat(&mut client, 9, &member), beat(&mut client, 1, "nobody")];
            assert_eq!(beats, [0, 22, 25], "{release}");
        }
    }

    /// A second member: the first is told by its heartbeat, joins again, and leads the second generation.
    #[test]
    fn a_second_member_starts_a_rebalance() {
        let mut client = with_group(Release::V2_0);
        let first: JoinGroupResponse = client.ask(0, join("", b"META"));
        let _: SyncGroupResponse = client.ask(0, sync(1, &first.member_id, &[]));
        let leader_at = client.connection();
        client.connect(NodeId(0));
        let second = AnyRequest::from(join("", b"TWO"));
        assert_eq!(client.send(0, second.clone()), Came::Nothing);
        let second_at = client.go_on_with(leader_at);
        assert_eq!(beat(&mut client, 1, &first.member_id), 27);
        let again: JoinGroupResponse = client.ask(0, join(&first.member_id, b"META"));
        assert_eq!((again.generation_id, &again.leader), (2, &first.member_id));
        let metadata: Vec<&[u8]> = again.members.iter().map(|member| member.metadata.as_ref()).collect();
        assert_eq!(metadata, [b"META".as_slice(), b"TWO"]);
        client.go_on_with(second_at);
        let Came::Answer(answer) = client.wait(Duration::ZERO, 0, &second) else { panic!("no answer") };
        let AnyResponse::JoinGroup(answer) = *answer else { panic!("of another API") };
        assert_eq!((answer.generation_id, answer.members.len()), (2, 0));
    }

    /// KIP-394: from v4 on a member gets an id first.
    #[test]
    fn a_member_id_comes_first_from_v4_on() {
        let mut client = with_group(Release::V2_4);
        let refused: JoinGroupResponse = client.ask(4, join("", b"META"));
        assert_eq!(refused.error_code, ErrorCode::MEMBER_ID_REQUIRED);
        let joined: JoinGroupResponse = client.ask(4, join(&refused.member_id, b"META"));
        assert_eq!((joined.error_code.0, &joined.member_id), (0, &refused.member_id));
    }

    /// Whoever is silent for its session is out; a member that leaves is out at once.
    #[test]
    fn sessions_end() {
        let mut client = with_group(Release::V2_0);
        let joined: JoinGroupResponse = client.ask(0, join("", b"META"));
        let _: SyncGroupResponse = client.ask(0, sync(1, &joined.member_id, &[]));
        let unheard = AnyRequest::from(HeartbeatRequest::default());
        client.wait(Duration::from_millis(5999), 0, &unheard);
        assert_eq!(beat(&mut client, 1, &joined.member_id), 0);
        client.wait(Duration::from_secs(6), 0, &unheard);
        assert_eq!(beat(&mut client, 1, &joined.member_id), 25);
        let back: JoinGroupResponse = client.ask(0, join("", b"META"));
        assert_eq!(back.generation_id, 3, "the empty generation counts");
        let member = LeavingMember { member_id: back.member_id.clone(), ..LeavingMember::default() };
        let left: LeaveGroupResponse =
            client.ask(0, LeaveGroupRequest { group_id: "g".to_owned(), members: vec![member] });
        assert_eq!((left.error_code.0, beat(&mut client, 3, &back.member_id)), (0, 25));
    }

    /// Measured: the record of the group has to fit into its topic.
    #[test]
    fn an_assignment_that_is_too_large_fails() {
        for (bytes, code) in [(100_000, 0), (900_000, -1)] {
            let mut client = with_group(Release::V2_0);
            let metadata: &'static [u8] = vec![7; bytes].leak();
            let joined: JoinGroupResponse = client.ask(0, join("", metadata));
            let synced: SyncGroupResponse = client.ask(0, sync(1, &joined.member_id, &[(&joined.member_id, metadata)]));
            assert_eq!(synced.error_code.0, code, "{bytes}");
        }
    }
}
