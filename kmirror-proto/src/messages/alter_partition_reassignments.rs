//! AlterPartitionReassignments (45), versions 0-1: partitions move to other brokers.
//!
//! ```text
//! request   v0  timeout, [topic, [partition, nullable [replica]]]                     compact
//!           v1  + allow replication factor change after the timeout
//! response  v0  throttle, error, nullable message, [topic, [partition, error, nullable message]]
//!           v1  + allow replication factor change after the throttle
//! ```
//!
//! 2.4 and newer. Java: `AlterPartitionReassignmentsRequest`, `AlterPartitionReassignmentsResponse`; KIP-455, KIP-860.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks the controller to move partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterPartitionReassignmentsRequest {
    /// How long the controller may wait until the moves have begun.
    pub timeout_ms: i32,
    /// May the number of replicas change (v1; before it may)?
    pub allow_replication_factor_change: bool,
    /// The moves by topic.
    pub topics: Vec<ReassignableTopic>,
}

/// Moves of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReassignableTopic {
    /// The topic.
    pub name: String,
    /// The moves by partition.
    pub partitions: Vec<ReassignablePartition>,
}

/// The move of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReassignablePartition {
    /// Its index.
    pub partition_index: i32,
    /// The brokers that shall hold it; `None` calls off a move that is under way.
    pub replicas: Option<Vec<i32>>,
}

/// What became of the moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterPartitionReassignmentsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What was asked for (v1).
    pub allow_replication_factor_change: bool,
    /// What is wrong with the whole.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The outcomes by topic.
    pub responses: Vec<ReassignedTopic>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReassignedTopic {
    /// The topic.
    pub name: String,
    /// The outcomes by partition.
    pub partitions: Vec<ReassignedPartition>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReassignedPartition {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
}

impl Default for AlterPartitionReassignmentsRequest {
    fn default() -> Self {
        Self { timeout_ms: 60_000, allow_replication_factor_change: true, topics: Vec::new() }
    }
}

impl Default for AlterPartitionReassignmentsResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            allow_replication_factor_change: true,
            error_code: ErrorCode::NONE,
            error_message: None,
            responses: Vec::new(),
        }
    }
}

impl Request for AlterPartitionReassignmentsRequest {
    const KEY: ApiKey = ApiKey::ALTER_PARTITION_REASSIGNMENTS;
    const VERSIONS: RangeInclusive<i16> = 0..=1;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = AlterPartitionReassignmentsResponse;
}

impl Message for AlterPartitionReassignmentsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.timeout_ms);
        if version >= 1 {
            w.put_bool(self.allow_replication_factor_change);
        } else {
            refuse_left_out(!self.allow_replication_factor_change, "keep the replication factor", version)?;
        }
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self { timeout_ms: r.i32("timeout")?, ..Self::default() };
        if version >= 1 {
            request.allow_replication_factor_change = r.bool("allow replication factor change")?;
        }
        request.topics = r.items(form, 3, "topics", |r| ReassignableTopic::decode(form, r))?;
        r.skip_tagged_fields(form, "alter partition reassignments request")?;
        Ok(request)
    }
}

impl ReassignableTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            match &partition.replicas {
                None => w.put_null(form),
                Some(replicas) => w.put_i32s(form, replicas, "replicas")?,
            }
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 6, "partitions", |r| {
                let partition = ReassignablePartition {
                    partition_index: r.i32("partition index")?,
                    replicas: r.nullable_items(form, 4, "replicas", |r| r.i32("replicas"))?,
                };
                r.skip_tagged_fields(form, "reassignable partition")?;
                Ok(partition)
            })?,
        };
        r.skip_tagged_fields(form, "reassignable topic")?;
        Ok(topic)
    }
}

impl Message for AlterPartitionReassignmentsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        if version >= 1 {
            w.put_bool(self.allow_replication_factor_change);
        }
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_items(form, &self.responses, "reassigned topics", |w, response| response.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self { throttle_time_ms: r.i32("throttle time")?, ..Self::default() };
        if version >= 1 {
            response.allow_replication_factor_change = r.bool("allow replication factor change")?;
        }
        response.error_code = ErrorCode(r.i16("reassignments error code")?);
        response.error_message = r.nullable_string(form, "error message")?;
        response.responses = r.items(form, 3, "reassigned topics", |r| ReassignedTopic::decode(form, r))?;
        r.skip_tagged_fields(form, "alter partition reassignments response")?;
        Ok(response)
    }
}

impl ReassignedTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i16(partition.error_code.0);
            w.put_nullable_string(form, partition.error_message.as_deref(), "error message")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 8, "partitions", |r| {
                let partition = ReassignedPartition {
                    partition_index: r.i32("partition index")?,
                    error_code: ErrorCode(r.i16("partition error code")?),
                    error_message: r.nullable_string(form, "error message")?,
                };
                r.skip_tagged_fields(form, "reassigned partition")?;
                Ok(partition)
            })?,
        };
        r.skip_tagged_fields(form, "reassigned topic")?;
        Ok(topic)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, AlterPartitionReassignmentsRequest::FLEXIBLE_FROM)
}
