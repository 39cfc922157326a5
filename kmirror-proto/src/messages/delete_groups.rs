//! DeleteGroups (42), versions 0-3: empty groups and their positions are forgotten.
//!
//! ```text
//! request   v0  [group]                        v2  compact
//! response  v0  throttle, [group, error]       v2  compact      v3  + nullable error message per group
//! ```
//!
//! A group with members is error 68, NON_EMPTY_GROUP. KIP-229. Java: `DeleteGroupsRequest`, `DeleteGroupsResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Deletes groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteGroupsRequest {
    /// The groups.
    pub groups_names: Vec<String>,
}

/// What became of the groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteGroupsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes.
    pub results: Vec<DeletedGroup>,
}

/// What became of one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeletedGroup {
    /// The group.
    pub group_id: String,
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that (v3).
    pub error_message: Option<String>,
}

impl Request for DeleteGroupsRequest {
    const KEY: ApiKey = ApiKey::DELETE_GROUPS;
    const VERSIONS: RangeInclusive<i16> = 0..=3;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = DeleteGroupsResponse;
}

impl Message for DeleteGroupsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.groups_names, "groups", |w, group| w.put_string(form, group, "group id"))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let groups_names = r.items(form, 1, "groups", |r| r.string(form, "group id"))?;
        r.skip_tagged_fields(form, "delete groups request")?;
        Ok(Self { groups_names })
    }
}

impl Message for DeleteGroupsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.results, "groups", |w, result| {
            w.put_string(form, &result.group_id, "group id")?;
            w.put_i16(result.error_code.0);
            if version >= 3 {
                w.put_nullable_string(form, result.error_message.as_deref(), "error message")?;
            }
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let throttle_time_ms = r.i32("throttle time")?;
        let results = r.items(form, 4, "groups", |r| {
            let mut result = DeletedGroup {
                group_id: r.string(form, "group id")?,
                error_code: ErrorCode(r.i16("group error code")?),
                error_message: None,
            };
            if version >= 3 {
                result.error_message = r.nullable_string(form, "error message")?;
            }
            r.skip_tagged_fields(form, "deleted group")?;
            Ok(result)
        })?;
        r.skip_tagged_fields(form, "delete groups response")?;
        Ok(Self { throttle_time_ms, results })
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DeleteGroupsRequest::FLEXIBLE_FROM)
}
