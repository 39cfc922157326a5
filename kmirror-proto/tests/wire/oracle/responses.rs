//! Our responses as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{brokers, id_text, maybe, text, topic};

pub(super) fn api_versions(it: &ours::ApiVersionsResponse) -> theirs::ApiVersionsResponse {
    let range = |range: &ours::ApiVersionRange| {
        theirs::api_versions_response::ApiVersion::default()
            .with_api_key(range.api_key.0)
            .with_min_version(range.min_version)
            .with_max_version(range.max_version)
    };
    let supported = |feature: &ours::SupportedFeature| {
        theirs::api_versions_response::SupportedFeatureKey::default()
            .with_name(text(&feature.name))
            .with_min_version(feature.min_version)
            .with_max_version(feature.max_version)
    };
    let finalized = |feature: &ours::FinalizedFeature| {
        theirs::api_versions_response::FinalizedFeatureKey::default()
            .with_name(text(&feature.name))
            .with_max_version_level(feature.max_version_level)
            .with_min_version_level(feature.min_version_level)
    };
    theirs::ApiVersionsResponse::default()
        .with_error_code(it.error_code.0)
        .with_api_keys(it.api_keys.iter().map(range).collect())
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_supported_features(it.supported_features.iter().map(supported).collect())
        .with_finalized_features_epoch(it.finalized_features_epoch)
        .with_finalized_features(it.finalized_features.iter().map(finalized).collect())
        .with_zk_migration_ready(it.zk_migration_ready)
}

pub(super) fn metadata(it: &ours::MetadataResponse) -> theirs::MetadataResponse {
    let broker = |b: &ours::MetadataBroker| {
        theirs::metadata_response::MetadataResponseBroker::default()
            .with_node_id(b.node_id.into())
            .with_host(text(&b.host))
            .with_port(b.port)
            .with_rack(maybe(b.rack.as_ref()))
    };
    let partition = |p: &ours::MetadataPartition| {
        theirs::metadata_response::MetadataResponsePartition::default()
            .with_error_code(p.error_code.0)
            .with_partition_index(p.partition_index)
            .with_leader_id(p.leader_id.into())
            .with_leader_epoch(p.leader_epoch)
            .with_replica_nodes(brokers(&p.replica_nodes))
            .with_isr_nodes(brokers(&p.isr_nodes))
            .with_offline_replicas(brokers(&p.offline_replicas))
    };
    let listed = |t: &ours::MetadataTopic| {
        theirs::metadata_response::MetadataResponseTopic::default()
            .with_error_code(t.error_code.0)
            .with_name(Some(topic(&t.name)))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_is_internal(t.is_internal)
            .with_partitions(t.partitions.iter().map(partition).collect())
            .with_topic_authorized_operations(t.topic_authorized_operations)
    };
    theirs::MetadataResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_brokers(it.brokers.iter().map(broker).collect())
        .with_cluster_id(maybe(it.cluster_id.as_ref()))
        .with_controller_id(it.controller_id.into())
        .with_topics(it.topics.iter().map(listed).collect())
        .with_cluster_authorized_operations(it.cluster_authorized_operations)
        .with_error_code(it.error_code.0)
}

pub(super) fn fetch(it: &ours::FetchResponse) -> theirs::FetchResponse {
    let aborted = |transaction: &ours::AbortedTransaction| {
        theirs::fetch_response::AbortedTransaction::default()
            .with_producer_id(transaction.producer_id.into())
            .with_first_offset(transaction.first_offset)
    };
    let diverging = |diverging: ours::EpochEndOffset| {
        theirs::fetch_response::EpochEndOffset::default()
            .with_epoch(diverging.epoch)
            .with_end_offset(diverging.end_offset)
    };
    let leader = |leader: ours::LeaderIdAndEpoch| {
        theirs::fetch_response::LeaderIdAndEpoch::default()
            .with_leader_id(leader.leader_id.into())
            .with_leader_epoch(leader.leader_epoch)
    };
    let endpoint = |node: &ours::NodeEndpoint| {
        theirs::fetch_response::NodeEndpoint::default()
            .with_node_id(node.node_id.into())
            .with_host(text(&node.host))
            .with_port(node.port)
            .with_rack(maybe(node.rack.as_ref()))
    };
    let partition = |p: &ours::FetchedPartition| {
        theirs::fetch_response::PartitionData::default()
            .with_partition_index(p.partition_index)
            .with_error_code(p.error_code.0)
            .with_high_watermark(p.high_watermark)
            .with_last_stable_offset(p.last_stable_offset)
            .with_log_start_offset(p.log_start_offset)
            .with_aborted_transactions(p.aborted_transactions.as_ref().map(|all| all.iter().map(aborted).collect()))
            .with_preferred_read_replica(p.preferred_read_replica.into())
            .with_diverging_epoch(p.diverging_epoch.map(diverging).unwrap_or_default())
            .with_current_leader(p.current_leader.map(leader).unwrap_or_default())
            .with_records(p.records.clone())
    };
    let fetched = |t: &ours::FetchableTopic| {
        theirs::fetch_response::FetchableTopicResponse::default()
            .with_topic(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::FetchResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_session_id(it.session_id)
        .with_responses(it.topics.iter().map(fetched).collect())
        .with_node_endpoints(it.node_endpoints.iter().map(endpoint).collect())
}

pub(super) fn produce(it: &ours::ProduceResponse) -> theirs::ProduceResponse {
    let refused = |record: &ours::RecordError| {
        theirs::produce_response::BatchIndexAndErrorMessage::default()
            .with_batch_index(record.batch_index)
            .with_batch_index_error_message(maybe(record.message.as_ref()))
    };
    let leader = |leader: ours::LeaderIdAndEpoch| {
        theirs::produce_response::LeaderIdAndEpoch::default()
            .with_leader_id(leader.leader_id.into())
            .with_leader_epoch(leader.leader_epoch)
    };
    let endpoint = |node: &ours::NodeEndpoint| {
        theirs::produce_response::NodeEndpoint::default()
            .with_node_id(node.node_id.into())
            .with_host(text(&node.host))
            .with_port(node.port)
            .with_rack(maybe(node.rack.as_ref()))
    };
    let partition = |p: &ours::ProducedPartition| {
        theirs::produce_response::PartitionProduceResponse::default()
            .with_index(p.index)
            .with_error_code(p.error_code.0)
            .with_base_offset(p.base_offset)
            .with_log_append_time_ms(p.log_append_time_ms)
            .with_log_start_offset(p.log_start_offset)
            .with_record_errors(p.record_errors.iter().map(refused).collect())
            .with_error_message(maybe(p.error_message.as_ref()))
            .with_current_leader(p.current_leader.map(leader).unwrap_or_default())
    };
    let produced = |t: &ours::ProducedTopic| {
        theirs::produce_response::TopicProduceResponse::default()
            .with_name(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_partition_responses(t.partitions.iter().map(partition).collect())
    };
    theirs::ProduceResponse::default()
        .with_responses(it.topics.iter().map(produced).collect())
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_node_endpoints(it.node_endpoints.iter().map(endpoint).collect())
}

pub(super) fn list_offsets(it: &ours::ListOffsetsResponse) -> theirs::ListOffsetsResponse {
    let partition = |p: &ours::ListedOffset| {
        theirs::list_offsets_response::ListOffsetsPartitionResponse::default()
            .with_partition_index(p.partition_index)
            .with_error_code(p.error_code.0)
            .with_timestamp(p.timestamp)
            .with_offset(p.offset)
            .with_leader_epoch(p.leader_epoch)
    };
    let listed = |t: &ours::ListedTopic| {
        theirs::list_offsets_response::ListOffsetsTopicResponse::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::ListOffsetsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(listed).collect())
}

pub(super) fn find_coordinator(version: i16, it: &ours::FindCoordinatorResponse) -> theirs::FindCoordinatorResponse {
    let response = theirs::FindCoordinatorResponse::default().with_throttle_time_ms(it.throttle_time_ms);
    let found = |coordinator: &ours::Coordinator| {
        theirs::find_coordinator_response::Coordinator::default()
            .with_key(text(&coordinator.key))
            .with_node_id(coordinator.node_id.into())
            .with_host(text(&coordinator.host))
            .with_port(coordinator.port)
            .with_error_code(coordinator.error_code.0)
            .with_error_message(maybe(coordinator.error_message.as_ref()))
    };
    if version >= 4 {
        return response.with_coordinators(it.coordinators.iter().map(found).collect());
    }
    let coordinator = &it.coordinators[0];
    // Their default, which v0 leaves alone, is an empty message.
    let message = if version == 0 { Some(text("")) } else { maybe(coordinator.error_message.as_ref()) };
    response
        .with_error_code(coordinator.error_code.0)
        .with_error_message(message)
        .with_node_id(coordinator.node_id.into())
        .with_host(text(&coordinator.host))
        .with_port(coordinator.port)
}

pub(super) fn offset_commit(it: &ours::OffsetCommitResponse) -> theirs::OffsetCommitResponse {
    let partition = |p: &ours::CommittedPartition| {
        theirs::offset_commit_response::OffsetCommitResponsePartition::default()
            .with_partition_index(p.partition_index)
            .with_error_code(p.error_code.0)
    };
    let committed = |t: &ours::CommittedTopic| {
        theirs::offset_commit_response::OffsetCommitResponseTopic::default()
            .with_name(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::OffsetCommitResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(committed).collect())
}

pub(super) fn offset_fetch(version: i16, it: &ours::OffsetFetchResponse) -> theirs::OffsetFetchResponse {
    let response = theirs::OffsetFetchResponse::default().with_throttle_time_ms(it.throttle_time_ms);
    if version >= 8 {
        return response.with_groups(it.groups.iter().map(offset_fetch_group).collect());
    }
    let partition = |p: &ours::FetchedOffset| {
        theirs::offset_fetch_response::OffsetFetchResponsePartition::default()
            .with_partition_index(p.partition_index)
            .with_committed_offset(p.committed_offset)
            .with_committed_leader_epoch(p.committed_leader_epoch)
            .with_metadata(maybe(p.metadata.as_ref()))
            .with_error_code(p.error_code.0)
    };
    let fetched = |t: &ours::FetchedOffsetTopic| {
        theirs::offset_fetch_response::OffsetFetchResponseTopic::default()
            .with_name(topic(&t.name))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    let group = &it.groups[0];
    response.with_topics(group.topics.iter().map(fetched).collect()).with_error_code(group.error_code.0)
}

fn offset_fetch_group(group: &ours::FetchedOffsetGroup) -> theirs::offset_fetch_response::OffsetFetchResponseGroup {
    let partition = |p: &ours::FetchedOffset| {
        theirs::offset_fetch_response::OffsetFetchResponsePartitions::default()
            .with_partition_index(p.partition_index)
            .with_committed_offset(p.committed_offset)
            .with_committed_leader_epoch(p.committed_leader_epoch)
            .with_metadata(maybe(p.metadata.as_ref()))
            .with_error_code(p.error_code.0)
    };
    let fetched = |t: &ours::FetchedOffsetTopic| {
        theirs::offset_fetch_response::OffsetFetchResponseTopics::default()
            .with_name(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_partitions(t.partitions.iter().map(partition).collect())
    };
    theirs::offset_fetch_response::OffsetFetchResponseGroup::default()
        .with_group_id(text(&group.group_id).into())
        .with_topics(group.topics.iter().map(fetched).collect())
        .with_error_code(group.error_code.0)
}

pub(super) fn init_producer_id(it: &ours::InitProducerIdResponse) -> theirs::InitProducerIdResponse {
    theirs::InitProducerIdResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_producer_id(it.producer_id.into())
        .with_producer_epoch(it.producer_epoch)
        .with_ongoing_txn_producer_id(it.ongoing_txn_producer_id.into())
        .with_ongoing_txn_producer_epoch(it.ongoing_txn_producer_epoch)
}

pub(super) fn create_topics(version: i16, it: &ours::CreateTopicsResponse) -> theirs::CreateTopicsResponse {
    let config = |c: &ours::CreatedTopicConfig| {
        theirs::create_topics_response::CreatableTopicConfigs::default()
            .with_name(text(&c.name))
            .with_value(maybe(c.value.as_ref()))
            .with_read_only(c.read_only)
            .with_config_source(c.config_source)
            .with_is_sensitive(c.is_sensitive)
    };
    // Their default, which versions before 5 leave alone, is an empty list.
    let unknown = || (version < 5).then(Vec::new);
    let created = |t: &ours::CreatedTopic| {
        theirs::create_topics_response::CreatableTopicResult::default()
            .with_name(topic(&t.name))
            .with_topic_id(id_text(t.topic_id).parse().expect("an id"))
            .with_error_code(t.error_code.0)
            .with_error_message(maybe(t.error_message.as_ref()))
            .with_topic_config_error_code(t.topic_config_error_code.0)
            .with_num_partitions(t.num_partitions)
            .with_replication_factor(t.replication_factor)
            .with_configs(t.configs.as_ref().map(|configs| configs.iter().map(config).collect()).or_else(unknown))
    };
    theirs::CreateTopicsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_topics(it.topics.iter().map(created).collect())
}

pub(super) fn create_partitions(it: &ours::CreatePartitionsResponse) -> theirs::CreatePartitionsResponse {
    let result = |result: &ours::CreatePartitionsResult| {
        theirs::create_partitions_response::CreatePartitionsTopicResult::default()
            .with_name(topic(&result.name))
            .with_error_code(result.error_code.0)
            .with_error_message(maybe(result.error_message.as_ref()))
    };
    theirs::CreatePartitionsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_results(it.results.iter().map(result).collect())
}

pub(super) fn describe_configs(version: i16, it: &ours::DescribeConfigsResponse) -> theirs::DescribeConfigsResponse {
    let synonym = |s: &ours::ConfigSynonym| {
        theirs::describe_configs_response::DescribeConfigsSynonym::default()
            .with_name(text(&s.name))
            .with_value(maybe(s.value.as_ref()))
            .with_source(s.source)
    };
    // Their default, which versions before 3 leave alone, is an empty description.
    let untold = || (version < 3).then(|| text(""));
    let config = |c: &ours::DescribedConfig| {
        theirs::describe_configs_response::DescribeConfigsResourceResult::default()
            .with_name(text(&c.name))
            .with_value(maybe(c.value.as_ref()))
            .with_read_only(c.read_only)
            .with_config_source(c.config_source)
            .with_is_sensitive(c.is_sensitive)
            .with_synonyms(c.synonyms.iter().map(synonym).collect())
            .with_config_type(c.config_type)
            .with_documentation(maybe(c.documentation.as_ref()).or_else(untold))
    };
    let described = |result: &ours::DescribedResource| {
        theirs::describe_configs_response::DescribeConfigsResult::default()
            .with_error_code(result.error_code.0)
            .with_error_message(maybe(result.error_message.as_ref()))
            .with_resource_type(result.resource_type)
            .with_resource_name(text(&result.resource_name))
            .with_configs(result.configs.iter().map(config).collect())
    };
    theirs::DescribeConfigsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_results(it.results.iter().map(described).collect())
}
