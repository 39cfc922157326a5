//! OffsetFetch (9), versions 0-7: the positions of a group.
//!
//! ```text
//! request   v0-v1  group, [topic, [partition]]                    v0 from ZooKeeper, v1+ from Kafka
//!           v2     null = all topics    v6  compact               v7  + require stable
//! response  v0     [topic, [partition, offset, metadata, error]]
//!           v2     + error at the end   v3  + throttle in front   v5  + leader epoch    v6  compact
//! ```
//!
//! A partition without a position has offset -1 and no error. Java: `OffsetFetchRequest`, `OffsetFetchResponse`;
//! require stable: KIP-447.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchRequest {
    /// The group.
    pub group_id: String,
    /// What to ask for; `None` asks for everything (v2+).
    pub topics: Option<Vec<OffsetFetchTopic>>,
    /// Refuse (88) while a transaction may still change the position (v7).
    pub require_stable: bool,
}

/// Partitions of one topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partition_indexes: Vec<i32>,
}

/// Positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchResponse {
    /// How long this client is throttled (v3+).
    pub throttle_time_ms: i32,
    /// The positions by topic.
    pub topics: Vec<FetchedOffsetTopic>,
    /// What is wrong with the group or its coordinator (v2+).
    pub error_code: ErrorCode,
}

/// Positions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchedOffsetTopic {
    /// The topic.
    pub name: String,
    /// The positions by partition.
    pub partitions: Vec<FetchedOffset>,
}

/// The position in one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedOffset {
    /// Its index.
    pub partition_index: i32,
    /// The offset to go on at, -1 for none.
    pub committed_offset: i64,
    /// The epoch of the record before it, -1 when unknown (v5+).
    pub committed_leader_epoch: i32,
    /// What was committed with it.
    pub metadata: Option<String>,
    /// What is wrong with it.
    pub error_code: ErrorCode,
}

impl Default for FetchedOffset {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: -1,
            committed_leader_epoch: -1,
            metadata: None,
            error_code: ErrorCode::NONE,
        }
    }
}

impl Request for OffsetFetchRequest {
    const KEY: ApiKey = ApiKey::OFFSET_FETCH;
    const VERSIONS: RangeInclusive<i16> = 0..=7;
    const FLEXIBLE_FROM: i16 = 6;
    type Response = OffsetFetchResponse;
}

impl Message for OffsetFetchRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.group_id, "group id")?;
        match &self.topics {
            None => {
                refuse_left_out(version < 2, "offsets of all topics", version)?;
                w.put_null(form);
            }
            Some(topics) => w.put_items(form, topics, "topics", |w, topic| {
                w.put_string(form, &topic.name, "topic name")?;
                w.put_i32s(form, &topic.partition_indexes, "partitions")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?,
        }
        if version >= 7 {
            w.put_bool(self.require_stable);
        } else {
            refuse_left_out(self.require_stable, "stable offsets", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self { group_id: r.string(form, "group id")?, ..Self::default() };
        request.topics = r.nullable_items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = OffsetFetchTopic {
                name: r.string(form, "topic name")?,
                partition_indexes: r.i32s(form, "partitions")?,
            };
            r.skip_tagged_fields(form, "offset fetch topic")?;
            Ok(topic)
        })?;
        if version < 2 && request.topics.is_none() {
            return Err(DecodeError::Null { what: "topics" });
        }
        if version >= 7 {
            request.require_stable = r.bool("require stable")?;
        }
        r.skip_tagged_fields(form, "offset fetch request")?;
        Ok(request)
    }
}

impl Message for OffsetFetchResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 3 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_items(form, &self.topics, "topics", |w, topic| {
            w.put_string(form, &topic.name, "topic name")?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| partition.encode(version, w))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 2 {
            w.put_i16(self.error_code.0);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 3 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = FetchedOffsetTopic {
                name: r.string(form, "topic name")?,
                partitions: r.items(form, 15, "partitions", |r| FetchedOffset::decode(version, r))?,
            };
            r.skip_tagged_fields(form, "fetched offset topic")?;
            Ok(topic)
        })?;
        if version >= 2 {
            response.error_code = ErrorCode(r.i16("offset fetch error code")?);
        }
        r.skip_tagged_fields(form, "offset fetch response")?;
        Ok(response)
    }
}

impl FetchedOffset {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.partition_index);
        w.put_i64(self.committed_offset);
        if version >= 5 {
            w.put_i32(self.committed_leader_epoch);
        }
        w.put_nullable_string(form, self.metadata.as_deref(), "committed metadata")?;
        w.put_i16(self.error_code.0);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut fetched = Self {
            partition_index: r.i32("partition index")?,
            committed_offset: r.i64("committed offset")?,
            ..Self::default()
        };
        if version >= 5 {
            fetched.committed_leader_epoch = r.i32("committed leader epoch")?;
        }
        fetched.metadata = r.nullable_string(form, "committed metadata")?;
        fetched.error_code = ErrorCode(r.i16("partition error code")?);
        r.skip_tagged_fields(form, "fetched offset")?;
        Ok(fetched)
    }
}

/// An empty name, no partitions, no tags.
const TOPIC_BYTES_MIN: usize = 3;

const fn form(version: i16) -> Form {
    Form::at(version, OffsetFetchRequest::FLEXIBLE_FROM)
}
