//! DescribeConfigs (32), versions 0-4: how topics and brokers are configured.
//!
//! ```text
//! request   v0  [resource type, name, nullable [key]]
//!           v1  + include synonyms          v3  + include documentation     v4  compact
//! response  v0  throttle, [error, message, resource type, name, [config]]
//!     config    name, nullable value, read only, is default, sensitive
//!           v1  source in the place of is default; + [synonym, nullable value, source]
//!           v3  + type, nullable documentation                              v4  compact
//! ```
//!
//! 0.11 and newer; 4.x dropped v0. Java: `DescribeConfigsRequest`, `DescribeConfigsResponse`; KIP-133, synonyms and
//! sources: KIP-226, types and documentation: KIP-569.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks how topics and brokers are configured. A broker's configs are told by that broker alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeConfigsRequest {
    /// What to ask for.
    pub resources: Vec<DescribeConfigsResource>,
    /// Also where else each config is set (v1+).
    pub include_synonyms: bool,
    /// Also what each config is for (v3+).
    pub include_documentation: bool,
}

/// One topic or broker to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeConfigsResource {
    /// Its kind: [`TOPIC`](Self::TOPIC), [`BROKER`](Self::BROKER), or one that this crate has no name for.
    pub resource_type: i8,
    /// Its name; that of a broker is its id in decimal digits.
    pub resource_name: String,
    /// The configs to ask for; `None` asks for all.
    pub configuration_keys: Option<Vec<String>>,
}

impl DescribeConfigsResource {
    /// The resource is a topic.
    pub const TOPIC: i8 = 2;
    /// The resource is a broker.
    pub const BROKER: i8 = 4;
}

/// How topics and brokers are configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeConfigsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// One result for each resource asked for.
    pub results: Vec<DescribedResource>,
}

/// How one topic or broker is configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedResource {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// Its kind, see [`DescribeConfigsResource::resource_type`].
    pub resource_type: i8,
    /// Its name.
    pub resource_name: String,
    /// Its configs. One that was asked for and that the broker does not know is missing.
    pub configs: Vec<DescribedConfig>,
}

/// One config, as it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedConfig {
    /// Its name.
    pub name: String,
    /// Its value, `None` when it is withheld or not set.
    pub value: Option<String>,
    /// Can it not be changed?
    pub read_only: bool,
    /// Where its value comes from, one of the constants of this type.
    ///
    /// v0 says only whether it is the default: then this is [`DEFAULT_CONFIG`](Self::DEFAULT_CONFIG), else
    /// [`UNKNOWN`](Self::UNKNOWN). The brokers that have no newer version (0.11, 1.0) call every config of a topic the
    /// default that is not set on the topic itself.
    pub config_source: i8,
    /// Is it a secret?
    pub is_sensitive: bool,
    /// Everywhere it is set, what is in force first; empty unless asked for (v1+).
    pub synonyms: Vec<ConfigSynonym>,
    /// The type of its value, 0 when unknown (v3+).
    pub config_type: i8,
    /// What it is for; `None` unless asked for (v3+).
    pub documentation: Option<String>,
}

impl DescribedConfig {
    /// Not told (v0: it is set somewhere).
    pub const UNKNOWN: i8 = -1;
    /// Set on this topic.
    pub const TOPIC_CONFIG: i8 = 1;
    /// Set on this broker while it runs.
    pub const DYNAMIC_BROKER_CONFIG: i8 = 2;
    /// Set on all brokers while they run.
    pub const DYNAMIC_DEFAULT_BROKER_CONFIG: i8 = 3;
    /// Set in the broker's file.
    pub const STATIC_BROKER_CONFIG: i8 = 4;
    /// Set nowhere.
    pub const DEFAULT_CONFIG: i8 = 5;
}

/// One place where a config is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigSynonym {
    /// The name that it has there.
    pub name: String,
    /// Its value there, `None` when it is withheld.
    pub value: Option<String>,
    /// The place, see [`DescribedConfig::config_source`].
    pub source: i8,
}

impl Default for DescribedConfig {
    fn default() -> Self {
        Self {
            name: String::new(),
            value: None,
            read_only: false,
            config_source: Self::UNKNOWN,
            is_sensitive: false,
            synonyms: Vec::new(),
            config_type: 0,
            documentation: None,
        }
    }
}

impl Request for DescribeConfigsRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_CONFIGS;
    const VERSIONS: RangeInclusive<i16> = 0..=4;
    const FLEXIBLE_FROM: i16 = 4;
    type Response = DescribeConfigsResponse;
}

impl Message for DescribeConfigsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.resources, "resources", |w, resource| resource.encode(form, w))?;
        if version >= 1 {
            w.put_bool(self.include_synonyms);
        } else {
            refuse_left_out(self.include_synonyms, "include synonyms", version)?;
        }
        if version >= 3 {
            w.put_bool(self.include_documentation);
        } else {
            refuse_left_out(self.include_documentation, "include documentation", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let resources = r.items(form, 4, "resources", |r| DescribeConfigsResource::decode(form, r))?;
        let mut request = Self { resources, ..Self::default() };
        if version >= 1 {
            request.include_synonyms = r.bool("include synonyms")?;
        }
        if version >= 3 {
            request.include_documentation = r.bool("include documentation")?;
        }
        r.skip_tagged_fields(form, "describe configs request")?;
        Ok(request)
    }
}

impl DescribeConfigsResource {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i8(self.resource_type);
        w.put_string(form, &self.resource_name, "resource name")?;
        match &self.configuration_keys {
            None => w.put_null(form),
            Some(keys) => w.put_items(form, keys, "config names", |w, key| w.put_string(form, key, "config name"))?,
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let resource = Self {
            resource_type: r.i8("resource type")?,
            resource_name: r.string(form, "resource name")?,
            configuration_keys: r.nullable_items(form, 1, "config names", |r| r.string(form, "config name"))?,
        };
        r.skip_tagged_fields(form, "resource")?;
        Ok(resource)
    }
}

impl Message for DescribeConfigsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.results, "results", |w, result| result.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            results: r.items(form, 7, "results", |r| DescribedResource::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "describe configs response")?;
        Ok(response)
    }
}

impl DescribedResource {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_i8(self.resource_type);
        w.put_string(form, &self.resource_name, "resource name")?;
        w.put_items(form, &self.configs, "configs", |w, config| config.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let result = Self {
            error_code: ErrorCode(r.i16("resource error code")?),
            error_message: r.nullable_string(form, "error message")?,
            resource_type: r.i8("resource type")?,
            resource_name: r.string(form, "resource name")?,
            configs: r.items(form, 7, "configs", |r| DescribedConfig::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "described resource")?;
        Ok(result)
    }
}

impl DescribedConfig {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.name, "config name")?;
        w.put_nullable_string(form, self.value.as_deref(), "config value")?;
        w.put_bool(self.read_only);
        if version >= 1 {
            w.put_i8(self.config_source);
        } else {
            w.put_bool(self.config_source == Self::DEFAULT_CONFIG);
        }
        w.put_bool(self.is_sensitive);
        if version >= 1 {
            w.put_items(form, &self.synonyms, "config synonyms", |w, synonym| synonym.encode(form, w))?;
        }
        if version >= 3 {
            w.put_i8(self.config_type);
            w.put_nullable_string(form, self.documentation.as_deref(), "config documentation")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut config = Self {
            name: r.string(form, "config name")?,
            value: r.nullable_string(form, "config value")?,
            read_only: r.bool("config is read only")?,
            ..Self::default()
        };
        if version >= 1 {
            config.config_source = r.i8("config source")?;
        } else if r.bool("config is default")? {
            config.config_source = Self::DEFAULT_CONFIG;
        }
        config.is_sensitive = r.bool("config is sensitive")?;
        if version >= 1 {
            config.synonyms = r.items(form, 4, "config synonyms", |r| ConfigSynonym::decode(form, r))?;
        }
        if version >= 3 {
            config.config_type = r.i8("config type")?;
            config.documentation = r.nullable_string(form, "config documentation")?;
        }
        r.skip_tagged_fields(form, "described config")?;
        Ok(config)
    }
}

impl ConfigSynonym {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "synonym name")?;
        w.put_nullable_string(form, self.value.as_deref(), "synonym value")?;
        w.put_i8(self.source);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let synonym = Self {
            name: r.string(form, "synonym name")?,
            value: r.nullable_string(form, "synonym value")?,
            source: r.i8("synonym source")?,
        };
        r.skip_tagged_fields(form, "config synonym")?;
        Ok(synonym)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DescribeConfigsRequest::FLEXIBLE_FROM)
}
