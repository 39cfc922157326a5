//! Our messages about topics and their logs as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{brokers, id_text, maybe, topic};

pub(super) fn delete_topics_request(version: i16, it: &ours::DeleteTopicsRequest) -> theirs::DeleteTopicsRequest {
    let request = theirs::DeleteTopicsRequest::default().with_timeout_ms(it.timeout_ms);
    if version < 6 {
        let names = it.topics.iter().filter_map(|x| x.name.as_deref());
        return request.with_topic_names(names.map(topic).collect());
    }
    let of_topic = |x: &ours::DeletableTopic| {
        theirs::delete_topics_request::DeleteTopicState::default()
            .with_name(x.name.as_deref().map(topic))
            .with_topic_id(id_text(x.topic_id).parse().expect("an id"))
    };
    request.with_topics(it.topics.iter().map(of_topic).collect())
}

pub(super) fn delete_topics_response(it: &ours::DeleteTopicsResponse) -> theirs::DeleteTopicsResponse {
    let of_topic = |x: &ours::DeletedTopic| {
        theirs::delete_topics_response::DeletableTopicResult::default()
            .with_name(x.name.as_deref().map(topic))
            .with_topic_id(id_text(x.topic_id).parse().expect("an id"))
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
    };
    theirs::DeleteTopicsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_responses(it.responses.iter().map(of_topic).collect())
}

pub(super) fn delete_records_request(it: &ours::DeleteRecordsRequest) -> theirs::DeleteRecordsRequest {
    let partition = |x: &ours::DeleteRecordsPartition| {
        theirs::delete_records_request::DeleteRecordsPartition::default()
            .with_partition_index(x.partition_index)
            .with_offset(x.offset)
    };
    let of_topic = |x: &ours::DeleteRecordsTopic| {
        theirs::delete_records_request::DeleteRecordsTopic::default()
            .with_name(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::DeleteRecordsRequest::default()
        .with_topics(it.topics.iter().map(of_topic).collect())
        .with_timeout_ms(it.timeout_ms)
}

pub(super) fn delete_records_response(it: &ours::DeleteRecordsResponse) -> theirs::DeleteRecordsResponse {
    let partition = |x: &ours::DeletedRecordsPartition| {
        theirs::delete_records_response::DeleteRecordsPartitionResult::default()
            .with_partition_index(x.partition_index)
            .with_low_watermark(x.low_watermark)
            .with_error_code(x.error_code.0)
    };
    let of_topic = |x: &ours::DeletedRecordsTopic| {
        theirs::delete_records_response::DeleteRecordsTopicResult::default()
            .with_name(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::DeleteRecordsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(of_topic).collect())
}

pub(super) fn offset_for_leader_epoch_request(
    it: &ours::OffsetForLeaderEpochRequest,
) -> theirs::OffsetForLeaderEpochRequest {
    let partition = |x: &ours::OffsetForLeaderPartition| {
        theirs::offset_for_leader_epoch_request::OffsetForLeaderPartition::default()
            .with_partition(x.partition)
            .with_current_leader_epoch(x.current_leader_epoch)
            .with_leader_epoch(x.leader_epoch)
    };
    let of_topic = |x: &ours::OffsetForLeaderTopic| {
        theirs::offset_for_leader_epoch_request::OffsetForLeaderTopic::default()
            .with_topic(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::OffsetForLeaderEpochRequest::default()
        .with_replica_id(it.replica_id.into())
        .with_topics(it.topics.iter().map(of_topic).collect())
}

pub(super) fn offset_for_leader_epoch_response(
    it: &ours::OffsetForLeaderEpochResponse,
) -> theirs::OffsetForLeaderEpochResponse {
    let partition = |x: &ours::EpochEnd| {
        theirs::offset_for_leader_epoch_response::EpochEndOffset::default()
            .with_error_code(x.error_code.0)
            .with_partition(x.partition)
            .with_leader_epoch(x.leader_epoch)
            .with_end_offset(x.end_offset)
    };
    let of_topic = |x: &ours::EpochEndTopic| {
        theirs::offset_for_leader_epoch_response::OffsetForLeaderTopicResult::default()
            .with_topic(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::OffsetForLeaderEpochResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(of_topic).collect())
}

pub(super) fn describe_producers_request(it: &ours::DescribeProducersRequest) -> theirs::DescribeProducersRequest {
    let of_topic = |x: &ours::DescribeProducersTopic| {
        theirs::describe_producers_request::TopicRequest::default()
            .with_name(topic(&x.name))
            .with_partition_indexes(x.partition_indexes.clone())
    };
    theirs::DescribeProducersRequest::default().with_topics(it.topics.iter().map(of_topic).collect())
}

pub(super) fn describe_producers_response(it: &ours::DescribeProducersResponse) -> theirs::DescribeProducersResponse {
    let producer = |x: &ours::ProducerState| {
        theirs::describe_producers_response::ProducerState::default()
            .with_producer_id(x.producer_id.into())
            .with_producer_epoch(x.producer_epoch)
            .with_last_sequence(x.last_sequence)
            .with_last_timestamp(x.last_timestamp)
            .with_coordinator_epoch(x.coordinator_epoch)
            .with_current_txn_start_offset(x.current_txn_start_offset)
    };
    let partition = |x: &ours::DescribedProducersPartition| {
        theirs::describe_producers_response::PartitionResponse::default()
            .with_partition_index(x.partition_index)
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
            .with_active_producers(x.active_producers.iter().map(producer).collect())
    };
    let of_topic = |x: &ours::DescribedProducersTopic| {
        theirs::describe_producers_response::TopicResponse::default()
            .with_name(topic(&x.name))
            .with_partitions(x.partitions.iter().map(partition).collect())
    };
    theirs::DescribeProducersResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(of_topic).collect())
}

pub(super) fn describe_topic_partitions_request(
    it: &ours::DescribeTopicPartitionsRequest,
) -> theirs::DescribeTopicPartitionsRequest {
    let of_topic = |x: &ours::DescribeTopicPartitionsTopic| {
        theirs::describe_topic_partitions_request::TopicRequest::default().with_name(topic(&x.name))
    };
    let cursor = |x: &ours::TopicPartitionCursor| {
        theirs::describe_topic_partitions_request::Cursor::default()
            .with_topic_name(topic(&x.topic_name))
            .with_partition_index(x.partition_index)
    };
    theirs::DescribeTopicPartitionsRequest::default()
        .with_topics(it.topics.iter().map(of_topic).collect())
        .with_response_partition_limit(it.response_partition_limit)
        .with_cursor(it.cursor.as_ref().map(cursor))
}

pub(super) fn describe_topic_partitions_response(
    it: &ours::DescribeTopicPartitionsResponse,
) -> theirs::DescribeTopicPartitionsResponse {
    let partition = |x: &ours::DescribedPartition| {
        theirs::describe_topic_partitions_response::DescribeTopicPartitionsResponsePartition::default()
            .with_error_code(x.error_code.0)
            .with_partition_index(x.partition_index)
            .with_leader_id(x.leader_id.into())
            .with_leader_epoch(x.leader_epoch)
            .with_replica_nodes(brokers(&x.replica_nodes))
            .with_isr_nodes(brokers(&x.isr_nodes))
            .with_eligible_leader_replicas(x.eligible_leader_replicas.as_deref().map(brokers))
            .with_last_known_elr(x.last_known_elr.as_deref().map(brokers))
            .with_offline_replicas(brokers(&x.offline_replicas))
    };
    let of_topic = |x: &ours::DescribedTopic| {
        theirs::describe_topic_partitions_response::DescribeTopicPartitionsResponseTopic::default()
            .with_error_code(x.error_code.0)
            .with_name(x.name.as_deref().map(topic))
            .with_topic_id(id_text(x.topic_id).parse().expect("an id"))
            .with_is_internal(x.is_internal)
            .with_partitions(x.partitions.iter().map(partition).collect())
            .with_topic_authorized_operations(x.topic_authorized_operations)
    };
    let cursor = |x: &ours::TopicPartitionCursor| {
        theirs::describe_topic_partitions_response::Cursor::default()
            .with_topic_name(topic(&x.topic_name))
            .with_partition_index(x.partition_index)
    };
    theirs::DescribeTopicPartitionsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(of_topic).collect())
        .with_next_cursor(it.next_cursor.as_ref().map(cursor))
}
