//! ListOffsets (2), versions 0-11: the offset that belongs to a time, or an end of the log.
//!
//! ```text
//! request   v0     replica, [topic, [partition, timestamp, n]]       the last: how many offsets
//!           v1     replica, [topic, [partition, timestamp]]
//!           v2     + isolation level    v4  + current leader epoch   v6  compact    v10  + timeout at the end
//! response  v0     [topic, [partition, error, [offset]]]
//!           v1     [topic, [partition, error, timestamp, offset]]
//!           v2     + throttle in front  v4  + leader epoch           v6  compact
//! ```
//!
//! Timestamps: -1 the end, -2 the start, -3 the record with the largest timestamp (v7+), -4 the start of what is on
//! the broker's own disk (v8+), -5 the end of what is not only there (v9+), -6 the start of what is not yet anywhere
//! else (v11). v0 knows segments only: it serves -1 and -2, for times it is useless (measured).
//! Java: `ListOffsetsRequest`, `ListOffsetsResponse`; KIP-79, KIP-734, KIP-405, KIP-1005, KIP-1075, KIP-1023.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// What a client sends in the place of a follower's id.
const REPLICA_NONE: i32 = -1;

/// Asks for offsets by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListOffsetsRequest {
    /// The follower that asks, -1 from a client, -2 from a debugger.
    pub replica_id: i32,
    /// 1 takes the last stable offset for the end (v2+).
    pub isolation_level: i8,
    /// What to ask for.
    pub topics: Vec<ListOffsetsTopic>,
    /// How long the broker may look on remote storage, 0 as it is configured (v10+).
    pub timeout_ms: i32,
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
    /// How many offsets may come back (v0).
    pub max_num_offsets: i32,
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// What stands behind `offset` where more than one was asked for: the starts of the segments, downwards (v0).
    pub segment_starts: Vec<i64>,
}

impl Default for ListOffsetsRequest {
    fn default() -> Self {
        Self { replica_id: REPLICA_NONE, isolation_level: 0, topics: Vec::new(), timeout_ms: 0 }
    }
}

impl Default for ListOffsetsPartition {
    fn default() -> Self {
        Self { partition_index: 0, current_leader_epoch: -1, timestamp: 0, max_num_offsets: 1 }
    }
}

impl Default for ListedOffset {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: ErrorCode::NONE,
            timestamp: -1,
            offset: -1,
            leader_epoch: -1,
            segment_starts: Vec::new(),
        }
    }
}

impl Request for ListOffsetsRequest {
    const KEY: ApiKey = ApiKey::LIST_OFFSETS;
    const VERSIONS: RangeInclusive<i16> = 0..=11;
    const FLEXIBLE_FROM: i16 = 6;
    type Response = ListOffsetsResponse;
}

impl Message for ListOffsetsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.replica_id);
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
                    w.put_i32(partition.max_num_offsets);
                }
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 10 {
            w.put_i32(self.timeout_ms);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self { replica_id: r.i32("replica id")?, ..Self::default() };
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
        if version >= 10 {
            request.timeout_ms = r.i32("timeout")?;
        }
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
            partition.max_num_offsets = r.i32("max number of offsets")?;
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
            let first = Some(self.offset).filter(|offset| *offset != -1);
            let offsets: Vec<i64> = first.into_iter().chain(self.segment_starts.iter().copied()).collect();
            return w.put_items(Form::Classic, &offsets, "offsets", |w, &offset| {
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
            let mut offsets = r.items(Form::Classic, 8, "offsets", |r| r.i64("offset"))?.into_iter();
            listed.offset = offsets.next().unwrap_or(-1);
            listed.segment_starts = offsets.collect();
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
