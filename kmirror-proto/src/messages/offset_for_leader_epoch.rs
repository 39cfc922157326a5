//! OffsetForLeaderEpoch (23), versions 0-4: where an epoch ends in the leader's log.
//!
//! ```text
//! request   v0  [topic, [partition, epoch]]
//!           v2  + current leader epoch before the epoch     v3  + replica in front     v4  compact
//! response  v0  [topic, [error, partition, end offset]]
//!           v1  + epoch before the end offset               v2  + throttle in front    v4  compact
//! ```
//!
//! Up to v2 it was the followers' alone. Consumers ask since 2.1 whether what they have read is still there. Java:
//! `OffsetsForLeaderEpochRequest`, `OffsetsForLeaderEpochResponse`; KIP-101, KIP-279, KIP-320.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks where epochs end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetForLeaderEpochRequest {
    /// The follower that asks, -1 from a client, -2 from a debugger and when it is not said (v3+).
    pub replica_id: i32,
    /// What to ask for.
    pub topics: Vec<OffsetForLeaderTopic>,
}

/// Partitions of one topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetForLeaderTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<OffsetForLeaderPartition>,
}

/// One partition to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetForLeaderPartition {
    /// Its index.
    pub partition: i32,
    /// The leader epoch that the client knows, -1 for none: the broker refuses another one (v2+).
    pub current_leader_epoch: i32,
    /// The epoch to ask for.
    pub leader_epoch: i32,
}

/// Where epochs end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetForLeaderEpochResponse {
    /// How long this client is throttled (v2+).
    pub throttle_time_ms: i32,
    /// The answers by topic.
    pub topics: Vec<EpochEndTopic>,
}

/// Answers of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EpochEndTopic {
    /// The topic.
    pub name: String,
    /// The answers by partition.
    pub partitions: Vec<EpochEnd>,
}

/// The answer of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochEnd {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// Its index.
    pub partition: i32,
    /// The largest epoch of the log that is not above the one asked for, -1 for none (v1+).
    pub leader_epoch: i32,
    /// The offset behind its last record, -1 for none.
    pub end_offset: i64,
}

impl Default for OffsetForLeaderEpochRequest {
    fn default() -> Self {
        Self { replica_id: -2, topics: Vec::new() }
    }
}

impl Default for OffsetForLeaderPartition {
    fn default() -> Self {
        Self { partition: 0, current_leader_epoch: -1, leader_epoch: 0 }
    }
}

impl Default for EpochEnd {
    fn default() -> Self {
        Self { error_code: ErrorCode::NONE, partition: 0, leader_epoch: -1, end_offset: -1 }
    }
}

impl Request for OffsetForLeaderEpochRequest {
    const KEY: ApiKey = ApiKey::OFFSET_FOR_LEADER_EPOCH;
    const VERSIONS: RangeInclusive<i16> = 0..=4;
    const FLEXIBLE_FROM: i16 = 4;
    type Response = OffsetForLeaderEpochResponse;
}

impl Message for OffsetForLeaderEpochRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 3 {
            w.put_i32(self.replica_id);
        }
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version >= 3 {
            request.replica_id = r.i32("replica id")?;
        }
        request.topics = r.items(form, 3, "topics", |r| OffsetForLeaderTopic::decode(version, r))?;
        r.skip_tagged_fields(form, "offset for leader epoch request")?;
        Ok(request)
    }
}

impl OffsetForLeaderTopic {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| partition.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 8, "partitions", |r| OffsetForLeaderPartition::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "offset for leader topic")?;
        Ok(topic)
    }
}

impl OffsetForLeaderPartition {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.partition);
        if version >= 2 {
            w.put_i32(self.current_leader_epoch);
        }
        w.put_i32(self.leader_epoch);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut partition = Self { partition: r.i32("partition")?, ..Self::default() };
        if version >= 2 {
            partition.current_leader_epoch = r.i32("current leader epoch")?;
        }
        partition.leader_epoch = r.i32("leader epoch")?;
        r.skip_tagged_fields(form, "offset for leader partition")?;
        Ok(partition)
    }
}

impl Message for OffsetForLeaderEpochResponse {
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
        response.topics = r.items(form, 3, "topics", |r| EpochEndTopic::decode(version, r))?;
        r.skip_tagged_fields(form, "offset for leader epoch response")?;
        Ok(response)
    }
}

impl EpochEndTopic {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| partition.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 14, "partitions", |r| EpochEnd::decode(version, r))?,
        };
        r.skip_tagged_fields(form, "epoch end topic")?;
        Ok(topic)
    }
}

impl EpochEnd {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        w.put_i32(self.partition);
        if version >= 1 {
            w.put_i32(self.leader_epoch);
        }
        w.put_i64(self.end_offset);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut end = Self {
            error_code: ErrorCode(r.i16("partition error code")?),
            partition: r.i32("partition")?,
            ..Self::default()
        };
        if version >= 1 {
            end.leader_epoch = r.i32("leader epoch")?;
        }
        end.end_offset = r.i64("end offset")?;
        r.skip_tagged_fields(form, "epoch end")?;
        Ok(end)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, OffsetForLeaderEpochRequest::FLEXIBLE_FROM)
}
