//! A topic's settings, as the broker's code reads them.
//!
//! The names and defaults are Kafka's (`org.apache.kafka.storage.internals.log.LogConfig`); which of them a release
//! knows, and how their text is read, stands in `configs`.

use kmirror_proto::compress::Codec;

/// What holds for the log of every partition of a topic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TopicSettings {
    /// `max.message.bytes`: the largest entry, its 12 bytes of offset and length included.
    pub(crate) max_message_bytes: usize,
    /// `message.timestamp.type` is LogAppendTime.
    pub(crate) append_time: bool,
    /// `message.timestamp.before.max.ms`, or `message.timestamp.difference.max.ms` in the past.
    pub(crate) timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`, or `message.timestamp.difference.max.ms` in the future.
    pub(crate) timestamp_after_max_ms: i64,
    /// `compression.type`; `None` is `producer`: as it comes.
    pub(crate) compression: Option<Codec>,
    /// `message.format.version` as a magic: 0, 1 or 2.
    pub(crate) magic: i8,
    /// `message.downconversion.enable`.
    pub(crate) down_conversion: bool,
    /// `cleanup.policy` has `compact`.
    pub(crate) compact: bool,
    /// `cleanup.policy` has `delete`.
    pub(crate) delete: bool,
    /// `retention.ms`, -1 for none.
    pub(crate) retention_ms: i64,
    /// `retention.bytes`, -1 for none.
    pub(crate) retention_bytes: i64,
    /// `segment.bytes`.
    pub(crate) segment_bytes: usize,
    /// `segment.ms`.
    pub(crate) segment_ms: i64,
    /// `min.insync.replicas`.
    pub(crate) min_insync_replicas: usize,
    /// `delete.retention.ms`: how long tombstones and markers outlive their compaction.
    pub(crate) delete_retention_ms: i64,
    /// `min.cleanable.dirty.ratio`.
    pub(crate) min_cleanable_dirty_ratio: f64,
    /// `unclean.leader.election.enable`.
    pub(crate) unclean_leader_election: bool,
}
