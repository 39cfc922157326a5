//! Our messages about cluster as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{brokers, maybe, text, topic};

pub(super) fn describe_cluster_request(it: &ours::DescribeClusterRequest) -> theirs::DescribeClusterRequest {
    theirs::DescribeClusterRequest::default()
        .with_include_cluster_authorized_operations(it.include_cluster_authorized_operations)
        .with_endpoint_type(it.endpoint_type)
        .with_include_fenced_brokers(it.include_fenced_brokers)
}

pub(super) fn describe_cluster_response(it: &ours::DescribeClusterResponse) -> theirs::DescribeClusterResponse {
    let broker = |x: &ours::DescribedBroker| {
        theirs::describe_cluster_response::DescribeClusterBroker::default()
            .with_broker_id(x.broker_id.into())
            .with_host(text(&x.host))
            .with_port(x.port)
            .with_rack(maybe(x.rack.as_ref()))
            .with_is_fenced(x.is_fenced)
    };
    theirs::DescribeClusterResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_error_message(maybe(it.error_message.as_ref()))
        .with_endpoint_type(it.endpoint_type)
        .with_cluster_id(text(&it.cluster_id))
        .with_controller_id(it.controller_id.into())
        .with_brokers(it.brokers.iter().map(broker).collect())
        .with_cluster_authorized_operations(it.cluster_authorized_operations)
}

pub(super) fn elect_leaders_request(it: &ours::ElectLeadersRequest) -> theirs::ElectLeadersRequest {
    let of_topic = |x: &ours::ElectLeadersTopic| {
        theirs::elect_leaders_request::TopicPartitions::default()
            .with_topic(topic(&x.name))
            .with_partitions(x.partitions.clone())
    };
    theirs::ElectLeadersRequest::default()
        .with_election_type(it.election_type)
        .with_topic_partitions(it.topic_partitions.as_ref().map(|all| all.iter().map(of_topic).collect()))
        .with_timeout_ms(it.timeout_ms)
}

pub(super) fn elect_leaders_response(it: &ours::ElectLeadersResponse) -> theirs::ElectLeadersResponse {
    let partition = |x: &ours::ElectedPartition| {
        theirs::elect_leaders_response::PartitionResult::default()
            .with_partition_id(x.partition_index)
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
    };
    let result = |x: &ours::ElectedTopic| {
        theirs::elect_leaders_response::ReplicaElectionResult::default()
            .with_topic(topic(&x.name))
            .with_partition_result(x.partitions.iter().map(partition).collect())
    };
    theirs::ElectLeadersResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_replica_election_results(it.replica_election_results.iter().map(result).collect())
}

pub(super) fn describe_log_dirs_request(it: &ours::DescribeLogDirsRequest) -> theirs::DescribeLogDirsRequest {
    let of_topic = |x: &ours::DescribeLogDirsTopic| {
        theirs::describe_log_dirs_request::DescribableLogDirTopic::default()
            .with_topic(topic(&x.name))
            .with_partitions(x.partitions.clone())
    };
    theirs::DescribeLogDirsRequest::default()
        .with_topics(it.topics.as_ref().map(|all| all.iter().map(of_topic).collect()))
}

pub(super) fn describe_log_dirs_response(it: &ours::DescribeLogDirsResponse) -> theirs::DescribeLogDirsResponse {
    let partition = |x: &ours::DescribedLogDirPartition| {
        theirs::describe_log_dirs_response::DescribeLogDirsPartition::default()
            .with_partition_index(x.partition_index)
            .with_partition_size(x.partition_size)
            .with_offset_lag(x.offset_lag)
            .with_is_future_key(x.is_future_key)
    };
    let of_topic = |x: &ours::DescribedLogDirTopic| {
        theirs::describe_log_dirs_response::DescribeLogDirsTopic::default()
            .with_name(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    let result = |x: &ours::DescribedLogDir| {
        theirs::describe_log_dirs_response::DescribeLogDirsResult::default()
            .with_error_code(x.error_code.0)
            .with_log_dir(text(&x.log_dir))
            .with_topics(x.topics.iter().map(of_topic).collect())
            .with_total_bytes(x.total_bytes)
            .with_usable_bytes(x.usable_bytes)
    };
    theirs::DescribeLogDirsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_results(it.results.iter().map(result).collect())
}

pub(super) fn alter_partition_reassignments_request(
    it: &ours::AlterPartitionReassignmentsRequest,
) -> theirs::AlterPartitionReassignmentsRequest {
    let partition = |x: &ours::ReassignablePartition| {
        theirs::alter_partition_reassignments_request::ReassignablePartition::default()
            .with_partition_index(x.partition_index)
            .with_replicas(x.replicas.as_deref().map(brokers))
    };
    let of_topic = |x: &ours::ReassignableTopic| {
        theirs::alter_partition_reassignments_request::ReassignableTopic::default()
            .with_name(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::AlterPartitionReassignmentsRequest::default()
        .with_timeout_ms(it.timeout_ms)
        .with_allow_replication_factor_change(it.allow_replication_factor_change)
        .with_topics(it.topics.iter().map(of_topic).collect())
}

pub(super) fn alter_partition_reassignments_response(
    it: &ours::AlterPartitionReassignmentsResponse,
) -> theirs::AlterPartitionReassignmentsResponse {
    let partition = |x: &ours::ReassignedPartition| {
        theirs::alter_partition_reassignments_response::ReassignablePartitionResponse::default()
            .with_partition_index(x.partition_index)
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
    };
    let response = |x: &ours::ReassignedTopic| {
        theirs::alter_partition_reassignments_response::ReassignableTopicResponse::default()
            .with_name(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::AlterPartitionReassignmentsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_allow_replication_factor_change(it.allow_replication_factor_change)
        .with_error_code(it.error_code.0)
        .with_error_message(maybe(it.error_message.as_ref()))
        .with_responses(it.responses.iter().map(response).collect())
}

pub(super) fn list_partition_reassignments_request(
    it: &ours::ListPartitionReassignmentsRequest,
) -> theirs::ListPartitionReassignmentsRequest {
    let of_topic = |x: &ours::ListPartitionReassignmentsTopic| {
        theirs::list_partition_reassignments_request::ListPartitionReassignmentsTopics::default()
            .with_name(topic(&x.name))
            .with_partition_indexes(x.partition_indexes.clone())
    };
    theirs::ListPartitionReassignmentsRequest::default()
        .with_timeout_ms(it.timeout_ms)
        .with_topics(it.topics.as_ref().map(|all| all.iter().map(of_topic).collect()))
}

pub(super) fn list_partition_reassignments_response(
    it: &ours::ListPartitionReassignmentsResponse,
) -> theirs::ListPartitionReassignmentsResponse {
    let partition = |x: &ours::OngoingPartitionReassignment| {
        theirs::list_partition_reassignments_response::OngoingPartitionReassignment::default()
            .with_partition_index(x.partition_index)
            .with_replicas(brokers(&x.replicas))
            .with_adding_replicas(brokers(&x.adding_replicas))
            .with_removing_replicas(brokers(&x.removing_replicas))
    };
    let of_topic = |x: &ours::OngoingTopicReassignment| {
        theirs::list_partition_reassignments_response::OngoingTopicReassignment::default()
            .with_name(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::ListPartitionReassignmentsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_error_message(maybe(it.error_message.as_ref()))
        .with_topics(it.topics.iter().map(of_topic).collect())
}
