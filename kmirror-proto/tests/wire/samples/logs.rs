//! One value of every message about topics and their logs, at every version.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DeletableTopic, DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsResponse, DeleteRecordsTopic,
    DeleteTopicsRequest, DeleteTopicsResponse, DeletedRecordsPartition, DeletedRecordsTopic, DeletedTopic,
    DescribeProducersRequest, DescribeProducersResponse, DescribeProducersTopic, DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse, DescribeTopicPartitionsTopic, DescribedPartition, DescribedProducersPartition,
    DescribedProducersTopic, DescribedTopic, EpochEnd, EpochEndTopic, OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse, OffsetForLeaderPartition, OffsetForLeaderTopic, ProducerState, TopicPartitionCursor,
};

use super::{carried, text};

pub(super) fn delete_topics_request(v: i16) -> DeleteTopicsRequest {
    let topic = |name: Option<String>| DeletableTopic { name, topic_id: carried(v >= 6, [4; 16], [0; 16]) };
    DeleteTopicsRequest {
        topics: vec![topic(text("orders")), topic(carried(v >= 6, None, text("payments")))],
        timeout_ms: 15_000,
    }
}

pub(super) fn delete_topics_response(v: i16) -> DeleteTopicsResponse {
    let topic = |name: Option<String>, error_message: Option<String>| DeletedTopic {
        name,
        topic_id: carried(v >= 6, [4; 16], [0; 16]),
        error_code: ErrorCode::TOPIC_DELETION_DISABLED,
        error_message: carried(v >= 5, error_message, None),
    };
    DeleteTopicsResponse {
        throttle_time_ms: carried(v >= 1, 100, 0),
        responses: vec![topic(text("orders"), text("not here")), topic(carried(v >= 6, None, text("payments")), None)],
    }
}

pub(super) fn delete_records_request(_: i16) -> DeleteRecordsRequest {
    let partition = |n: i32| DeleteRecordsPartition { partition_index: n, offset: (1 << 33) + 2 };
    let topic =
        |n: i32| DeleteRecordsTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    DeleteRecordsRequest { topics: vec![topic(0), topic(1)], timeout_ms: 16 }
}

pub(super) fn delete_records_response(_: i16) -> DeleteRecordsResponse {
    let partition = |n: i32| DeletedRecordsPartition {
        partition_index: n,
        low_watermark: (1 << 33) + 8,
        error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    };
    let topic =
        |n: i32| DeletedRecordsTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    DeleteRecordsResponse { throttle_time_ms: 22, topics: vec![topic(0), topic(1)] }
}

pub(super) fn offset_for_leader_epoch_request(v: i16) -> OffsetForLeaderEpochRequest {
    let partition = |n: i32| OffsetForLeaderPartition {
        partition: n,
        current_leader_epoch: carried(v >= 2, 25, -1),
        leader_epoch: 26,
    };
    let topic =
        |n: i32| OffsetForLeaderTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    OffsetForLeaderEpochRequest { replica_id: carried(v >= 3, 29, -2), topics: vec![topic(0), topic(1)] }
}

pub(super) fn offset_for_leader_epoch_response(v: i16) -> OffsetForLeaderEpochResponse {
    let partition = |n: i32| EpochEnd {
        error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        partition: n,
        leader_epoch: carried(v >= 1, 33, -1),
        end_offset: (1 << 33) + 24,
    };
    let topic = |n: i32| EpochEndTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    OffsetForLeaderEpochResponse { throttle_time_ms: carried(v >= 2, 37, 0), topics: vec![topic(0), topic(1)] }
}

pub(super) fn describe_producers_request(_: i16) -> DescribeProducersRequest {
    let topic = |n: i32| DescribeProducersTopic { name: format!("orders-{n}"), partition_indexes: vec![1, 2, 3] };
    DescribeProducersRequest { topics: vec![topic(0), topic(1)] }
}

pub(super) fn describe_producers_response(_: i16) -> DescribeProducersResponse {
    let producer = |_: i32| ProducerState {
        producer_id: (1 << 33) + 32,
        producer_epoch: 43,
        last_sequence: 44,
        last_timestamp: (1 << 33) + 35,
        coordinator_epoch: 46,
        current_txn_start_offset: (1 << 33) + 37,
    };
    let partition = |n: i32| DescribedProducersPartition {
        partition_index: n,
        error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        error_message: carried(n == 0, text("not yours"), None),
        active_producers: vec![producer(0), producer(1)],
    };
    let topic =
        |n: i32| DescribedProducersTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    DescribeProducersResponse { throttle_time_ms: 54, topics: vec![topic(0), topic(1)] }
}

pub(super) fn describe_topic_partitions_request(_: i16) -> DescribeTopicPartitionsRequest {
    let topic = |n: i32| DescribeTopicPartitionsTopic { name: format!("orders-{n}") };
    let cursor = |n: i32| TopicPartitionCursor { topic_name: format!("orders-{n}"), partition_index: n };
    DescribeTopicPartitionsRequest {
        topics: vec![topic(0), topic(1)],
        response_partition_limit: 60,
        cursor: Some(cursor(0)),
    }
}

pub(super) fn describe_topic_partitions_response(_: i16) -> DescribeTopicPartitionsResponse {
    let partition = |n: i32| DescribedPartition {
        error_code: ErrorCode::POLICY_VIOLATION,
        partition_index: n,
        leader_id: n,
        leader_epoch: 65,
        replica_nodes: vec![1, 2, 3],
        isr_nodes: vec![1, 2, 3],
        eligible_leader_replicas: carried(n == 0, Some(vec![1, 2, 3]), None),
        last_known_elr: carried(n == 0, Some(vec![1, 2, 3]), None),
        offline_replicas: vec![1, 2, 3],
    };
    let topic = |n: i32| DescribedTopic {
        error_code: ErrorCode::INVALID_REQUEST,
        name: carried(n == 0, text("orders"), None),
        topic_id: [1; 16],
        is_internal: true,
        partitions: vec![partition(0), partition(1)],
        topic_authorized_operations: 76,
    };
    let cursor = |n: i32| TopicPartitionCursor { topic_name: format!("orders-{n}"), partition_index: n };
    DescribeTopicPartitionsResponse {
        throttle_time_ms: 79,
        topics: vec![topic(0), topic(1)],
        next_cursor: Some(cursor(0)),
    }
}
