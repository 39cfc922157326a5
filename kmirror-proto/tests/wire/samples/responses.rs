//! One value of every response at every version.

use bytes::Bytes;
use kmirror_proto::messages::{
    AbortedTransaction, ApiVersionRange, ApiVersionsResponse, CommittedPartition, CommittedTopic, ConfigSynonym,
    Coordinator, CreatePartitionsResponse, CreatePartitionsResult, CreateTopicsResponse, CreatedTopic,
    CreatedTopicConfig, DescribeConfigsResource, DescribeConfigsResponse, DescribedConfig, DescribedResource,
    EpochEndOffset, FetchResponse, FetchableTopic, FetchedOffset, FetchedOffsetGroup, FetchedOffsetTopic,
    FetchedPartition, FinalizedFeature, FindCoordinatorResponse, InitProducerIdResponse, LeaderIdAndEpoch,
    ListOffsetsResponse, ListedOffset, ListedTopic, MetadataBroker, MetadataPartition, MetadataResponse, MetadataTopic,
    NodeEndpoint, OffsetCommitResponse, OffsetFetchResponse, ProduceResponse, ProducedPartition, ProducedTopic,
    RecordError, SupportedFeature,
};
use kmirror_proto::{ApiKey, ErrorCode};

use super::{carried, text, topic};

pub(crate) fn api_versions(v: i16) -> ApiVersionsResponse {
    let range = |key: i16, max_version: i16| ApiVersionRange { api_key: ApiKey(key), min_version: 1, max_version };
    let supported =
        |name: &str, min_version: i16| SupportedFeature { name: name.to_owned(), min_version, max_version: 25 };
    let finalized =
        FinalizedFeature { name: "metadata.version".to_owned(), max_version_level: 21, min_version_level: 20 };
    ApiVersionsResponse {
        error_code: ErrorCode::INVALID_REQUEST,
        api_keys: vec![range(0, 12), range(999, 3)],
        throttle_time_ms: carried(v >= 1, 100, 0),
        supported_features: carried(v >= 3, vec![supported("metadata.version", 1), supported("x", 0)], Vec::new()),
        finalized_features_epoch: carried(v >= 3, 0, -1),
        finalized_features: carried(v >= 3, vec![finalized], Vec::new()),
        zk_migration_ready: v >= 3,
    }
}

pub(crate) fn metadata(v: i16) -> MetadataResponse {
    let broker = |node_id: i32| MetadataBroker {
        node_id,
        host: format!("broker-{node_id}.example"),
        port: 9092 + node_id,
        rack: carried(v >= 1, text("rack-a"), None),
    };
    let partition = |partition_index: i32| MetadataPartition {
        error_code: ErrorCode::LEADER_NOT_AVAILABLE,
        partition_index,
        leader_id: 2,
        leader_epoch: carried(v >= 7, 31, -1),
        replica_nodes: vec![1, 2, 3],
        isr_nodes: vec![2, 3],
        offline_replicas: carried(v >= 5, vec![1], Vec::new()),
    };
    let topic = |name: &str, partitions: Vec<MetadataPartition>| MetadataTopic {
        error_code: ErrorCode::TOPIC_AUTHORIZATION_FAILED,
        name: name.to_owned(),
        topic_id: carried(v >= 10, [3; 16], [0; 16]),
        is_internal: v >= 1,
        partitions,
        topic_authorized_operations: carried(v >= 8, 264, i32::MIN),
    };
    MetadataResponse {
        throttle_time_ms: carried(v >= 3, 100, 0),
        brokers: vec![broker(1), broker(2)],
        cluster_id: carried(v >= 2, text("cluster"), None),
        controller_id: carried(v >= 1, 2, -1),
        topics: vec![topic("orders", vec![partition(0), partition(1)]), topic("empty", Vec::new())],
        cluster_authorized_operations: carried((8..=10).contains(&v), 4000, i32::MIN),
        error_code: carried(v >= 13, ErrorCode::UNKNOWN_SERVER_ERROR, ErrorCode::NONE),
    }
}

pub(crate) fn fetch(v: i16) -> FetchResponse {
    let aborted = |n: i64| AbortedTransaction { producer_id: n, first_offset: 100 * n };
    let partition = |n: i32, records: Option<Bytes>| FetchedPartition {
        partition_index: n,
        error_code: ErrorCode::KAFKA_STORAGE_ERROR,
        high_watermark: 1 << 41,
        last_stable_offset: carried(v >= 4, 1 << 40, -1),
        log_start_offset: carried(v >= 5, 55, -1),
        aborted_transactions: carried(v >= 4, Some(vec![aborted(1), aborted(2)]), None),
        diverging_epoch: carried(v >= 12 && n == 0, Some(EpochEndOffset { epoch: 4, end_offset: 1234 }), None),
        current_leader: carried(v >= 12 && n < 2, Some(LeaderIdAndEpoch { leader_id: 2, leader_epoch: 31 }), None),
        preferred_read_replica: carried(v >= 11, 3, -1),
        records,
    };
    let records = Bytes::from((0..=255).cycle().take(3000).collect::<Vec<u8>>());
    let (name, topic_id) = topic(v >= 13, "orders", 1);
    FetchResponse {
        throttle_time_ms: carried(v >= 1, 100, 0),
        error_code: carried(v >= 7, ErrorCode::FETCH_SESSION_ID_NOT_FOUND, ErrorCode::NONE),
        session_id: carried(v >= 7, 77, 0),
        topics: vec![FetchableTopic {
            name,
            topic_id,
            partitions: vec![partition(0, Some(records)), partition(1, Some(Bytes::new())), partition(2, None)],
        }],
        node_endpoints: carried(v >= 16, endpoints(), Vec::new()),
    }
}

/// Where brokers are, with and without a rack.
fn endpoints() -> Vec<NodeEndpoint> {
    let node = |node_id: i32, rack: Option<String>| NodeEndpoint {
        node_id,
        host: format!("broker-{node_id}.example"),
        port: 9092 + node_id,
        rack,
    };
    vec![node(1, text("rack-a")), node(2, None)]
}

pub(crate) fn produce(v: i16) -> ProduceResponse {
    let refused = |batch_index: i32, message: Option<String>| RecordError { batch_index, message };
    let partition = |index: i32| ProducedPartition {
        index,
        error_code: ErrorCode::INVALID_RECORD,
        base_offset: 1234,
        log_append_time_ms: carried(v >= 2, 1_600_000_000_000, -1),
        log_start_offset: carried(v >= 5, 17, -1),
        record_errors: carried(v >= 8, vec![refused(0, text("no key")), refused(2, None)], Vec::new()),
        error_message: carried(v >= 8, text("compacted topic"), None),
        current_leader: carried(v >= 10 && index > 0, Some(LeaderIdAndEpoch { leader_id: 2, leader_epoch: 31 }), None),
    };
    let (name, topic_id) = topic(v >= 13, "orders", 1);
    ProduceResponse {
        topics: vec![ProducedTopic { name, topic_id, partitions: vec![partition(0), partition(3)] }],
        throttle_time_ms: carried(v >= 1, 100, 0),
        node_endpoints: carried(v >= 10, endpoints(), Vec::new()),
    }
}

pub(crate) fn list_offsets(v: i16) -> ListOffsetsResponse {
    let listed = |n: i32| ListedOffset {
        partition_index: n,
        error_code: ErrorCode::OFFSET_NOT_AVAILABLE,
        timestamp: carried(v >= 1, 1_600_000_000_000, -1),
        offset: 4711,
        leader_epoch: carried(v >= 4, 6, -1),
        segment_starts: carried(v == 0, vec![1000, 0], Vec::new()),
    };
    ListOffsetsResponse {
        throttle_time_ms: carried(v >= 2, 100, 0),
        topics: vec![ListedTopic { name: "orders".to_owned(), partitions: vec![listed(1), listed(2)] }],
    }
}

pub(crate) fn find_coordinator(v: i16) -> FindCoordinatorResponse {
    let coordinator = |key: &str, error_message: Option<String>| Coordinator {
        key: carried(v >= 4, key.to_owned(), String::new()),
        node_id: 2,
        host: "broker-2.example".to_owned(),
        port: 9094,
        error_code: ErrorCode::COORDINATOR_NOT_AVAILABLE,
        error_message: carried(v >= 1, error_message, None),
    };
    let more = carried(v >= 4, Some(coordinator("another group", None)), None);
    FindCoordinatorResponse {
        throttle_time_ms: carried(v >= 1, 100, 0),
        coordinators: [coordinator("group", text("not yet"))].into_iter().chain(more).collect(),
    }
}

pub(crate) fn offset_commit(v: i16) -> OffsetCommitResponse {
    let committed =
        |n: i32| CommittedPartition { partition_index: n, error_code: ErrorCode::OFFSET_METADATA_TOO_LARGE };
    let (name, topic_id) = topic(v >= 10, "orders", 1);
    OffsetCommitResponse {
        throttle_time_ms: carried(v >= 3, 100, 0),
        topics: vec![CommittedTopic { name, topic_id, partitions: vec![committed(0), committed(1)] }],
    }
}

pub(crate) fn offset_fetch(v: i16) -> OffsetFetchResponse {
    let fetched = |n: i32, metadata: Option<String>| FetchedOffset {
        partition_index: n,
        committed_offset: 99,
        committed_leader_epoch: carried(v >= 5, 8, -1),
        metadata,
        error_code: ErrorCode::UNSTABLE_OFFSET_COMMIT,
    };
    let (name, topic_id) = topic(v >= 10, "orders", 1);
    let partitions = vec![fetched(0, text("note")), fetched(1, None)];
    let group = |group_id: &str, topics: Vec<FetchedOffsetTopic>| FetchedOffsetGroup {
        group_id: carried(v >= 8, group_id.to_owned(), String::new()),
        topics,
        error_code: carried(v >= 2, ErrorCode::NOT_COORDINATOR, ErrorCode::NONE),
    };
    let first = group("group", vec![FetchedOffsetTopic { name, topic_id, partitions }]);
    let more = carried(v >= 8, Some(group("another group", Vec::new())), None);
    OffsetFetchResponse { throttle_time_ms: carried(v >= 3, 100, 0), groups: [first].into_iter().chain(more).collect() }
}

pub(crate) fn init_producer_id(v: i16) -> InitProducerIdResponse {
    InitProducerIdResponse {
        throttle_time_ms: 100,
        error_code: ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
        producer_id: 4000,
        producer_epoch: 5,
        ongoing_txn_producer_id: carried(v >= 6, 3999, -1),
        ongoing_txn_producer_epoch: carried(v >= 6, 2, -1),
    }
}

pub(crate) fn create_topics(v: i16) -> CreateTopicsResponse {
    let config = |name: &str, value: Option<String>| CreatedTopicConfig {
        name: name.to_owned(),
        value,
        read_only: true,
        config_source: 5,
        is_sensitive: true,
    };
    let topic = |name: &str, configs: Option<Vec<CreatedTopicConfig>>| CreatedTopic {
        name: name.to_owned(),
        topic_id: carried(v >= 7, [4; 16], [0; 16]),
        error_code: ErrorCode::TOPIC_ALREADY_EXISTS,
        error_message: carried(v >= 1, text("it is there"), None),
        topic_config_error_code: carried(v >= 5, ErrorCode::TOPIC_AUTHORIZATION_FAILED, ErrorCode::NONE),
        num_partitions: carried(v >= 5, 12, -1),
        replication_factor: carried(v >= 5, 3, -1),
        configs: carried(v >= 5, configs, None),
    };
    let configs = vec![config("cleanup.policy", text("compact")), config("secret", None)];
    CreateTopicsResponse {
        throttle_time_ms: carried(v >= 2, 100, 0),
        topics: vec![topic("orders", Some(configs)), topic("payments", None)],
    }
}

pub(crate) fn create_partitions(_: i16) -> CreatePartitionsResponse {
    let result = |name: &str, error_message: Option<String>| CreatePartitionsResult {
        name: name.to_owned(),
        error_code: ErrorCode::INVALID_PARTITIONS,
        error_message,
    };
    CreatePartitionsResponse {
        throttle_time_ms: 100,
        results: vec![result("orders", text("it has more already")), result("payments", None)],
    }
}

pub(crate) fn describe_configs(v: i16) -> DescribeConfigsResponse {
    let synonym =
        |name: &str, value: Option<String>, source: i8| ConfigSynonym { name: name.to_owned(), value, source };
    let config = |name: &str, value: Option<String>, source: i8| DescribedConfig {
        name: name.to_owned(),
        value,
        read_only: true,
        config_source: carried(v >= 1 || source == DescribedConfig::DEFAULT_CONFIG, source, DescribedConfig::UNKNOWN),
        is_sensitive: true,
        synonyms: carried(
            v >= 1,
            vec![synonym("log.cleanup.policy", text("compact"), 4), synonym("secret", None, 5)],
            Vec::new(),
        ),
        config_type: carried(v >= 3, 7, 0),
        documentation: carried(v >= 3, text("what becomes of old records"), None),
    };
    let described = |resource_type: i8, name: &str, error_message: Option<String>| DescribedResource {
        error_code: ErrorCode::CLUSTER_AUTHORIZATION_FAILED,
        error_message,
        resource_type,
        resource_name: name.to_owned(),
        configs: vec![
            config("cleanup.policy", text("compact"), DescribedConfig::TOPIC_CONFIG),
            config("secret", None, DescribedConfig::DEFAULT_CONFIG),
        ],
    };
    DescribeConfigsResponse {
        throttle_time_ms: 100,
        results: vec![
            described(DescribeConfigsResource::TOPIC, "orders", text("not yours")),
            described(DescribeConfigsResource::BROKER, "1", None),
        ],
    }
}
