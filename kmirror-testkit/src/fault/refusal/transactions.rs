//! Refusals of what is about producer ids and transactions.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AddOffsetsToTxnResponse, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnResult,
    AddedPartition, AddedTopic, DescribeTransactionsRequest, DescribeTransactionsResponse, DescribedTransaction,
    EndTxnResponse, InitProducerIdResponse, ListTransactionsResponse, WriteTxnMarkersRequest, WriteTxnMarkersResponse,
    WrittenTxnMarker, WrittenTxnMarkerPartition, WrittenTxnMarkerTopic,
};

use super::{all, each};

pub(super) fn init_producer_id(error_code: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse { error_code, producer_id: -1, ..InitProducerIdResponse::default() }
}

pub(super) fn add_partitions(
    request: &AddPartitionsToTxnRequest,
    error_code: ErrorCode,
) -> Option<AddPartitionsToTxnResponse> {
    let results = each(&request.transactions, |transaction| AddPartitionsToTxnResult {
        transactional_id: transaction.transactional_id.clone(),
        topics: all(&transaction.topics, |topic| AddedTopic {
            name: topic.name.clone(),
            partitions: all(&topic.partitions, |index| AddedPartition { partition_index: *index, error_code }),
        }),
    })?;
    Some(AddPartitionsToTxnResponse { results, ..AddPartitionsToTxnResponse::default() })
}

pub(super) fn add_offsets(error_code: ErrorCode) -> AddOffsetsToTxnResponse {
    AddOffsetsToTxnResponse { error_code, ..AddOffsetsToTxnResponse::default() }
}

pub(super) fn end(error_code: ErrorCode) -> EndTxnResponse {
    EndTxnResponse { error_code, ..EndTxnResponse::default() }
}

pub(super) fn write_markers(
    request: &WriteTxnMarkersRequest,
    error_code: ErrorCode,
) -> Option<WriteTxnMarkersResponse> {
    let markers = each(&request.markers, |marker| WrittenTxnMarker {
        producer_id: marker.producer_id,
        topics: all(&marker.topics, |topic| WrittenTxnMarkerTopic {
            name: topic.name.clone(),
            partitions: all(&topic.partition_indexes, |index| WrittenTxnMarkerPartition {
                partition_index: *index,
                error_code,
            }),
        }),
    })?;
    Some(WriteTxnMarkersResponse { markers })
}

pub(super) fn describe(
    request: &DescribeTransactionsRequest,
    error_code: ErrorCode,
) -> Option<DescribeTransactionsResponse> {
    let transaction_states = each(&request.transactional_ids, |id| DescribedTransaction {
        error_code,
        transactional_id: id.clone(),
        ..DescribedTransaction::default()
    })?;
    Some(DescribeTransactionsResponse { transaction_states, ..DescribeTransactionsResponse::default() })
}

pub(super) fn list(error_code: ErrorCode) -> ListTransactionsResponse {
    ListTransactionsResponse { error_code, ..ListTransactionsResponse::default() }
}
