//! One value of every message at every version: each field that the version carries is set to something else than its
//! default, each field that it does not carry stands at the default that Kafka documents.

mod acls;
mod cluster;
mod configs;
mod groups;
mod sasl;
mod transactions;
mod logs;
mod quotas;
pub(crate) mod requests;
pub(crate) mod responses;

use kmirror_proto::{AnyRequest, AnyResponse, ApiKey};

/// What is spoken: API, highest version, first compact version. The lowest is 0 everywhere.
pub(crate) const SPOKEN: &[(ApiKey, i16, i16)] = &[
    (ApiKey::API_VERSIONS, 5, 3),
    (ApiKey::METADATA, 13, 9),
    (ApiKey::FETCH, 18, 12),
    (ApiKey::PRODUCE, 13, 9),
    (ApiKey::LIST_OFFSETS, 11, 6),
    (ApiKey::FIND_COORDINATOR, 6, 3),
    (ApiKey::OFFSET_COMMIT, 10, 8),
    (ApiKey::OFFSET_FETCH, 10, 6),
    (ApiKey::JOIN_GROUP, 9, 6),
    (ApiKey::SYNC_GROUP, 5, 4),
    (ApiKey::HEARTBEAT, 4, 4),
    (ApiKey::LEAVE_GROUP, 5, 4),
    (ApiKey::DESCRIBE_GROUPS, 6, 5),
    (ApiKey::LIST_GROUPS, 5, 3),
    (ApiKey::DELETE_GROUPS, 3, 2),
    (ApiKey::OFFSET_DELETE, 0, i16::MAX),
    (ApiKey::INIT_PRODUCER_ID, 6, 2),
    (ApiKey::ADD_PARTITIONS_TO_TXN, 5, 3),
    (ApiKey::ADD_OFFSETS_TO_TXN, 4, 3),
    (ApiKey::END_TXN, 5, 3),
    (ApiKey::TXN_OFFSET_COMMIT, 6, 3),
    (ApiKey::WRITE_TXN_MARKERS, 2, 1),
    (ApiKey::DESCRIBE_TRANSACTIONS, 0, 0),
    (ApiKey::LIST_TRANSACTIONS, 2, 0),
    (ApiKey::SASL_HANDSHAKE, 1, i16::MAX),
    (ApiKey::SASL_AUTHENTICATE, 2, 2),
    (ApiKey::CREATE_TOPICS, 7, 5),
    (ApiKey::CREATE_PARTITIONS, 3, 2),
    (ApiKey::DESCRIBE_CONFIGS, 4, 4),
    (ApiKey::DELETE_TOPICS, 6, 4),
    (ApiKey::DELETE_RECORDS, 2, 2),
    (ApiKey::OFFSET_FOR_LEADER_EPOCH, 4, 4),
    (ApiKey::DESCRIBE_PRODUCERS, 0, 0),
    (ApiKey::DESCRIBE_TOPIC_PARTITIONS, 0, 0),
    (ApiKey::ALTER_CONFIGS, 2, 2),
    (ApiKey::INCREMENTAL_ALTER_CONFIGS, 1, 1),
    (ApiKey::LIST_CONFIG_RESOURCES, 1, 0),
    (ApiKey::DESCRIBE_CLUSTER, 2, 0),
    (ApiKey::ELECT_LEADERS, 2, 2),
    (ApiKey::DESCRIBE_LOG_DIRS, 5, 2),
    (ApiKey::ALTER_PARTITION_REASSIGNMENTS, 1, 0),
    (ApiKey::LIST_PARTITION_REASSIGNMENTS, 0, 0),
    (ApiKey::DESCRIBE_CLIENT_QUOTAS, 1, 1),
    (ApiKey::ALTER_CLIENT_QUOTAS, 1, 1),
    (ApiKey::DESCRIBE_ACLS, 3, 2),
    (ApiKey::CREATE_ACLS, 3, 2),
    (ApiKey::DELETE_ACLS, 3, 2),
];

/// Every API with each of its versions.
pub(crate) fn every_version() -> impl Iterator<Item = (ApiKey, i16)> {
    SPOKEN.iter().flat_map(|&(key, max, _)| (0..=max).map(move |version| (key, version)))
}

/// The request of `key`, filled as far as `version` carries it.
pub(crate) fn request(key: ApiKey, version: i16) -> AnyRequest {
    match key {
        ApiKey::API_VERSIONS => requests::api_versions(version).into(),
        ApiKey::METADATA => requests::metadata(version).into(),
        ApiKey::FETCH => requests::fetch(version).into(),
        ApiKey::PRODUCE => requests::produce(version).into(),
        ApiKey::LIST_OFFSETS => requests::list_offsets(version).into(),
        ApiKey::FIND_COORDINATOR => requests::find_coordinator(version).into(),
        ApiKey::OFFSET_COMMIT => requests::offset_commit(version).into(),
        ApiKey::OFFSET_FETCH => requests::offset_fetch(version).into(),
        ApiKey::JOIN_GROUP => groups::join_group_request(version).into(),
        ApiKey::SYNC_GROUP => groups::sync_group_request(version).into(),
        ApiKey::HEARTBEAT => groups::heartbeat_request(version).into(),
        ApiKey::LEAVE_GROUP => groups::leave_group_request(version).into(),
        ApiKey::DESCRIBE_GROUPS => groups::describe_groups_request(version).into(),
        ApiKey::LIST_GROUPS => groups::list_groups_request(version).into(),
        ApiKey::DELETE_GROUPS => groups::delete_groups_request(version).into(),
        ApiKey::OFFSET_DELETE => groups::offset_delete_request(version).into(),
        ApiKey::INIT_PRODUCER_ID => requests::init_producer_id(version).into(),
        ApiKey::ADD_PARTITIONS_TO_TXN => transactions::add_partitions_to_txn_request(version).into(),
        ApiKey::ADD_OFFSETS_TO_TXN => transactions::add_offsets_to_txn_request(version).into(),
        ApiKey::END_TXN => transactions::end_txn_request(version).into(),
        ApiKey::TXN_OFFSET_COMMIT => transactions::txn_offset_commit_request(version).into(),
        ApiKey::WRITE_TXN_MARKERS => transactions::write_txn_markers_request(version).into(),
        ApiKey::DESCRIBE_TRANSACTIONS => transactions::describe_transactions_request(version).into(),
        ApiKey::LIST_TRANSACTIONS => transactions::list_transactions_request(version).into(),
        ApiKey::SASL_HANDSHAKE => sasl::sasl_handshake_request(version).into(),
        ApiKey::SASL_AUTHENTICATE => sasl::sasl_authenticate_request(version).into(),
        ApiKey::CREATE_TOPICS => requests::create_topics(version).into(),
        ApiKey::CREATE_PARTITIONS => requests::create_partitions(version).into(),
        ApiKey::DESCRIBE_CONFIGS => requests::describe_configs(version).into(),
        ApiKey::DELETE_TOPICS => logs::delete_topics_request(version).into(),
        ApiKey::DELETE_RECORDS => logs::delete_records_request(version).into(),
        ApiKey::OFFSET_FOR_LEADER_EPOCH => logs::offset_for_leader_epoch_request(version).into(),
        ApiKey::DESCRIBE_PRODUCERS => logs::describe_producers_request(version).into(),
        ApiKey::DESCRIBE_TOPIC_PARTITIONS => logs::describe_topic_partitions_request(version).into(),
        ApiKey::ALTER_CONFIGS => configs::alter_configs_request(version).into(),
        ApiKey::INCREMENTAL_ALTER_CONFIGS => configs::incremental_alter_configs_request(version).into(),
        ApiKey::LIST_CONFIG_RESOURCES => configs::list_config_resources_request(version).into(),
        ApiKey::DESCRIBE_CLUSTER => cluster::describe_cluster_request(version).into(),
        ApiKey::ELECT_LEADERS => cluster::elect_leaders_request(version).into(),
        ApiKey::DESCRIBE_LOG_DIRS => cluster::describe_log_dirs_request(version).into(),
        ApiKey::ALTER_PARTITION_REASSIGNMENTS => cluster::alter_partition_reassignments_request(version).into(),
        ApiKey::LIST_PARTITION_REASSIGNMENTS => cluster::list_partition_reassignments_request(version).into(),
        ApiKey::DESCRIBE_CLIENT_QUOTAS => quotas::describe_client_quotas_request(version).into(),
        ApiKey::ALTER_CLIENT_QUOTAS => quotas::alter_client_quotas_request(version).into(),
        ApiKey::DESCRIBE_ACLS => acls::describe_acls_request(version).into(),
        ApiKey::CREATE_ACLS => acls::create_acls_request(version).into(),
        ApiKey::DELETE_ACLS => acls::delete_acls_request(version).into(),
        other => panic!("{other} has no sample"),
    }
}

/// The response of `key`, filled as far as `version` carries it.
pub(crate) fn response(key: ApiKey, version: i16) -> AnyResponse {
    match key {
        ApiKey::API_VERSIONS => responses::api_versions(version).into(),
        ApiKey::METADATA => responses::metadata(version).into(),
        ApiKey::FETCH => responses::fetch(version).into(),
        ApiKey::PRODUCE => responses::produce(version).into(),
        ApiKey::LIST_OFFSETS => responses::list_offsets(version).into(),
        ApiKey::FIND_COORDINATOR => responses::find_coordinator(version).into(),
        ApiKey::OFFSET_COMMIT => responses::offset_commit(version).into(),
        ApiKey::OFFSET_FETCH => responses::offset_fetch(version).into(),
        ApiKey::JOIN_GROUP => groups::join_group_response(version).into(),
        ApiKey::SYNC_GROUP => groups::sync_group_response(version).into(),
        ApiKey::HEARTBEAT => groups::heartbeat_response(version).into(),
        ApiKey::LEAVE_GROUP => groups::leave_group_response(version).into(),
        ApiKey::DESCRIBE_GROUPS => groups::describe_groups_response(version).into(),
        ApiKey::LIST_GROUPS => groups::list_groups_response(version).into(),
        ApiKey::DELETE_GROUPS => groups::delete_groups_response(version).into(),
        ApiKey::OFFSET_DELETE => groups::offset_delete_response(version).into(),
        ApiKey::INIT_PRODUCER_ID => responses::init_producer_id(version).into(),
        ApiKey::ADD_PARTITIONS_TO_TXN => transactions::add_partitions_to_txn_response(version).into(),
        ApiKey::ADD_OFFSETS_TO_TXN => transactions::add_offsets_to_txn_response(version).into(),
        ApiKey::END_TXN => transactions::end_txn_response(version).into(),
        ApiKey::TXN_OFFSET_COMMIT => transactions::txn_offset_commit_response(version).into(),
        ApiKey::WRITE_TXN_MARKERS => transactions::write_txn_markers_response(version).into(),
        ApiKey::DESCRIBE_TRANSACTIONS => transactions::describe_transactions_response(version).into(),
        ApiKey::LIST_TRANSACTIONS => transactions::list_transactions_response(version).into(),
        ApiKey::SASL_HANDSHAKE => sasl::sasl_handshake_response(version).into(),
        ApiKey::SASL_AUTHENTICATE => sasl::sasl_authenticate_response(version).into(),
        ApiKey::CREATE_TOPICS => responses::create_topics(version).into(),
        ApiKey::CREATE_PARTITIONS => responses::create_partitions(version).into(),
        ApiKey::DESCRIBE_CONFIGS => responses::describe_configs(version).into(),
        ApiKey::DELETE_TOPICS => logs::delete_topics_response(version).into(),
        ApiKey::DELETE_RECORDS => logs::delete_records_response(version).into(),
        ApiKey::OFFSET_FOR_LEADER_EPOCH => logs::offset_for_leader_epoch_response(version).into(),
        ApiKey::DESCRIBE_PRODUCERS => logs::describe_producers_response(version).into(),
        ApiKey::DESCRIBE_TOPIC_PARTITIONS => logs::describe_topic_partitions_response(version).into(),
        ApiKey::ALTER_CONFIGS => configs::alter_configs_response(version).into(),
        ApiKey::INCREMENTAL_ALTER_CONFIGS => configs::incremental_alter_configs_response(version).into(),
        ApiKey::LIST_CONFIG_RESOURCES => configs::list_config_resources_response(version).into(),
        ApiKey::DESCRIBE_CLUSTER => cluster::describe_cluster_response(version).into(),
        ApiKey::ELECT_LEADERS => cluster::elect_leaders_response(version).into(),
        ApiKey::DESCRIBE_LOG_DIRS => cluster::describe_log_dirs_response(version).into(),
        ApiKey::ALTER_PARTITION_REASSIGNMENTS => cluster::alter_partition_reassignments_response(version).into(),
        ApiKey::LIST_PARTITION_REASSIGNMENTS => cluster::list_partition_reassignments_response(version).into(),
        ApiKey::DESCRIBE_CLIENT_QUOTAS => quotas::describe_client_quotas_response(version).into(),
        ApiKey::ALTER_CLIENT_QUOTAS => quotas::alter_client_quotas_response(version).into(),
        ApiKey::DESCRIBE_ACLS => acls::describe_acls_response(version).into(),
        ApiKey::CREATE_ACLS => acls::create_acls_response(version).into(),
        ApiKey::DELETE_ACLS => acls::delete_acls_response(version).into(),
        other => panic!("{other} has no sample"),
    }
}

/// `value` where the version carries the field, else `default`.
fn carried<T>(carried: bool, value: T, default: T) -> T {
    if carried { value } else { default }
}

/// A topic's name and id: the one that the version carries, the other one empty.
fn topic(by_id: bool, name: &str, id: u8) -> (String, [u8; 16]) {
    if by_id { (String::new(), [id; 16]) } else { (name.to_owned(), [0; 16]) }
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}
