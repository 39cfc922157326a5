//! What is asked, and which errors an answer holds.

use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{
    ApiVersionsRequest, CreatableTopic, CreatableTopicConfig, CreatePartitionsRequest, CreatePartitionsTopic,
    CreateTopicsRequest, DescribeConfigsRequest, DescribeConfigsResource, FetchPartition, FetchRequest, FetchTopic,
    FindCoordinatorRequest, InitProducerIdRequest, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
    MetadataRequest, MetadataRequestTopic, OffsetCommitPartition, OffsetCommitRequest, OffsetCommitTopic,
    OffsetFetchRequest, OffsetFetchTopic, ProducePartition, ProduceRequest, ProduceTopic, RecordChunks,
};
use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, RecordError, Stamp};
use kmirror_proto::{AnyRequest, AnyResponse, ApiKey, ErrorCode};

use crate::{Failure, Result};

/// The topic that is asked about; it holds five records of Java's.
pub(super) const READ: &str = "golden";
/// The topic that is written to, two records each time.
pub(super) const WRITTEN: &str = "golden-written";

/// What a running mirror asks, with the newest version at which it does: as in `kmirror-core`'s table.
pub(super) const ASKED: [(ApiKey, i16); 12] = [
    (ApiKey::API_VERSIONS, 4),
    (ApiKey::METADATA, 12),
    (ApiKey::FETCH, 12),
    (ApiKey::PRODUCE, 12),
    (ApiKey::LIST_OFFSETS, 8),
    (ApiKey::FIND_COORDINATOR, 4),
    (ApiKey::OFFSET_COMMIT, 8),
    (ApiKey::OFFSET_FETCH, 7),
    (ApiKey::INIT_PRODUCER_ID, 4),
    (ApiKey::CREATE_TOPICS, 7),
    (ApiKey::CREATE_PARTITIONS, 3),
    (ApiKey::DESCRIBE_CONFIGS, 4),
];

/// The request of an API at a version; `sent` is how many of it were sent to this broker before.
pub(super) fn of(api: ApiKey, version: i16, sent: i64) -> Result<AnyRequest> {
    Ok(match api {
        ApiKey::API_VERSIONS => api_versions(version).into(),
        ApiKey::METADATA => metadata(version).into(),
        ApiKey::FETCH => fetch().into(),
        ApiKey::PRODUCE => produce(version, sent)?.into(),
        ApiKey::LIST_OFFSETS => list_offsets().into(),
        ApiKey::FIND_COORDINATOR => FindCoordinatorRequest { key_type: 0, keys: vec![READ.to_owned()] }.into(),
        ApiKey::OFFSET_COMMIT => offset_commit().into(),
        ApiKey::OFFSET_FETCH => {
            let topic = OffsetFetchTopic { name: READ.to_owned(), partition_indexes: vec![0], ..Default::default() };
            OffsetFetchRequest::group(READ.to_owned(), Some(vec![topic])).into()
        }
        ApiKey::INIT_PRODUCER_ID => {
            InitProducerIdRequest { transaction_timeout_ms: 60_000, ..InitProducerIdRequest::default() }.into()
        }
        ApiKey::CREATE_TOPICS => create_topics(version).into(),
        ApiKey::CREATE_PARTITIONS => {
            let topic = CreatePartitionsTopic { name: READ.to_owned(), count: 5, assignments: None };
            CreatePartitionsRequest { topics: vec![topic], timeout_ms: 10_000, validate_only: true }.into()
        }
        ApiKey::DESCRIBE_CONFIGS => describe_configs(version).into(),
        other => return Err(Failure::new(format!("{other} is not asked"))),
    })
}

fn api_versions(version: i16) -> ApiVersionsRequest {
    let text = |text: &str| if version >= 3 { text.to_owned() } else { String::new() };
    ApiVersionsRequest {
        client_software_name: text("kmirror"),
        client_software_version: text("0.1.0"),
        ..ApiVersionsRequest::default()
    }
}

fn metadata(version: i16) -> MetadataRequest {
    let topic = MetadataRequestTopic { name: Some(READ.to_owned()), ..MetadataRequestTopic::default() };
    MetadataRequest {
        topics: Some(vec![topic]),
        allow_auto_topic_creation: version < 4,
        include_topic_authorized_operations: false,
        include_cluster_authorized_operations: false,
    }
}

fn fetch() -> FetchRequest {
    let partition =
        FetchPartition { partition: 0, fetch_offset: 0, partition_max_bytes: 1 << 20, ..Default::default() };
    let topic = FetchTopic { name: READ.to_owned(), partitions: vec![partition], ..Default::default() };
    FetchRequest { max_wait_ms: 500, min_bytes: 1, topics: vec![topic], ..FetchRequest::default() }
}

/// Two records, in the newest format that the version takes.
fn produce(version: i16, sent: i64) -> Result<ProduceRequest> {
    let failed = |error: RecordError| Failure::new(format!("building a set: {error}"));
    let value = format!("written {sent}");
    let pairs = [(Some(&b"k"[..]), None), (None, Some(value.as_bytes()))];
    let records = if version < 3 {
        let format = if version < 2 { MessageFormat::V0 } else { MessageFormat::V1 };
        let mut set = MessageSetBuilder::new(format, Codec::None);
        pairs.into_iter().try_for_each(|(key, value)| set.push(1_600_000_000_000, key, value)).map_err(failed)?;
        set.finish().map_err(failed)?
    } else {
        let mut batch = BatchBuilder::new(Codec::None, None);
        let mut push = |(key, value)| batch.push(1_600_000_000_000, key, value, HeadersSource::None);
        pairs.into_iter().try_for_each(&mut push).map_err(failed)?;
        batch.finish(Stamp::NONE).map_err(failed)?
    };
    let partition = ProducePartition { index: 0, records: RecordChunks(vec![records]) };
    let topic = ProduceTopic { name: WRITTEN.to_owned(), topic_id: [0; 16], partitions: vec![partition] };
    Ok(ProduceRequest { transactional_id: None, acks: -1, timeout_ms: 10_000, topics: vec![topic] })
}

fn list_offsets() -> ListOffsetsRequest {
    let partition = ListOffsetsPartition { partition_index: 0, timestamp: -1, ..ListOffsetsPartition::default() };
    let topic = ListOffsetsTopic { name: READ.to_owned(), partitions: vec![partition] };
    ListOffsetsRequest { topics: vec![topic], ..ListOffsetsRequest::default() }
}

fn offset_commit() -> OffsetCommitRequest {
    let partition = OffsetCommitPartition {
        partition_index: 0,
        committed_offset: 2,
        committed_metadata: Some("as golden".to_owned()),
        ..OffsetCommitPartition::default()
    };
    let topic = OffsetCommitTopic { name: READ.to_owned(), partitions: vec![partition], ..Default::default() };
    OffsetCommitRequest { group_id: READ.to_owned(), topics: vec![topic], ..OffsetCommitRequest::default() }
}

fn create_topics(version: i16) -> CreateTopicsRequest {
    let config = CreatableTopicConfig { name: "retention.ms".to_owned(), value: Some("86400000".to_owned()) };
    let topic = CreatableTopic {
        name: format!("{READ}-v{version}"),
        num_partitions: 2,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: vec![config],
    };
    CreateTopicsRequest { topics: vec![topic], timeout_ms: 10_000, validate_only: false }
}

fn describe_configs(version: i16) -> DescribeConfigsRequest {
    let resource = DescribeConfigsResource {
        resource_type: DescribeConfigsResource::TOPIC,
        resource_name: READ.to_owned(),
        configuration_keys: Some(vec!["cleanup.policy".to_owned(), "max.message.bytes".to_owned()]),
    };
    DescribeConfigsRequest { resources: vec![resource], include_synonyms: version >= 1, include_documentation: false }
}

/// Every error code of an answer to one of these.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is asked")]
pub(super) fn errors(answer: &AnyResponse) -> Vec<ErrorCode> {
    match answer {
        AnyResponse::ApiVersions(it) => vec![it.error_code],
        AnyResponse::Metadata(it) => it.topics.iter().map(|topic| topic.error_code).collect(),
        AnyResponse::Fetch(it) => {
            let partitions = it.topics.iter().flat_map(|topic| &topic.partitions);
            partitions.map(|partition| partition.error_code).chain([it.error_code]).collect()
        }
        AnyResponse::Produce(it) => {
            it.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code).collect()
        }
        AnyResponse::ListOffsets(it) => {
            it.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code).collect()
        }
        AnyResponse::FindCoordinator(it) => it.coordinators.iter().map(|found| found.error_code).collect(),
        AnyResponse::OffsetCommit(it) => {
            it.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code).collect()
        }
        AnyResponse::OffsetFetch(it) => it.groups.iter().map(|group| group.error_code).collect(),
        AnyResponse::InitProducerId(it) => vec![it.error_code],
        AnyResponse::CreateTopics(it) => it.topics.iter().map(|topic| topic.error_code).collect(),
        AnyResponse::CreatePartitions(it) => it.results.iter().map(|result| result.error_code).collect(),
        AnyResponse::DescribeConfigs(it) => it.results.iter().map(|result| result.error_code).collect(),
        _ => vec![ErrorCode::UNKNOWN_SERVER_ERROR],
    }
}
