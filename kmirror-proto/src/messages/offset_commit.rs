//! OffsetCommit (8), versions 0-10: the positions of a group.
//!
//! ```text
//! request   v0     group, [topic, [partition, offset, metadata]]          kept in ZooKeeper
//!           v1     + generation, member; commit timestamp per partition   kept in Kafka from here on
//!           v2-v4  + retention time, no commit timestamp                  v5   no retention time
//!           v6     + leader epoch    v7  + group instance id              v8   compact
//!           v10    topic by id
//! response  v0     [topic, [partition, error]]
//!           v3     + throttle in front                                    v8   compact
//!           v10    topic by id
//! ```
//!
//! v1's commit timestamp is written as -1, the broker's own clock. v9 lets members of the newer groups commit (KIP-848),
//! with their epoch for a generation. Java: `OffsetCommitRequest`, `OffsetCommitResponse`.

use std::ops::RangeInclusive;

use super::topic::TopicField;
use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// "Now", in the place of v1's commit timestamp.
const TIMESTAMP_NONE: i64 = -1;

/// Commits positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetCommitRequest {
    /// The group.
    pub group_id: String,
    /// The generation, -1 from outside of the group (v1+).
    pub generation_id_or_member_epoch: i32,
    /// The member, empty from outside of the group (v1+).
    pub member_id: String,
    /// The static member, `None` for none (v7+).
    pub group_instance_id: Option<String>,
    /// How long to keep the positions, -1 as the broker is configured (v2-v4).
    pub retention_time_ms: i64,
    /// The positions by topic.
    pub topics: Vec<OffsetCommitTopic>,
}

/// Positions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetCommitTopic {
    /// The topic (up to v9).
    pub name: String,
    /// Its id, all zero when it goes by its name (v10).
    pub topic_id: [u8; 16],
    /// The positions by partition.
    pub partitions: Vec<OffsetCommitPartition>,
}

/// The position in one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetCommitPartition {
    /// Its index.
    pub partition_index: i32,
    /// The offset to go on at.
    pub committed_offset: i64,
    /// The epoch of the record before it, -1 when unknown (v6+).
    pub committed_leader_epoch: i32,
    /// Anything, up to 4096 bytes by default.
    pub committed_metadata: Option<String>,
}

/// What became of the positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetCommitResponse {
    /// How long this client is throttled (v3+).
    pub throttle_time_ms: i32,
    /// The outcomes by topic.
    pub topics: Vec<CommittedTopic>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommittedTopic {
    /// The topic (up to v9).
    pub name: String,
    /// Its id, all zero when it goes by its name (v10).
    pub topic_id: [u8; 16],
    /// The outcomes by partition.
    pub partitions: Vec<CommittedPartition>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommittedPartition {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
}

impl Default for OffsetCommitRequest {
    fn default() -> Self {
        Self {
            group_id: String::new(),
            generation_id_or_member_epoch: -1,
            member_id: String::new(),
            group_instance_id: None,
            retention_time_ms: -1,
            topics: Vec::new(),
        }
    }
}

impl Default for OffsetCommitPartition {
    fn default() -> Self {
        Self { partition_index: 0, committed_offset: 0, committed_leader_epoch: -1, committed_metadata: None }
    }
}

impl Request for OffsetCommitRequest {
    const KEY: ApiKey = ApiKey::OFFSET_COMMIT;
    const VERSIONS: RangeInclusive<i16> = 0..=10;
    const FLEXIBLE_FROM: i16 = 8;
    type Response = OffsetCommitResponse;
}

impl Message for OffsetCommitRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.group_id, "group id")?;
        if version >= 1 {
            w.put_i32(self.generation_id_or_member_epoch);
            w.put_string(form, &self.member_id, "member id")?;
        }
        if version >= 7 {
            w.put_nullable_string(form, self.group_instance_id.as_deref(), "group instance id")?;
        } else {
            refuse_left_out(self.group_instance_id.is_some(), "group instance id", version)?;
        }
        if (2..=4).contains(&version) {
            w.put_i64(self.retention_time_ms);
        }
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put_asked(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| partition.encode(version, w))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self { group_id: r.string(form, "group id")?, ..Self::default() };
        if version >= 1 {
            request.generation_id_or_member_epoch = r.i32("generation id")?;
            request.member_id = r.string(form, "member id")?;
        }
        if version >= 7 {
            request.group_instance_id = r.nullable_string(form, "group instance id")?;
        }
        if (2..=4).contains(&version) {
            request.retention_time_ms = r.i64("retention time")?;
        }
        let field = topic_field(version);
        request.topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 13, "partitions", |r| OffsetCommitPartition::decode(version, r))?;
            r.skip_tagged_fields(form, "offset commit topic")?;
            Ok(OffsetCommitTopic { name, topic_id, partitions })
        })?;
        r.skip_tagged_fields(form, "offset commit request")?;
        Ok(request)
    }
}

impl OffsetCommitPartition {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.partition_index);
        w.put_i64(self.committed_offset);
        if version >= 6 {
            w.put_i32(self.committed_leader_epoch);
        }
        if version == 1 {
            w.put_i64(TIMESTAMP_NONE);
        }
        w.put_nullable_string(form, self.committed_metadata.as_deref(), "committed metadata")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut partition = Self {
            partition_index: r.i32("partition index")?,
            committed_offset: r.i64("committed offset")?,
            ..Self::default()
        };
        if version >= 6 {
            partition.committed_leader_epoch = r.i32("committed leader epoch")?;
        }
        if version == 1 {
            let _commit_timestamp = r.i64("commit timestamp")?;
        }
        partition.committed_metadata = r.nullable_string(form, "committed metadata")?;
        r.skip_tagged_fields(form, "offset commit partition")?;
        Ok(partition)
    }
}

impl Message for OffsetCommitResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 3 {
            w.put_i32(self.throttle_time_ms);
        }
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
        let mut response = Self::default();
        if version >= 3 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        let field = topic_field(version);
        response.topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 6, "partitions", |r| {
                let partition = CommittedPartition {
                    partition_index: r.i32("partition index")?,
                    error_code: ErrorCode(r.i16("partition error code")?),
                };
                r.skip_tagged_fields(form, "committed partition")?;
                Ok(partition)
            })?;
            r.skip_tagged_fields(form, "committed topic")?;
            Ok(CommittedTopic { name, topic_id, partitions })
        })?;
        r.skip_tagged_fields(form, "offset commit response")?;
        Ok(response)
    }
}

const fn topic_field(version: i16) -> TopicField {
    TopicField::at(version, form(version), 10)
}

const fn form(version: i16) -> Form {
    Form::at(version, OffsetCommitRequest::FLEXIBLE_FROM)
}
