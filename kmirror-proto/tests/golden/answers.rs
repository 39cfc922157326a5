//! Requests and answers.

use bytes::Bytes;
use kmirror_proto::{
    AnyRequest, AnyResponse, ApiKey, ErrorCode, Frame, decode_request, decode_response, encode_request, encode_response,
};

use super::segments::told;
use super::{Vector, rows, vectors};

fn body(frame: &Frame) -> Vec<u8> {
    frame.chunks().concat()[4..].to_vec()
}

/// API, version and which half of the exchange.
fn message(vector: &Vector) -> Option<(ApiKey, i16, &'static str)> {
    let [name, version, half] = vector.words[..] else { return None };
    let api = (0..100).map(ApiKey).find(|api| api.name() == Some(name)).unwrap();
    Some((api, version.parse().unwrap(), half))
}

#[test]
fn requests_that_brokers_took_are_read_and_written_again() {
    for vector in vectors() {
        let Some((api, version, "request")) = message(&vector) else { continue };
        let what = format!("{api} v{version} to {}", vector.release);
        let (header, request) = decode_request(vector.bytes.clone()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((header.key, header.version, header.correlation_id), (api, version, 7), "{what}");
        assert_eq!(header.client_id.as_deref(), Some("golden"), "{what}");
        assert_eq!(topic_of(&request), named(&request, version), "{what}");
        assert_eq!(body(&encode_request(7, Some("golden"), version, &request).unwrap()), vector.bytes, "{what}");
    }
}

/// The first topic or group that a request names.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is asked")]
fn topic_of(request: &AnyRequest) -> Option<String> {
    match request {
        AnyRequest::Metadata(it) => it.topics.as_ref().unwrap()[0].name.clone(),
        AnyRequest::Fetch(it) => Some(it.topics[0].name.clone()),
        AnyRequest::Produce(it) => Some(it.topics[0].name.clone()),
        AnyRequest::ListOffsets(it) => Some(it.topics[0].name.clone()),
        AnyRequest::FindCoordinator(it) => Some(it.keys[0].clone()),
        AnyRequest::OffsetCommit(it) => Some(it.topics[0].name.clone()),
        AnyRequest::OffsetFetch(it) => Some(it.groups[0].topics.as_ref().unwrap()[0].name.clone()),
        AnyRequest::CreateTopics(it) => Some(it.topics[0].name.clone()),
        AnyRequest::CreatePartitions(it) => Some(it.topics[0].name.clone()),
        AnyRequest::DescribeConfigs(it) => Some(it.resources[0].resource_name.clone()),
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most ask about one topic")]
fn named(request: &AnyRequest, version: i16) -> Option<String> {
    match request {
        AnyRequest::ApiVersions(_) | AnyRequest::InitProducerId(_) => None,
        AnyRequest::Produce(_) => Some("golden-written".to_owned()),
        AnyRequest::CreateTopics(_) => Some(format!("golden-v{version}")),
        _ => Some("golden".to_owned()),
    }
}

#[test]
fn answers_are_read_as_what_is_known_and_written_again() {
    for vector in vectors() {
        let Some((api, version, "response")) = message(&vector) else { continue };
        let what = format!("{api} v{version} of {}", vector.release);
        let read = decode_response(api, version, vector.bytes.clone());
        let (correlation, response) = read.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(correlation, 7, "{what}");
        check(&response, version, &vector, &what);
        assert_eq!(body(&encode_response(7, version, &response).unwrap()), vector.bytes, "{what}");
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is checked below")]
fn check(response: &AnyResponse, version: i16, vector: &Vector, what: &str) {
    let modern = vector.release.starts_with('4');
    match response {
        AnyResponse::ApiVersions(it) => {
            assert_eq!((it.error_code, it.api_keys.len()), (ErrorCode::NONE, vector.apis), "{what}");
            let fetch = it.api_keys.iter().find(|range| range.api_key == ApiKey::FETCH).unwrap();
            assert_eq!(fetch.min_version, if modern { 4 } else { 0 }, "{what}");
        }
        AnyResponse::Metadata(it) => {
            assert_eq!((it.brokers[0].node_id, it.brokers[0].host.as_str(), it.brokers.len()), (0, "127.0.0.1", 1));
            let topic = &it.topics[0];
            assert_eq!((topic.error_code, topic.name.as_str()), (ErrorCode::NONE, "golden"), "{what}");
            assert_eq!(topic.topic_id != [0; 16], version >= 10, "{what}");
            let partition = &topic.partitions[0];
            assert_eq!((partition.leader_id, &partition.replica_nodes[..], topic.partitions.len()), (0, &[0][..], 1));
        }
        AnyResponse::Fetch(it) => {
            let partition = &it.topics[0].partitions[0];
            assert_eq!((partition.error_code, partition.high_watermark), (ErrorCode::NONE, 5), "{what}");
            assert_eq!(partition.log_start_offset, if version >= 5 { 0 } else { -1 }, "{what}");
            fetched(partition.records.clone().unwrap(), version, what);
        }
        AnyResponse::Produce(it) => {
            let partition = &it.topics[0].partitions[0];
            let before = i64::from(version - if modern { 3 } else { 0 });
            assert_eq!((partition.error_code, partition.base_offset), (ErrorCode::NONE, 2 * before), "{what}");
        }
        AnyResponse::ListOffsets(it) => {
            let partition = &it.topics[0].partitions[0];
            assert_eq!((partition.error_code, partition.offset), (ErrorCode::NONE, 5), "{what}");
        }
        AnyResponse::FindCoordinator(it) => {
            let found = &it.coordinators[0];
            assert_eq!((found.error_code, found.node_id, found.host.as_str()), (ErrorCode::NONE, 0, "127.0.0.1"));
        }
        _ => check_rest(response, version, what),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is asked")]
fn check_rest(response: &AnyResponse, version: i16, what: &str) {
    match response {
        AnyResponse::OffsetCommit(it) => {
            assert_eq!(
                (it.topics[0].name.as_str(), it.topics[0].partitions[0].error_code),
                ("golden", ErrorCode::NONE)
            );
        }
        AnyResponse::OffsetFetch(it) => {
            let partition = &it.groups[0].topics[0].partitions[0];
            // v0 is about ZooKeeper, which keeps the offset alone.
            let text = if version == 0 { "" } else { "as golden" };
            let committed = (partition.committed_offset, partition.metadata.as_deref());
            assert_eq!((committed, partition.error_code), ((2, Some(text)), ErrorCode::NONE), "{what}");
        }
        AnyResponse::InitProducerId(it) => {
            assert_eq!((it.error_code, it.producer_epoch, it.producer_id >= 0), (ErrorCode::NONE, 0, true), "{what}");
        }
        AnyResponse::CreateTopics(it) => {
            let topic = &it.topics[0];
            assert_eq!((topic.error_code, &topic.name), (ErrorCode::NONE, &format!("golden-v{version}")), "{what}");
            if version >= 5 {
                assert_eq!((topic.num_partitions, topic.replication_factor), (2, 1), "{what}");
                let configs = topic.configs.as_ref().unwrap();
                let retention = configs.iter().find(|config| config.name == "retention.ms").unwrap();
                assert_eq!(retention.value.as_deref(), Some("86400000"), "{what}");
            }
        }
        AnyResponse::CreatePartitions(it) => {
            assert_eq!((it.results[0].name.as_str(), it.results[0].error_code), ("golden", ErrorCode::NONE), "{what}");
        }
        AnyResponse::DescribeConfigs(it) => {
            let mut configs: Vec<_> =
                it.results[0].configs.iter().map(|config| (config.name.as_str(), config.value.as_deref())).collect();
            configs.sort_unstable();
            let max = configs[1].1.unwrap().parse::<u32>().unwrap();
            assert_eq!((configs[0], configs[1].0), (("cleanup.policy", Some("delete")), "max.message.bytes"), "{what}");
            assert!((1_000_000..1_100_000).contains(&max), "{what}");
        }
        other => panic!("{what}: {other:?}"),
    }
}

/// Java's five records; an old version is answered in an old format.
fn fetched(records: Bytes, version: i16, what: &str) {
    let (entries, found) = told(records);
    let magic = entries[0].magic();
    assert!(magic == 2 || version < 4, "{what}: magic {magic}");
    assert_eq!(found.iter().map(|(offset, _)| *offset).collect::<Vec<_>>(), [0, 1, 2, 3, 4], "{what}");
    let mut expected = rows(magic == 2);
    if magic == 0 {
        expected.iter_mut().for_each(|row| row.timestamp = -1);
    }
    assert!(found.into_iter().map(|(_, row)| row).eq(expected), "{what}");
}
