//! ListOffsets (2), versions 0-8: the offset that belongs to a time, or an end of the log.
//!
//! ```text
//! request   v0     -1, [topic, [partition, timestamp, 1]]            the last: how many offsets
//!           v1     -1, [topic, [partition, timestamp]]
//!           v2     + isolation level    v4  + current leader epoch   v6  compact
//! response  v0     [topic, [partition, error, [offset]]]
//!           v1     [topic, [partition, error, timestamp, offset]]
//!           v2     + throttle in front  v4  + leader epoch           v6  compact
//! ```
//!
//! Timestamps: -1 the end, -2 the start, -3 the record with the largest timestamp (v7+), -4 the start of what is on
//! the broker's own disk (v8+). v0 knows segments only: it serves -1 and -2, for times it is useless (measured).
//! Java: `ListOffsetsRequest`, `ListOffsetsResponse`; KIP-79, KIP-734, KIP-405.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// What a client sends in the place of a follower's id.
const REPLICA_NONE: i32 = -1;

/// How many offsets v0 asks for.
const OFFSETS_MAX: i32 = 1;

/// Asks for offsets by time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListOffsetsRequest {
    /// 1 takes the last stable offset for the end (v2+).
    pub isolation_level: i8,
    /// What to ask for.
    pub topics: Vec<ListOffsetsTopic>,
}

/// Partitions of one topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListOffsetsTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<ListOffsetsPartition>,
}

/// One partition to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListOffsetsPartition {
    /// Its index.
    pub partition_index: i32,
    /// The leader epoch that the client knows, -1 for none (v4+).
    pub current_leader_epoch: i32,
    /// Milliseconds since 1970, or one of the negative marks.
    pub timestamp: i64,
}

/// Offsets by time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListOffsetsResponse {
    /// How long this client is throttled (v2+).
    pub throttle_time_ms: i32,
    /// The answers by topic.
    pub topics: Vec<ListedTopic>,
}

/// Answers of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedTopic {
    /// The topic.
    pub name: String,
    /// The answers by partition.
    pub partitions: Vec<ListedOffset>,
}

/// The answer of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedOffset {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// The timestamp of the record found, -1 for none and for the ends of the log (v1+).
    pub timestamp: i64,
    /// The offset, -1 for none. From v0 the first of its offsets.
    pub offset: i64,
    /// The epoch of the record found, -1 when unknown (v4+).
    pub leader_epoch: i32,
}

impl Default for ListOffsetsPartition {
    fn default() -> Self {
        Self { partition_index: 0, current_leader_epoch: -1, timestamp: 0 }
    }
}

impl Default for ListedOffset {
    fn default() -> Self {
        Self { partition_index: 0, error_code: ErrorCode::NONE, timestamp: -1, offset: -1, leader_epoch: -1 }
    }
}

impl Request for ListOffsetsRequest {
    const KEY: ApiKey = ApiKey::LIST_OFFSETS;
    const VERSIONS: RangeInclusive<i16> = 0..=8;
    const FLEXIBLE_FROM: i16 = 6;
    type Response = ListOffsetsResponse;
}

impl Message for ListOffsetsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(REPLICA_NONE);
        if version >= 2 {
            w.put_i8(self.isolation_level);
        }
        w.put_items(form, &self.topics, "topics", |w, topic| {
            w.put_string(form, &topic.name, "topic name")?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| {
                w.put_i32(partition.partition_index);
                if version >= 4 {
                    w.put_i32(partition.current_leader_epoch);
                }
                w.put_i64(partition.timestamp);
                if version == 0 {
                    w.put_i32(OFFSETS_MAX);
                }
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let _replica_id = r.i32("replica id")?;
        let mut request = Self::default();
        if version >= 2 {
            request.isolation_level = r.i8("isolation level")?;
        }
        request.topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = ListOffsetsTopic {
                name: r.string(form, "topic name")?,
                partitions: r.items(form, 12, "partitions", |r| ListOffsetsPartition::decode(version, r))?,
            };
            r.skip_tagged_fields(form, "list offsets topic")?;
            Ok(topic)
        })?;
        r.skip_tagged_fields(form, "list offsets request")?;
        Ok(request)
    }
}

impl ListOffsetsPartition {
    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut partition = Self { partition_index: r.i32("partition index")?, ..Self::default() };
        if version >= 4 {
            partition.current_leader_epoch = r.i32("current leader epoch")?;
        }
        partition.timestamp = r.i64("timestamp")?;
        if version == 0 {
            let _offsets_max = r.i32("max number of offsets")?;
        }
        r.skip_tagged_fields(form(version), "list offsets partition")?;
        Ok(partition)
    }
}

impl Message for ListOffsetsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 2 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_items(form, &self.topics, "topics", |w, topic| {
            w.put_string(form, &topic.name, "topic name")?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| partition.encode(version, w))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 2 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = ListedTopic {
                name: r.string(form, "topic name")?,
                partitions: r.items(form, 10, "partitions", |r| ListedOffset::decode(version, r))?,
            };
            r.skip_tagged_fields(form, "listed topic")?;
            Ok(topic)
        })?;
        r.skip_tagged_fields(form, "list offsets response")?;
        Ok(response)
    }
}

impl ListedOffset {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.partition_index);
        w.put_i16(self.error_code.0);
        if version == 0 {
            let offsets: &[i64] = if self.offset == -1 { &[] } else { &[self.offset] };
            return w.put_items(Form::Classic, offsets, "offsets", |w, &offset| {
                w.put_i64(offset);
                Ok(())
            });
        }
        w.put_i64(self.timestamp);
        w.put_i64(self.offset);
        if version >= 4 {
            w.put_i32(self.leader_epoch);
        }
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut listed = Self {
            partition_index: r.i32("partition index")?,
            error_code: ErrorCode(r.i16("partition error code")?),
            ..Self::default()
        };
        if version == 0 {
            let offsets = r.items(Form::Classic, 8, "offsets", |r| r.i64("offset"))?;
            listed.offset = offsets.first().copied().unwrap_or(-1);
            return Ok(listed);
        }
        listed.timestamp = r.i64("timestamp")?;
        listed.offset = r.i64("offset")?;
        if version >= 4 {
            listed.leader_epoch = r.i32("leader epoch")?;
        }
        r.skip_tagged_fields(form(version), "listed offset")?;
        Ok(listed)
    }
}

/// An empty name, no partitions, no tags.
const TOPIC_BYTES_MIN: usize = 3;

const fn form(version: i16) -> Form {
    Form::at(version, ListOffsetsRequest::FLEXIBLE_FROM)
}
