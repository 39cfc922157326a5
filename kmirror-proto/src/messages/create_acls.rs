//! CreateAcls (30), versions 0-3: let, or forbid, somebody to do something.
//!
//! ```text
//! request   v0  [pattern, entry]                          v1  + pattern type     v2  compact
//! response  v0  throttle, [error, nullable message]                              v2  compact
//! ```
//!
//! Pattern and entry stand in `acls`. v3 has entries about users (KIP-373). 0.11 and newer; 4.x dropped v0.
//! Java: `CreateAclsRequest`, `CreateAclsResponse`; KIP-140.

use std::ops::RangeInclusive;

use super::acls::{self, AclEntry, AclPattern, form};
use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Reader, Writer};

/// Asks for new entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateAclsRequest {
    /// The entries.
    pub creations: Vec<AclCreation>,
}

/// One new entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AclCreation {
    /// The resources.
    pub pattern: AclPattern,
    /// Who may do what.
    pub entry: AclEntry,
}

/// What became of the entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateAclsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes, in the order of the request.
    pub results: Vec<AclCreationResult>,
}

/// What became of one entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AclCreationResult {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
}

impl Request for CreateAclsRequest {
    const KEY: ApiKey = ApiKey::CREATE_ACLS;
    const VERSIONS: RangeInclusive<i16> = 0..=3;
    const FLEXIBLE_FROM: i16 = acls::FLEXIBLE_FROM;
    type Response = CreateAclsResponse;
}

impl Message for CreateAclsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.creations, "acl creations", |w, creation| {
            creation.pattern.encode(version, w)?;
            creation.entry.encode(version, w)?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let creations = r.items(form, 8, "acl creations", |r| {
            let pattern = AclPattern::decode(version, r)?;
            let entry = AclEntry::decode(version, r)?;
            r.skip_tagged_fields(form, "acl creation")?;
            Ok(AclCreation { pattern, entry })
        })?;
        r.skip_tagged_fields(form, "create acls request")?;
        Ok(Self { creations })
    }
}

impl Message for CreateAclsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.results, "acl results", |w, result| {
            w.put_i16(result.error_code.0);
            w.put_nullable_string(form, result.error_message.as_deref(), "error message")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let throttle_time_ms = r.i32("throttle time")?;
        let results = r.items(form, 4, "acl results", |r| {
            let result = AclCreationResult {
                error_code: ErrorCode(r.i16("acl error code")?),
                error_message: r.nullable_string(form, "error message")?,
            };
            r.skip_tagged_fields(form, "acl result")?;
            Ok(result)
        })?;
        r.skip_tagged_fields(form, "create acls response")?;
        Ok(Self { throttle_time_ms, results })
    }
}
