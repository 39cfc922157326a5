//! ListConfigResources (74), versions 0-1: what has configs.
//!
//! ```text
//! request   v0  (empty: subscriptions to client metrics)     v1  [resource type]       compact
//! response  v0  throttle, error, [name]                      v1  + resource type       compact
//! ```
//!
//! 3.7 and newer, on KRaft; v0 was called ListClientMetricsResources. Java: `ListConfigResourcesRequest`,
//! `ListConfigResourcesResponse`; KIP-1000, KIP-1142.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks what has configs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListConfigResourcesRequest {
    /// The kinds to ask for, all when empty (v1).
    pub resource_types: Vec<i8>,
}

/// What has configs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListConfigResourcesResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What has configs.
    pub config_resources: Vec<ConfigResource>,
}

/// One thing that has configs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigResource {
    /// Its name.
    pub resource_name: String,
    /// Its kind, 16 for a subscription to client metrics (v1).
    pub resource_type: i8,
}

impl Default for ConfigResource {
    fn default() -> Self {
        Self { resource_name: String::new(), resource_type: 16 }
    }
}

impl Request for ListConfigResourcesRequest {
    const KEY: ApiKey = ApiKey::LIST_CONFIG_RESOURCES;
    const VERSIONS: RangeInclusive<i16> = 0..=1;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = ListConfigResourcesResponse;
}

impl Message for ListConfigResourcesRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_items(form, &self.resource_types, "resource types", |w, kind| {
                w.put_i8(*kind);
                Ok(())
            })?;
        } else {
            refuse_left_out(!self.resource_types.is_empty(), "resource types", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version >= 1 {
            request.resource_types = r.items(form, 1, "resource types", |r| r.i8("kind"))?;
        }
        r.skip_tagged_fields(form, "list config resources request")?;
        Ok(request)
    }
}

impl Message for ListConfigResourcesResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_items(form, &self.config_resources, "config resources", |w, resource| resource.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("list config resources error code")?),
            config_resources: r.items(form, 2, "config resources", |r| ConfigResource::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "list config resources response")?;
        Ok(response)
    }
}

impl ConfigResource {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.resource_name, "resource name")?;
        if version >= 1 {
            w.put_i8(self.resource_type);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut resource = Self { resource_name: r.string(form, "resource name")?, ..Self::default() };
        if version >= 1 {
            resource.resource_type = r.i8("resource type")?;
        }
        r.skip_tagged_fields(form, "config resource")?;
        Ok(resource)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, ListConfigResourcesRequest::FLEXIBLE_FROM)
}
