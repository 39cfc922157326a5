//! DescribeAcls (29), versions 0-3: who may do what.
//!
//! ```text
//! request   v0  filter                                                       v1  + pattern type     v2  compact
//! response  v0  throttle, error, nullable message, [pattern, [entry]]        v1  + pattern type     v2  compact
//! ```
//!
//! Filter, pattern and entry stand in `acls`. v3 has entries about users (KIP-373). 0.11 and newer; 4.x dropped v0.
//! Java: `DescribeAclsRequest`, `DescribeAclsResponse`; KIP-140.

use std::ops::RangeInclusive;

use super::acls::{self, AclEntry, AclFilter, AclPattern, form};
use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Reader, Writer};

/// Asks for entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeAclsRequest {
    /// Which ones.
    pub filter: AclFilter,
}

/// The entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeAclsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The entries by what they are about.
    pub resources: Vec<DescribedAcls>,
}

/// Entries about the same resources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedAcls {
    /// The resources.
    pub pattern: AclPattern,
    /// The entries.
    pub acls: Vec<AclEntry>,
}

impl Request for DescribeAclsRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_ACLS;
    const VERSIONS: RangeInclusive<i16> = 0..=3;
    const FLEXIBLE_FROM: i16 = acls::FLEXIBLE_FROM;
    type Response = DescribeAclsResponse;
}

impl Message for DescribeAclsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        self.filter.encode(version, w)?;
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let request = Self { filter: AclFilter::decode(version, r)? };
        r.skip_tagged_fields(form(version), "describe acls request")?;
        Ok(request)
    }
}

impl Message for DescribeAclsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_items(form, &self.resources, "resources", |w, resource| resource.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("describe acls error code")?),
            error_message: r.nullable_string(form, "error message")?,
            resources: r.items(form, 5, "resources", |r| DescribedAcls::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "describe acls response")?;
        Ok(response)
    }
}

impl DescribedAcls {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        self.pattern.encode(version, w)?;
        w.put_items(form, &self.acls, "acls", |w, acl| {
            acl.encode(version, w)?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let pattern = AclPattern::decode(version, r)?;
        let acls = r.items(form, 5, "acls", |r| {
            let acl = AclEntry::decode(version, r)?;
            r.skip_tagged_fields(form, "acl")?;
            Ok(acl)
        })?;
        r.skip_tagged_fields(form, "described acls")?;
        Ok(Self { pattern, acls })
    }
}
