//! Our messages about transactions as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{maybe, text, topic};

fn transactional_id(id: &str) -> theirs::TransactionalId {
    text(id).into()
}

pub(super) fn add_partitions_to_txn_request(
    version: i16,
    it: &ours::AddPartitionsToTxnRequest,
) -> theirs::AddPartitionsToTxnRequest {
    use theirs::add_partitions_to_txn_request::{AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction};

    let topics = |topics: &[ours::AddPartitionsToTxnTopic]| {
        let one = |t: &ours::AddPartitionsToTxnTopic| {
            AddPartitionsToTxnTopic::default().with_name(topic(&t.name)).with_partitions(t.partitions.clone())
        };
        topics.iter().map(one).collect::<Vec<_>>()
    };
    let transaction = |t: &ours::AddPartitionsToTxnTransaction| {
        AddPartitionsToTxnTransaction::default()
            .with_transactional_id(transactional_id(&t.transactional_id))
            .with_producer_id(t.producer_id.into())
            .with_producer_epoch(t.producer_epoch)
            .with_verify_only(t.verify_only)
            .with_topics(topics(&t.topics))
    };
    let request = theirs::AddPartitionsToTxnRequest::default();
    if version >= 4 {
        return request.with_transactions(it.transactions.iter().map(transaction).collect());
    }
    let only = &it.transactions[0];
    request
        .with_v3_and_below_transactional_id(transactional_id(&only.transactional_id))
        .with_v3_and_below_producer_id(only.producer_id.into())
        .with_v3_and_below_producer_epoch(only.producer_epoch)
        .with_v3_and_below_topics(topics(&only.topics))
}

pub(super) fn add_partitions_to_txn_response(
    version: i16,
    it: &ours::AddPartitionsToTxnResponse,
) -> theirs::AddPartitionsToTxnResponse {
    use theirs::add_partitions_to_txn_response::{
        AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResult, AddPartitionsToTxnTopicResult,
    };

    let partition = |p: &ours::AddedPartition| {
        AddPartitionsToTxnPartitionResult::default()
            .with_partition_index(p.partition_index)
            .with_partition_error_code(p.error_code.0)
    };
    let topics = |topics: &[ours::AddedTopic]| {
        let one = |t: &ours::AddedTopic| {
            AddPartitionsToTxnTopicResult::default()
                .with_name(topic(&t.name))
                .with_results_by_partition(t.partitions.iter().map(partition).collect())
        };
        topics.iter().map(one).collect::<Vec<_>>()
    };
    let result = |r: &ours::AddPartitionsToTxnResult| {
        AddPartitionsToTxnResult::default()
            .with_transactional_id(transactional_id(&r.transactional_id))
            .with_topic_results(topics(&r.topics))
    };
    let response = theirs::AddPartitionsToTxnResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0);
    if version >= 4 {
        response.with_results_by_transaction(it.results.iter().map(result).collect())
    } else {
        response.with_results_by_topic_v3_and_below(topics(&it.results[0].topics))
    }
}

pub(super) fn add_offsets_to_txn_request(it: &ours::AddOffsetsToTxnRequest) -> theirs::AddOffsetsToTxnRequest {
    theirs::AddOffsetsToTxnRequest::default()
        .with_transactional_id(transactional_id(&it.transactional_id))
        .with_producer_id(it.producer_id.into())
        .with_producer_epoch(it.producer_epoch)
        .with_group_id(text(&it.group_id).into())
}

pub(super) fn add_offsets_to_txn_response(it: &ours::AddOffsetsToTxnResponse) -> theirs::AddOffsetsToTxnResponse {
    theirs::AddOffsetsToTxnResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
}

pub(super) fn end_txn_request(it: &ours::EndTxnRequest) -> theirs::EndTxnRequest {
    theirs::EndTxnRequest::default()
        .with_transactional_id(transactional_id(&it.transactional_id))
        .with_producer_id(it.producer_id.into())
        .with_producer_epoch(it.producer_epoch)
        .with_committed(it.committed)
}

pub(super) fn end_txn_response(it: &ours::EndTxnResponse) -> theirs::EndTxnResponse {
    theirs::EndTxnResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_producer_id(it.producer_id.into())
        .with_producer_epoch(it.producer_epoch)
}

/// They do not know v6 and its topic ids.
pub(super) fn txn_offset_commit_request(it: &ours::TxnOffsetCommitRequest) -> theirs::TxnOffsetCommitRequest {
    let partition = |p: &ours::OffsetCommitPartition| {
        theirs::txn_offset_commit_request::TxnOffsetCommitRequestPartition::default()
            .with_partition_index(p.partition_index)
            .with_committed_offset(p.committed_offset)
            .with_committed_leader_epoch(p.committed_leader_epoch)
            .with_committed_metadata(maybe(p.committed_metadata.as_ref()))
    };
    let committed = |t: &ours::OffsetCommitTopic| {
        theirs::txn_offset_commit_request::TxnOffsetCommitRequestTopic::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::TxnOffsetCommitRequest::default()
        .with_transactional_id(transactional_id(&it.transactional_id))
        .with_group_id(text(&it.group_id).into())
        .with_producer_id(it.producer_id.into())
        .with_producer_epoch(it.producer_epoch)
        .with_generation_id(it.generation_id_or_member_epoch)
        .with_member_id(text(&it.member_id))
        .with_group_instance_id(maybe(it.group_instance_id.as_ref()))
        .with_topics(it.topics.iter().map(committed).collect())
}

pub(super) fn txn_offset_commit_response(it: &ours::TxnOffsetCommitResponse) -> theirs::TxnOffsetCommitResponse {
    let partition = |p: &ours::CommittedPartition| {
        theirs::txn_offset_commit_response::TxnOffsetCommitResponsePartition::default()
            .with_partition_index(p.partition_index)
            .with_error_code(p.error_code.0)
    };
    let committed = |t: &ours::CommittedTopic| {
        theirs::txn_offset_commit_response::TxnOffsetCommitResponseTopic::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::TxnOffsetCommitResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(committed).collect())
}

/// They do not know v2 and its transaction version.
pub(super) fn write_txn_markers_request(it: &ours::WriteTxnMarkersRequest) -> theirs::WriteTxnMarkersRequest {
    let marked = |t: &ours::WritableTxnMarkerTopic| {
        theirs::write_txn_markers_request::WritableTxnMarkerTopic::default()
            .with_name(topic(&t.name))
            .with_partition_indexes(t.partition_indexes.clone())
    };
    let marker = |m: &ours::WritableTxnMarker| {
        theirs::write_txn_markers_request::WritableTxnMarker::default()
            .with_producer_id(m.producer_id.into())
            .with_producer_epoch(m.producer_epoch)
            .with_transaction_result(m.transaction_result)
            .with_topics(m.topics.iter().map(marked).collect())
            .with_coordinator_epoch(m.coordinator_epoch)
    };
    theirs::WriteTxnMarkersRequest::default().with_markers(it.markers.iter().map(marker).collect())
}

pub(super) fn write_txn_markers_response(it: &ours::WriteTxnMarkersResponse) -> theirs::WriteTxnMarkersResponse {
    let partition = |p: &ours::WrittenTxnMarkerPartition| {
        theirs::write_txn_markers_response::WritableTxnMarkerPartitionResult::default()
            .with_partition_index(p.partition_index)
            .with_error_code(p.error_code.0)
    };
    let written = |t: &ours::WrittenTxnMarkerTopic| {
        theirs::write_txn_markers_response::WritableTxnMarkerTopicResult::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    let marker = |m: &ours::WrittenTxnMarker| {
        theirs::write_txn_markers_response::WritableTxnMarkerResult::default()
            .with_producer_id(m.producer_id.into())
            .with_topics(m.topics.iter().map(written).collect())
    };
    theirs::WriteTxnMarkersResponse::default().with_markers(it.markers.iter().map(marker).collect())
}

pub(super) fn describe_transactions_request(
    it: &ours::DescribeTransactionsRequest,
) -> theirs::DescribeTransactionsRequest {
    theirs::DescribeTransactionsRequest::default()
        .with_transactional_ids(it.transactional_ids.iter().map(|id| transactional_id(id)).collect())
}

pub(super) fn describe_transactions_response(
    it: &ours::DescribeTransactionsResponse,
) -> theirs::DescribeTransactionsResponse {
    let partitions = |t: &ours::TransactionTopic| {
        theirs::describe_transactions_response::TopicData::default()
            .with_topic(topic(&t.topic))
            .with_partitions(t.partitions.clone())
    };
    let described = |t: &ours::DescribedTransaction| {
        theirs::describe_transactions_response::TransactionState::default()
            .with_error_code(t.error_code.0)
            .with_transactional_id(transactional_id(&t.transactional_id))
            .with_transaction_state(text(&t.transaction_state))
            .with_transaction_timeout_ms(t.transaction_timeout_ms)
            .with_transaction_start_time_ms(t.transaction_start_time_ms)
            .with_producer_id(t.producer_id.into())
            .with_producer_epoch(t.producer_epoch)
            .with_topics(t.topics.iter().map(partitions).collect())
    };
    theirs::DescribeTransactionsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_transaction_states(it.transaction_states.iter().map(described).collect())
}

pub(super) fn list_transactions_request(it: &ours::ListTransactionsRequest) -> theirs::ListTransactionsRequest {
    theirs::ListTransactionsRequest::default()
        .with_state_filters(it.state_filters.iter().map(|state| text(state)).collect())
        .with_producer_id_filters(it.producer_id_filters.iter().map(|&id| id.into()).collect())
        .with_duration_filter(it.duration_filter_ms)
        .with_transactional_id_pattern(maybe(it.transactional_id_pattern.as_ref()))
}

pub(super) fn list_transactions_response(it: &ours::ListTransactionsResponse) -> theirs::ListTransactionsResponse {
    let listed = |t: &ours::ListedTransaction| {
        theirs::list_transactions_response::TransactionState::default()
            .with_transactional_id(transactional_id(&t.transactional_id))
            .with_producer_id(t.producer_id.into())
            .with_transaction_state(text(&t.transaction_state))
    };
    theirs::ListTransactionsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_unknown_state_filters(it.unknown_state_filters.iter().map(|state| text(state)).collect())
        .with_transaction_states(it.transaction_states.iter().map(listed).collect())
}
