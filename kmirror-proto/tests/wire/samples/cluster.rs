//! One value of every message about cluster, at every version.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, DescribeClusterRequest,
    DescribeClusterResponse, DescribeLogDirsRequest, DescribeLogDirsResponse, DescribeLogDirsTopic, DescribedBroker,
    DescribedLogDir, DescribedLogDirPartition, DescribedLogDirTopic, ElectLeadersRequest, ElectLeadersResponse,
    ElectLeadersTopic, ElectedPartition, ElectedTopic, ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse, ListPartitionReassignmentsTopic, OngoingPartitionReassignment,
    OngoingTopicReassignment, ReassignablePartition, ReassignableTopic, ReassignedPartition, ReassignedTopic,
};

use super::{carried, text};

pub(super) fn describe_cluster_request(v: i16) -> DescribeClusterRequest {
    DescribeClusterRequest {
        include_cluster_authorized_operations: true,
        endpoint_type: carried(v >= 1, 3, 1),
        include_fenced_brokers: v >= 2,
    }
}

pub(super) fn describe_cluster_response(v: i16) -> DescribeClusterResponse {
    let broker = |n: i32| DescribedBroker {
        broker_id: n,
        host: format!("broker.example-{n}"),
        port: 40,
        rack: carried(n == 0, text("rack-a"), None),
        is_fenced: v >= 2,
    };
    DescribeClusterResponse {
        throttle_time_ms: 43,
        error_code: ErrorCode::TOPIC_AUTHORIZATION_FAILED,
        error_message: text("not yours"),
        endpoint_type: carried(v >= 1, 6, 1),
        cluster_id: "cluster".to_owned(),
        controller_id: 48,
        brokers: vec![broker(0), broker(1)],
        cluster_authorized_operations: 50,
    }
}

pub(super) fn elect_leaders_request(v: i16) -> ElectLeadersRequest {
    let partition = |n: i32| ElectLeadersTopic { name: format!("orders-{n}"), partitions: vec![1, 2, 3] };
    ElectLeadersRequest {
        election_type: carried(v >= 1, 6, 0),
        topic_partitions: Some(vec![partition(0), partition(1)]),
        timeout_ms: 55,
    }
}

pub(super) fn elect_leaders_response(v: i16) -> ElectLeadersResponse {
    let partition = |n: i32| ElectedPartition {
        partition_index: n,
        error_code: ErrorCode::INVALID_REQUEST,
        error_message: carried(n == 0, text("not yours"), None),
    };
    let result = |n: i32| ElectedTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    ElectLeadersResponse {
        throttle_time_ms: 61,
        error_code: carried(v >= 1, ErrorCode::TOPIC_AUTHORIZATION_FAILED, ErrorCode::NONE),
        replica_election_results: vec![result(0), result(1)],
    }
}

pub(super) fn describe_log_dirs_request(_: i16) -> DescribeLogDirsRequest {
    let topic = |n: i32| DescribeLogDirsTopic { name: format!("orders-{n}"), partitions: vec![1, 2, 3] };
    DescribeLogDirsRequest { topics: Some(vec![topic(0), topic(1)]) }
}

pub(super) fn describe_log_dirs_response(v: i16) -> DescribeLogDirsResponse {
    let partition = |n: i32| DescribedLogDirPartition {
        partition_index: n,
        partition_size: (1 << 33) + 48,
        offset_lag: (1 << 33) + 49,
        is_future_key: true,
    };
    let topic =
        |n: i32| DescribedLogDirTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    let result = |n: i32| DescribedLogDir {
        error_code: ErrorCode::INVALID_CONFIG,
        log_dir: format!("/var/kafka-{n}"),
        topics: vec![topic(0), topic(1)],
        total_bytes: carried(v >= 4, (1 << 33) + 56, -1),
        usable_bytes: carried(v >= 4, (1 << 33) + 57, -1),
        is_cordoned: v >= 5,
    };
    DescribeLogDirsResponse {
        throttle_time_ms: 79,
        error_code: carried(v >= 3, ErrorCode::TOPIC_AUTHORIZATION_FAILED, ErrorCode::NONE),
        results: vec![result(0), result(1)],
    }
}

pub(super) fn alter_partition_reassignments_request(v: i16) -> AlterPartitionReassignmentsRequest {
    let partition =
        |n: i32| ReassignablePartition { partition_index: n, replicas: carried(n == 0, Some(vec![1, 2, 3]), None) };
    let topic =
        |n: i32| ReassignableTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    AlterPartitionReassignmentsRequest {
        timeout_ms: 86,
        allow_replication_factor_change: v < 1,
        topics: vec![topic(0), topic(1)],
    }
}

pub(super) fn alter_partition_reassignments_response(v: i16) -> AlterPartitionReassignmentsResponse {
    let partition = |n: i32| ReassignedPartition {
        partition_index: n,
        error_code: ErrorCode::POLICY_VIOLATION,
        error_message: carried(n == 0, text("not yours"), None),
    };
    let response =
        |n: i32| ReassignedTopic { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    AlterPartitionReassignmentsResponse {
        throttle_time_ms: 14,
        allow_replication_factor_change: v < 1,
        error_code: ErrorCode::POLICY_VIOLATION,
        error_message: text("not yours"),
        responses: vec![response(0), response(1)],
    }
}

pub(super) fn list_partition_reassignments_request(_: i16) -> ListPartitionReassignmentsRequest {
    let topic =
        |n: i32| ListPartitionReassignmentsTopic { name: format!("orders-{n}"), partition_indexes: vec![1, 2, 3] };
    ListPartitionReassignmentsRequest { timeout_ms: 21, topics: Some(vec![topic(0), topic(1)]) }
}

pub(super) fn list_partition_reassignments_response(_: i16) -> ListPartitionReassignmentsResponse {
    let partition = |n: i32| OngoingPartitionReassignment {
        partition_index: n,
        replicas: vec![1, 2, 3],
        adding_replicas: vec![1, 2, 3],
        removing_replicas: vec![1, 2, 3],
    };
    let topic =
        |n: i32| OngoingTopicReassignment { name: format!("orders-{n}"), partitions: vec![partition(0), partition(1)] };
    ListPartitionReassignmentsResponse {
        throttle_time_ms: 29,
        error_code: ErrorCode::TOPIC_AUTHORIZATION_FAILED,
        error_message: text("not yours"),
        topics: vec![topic(0), topic(1)],
    }
}
