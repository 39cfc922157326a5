//! CreatePartitions (37), versions 0-3: more partitions for topics that are there.
//!
//! ```text
//! request   v0  [name, count, nullable [[broker]]], timeout, validate only     v2  compact
//! response  v0  throttle, [name, error, nullable message]                      v2  compact
//! ```
//!
//! v3 lets the controller answer 89, THROTTLING_QUOTA_EXCEEDED (KIP-599); 1.0 and newer have the API. A count that the
//! topic has already, or less, is error 37. Java: `CreatePartitionsRequest`, `CreatePartitionsResponse`; KIP-195.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks the controller for more partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatePartitionsRequest {
    /// The topics.
    pub topics: Vec<CreatePartitionsTopic>,
    /// How long the controller may wait until they are there.
    pub timeout_ms: i32,
    /// Check only, create nothing.
    pub validate_only: bool,
}

/// One topic to grow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatePartitionsTopic {
    /// Its name.
    pub name: String,
    /// How many partitions it shall have, those that are there included.
    pub count: i32,
    /// The replicas of each new partition; `None` leaves them to the broker.
    pub assignments: Option<Vec<CreatePartitionsAssignment>>,
}

/// The replicas of one new partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatePartitionsAssignment {
    /// The brokers that shall hold it.
    pub broker_ids: Vec<i32>,
}

/// What became of the topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatePartitionsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes.
    pub results: Vec<CreatePartitionsResult>,
}

/// What became of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CreatePartitionsResult {
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
}

impl Request for CreatePartitionsRequest {
    const KEY: ApiKey = ApiKey::CREATE_PARTITIONS;
    const VERSIONS: RangeInclusive<i16> = 0..=3;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = CreatePartitionsResponse;
}

impl Message for CreatePartitionsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        w.put_i32(self.timeout_ms);
        w.put_bool(self.validate_only);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            topics: r.items(form, 7, "topics", |r| CreatePartitionsTopic::decode(form, r))?,
            timeout_ms: r.i32("timeout")?,
            validate_only: r.bool("validate only")?,
        };
        r.skip_tagged_fields(form, "create partitions request")?;
        Ok(request)
    }
}

impl CreatePartitionsTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_i32(self.count);
        match &self.assignments {
            None => w.put_null(form),
            Some(assignments) => w.put_items(form, assignments, "assignments", |w, assignment| {
                w.put_i32s(form, &assignment.broker_ids, "assigned brokers")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?,
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut topic =
            Self { name: r.string(form, "topic name")?, count: r.i32("number of partitions")?, assignments: None };
        topic.assignments = r.nullable_items(form, 2, "assignments", |r| {
            let assignment = CreatePartitionsAssignment { broker_ids: r.i32s(form, "assigned brokers")? };
            r.skip_tagged_fields(form, "assignment")?;
            Ok(assignment)
        })?;
        r.skip_tagged_fields(form, "create partitions topic")?;
        Ok(topic)
    }
}

impl Message for CreatePartitionsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.results, "results", |w, result| {
            w.put_string(form, &result.name, "topic name")?;
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
        let results = r.items(form, 5, "results", |r| {
            let result = CreatePartitionsResult {
                name: r.string(form, "topic name")?,
                error_code: ErrorCode(r.i16("topic error code")?),
                error_message: r.nullable_string(form, "error message")?,
            };
            r.skip_tagged_fields(form, "create partitions result")?;
            Ok(result)
        })?;
        r.skip_tagged_fields(form, "create partitions response")?;
        Ok(Self { throttle_time_ms, results })
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, CreatePartitionsRequest::FLEXIBLE_FROM)
}
