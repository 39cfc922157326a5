//! Fields that a version cannot carry: dropped where Kafka calls them ignorable, refused where dropping them would ask
//! for something else.

mod in_admin;
mod in_groups;
mod in_transactions;

use kmirror_proto::messages::{
    ApiVersionsResponse, Coordinator, CreateTopicsRequest, DescribeConfigsRequest, FetchRequest, FetchResponse,
    FetchTopic, FetchableTopic, FetchedPartition, FindCoordinatorRequest, FindCoordinatorResponse, ForgottenTopic,
    InitProducerIdRequest, ListOffsetsPartition, ListOffsetsRequest, MetadataRequest, MetadataRequestTopic,
    OffsetCommitRequest, OffsetCommitTopic, OffsetFetchGroup, OffsetFetchRequest, ProduceRequest, ProduceTopic,
};
use kmirror_proto::{AnyRequest, AnyResponse, EncodeError, decode_response, encode_request, encode_response};

use crate::round_trip::body;
use crate::samples::{SPOKEN, response};

/// A broker's side holds one value for every client: what an old client does not read is left out.
#[test]
fn a_full_response_shrinks_to_what_the_version_carries() {
    for &(key, max, _) in SPOKEN {
        for version in 0..=max {
            let mut full = response(key, max);
            let mut expected = response(key, version);
            fill(&mut full, version);
            // Not ignorable: who cannot read of a follower must not be sent there.
            without_followers(&mut full);
            without_followers(&mut expected);
            in_groups::without_what_is_refused(version, &mut full);
            in_groups::without_what_is_refused(version, &mut expected);
            in_transactions::keep_one(version, &mut full);
            in_admin::without_what_is_refused(version, &mut full);
            in_admin::without_what_is_refused(version, &mut expected);
            let frame = encode_response(1, version, &full).expect("encodes");
            assert_eq!(decode_response(key, version, body(&frame)), Ok((1, expected)), "{key} v{version}");
        }
    }
}

/// Sets what the highest version has lost again, and leaves what an old one can say of several groups.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others only gain fields")]
fn fill(response: &mut AnyResponse, version: i16) {
    let name = || "orders".to_owned();
    match response {
        AnyResponse::Metadata(metadata) => metadata.cluster_authorized_operations = 4000,
        AnyResponse::Fetch(fetch) => fetch.topics.iter_mut().for_each(|topic| topic.name = name()),
        AnyResponse::Produce(produce) => produce.topics.iter_mut().for_each(|topic| topic.name = name()),
        AnyResponse::OffsetCommit(commit) => commit.topics.iter_mut().for_each(|topic| topic.name = name()),
        AnyResponse::TxnOffsetCommit(commit) => commit.topics.iter_mut().for_each(|topic| topic.name = name()),
        AnyResponse::ListOffsets(listed) => {
            let partitions = listed.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
            partitions.for_each(|partition| partition.segment_starts = vec![1000, 0]);
        }
        AnyResponse::FindCoordinator(found) if version <= 3 => found.coordinators.truncate(1),
        AnyResponse::OffsetFetch(fetched) => {
            fetched.groups.truncate(if version <= 7 { 1 } else { 2 });
            let topics = fetched.groups.iter_mut().flat_map(|group| &mut group.topics);
            topics.for_each(|topic| topic.name = name());
        }
        _ => {}
    }
}

fn without_followers(response: &mut AnyResponse) {
    if let AnyResponse::Fetch(fetch) = response {
        let partitions = fetch.topics.iter_mut().flat_map(|topic| &mut topic.partitions);
        partitions.for_each(|partition| partition.preferred_read_replica = -1);
    }
}

/// `why`: what would have gone wrong had the field been dropped.
fn refused(version: i16, request: impl Into<AnyRequest>, why: &str) {
    let error = encode_request(1, None, version, &request.into()).expect_err(why);
    assert!(matches!(error, EncodeError::NotInVersion { version: v, .. } if v == version), "{error}: {why}");
}

#[test]
fn a_metadata_request_never_asks_for_something_else() {
    let by_id = MetadataRequestTopic { topic_id: [1; 16], name: None };
    let none = MetadataRequest { topics: Some(Vec::new()), ..Default::default() };
    refused(0, none, "v0 would list every topic");
    let some = MetadataRequest { topics: Some(vec![by_id]), ..Default::default() };
    refused(9, some, "there is no name to send");
    let topic = MetadataRequest { include_topic_authorized_operations: true, ..Default::default() };
    refused(7, topic, "the answer would lack what was asked for");
    let cluster = MetadataRequest { include_cluster_authorized_operations: true, ..Default::default() };
    refused(7, cluster.clone(), "the answer would lack what was asked for");
    refused(11, cluster, "the answer would lack what was asked for");
}

#[test]
fn what_must_not_be_dropped_is_refused() {
    let forgetting = FetchRequest { forgotten_topics: vec![ForgottenTopic::default()], ..Default::default() };
    refused(6, forgetting, "there is no session to forget them");
    let within = ProduceRequest { transactional_id: Some("tx".to_owned()), ..Default::default() };
    refused(2, within, "records would leave the transaction");
    let transaction = FindCoordinatorRequest { key_type: 1, keys: vec!["tx".to_owned()] };
    refused(0, transaction, "the group of that name would be found");
    let fenced = OffsetCommitRequest { group_instance_id: Some("i".to_owned()), ..Default::default() };
    refused(6, fenced, "the static member would not be fenced");
    let group = |topics| OffsetFetchRequest::group("g".to_owned(), topics);
    refused(1, group(None), "there is no null array");
    let stable = OffsetFetchRequest { require_stable: true, ..group(Some(Vec::new())) };
    refused(6, stable, "an unstable offset would be believed");
    refused(2, InitProducerIdRequest { producer_id: 1, ..Default::default() }, "a new id would come");
    refused(2, InitProducerIdRequest { producer_epoch: 1, ..Default::default() }, "another epoch would come");
    refused(5, InitProducerIdRequest { enable_2pc: true, ..Default::default() }, "one phase would do");
    refused(5, InitProducerIdRequest { keep_prepared_txn: true, ..Default::default() }, "it would be aborted");
    refused(0, CreateTopicsRequest { validate_only: true, ..Default::default() }, "the topics would be created");
    let asked = DescribeConfigsRequest { include_synonyms: true, ..Default::default() };
    refused(0, asked, "the answer would lack what was asked for");
    let asked = DescribeConfigsRequest { include_documentation: true, ..Default::default() };
    refused(2, asked, "the answer would lack what was asked for");
}

/// Several keys and groups came late; which of them the only place is for cannot be guessed.
#[test]
fn one_is_not_taken_for_several() {
    for keys in [Vec::new(), vec!["a".to_owned(), "b".to_owned()]] {
        refused(3, FindCoordinatorRequest { key_type: 0, keys }, "one key of several would be looked for");
    }
    refused(7, OffsetFetchRequest::default(), "there is no group");
    let groups = vec![OffsetFetchGroup::default(), OffsetFetchGroup::default()];
    refused(7, OffsetFetchRequest { groups, require_stable: false }, "one group of several would be looked for");
    let twice = FindCoordinatorResponse { coordinators: vec![Coordinator::default(); 2], ..Default::default() };
    let error = encode_response(1, 3, &twice.into()).expect_err("one of them would be lost");
    assert!(matches!(error, EncodeError::NotInVersion { version: 3, .. }), "{error}");
}

/// A version has a topic's name or its id; with the one that it lacks alone, it would ask for no topic at all.
#[test]
fn a_topic_is_named_as_the_version_names_it() {
    let name = "t".to_owned();
    let fetch = |topic| FetchRequest { topics: vec![topic], ..Default::default() };
    refused(13, fetch(FetchTopic { name: name.clone(), ..Default::default() }), "there is no id to send");
    refused(12, fetch(FetchTopic { topic_id: [1; 16], ..Default::default() }), "there is no name to send");
    let produce = ProduceTopic { name: name.clone(), ..Default::default() };
    refused(13, ProduceRequest { topics: vec![produce], ..Default::default() }, "there is no id to send");
    let commit = OffsetCommitTopic { topic_id: [1; 16], ..Default::default() };
    refused(9, OffsetCommitRequest { topics: vec![commit], ..Default::default() }, "there is no name to send");
    let both = fetch(FetchTopic { name, topic_id: [1; 16], ..Default::default() });
    for version in [12, 13] {
        assert!(encode_request(1, None, version, &both.clone().into()).is_ok(), "v{version} has one of them");
    }
}

#[test]
fn a_follower_is_not_named_to_who_cannot_go_there() {
    let partitions = vec![FetchedPartition { preferred_read_replica: 3, ..Default::default() }];
    let topics = vec![FetchableTopic { name: "t".to_owned(), partitions, ..Default::default() }];
    let response = FetchResponse { topics, ..Default::default() }.into();
    let error = encode_response(1, 10, &response).expect_err("the client would see a partition without records");
    assert_eq!(error, EncodeError::NotInVersion { what: "preferred read replica", version: 10 });
}

/// What Kafka documents for a message that was never filled in; a mirror builds its requests on these.
#[test]
fn defaults_are_those_of_kafka() {
    let fetch = FetchRequest::default();
    assert_eq!((fetch.replica_id, fetch.replica_epoch), (-1, -1), "a client, not a follower");
    let list = ListOffsetsRequest::default();
    assert_eq!((list.replica_id, ListOffsetsPartition::default().max_num_offsets), (-1, 1));
    assert_eq!(ApiVersionsResponse::default().finalized_features_epoch, -1);
    assert_eq!((fetch.max_bytes, fetch.session_id, fetch.session_epoch), (i32::MAX, 0, -1));
    assert!(MetadataRequest::default().allow_auto_topic_creation);
    assert_eq!(CreateTopicsRequest::default().timeout_ms, 60_000);
    assert_eq!(InitProducerIdRequest::default().producer_id, -1);
    assert_eq!(OffsetCommitRequest::default().generation_id_or_member_epoch, -1);
}
