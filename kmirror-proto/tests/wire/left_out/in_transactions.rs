//! The same of messages about transactions.

use kmirror_proto::messages::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnTransaction, EndTxnResponse,
    ListTransactionsRequest, OffsetCommitTopic, TxnOffsetCommitRequest,
};
use kmirror_proto::{AnyResponse, EncodeError, encode_response};

use super::refused;

/// Below v4 there is room for the outcomes of one transaction.
pub(super) fn keep_one(version: i16, response: &mut AnyResponse) {
    if let AnyResponse::AddPartitionsToTxn(added) = response
        && version < 4
    {
        added.results.truncate(1);
    }
}

#[test]
fn one_transaction_at_a_time_grows_below_v4() {
    let transaction = AddPartitionsToTxnTransaction::default();
    for transactions in [Vec::new(), vec![transaction.clone(); 2]] {
        refused(3, AddPartitionsToTxnRequest { transactions }, "another number of transactions would grow");
    }
    let verify = AddPartitionsToTxnTransaction { verify_only: true, ..transaction };
    refused(3, AddPartitionsToTxnRequest { transactions: vec![verify] }, "the partitions would be added");

    let error = encode_response(1, 3, &AddPartitionsToTxnResponse::default().into()).expect_err("no outcome");
    assert_eq!(error, EncodeError::NotInVersion { what: "transactions other than one", version: 3 });
}

#[test]
fn positions_are_never_committed_for_another_member_or_topic() {
    let generation = TxnOffsetCommitRequest { generation_id_or_member_epoch: 3, ..Default::default() };
    refused(2, generation, "a member of an old generation would not be fenced");
    let member = TxnOffsetCommitRequest { member_id: "m".to_owned(), ..Default::default() };
    refused(2, member, "a member that is gone would not be fenced");
    let fenced = TxnOffsetCommitRequest { group_instance_id: Some("i".to_owned()), ..Default::default() };
    refused(2, fenced, "the static member would not be fenced");
    let request = |topic: OffsetCommitTopic| TxnOffsetCommitRequest { topics: vec![topic], ..Default::default() };
    refused(6, request(OffsetCommitTopic { name: "t".to_owned(), ..Default::default() }), "there is no id to send");
    refused(5, request(OffsetCommitTopic { topic_id: [1; 16], ..Default::default() }), "there is no name to send");
}

#[test]
fn a_list_of_transactions_is_never_of_others() {
    let long = ListTransactionsRequest { duration_filter_ms: 0, ..Default::default() };
    refused(0, long, "transactions of any age would be listed");
    let named = ListTransactionsRequest { transactional_id_pattern: Some("a.*".to_owned()), ..Default::default() };
    refused(1, named, "transactions of any name would be listed");
}

#[test]
fn defaults_are_those_of_kafka() {
    let ended = EndTxnResponse::default();
    assert_eq!((ended.producer_id, ended.producer_epoch), (-1, -1));
    assert_eq!(TxnOffsetCommitRequest::default().generation_id_or_member_epoch, -1);
    assert_eq!(ListTransactionsRequest::default().duration_filter_ms, -1);
}
