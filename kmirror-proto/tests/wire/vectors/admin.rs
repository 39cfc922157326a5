//! The versions of DeleteTopics, OffsetForLeaderEpoch, DescribeLogDirs and the access control lists that the judge does
//! not know: those that 4.0 dropped, and one that is newer than it.

use kmirror_proto::messages::{
    AclCreation, AclEntry, AclFilter, AclPattern, CreateAclsRequest, DeletableTopic, DeleteAclsRequest,
    DeleteTopicsRequest, DeletedAcl, DeletedTopic, DescribeAclsRequest, DescribeLogDirsRequest, DescribeLogDirsTopic,
    DescribedLogDir, DescribedLogDirPartition, EpochEnd, OffsetForLeaderEpochRequest, OffsetForLeaderPartition,
    OffsetForLeaderTopic,
};
use kmirror_proto::{AnyResponse, ApiKey, ErrorCode, encode_response};

use super::{answer, asks, hex, name};
use crate::round_trip::body;

/// Reads an answer, and checks that a broker's side writes the same bytes.
fn answers(key: ApiKey, version: i16, text: &str) -> AnyResponse {
    let response = answer(key, version, text);
    let frame = encode_response(1, version, &response).expect("encodes");
    assert_eq!(body(&frame), hex(text), "{key} v{version}");
    response
}

#[test]
fn delete_topics_0() {
    let topic = |text: &str| DeletableTopic { name: Some(name(text)), topic_id: [0; 16] };
    let request = DeleteTopicsRequest { topics: vec![topic("t"), topic("u")], timeout_ms: 1000 };
    asks(0, request, "00000002 0001 74 0001 75 000003e8");
    let AnyResponse::DeleteTopics(response) =
        answers(ApiKey::DELETE_TOPICS, 0, "00000001 00000002 0001 74 0000 0001 75 0029")
    else {
        panic!("delete")
    };
    let gone = DeletedTopic { name: Some(name("t")), ..Default::default() };
    let stays = DeletedTopic { name: Some(name("u")), error_code: ErrorCode::NOT_CONTROLLER, ..Default::default() };
    assert_eq!(response.responses, [gone, stays]);
}

#[test]
fn offset_for_leader_epoch_0_and_1() {
    let partition = OffsetForLeaderPartition { partition: 3, current_leader_epoch: -1, leader_epoch: 5 };
    let topics = vec![OffsetForLeaderTopic { name: name("t"), partitions: vec![partition] }];
    let request = OffsetForLeaderEpochRequest { topics, ..Default::default() };
    for version in [0, 1] {
        asks(version, request.clone(), "00000001 0001 74 00000001 00000003 00000005");
    }
    // v0: error 0, partition 3, end offset 258; v1: the epoch before the offset
    for (version, epoch, leader_epoch) in [(0, "", -1), (1, "00000004", 4)] {
        let text = format!("00000001 00000001 0001 74 00000001 0000 00000003 {epoch} 0000000000000102");
        let AnyResponse::OffsetForLeaderEpoch(response) = answers(ApiKey::OFFSET_FOR_LEADER_EPOCH, version, &text)
        else {
            panic!("epochs")
        };
        let end = EpochEnd { error_code: ErrorCode::NONE, partition: 3, leader_epoch, end_offset: 258 };
        assert_eq!(response.topics[0].partitions, [end]);
    }
}

/// v0: no byte says how names are compared.
#[test]
fn acls_0() {
    let entry = AclEntry { principal: name("U:a"), host: name("*"), operation: 3, permission_type: 3 };
    let pattern = AclPattern { resource_type: 2, resource_name: name("t"), pattern_type: AclPattern::LITERAL };
    let filter = AclFilter {
        resource_type: 2,
        resource_name: Some(name("t")),
        principal: None,
        host: None,
        operation: 1,
        permission_type: 1,
        ..Default::default()
    };
    let filter_hex = "02 0001 74 ffff ffff 01 01";
    let (pattern_hex, entry_hex) = ("02 0001 74", "0003 553a61 0001 2a 03 03");
    asks(0, DescribeAclsRequest { filter: filter.clone() }, filter_hex);
    asks(0, DeleteAclsRequest { filters: vec![filter] }, &format!("00000001 {filter_hex}"));
    let creations = vec![AclCreation { pattern: pattern.clone(), entry: entry.clone() }];
    asks(0, CreateAclsRequest { creations }, &format!("00000001 {pattern_hex} {entry_hex}"));

    // throttle 100, error 0, null message, 1 resource with 1 entry
    let text = format!("00000001 00000064 0000 ffff 00000001 {pattern_hex} 00000001 {entry_hex}");
    let AnyResponse::DescribeAcls(response) = answers(ApiKey::DESCRIBE_ACLS, 0, &text) else { panic!("describe") };
    assert_eq!((&response.resources[0].pattern, &response.resources[0].acls[0]), (&pattern, &entry));
    let AnyResponse::CreateAcls(response) =
        answers(ApiKey::CREATE_ACLS, 0, "00000001 00000064 00000001 0036 0002 6e6f")
    else {
        panic!("create")
    };
    assert_eq!(response.results[0].error_code, ErrorCode::SECURITY_DISABLED);
    let text = format!("00000001 00000064 00000001 0000 ffff 00000001 0000 ffff {pattern_hex} {entry_hex}");
    let AnyResponse::DeleteAcls(response) = answers(ApiKey::DELETE_ACLS, 0, &text) else { panic!("delete") };
    let deleted = DeletedAcl { pattern, entry, ..Default::default() };
    assert_eq!(response.filter_results[0].matching_acls, [deleted]);
}

#[test]
fn describe_log_dirs_0_and_5() {
    let topics = Some(vec![DescribeLogDirsTopic { name: name("t"), partitions: vec![3] }]);
    asks(0, DescribeLogDirsRequest { topics }, "00000001 0001 74 00000001 00000003");
    asks(0, DescribeLogDirsRequest { topics: None }, "ffffffff");

    // throttle 100, 1 folder "/d" without an error, topic "t", partition 3: 258 bytes, lag 0, not a future log
    let text = "00000001 00000064 00000001 0000 0002 2f64 00000001 0001 74
                00000001 00000003 0000000000000102 0000000000000000 00";
    let AnyResponse::DescribeLogDirs(response) = answers(ApiKey::DESCRIBE_LOG_DIRS, 0, text) else { panic!("dirs") };
    let partition = DescribedLogDirPartition { partition_index: 3, partition_size: 258, ..Default::default() };
    assert_eq!(response.results[0].topics[0].partitions, [partition]);
    assert_eq!((response.results[0].total_bytes, response.results[0].usable_bytes), (-1, -1));

    // v5: error 0 behind the throttle; no topics, 16 bytes in all, 8 left, cordoned
    let text = "00000001 00 00000064 0000 02 0000 03 2f64 01 0000000000000010 0000000000000008 01 00 00";
    let AnyResponse::DescribeLogDirs(response) = answers(ApiKey::DESCRIBE_LOG_DIRS, 5, text) else { panic!("dirs") };
    let dir = DescribedLogDir {
        log_dir: name("/d"),
        total_bytes: 16,
        usable_bytes: 8,
        is_cordoned: true,
        ..Default::default()
    };
    assert_eq!(response.results, [dir]);
}
