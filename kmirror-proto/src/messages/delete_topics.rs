//! DeleteTopics (20), versions 0-6: topics go away.
//!
//! ```text
//! request   v0     [name], timeout                     v4  compact
//!           v6     [nullable name, topic id], timeout
//! response  v0     [name, error]
//!           v1     + throttle in front                 v4  compact
//!           v5     + nullable error message            v6  + topic id after the name, which may be null
//! ```
//!
//! 0.10.1 and newer. v6 names each topic by its name or by its id. Java: `DeleteTopicsRequest`, `DeleteTopicsResponse`;
//! KIP-4, messages: KIP-599, ids: KIP-516.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks the controller to delete topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteTopicsRequest {
    /// The topics.
    pub topics: Vec<DeletableTopic>,
    /// How long the controller may wait until they are gone.
    pub timeout_ms: i32,
}

/// One topic to delete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeletableTopic {
    /// Its name; `None` names it by its id (v6).
    pub name: Option<String>,
    /// Its id, all zero when it goes by its name (v6).
    pub topic_id: [u8; 16],
}

/// What became of the topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteTopicsResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// The outcomes.
    pub responses: Vec<DeletedTopic>,
}

/// What became of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeletedTopic {
    /// Its name; `None` when it was named by its id and the client may not know the name (v6).
    pub name: Option<String>,
    /// Its id, all zero when unknown (v6).
    pub topic_id: [u8; 16],
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that (v5+).
    pub error_message: Option<String>,
}

impl Request for DeleteTopicsRequest {
    const KEY: ApiKey = ApiKey::DELETE_TOPICS;
    const VERSIONS: RangeInclusive<i16> = 0..=6;
    const FLEXIBLE_FROM: i16 = 4;
    type Response = DeleteTopicsResponse;
}

impl Message for DeleteTopicsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            put_name(topic.name.as_deref(), version, w)?;
            if version >= 6 {
                w.put_slice(&topic.topic_id);
                w.put_no_tagged_fields(form);
            }
            Ok(())
        })?;
        w.put_i32(self.timeout_ms);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let topic_bytes_min = if version >= 6 { 18 } else { 1 };
        let topics = r.items(form, topic_bytes_min, "topics", |r| {
            let mut topic = DeletableTopic { name: name(version, r)?, ..DeletableTopic::default() };
            if version >= 6 {
                topic.topic_id = r.array("topic id")?;
                r.skip_tagged_fields(form, "deletable topic")?;
            }
            Ok(topic)
        })?;
        let request = Self { topics, timeout_ms: r.i32("timeout")? };
        r.skip_tagged_fields(form, "delete topics request")?;
        Ok(request)
    }
}

impl Message for DeleteTopicsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_items(form, &self.responses, "deleted topics", |w, topic| topic.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.responses = r.items(form, 4, "deleted topics", |r| DeletedTopic::decode(version, r))?;
        r.skip_tagged_fields(form, "delete topics response")?;
        Ok(response)
    }
}

impl DeletedTopic {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        put_name(self.name.as_deref(), version, w)?;
        if version >= 6 {
            w.put_slice(&self.topic_id);
        }
        w.put_i16(self.error_code.0);
        if version >= 5 {
            w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut topic = Self { name: name(version, r)?, ..Self::default() };
        if version >= 6 {
            topic.topic_id = r.array("topic id")?;
        }
        topic.error_code = ErrorCode(r.i16("topic error code")?);
        if version >= 5 {
            topic.error_message = r.nullable_string(form, "error message")?;
        }
        r.skip_tagged_fields(form, "deleted topic")?;
        Ok(topic)
    }
}

/// A name that may be null from v6 on.
fn put_name(name: Option<&str>, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
    if name.is_none() && version < 6 {
        return Err(EncodeError::NotInVersion { what: "topic by id", version });
    }
    w.put_nullable_string(form(version), name, "topic name")
}

fn name(version: i16, r: &mut Reader) -> Result<Option<String>, DecodeError> {
    if version >= 6 {
        r.nullable_string(form(version), "topic name")
    } else {
        r.string(form(version), "topic name").map(Some)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DeleteTopicsRequest::FLEXIBLE_FROM)
}
