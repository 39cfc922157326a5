//! One value of every request at every version.

use bytes::Bytes;
use kmirror_proto::messages::{
    ApiVersionsRequest, CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreatePartitionsAssignment,
    CreatePartitionsRequest, CreatePartitionsTopic, CreateTopicsRequest, DescribeConfigsRequest,
    DescribeConfigsResource, FetchPartition, FetchRequest, FetchTopic, FindCoordinatorRequest, ForgottenTopic,
    InitProducerIdRequest, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic, MetadataRequest,
    MetadataRequestTopic, OffsetCommitPartition, OffsetCommitRequest, OffsetCommitTopic, OffsetFetchGroup,
    OffsetFetchRequest, OffsetFetchTopic, ProducePartition, ProduceRequest, ProduceTopic, RecordChunks,
};

use super::{carried, text, topic};

pub(crate) fn api_versions(v: i16) -> ApiVersionsRequest {
    ApiVersionsRequest {
        client_software_name: carried(v >= 3, "kmirror".to_owned(), String::new()),
        client_software_version: carried(v >= 3, "0.1.0".to_owned(), String::new()),
        cluster_id: carried(v >= 5, text("cluster"), None),
        node_id: carried(v >= 5, 3, -1),
    }
}

pub(crate) fn metadata(v: i16) -> MetadataRequest {
    let topic =
        |id: u8, name: Option<String>| MetadataRequestTopic { topic_id: carried(v >= 10, [id; 16], [0; 16]), name };
    MetadataRequest {
        topics: Some(vec![topic(1, text("orders")), topic(2, carried(v >= 12, None, text("bestellungen-ä")))]),
        allow_auto_topic_creation: v < 4,
        include_topic_authorized_operations: v >= 8,
        include_cluster_authorized_operations: (8..=10).contains(&v),
    }
}

pub(crate) fn fetch(v: i16) -> FetchRequest {
    let partition = |n: i32| FetchPartition {
        partition: n,
        current_leader_epoch: carried(v >= 9, 40 + n, -1),
        fetch_offset: 1 << 40,
        last_fetched_epoch: carried(v >= 12, 50 + n, -1),
        log_start_offset: carried(v >= 5, 1 << 33, -1),
        partition_max_bytes: 1_048_576 + n,
    };
    let fetched = |name: &str, id: u8, partitions: Vec<FetchPartition>| {
        let (name, topic_id) = topic(v >= 13, name, id);
        FetchTopic { name, topic_id, partitions }
    };
    let (name, topic_id) = topic(v >= 13, "old", 3);
    let forgotten = ForgottenTopic { name, topic_id, partitions: vec![4, 5] };
    FetchRequest {
        replica_id: 5,
        replica_epoch: carried(v >= 15, 11, -1),
        max_wait_ms: 500,
        min_bytes: 1,
        max_bytes: carried(v >= 3, 52_428_800, i32::MAX),
        isolation_level: carried(v >= 4, 1, 0),
        session_id: carried(v >= 7, 77, 0),
        session_epoch: carried(v >= 7, 3, -1),
        topics: vec![fetched("orders", 1, vec![partition(0), partition(7)]), fetched("empty", 2, Vec::new())],
        forgotten_topics: carried(v >= 7, vec![forgotten], Vec::new()),
        rack_id: carried(v >= 11, "rack-a".to_owned(), String::new()),
    }
}

pub(crate) fn produce(v: i16) -> ProduceRequest {
    let records = RecordChunks(vec![Bytes::from(vec![7; 61]), Bytes::from(vec![9; 4000])]);
    let partition = |index: i32| ProducePartition { index, records: records.clone() };
    let produced = |name: &str, id: u8, partitions: Vec<ProducePartition>| {
        let (name, topic_id) = topic(v >= 13, name, id);
        ProduceTopic { name, topic_id, partitions }
    };
    ProduceRequest {
        transactional_id: carried(v >= 3, text("tx"), None),
        acks: 1,
        timeout_ms: 30_000,
        topics: vec![
            produced("orders", 1, vec![partition(0), partition(3)]),
            produced("payments", 2, vec![partition(1)]),
        ],
    }
}

pub(crate) fn list_offsets(v: i16) -> ListOffsetsRequest {
    let partition = |n: i32| ListOffsetsPartition {
        partition_index: n,
        current_leader_epoch: carried(v >= 4, 6, -1),
        timestamp: 1_600_000_000_000,
        max_num_offsets: carried(v == 0, 2, 1),
    };
    ListOffsetsRequest {
        replica_id: -2,
        isolation_level: carried(v >= 2, 1, 0),
        topics: vec![ListOffsetsTopic { name: "orders".to_owned(), partitions: vec![partition(1), partition(2)] }],
        timeout_ms: carried(v >= 10, 15_000, 0),
    }
}

pub(crate) fn find_coordinator(v: i16) -> FindCoordinatorRequest {
    let more = carried(v >= 4, text("another group"), None);
    FindCoordinatorRequest {
        key_type: carried(v >= 1, 1, 0),
        keys: ["group".to_owned()].into_iter().chain(more).collect(),
    }
}

pub(crate) fn offset_commit(v: i16) -> OffsetCommitRequest {
    let partition = |n: i32, metadata: Option<String>| OffsetCommitPartition {
        partition_index: n,
        committed_offset: 99,
        committed_leader_epoch: carried(v >= 6, 8, -1),
        committed_metadata: metadata,
    };
    let (name, topic_id) = topic(v >= 10, "orders", 1);
    OffsetCommitRequest {
        group_id: "group".to_owned(),
        generation_id_or_member_epoch: carried(v >= 1, 12, -1),
        member_id: carried(v >= 1, "member".to_owned(), String::new()),
        group_instance_id: carried(v >= 7, text("instance"), None),
        retention_time_ms: carried((2..=4).contains(&v), 86_400_000, -1),
        topics: vec![OffsetCommitTopic {
            name,
            topic_id,
            partitions: vec![partition(0, text("note")), partition(1, None)],
        }],
    }
}

pub(crate) fn offset_fetch(v: i16) -> OffsetFetchRequest {
    let (name, topic_id) = topic(v >= 10, "orders", 1);
    let group = |group_id: &str, topics: Option<Vec<OffsetFetchTopic>>| OffsetFetchGroup {
        group_id: group_id.to_owned(),
        member_id: carried(v >= 9, text("member"), None),
        member_epoch: carried(v >= 9, 12, -1),
        topics,
    };
    let first = group("group", Some(vec![OffsetFetchTopic { name, topic_id, partition_indexes: vec![0, 1, 2] }]));
    let more = carried(v >= 8, Some(group("another group", None)), None);
    OffsetFetchRequest { groups: [first].into_iter().chain(more).collect(), require_stable: v >= 7 }
}

pub(crate) fn init_producer_id(v: i16) -> InitProducerIdRequest {
    InitProducerIdRequest {
        transactional_id: text("tx"),
        transaction_timeout_ms: 60_000,
        producer_id: carried(v >= 3, 4000, -1),
        producer_epoch: carried(v >= 3, 5, -1),
        enable_2pc: v >= 6,
        keep_prepared_txn: v >= 6,
    }
}

pub(crate) fn create_topics(v: i16) -> CreateTopicsRequest {
    let assigned = |n: i32| CreatableReplicaAssignment { partition_index: n, broker_ids: vec![1, 2, 3] };
    CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: "orders".to_owned(),
            num_partitions: 12,
            replication_factor: 3,
            assignments: vec![assigned(0), assigned(1)],
            configs: vec![
                CreatableTopicConfig { name: "cleanup.policy".to_owned(), value: text("compact") },
                CreatableTopicConfig { name: "retention.ms".to_owned(), value: None },
            ],
        }],
        timeout_ms: 15_000,
        validate_only: v >= 1,
    }
}

pub(crate) fn create_partitions(_: i16) -> CreatePartitionsRequest {
    let assigned = |n: i32| CreatePartitionsAssignment { broker_ids: vec![n, n + 1] };
    let grown = |name: &str, assignments: Option<Vec<CreatePartitionsAssignment>>| CreatePartitionsTopic {
        name: name.to_owned(),
        count: 24,
        assignments,
    };
    CreatePartitionsRequest {
        topics: vec![grown("orders", None), grown("payments", Some(vec![assigned(1), assigned(2)]))],
        timeout_ms: 15_000,
        validate_only: true,
    }
}

pub(crate) fn describe_configs(v: i16) -> DescribeConfigsRequest {
    let asked = |resource_type: i8, name: &str, configuration_keys: Option<Vec<String>>| DescribeConfigsResource {
        resource_type,
        resource_name: name.to_owned(),
        configuration_keys,
    };
    let keys = vec!["cleanup.policy".to_owned(), "retention.ms".to_owned()];
    DescribeConfigsRequest {
        resources: vec![
            asked(DescribeConfigsResource::TOPIC, "orders", Some(keys)),
            asked(DescribeConfigsResource::BROKER, "1", None),
        ],
        include_synonyms: v >= 1,
        include_documentation: v >= 3,
    }
}
