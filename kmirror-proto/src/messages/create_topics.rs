//! CreateTopics (19), versions 0-7.
//!
//! ```text
//! request   v0     [name, partitions, replication factor, [partition, [broker]], [config, value]], timeout
//!           v1     + validate only      v5  compact
//! response  v0     [name, error]
//!           v1     + error message      v2  + throttle in front
//!           v5     + partitions, replication factor, nullable [config, value, read only, source, sensitive]; compact
//!           v7     + topic id after the name
//! ```
//!
//! v4 lets partitions and replication factor be -1, as the broker is configured (KIP-464; 2.4+ take it at every
//! version, measured). v5's tagged error code of the configs is kept: without it an empty list would not say that
//! they were withheld. Java: `CreateTopicsRequest`, `CreateTopicsResponse`; KIP-525.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, TaggedFields, Writer};

/// Asks the controller to create topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTopicsRequest {
    /// The topics.
    pub topics: Vec<CreatableTopic>,
    /// How long the controller may wait until they are there.
    pub timeout_ms: i32,
    /// Check only, create nothing (v1+).
    pub validate_only: bool,
}

/// One topic to create.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatableTopic {
    /// Its name.
    pub name: String,
    /// How many partitions; -1 with assignments, or as the broker is configured (2.4+).
    pub num_partitions: i32,
    /// How many replicas; -1 with assignments, or as the broker is configured (2.4+).
    pub replication_factor: i16,
    /// The replicas by partition; empty leaves it to the broker.
    pub assignments: Vec<CreatableReplicaAssignment>,
    /// Its configs.
    pub configs: Vec<CreatableTopicConfig>,
}

/// The replicas of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatableReplicaAssignment {
    /// Its index.
    pub partition_index: i32,
    /// The brokers that shall hold it.
    pub broker_ids: Vec<i32>,
}

/// One config.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatableTopicConfig {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Option<String>,
}

/// What became of the topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreateTopicsResponse {
    /// How long this client is throttled (v2+).
    pub throttle_time_ms: i32,
    /// The outcomes.
    pub topics: Vec<CreatedTopic>,
}

/// What became of one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedTopic {
    /// Its name.
    pub name: String,
    /// Its id, all zero when unknown (v7).
    pub topic_id: [u8; 16],
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say (v1+).
    pub error_message: Option<String>,
    /// Why the configs are withheld (v5+).
    pub topic_config_error_code: ErrorCode,
    /// How many partitions it has, -1 when unknown (v5+).
    pub num_partitions: i32,
    /// How many replicas it has, -1 when unknown (v5+).
    pub replication_factor: i16,
    /// Its configs, `None` when unknown (v5+).
    pub configs: Option<Vec<CreatedTopicConfig>>,
}

/// One config as the broker has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedTopicConfig {
    /// Its name.
    pub name: String,
    /// Its value, `None` when it is withheld.
    pub value: Option<String>,
    /// Can it not be changed?
    pub read_only: bool,
    /// Where it comes from, -1 when unknown.
    pub config_source: i8,
    /// Is it a secret?
    pub is_sensitive: bool,
}

impl Default for CreateTopicsRequest {
    fn default() -> Self {
        Self { topics: Vec::new(), timeout_ms: 60_000, validate_only: false }
    }
}

impl Default for CreatedTopic {
    fn default() -> Self {
        Self {
            name: String::new(),
            topic_id: [0; 16],
            error_code: ErrorCode::NONE,
            error_message: None,
            topic_config_error_code: ErrorCode::NONE,
            num_partitions: -1,
            replication_factor: -1,
            configs: None,
        }
    }
}

impl Request for CreateTopicsRequest {
    const KEY: ApiKey = ApiKey::CREATE_TOPICS;
    const VERSIONS: RangeInclusive<i16> = 0..=7;
    const FLEXIBLE_FROM: i16 = 5;
    type Response = CreateTopicsResponse;
}

impl Message for CreateTopicsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        w.put_i32(self.timeout_ms);
        if version >= 1 {
            w.put_bool(self.validate_only);
        } else {
            refuse_left_out(self.validate_only, "validate only", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let topics = r.items(form, 9, "topics", |r| CreatableTopic::decode(form, r))?;
        let mut request = Self { topics, timeout_ms: r.i32("timeout")?, validate_only: false };
        if version >= 1 {
            request.validate_only = r.bool("validate only")?;
        }
        r.skip_tagged_fields(form, "create topics request")?;
        Ok(request)
    }
}

impl CreatableTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_i32(self.num_partitions);
        w.put_i16(self.replication_factor);
        w.put_items(form, &self.assignments, "assignments", |w, assignment| {
            w.put_i32(assignment.partition_index);
            w.put_i32s(form, &assignment.broker_ids, "assigned brokers")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
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
        let mut topic = Self {
            name: r.string(form, "topic name")?,
            num_partitions: r.i32("number of partitions")?,
            replication_factor: r.i16("replication factor")?,
            ..Self::default()
        };
        topic.assignments = r.items(form, 6, "assignments", |r| {
            let assignment = CreatableReplicaAssignment {
                partition_index: r.i32("partition index")?,
                broker_ids: r.i32s(form, "assigned brokers")?,
            };
            r.skip_tagged_fields(form, "assignment")?;
            Ok(assignment)
        })?;
        topic.configs = r.items(form, 3, "configs", |r| {
            let config = CreatableTopicConfig {
                name: r.string(form, "config name")?,
                value: r.nullable_string(form, "config value")?,
            };
            r.skip_tagged_fields(form, "config")?;
            Ok(config)
        })?;
        r.skip_tagged_fields(form, "creatable topic")?;
        Ok(topic)
    }
}

impl Message for CreateTopicsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 2 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 2 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.topics = r.items(form, 4, "topics", |r| CreatedTopic::decode(version, r))?;
        r.skip_tagged_fields(form, "create topics response")?;
        Ok(response)
    }
}

/// The tag of [`CreatedTopic::topic_config_error_code`].
const CONFIG_ERROR_TAG: u32 = 0;

impl CreatedTopic {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.name, "topic name")?;
        if version >= 7 {
            w.put_slice(&self.topic_id);
        }
        w.put_i16(self.error_code.0);
        if version >= 1 {
            w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        }
        if version >= 5 {
            w.put_i32(self.num_partitions);
            w.put_i16(self.replication_factor);
            match &self.configs {
                None => w.put_null(form),
                Some(configs) => w.put_items(form, configs, "configs", |w, config| config.encode(form, w))?,
            }
        }
        let mut tagged = TaggedFields::new();
        if !self.topic_config_error_code.is_ok() {
            tagged.put(CONFIG_ERROR_TAG, |w| {
                w.put_i16(self.topic_config_error_code.0);
                Ok(())
            })?;
        }
        w.put_tagged_fields(form, tagged, "created topic")
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut topic = Self { name: r.string(form, "topic name")?, ..Self::default() };
        if version >= 7 {
            topic.topic_id = r.array("topic id")?;
        }
        topic.error_code = ErrorCode(r.i16("topic error code")?);
        if version >= 1 {
            topic.error_message = r.nullable_string(form, "error message")?;
        }
        if version >= 5 {
            topic.num_partitions = r.i32("number of partitions")?;
            topic.replication_factor = r.i16("replication factor")?;
            topic.configs = r.nullable_items(form, 6, "configs", |r| CreatedTopicConfig::decode(form, r))?;
        }
        r.tagged_fields(form, "created topic", |tag, field| {
            if tag == CONFIG_ERROR_TAG {
                let code = Reader::whole(field, "topic config error code", |r| r.i16("topic config error code"))?;
                topic.topic_config_error_code = ErrorCode(code);
            }
            Ok(())
        })?;
        Ok(topic)
    }
}

impl CreatedTopicConfig {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "config name")?;
        w.put_nullable_string(form, self.value.as_deref(), "config value")?;
        w.put_bool(self.read_only);
        w.put_i8(self.config_source);
        w.put_bool(self.is_sensitive);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let config = Self {
            name: r.string(form, "config name")?,
            value: r.nullable_string(form, "config value")?,
            read_only: r.bool("config is read only")?,
            config_source: r.i8("config source")?,
            is_sensitive: r.bool("config is sensitive")?,
        };
        r.skip_tagged_fields(form, "config")?;
        Ok(config)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, CreateTopicsRequest::FLEXIBLE_FROM)
}
