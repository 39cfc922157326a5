//! ListGroups (16), versions 0-5: the groups that one broker coordinates.
//!
//! ```text
//! request   v0     (nothing)                    v3  compact    v4  [state]           v5  + [type]
//! response  v0     error, [group, protocol type]
//!           v1     + throttle in front          v3  compact    v4  + state per group v5  + type per group
//! ```
//!
//! States: KIP-518; types (`consumer`, `classic`): KIP-848. Java: `ListGroupsRequest`, `ListGroupsResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for the groups of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListGroupsRequest {
    /// Only groups in one of these states; empty for any state (v4+).
    pub states_filter: Vec<String>,
    /// Only groups of one of these types; empty for any type (v5).
    pub types_filter: Vec<String>,
}

/// The groups of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListGroupsResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// The groups.
    pub groups: Vec<ListedGroup>,
}

/// One group of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedGroup {
    /// The group.
    pub group_id: String,
    /// What it is for; empty for a group that only holds positions.
    pub protocol_type: String,
    /// Its state (v4+).
    pub group_state: String,
    /// Its type (v5).
    pub group_type: String,
}

impl Request for ListGroupsRequest {
    const KEY: ApiKey = ApiKey::LIST_GROUPS;
    const VERSIONS: RangeInclusive<i16> = 0..=5;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = ListGroupsResponse;
}

impl Message for ListGroupsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 4 {
            w.put_items(form, &self.states_filter, "states", |w, state| w.put_string(form, state, "group state"))?;
        } else {
            refuse_left_out(!self.states_filter.is_empty(), "states", version)?;
        }
        if version >= 5 {
            w.put_items(form, &self.types_filter, "types", |w, kind| w.put_string(form, kind, "group type"))?;
        } else {
            refuse_left_out(!self.types_filter.is_empty(), "types", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version >= 4 {
            request.states_filter = r.items(form, 1, "states", |r| r.string(form, "group state"))?;
        }
        if version >= 5 {
            request.types_filter = r.items(form, 1, "types", |r| r.string(form, "group type"))?;
        }
        r.skip_tagged_fields(form, "list groups request")?;
        Ok(request)
    }
}

impl Message for ListGroupsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_i16(self.error_code.0);
        w.put_items(form, &self.groups, "groups", |w, group| {
            w.put_string(form, &group.group_id, "group id")?;
            w.put_string(form, &group.protocol_type, "protocol type")?;
            if version >= 4 {
                w.put_string(form, &group.group_state, "group state")?;
            }
            if version >= 5 {
                w.put_string(form, &group.group_type, "group type")?;
            }
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.error_code = ErrorCode(r.i16("list groups error code")?);
        response.groups = r.items(form, 3, "groups", |r| {
            let mut group = ListedGroup {
                group_id: r.string(form, "group id")?,
                protocol_type: r.string(form, "protocol type")?,
                ..ListedGroup::default()
            };
            if version >= 4 {
                group.group_state = r.string(form, "group state")?;
            }
            if version >= 5 {
                group.group_type = r.string(form, "group type")?;
            }
            r.skip_tagged_fields(form, "listed group")?;
            Ok(group)
        })?;
        r.skip_tagged_fields(form, "list groups response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, ListGroupsRequest::FLEXIBLE_FROM)
}
