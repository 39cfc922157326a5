//! What a broker answers: records, and what a consumer needs to judge them.

use bytes::Bytes;

use super::super::leadership::{LeaderIdAndEpoch, NodeEndpoint};
use super::super::{Message, refuse_left_out};
use super::{form, topic_field};
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, TaggedFields, Writer};

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
    /// Where the leaders are that the partitions name (v16+).
    pub node_endpoints: Vec<NodeEndpoint>,
}

/// What was fetched of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchableTopic {
    /// The topic (up to v12).
    pub name: String,
    /// Its id, all zero when it goes by its name (v13+).
    pub topic_id: [u8; 16],
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
    /// Where the log parts from what the client has fetched (v12+).
    pub diverging_epoch: Option<EpochEndOffset>,
    /// Who leads it, for a client that asked another one (v12+).
    pub current_leader: Option<LeaderIdAndEpoch>,
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

/// Where an epoch ends in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochEndOffset {
    /// The largest epoch that is not above the one asked for, -1 for none.
    pub epoch: i32,
    /// The offset behind its last record, -1 for none.
    pub end_offset: i64,
}

impl Default for EpochEndOffset {
    fn default() -> Self {
        Self { epoch: -1, end_offset: -1 }
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
            diverging_epoch: None,
            current_leader: None,
            preferred_read_replica: -1,
            records: None,
        }
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
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| partition.encode(version, w))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        let mut tagged = TaggedFields::new();
        if version >= 16 {
            NodeEndpoint::put_all(&self.node_endpoints, NODE_ENDPOINTS_TAG, &mut tagged)?;
        }
        w.put_tagged_fields(form, tagged, "fetch response")
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
        let field = topic_field(version);
        response.topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 16, "partitions", |r| FetchedPartition::decode(version, r))?;
            r.skip_tagged_fields(form, "fetched topic")?;
            Ok(FetchableTopic { name, topic_id, partitions })
        })?;
        r.tagged_fields(form, "fetch response", |tag, field| {
            if version >= 16 && tag == NODE_ENDPOINTS_TAG {
                response.node_endpoints = Reader::whole(field, "node endpoints", NodeEndpoint::decode_all)?;
            }
            Ok(())
        })?;
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
        w.put_tagged_fields(form, self.tagged_fields()?, "fetched partition")
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
        r.tagged_fields(form, "fetched partition", |tag, field| {
            match tag {
                DIVERGING_EPOCH_TAG => {
                    let diverging = Reader::whole(field, "diverging epoch", EpochEndOffset::decode)?;
                    partition.diverging_epoch = Some(diverging);
                }
                CURRENT_LEADER_TAG => {
                    let leader = Reader::whole(field, "current leader", LeaderIdAndEpoch::decode)?;
                    partition.current_leader = Some(leader);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(partition)
    }

    fn tagged_fields(&self) -> Result<TaggedFields, EncodeError> {
        let mut tagged = TaggedFields::new();
        if let Some(diverging) = self.diverging_epoch {
            tagged.put(DIVERGING_EPOCH_TAG, |w| {
                w.put_i32(diverging.epoch);
                w.put_i64(diverging.end_offset);
                w.put_no_tagged_fields(Form::Compact);
                Ok(())
            })?;
        }
        if let Some(leader) = self.current_leader {
            leader.put(CURRENT_LEADER_TAG, &mut tagged)?;
        }
        Ok(tagged)
    }
}

impl EpochEndOffset {
    fn decode(r: &mut Reader) -> Result<Self, DecodeError> {
        let diverging = Self { epoch: r.i32("diverging epoch")?, end_offset: r.i64("diverging end offset")? };
        r.skip_tagged_fields(Form::Compact, "diverging epoch")?;
        Ok(diverging)
    }
}

/// The tag of [`FetchResponse::node_endpoints`].
const NODE_ENDPOINTS_TAG: u32 = 0;

/// The tag of [`FetchedPartition::diverging_epoch`].
const DIVERGING_EPOCH_TAG: u32 = 0;

/// The tag of [`FetchedPartition::current_leader`].
const CURRENT_LEADER_TAG: u32 = 1;
