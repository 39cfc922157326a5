//! One value of every message about transactions, at every version.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AddOffsetsToTxnRequest, AddOffsetsToTxnResponse, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult, AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction, AddedPartition, AddedTopic,
    CommittedPartition, CommittedTopic, DescribeTransactionsRequest, DescribeTransactionsResponse,
    DescribedTransaction, EndTxnRequest, EndTxnResponse, ListTransactionsRequest, ListTransactionsResponse,
    ListedTransaction, OffsetCommitPartition, OffsetCommitTopic, TransactionTopic, TxnOffsetCommitRequest,
    TxnOffsetCommitResponse, WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest,
    WriteTxnMarkersResponse, WrittenTxnMarker, WrittenTxnMarkerPartition, WrittenTxnMarkerTopic,
};

use super::{carried, text, topic};

pub(super) fn add_partitions_to_txn_request(v: i16) -> AddPartitionsToTxnRequest {
    let topic = |name: &str, partitions: Vec<i32>| AddPartitionsToTxnTopic { name: name.to_owned(), partitions };
    let transaction = |id: &str| AddPartitionsToTxnTransaction {
        transactional_id: id.to_owned(),
        producer_id: 4000,
        producer_epoch: 5,
        verify_only: v >= 4,
        topics: vec![topic("orders", vec![0, 1]), topic("empty", Vec::new())],
    };
    let mut transactions = vec![transaction("tx-1")];
    if v >= 4 {
        transactions.push(transaction("tx-2"));
    }
    AddPartitionsToTxnRequest { transactions }
}

pub(super) fn add_partitions_to_txn_response(v: i16) -> AddPartitionsToTxnResponse {
    let added = |n: i32| AddedPartition { partition_index: n, error_code: ErrorCode::OPERATION_NOT_ATTEMPTED };
    let topic = |name: &str, partitions: Vec<AddedPartition>| AddedTopic { name: name.to_owned(), partitions };
    let result = |id: &str| AddPartitionsToTxnResult {
        transactional_id: carried(v >= 4, id.to_owned(), String::new()),
        topics: vec![topic("orders", vec![added(0), added(1)]), topic("empty", Vec::new())],
    };
    let mut results = vec![result("tx-1")];
    if v >= 4 {
        results.push(result("tx-2"));
    }
    AddPartitionsToTxnResponse {
        throttle_time_ms: 100,
        error_code: carried(v >= 4, ErrorCode::CLUSTER_AUTHORIZATION_FAILED, ErrorCode::NONE),
        results,
    }
}

pub(super) fn add_offsets_to_txn_request(_: i16) -> AddOffsetsToTxnRequest {
    AddOffsetsToTxnRequest {
        transactional_id: "tx".to_owned(),
        producer_id: 4000,
        producer_epoch: 5,
        group_id: "group".to_owned(),
    }
}

pub(super) fn add_offsets_to_txn_response(_: i16) -> AddOffsetsToTxnResponse {
    AddOffsetsToTxnResponse { throttle_time_ms: 100, error_code: ErrorCode::CONCURRENT_TRANSACTIONS }
}

pub(super) fn end_txn_request(_: i16) -> EndTxnRequest {
    EndTxnRequest { transactional_id: "tx".to_owned(), producer_id: 4000, producer_epoch: 5, committed: true }
}

pub(super) fn end_txn_response(v: i16) -> EndTxnResponse {
    EndTxnResponse {
        throttle_time_ms: 100,
        error_code: ErrorCode::INVALID_TXN_STATE,
        producer_id: carried(v >= 5, 4001, -1),
        producer_epoch: carried(v >= 5, 6, -1),
    }
}

pub(super) fn txn_offset_commit_request(v: i16) -> TxnOffsetCommitRequest {
    let partition = |n: i32, metadata: Option<String>| OffsetCommitPartition {
        partition_index: n,
        committed_offset: 99,
        committed_leader_epoch: carried(v >= 2, 8, -1),
        committed_metadata: metadata,
    };
    let (name, topic_id) = topic(v >= 6, "orders", 1);
    TxnOffsetCommitRequest {
        transactional_id: "tx".to_owned(),
        group_id: "group".to_owned(),
        producer_id: 4000,
        producer_epoch: 5,
        generation_id_or_member_epoch: carried(v >= 3, 12, -1),
        member_id: carried(v >= 3, "member".to_owned(), String::new()),
        group_instance_id: carried(v >= 3, text("instance"), None),
        topics: vec![OffsetCommitTopic {
            name,
            topic_id,
            partitions: vec![partition(0, text("note")), partition(1, None)],
        }],
    }
}

pub(super) fn txn_offset_commit_response(v: i16) -> TxnOffsetCommitResponse {
    let committed = |n: i32| CommittedPartition { partition_index: n, error_code: ErrorCode::ILLEGAL_GENERATION };
    let (name, topic_id) = topic(v >= 6, "orders", 1);
    TxnOffsetCommitResponse {
        throttle_time_ms: 100,
        topics: vec![CommittedTopic { name, topic_id, partitions: vec![committed(0), committed(1)] }],
    }
}

pub(super) fn write_txn_markers_request(v: i16) -> WriteTxnMarkersRequest {
    let marker = |producer_id: i64, transaction_result: bool| WritableTxnMarker {
        producer_id,
        producer_epoch: 5,
        transaction_result,
        topics: vec![WritableTxnMarkerTopic { name: "orders".to_owned(), partition_indexes: vec![0, 1] }],
        coordinator_epoch: 17,
        transaction_version: carried(v >= 2, 2, 0),
    };
    WriteTxnMarkersRequest { markers: vec![marker(4000, true), marker(4001, false)] }
}

pub(super) fn write_txn_markers_response(_: i16) -> WriteTxnMarkersResponse {
    let written =
        |n: i32| WrittenTxnMarkerPartition { partition_index: n, error_code: ErrorCode::NOT_LEADER_OR_FOLLOWER };
    let marker = |producer_id: i64| WrittenTxnMarker {
        producer_id,
        topics: vec![WrittenTxnMarkerTopic { name: "orders".to_owned(), partitions: vec![written(0), written(1)] }],
    };
    WriteTxnMarkersResponse { markers: vec![marker(4000), marker(4001)] }
}

pub(super) fn describe_transactions_request(_: i16) -> DescribeTransactionsRequest {
    DescribeTransactionsRequest { transactional_ids: vec!["tx-1".to_owned(), "tx-2".to_owned()] }
}

pub(super) fn describe_transactions_response(_: i16) -> DescribeTransactionsResponse {
    let described = |id: &str, topics: Vec<TransactionTopic>| DescribedTransaction {
        error_code: ErrorCode::TRANSACTIONAL_ID_NOT_FOUND,
        transactional_id: id.to_owned(),
        transaction_state: "Ongoing".to_owned(),
        transaction_timeout_ms: 60_000,
        transaction_start_time_ms: 1_600_000_000_000,
        producer_id: 4000,
        producer_epoch: 5,
        topics,
    };
    let topic = TransactionTopic { topic: "orders".to_owned(), partitions: vec![0, 1] };
    DescribeTransactionsResponse {
        throttle_time_ms: 100,
        transaction_states: vec![described("tx-1", vec![topic]), described("tx-2", Vec::new())],
    }
}

pub(super) fn list_transactions_request(v: i16) -> ListTransactionsRequest {
    ListTransactionsRequest {
        state_filters: vec!["Ongoing".to_owned(), "PrepareCommit".to_owned()],
        producer_id_filters: vec![4000, 4001],
        duration_filter_ms: carried(v >= 1, 60_000, -1),
        transactional_id_pattern: carried(v >= 2, text("tx-.*"), None),
    }
}

pub(super) fn list_transactions_response(_: i16) -> ListTransactionsResponse {
    let listed = |id: &str| ListedTransaction {
        transactional_id: id.to_owned(),
        producer_id: 4000,
        transaction_state: "Ongoing".to_owned(),
    };
    ListTransactionsResponse {
        throttle_time_ms: 100,
        error_code: ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
        unknown_state_filters: vec!["Sleeping".to_owned()],
        transaction_states: vec![listed("tx-1"), listed("tx-2")],
    }
}
