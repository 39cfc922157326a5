//! ListOffsets: where a log begins and ends, and where a time is in it.
//!
//! Java: `kafka.server.KafkaApis.handleListOffsetRequest`, `ReplicaManager.fetchOffset`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListedOffset, ListedTopic,
};

use crate::Release;
use crate::cluster::{Call, Cluster, Reply};

/// The end: what is readable at the isolation level.
const LATEST: i64 = -1;

/// The beginning.
const EARLIEST: i64 = -2;

/// Looks each partition up.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &ListOffsetsRequest) -> Reply {
    let topics = request.topics.iter().map(|topic| ListedTopic {
        name: topic.name.clone(),
        partitions: topic.partitions.iter().map(|asked| one(cluster, call, request, &topic.name, asked)).collect(),
    });
    Reply::from(ListOffsetsResponse { topics: topics.collect(), ..ListOffsetsResponse::default() })
}

fn one(
    cluster: &Cluster,
    call: &Call,
    request: &ListOffsetsRequest,
    topic: &str,
    asked: &ListOffsetsPartition,
) -> ListedOffset {
    let partition_index = asked.partition_index;
    let refused = |error_code| ListedOffset { partition_index, error_code, ..ListedOffset::default() };
    let Some(partition) = cluster.partition(topic, partition_index) else {
        return refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    if partition.leader != Some(call.node) {
        return refused(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    }
    let found = |offset| ListedOffset {
        partition_index,
        offset,
        leader_epoch: if cluster.release >= Release::V2_4 { partition.leader_epoch } else { -1 },
        ..ListedOffset::default()
    };
    match asked.timestamp {
        LATEST if request.isolation_level == 1 => found(partition.last_stable()),
        LATEST => found(partition.high_watermark()),
        EARLIEST => found(partition.log.start()),
        timestamp => match partition.log.offset_for_time(timestamp) {
            Some(dated) => ListedOffset { timestamp: dated.timestamp, ..found(dated.offset) },
            None => ListedOffset { partition_index, ..ListedOffset::default() },
        },
    }
}
