//! Bytes written out by hand for the versions that no living client speaks any more, and for answers that real brokers
//! sent. Layouts: `clients/src/main/resources/common/message/<Name>.json` of Apache Kafka 3.9, "versions" of each
//! field; what brokers sent was read off their sockets.

mod admin;
mod beyond_the_oracle;

use bytes::Bytes;
use kmirror_proto::messages::{
    AbortedTransaction, ApiVersionRange, ApiVersionsRequest, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
    CreatedTopic, DescribeConfigsRequest, DescribeConfigsResource, DescribedConfig, FetchPartition, FetchRequest,
    FetchTopic, FetchedOffset, FetchedPartition, InitProducerIdRequest, ListOffsetsPartition, ListOffsetsRequest,
    ListOffsetsTopic, ListedOffset, MetadataBroker, MetadataRequest, MetadataRequestTopic, OffsetCommitPartition,
    OffsetCommitRequest, OffsetCommitTopic, OffsetFetchRequest, OffsetFetchTopic, ProducePartition, ProduceRequest,
    ProduceTopic, ProducedPartition, RecordChunks,
};
use kmirror_proto::{AnyRequest, AnyResponse, ApiKey, ErrorCode, decode_request, decode_response, encode_request};

use crate::round_trip::body;

/// Hexadecimal digits to bytes; everything else is spacing.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|d| u8::try_from(d).unwrap()).collect();
    assert!(digits.len().is_multiple_of(2), "{text}");
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// `text` is the body behind a v1 header (correlation id 1, client id null); both directions.
fn asks(version: i16, request: impl Into<AnyRequest>, text: &str) {
    let request = request.into();
    let mut expected = [request.key().0.to_be_bytes(), version.to_be_bytes()].concat();
    expected.extend(hex("00000001 ffff"));
    expected.extend(hex(text));
    let frame = encode_request(1, None, version, &request).expect("encodes");
    assert_eq!(body(&frame), expected, "{} v{version}", request.key());
    assert_eq!(decode_request(expected.into()).expect("decodes").1, request);
}

fn answer(key: ApiKey, version: i16, text: &str) -> AnyResponse {
    let (id, response) = decode_response(key, version, hex(text).into()).expect("decodes");
    assert_eq!(id, 1);
    response
}

fn name(name: &str) -> String {
    name.to_owned()
}

#[test]
fn produce_0_to_2() {
    let request = ProduceRequest {
        transactional_id: None,
        acks: -1,
        timeout_ms: 1000,
        topics: vec![ProduceTopic {
            name: name("t"),
            partitions: vec![ProducePartition {
                index: 3,
                records: RecordChunks(vec![Bytes::from_static(b"ab"), Bytes::from_static(b"c")]),
            }],
            ..Default::default()
        }],
    };
    // acks, timeout, 1 topic "t", 1 partition 3, 3 bytes of records
    let v0 = "ffff 000003e8  00000001 0001 74  00000001 00000003 00000003 616263";
    asks(0, request.clone(), v0);
    asks(1, request.clone(), v0);
    asks(2, request.clone(), v0);
    // v3: a null transactional id in front
    asks(3, request, &format!("ffff {v0}"));

    let partition = ProducedPartition { index: 3, base_offset: 258, ..Default::default() };
    // 1 topic "t", 1 partition 3, error 0, offset 258
    let v0 = "00000001 00000001 0001 74 00000001 00000003 0000 0000000000000102";
    let AnyResponse::Produce(response) = answer(ApiKey::PRODUCE, 0, v0) else { panic!("produce") };
    assert_eq!(response.topics[0].partitions[0], partition);
    // v1: throttle time at the end; v2: log append time behind the offset
    let AnyResponse::Produce(response) = answer(ApiKey::PRODUCE, 1, &format!("{v0} 00000064")) else {
        panic!("produce")
    };
    assert_eq!((response.throttle_time_ms, &response.topics[0].partitions[..]), (100, &[partition.clone()][..]));
    let v2 = format!("{v0} 0000000000000007 00000064");
    let AnyResponse::Produce(response) = answer(ApiKey::PRODUCE, 2, &v2) else { panic!("produce") };
    assert_eq!(response.topics[0].partitions, [ProducedPartition { log_append_time_ms: 7, ..partition }]);
}

#[test]
fn fetch_0_to_3() {
    let mut request = FetchRequest {
        max_wait_ms: 500,
        min_bytes: 1,
        topics: vec![FetchTopic {
            name: name("t"),
            partitions: vec![FetchPartition {
                partition: 3,
                fetch_offset: 258,
                partition_max_bytes: 65536,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let head = "ffffffff 000001f4 00000001";
    let topics = "00000001 0001 74  00000001 00000003 0000000000000102 00010000";
    for version in 0..=2 {
        asks(version, request.clone(), &format!("{head} {topics}"));
    }
    request.max_bytes = 1 << 20;
    asks(3, request, &format!("{head} 00100000 {topics}"));

    // 1 topic "t", 1 partition 3, error 0, high watermark 258, 2 bytes of records
    let v0 = "00000001 0001 74 00000001 00000003 0000 0000000000000102 00000002 cafe";
    let partition = FetchedPartition {
        partition_index: 3,
        high_watermark: 258,
        records: Some(Bytes::from_static(&[0xca, 0xfe])),
        ..Default::default()
    };
    for (version, throttle) in [(0, ""), (1, "00000000"), (2, "00000000"), (3, "00000000")] {
        let text = format!("00000001 {throttle} {v0}");
        let AnyResponse::Fetch(response) = answer(ApiKey::FETCH, version, &text) else { panic!("fetch") };
        assert_eq!(response.topics[0].partitions[0], partition, "v{version}");
    }
}

/// Offset out of range as brokers send it: every mark -1, no records; null and empty are both seen.
#[test]
fn fetch_11_out_of_range() {
    let text = "00000001 00000000 0000 00000000  00000001 0001 74 00000001
                00000000 0001 ffffffffffffffff ffffffffffffffff ffffffffffffffff
                00000001 0000000000000fa0 0000000000000005  ffffffff 00000000";
    let AnyResponse::Fetch(response) = answer(ApiKey::FETCH, 11, text) else { panic!("fetch") };
    let partition = FetchedPartition {
        error_code: ErrorCode::OFFSET_OUT_OF_RANGE,
        aborted_transactions: Some(vec![AbortedTransaction { producer_id: 4000, first_offset: 5 }]),
        records: Some(Bytes::new()),
        ..Default::default()
    };
    assert_eq!(response.topics[0].partitions, [partition]);
}

#[test]
fn list_offsets_0() {
    let partition = ListOffsetsPartition { partition_index: 3, timestamp: -2, ..Default::default() };
    let topics = vec![ListOffsetsTopic { name: name("t"), partitions: vec![partition] }];
    // replica -1, 1 topic "t", 1 partition 3, timestamp -2, one offset
    let text = "ffffffff 00000001 0001 74 00000001 00000003 fffffffffffffffe 00000001";
    asks(0, ListOffsetsRequest { topics, ..Default::default() }, text);

    // [LEO, start of the last segment]; none for a time before the first segment
    let cases = [("00000002 0000000000000102 0000000000000000", 258, vec![0]), ("00000000", -1, Vec::new())];
    for (offsets, offset, segment_starts) in cases {
        let text = format!("00000001 00000001 0001 74 00000001 00000003 0000 {offsets}");
        let AnyResponse::ListOffsets(response) = answer(ApiKey::LIST_OFFSETS, 0, &text) else { panic!("offsets") };
        let listed = ListedOffset { partition_index: 3, offset, segment_starts, ..Default::default() };
        assert_eq!(response.topics[0].partitions, [listed]);
    }
}

#[test]
fn metadata_0() {
    asks(0, MetadataRequest::default(), "00000000");
    let topic = MetadataRequestTopic { topic_id: [0; 16], name: Some(name("t")) };
    asks(0, MetadataRequest { topics: Some(vec![topic]), ..Default::default() }, "00000001 0001 74");
    asks(1, MetadataRequest::default(), "ffffffff");
    asks(1, MetadataRequest { topics: Some(Vec::new()), ..Default::default() }, "00000000");

    // broker 1 at "h":9092; topic "t": partition 0, leader 1, replicas [1, 2], in sync [1]
    let text = "00000001  00000001 00000001 0001 68 00002384
                00000001 0000 0001 74  00000001 0000 00000000 00000001 00000002 00000001 00000002 00000001 00000001";
    let AnyResponse::Metadata(response) = answer(ApiKey::METADATA, 0, text) else { panic!("metadata") };
    assert_eq!(response.brokers, [MetadataBroker { node_id: 1, host: name("h"), port: 9092, rack: None }]);
    assert_eq!((response.controller_id, response.cluster_id), (-1, None));
    let partition = &response.topics[0].partitions[0];
    assert_eq!((partition.leader_id, partition.leader_epoch), (1, -1));
    assert_eq!((&partition.replica_nodes[..], &partition.isr_nodes[..]), (&[1, 2][..], &[1][..]));
}

/// Metadata v12 by an id that the broker does not know: a null name, and error 100.
#[test]
fn metadata_12_without_a_name() {
    let text = "00000001 00  00000000 01 00 ffffffff
                02 0064 00 0102030405060708090a0b0c0d0e0f10 00 01 80000000 00  00";
    let AnyResponse::Metadata(response) = answer(ApiKey::METADATA, 12, text) else { panic!("metadata") };
    assert_eq!(response.topics[0].name, "");
    assert_eq!(response.topics[0].error_code, ErrorCode::UNKNOWN_TOPIC_ID);
}

#[test]
fn create_topics_0_and_1() {
    let mut request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: name("t"),
            num_partitions: 12,
            replication_factor: 3,
            assignments: Vec::new(),
            configs: vec![CreatableTopicConfig { name: name("c"), value: Some(name("v")) }],
        }],
        timeout_ms: 1000,
        validate_only: false,
    };
    // 1 topic "t": 12 partitions, 3 replicas, no assignments, 1 config c = v; timeout
    let v0 = "00000001 0001 74 0000000c 0003 00000000 00000001 0001 63 0001 76 000003e8";
    asks(0, request.clone(), v0);
    request.validate_only = true;
    asks(1, request, &format!("{v0} 01"));

    for (version, text, error_message) in
        [(0, "00000001 00000001 0001 74 0024", None), (1, "00000001 00000001 0001 74 0024 0002 6e6f", Some(name("no")))]
    {
        let AnyResponse::CreateTopics(response) = answer(ApiKey::CREATE_TOPICS, version, text) else {
            panic!("create")
        };
        let topic = CreatedTopic {
            name: name("t"),
            error_code: ErrorCode::TOPIC_ALREADY_EXISTS,
            error_message,
            ..Default::default()
        };
        assert_eq!(response.topics, [topic]);
    }
}

/// v0 knows the default from everything else, and no more; 4.x has lost it.
#[test]
fn describe_configs_0() {
    let resource = |resource_type, name: &str, configuration_keys| DescribeConfigsResource {
        resource_type,
        resource_name: name.to_owned(),
        configuration_keys,
    };
    let all = resource(DescribeConfigsResource::TOPIC, "t", None);
    let one = resource(DescribeConfigsResource::BROKER, "1", Some(vec![name("c")]));
    let request = DescribeConfigsRequest { resources: vec![all, one], ..Default::default() };
    // topic "t", null keys; broker "1", 1 key "c"; v1 asks for synonyms behind them
    let v0 = "00000002  02 0001 74 ffffffff  04 0001 31 00000001 0001 63";
    asks(0, request.clone(), v0);
    asks(1, request, &format!("{v0} 00"));

    // throttle, 1 result: error 0, null message, topic "t", 2 configs: name, value, read only, default, sensitive
    let text = "00000001 00000064 00000001  0000 ffff 02 0001 74
                00000002 0001 63 0001 76 00 01 00  0001 64 ffff 01 00 01";
    let response = answer(ApiKey::DESCRIBE_CONFIGS, 0, text);
    let frame = kmirror_proto::encode_response(1, 0, &response).expect("encodes");
    assert_eq!(body(&frame), hex(text), "a broker's side writes the same");
    let AnyResponse::DescribeConfigs(response) = response else { panic!("configs") };
    let default = DescribedConfig {
        name: name("c"),
        value: Some(name("v")),
        config_source: DescribedConfig::DEFAULT_CONFIG,
        ..Default::default()
    };
    let set = DescribedConfig { name: name("d"), read_only: true, is_sensitive: true, ..Default::default() };
    assert_eq!((set.config_source, &response.results[0].configs[..]), (DescribedConfig::UNKNOWN, &[default, set][..]));
}

#[test]
fn offset_commit_0_and_1() {
    let partition = OffsetCommitPartition {
        partition_index: 3,
        committed_offset: 258,
        committed_leader_epoch: -1,
        committed_metadata: Some(name("m")),
    };
    let mut request = OffsetCommitRequest {
        group_id: name("g"),
        topics: vec![OffsetCommitTopic { name: name("t"), partitions: vec![partition], ..Default::default() }],
        ..Default::default()
    };
    let topics = "00000001 0001 74 00000001 00000003 0000000000000102";
    asks(0, request.clone(), &format!("0001 67 {topics} 0001 6d"));
    request.generation_id_or_member_epoch = 5;
    request.member_id = name("n");
    // v1: generation, member, and per partition the commit timestamp; -1 is the broker's own clock
    asks(1, request, &format!("0001 67 00000005 0001 6e {topics} ffffffffffffffff 0001 6d"));

    for version in [0, 1, 2] {
        let text = "00000001 00000001 0001 74 00000001 00000003 000c";
        let AnyResponse::OffsetCommit(response) = answer(ApiKey::OFFSET_COMMIT, version, text) else {
            panic!("commit")
        };
        assert_eq!(response.topics[0].partitions[0].error_code, ErrorCode::OFFSET_METADATA_TOO_LARGE);
    }
}

#[test]
fn offset_fetch_0() {
    let topic = OffsetFetchTopic { name: name("t"), partition_indexes: vec![3], ..Default::default() };
    asks(0, OffsetFetchRequest::group(name("g"), Some(vec![topic])), "0001 67 00000001 0001 74 00000001 00000003");
    // never committed: offset -1, "", no error
    let text = "00000001 00000001 0001 74 00000001 00000003 ffffffffffffffff 0000 0000";
    let AnyResponse::OffsetFetch(response) = answer(ApiKey::OFFSET_FETCH, 0, text) else { panic!("fetch") };
    let fetched = FetchedOffset { partition_index: 3, metadata: Some(String::new()), ..Default::default() };
    assert_eq!(response.into_only().topics[0].partitions, [fetched]);
}

/// What brokers answer to a version that they do not know. 0.10 to 2.1: ten bytes, no ranges. 2.4 to 4.4: sixteen, with
/// the range of ApiVersions itself. Always a v0 body, always the short header (KIP-511).
#[test]
fn api_versions_error_35_whatever_was_asked() {
    for version in 0..=5 {
        let ten = "00000001 0023 00000000";
        let AnyResponse::ApiVersions(response) = answer(ApiKey::API_VERSIONS, version, ten) else { panic!("versions") };
        assert_eq!((response.error_code, response.api_keys.len()), (ErrorCode::UNSUPPORTED_VERSION, 0));

        let sixteen = "00000001 0023 00000001 0012 0000 0003";
        let AnyResponse::ApiVersions(response) = answer(ApiKey::API_VERSIONS, version, sixteen) else {
            panic!("versions")
        };
        let range = ApiVersionRange { api_key: ApiKey::API_VERSIONS, min_version: 0, max_version: 3 };
        assert_eq!((response.error_code, &response.api_keys[..]), (ErrorCode::UNSUPPORTED_VERSION, &[range][..]));

        let frame = kmirror_proto::encode_response(1, version, &response.into()).expect("encodes");
        assert_eq!(body(&frame), hex(sixteen), "a broker's side writes the same");
    }
}

/// v3: a v2 header (a byte of tags behind the client id) in front of the request, but a v0 header in front of the
/// answer, whose body is compact all the same.
#[test]
fn api_versions_3() {
    let request = ApiVersionsRequest {
        client_software_name: name("k"),
        client_software_version: name("1"),
        ..Default::default()
    };
    let frame = encode_request(1, Some("id"), 3, &request.into()).expect("encodes");
    assert_eq!(body(&frame), hex("0012 0003 00000001 0002 6964 00  02 6b 02 31 00"));
    // error 0, 1 range (Fetch 4-17), throttle 0, tags: finalized features epoch 0 (tag 1)
    let text = "00000001  0000 02 0001 0004 0011 00  00000000  01 01 08 0000000000000000";
    let AnyResponse::ApiVersions(response) = answer(ApiKey::API_VERSIONS, 3, text) else { panic!("versions") };
    let range = ApiVersionRange { api_key: ApiKey::FETCH, min_version: 4, max_version: 17 };
    assert_eq!((response.api_keys, response.finalized_features_epoch), (vec![range], 0));
}

/// The newest requests that the judge does not know yet; of the answers it knows all but that of ApiVersions v5, which
/// is that of v4.
#[test]
fn the_newest_requests() {
    let id = [7; 16];
    let id_hex = "07".repeat(16);
    // group "g", generation -1, member "", no instance; 1 topic: id, 1 partition: 3, offset 258, epoch -1, "m"
    let partition = OffsetCommitPartition {
        partition_index: 3,
        committed_offset: 258,
        committed_metadata: Some(name("m")),
        ..Default::default()
    };
    let topic = OffsetCommitTopic { topic_id: id, partitions: vec![partition], ..Default::default() };
    let request = OffsetCommitRequest { group_id: name("g"), topics: vec![topic], ..Default::default() };
    let partition = "00000003 0000000000000102 ffffffff 02 6d 00";
    asks(10, request, &format!("00 02 67 ffffffff 01 00  02 {id_hex} 02 {partition} 00  00"));

    // 1 group "g", null member, epoch -1; 1 topic: id, partition 3; require stable
    let topic = OffsetFetchTopic { topic_id: id, partition_indexes: vec![3], ..Default::default() };
    let mut request = OffsetFetchRequest::group(name("g"), Some(vec![topic]));
    request.require_stable = true;
    asks(10, request, &format!("00 02 02 67 00 ffffffff  02 {id_hex} 02 00000003 00 00  01 00"));

    // replica -1, read committed, 1 topic "t", 1 partition 3, epoch -1, mark -6; timeout 1000
    let partition = ListOffsetsPartition { partition_index: 3, timestamp: -6, ..Default::default() };
    let topics = vec![ListOffsetsTopic { name: name("t"), partitions: vec![partition] }];
    let request = ListOffsetsRequest { isolation_level: 1, topics, timeout_ms: 1000, ..Default::default() };
    let partition = "00000003 ffffffff fffffffffffffffa 00";
    asks(11, request, &format!("00 ffffffff 01  02 02 74 02 {partition} 00  000003e8 00"));

    // software "k" "1", cluster "c", node 3
    let request = ApiVersionsRequest {
        client_software_name: name("k"),
        client_software_version: name("1"),
        cluster_id: Some(name("c")),
        node_id: 3,
    };
    asks(5, request, "00 02 6b 02 31 02 63 00000003 00");

    // transaction "x", timeout 1000, id 5, epoch 6, two phases, keep
    let request = InitProducerIdRequest {
        transactional_id: Some(name("x")),
        transaction_timeout_ms: 1000,
        producer_id: 5,
        producer_epoch: 6,
        enable_2pc: true,
        keep_prepared_txn: true,
    };
    asks(6, request, "00 02 78 000003e8 0000000000000005 0006 01 01 00");
}

/// A follower of v15 and newer says who it is in a tagged field; what only controllers say is skipped.
#[test]
fn fetch_17_of_a_follower() {
    let partition =
        FetchPartition { partition: 3, fetch_offset: 258, partition_max_bytes: 65536, ..Default::default() };
    let topics = vec![FetchTopic { topic_id: [7; 16], partitions: vec![partition], ..Default::default() }];
    let request =
        FetchRequest { replica_id: 5, replica_epoch: 9, max_wait_ms: 500, min_bytes: 1, topics, ..Default::default() };
    let head = "0001 0011 00000001 ffff 00  000001f4 00000001 7fffffff 00 00000000 ffffffff";
    let partition = "00000003 ffffffff 0000000000000102 ffffffff ffffffffffffffff 00010000";
    let id = "07".repeat(16);
    // behind: no forgotten topics, no rack, 2 tags: 0 cluster "c" and 1 replica state
    let tail = "01 01  02 00 02 02 63 01 0d 00000005 0000000000000009 00";
    // the partition's tag 0: the directory
    let text = format!("{head} 02 {id} 02 {partition} 01 00 10 {id} 00 {tail}");
    let (_, decoded) = decode_request(hex(&text).into()).expect("decodes");
    assert_eq!(decoded, request.clone().into());
    let frame = encode_request(1, None, 17, &request.into()).expect("encodes");
    let tail = "01 01  01 01 0d 00000005 0000000000000009 00";
    assert_eq!(body(&frame), hex(&format!("{head} 02 {id} 02 {partition} 00 00 {tail}")));
}
