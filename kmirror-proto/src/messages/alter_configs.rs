//! AlterConfigs (33), versions 0-2: all configs of topics and brokers at once; what is not named goes back to its default.
//!
//! ```text
//! request   v0  [resource type, name, [config, nullable value]], validate only      v2  compact
//! response  v0  throttle, [error, nullable message, resource type, name]            v2  compact
//! ```
//!
//! v1 is v0, for clients that wait out the throttle themselves (KIP-219). 0.11 and newer have the API; since 2.3
//! [`IncrementalAlterConfigsRequest`](super::IncrementalAlterConfigsRequest) leaves alone what it does not name. Java:
//! `AlterConfigsRequest`, `AlterConfigsResponse`; KIP-133.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Sets the configs of topics and brokers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlterConfigsRequest {
    /// The topics and brokers.
    pub resources: Vec<AlterConfigsResource>,
    /// Check only, change nothing.
    pub validate_only: bool,
}

/// The configs of one topic or broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlterConfigsResource {
    /// Its kind, see [`DescribeConfigsResource::resource_type`](super::DescribeConfigsResource::resource_type).
    pub resource_type: i8,
    /// Its name; that of a broker is its id in decimal digits.
    pub resource_name: String,
    /// All that shall be set.
    pub configs: Vec<AlterableConfig>,
}

/// One config.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlterableConfig {
    /// Its name.
    pub name: String,
    /// Its value; `None` takes the default.
    pub value: Option<String>,
}

/// What became of the topics and brokers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlterConfigsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes.
    pub responses: Vec<AlteredResource>,
}

/// The outcome of one topic or broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlteredResource {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// Its kind.
    pub resource_type: i8,
    /// Its name.
    pub resource_name: String,
}

impl Request for AlterConfigsRequest {
    const KEY: ApiKey = ApiKey::ALTER_CONFIGS;
    const VERSIONS: RangeInclusive<i16> = 0..=2;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = AlterConfigsResponse;
}

impl Message for AlterConfigsRequest {
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
            resources: r.items(form, 4, "resources", |r| AlterConfigsResource::decode(form, r))?,
            validate_only: r.bool("validate only")?,
        };
        r.skip_tagged_fields(form, "alter configs request")?;
        Ok(request)
    }
}

impl AlterConfigsResource {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i8(self.resource_type);
        w.put_string(form, &self.resource_name, "resource name")?;
        w.put_items(form, &self.configs, "configs", |w, config| {
            w.put_string(form, &config.name, "config name")?;
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
            configs: r.items(form, 3, "configs", |r| {
                let config = AlterableConfig {
                    name: r.string(form, "config name")?,
                    value: r.nullable_string(form, "config value")?,
                };
                r.skip_tagged_fields(form, "alterable config")?;
                Ok(config)
            })?,
        };
        r.skip_tagged_fields(form, "alter configs resource")?;
        Ok(resource)
    }
}

impl Message for AlterConfigsResponse {
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
        r.skip_tagged_fields(form, "alter configs response")?;
        Ok(response)
    }
}

impl AlteredResource {
    pub(super) fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_i8(self.resource_type);
        w.put_string(form, &self.resource_name, "resource name")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    pub(super) fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let resource = Self {
            error_code: ErrorCode(r.i16("resource error code")?),
            error_message: r.nullable_string(form, "error message")?,
            resource_type: r.i8("resource type")?,
            resource_name: r.string(form, "resource name")?,
        };
        r.skip_tagged_fields(form, "altered resource")?;
        Ok(resource)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, AlterConfigsRequest::FLEXIBLE_FROM)
}
