//! ListPartitionReassignments (46), version 0: which partitions are on the move.
//!
//! ```text
//! request   timeout, nullable [topic, [partition]]                                    compact
//! response  throttle, error, nullable message, [topic, [partition, [replica], [adding], [removing]]]
//! ```
//!
//! 2.4 and newer. Java: `ListPartitionReassignmentsRequest`, `ListPartitionReassignmentsResponse`; KIP-455.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks the controller which partitions are on the move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPartitionReassignmentsRequest {
    /// How long the controller may take.
    pub timeout_ms: i32,
    /// The partitions to ask for; `None` asks for all.
    pub topics: Option<Vec<ListPartitionReassignmentsTopic>>,
}

/// Partitions of one topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListPartitionReassignmentsTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partition_indexes: Vec<i32>,
}

/// Which partitions are on the move.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListPartitionReassignmentsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The moves by topic.
    pub topics: Vec<OngoingTopicReassignment>,
}

/// Moves of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OngoingTopicReassignment {
    /// The topic.
    pub name: String,
    /// The moves by partition.
    pub partitions: Vec<OngoingPartitionReassignment>,
}

/// The move of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OngoingPartitionReassignment {
    /// Its index.
    pub partition_index: i32,
    /// The brokers that hold it now.
    pub replicas: Vec<i32>,
    /// Those that are coming.
    pub adding_replicas: Vec<i32>,
    /// Those that will go.
    pub removing_replicas: Vec<i32>,
}

impl Default for ListPartitionReassignmentsRequest {
    fn default() -> Self {
        Self { timeout_ms: 60_000, topics: None }
    }
}

impl Request for ListPartitionReassignmentsRequest {
    const KEY: ApiKey = ApiKey::LIST_PARTITION_REASSIGNMENTS;
    const VERSIONS: RangeInclusive<i16> = 0..=0;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = ListPartitionReassignmentsResponse;
}

impl Message for ListPartitionReassignmentsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.timeout_ms);
        match &self.topics {
            None => w.put_null(form),
            Some(topics) => w.put_items(form, topics, "topics", |w, topic| {
                w.put_string(form, &topic.name, "topic name")?;
                w.put_i32s(form, &topic.partition_indexes, "partitions")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?,
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            timeout_ms: r.i32("timeout")?,
            topics: r.nullable_items(form, 3, "topics", |r| {
                let topic = ListPartitionReassignmentsTopic {
                    name: r.string(form, "topic name")?,
                    partition_indexes: r.i32s(form, "partitions")?,
                };
                r.skip_tagged_fields(form, "list partition reassignments topic")?;
                Ok(topic)
            })?,
        };
        r.skip_tagged_fields(form, "list partition reassignments request")?;
        Ok(request)
    }
}

impl Message for ListPartitionReassignmentsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("reassignments error code")?),
            error_message: r.nullable_string(form, "error message")?,
            topics: r.items(form, 3, "topics", |r| OngoingTopicReassignment::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "list partition reassignments response")?;
        Ok(response)
    }
}

impl OngoingTopicReassignment {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i32s(form, &partition.replicas, "replicas")?;
            w.put_i32s(form, &partition.adding_replicas, "adding replicas")?;
            w.put_i32s(form, &partition.removing_replicas, "removing replicas")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let reassignment = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 8, "partitions", |r| {
                let reassignment = OngoingPartitionReassignment {
                    partition_index: r.i32("partition index")?,
                    replicas: r.i32s(form, "replicas")?,
                    adding_replicas: r.i32s(form, "adding replicas")?,
                    removing_replicas: r.i32s(form, "removing replicas")?,
                };
                r.skip_tagged_fields(form, "ongoing partition reassignment")?;
                Ok(reassignment)
            })?,
        };
        r.skip_tagged_fields(form, "ongoing topic reassignment")?;
        Ok(reassignment)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, ListPartitionReassignmentsRequest::FLEXIBLE_FROM)
}
