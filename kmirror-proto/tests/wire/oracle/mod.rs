//! An independent implementation, kafka-protocol 0.18, as the judge: at every version that both sides know, our bytes
//! are its bytes, and each side reads the other's.

mod requests;
mod responses;

use std::fmt::Debug;

use bytes::{Bytes, BytesMut};
use kafka_protocol::ResponseError;
use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};
use kmirror_proto::{
    AnyRequest, AnyResponse, ApiKey, ErrorCode, decode_request, decode_response, encode_request, encode_response,
};

use crate::round_trip::body;
use crate::samples::{SPOKEN, every_version, request, response};

/// The lowest version of (request, response) that kafka-protocol 0.18 knows; its highest are beyond ours.
fn known_from(key: ApiKey) -> i16 {
    match key {
        ApiKey::PRODUCE => 3,
        ApiKey::FETCH => 4,
        ApiKey::LIST_OFFSETS | ApiKey::OFFSET_FETCH | ApiKey::DESCRIBE_CONFIGS => 1,
        ApiKey::OFFSET_COMMIT | ApiKey::CREATE_TOPICS => 2,
        _ => 0,
    }
}

/// Every API at every version that both sides know.
fn shared_versions() -> impl Iterator<Item = (ApiKey, i16)> {
    every_version().filter(|&(key, version)| version >= known_from(key))
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

fn check_request<T>(key: ApiKey, version: i16, ours: &AnyRequest, theirs: &T)
where
    T: Encodable + Decodable + PartialEq + Debug,
{
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
}

fn check_response<T>(key: ApiKey, version: i16, ours: &AnyResponse, theirs: &T)
where
    T: Encodable + Decodable + PartialEq + Debug,
{
    let api = theirs::ApiKey::try_from(key.0).expect("they know the api");
    let header_version = api.response_header_version(version);
    let header = theirs::ResponseHeader::default().with_correlation_id(77);
    let expected = written(&header, header_version, theirs, version);
    let sent = body(&encode_response(77, version, ours).expect("ours encodes"));
    assert_eq!(sent, expected, "{key} v{version}");
    let header_bytes = header.compute_size(header_version).expect("a size");
    assert_reads(&sent, header_bytes, theirs, version);
    assert_eq!(&decode_response(key, version, expected).expect("we read theirs").1, ours, "{key} v{version}");
}

#[test]
fn requests_are_the_same_bytes() {
    for (key, version) in shared_versions() {
        let ours = request(key, version);
        match &ours {
            AnyRequest::ApiVersions(it) => check_request(key, version, &ours, &requests::api_versions(it)),
            AnyRequest::Metadata(it) => check_request(key, version, &ours, &requests::metadata(it)),
            AnyRequest::Fetch(it) => check_request(key, version, &ours, &requests::fetch(it)),
            AnyRequest::Produce(it) => check_request(key, version, &ours, &requests::produce(it)),
            AnyRequest::ListOffsets(it) => check_request(key, version, &ours, &requests::list_offsets(it)),
            AnyRequest::FindCoordinator(it) => {
                check_request(key, version, &ours, &requests::find_coordinator(version, it));
            }
            AnyRequest::OffsetCommit(it) => check_request(key, version, &ours, &requests::offset_commit(it)),
            AnyRequest::OffsetFetch(it) => check_request(key, version, &ours, &requests::offset_fetch(it)),
            AnyRequest::InitProducerId(it) => check_request(key, version, &ours, &requests::init_producer_id(it)),
            AnyRequest::CreateTopics(it) => check_request(key, version, &ours, &requests::create_topics(it)),
            AnyRequest::CreatePartitions(it) => check_request(key, version, &ours, &requests::create_partitions(it)),
            AnyRequest::DescribeConfigs(it) => check_request(key, version, &ours, &requests::describe_configs(it)),
        }
    }
}

#[test]
fn responses_are_the_same_bytes() {
    for (key, version) in shared_versions() {
        let ours = response(key, version);
        match &ours {
            AnyResponse::ApiVersions(it) => check_response(key, version, &ours, &responses::api_versions(it)),
            AnyResponse::Metadata(it) => check_response(key, version, &ours, &responses::metadata(it)),
            AnyResponse::Fetch(it) => check_response(key, version, &ours, &responses::fetch(it)),
            AnyResponse::Produce(it) => check_response(key, version, &ours, &responses::produce(it)),
            AnyResponse::ListOffsets(it) => check_response(key, version, &ours, &responses::list_offsets(it)),
            AnyResponse::FindCoordinator(it) => {
                check_response(key, version, &ours, &responses::find_coordinator(version, it));
            }
            AnyResponse::OffsetCommit(it) => check_response(key, version, &ours, &responses::offset_commit(it)),
            AnyResponse::OffsetFetch(it) => check_response(key, version, &ours, &responses::offset_fetch(it)),
            AnyResponse::InitProducerId(it) => check_response(key, version, &ours, &responses::init_producer_id(it)),
            AnyResponse::CreateTopics(it) => {
                check_response(key, version, &ours, &responses::create_topics(version, it));
            }
            AnyResponse::CreatePartitions(it) => {
                check_response(key, version, &ours, &responses::create_partitions(it));
            }
            AnyResponse::DescribeConfigs(it) => {
                check_response(key, version, &ours, &responses::describe_configs(version, it));
            }
        }
    }
}

/// Header versions follow from the first compact version; theirs come out of Kafka's definitions.
#[test]
fn header_versions_are_the_same() {
    for (key, max, flexible_from) in SPOKEN {
        let api = theirs::ApiKey::try_from(key.0).expect("they know the api");
        for version in known_from(key)..=max {
            let compact = version >= flexible_from;
            assert_eq!(api.request_header_version(version), if compact { 2 } else { 1 }, "{key} v{version}");
            let answer = i16::from(compact && key != ApiKey::API_VERSIONS);
            assert_eq!(api.response_header_version(version), answer, "{key} v{version}");
        }
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
