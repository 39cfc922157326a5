//! Refusals of what is about partitions' logs.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DeleteRecordsRequest, DeleteRecordsResponse, DeletedRecordsPartition, DeletedRecordsTopic,
    DescribeProducersRequest, DescribeProducersResponse, DescribedProducersPartition, DescribedProducersTopic,
    EpochEnd, EpochEndTopic, FetchRequest, FetchResponse, FetchableTopic, FetchedPartition, ListOffsetsRequest,
    ListOffsetsResponse, ListedOffset, ListedTopic, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
    ProduceRequest, ProduceResponse, ProducedPartition, ProducedTopic,
};

use super::{all, each};

pub(super) fn produce(request: &ProduceRequest, error_code: ErrorCode) -> Option<ProduceResponse> {
    let topics = each(&request.topics, |topic| ProducedTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: all(&topic.partitions, |asked| ProducedPartition {
            index: asked.index,
            error_code,
            ..ProducedPartition::default()
        }),
    })?;
    Some(ProduceResponse { topics, ..ProduceResponse::default() })
}

/// Of each partition; of the whole where a session's request names none (v7 and newer).
pub(super) fn fetch(request: &FetchRequest, version: i16, error_code: ErrorCode) -> Option<FetchResponse> {
    let topics = all(&request.topics, |topic| FetchableTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: all(&topic.partitions, |asked| FetchedPartition {
            partition_index: asked.partition,
            error_code,
            ..FetchedPartition::default()
        }),
    });
    match (topics.is_empty(), version >= 7) {
        (true, false) => None,
        (true, true) => Some(FetchResponse { error_code, ..FetchResponse::default() }),
        (false, _) => Some(FetchResponse { topics, ..FetchResponse::default() }),
    }
}

pub(super) fn list_offsets(request: &ListOffsetsRequest, error_code: ErrorCode) -> Option<ListOffsetsResponse> {
    let topics = each(&request.topics, |topic| ListedTopic {
        name: topic.name.clone(),
        partitions: all(&topic.partitions, |asked| ListedOffset {
            partition_index: asked.partition_index,
            error_code,
            ..ListedOffset::default()
        }),
    })?;
    Some(ListOffsetsResponse { topics, ..ListOffsetsResponse::default() })
}

pub(super) fn offset_for_leader_epoch(
    request: &OffsetForLeaderEpochRequest,
    error_code: ErrorCode,
) -> Option<OffsetForLeaderEpochResponse> {
    let topics = each(&request.topics, |topic| EpochEndTopic {
        name: topic.name.clone(),
        partitions: all(&topic.partitions, |asked| EpochEnd {
            error_code,
            partition: asked.partition,
            ..EpochEnd::default()
        }),
    })?;
    Some(OffsetForLeaderEpochResponse { topics, ..OffsetForLeaderEpochResponse::default() })
}

pub(super) fn delete_records(request: &DeleteRecordsRequest, error_code: ErrorCode) -> Option<DeleteRecordsResponse> {
    let topics = each(&request.topics, |topic| DeletedRecordsTopic {
        name: topic.name.clone(),
        partitions: all(&topic.partitions, |asked| DeletedRecordsPartition {
            partition_index: asked.partition_index,
            low_watermark: -1,
            error_code,
        }),
    })?;
    Some(DeleteRecordsResponse { topics, ..DeleteRecordsResponse::default() })
}

pub(super) fn describe_producers(
    request: &DescribeProducersRequest,
    error_code: ErrorCode,
) -> Option<DescribeProducersResponse> {
    let topics = each(&request.topics, |topic| DescribedProducersTopic {
        name: topic.name.clone(),
        partitions: all(&topic.partition_indexes, |index| DescribedProducersPartition {
            partition_index: *index,
            error_code,
            ..DescribedProducersPartition::default()
        }),
    })?;
    Some(DescribeProducersResponse { topics, ..DescribeProducersResponse::default() })
}
