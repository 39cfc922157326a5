//! JoinGroup (11), versions 0-9: a member enters the next generation of its group.
//!
//! ```text
//! request   v0     group, session timeout, member, protocol type, [protocol, metadata]
//!           v1     + rebalance timeout       v5  + group instance id      v6  compact    v8  + nullable reason
//! response  v0     error, generation, protocol, leader, member, [member, metadata]
//!           v2     + throttle in front       v5  + group instance id per member          v6  compact
//!           v7     + protocol type, and the protocol may be null          v9  + skip assignment
//! ```
//!
//! From v4 on a member without an id is sent away with one (79) and comes back with it (KIP-394). Only the leader is
//! told the members. Static members: KIP-345; reasons: KIP-800. Java: `JoinGroupRequest`, `JoinGroupResponse`.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Joins a group, or joins it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinGroupRequest {
    /// The group.
    pub group_id: String,
    /// Without a heartbeat for so long, the member is taken to be gone.
    pub session_timeout_ms: i32,
    /// How long the members have to join again, -1 for the session timeout (v1+).
    pub rebalance_timeout_ms: i32,
    /// The member, empty for one that has no id yet.
    pub member_id: String,
    /// The static member, `None` for none (v5+).
    pub group_instance_id: Option<String>,
    /// What the group is for: `consumer`, `connect`.
    pub protocol_type: String,
    /// What the member can do, what it likes best first.
    pub protocols: Vec<JoinGroupProtocol>,
    /// Why it joins (v8+).
    pub reason: Option<String>,
}

/// One protocol that a member supports: of consumers, an assignor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JoinGroupProtocol {
    /// Its name.
    pub name: String,
    /// What the leader has to know of the member, as the protocol has it.
    pub metadata: Bytes,
}

/// The generation that the member is in now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinGroupResponse {
    /// How long this client is throttled (v2+).
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// The generation, -1 with an error.
    pub generation_id: i32,
    /// What the group is for (v7+).
    pub protocol_type: Option<String>,
    /// The protocol that all members support. `None` is written as `""` below v7.
    pub protocol_name: Option<String>,
    /// The member that assigns.
    pub leader: String,
    /// The assignment of the generation before still holds: the leader must not make another (v9).
    pub skip_assignment: bool,
    /// The id of the member that asks.
    pub member_id: String,
    /// All members for the leader, none for the others.
    pub members: Vec<JoinedMember>,
}

/// One member, as its leader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JoinedMember {
    /// Its id.
    pub member_id: String,
    /// The static member, `None` for none (v5+).
    pub group_instance_id: Option<String>,
    /// The metadata that it gave for the protocol.
    pub metadata: Bytes,
}

impl Default for JoinGroupRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            session_timeout_ms: 0,
            rebalance_timeout_ms: -1,
            member_id: String::new(),
            group_instance_id: None,
            protocol_type: String::new(),
            protocols: Vec::new(),
            reason: None,
        }
    }
}

impl Default for JoinGroupResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            generation_id: -1,
            protocol_type: None,
            protocol_name: Some(String::new()),
            leader: String::new(),
            skip_assignment: false,
            member_id: String::new(),
            members: Vec::new(),
        }
    }
}

impl Request for JoinGroupRequest {
    const KEY: ApiKey = ApiKey::JOIN_GROUP;
    const VERSIONS: RangeInclusive<i16> = 0..=9;
    const FLEXIBLE_FROM: i16 = 6;
    type Response = JoinGroupResponse;
}

impl Message for JoinGroupRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.group_id, "group id")?;
        w.put_i32(self.session_timeout_ms);
        if version >= 1 {
            w.put_i32(self.rebalance_timeout_ms);
        }
        w.put_string(form, &self.member_id, "member id")?;
        if version >= 5 {
            w.put_nullable_string(form, self.group_instance_id.as_deref(), "group instance id")?;
        } else {
            refuse_left_out(self.group_instance_id.is_some(), "group instance id", version)?;
        }
        w.put_string(form, &self.protocol_type, "protocol type")?;
        w.put_items(form, &self.protocols, "protocols", |w, protocol| {
            w.put_string(form, &protocol.name, "protocol name")?;
            w.put_sized_bytes(form, &protocol.metadata, "protocol metadata")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 8 {
            w.put_nullable_string(form, self.reason.as_deref(), "reason")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self {
            group_id: r.string(form, "group id")?,
            session_timeout_ms: r.i32("session timeout")?,
            ..Self::default()
        };
        if version >= 1 {
            request.rebalance_timeout_ms = r.i32("rebalance timeout")?;
        }
        request.member_id = r.string(form, "member id")?;
        if version >= 5 {
            request.group_instance_id = r.nullable_string(form, "group instance id")?;
        }
        request.protocol_type = r.string(form, "protocol type")?;
        request.protocols = r.items(form, 3, "protocols", |r| {
            let protocol = JoinGroupProtocol {
                name: r.string(form, "protocol name")?,
                metadata: r.sized_bytes(form, "protocol metadata")?,
            };
            r.skip_tagged_fields(form, "join group protocol")?;
            Ok(protocol)
        })?;
        if version >= 8 {
            request.reason = r.nullable_string(form, "reason")?;
        }
        r.skip_tagged_fields(form, "join group request")?;
        Ok(request)
    }
}

impl Message for JoinGroupResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 2 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_i16(self.error_code.0);
        w.put_i32(self.generation_id);
        if version >= 7 {
            w.put_nullable_string(form, self.protocol_type.as_deref(), "protocol type")?;
            w.put_nullable_string(form, self.protocol_name.as_deref(), "protocol name")?;
        } else {
            w.put_string(form, self.protocol_name.as_deref().unwrap_or_default(), "protocol name")?;
        }
        w.put_string(form, &self.leader, "leader")?;
        if version >= 9 {
            w.put_bool(self.skip_assignment);
        } else {
            refuse_left_out(self.skip_assignment, "skip assignment", version)?;
        }
        w.put_string(form, &self.member_id, "member id")?;
        w.put_items(form, &self.members, "members", |w, member| member.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 2 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.error_code = ErrorCode(r.i16("join group error code")?);
        response.generation_id = r.i32("generation id")?;
        if version >= 7 {
            response.protocol_type = r.nullable_string(form, "protocol type")?;
            response.protocol_name = r.nullable_string(form, "protocol name")?;
        } else {
            response.protocol_name = Some(r.string(form, "protocol name")?);
        }
        response.leader = r.string(form, "leader")?;
        if version >= 9 {
            response.skip_assignment = r.bool("skip assignment")?;
        }
        response.member_id = r.string(form, "member id")?;
        response.members = r.items(form, 4, "members", |r| JoinedMember::decode(version, r))?;
        r.skip_tagged_fields(form, "join group response")?;
        Ok(response)
    }
}

impl JoinedMember {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.member_id, "member id")?;
        if version >= 5 {
            w.put_nullable_string(form, self.group_instance_id.as_deref(), "group instance id")?;
        }
        w.put_sized_bytes(form, &self.metadata, "member metadata")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut member = Self { member_id: r.string(form, "member id")?, ..Self::default() };
        if version >= 5 {
            member.group_instance_id = r.nullable_string(form, "group instance id")?;
        }
        member.metadata = r.sized_bytes(form, "member metadata")?;
        r.skip_tagged_fields(form, "joined member")?;
        Ok(member)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, JoinGroupRequest::FLEXIBLE_FROM)
}
