//! What a consumer, or a follower, asks for.

use super::super::{Message, refuse_left_out};
use super::{form, topic_field};
use crate::error::{DecodeError, EncodeError};
use crate::wire::{Form, Reader, TaggedFields, Writer};

/// Asks for records. The broker answers once `min_bytes` are there, or after `max_wait_ms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// The follower that asks, -1 from a client, -2 from a debugger.
    pub replica_id: i32,
    /// The follower's epoch, -1 when unknown (v15+).
    pub replica_epoch: i64,
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
    /// The topic (up to v12).
    pub name: String,
    /// Its id, all zero when it goes by its name (v13+).
    pub topic_id: [u8; 16],
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
    /// The epoch of the last record that was fetched, -1 for none (v12+).
    pub last_fetched_epoch: i32,
    /// For followers, -1 from a client (v5+).
    pub log_start_offset: i64,
    /// Bytes of this partition's answer.
    pub partition_max_bytes: i32,
}

/// Partitions of one topic that leave the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgottenTopic {
    /// The topic (up to v12).
    pub name: String,
    /// Its id, all zero when it goes by its name (v13+).
    pub topic_id: [u8; 16],
    /// The partitions.
    pub partitions: Vec<i32>,
}

impl Default for FetchRequest {
    fn default() -> Self {
        Self {
            replica_id: REPLICA_NONE,
            replica_epoch: -1,
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

impl Message for FetchRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version <= 14 {
            w.put_i32(self.replica_id);
        }
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
        let field = topic_field(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            field.put_asked(w, &topic.name, &topic.topic_id)?;
            w.put_items(form, &topic.partitions, "partitions", |w, partition| {
                partition.encode(version, w);
                Ok(())
            })?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 7 {
            w.put_items(form, &self.forgotten_topics, "forgotten topics", |w, topic| {
                field.put_asked(w, &topic.name, &topic.topic_id)?;
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
        let mut tagged = TaggedFields::new();
        if version >= 15 {
            self.put_replica_state(&mut tagged)?;
        }
        w.put_tagged_fields(form, tagged, "fetch request")
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version <= 14 {
            request.replica_id = r.i32("replica id")?;
        }
        request.max_wait_ms = r.i32("max wait")?;
        request.min_bytes = r.i32("min bytes")?;
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
        let field = topic_field(version);
        request.topics = r.items(form, field.bytes_min(), "topics", |r| {
            let (name, topic_id) = field.read(r)?;
            let partitions = r.items(form, 16, "partitions", |r| FetchPartition::decode(version, r))?;
            r.skip_tagged_fields(form, "fetch topic")?;
            Ok(FetchTopic { name, topic_id, partitions })
        })?;
        if version >= 7 {
            request.forgotten_topics = r.items(form, field.bytes_min(), "forgotten topics", |r| {
                let (name, topic_id) = field.read(r)?;
                let partitions = r.i32s(form, "forgotten partitions")?;
                r.skip_tagged_fields(form, "forgotten topic")?;
                Ok(ForgottenTopic { name, topic_id, partitions })
            })?;
        }
        if version >= 11 {
            request.rack_id = r.string(form, "rack id")?;
        }
        r.tagged_fields(form, "fetch request", |tag, field| {
            if version >= 15 && tag == REPLICA_STATE_TAG {
                Reader::whole(field, "replica state", |r| request.replica_state(r))?;
            }
            Ok(())
        })?;
        Ok(request)
    }
}

impl FetchRequest {
    fn put_replica_state(&self, tagged: &mut TaggedFields) -> Result<(), EncodeError> {
        if self.replica_id == REPLICA_NONE && self.replica_epoch == -1 {
            return Ok(());
        }
        tagged.put(REPLICA_STATE_TAG, |w| {
            w.put_i32(self.replica_id);
            w.put_i64(self.replica_epoch);
            w.put_no_tagged_fields(Form::Compact);
            Ok(())
        })
    }

    fn replica_state(&mut self, r: &mut Reader) -> Result<(), DecodeError> {
        self.replica_id = r.i32("replica id")?;
        self.replica_epoch = r.i64("replica epoch")?;
        r.skip_tagged_fields(Form::Compact, "replica state")
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

/// What a client sends in the place of a follower's id.
const REPLICA_NONE: i32 = -1;

/// The tag of a follower's id and epoch.
const REPLICA_STATE_TAG: u32 = 1;
