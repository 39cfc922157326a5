//! IncrementalAlterConfigs (44), versions 0-1: single configs of topics and brokers.
//!
//! ```text
//! request   v0  [resource type, name, [config, operation, nullable value]], validate only    v1  compact
//! response  v0  throttle, [error, nullable message, resource type, name]                     v1  compact
//! ```
//!
//! 2.3 and newer. Java: `IncrementalAlterConfigsRequest`, `IncrementalAlterConfigsResponse`; KIP-339.

use std::ops::RangeInclusive;

use super::alter_configs::AlteredResource;
use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::wire::{Form, Reader, Writer};

/// Changes configs of topics and brokers, and leaves the others alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IncrementalAlterConfigsRequest {
    /// The topics and brokers.
    pub resources: Vec<IncrementalAlterConfigsResource>,
    /// Check only, change nothing.
    pub validate_only: bool,
}

/// What to change of one topic or broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IncrementalAlterConfigsResource {
    /// Its kind, see [`DescribeConfigsResource::resource_type`](super::DescribeConfigsResource::resource_type).
    pub resource_type: i8,
    /// Its name; that of a broker is its id in decimal digits.
    pub resource_name: String,
    /// The changes.
    pub configs: Vec<ConfigChange>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigChange {
    /// The config.
    pub name: String,
    /// What to do, one of the constants of this type.
    pub config_operation: i8,
    /// The value; `None` where the operation needs none.
    pub value: Option<String>,
}

impl ConfigChange {
    /// Takes the value.
    pub const SET: i8 = 0;
    /// Goes back to the default.
    pub const DELETE: i8 = 1;
    /// Adds the values to a list.
    pub const APPEND: i8 = 2;
    /// Takes the values from a list.
    pub const SUBTRACT: i8 = 3;
}

/// What became of the topics and brokers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IncrementalAlterConfigsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes.
    pub responses: Vec<AlteredResource>,
}

impl Request for IncrementalAlterConfigsRequest {
    const KEY: ApiKey = ApiKey::INCREMENTAL_ALTER_CONFIGS;
    const VERSIONS: RangeInclusive<i16> = 0..=1;
    const FLEXIBLE_FROM: i16 = 1;
    type Response = IncrementalAlterConfigsResponse;
}

impl Message for IncrementalAlterConfigsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.resources, "resources", |w, resource| resource.encode(form, w))?;
        w.put_bool(self.validate_only);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            resources: r.items(form, 4, "resources", |r| IncrementalAlterConfigsResource::decode(form, r))?,
            validate_only: r.bool("validate only")?,
        };
        r.skip_tagged_fields(form, "incremental alter configs request")?;
        Ok(request)
    }
}

impl IncrementalAlterConfigsResource {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i8(self.resource_type);
        w.put_string(form, &self.resource_name, "resource name")?;
        w.put_items(form, &self.configs, "configs", |w, config| {
            w.put_string(form, &config.name, "config name")?;
            w.put_i8(config.config_operation);
            w.put_nullable_string(form, config.value.as_deref(), "config value")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let resource = Self {
            resource_type: r.i8("resource type")?,
            resource_name: r.string(form, "resource name")?,
            configs: r.items(form, 4, "configs", |r| {
                let change = ConfigChange {
                    name: r.string(form, "config name")?,
                    config_operation: r.i8("config operation")?,
                    value: r.nullable_string(form, "config value")?,
                };
                r.skip_tagged_fields(form, "config change")?;
                Ok(change)
            })?,
        };
        r.skip_tagged_fields(form, "incremental alter configs resource")?;
        Ok(resource)
    }
}

impl Message for IncrementalAlterConfigsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.responses, "altered resources", |w, response| response.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            responses: r.items(form, 6, "altered resources", |r| AlteredResource::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "incremental alter configs response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, IncrementalAlterConfigsRequest::FLEXIBLE_FROM)
}
