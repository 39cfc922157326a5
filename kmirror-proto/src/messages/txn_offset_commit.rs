//! TxnOffsetCommit (28), versions 0-6: positions of a group that hold when their transaction is committed.
//!
//! ```text
//! request   v0     transactional id, group, producer id, producer epoch, [topic, [partition, offset, metadata]]
//!           v2     + leader epoch    v3  + generation, member, nullable group instance id; compact
//!           v6     topic ids, no topic names
//! response  v0     throttle, [topic, [partition, error]]
//!           v3     compact           v6  topic ids, no topic names
//! ```
//!
//! The topics are those of OffsetCommit: a leader epoch is carried from v2 on, a topic id in v6. v4 can answer 120,
//! TRANSACTION_ABORTABLE; v5 adds the positions to the transaction by itself, without AddOffsetsToTxn. KIP-98, KIP-447
//! (the member), KIP-890, KIP-1319 (topic ids). Java: `TxnOffsetCommitRequest`, `TxnOffsetCommitResponse`.

use std::ops::RangeInclusive;

use super::topic::TopicField;
use super::{
    CommittedPartition, CommittedTopic, Message, OffsetCommitPartition, OffsetCommitTopic, Request, refuse_left_out,
};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Commits positions within a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TxnOffsetCommitRequest {
    /// The transactional id.
    pub transactional_id: String,
    /// The group.
    pub group_id: String,
    /// The producer id that the transaction has.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// The generation, -1 from outside of the group (v3+).
    pub generation_id_or_member_epoch: i32,
    /// The member, empty from outside of the group (v3+).
    pub member_id: String,
    /// The static member, `None` for none (v3+).
    pub group_instance_id: Option<String>,
    /// The positions by topic.
    pub topics: Vec<OffsetCommitTopic>,
}

/// What became of the positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TxnOffsetCommitResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes by topic.
    pub topics: Vec<CommittedTopic>,
}

impl Default for TxnOffsetCommitRequest {
    fn default() -> Self {
        Self {
            transactional_id: String::new(),
            group_id: String::new(),
            producer_id: 0,
            producer_epoch: 0,
            generation_id_or_member_epoch: -1,
            member_id: String::new(),
            group_instance_id: None,
            topics: Vec::new(),
        }
    }
}

impl Request for TxnOffsetCommitRequest {
    const KEY: ApiKey = ApiKey::TXN_OFFSET_COMMIT;
    const VERSIONS: RangeInclusive<i16> = 0..=6;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = TxnOffsetCommitResponse;
}

impl Message for TxnOffsetCommitRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.transactional_id, "transactional id")?;
        w.put_string(form, &self.group_id, "group id")?;
        w.put_i64(self.producer_id);
        w.put_i16(self.producer_epoch);
        if version >= 3 {
            w.put_i32(self.generation_id_or_member_epoch);
            w.put_string(form, &self.member_id, "member id")?;
            w.put_nullable_string(form, self.group_instance_id.as_deref(), "group instance id")?;
        } else {
            refuse_left_out(self.generation_id_or_member_epoch != -1, "generation id", version)?;
            refuse_left_out(!self.member_id.is_empty(), "member id", version)?;
            refuse_left_out(self.group_instance_id.is_some(), "group instance id", version)?;
        }
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put_asked(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| put_partition(version, w, partition))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self {
            transactional_id: r.string(form, "transactional id")?,
            group_id: r.string(form, "group id")?,
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
            ..Self::default()
        };
        if version >= 3 {
            request.generation_id_or_member_epoch = r.i32("generation id")?;
            request.member_id = r.string(form, "member id")?;
            request.group_instance_id = r.nullable_string(form, "group instance id")?;
        }
        let field = topic_field(version);
        request.topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 13, "partitions", |r| read_partition(version, r))?;
            r.skip_tagged_fields(form, "txn offset commit topic")?;
            Ok(OffsetCommitTopic { name, topic_id, partitions })
        })?;
        r.skip_tagged_fields(form, "txn offset commit request")?;
        Ok(request)
    }
}

fn put_partition(version: i16, w: &mut Writer, partition: &OffsetCommitPartition) -> Result<(), EncodeError> {
    let form = form(version);
    w.put_i32(partition.partition_index);
    w.put_i64(partition.committed_offset);
    if version >= 2 {
        w.put_i32(partition.committed_leader_epoch);
    }
    w.put_nullable_string(form, partition.committed_metadata.as_deref(), "committed metadata")?;
    w.put_no_tagged_fields(form);
    Ok(())
}

fn read_partition(version: i16, r: &mut Reader) -> Result<OffsetCommitPartition, DecodeError> {
    let form = form(version);
    let mut partition = OffsetCommitPartition {
        partition_index: r.i32("partition index")?,
        committed_offset: r.i64("committed offset")?,
        ..OffsetCommitPartition::default()
    };
    if version >= 2 {
        partition.committed_leader_epoch = r.i32("committed leader epoch")?;
    }
    partition.committed_metadata = r.nullable_string(form, "committed metadata")?;
    r.skip_tagged_fields(form, "txn offset commit partition")?;
    Ok(partition)
}

impl Message for TxnOffsetCommitResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| {
                w.put_i32(partition.partition_index);
                w.put_i16(partition.error_code.0);
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
        let throttle_time_ms = r.i32("throttle time")?;
        let field = topic_field(version);
        let topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 6, "partitions", |r| {
                let partition = CommittedPartition {
                    partition_index: r.i32("partition index")?,
                    error_code: ErrorCode(r.i16("partition error code")?),
                };
                r.skip_tagged_fields(form, "txn offset commit partition")?;
                Ok(partition)
            })?;
            r.skip_tagged_fields(form, "txn offset commit topic")?;
            Ok(CommittedTopic { name, topic_id, partitions })
        })?;
        r.skip_tagged_fields(form, "txn offset commit response")?;
        Ok(Self { throttle_time_ms, topics })
    }
}

const fn topic_field(version: i16) -> TopicField {
    TopicField::at(version, form(version), 6)
}

const fn form(version: i16) -> Form {
    Form::at(version, TxnOffsetCommitRequest::FLEXIBLE_FROM)
}
