//! Fetch (1), versions 0-12: records from a partition's leader, or from a follower near by.
//!
//! ```text
//! request   v0      -1, max wait, min bytes, [topic, [partition, offset, partition max bytes]]
//!           v3      + max bytes            v4   + isolation level      v5   + log start offset
//!           v7      + session id and epoch, forgotten topics           v9   + current leader epoch
//!           v11     + rack                 v12  compact, + last fetched epoch
//! response  v0      [topic, [partition, error, high watermark, records]]
//!           v1      throttle in front      v4   + last stable offset, aborted transactions
//!           v5      + log start offset     v7   error and session id in front
//!           v11     + preferred read replica                           v12  compact
//! ```
//!
//! v10 says that the client reads zstd. From v13 on topics go by id; names serve every broker up to v12. The tagged
//! fields of v12 (diverging epoch, current leader, snapshot: for followers and newer clients) are skipped. Sessions:
//! KIP-227, epochs: KIP-320, followers: KIP-392. Java: `FetchRequest`, `FetchResponse`.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// What a client sends in the place of a follower's id.
const REPLICA_NONE: i32 = -1;

/// Asks for records. The broker answers once `min_bytes` are there, or after `max_wait_ms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// How long the broker may wait for `min_bytes`.
    pub max_wait_ms: i32,
    /// Bytes to wait for; 0 answers at once.
    pub min_bytes: i32,
    /// Bytes of the whole answer; a first batch that is larger comes all the same (v3+).
    pub max_bytes: i32,
    /// 0 reads everything, 1 only what is committed (v4+).
    pub isolation_level: i8,
    /// The fetch session, 0 for none (v7+).
    pub session_id: i32,
    /// Its next epoch; 0 opens a session, -1 wants none (v7+).
    pub session_epoch: i32,
    /// What to fetch; within a session, what changed.
    pub topics: Vec<FetchTopic>,
    /// What leaves the session (v7+).
    pub forgotten_topics: Vec<ForgottenTopic>,
    /// The rack of the client, empty for none (v11+).
    pub rack_id: String,
}

/// Partitions of one topic to fetch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<FetchPartition>,
}

/// One partition to fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchPartition {
    /// Its index.
    pub partition: i32,
    /// The leader epoch that the client knows, -1 for none: the broker refuses another one (v9+).
    pub current_leader_epoch: i32,
    /// The offset to begin at.
    pub fetch_offset: i64,
    /// The epoch of the last record that was fetched, -1 for none (v12).
    pub last_fetched_epoch: i32,
    /// For followers, -1 from a client (v5+).
    pub log_start_offset: i64,
    /// Bytes of this partition's answer.
    pub partition_max_bytes: i32,
}

/// Partitions of one topic that leave the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgottenTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<i32>,
}

/// Records, as slices of the frame they came in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// What is wrong with the request or its session (v7+).
    pub error_code: ErrorCode,
    /// The session, 0 for none (v7+).
    pub session_id: i32,
    /// The topics; within a session, those that have something new.
    pub topics: Vec<FetchableTopic>,
}

/// What was fetched of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchableTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<FetchedPartition>,
}

/// What was fetched of one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedPartition {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// The end of what is replicated, -1 with an error.
    pub high_watermark: i64,
    /// The end of what is decided, -1 when unknown (v4+; brokers up to 2.0 send -1 at every isolation level).
    pub last_stable_offset: i64,
    /// The first offset of the log, -1 when unknown (v5+).
    pub log_start_offset: i64,
    /// Aborted transactions that touch these records; `None` when not asked for (v4+).
    pub aborted_transactions: Option<Vec<AbortedTransaction>>,
    /// The follower to read from instead, -1 for none (v11+).
    pub preferred_read_replica: i32,
    /// Whole batches, and maybe a part of one more.
    pub records: Option<Bytes>,
}

/// One aborted transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AbortedTransaction {
    /// Its producer.
    pub producer_id: i64,
    /// Its first offset.
    pub first_offset: i64,
}

impl Default for FetchRequest {
    fn default() -> Self {
        Self {
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: i32::MAX,
            isolation_level: 0,
            session_id: 0,
            session_epoch: -1,
            topics: Vec::new(),
            forgotten_topics: Vec::new(),
            rack_id: String::new(),
        }
    }
}

impl Default for FetchPartition {
    fn default() -> Self {
        Self {
            partition: 0,
            current_leader_epoch: -1,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            log_start_offset: -1,
            partition_max_bytes: 0,
        }
    }
}

impl Default for FetchedPartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: ErrorCode::NONE,
            high_watermark: -1,
            last_stable_offset: -1,
            log_start_offset: -1,
            aborted_transactions: None,
            preferred_read_replica: -1,
            records: None,
        }
    }
}

impl Request for FetchRequest {
    const KEY: ApiKey = ApiKey::FETCH;
    const VERSIONS: RangeInclusive<i16> = 0..=12;
    const FLEXIBLE_FROM: i16 = 12;
    type Response = FetchResponse;
}

impl Message for FetchRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(REPLICA_NONE);
        w.put_i32(self.max_wait_ms);
        w.put_i32(self.min_bytes);
        if version >= 3 {
            w.put_i32(self.max_bytes);
        }
        if version >= 4 {
            w.put_i8(self.isolation_level);
        }
        if version >= 7 {
            w.put_i32(self.session_id);
            w.put_i32(self.session_epoch);
        }
        w.put_items(form, &self.topics, "topics", |w, topic| {
            w.put_string(form, &topic.name, "topic name")?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| {
                partition.encode(version, w);
                Ok(())
            })?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 7 {
            w.put_items(form, &self.forgotten_topics, "forgotten topics", |w, topic| {
                w.put_string(form, &topic.name, "forgotten topic name")?;
                w.put_i32s(form, &topic.partitions, "forgotten partitions")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
        } else {
            refuse_left_out(!self.forgotten_topics.is_empty(), "forgotten topics", version)?;
        }
        if version >= 11 {
            w.put_string(form, &self.rack_id, "rack id")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let _replica_id = r.i32("replica id")?;
        let mut request = Self { max_wait_ms: r.i32("max wait")?, min_bytes: r.i32("min bytes")?, ..Self::default() };
        if version >= 3 {
            request.max_bytes = r.i32("max bytes")?;
        }
        if version >= 4 {
            request.isolation_level = r.i8("isolation level")?;
        }
        if version >= 7 {
            request.session_id = r.i32("session id")?;
            request.session_epoch = r.i32("session epoch")?;
        }
        request.topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = FetchTopic {
                name: r.string(form, "topic name")?,
                partitions: r.items(form, 16, "partitions", |r| FetchPartition::decode(version, r))?,
            };
            r.skip_tagged_fields(form, "fetch topic")?;
            Ok(topic)
        })?;
        if version >= 7 {
            request.forgotten_topics = r.items(form, TOPIC_BYTES_MIN, "forgotten topics", |r| {
                let topic = ForgottenTopic {
                    name: r.string(form, "forgotten topic name")?,
                    partitions: r.i32s(form, "forgotten partitions")?,
                };
                r.skip_tagged_fields(form, "forgotten topic")?;
                Ok(topic)
            })?;
        }
        if version >= 11 {
            request.rack_id = r.string(form, "rack id")?;
        }
        r.skip_tagged_fields(form, "fetch request")?;
        Ok(request)
    }
}

impl FetchPartition {
    fn encode(&self, version: i16, w: &mut Writer) {
        w.put_i32(self.partition);
        if version >= 9 {
            w.put_i32(self.current_leader_epoch);
        }
        w.put_i64(self.fetch_offset);
        if version >= 12 {
            w.put_i32(self.last_fetched_epoch);
        }
        if version >= 5 {
            w.put_i64(self.log_start_offset);
        }
        w.put_i32(self.partition_max_bytes);
        w.put_no_tagged_fields(form(version));
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut partition = Self { partition: r.i32("partition")?, ..Self::default() };
        if version >= 9 {
            partition.current_leader_epoch = r.i32("current leader epoch")?;
        }
        partition.fetch_offset = r.i64("fetch offset")?;
        if version >= 12 {
            partition.last_fetched_epoch = r.i32("last fetched epoch")?;
        }
        if version >= 5 {
            partition.log_start_offset = r.i64("log start offset")?;
        }
        partition.partition_max_bytes = r.i32("partition max bytes")?;
        r.skip_tagged_fields(form(version), "fetch partition")?;
        Ok(partition)
    }
}

impl Message for FetchResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        if version >= 7 {
            w.put_i16(self.error_code.0);
            w.put_i32(self.session_id);
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
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        if version >= 7 {
            response.error_code = ErrorCode(r.i16("fetch error code")?);
            response.session_id = r.i32("session id")?;
        }
        response.topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = FetchableTopic {
                name: r.string(form, "topic name")?,
                partitions: r.items(form, 16, "partitions", |r| FetchedPartition::decode(version, r))?,
            };
            r.skip_tagged_fields(form, "fetched topic")?;
            Ok(topic)
        })?;
        r.skip_tagged_fields(form, "fetch response")?;
        Ok(response)
    }
}

impl FetchedPartition {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.partition_index);
        w.put_i16(self.error_code.0);
        w.put_i64(self.high_watermark);
        if version >= 4 {
            w.put_i64(self.last_stable_offset);
        }
        if version >= 5 {
            w.put_i64(self.log_start_offset);
        }
        match &self.aborted_transactions {
            _ if version < 4 => {}
            None => w.put_null(form),
            Some(aborted) => w.put_items(form, aborted, "aborted transactions", |w, transaction| {
                w.put_i64(transaction.producer_id);
                w.put_i64(transaction.first_offset);
                w.put_no_tagged_fields(form);
                Ok(())
            })?,
        }
        if version >= 11 {
            w.put_i32(self.preferred_read_replica);
        } else {
            refuse_left_out(self.preferred_read_replica != -1, "preferred read replica", version)?;
        }
        w.put_nullable_records(form, self.records.as_ref(), "records")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut partition = Self {
            partition_index: r.i32("partition index")?,
            error_code: ErrorCode(r.i16("partition error code")?),
            high_watermark: r.i64("high watermark")?,
            ..Self::default()
        };
        if version >= 4 {
            partition.last_stable_offset = r.i64("last stable offset")?;
        }
        if version >= 5 {
            partition.log_start_offset = r.i64("log start offset")?;
        }
        if version >= 4 {
            partition.aborted_transactions = r.nullable_items(form, 16, "aborted transactions", |r| {
                let transaction = AbortedTransaction {
                    producer_id: r.i64("aborted producer id")?,
                    first_offset: r.i64("aborted first offset")?,
                };
                r.skip_tagged_fields(form, "aborted transaction")?;
                Ok(transaction)
            })?;
        }
        if version >= 11 {
            partition.preferred_read_replica = r.i32("preferred read replica")?;
        }
        partition.records = r.nullable_records(form, "records")?;
        r.skip_tagged_fields(form, "fetched partition")?;
        Ok(partition)
    }
}

/// An empty name, no partitions, no tags.
const TOPIC_BYTES_MIN: usize = 3;

const fn form(version: i16) -> Form {
    Form::at(version, FetchRequest::FLEXIBLE_FROM)
}
