//! OffsetFetch (9), versions 0-10: the positions of groups.
//!
//! ```text
//! request   v0-v1  group, [topic, [partition]]                    v0 from ZooKeeper, v1+ from Kafka
//!           v2     null = all topics    v6  compact               v7  + require stable
//!           v8     [group, [topic, [partition]]], require stable
//!           v9     + member and its epoch behind each group       v10 topics by id
//! response  v0     [topic, [partition, offset, metadata, error]]
//!           v2     + error at the end   v3  + throttle in front   v5  + leader epoch    v6  compact
//!           v8     throttle, [group, [topic, ...], error]         v10 topics by id
//! ```
//!
//! Up to v7 there is one group, which the answer does not repeat. A partition without a position has offset -1 and no
//! error. Java: `OffsetFetchRequest`, `OffsetFetchResponse`; require stable: KIP-447, several groups: KIP-709, members:
//! KIP-848, topic ids: KIP-516.

use std::ops::RangeInclusive;

use super::topic::TopicField;
use super::{Message, Request, only, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchRequest {
    /// The groups; exactly one up to v7.
    pub groups: Vec<OffsetFetchGroup>,
    /// Refuse (88) while a transaction may still change the position (v7+).
    pub require_stable: bool,
}

/// Positions of one group to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetFetchGroup {
    /// The group.
    pub group_id: String,
    /// The member that asks, `None` from outside of the group (v9+).
    pub member_id: Option<String>,
    /// Its epoch, -1 from outside of the group (v9+).
    pub member_epoch: i32,
    /// What to ask for; `None` asks for everything (v2+).
    pub topics: Option<Vec<OffsetFetchTopic>>,
}

/// Partitions of one topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchTopic {
    /// The topic (up to v9).
    pub name: String,
    /// Its id, all zero when it goes by its name (v10).
    pub topic_id: [u8; 16],
    /// The partitions.
    pub partition_indexes: Vec<i32>,
}

/// Positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OffsetFetchResponse {
    /// How long this client is throttled (v3+).
    pub throttle_time_ms: i32,
    /// The positions by group; exactly one group up to v7.
    pub groups: Vec<FetchedOffsetGroup>,
}

/// Positions of one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchedOffsetGroup {
    /// The group (v8+).
    pub group_id: String,
    /// The positions by topic.
    pub topics: Vec<FetchedOffsetTopic>,
    /// What is wrong with the group or its coordinator (v2+).
    pub error_code: ErrorCode,
}

/// Positions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchedOffsetTopic {
    /// The topic (up to v9).
    pub name: String,
    /// Its id, all zero when it goes by its name (v10).
    pub topic_id: [u8; 16],
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

impl OffsetFetchRequest {
    /// Asks for positions of one group, from outside of it.
    #[must_use]
    pub fn group(group_id: String, topics: Option<Vec<OffsetFetchTopic>>) -> Self {
        let group = OffsetFetchGroup { group_id, topics, ..OffsetFetchGroup::default() };
        Self { groups: vec![group], require_stable: false }
    }
}

impl OffsetFetchResponse {
    /// The answer to a question about one group. Of a broker that answers with another number it is that the broker is
    /// not its coordinator.
    #[must_use]
    pub fn into_only(self) -> FetchedOffsetGroup {
        let not_here =
            |_| FetchedOffsetGroup { error_code: ErrorCode::NOT_COORDINATOR, ..FetchedOffsetGroup::default() };
        <[FetchedOffsetGroup; 1]>::try_from(self.groups).map_or_else(not_here, |[group]| group)
    }
}

impl From<FetchedOffsetGroup> for OffsetFetchResponse {
    fn from(group: FetchedOffsetGroup) -> Self {
        Self { throttle_time_ms: 0, groups: vec![group] }
    }
}

impl Default for OffsetFetchGroup {
    fn default() -> Self {
        Self { group_id: String::new(), member_id: None, member_epoch: -1, topics: None }
    }
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
    const VERSIONS: RangeInclusive<i16> = 0..=10;
    const FLEXIBLE_FROM: i16 = 6;
    type Response = OffsetFetchResponse;
}

impl Message for OffsetFetchRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 8 {
            w.put_items(form, &self.groups, "groups", |w, group| {
                group.encode(version, w)?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
        } else {
            only(&self.groups, "number of groups", version)?.encode(version, w)?;
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
        let mut request = Self::default();
        if version >= 8 {
            let group_bytes_min = if version >= 9 { 8 } else { 3 };
            request.groups = r.items(form, group_bytes_min, "groups", |r| {
                let group = OffsetFetchGroup::decode(version, r)?;
                r.skip_tagged_fields(form, "offset fetch group")?;
                Ok(group)
            })?;
        } else {
            request.groups.push(OffsetFetchGroup::decode(version, r)?);
        }
        if version >= 7 {
            request.require_stable = r.bool("require stable")?;
        }
        r.skip_tagged_fields(form, "offset fetch request")?;
        Ok(request)
    }
}

impl OffsetFetchGroup {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.group_id, "group id")?;
        if version >= 9 {
            w.put_nullable_string(form, self.member_id.as_deref(), "member id")?;
            w.put_i32(self.member_epoch);
        }
        let field = topic_field(version);
        match &self.topics {
            None => {
                refuse_left_out(version < 2, "offsets of all topics", version)?;
                w.put_null(form);
            }
            Some(topics) => w.put_items(form, topics, "topics", |w, topic| {
                field.put_asked(w, &topic.name, &topic.topic_id)?;
                w.put_i32s(form, &topic.partition_indexes, "partitions")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?,
        }
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut group = Self { group_id: r.string(form, "group id")?, ..Self::default() };
        if version >= 9 {
            group.member_id = r.nullable_string(form, "member id")?;
            group.member_epoch = r.i32("member epoch")?;
        }
        let field = topic_field(version);
        group.topics = r.nullable_items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partition_indexes = r.i32s(form, "partitions")?;
            r.skip_tagged_fields(form, "offset fetch topic")?;
            Ok(OffsetFetchTopic { name, topic_id, partition_indexes })
        })?;
        if version < 2 && group.topics.is_none() {
            return Err(DecodeError::Null { what: "topics" });
        }
        Ok(group)
    }
}

impl Message for OffsetFetchResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 3 {
            w.put_i32(self.throttle_time_ms);
        }
        if version >= 8 {
            w.put_items(form, &self.groups, "groups", |w, group| {
                w.put_string(form, &group.group_id, "group id")?;
                group.encode(version, w)?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
        } else {
            only(&self.groups, "number of groups", version)?.encode(version, w)?;
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
        if version >= 8 {
            response.groups = r.items(form, 5, "groups", |r| {
                let group_id = r.string(form, "group id")?;
                let group = FetchedOffsetGroup::decode(group_id, version, r)?;
                r.skip_tagged_fields(form, "fetched offset group")?;
                Ok(group)
            })?;
        } else {
            response.groups.push(FetchedOffsetGroup::decode(String::new(), version, r)?);
        }
        r.skip_tagged_fields(form, "offset fetch response")?;
        Ok(response)
    }
}

impl FetchedOffsetGroup {
    /// What stands behind the group's name.
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| partition.encode(version, w))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 2 {
            w.put_i16(self.error_code.0);
        }
        Ok(())
    }

    fn decode(group_id: String, version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let field = topic_field(version);
        let topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 15, "partitions", |r| FetchedOffset::decode(version, r))?;
            r.skip_tagged_fields(form, "fetched offset topic")?;
            Ok(FetchedOffsetTopic { name, topic_id, partitions })
        })?;
        let mut group = Self { group_id, topics, ..Self::default() };
        if version >= 2 {
            group.error_code = ErrorCode(r.i16("offset fetch error code")?);
        }
        Ok(group)
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

const fn topic_field(version: i16) -> TopicField {
    TopicField::at(version, form(version), 10)
}

const fn form(version: i16) -> Form {
    Form::at(version, OffsetFetchRequest::FLEXIBLE_FROM)
}
