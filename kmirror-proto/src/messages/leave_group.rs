//! LeaveGroup (13), versions 0-5: members give up their places.
//!
//! ```text
//! request   v0-v2  group, member                       exactly one member here
//!           v3     group, [member, group instance id]     v4  compact    v5  + nullable reason per member
//! response  v0-v2  error                                  v1  + throttle in front
//!           v3     + [member, group instance id, error]   v4  compact
//! ```
//!
//! Lists of members: KIP-345; reasons: KIP-800. Java: `LeaveGroupRequest`, `LeaveGroupResponse`, whose old versions are
//! the same lists of one.

use std::ops::RangeInclusive;

use super::{Message, Request, only, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Takes members out of their group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaveGroupRequest {
    /// The group.
    pub group_id: String,
    /// Who leaves; exactly one below v3.
    pub members: Vec<LeavingMember>,
}

/// One member that leaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeavingMember {
    /// Its id, empty when the static member is named alone.
    pub member_id: String,
    /// The static member, `None` for none (v3+).
    pub group_instance_id: Option<String>,
    /// Why it leaves (v5).
    pub reason: Option<String>,
}

/// What became of the members.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaveGroupResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// What is wrong with the group or its coordinator; below v3 also with the member.
    pub error_code: ErrorCode,
    /// The outcomes by member (v3+). Below v3 the error of the only one is written in the place of the group's, if
    /// there is none of the group, and comes back as such; more members than one cannot be written.
    pub members: Vec<LeftMember>,
}

/// What became of one member.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftMember {
    /// Its id.
    pub member_id: String,
    /// The static member, `None` for none.
    pub group_instance_id: Option<String>,
    /// What is wrong with it.
    pub error_code: ErrorCode,
}

impl Request for LeaveGroupRequest {
    const KEY: ApiKey = ApiKey::LEAVE_GROUP;
    const VERSIONS: RangeInclusive<i16> = 0..=5;
    const FLEXIBLE_FROM: i16 = 4;
    type Response = LeaveGroupResponse;
}

impl Message for LeaveGroupRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.group_id, "group id")?;
        if version >= 3 {
            w.put_items(form, &self.members, "members", |w, member| member.encode(version, w))?;
        } else {
            let member = only(&self.members, "members other than one", version)?;
            refuse_left_out(member.group_instance_id.is_some(), "group instance id", version)?;
            w.put_string(form, &member.member_id, "member id")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let group_id = r.string(form, "group id")?;
        let members = if version >= 3 {
            r.items(form, 3, "members", |r| LeavingMember::decode(version, r))?
        } else {
            vec![LeavingMember { member_id: r.string(form, "member id")?, ..LeavingMember::default() }]
        };
        r.skip_tagged_fields(form, "leave group request")?;
        Ok(Self { group_id, members })
    }
}

impl LeavingMember {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.member_id, "member id")?;
        w.put_nullable_string(form, self.group_instance_id.as_deref(), "group instance id")?;
        if version >= 5 {
            w.put_nullable_string(form, self.reason.as_deref(), "reason")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut member = Self {
            member_id: r.string(form, "member id")?,
            group_instance_id: r.nullable_string(form, "group instance id")?,
            reason: None,
        };
        if version >= 5 {
            member.reason = r.nullable_string(form, "reason")?;
        }
        r.skip_tagged_fields(form, "leaving member")?;
        Ok(member)
    }
}

impl Message for LeaveGroupResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        if version >= 3 {
            w.put_i16(self.error_code.0);
            w.put_items(form, &self.members, "members", |w, member| {
                w.put_string(form, &member.member_id, "member id")?;
                w.put_nullable_string(form, member.group_instance_id.as_deref(), "group instance id")?;
                w.put_i16(member.error_code.0);
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
        } else {
            w.put_i16(self.only_error(version)?.0);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.error_code = ErrorCode(r.i16("leave group error code")?);
        if version >= 3 {
            response.members = r.items(form, 5, "members", |r| {
                let member = LeftMember {
                    member_id: r.string(form, "member id")?,
                    group_instance_id: r.nullable_string(form, "group instance id")?,
                    error_code: ErrorCode(r.i16("member error code")?),
                };
                r.skip_tagged_fields(form, "left member")?;
                Ok(member)
            })?;
        }
        r.skip_tagged_fields(form, "leave group response")?;
        Ok(response)
    }
}

impl LeaveGroupResponse {
    /// The one error that the versions below 3 have room for.
    fn only_error(&self, version: i16) -> Result<ErrorCode, EncodeError> {
        match self.members.as_slice() {
            [member] if self.error_code.is_ok() => Ok(member.error_code),
            [] | [_] => Ok(self.error_code),
            [_, _, ..] => Err(EncodeError::NotInVersion { what: "more members than one", version }),
        }
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, LeaveGroupRequest::FLEXIBLE_FROM)
}
