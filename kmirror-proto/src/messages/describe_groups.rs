//! DescribeGroups (15), versions 0-6: groups and their members.
//!
//! ```text
//! request   v0     [group]                      v3  + include authorized operations     v5  compact
//! response  v0     [error, group, state, protocol type, protocol, [member, client id, client host, metadata,
//!                  assignment]]
//!           v1     + throttle in front          v3  + authorized operations per group
//!           v4     + group instance id per member, after its id      v5  compact
//!           v6     + nullable error message per group, after its error
//! ```
//!
//! A group that is not there is an empty one in state `Dead`; in v6 it is error 69, GROUP_ID_NOT_FOUND (KIP-1043).
//! Java: `DescribeGroupsRequest`, `DescribeGroupsResponse`; authorized operations: KIP-430.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeGroupsRequest {
    /// The groups.
    pub groups: Vec<String>,
    /// Say what this client may do with each (v3+).
    pub include_authorized_operations: bool,
}

/// Groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeGroupsResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// The groups.
    pub groups: Vec<DescribedGroup>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedGroup {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that (v6).
    pub error_message: Option<String>,
    /// The group.
    pub group_id: String,
    /// `Stable`, `Empty`, `Dead`, ...; empty with an error.
    pub group_state: String,
    /// What the group is for; empty for a group that nobody has joined yet.
    pub protocol_type: String,
    /// The protocol of a stable group, else empty.
    pub protocol_data: String,
    /// Its members.
    pub members: Vec<DescribedGroupMember>,
    /// What this client may do with it, a bit each; `i32::MIN` when that was not asked for (v3+).
    pub authorized_operations: i32,
}

/// One member of a group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedGroupMember {
    /// Its id.
    pub member_id: String,
    /// The static member, `None` for none (v4+).
    pub group_instance_id: Option<String>,
    /// The name that its client gives itself.
    pub client_id: String,
    /// Where it comes from, as `/127.0.0.1`.
    pub client_host: String,
    /// The metadata that it gave for the protocol of a stable group, else empty.
    pub member_metadata: Bytes,
    /// What it has to do in a stable group, else empty.
    pub member_assignment: Bytes,
}

impl Default for DescribedGroup {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            error_message: None,
            group_id: String::new(),
            group_state: String::new(),
            protocol_type: String::new(),
            protocol_data: String::new(),
            members: Vec::new(),
            authorized_operations: i32::MIN,
        }
    }
}

impl Request for DescribeGroupsRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_GROUPS;
    const VERSIONS: RangeInclusive<i16> = 0..=6;
    const FLEXIBLE_FROM: i16 = 5;
    type Response = DescribeGroupsResponse;
}

impl Message for DescribeGroupsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.groups, "groups", |w, group| w.put_string(form, group, "group id"))?;
        if version >= 3 {
            w.put_bool(self.include_authorized_operations);
        } else {
            refuse_left_out(self.include_authorized_operations, "authorized operations", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request =
            Self { groups: r.items(form, 1, "groups", |r| r.string(form, "group id"))?, ..Self::default() };
        if version >= 3 {
            request.include_authorized_operations = r.bool("include authorized operations")?;
        }
        r.skip_tagged_fields(form, "describe groups request")?;
        Ok(request)
    }
}

impl Message for DescribeGroupsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_items(form, &self.groups, "groups", |w, group| group.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.groups = r.items(form, 12, "groups", |r| DescribedGroup::decode(version, r))?;
        r.skip_tagged_fields(form, "describe groups response")?;
        Ok(response)
    }
}

impl DescribedGroup {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        if version >= 6 {
            w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        }
        w.put_string(form, &self.group_id, "group id")?;
        w.put_string(form, &self.group_state, "group state")?;
        w.put_string(form, &self.protocol_type, "protocol type")?;
        w.put_string(form, &self.protocol_data, "protocol data")?;
        w.put_items(form, &self.members, "members", |w, member| member.encode(version, w))?;
        if version >= 3 {
            w.put_i32(self.authorized_operations);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut group = Self { error_code: ErrorCode(r.i16("group error code")?), ..Self::default() };
        if version >= 6 {
            group.error_message = r.nullable_string(form, "error message")?;
        }
        group.group_id = r.string(form, "group id")?;
        group.group_state = r.string(form, "group state")?;
        group.protocol_type = r.string(form, "protocol type")?;
        group.protocol_data = r.string(form, "protocol data")?;
        group.members = r.items(form, 7, "members", |r| DescribedGroupMember::decode(version, r))?;
        if version >= 3 {
            group.authorized_operations = r.i32("authorized operations")?;
        }
        r.skip_tagged_fields(form, "described group")?;
        Ok(group)
    }
}

impl DescribedGroupMember {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.member_id, "member id")?;
        if version >= 4 {
            w.put_nullable_string(form, self.group_instance_id.as_deref(), "group instance id")?;
        }
        w.put_string(form, &self.client_id, "client id")?;
        w.put_string(form, &self.client_host, "client host")?;
        w.put_sized_bytes(form, &self.member_metadata, "member metadata")?;
        w.put_sized_bytes(form, &self.member_assignment, "member assignment")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut member = Self { member_id: r.string(form, "member id")?, ..Self::default() };
        if version >= 4 {
            member.group_instance_id = r.nullable_string(form, "group instance id")?;
        }
        member.client_id = r.string(form, "client id")?;
        member.client_host = r.string(form, "client host")?;
        member.member_metadata = r.sized_bytes(form, "member metadata")?;
        member.member_assignment = r.sized_bytes(form, "member assignment")?;
        r.skip_tagged_fields(form, "described group member")?;
        Ok(member)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DescribeGroupsRequest::FLEXIBLE_FROM)
}
