//! Produce (0), versions 0-13: records to a partition's leader.
//!
//! ```text
//! request   v0-v2  acks, timeout ms, [topic, [partition, records]]        magic 0 (v0, v1), magic 1 (v2)
//!           v3+    nullable transactional id in front                     magic 2, one batch per partition
//!           v7     zstd                 v9  compact                       v13  topic by id
//! response  v0     [topic, [partition, error, base offset]]
//!           v1     + throttle at the end                                  v2   + log append time
//!           v5     + log start offset   v8  + record errors, message      v9   compact
//!           v10    + tagged fields: current leader of a partition, node endpoints of the answer (KIP-951)
//!           v13    topic by id
//! ```
//!
//! 4.x still advertises v0-v2 and drops the connection when it gets one (KAFKA-18659). v12 lets a transaction take in
//! partitions as they are produced to (KIP-890); its shape is that of v11. Topic ids: KIP-516. Java: `ProduceRequest`,
//! `ProduceResponse`.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::leadership::{LeaderIdAndEpoch, NodeEndpoint};
use super::topic::TopicField;
use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, TaggedFields, Writer};

/// Records to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProduceRequest {
    /// The transaction, `None` outside of one (v3+).
    pub transactional_id: Option<String>,
    /// -1: all in-sync replicas, 1: the leader, 0: no answer at all.
    pub acks: i16,
    /// How long the leader may wait for the replicas.
    pub timeout_ms: i32,
    /// The records by topic.
    pub topics: Vec<ProduceTopic>,
}

/// Records for one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProduceTopic {
    /// The topic (up to v12).
    pub name: String,
    /// Its id, all zero when it goes by its name (v13).
    pub topic_id: [u8; 16],
    /// The records by partition.
    pub partitions: Vec<ProducePartition>,
}

/// Records for one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProducePartition {
    /// Its index.
    pub index: i32,
    /// One batch, or a message set before v3.
    pub records: RecordChunks,
}

/// Record bytes in pieces: a new header, an old payload. On the wire they stand one after the other; they are spliced
/// into the frame, not copied. Two of them are equal when their concatenations are.
#[derive(Debug, Clone, Default)]
pub struct RecordChunks(pub Vec<Bytes>);

/// Where the records went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProduceResponse {
    /// The outcomes by topic.
    pub topics: Vec<ProducedTopic>,
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// Where the leaders are that the outcomes name (v10+).
    pub node_endpoints: Vec<NodeEndpoint>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProducedTopic {
    /// The topic (up to v12).
    pub name: String,
    /// Its id, all zero when it goes by its name (v13).
    pub topic_id: [u8; 16],
    /// The outcomes by partition.
    pub partitions: Vec<ProducedPartition>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProducedPartition {
    /// Its index.
    pub index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// The offset of the first record; -1 with an error, and for a batch that was there already but is forgotten.
    pub base_offset: i64,
    /// When the broker appended it, -1 when the topic keeps the producer's times (v2+).
    pub log_append_time_ms: i64,
    /// The first offset of the log, -1 when unknown (v5+).
    pub log_start_offset: i64,
    /// The records that made the broker refuse the batch (v8+; KIP-467).
    pub record_errors: Vec<RecordError>,
    /// What the broker has to say (v8+).
    pub error_message: Option<String>,
    /// Who leads it, for a client that asked another one (v10+).
    pub current_leader: Option<LeaderIdAndEpoch>,
}

/// A record that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordError {
    /// Its position in the batch.
    pub batch_index: i32,
    /// Why.
    pub message: Option<String>,
}

impl RecordChunks {
    /// Bytes of all chunks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    /// No bytes at all?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }
}

impl From<Bytes> for RecordChunks {
    fn from(records: Bytes) -> Self {
        Self(vec![records])
    }
}

impl PartialEq for RecordChunks {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.0.iter().flatten().eq(other.0.iter().flatten())
    }
}

impl Eq for RecordChunks {}

impl Default for ProduceRequest {
    fn default() -> Self {
        Self { transactional_id: None, acks: -1, timeout_ms: 0, topics: Vec::new() }
    }
}

impl Default for ProducedPartition {
    fn default() -> Self {
        Self {
            index: 0,
            error_code: ErrorCode::NONE,
            base_offset: -1,
            log_append_time_ms: -1,
            log_start_offset: -1,
            record_errors: Vec::new(),
            error_message: None,
            current_leader: None,
        }
    }
}

impl Request for ProduceRequest {
    const KEY: ApiKey = ApiKey::PRODUCE;
    const VERSIONS: RangeInclusive<i16> = 0..=13;
    const FLEXIBLE_FROM: i16 = 9;
    type Response = ProduceResponse;
}

impl Message for ProduceRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 3 {
            w.put_nullable_string(form, self.transactional_id.as_deref(), "transactional id")?;
        } else {
            refuse_left_out(self.transactional_id.is_some(), "transactional id", version)?;
        }
        w.put_i16(self.acks);
        w.put_i32(self.timeout_ms);
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put_asked(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| {
                w.put_i32(partition.index);
                w.put_length(form, partition.records.len(), "records")?;
                partition.records.0.iter().for_each(|chunk| w.put_shared(chunk.clone()));
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    /// Null records come back as none.
    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version >= 3 {
            request.transactional_id = r.nullable_string(form, "transactional id")?;
        }
        request.acks = r.i16("acks")?;
        request.timeout_ms = r.i32("timeout")?;
        let field = topic_field(version);
        request.topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 5, "partitions", |r| {
                let index = r.i32("partition index")?;
                let records = r.nullable_records(form, "records")?;
                r.skip_tagged_fields(form, "produce partition")?;
                Ok(ProducePartition { index, records: RecordChunks(records.into_iter().collect()) })
            })?;
            r.skip_tagged_fields(form, "produce topic")?;
            Ok(ProduceTopic { name, topic_id, partitions })
        })?;
        r.skip_tagged_fields(form, "produce request")?;
        Ok(request)
    }
}

impl Message for ProduceResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| partition.encode(version, w))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        let mut tagged = TaggedFields::new();
        if version >= 10 {
            NodeEndpoint::put_all(&self.node_endpoints, NODE_ENDPOINTS_TAG, &mut tagged)?;
        }
        w.put_tagged_fields(form, tagged, "produce response")
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let field = topic_field(version);
        let topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 14, "partitions", |r| ProducedPartition::decode(version, r))?;
            r.skip_tagged_fields(form, "produced topic")?;
            Ok(ProducedTopic { name, topic_id, partitions })
        })?;
        let mut response = Self { topics, ..Self::default() };
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        r.tagged_fields(form, "produce response", |tag, field| {
            if version >= 10 && tag == NODE_ENDPOINTS_TAG {
                response.node_endpoints = Reader::whole(field, "node endpoints", NodeEndpoint::decode_all)?;
            }
            Ok(())
        })?;
        Ok(response)
    }
}

impl ProducedPartition {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.index);
        w.put_i16(self.error_code.0);
        w.put_i64(self.base_offset);
        if version >= 2 {
            w.put_i64(self.log_append_time_ms);
        }
        if version >= 5 {
            w.put_i64(self.log_start_offset);
        }
        if version >= 8 {
            w.put_items(form, &self.record_errors, "record errors", |w, record| {
                w.put_i32(record.batch_index);
                w.put_nullable_string(form, record.message.as_deref(), "record error message")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
            w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        }
        let mut tagged = TaggedFields::new();
        if let Some(leader) = self.current_leader.filter(|_| version >= 10) {
            leader.put(CURRENT_LEADER_TAG, &mut tagged)?;
        }
        w.put_tagged_fields(form, tagged, "produced partition")
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut partition = Self {
            index: r.i32("partition index")?,
            error_code: ErrorCode(r.i16("partition error code")?),
            base_offset: r.i64("base offset")?,
            ..Self::default()
        };
        if version >= 2 {
            partition.log_append_time_ms = r.i64("log append time")?;
        }
        if version >= 5 {
            partition.log_start_offset = r.i64("log start offset")?;
        }
        if version >= 8 {
            partition.record_errors = r.items(form, 6, "record errors", |r| {
                let record = RecordError {
                    batch_index: r.i32("record batch index")?,
                    message: r.nullable_string(form, "record error message")?,
                };
                r.skip_tagged_fields(form, "record error")?;
                Ok(record)
            })?;
            partition.error_message = r.nullable_string(form, "error message")?;
        }
        r.tagged_fields(form, "produced partition", |tag, field| {
            if version >= 10 && tag == CURRENT_LEADER_TAG {
                partition.current_leader = Some(Reader::whole(field, "current leader", LeaderIdAndEpoch::decode)?);
            }
            Ok(())
        })?;
        Ok(partition)
    }
}

/// The tag of [`ProduceResponse::node_endpoints`].
const NODE_ENDPOINTS_TAG: u32 = 0;

/// The tag of [`ProducedPartition::current_leader`].
const CURRENT_LEADER_TAG: u32 = 0;

const fn topic_field(version: i16) -> TopicField {
    TopicField::at(version, form(version), 13)
}

const fn form(version: i16) -> Form {
    Form::at(version, ProduceRequest::FLEXIBLE_FROM)
}
