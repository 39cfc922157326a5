//! Our requests as theirs.

use bytes::Bytes;
use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{brokers, id_text, maybe, text, topic};

pub(super) fn api_versions(it: &ours::ApiVersionsRequest) -> theirs::ApiVersionsRequest {
    theirs::ApiVersionsRequest::default()
        .with_client_software_name(text(&it.client_software_name))
        .with_client_software_version(text(&it.client_software_version))
}

pub(super) fn metadata(it: &ours::MetadataRequest) -> theirs::MetadataRequest {
    let one = |asked: &ours::MetadataRequestTopic| {
        theirs::metadata_request::MetadataRequestTopic::default()
            .with_topic_id(id_text(asked.topic_id).parse().expect("an id"))
            .with_name(asked.name.as_deref().map(topic))
    };
    theirs::MetadataRequest::default()
        .with_topics(it.topics.as_ref().map(|topics| topics.iter().map(one).collect()))
        .with_allow_auto_topic_creation(it.allow_auto_topic_creation)
        .with_include_cluster_authorized_operations(it.include_cluster_authorized_operations)
        .with_include_topic_authorized_operations(it.include_topic_authorized_operations)
}

pub(super) fn fetch(version: i16, it: &ours::FetchRequest) -> theirs::FetchRequest {
    let partition = |p: &ours::FetchPartition| {
        theirs::fetch_request::FetchPartition::default()
            .with_partition(p.partition)
            .with_current_leader_epoch(p.current_leader_epoch)
            .with_fetch_offset(p.fetch_offset)
            .with_last_fetched_epoch(p.last_fetched_epoch)
            .with_log_start_offset(p.log_start_offset)
            .with_partition_max_bytes(p.partition_max_bytes)
    };
    let fetched = |t: &ours::FetchTopic| {
        theirs::fetch_request::FetchTopic::default()
            .with_topic(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    let forgotten = |t: &ours::ForgottenTopic| {
        theirs::fetch_request::ForgottenTopic::default()
            .with_topic(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_partitions(t.partitions.clone())
    };
    let state = theirs::fetch_request::ReplicaState::default()
        .with_replica_id(it.replica_id.into())
        .with_replica_epoch(it.replica_epoch);
    let asking = theirs::FetchRequest::default();
    let asking =
        if version >= 15 { asking.with_replica_state(state) } else { asking.with_replica_id(it.replica_id.into()) };
    asking
        .with_max_wait_ms(it.max_wait_ms)
        .with_min_bytes(it.min_bytes)
        .with_max_bytes(it.max_bytes)
        .with_isolation_level(it.isolation_level)
        .with_session_id(it.session_id)
        .with_session_epoch(it.session_epoch)
        .with_topics(it.topics.iter().map(fetched).collect())
        .with_forgotten_topics_data(it.forgotten_topics.iter().map(forgotten).collect())
        .with_rack_id(text(&it.rack_id))
}

pub(super) fn produce(it: &ours::ProduceRequest) -> theirs::ProduceRequest {
    let partition = |p: &ours::ProducePartition| {
        theirs::produce_request::PartitionProduceData::default()
            .with_index(p.index)
            .with_records(Some(Bytes::from(p.records.0.concat())))
    };
    let produced = |t: &ours::ProduceTopic| {
        theirs::produce_request::TopicProduceData::default()
            .with_name(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_partition_data(t.partitions.iter().map(partition).collect())
    };
    theirs::ProduceRequest::default()
        .with_transactional_id(maybe(it.transactional_id.as_ref()).map(Into::into))
        .with_acks(it.acks)
        .with_timeout_ms(it.timeout_ms)
        .with_topic_data(it.topics.iter().map(produced).collect())
}

pub(super) fn list_offsets(it: &ours::ListOffsetsRequest) -> theirs::ListOffsetsRequest {
    let partition = |p: &ours::ListOffsetsPartition| {
        theirs::list_offsets_request::ListOffsetsPartition::default()
            .with_partition_index(p.partition_index)
            .with_current_leader_epoch(p.current_leader_epoch)
            .with_timestamp(p.timestamp)
    };
    let listed = |t: &ours::ListOffsetsTopic| {
        theirs::list_offsets_request::ListOffsetsTopic::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::ListOffsetsRequest::default()
        .with_replica_id(it.replica_id.into())
        .with_timeout_ms(it.timeout_ms)
        .with_isolation_level(it.isolation_level)
        .with_topics(it.topics.iter().map(listed).collect())
}

pub(super) fn find_coordinator(version: i16, it: &ours::FindCoordinatorRequest) -> theirs::FindCoordinatorRequest {
    let request = theirs::FindCoordinatorRequest::default().with_key_type(it.key_type);
    if version >= 4 {
        request.with_coordinator_keys(it.keys.iter().map(|key| text(key)).collect())
    } else {
        request.with_key(text(&it.keys[0]))
    }
}

pub(super) fn offset_commit(it: &ours::OffsetCommitRequest) -> theirs::OffsetCommitRequest {
    let partition = |p: &ours::OffsetCommitPartition| {
        theirs::offset_commit_request::OffsetCommitRequestPartition::default()
            .with_partition_index(p.partition_index)
            .with_committed_offset(p.committed_offset)
            .with_committed_leader_epoch(p.committed_leader_epoch)
            .with_committed_metadata(maybe(p.committed_metadata.as_ref()))
    };
    let committed = |t: &ours::OffsetCommitTopic| {
        theirs::offset_commit_request::OffsetCommitRequestTopic::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::OffsetCommitRequest::default()
        .with_group_id(text(&it.group_id).into())
        .with_generation_id_or_member_epoch(it.generation_id_or_member_epoch)
        .with_member_id(text(&it.member_id))
        .with_group_instance_id(maybe(it.group_instance_id.as_ref()))
        .with_retention_time_ms(it.retention_time_ms)
        .with_topics(it.topics.iter().map(committed).collect())
}

pub(super) fn offset_fetch(version: i16, it: &ours::OffsetFetchRequest) -> theirs::OffsetFetchRequest {
    let request = theirs::OffsetFetchRequest::default().with_require_stable(it.require_stable);
    if version >= 8 {
        return request.with_groups(it.groups.iter().map(offset_fetch_group).collect());
    }
    let group = &it.groups[0];
    let fetched = |t: &ours::OffsetFetchTopic| {
        theirs::offset_fetch_request::OffsetFetchRequestTopic::default()
            .with_name(topic(&t.name))
            .with_partition_indexes(t.partition_indexes.clone())
    };
    request
        .with_group_id(text(&group.group_id).into())
        .with_topics(group.topics.as_ref().map(|topics| topics.iter().map(fetched).collect()))
}

fn offset_fetch_group(group: &ours::OffsetFetchGroup) -> theirs::offset_fetch_request::OffsetFetchRequestGroup {
    let fetched = |t: &ours::OffsetFetchTopic| {
        theirs::offset_fetch_request::OffsetFetchRequestTopics::default()
            .with_name(topic(&t.name))
            .with_partition_indexes(t.partition_indexes.clone())
    };
    theirs::offset_fetch_request::OffsetFetchRequestGroup::default()
        .with_group_id(text(&group.group_id).into())
        .with_member_id(maybe(group.member_id.as_ref()))
        .with_member_epoch(group.member_epoch)
        .with_topics(group.topics.as_ref().map(|topics| topics.iter().map(fetched).collect()))
}

pub(super) fn init_producer_id(it: &ours::InitProducerIdRequest) -> theirs::InitProducerIdRequest {
    theirs::InitProducerIdRequest::default()
        .with_transactional_id(maybe(it.transactional_id.as_ref()).map(Into::into))
        .with_transaction_timeout_ms(it.transaction_timeout_ms)
        .with_producer_id(it.producer_id.into())
        .with_producer_epoch(it.producer_epoch)
}

pub(super) fn create_topics(it: &ours::CreateTopicsRequest) -> theirs::CreateTopicsRequest {
    let assignment = |a: &ours::CreatableReplicaAssignment| {
        theirs::create_topics_request::CreatableReplicaAssignment::default()
            .with_partition_index(a.partition_index)
            .with_broker_ids(brokers(&a.broker_ids))
    };
    let config = |c: &ours::CreatableTopicConfig| {
        theirs::create_topics_request::CreatableTopicConfig::default()
            .with_name(text(&c.name))
            .with_value(maybe(c.value.as_ref()))
    };
    let created = |t: &ours::CreatableTopic| {
        theirs::create_topics_request::CreatableTopic::default()
            .with_name(topic(&t.name))
            .with_num_partitions(t.num_partitions)
            .with_replication_factor(t.replication_factor)
            .with_assignments(t.assignments.iter().map(assignment).collect())
            .with_configs(t.configs.iter().map(config).collect())
    };
    theirs::CreateTopicsRequest::default()
        .with_topics(it.topics.iter().map(created).collect())
        .with_timeout_ms(it.timeout_ms)
        .with_validate_only(it.validate_only)
}

pub(super) fn create_partitions(it: &ours::CreatePartitionsRequest) -> theirs::CreatePartitionsRequest {
    let assignment = |a: &ours::CreatePartitionsAssignment| {
        theirs::create_partitions_request::CreatePartitionsAssignment::default().with_broker_ids(brokers(&a.broker_ids))
    };
    let grown = |t: &ours::CreatePartitionsTopic| {
        theirs::create_partitions_request::CreatePartitionsTopic::default()
            .with_name(topic(&t.name))
            .with_count(t.count)
            .with_assignments(t.assignments.as_ref().map(|all| all.iter().map(assignment).collect()))
    };
    theirs::CreatePartitionsRequest::default()
        .with_topics(it.topics.iter().map(grown).collect())
        .with_timeout_ms(it.timeout_ms)
        .with_validate_only(it.validate_only)
}

pub(super) fn describe_configs(it: &ours::DescribeConfigsRequest) -> theirs::DescribeConfigsRequest {
    let asked = |resource: &ours::DescribeConfigsResource| {
        let keys = resource.configuration_keys.as_ref();
        theirs::describe_configs_request::DescribeConfigsResource::default()
            .with_resource_type(resource.resource_type)
            .with_resource_name(text(&resource.resource_name))
            .with_configuration_keys(keys.map(|keys| keys.iter().map(|key| text(key)).collect()))
    };
    theirs::DescribeConfigsRequest::default()
        .with_resources(it.resources.iter().map(asked).collect())
        .with_include_synonyms(it.include_synonyms)
        .with_include_documentation(it.include_documentation)
}
