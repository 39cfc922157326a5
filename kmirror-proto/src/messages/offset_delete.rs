//! OffsetDelete (47), version 0: positions of a group are forgotten.
//!
//! ```text
//! request   v0  group, [topic, [partition]]
//! response  v0  error, throttle, [topic, [partition, error]]
//! ```
//!
//! Never compact. A topic that the group is subscribed to is error 86, GROUP_SUBSCRIBED_TO_TOPIC. KIP-496. Java:
//! `OffsetDeleteRequest`, `OffsetDeleteResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Deletes positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetDeleteRequest {
    /// The group.
    pub group_id: String,
    /// The positions by topic.
    pub topics: Vec<OffsetDeleteTopic>,
}

/// Positions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetDeleteTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partition_indexes: Vec<i32>,
}

/// What became of the positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetDeleteResponse {
    /// What is wrong with the group or its coordinator.
    pub error_code: ErrorCode,
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes by topic.
    pub topics: Vec<DeletedOffsetTopic>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeletedOffsetTopic {
    /// The topic.
    pub name: String,
    /// The outcomes by partition.
    pub partitions: Vec<DeletedOffset>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeletedOffset {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
}

impl Request for OffsetDeleteRequest {
    const KEY: ApiKey = ApiKey::OFFSET_DELETE;
    const VERSIONS: RangeInclusive<i16> = 0..=0;
    const FLEXIBLE_FROM: i16 = i16::MAX;
    type Response = OffsetDeleteResponse;
}

impl Message for OffsetDeleteRequest {
    fn encode(&self, _: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(Form::Classic, &self.group_id, "group id")?;
        w.put_items(Form::Classic, &self.topics, "topics", |w, topic| {
            w.put_string(Form::Classic, &topic.name, "topic name")?;
            w.put_i32s(Form::Classic, &topic.partition_indexes, "partitions")
        })
    }

    fn decode(_: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let group_id = r.string(Form::Classic, "group id")?;
        let topics = r.items(Form::Classic, TOPIC_BYTES_MIN, "topics", |r| {
            Ok(OffsetDeleteTopic {
                name: r.string(Form::Classic, "topic name")?,
                partition_indexes: r.i32s(Form::Classic, "partitions")?,
            })
        })?;
        Ok(Self { group_id, topics })
    }
}

impl Message for OffsetDeleteResponse {
    fn encode(&self, _: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.error_code.0);
        w.put_i32(self.throttle_time_ms);
        w.put_items(Form::Classic, &self.topics, "topics", |w, topic| {
            w.put_string(Form::Classic, &topic.name, "topic name")?;
            w.put_items(Form::Classic, &topic.partitions, "partitions", |w, partition| {
                w.put_i32(partition.partition_index);
                w.put_i16(partition.error_code.0);
                Ok(())
            })
        })
    }

    fn decode(_: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let error_code = ErrorCode(r.i16("offset delete error code")?);
        let throttle_time_ms = r.i32("throttle time")?;
        let topics = r.items(Form::Classic, TOPIC_BYTES_MIN, "topics", |r| {
            let name = r.string(Form::Classic, "topic name")?;
            let partitions = r.items(Form::Classic, 6, "partitions", |r| {
                Ok(DeletedOffset {
                    partition_index: r.i32("partition index")?,
                    error_code: ErrorCode(r.i16("partition error code")?),
                })
            })?;
            Ok(DeletedOffsetTopic { name, partitions })
        })?;
        Ok(Self { error_code, throttle_time_ms, topics })
    }
}

/// An empty name, no partitions.
const TOPIC_BYTES_MIN: usize = 6;
