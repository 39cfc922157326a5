//! Requests that several machines make: where logs begin and end, and one partition's records.

use kmirror_proto::messages::{
    FetchPartition, FetchRequest, FetchTopic, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};

use super::ByTopic;

/// ListOffsets for a log's first offset.
pub(crate) const EARLIEST: i64 = -2;

/// ListOffsets for the offset behind a log's last record.
pub(crate) const LATEST: i64 = -1;

/// Asks each partition for the offset of `timestamp`. Neighbours of one topic share its entry.
pub(crate) fn list_offsets<'a>(
    partitions: impl IntoIterator<Item = (&'a str, i32)>,
    timestamp: i64,
    isolation_level: i8,
) -> ListOffsetsRequest {
    let mut grouped = ByTopic::new();
    for (topic, partition_index) in partitions {
        grouped.push(topic, ListOffsetsPartition { partition_index, timestamp, ..ListOffsetsPartition::default() });
    }
    let topics = grouped.into_topics(|name, partitions| ListOffsetsTopic { name, partitions });
    ListOffsetsRequest { isolation_level, topics, ..ListOffsetsRequest::default() }
}

/// One partition of a fetch: its records from `offset` on, at most so many bytes or one batch.
pub(crate) const fn fetch_partition(partition: i32, offset: i64, bytes: i32) -> FetchPartition {
    FetchPartition {
        partition,
        current_leader_epoch: -1,
        fetch_offset: offset,
        last_fetched_epoch: -1,
        log_start_offset: -1,
        partition_max_bytes: bytes,
    }
}

/// A fetch outside any session, of one partition alone. With a wait the broker answers when it has anything, or after it.
pub(crate) fn fetch_one(topic: &str, partition: FetchPartition, max_wait_ms: i32, isolation_level: i8) -> FetchRequest {
    FetchRequest {
        max_wait_ms,
        min_bytes: i32::from(max_wait_ms > 0),
        max_bytes: partition.partition_max_bytes,
        isolation_level,
        topics: vec![FetchTopic { name: topic.to_owned(), partitions: vec![partition], ..FetchTopic::default() }],
        ..FetchRequest::default()
    }
}
