//! DeleteAcls (31), versions 0-3: take entries away.
//!
//! ```text
//! request   v0  [filter]                                                     v1  + pattern type     v2  compact
//! response  v0  throttle, [error, nullable message, [deleted]]               v1  + pattern type     v2  compact
//! deleted       error, nullable message, pattern, entry
//! ```
//!
//! Filter, pattern and entry stand in `acls`. v3 has entries about users (KIP-373). 0.11 and newer; 4.x dropped v0.
//! Java: `DeleteAclsRequest`, `DeleteAclsResponse`; KIP-140.

use std::ops::RangeInclusive;

use super::acls::{self, AclEntry, AclFilter, AclPattern, form};
use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Reader, Writer};

/// Takes entries away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteAclsRequest {
    /// Which ones.
    pub filters: Vec<AclFilter>,
}

/// What became of the entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteAclsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes, in the order of the request.
    pub filter_results: Vec<AclFilterResult>,
}

/// What became of the entries that one filter means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AclFilterResult {
    /// What is wrong with the filter.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The entries.
    pub matching_acls: Vec<DeletedAcl>,
}

/// What became of one entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeletedAcl {
    /// What is wrong: it is still there.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The resources.
    pub pattern: AclPattern,
    /// Who could do what.
    pub entry: AclEntry,
}

impl Request for DeleteAclsRequest {
    const KEY: ApiKey = ApiKey::DELETE_ACLS;
    const VERSIONS: RangeInclusive<i16> = 0..=3;
    const FLEXIBLE_FROM: i16 = acls::FLEXIBLE_FROM;
    type Response = DeleteAclsResponse;
}

impl Message for DeleteAclsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.filters, "acl filters", |w, filter| {
            filter.encode(version, w)?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let filters = r.items(form, 8, "acl filters", |r| {
            let filter = AclFilter::decode(version, r)?;
            r.skip_tagged_fields(form, "acl filter")?;
            Ok(filter)
        })?;
        r.skip_tagged_fields(form, "delete acls request")?;
        Ok(Self { filters })
    }
}

impl Message for DeleteAclsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.filter_results, "acl filter results", |w, result| result.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            filter_results: r.items(form, 5, "acl filter results", |r| AclFilterResult::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "delete acls response")?;
        Ok(response)
    }
}

impl AclFilterResult {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_items(form, &self.matching_acls, "matching acls", |w, acl| acl.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let result = Self {
            error_code: ErrorCode(r.i16("acl filter error code")?),
            error_message: r.nullable_string(form, "error message")?,
            matching_acls: r.items(form, 11, "matching acls", |r| DeletedAcl::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "acl filter result")?;
        Ok(result)
    }
}

impl DeletedAcl {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        self.pattern.encode(version, w)?;
        self.entry.encode(version, w)?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let acl = Self {
            error_code: ErrorCode(r.i16("acl error code")?),
            error_message: r.nullable_string(form, "error message")?,
            pattern: AclPattern::decode(version, r)?,
            entry: AclEntry::decode(version, r)?,
        };
        r.skip_tagged_fields(form, "deleted acl")?;
        Ok(acl)
    }
}
