//! Versions that kafka-protocol 0.18 does not know, by hand. Layouts: WriteTxnMarkers 0 of Apache Kafka 3.9, the others
//! of 4.4. In front of a compact request stands the byte of no tags that ends its header.

use kmirror_proto::messages::{
    CommittedPartition, CommittedTopic, DeleteGroupsRequest, DeleteGroupsResponse, DeletedGroup, JoinGroupResponse,
    OffsetCommitPartition, OffsetCommitTopic, TxnOffsetCommitRequest, TxnOffsetCommitResponse, WritableTxnMarker,
    WritableTxnMarkerTopic, WriteTxnMarkersRequest, WriteTxnMarkersResponse, WrittenTxnMarker,
    WrittenTxnMarkerPartition, WrittenTxnMarkerTopic,
};
use kmirror_proto::{AnyResponse, ErrorCode, decode_response, encode_response};

use super::{asks, hex, name};
use crate::round_trip::body;

/// `text` is the whole answer with its header; both directions.
fn answers(version: i16, response: impl Into<AnyResponse>, text: &str) {
    let response = response.into();
    let frame = encode_response(1, version, &response).expect("encodes");
    assert_eq!(body(&frame), hex(text), "{} v{version}", response.key());
    assert_eq!(decode_response(response.key(), version, hex(text).into()), Ok((1, response)));
}

#[test]
fn write_txn_markers_0_and_2() {
    let mut marker = WritableTxnMarker {
        producer_id: 4000,
        producer_epoch: 5,
        transaction_result: true,
        topics: vec![WritableTxnMarkerTopic { name: name("t"), partition_indexes: vec![3] }],
        coordinator_epoch: 17,
        transaction_version: 0,
    };
    // 1 marker: producer 4000, epoch 5, commit, 1 topic "t", 1 partition 3, coordinator epoch 17
    let v0 = "00000001 0000000000000fa0 0005 01  00000001 0001 74 00000001 00000003  00000011";
    asks(0, WriteTxnMarkersRequest { markers: vec![marker.clone()] }, v0);
    marker.transaction_version = 2;
    let v2 = "00  02 0000000000000fa0 0005 01  02 02 74 02 00000003 00  00000011 02 00  00";
    asks(2, WriteTxnMarkersRequest { markers: vec![marker] }, v2);

    let partitions = vec![WrittenTxnMarkerPartition { partition_index: 3, error_code: ErrorCode::CORRUPT_MESSAGE }];
    let topics = vec![WrittenTxnMarkerTopic { name: name("t"), partitions }];
    let response = WriteTxnMarkersResponse { markers: vec![WrittenTxnMarker { producer_id: 4000, topics }] };
    let v0 = "00000001  00000001 0000000000000fa0 00000001 0001 74 00000001 00000003 0002";
    answers(0, response.clone(), v0);
    answers(2, response, "00000001 00  02 0000000000000fa0 02 02 74 02 00000003 0002 00 00 00  00");
}

#[test]
fn txn_offset_commit_6() {
    let id = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    let partition = OffsetCommitPartition {
        partition_index: 3,
        committed_offset: 258,
        committed_leader_epoch: 7,
        committed_metadata: None,
    };
    let request = TxnOffsetCommitRequest {
        transactional_id: name("x"),
        group_id: name("g"),
        producer_id: 4000,
        producer_epoch: 5,
        generation_id_or_member_epoch: 12,
        member_id: name("m"),
        group_instance_id: None,
        topics: vec![OffsetCommitTopic { name: String::new(), topic_id: id, partitions: vec![partition] }],
    };
    // "x", "g", producer 4000, epoch 5, generation 12, "m", no instance, 1 topic by its id, 1 partition 3 at 258
    let v6 = "00  02 78 02 67 0000000000000fa0 0005 0000000c 02 6d 00
              02 0102030405060708090a0b0c0d0e0f10  02 00000003 0000000000000102 00000007 00 00  00  00";
    asks(6, request, v6);

    let partitions = vec![CommittedPartition { partition_index: 3, error_code: ErrorCode::UNKNOWN_TOPIC_ID }];
    let topics = vec![CommittedTopic { name: String::new(), topic_id: id, partitions }];
    let v6 = "00000001 00  00000064  02 0102030405060708090a0b0c0d0e0f10 02 00000003 0064 00 00  00";
    answers(6, TxnOffsetCommitResponse { throttle_time_ms: 100, topics }, v6);
}

#[test]
fn delete_groups_3() {
    asks(3, DeleteGroupsRequest { groups_names: vec![name("g")] }, "00  02 02 67 00");
    let deleted = |error_code, error_message| DeletedGroup { group_id: name("g"), error_code, error_message };
    let results = vec![deleted(ErrorCode::NON_EMPTY_GROUP, Some(name("no"))), deleted(ErrorCode::NONE, None)];
    // throttle, 2 results: "g", error, nullable message, no tags
    let v3 = "00000001 00  00000064  03  02 67 0044 03 6e6f 00  02 67 0000 00 00  00";
    answers(3, DeleteGroupsResponse { throttle_time_ms: 100, results }, v3);
}

/// A member without an id is sent away with one: no generation, no protocol, no leader. The protocol is null from v7 on
/// and empty below.
#[test]
fn join_group_sends_away_with_an_id() {
    let mut response =
        JoinGroupResponse { error_code: ErrorCode::MEMBER_ID_REQUIRED, member_id: name("m"), ..Default::default() };
    answers(4, response.clone(), "00000001  00000000 004f ffffffff 0000 0000 0001 6d 00000000");
    response.protocol_name = None;
    answers(7, response.clone(), "00000001 00  00000000 004f ffffffff 00 00 01 02 6d 01  00");
    answers(9, response, "00000001 00  00000000 004f ffffffff 00 00 01 00 02 6d 01  00");
}
