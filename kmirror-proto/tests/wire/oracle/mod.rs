//! An independent implementation, kafka-protocol 0.18, as the judge: at every version that both sides know, our bytes
//! are its bytes, and each side reads the other's. For one full message of each kind, and for those that come of it by
//! chance; what cannot be compared stands in `apart`.

mod apart;
mod generated;

mod acls;
mod cluster;
mod configs;
mod groups;
mod sasl;
mod transactions;
mod logs;
mod quotas;
mod requests;
mod responses;

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use kafka_protocol::ResponseError;
use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Encodable, Message, StrBytes, VersionRange};
use kmirror_proto::{
    AnyRequest, AnyResponse, ApiKey, ErrorCode, decode_request, decode_response, encode_request, encode_response,
};

use crate::round_trip::body;
use crate::samples::{every_version, request, response};

/// Whether they know a version: of a request and its response they may know different ones.
fn known(versions: VersionRange, version: i16) -> bool {
    (versions.min..=versions.max).contains(&version)
}

/// Header and body of a message as kafka-protocol writes them.
fn written(header: &impl Encodable, header_version: i16, message: &impl Encodable, version: i16) -> Bytes {
    let mut bytes = BytesMut::new();
    header.encode(&mut bytes, header_version).expect("their header encodes");
    message.encode(&mut bytes, version).expect("their message encodes");
    bytes.freeze()
}

/// Reads `bytes` as kafka-protocol does and compares.
fn assert_reads<T: Decodable + PartialEq + Debug>(bytes: &Bytes, header_bytes: usize, message: &T, version: i16) {
    let mut bytes = bytes.slice(header_bytes..);
    assert_eq!(&T::decode(&mut bytes, version).expect("they read ours"), message);
    assert!(bytes.is_empty(), "they read all of ours");
}

/// Whether the two could be compared.
fn check_request<T>(key: ApiKey, version: i16, ours: &AnyRequest, theirs: &T) -> bool
where
    T: Encodable + Decodable + Message + PartialEq + Debug,
{
    if !known(T::VERSIONS, version) {
        return false;
    }
    let api = theirs::ApiKey::try_from(key.0).expect("they know the api");
    let header_version = api.request_header_version(version);
    let header = theirs::RequestHeader::default()
        .with_request_api_key(key.0)
        .with_request_api_version(version)
        .with_correlation_id(77)
        .with_client_id(Some(StrBytes::from_static_str("kmirror")));
    let expected = written(&header, header_version, theirs, version);
    let sent = body(&encode_request(77, Some("kmirror"), version, ours).expect("ours encodes"));
    assert_eq!(sent, expected, "{key} v{version}");
    let header_bytes = header.compute_size(header_version).expect("a size");
    assert_reads(&sent, header_bytes, theirs, version);
    assert_eq!(&decode_request(expected).expect("we read theirs").1, ours, "{key} v{version}");
    true
}

/// Whether the two could be compared.
fn check_response<T>(key: ApiKey, version: i16, ours: &AnyResponse, theirs: &T) -> bool
where
    T: Encodable + Decodable + Message + PartialEq + Debug,
{
    if !known(T::VERSIONS, version) {
        return false;
    }
    let api = theirs::ApiKey::try_from(key.0).expect("they know the api");
    let header_version = api.response_header_version(version);
    let header = theirs::ResponseHeader::default().with_correlation_id(77);
    let expected = written(&header, header_version, theirs, version);
    let sent = body(&encode_response(77, version, ours).expect("ours encodes"));
    assert_eq!(sent, expected, "{key} v{version}");
    let header_bytes = header.compute_size(header_version).expect("a size");
    assert_reads(&sent, header_bytes, theirs, version);
    assert_eq!(&decode_response(key, version, expected).expect("we read theirs").1, ours, "{key} v{version}");
    true
}

/// The comparison of every API: our request and our response, and what makes theirs of `it`.
macro_rules! judged {
    (|$version:ident, $it:ident| $($api:ident: $request:expr, $response:expr;)*) => {
        /// Compares a request with theirs; whether that could be done.
        fn judge_request(key: ApiKey, $version: i16, ours: &AnyRequest) -> bool {
            match ours {
                $(AnyRequest::$api($it) => check_request(key, $version, ours, &$request),)*
            }
        }

        /// Compares a response with theirs; whether that could be done.
        fn judge_response(key: ApiKey, $version: i16, ours: &AnyResponse) -> bool {
            match ours {
                $(AnyResponse::$api($it) => check_response(key, $version, ours, &$response),)*
            }
        }
    };
}

#[test]
fn requests_are_the_same_bytes() {
    let all = every_version();
    let apart = all.filter(|&(key, version)| !judge_request(key, version, &request(key, version)));
    assert_eq!(apart.collect::<Vec<_>>(), apart::versions(apart::REQUESTS));
}

#[test]
fn responses_are_the_same_bytes() {
    let all = every_version();
    let apart = all.filter(|&(key, version)| !judge_response(key, version, &response(key, version)));
    assert_eq!(apart.collect::<Vec<_>>(), apart::versions(apart::RESPONSES));
}

judged! { |version, it|
    ApiVersions: requests::api_versions(it), responses::api_versions(it);
    Metadata: requests::metadata(it), responses::metadata(it);
    Fetch: requests::fetch(version, it), responses::fetch(it);
    Produce: requests::produce(it), responses::produce(it);
    ListOffsets: requests::list_offsets(it), responses::list_offsets(it);
    FindCoordinator: requests::find_coordinator(version, it), responses::find_coordinator(version, it);
    OffsetCommit: requests::offset_commit(it), responses::offset_commit(it);
    OffsetFetch: requests::offset_fetch(version, it), responses::offset_fetch(version, it);
    JoinGroup: groups::join_group_request(it), groups::join_group_response(it);
    SyncGroup: groups::sync_group_request(it), groups::sync_group_response(it);
    Heartbeat: groups::heartbeat_request(it), groups::heartbeat_response(it);
    LeaveGroup: groups::leave_group_request(version, it), groups::leave_group_response(it);
    DescribeGroups: groups::describe_groups_request(it), groups::describe_groups_response(it);
    ListGroups: groups::list_groups_request(it), groups::list_groups_response(it);
    DeleteGroups: groups::delete_groups_request(it), groups::delete_groups_response(it);
    OffsetDelete: groups::offset_delete_request(it), groups::offset_delete_response(it);
    InitProducerId: requests::init_producer_id(it), responses::init_producer_id(it);
    AddPartitionsToTxn: transactions::add_partitions_to_txn_request(version, it), transactions::add_partitions_to_txn_response(version, it);
    AddOffsetsToTxn: transactions::add_offsets_to_txn_request(it), transactions::add_offsets_to_txn_response(it);
    EndTxn: transactions::end_txn_request(it), transactions::end_txn_response(it);
    TxnOffsetCommit: transactions::txn_offset_commit_request(it), transactions::txn_offset_commit_response(it);
    WriteTxnMarkers: transactions::write_txn_markers_request(it), transactions::write_txn_markers_response(it);
    DescribeTransactions: transactions::describe_transactions_request(it), transactions::describe_transactions_response(it);
    ListTransactions: transactions::list_transactions_request(it), transactions::list_transactions_response(it);
    SaslHandshake: sasl::sasl_handshake_request(it), sasl::sasl_handshake_response(it);
    SaslAuthenticate: sasl::sasl_authenticate_request(it), sasl::sasl_authenticate_response(it);
    CreateTopics: requests::create_topics(it), responses::create_topics(version, it);
    CreatePartitions: requests::create_partitions(it), responses::create_partitions(it);
    DescribeConfigs: requests::describe_configs(it), responses::describe_configs(version, it);
    DeleteTopics: logs::delete_topics_request(version, it), logs::delete_topics_response(it);
    DeleteRecords: logs::delete_records_request(it), logs::delete_records_response(it);
    OffsetForLeaderEpoch: logs::offset_for_leader_epoch_request(it), logs::offset_for_leader_epoch_response(it);
    DescribeProducers: logs::describe_producers_request(it), logs::describe_producers_response(it);
    DescribeTopicPartitions: logs::describe_topic_partitions_request(it), logs::describe_topic_partitions_response(it);
    AlterConfigs: configs::alter_configs_request(it), configs::alter_configs_response(it);
    IncrementalAlterConfigs: configs::incremental_alter_configs_request(it), configs::incremental_alter_configs_response(it);
    ListConfigResources: configs::list_config_resources_request(it), configs::list_config_resources_response(it);
    DescribeCluster: cluster::describe_cluster_request(it), cluster::describe_cluster_response(it);
    ElectLeaders: cluster::elect_leaders_request(it), cluster::elect_leaders_response(it);
    DescribeLogDirs: cluster::describe_log_dirs_request(it), cluster::describe_log_dirs_response(it);
    AlterPartitionReassignments: cluster::alter_partition_reassignments_request(it), cluster::alter_partition_reassignments_response(it);
    ListPartitionReassignments: cluster::list_partition_reassignments_request(it), cluster::list_partition_reassignments_response(it);
    DescribeClientQuotas: quotas::describe_client_quotas_request(it), quotas::describe_client_quotas_response(it);
    AlterClientQuotas: quotas::alter_client_quotas_request(it), quotas::alter_client_quotas_response(it);
    DescribeAcls: acls::describe_acls_request(it), acls::describe_acls_response(it);
    CreateAcls: acls::create_acls_request(it), acls::create_acls_response(it);
    DeleteAcls: acls::delete_acls_request(it), acls::delete_acls_response(it);
}

/// Header versions follow from the first compact version; theirs come out of Kafka's definitions.
#[test]
fn header_versions_are_the_same() {
    for (key, version) in every_version() {
        let api = theirs::ApiKey::try_from(key.0).expect("they know the api");
        if !known(api.valid_versions(), version) {
            continue;
        }
        let compact = request(key, version).flexible(version);
        assert_eq!(api.request_header_version(version), if compact { 2 } else { 1 }, "{key} v{version}");
        let answer = i16::from(compact && key != ApiKey::API_VERSIONS);
        assert_eq!(api.response_header_version(version), answer, "{key} v{version}");
    }
}

/// `NOT_LEADER_OR_FOLLOWER` and `NotLeaderOrFollower` are one name.
fn folded(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

#[test]
fn names_of_errors_and_whether_to_retry_are_the_same() {
    for code in -1..=140 {
        let ours = ErrorCode(code);
        let Some(theirs) = ResponseError::try_from_code(code) else {
            assert!(ours.is_ok());
            continue;
        };
        let their_name = if theirs == ResponseError::Unknown(code) { None } else { Some(folded(&theirs.to_string())) };
        assert_eq!(ours.name().map(folded), their_name, "{ours}");
        // Java's ConcurrentTransactionsException is retriable since KAFKA-14417; they have the older answer.
        let retriable = theirs.is_retriable() || ours == ErrorCode::CONCURRENT_TRANSACTIONS;
        assert_eq!(ours.is_retriable(), retriable, "{ours}");
    }
}

#[test]
fn names_of_apis_are_the_same() {
    let known = (-1..=100).filter_map(|key| theirs::ApiKey::try_from(key).ok().map(|theirs| (key, theirs)));
    for (key, theirs) in known {
        assert_eq!(ApiKey(key).name().map(folded), Some(folded(&format!("{theirs:?}"))), "{key}");
    }
}

fn text(value: &str) -> StrBytes {
    StrBytes::from_string(value.to_owned())
}

fn maybe(value: Option<&String>) -> Option<StrBytes> {
    value.map(|value| text(value))
}

fn topic(name: &str) -> theirs::TopicName {
    text(name).into()
}

fn brokers(ids: &[i32]) -> Vec<theirs::BrokerId> {
    ids.iter().map(|&id| id.into()).collect()
}

/// Sixteen bytes as the text that their type of an id is parsed from: the type itself has no public name there.
fn id_text(id: [u8; 16]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
