//! Heartbeat (12), versions 0-4: a member is alive, and hears whether its generation is over.
//!
//! ```text
//! request   v0     group, generation, member     v3  + group instance id    v4  compact
//! response  v0     error                         v1  + throttle in front    v4  compact
//! ```
//!
//! A generation that is over is error 27, REBALANCE_IN_PROGRESS. Java: `HeartbeatRequest`, `HeartbeatResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Says that a member is alive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeartbeatRequest {
    /// The group.
    pub group_id: String,
    /// The generation.
    pub generation_id: i32,
    /// The member.
    pub member_id: String,
    /// The static member, `None` for none (v3+).
    pub group_instance_id: Option<String>,
}

/// Says whether the member still belongs to its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeartbeatResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
}

impl Request for HeartbeatRequest {
    const KEY: ApiKey = ApiKey::HEARTBEAT;
    const VERSIONS: RangeInclusive<i16> = 0..=4;
    const FLEXIBLE_FROM: i16 = 4;
    type Response = HeartbeatResponse;
}

impl Message for HeartbeatRequest {
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
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self {
            group_id: r.string(form, "group id")?,
            generation_id: r.i32("generation id")?,
            member_id: r.string(form, "member id")?,
            group_instance_id: None,
        };
        if version >= 3 {
            request.group_instance_id = r.nullable_string(form, "group instance id")?;
        }
        r.skip_tagged_fields(form, "heartbeat request")?;
        Ok(request)
    }
}

impl Message for HeartbeatResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_i16(self.error_code.0);
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut response = Self::default();
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.error_code = ErrorCode(r.i16("heartbeat error code")?);
        r.skip_tagged_fields(form(version), "heartbeat response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, HeartbeatRequest::FLEXIBLE_FROM)
}
