//! A client of an embedded cluster, for the few requests that no method of it stands for.
#![expect(clippy::disallowed_types, reason = "a plain blocking client")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use kmirror_proto::messages::{
    AnyRequest, AnyResponse, FindCoordinatorRequest, FindCoordinatorResponse, JoinGroupProtocol, JoinGroupRequest,
    JoinGroupResponse, LeaveGroupRequest, LeaveGroupResponse, LeavingMember, SyncGroupRequest, SyncGroupResponse,
};
use kmirror_proto::{ErrorCode, decode_response, encode_request};

use super::{Embedded, WITHIN};
use crate::failure::{Context as _, ensure};
use crate::{Failure, Result};

/// One connection to a cluster's first broker.
pub struct Client(TcpStream);

impl Embedded {
    /// Connects to its first broker.
    pub fn client(&self) -> Result<Client> {
        let bootstrap = self.bootstrap();
        let first = bootstrap.split(',').next().unwrap_or_default();
        let stream = TcpStream::connect(first).context(|| format!("connecting to {first}"))?;
        stream.set_read_timeout(Some(WITHIN)).context(|| format!("connecting to {first}"))?;
        Ok(Client(stream))
    }
}

impl Client {
    /// The answer to a request.
    pub fn ask<R: TryFrom<AnyResponse, Error = AnyResponse>>(
        &mut self,
        version: i16,
        request: impl Into<AnyRequest>,
    ) -> Result<R> {
        let request = request.into();
        let what = || format!("{:?} v{version}", request.key());
        let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", what()));
        let frame = encode_request(1, Some("story"), version, &request).map_err(|error| failed(&error))?;
        frame.chunks().iter().try_for_each(|chunk| self.0.write_all(chunk)).context(what)?;
        let mut length = [0; 4];
        self.0.read_exact(&mut length).context(what)?;
        let mut body = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap_or(0)];
        self.0.read_exact(&mut body).context(what)?;
        let (_, answer) = decode_response(request.key(), version, body.into()).map_err(|error| failed(&error))?;
        R::try_from(answer).map_err(|other| failed(&format!("answered {other:?}")))
    }

    /// Joins a group as its only member, a consumer of the topic; its member id.
    pub(super) fn join(&mut self, topic: &str, group: &str) -> Result<String> {
        // On a cluster that nobody has asked for it yet there is no coordinator.
        let find = FindCoordinatorRequest { key_type: 0, keys: vec![group.to_owned()] };
        let _: FindCoordinatorResponse = self.ask(0, find)?;
        let protocol = JoinGroupProtocol { name: "range".to_owned(), metadata: subscription(topic).into() };
        let join = JoinGroupRequest {
            group_id: group.to_owned(),
            session_timeout_ms: 30_000,
            protocol_type: "consumer".to_owned(),
            protocols: vec![protocol],
            ..JoinGroupRequest::default()
        };
        let joined: JoinGroupResponse = self.ask(0, join)?;
        succeeded("JoinGroup", joined.error_code)?;
        let sync = SyncGroupRequest {
            group_id: group.to_owned(),
            generation_id: joined.generation_id,
            member_id: joined.member_id.clone(),
            ..SyncGroupRequest::default()
        };
        let synced: SyncGroupResponse = self.ask(0, sync)?;
        succeeded("SyncGroup", synced.error_code)?;
        Ok(joined.member_id)
    }

    /// Leaves it.
    pub(super) fn leave(&mut self, group: &str, member: &str) -> Result {
        let members = vec![LeavingMember { member_id: member.to_owned(), ..LeavingMember::default() }];
        let leave = LeaveGroupRequest { group_id: group.to_owned(), members };
        let left: LeaveGroupResponse = self.ask(0, leave)?;
        succeeded("LeaveGroup", left.error_code)
    }
}

/// Fails unless the code says that nothing is wrong.
pub(super) fn succeeded(what: &str, code: ErrorCode) -> Result {
    ensure(code.is_ok(), || format!("{what}: {code}"))
}

/// A consumer's subscription to one topic (`ConsumerProtocolSubscription` v0).
fn subscription(topic: &str) -> Vec<u8> {
    let length = u16::try_from(topic.len()).unwrap_or(u16::MAX);
    [&[0, 0, 0, 0, 0, 1][..], &length.to_be_bytes(), topic.as_bytes(), &(-1_i32).to_be_bytes()].concat()
}
