//! SyncGroup (14), versions 0-5: the leader hands in the assignments, and every member gets its own.
//!
//! ```text
//! request   v0     group, generation, member, [member, assignment]
//!           v3     + group instance id      v4  compact      v5  + nullable protocol type, nullable protocol
//! response  v0     error, assignment
//!           v1     + throttle in front      v4  compact      v5  + nullable protocol type, nullable protocol
//! ```
//!
//! Static members: KIP-345; a group of another protocol is refused (23) from v5 on, KIP-559. Java: `SyncGroupRequest`,
//! `SyncGroupResponse`.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for the assignment of one member; brings all of them when the leader asks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncGroupRequest {
    /// The group.
    pub group_id: String,
    /// The generation.
    pub generation_id: i32,
    /// The member.
    pub member_id: String,
    /// The static member, `None` for none (v3+).
    pub group_instance_id: Option<String>,
    /// What the group is for, `None` to leave that unsaid (v5).
    pub protocol_type: Option<String>,
    /// The protocol of the generation, `None` to leave that unsaid (v5).
    pub protocol_name: Option<String>,
    /// The assignments of the leader, none from any other member.
    pub assignments: Vec<SyncGroupAssignment>,
}

/// The assignment of one member.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncGroupAssignment {
    /// The member.
    pub member_id: String,
    /// What it has to do, as the protocol has it.
    pub assignment: Bytes,
}

/// The assignment of the member that asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncGroupResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the group is for (v5).
    pub protocol_type: Option<String>,
    /// The protocol of the generation (v5).
    pub protocol_name: Option<String>,
    /// What the member has to do, empty with an error and for a member that was assigned nothing.
    pub assignment: Bytes,
}

impl Request for SyncGroupRequest {
    const KEY: ApiKey = ApiKey::SYNC_GROUP;
    const VERSIONS: RangeInclusive<i16> = 0..=5;
    const FLEXIBLE_FROM: i16 = 4;
    type Response = SyncGroupResponse;
}

impl Message for SyncGroupRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.group_id, "group id")?;
        w.put_i32(self.generation_id);
        w.put_string(form, &self.member_id, "member id")?;
        if version >= 3 {
            w.put_nullable_string(form, self.group_instance_id.as_deref(), "group instance id")?;
        } else {
            refuse_left_out(self.group_instance_id.is_some(), "group instance id", version)?;
        }
        if version >= 5 {
            w.put_nullable_string(form, self.protocol_type.as_deref(), "protocol type")?;
            w.put_nullable_string(form, self.protocol_name.as_deref(), "protocol name")?;
        }
        w.put_items(form, &self.assignments, "assignments", |w, assigned| {
            w.put_string(form, &assigned.member_id, "assigned member id")?;
            w.put_sized_bytes(form, &assigned.assignment, "assignment")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self {
            group_id: r.string(form, "group id")?,
            generation_id: r.i32("generation id")?,
            member_id: r.string(form, "member id")?,
            ..Self::default()
        };
        if version >= 3 {
            request.group_instance_id = r.nullable_string(form, "group instance id")?;
        }
        if version >= 5 {
            request.protocol_type = r.nullable_string(form, "protocol type")?;
            request.protocol_name = r.nullable_string(form, "protocol name")?;
        }
        request.assignments = r.items(form, 3, "assignments", |r| {
            let assigned = SyncGroupAssignment {
                member_id: r.string(form, "assigned member id")?,
                assignment: r.sized_bytes(form, "assignment")?,
            };
            r.skip_tagged_fields(form, "sync group assignment")?;
            Ok(assigned)
        })?;
        r.skip_tagged_fields(form, "sync group request")?;
        Ok(request)
    }
}

impl Message for SyncGroupResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_i16(self.error_code.0);
        if version >= 5 {
            w.put_nullable_string(form, self.protocol_type.as_deref(), "protocol type")?;
            w.put_nullable_string(form, self.protocol_name.as_deref(), "protocol name")?;
        }
        w.put_sized_bytes(form, &self.assignment, "assignment")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.error_code = ErrorCode(r.i16("sync group error code")?);
        if version >= 5 {
            response.protocol_type = r.nullable_string(form, "protocol type")?;
            response.protocol_name = r.nullable_string(form, "protocol name")?;
        }
        response.assignment = r.sized_bytes(form, "assignment")?;
        r.skip_tagged_fields(form, "sync group response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, SyncGroupRequest::FLEXIBLE_FROM)
}
