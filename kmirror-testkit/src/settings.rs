//! A topic's settings, as the broker's code reads them.
//!
//! The names and defaults are Kafka's (`org.apache.kafka.storage.internals.log.LogConfig`); which of them a release
//! knows, and how their text is read, stands in `configs`.

use kmirror_proto::compress::Codec;

/// What holds for the log of every partition of a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicSettings {
    /// `max.message.bytes`: the largest entry, its 12 bytes of offset and length included.
    pub max_message_bytes: usize,
    /// `message.timestamp.type` is LogAppendTime.
    pub append_time: bool,
    /// `message.timestamp.before.max.ms`, or `message.timestamp.difference.max.ms` in the past.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`, or `message.timestamp.difference.max.ms` in the future.
    pub timestamp_after_max_ms: i64,
    /// `compression.type`; `None` is `producer`: as it comes.
    pub compression: Option<Codec>,
    /// `message.format.version` as a magic: 0, 1 or 2.
    pub magic: i8,
    /// `message.downconversion.enable`.
    pub down_conversion: bool,
    /// `cleanup.policy` has `compact`.
    pub compact: bool,
    /// `cleanup.policy` has `delete`.
    pub delete: bool,
    /// `retention.ms`, -1 for none.
    pub retention_ms: i64,
    /// `retention.bytes`, -1 for none.
    pub retention_bytes: i64,
    /// `segment.bytes`.
    pub segment_bytes: usize,
    /// `segment.ms`.
    pub segment_ms: i64,
    /// `min.insync.replicas`.
    pub min_insync_replicas: usize,
    /// `delete.retention.ms`: how long tombstones and markers outlive their compaction.
    pub delete_retention_ms: i64,
    /// `min.cleanable.dirty.ratio`.
    pub min_cleanable_dirty_ratio: f64,
    /// `unclean.leader.election.enable`.
    pub unclean_leader_election: bool,
}
