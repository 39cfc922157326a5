//! Expectations: facts on CreateTopics, and what brokers of each release answered to the same requests.

use std::time::Duration;

use kmirror_proto::messages::{AnyRequest, AnyResponse, CreatableReplicaAssignment, CreatableTopicConfig};

use super::*;
use crate::NodeId;
use crate::asking::{Asking, Came};

fn topic(name: &str, num_partitions: i32, replication_factor: i16) -> CreatableTopic {
    CreatableTopic { name: name.to_owned(), num_partitions, replication_factor, ..CreatableTopic::default() }
}

fn assigned(name: &str, assignments: &[(i32, &[i32])]) -> CreatableTopic {
    let assignments = assignments.iter().map(|(partition_index, brokers)| CreatableReplicaAssignment {
        partition_index: *partition_index,
        broker_ids: brokers.to_vec(),
    });
    CreatableTopic { assignments: assignments.collect(), ..topic(name, -1, -1) }
}

fn with(name: &str, configs: &[(&str, Option<&str>)]) -> CreatableTopic {
    let configs = configs
        .iter()
        .map(|(name, value)| CreatableTopicConfig { name: (*name).to_owned(), value: value.map(str::to_owned) });
    CreatableTopic { configs: configs.collect(), ..topic(name, 1, 1) }
}

fn request(topics: &[CreatableTopic]) -> CreateTopicsRequest {
    CreateTopicsRequest { topics: topics.to_vec(), timeout_ms: 1500, validate_only: false }
}

fn newest(client: &Asking) -> i16 {
    let apis = client.cluster.release().apis();
    apis.iter().find(|range| range.api_key == kmirror_proto::ApiKey::CREATE_TOPICS).unwrap().max_version
}

fn ask(client: &mut Asking, topics: &[CreatableTopic]) -> Vec<CreatedTopic> {
    let version = newest(client);
    let answer: CreateTopicsResponse = client.ask(version, request(topics));
    answer.topics
}

/// Code and message for one topic, on a fresh broker of the release.
fn said(release: Release, topic: CreatableTopic) -> (i16, Option<String>) {
    let answer = ask(&mut Asking::of(release), &[topic]).remove(0);
    (answer.error_code.0, answer.error_message)
}

fn all() -> impl Iterator<Item = Release> {
    Release::ALL.into_iter().filter(|release| *release > Release::V0_10_0)
}

#[test]
fn a_topic_is_there_at_once_and_cannot_be_created_again() {
    for release in all() {
        let mut client = Asking::of(release);
        let version = newest(&client);
        let created = ask(&mut client, &[topic("orders", 3, 1)]).remove(0);
        assert_eq!(created.error_code, ErrorCode::NONE, "{release}");
        assert_eq!(client.cluster.topics.get("orders").unwrap().partitions.len(), 3, "{release}");
        if version >= 5 {
            assert_eq!((created.num_partitions, created.replication_factor), (3, 1), "{release}");
        }
        if version >= 7 {
            assert_eq!(created.topic_id, client.cluster.topics.get("orders").unwrap().id, "{release}");
        }
        let again = ask(&mut client, &[topic("orders", 3, 1)]).remove(0);
        assert_eq!(again.error_code, ErrorCode::TOPIC_ALREADY_EXISTS, "{release}");
        let message = (version >= 1).then(|| "Topic 'orders' already exists.".to_owned());
        assert_eq!(again.error_message, message, "{release}");
    }
}

/// 24 settings on 0.11, 37 on 4.4: v5 and newer describe the new topic.
#[test]
fn the_new_topic_is_described() {
    for (release, settings) in [(Release::V2_4, 26), (Release::V3_0, 26), (Release::V3_9, 36), (Release::V4_4, 37)] {
        let created = ask(&mut Asking::of(release), &[with("t", &[("segment.bytes", Some("1048576"))])]).remove(0);
        let configs = created.configs.unwrap();
        assert_eq!(configs.len(), settings, "{release}");
        let size = configs.iter().find(|config| config.name == "segment.bytes").unwrap();
        assert_eq!((size.value.as_deref(), size.config_source), (Some("1048576"), 1), "{release}");
    }
}

/// Facts: -1 is 37 up to 2.1, the brokers' default from 2.4 on.
#[test]
fn counts_that_are_none() {
    for release in all().filter(|release| *release > Release::V0_10_1) {
        let (code, _) = said(release, topic("t", -1, -1));
        assert_eq!(code, if release >= Release::V2_4 { 0 } else { 37 }, "{release}");
        assert_eq!(said(release, topic("t", 0, 1)).0, 37, "{release}");
        assert_eq!(said(release, topic("t", 1, 0)).0, 38, "{release}");
        // 4.x looks at the replicas first.
        assert_eq!(said(release, topic("t", 0, 0)).0, if release >= Release::V4_4 { 38 } else { 37 }, "{release}");
    }
    let (code, message) = said(Release::V0_11, topic("t", 1, 3));
    assert_eq!((code, message.as_deref()), (38, Some("replication factor: 3 larger than available brokers: 1")));
    let (code, message) = said(Release::V3_9, topic("t", 1, 3));
    assert_eq!((code, message.as_deref()), (38, Some("Replication factor: 3 larger than available brokers: 1.")));
    let (code, message) = said(Release::V4_4, topic("t", 1, 3));
    let expected = "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached \
                    because only 1 broker(s) are registered or some brokers have all their log directories cordoned.";
    assert_eq!((code, message.as_deref()), (38, Some(expected)));
}

#[test]
fn settings_that_are_none() {
    for release in all() {
        assert_eq!(said(release, with("t", &[("no.such", Some("1"))])).0, 40, "{release}");
        let (bad, message) = said(release, with("t", &[("retention.ms", Some("abc"))]));
        assert_eq!(bad, if release >= Release::V2_1 { 40 } else { -1 }, "{release}");
        if release > Release::V0_10_1 {
            let expected = "Invalid value abc for configuration retention.ms: Not a number of type LONG";
            assert_eq!(message.as_deref(), Some(expected), "{release}");
        }
    }
    let unknown = |release| said(release, with("t", &[("no.such", Some("1"))])).1.unwrap();
    assert_eq!(unknown(Release::V0_10_2), "Unknown Log configuration no.such.");
    assert_eq!(unknown(Release::V0_11), "Unknown topic config name: no.such");
}

#[test]
fn a_setting_without_a_value() {
    let null = || with("t", &[("retention.ms", None)]);
    let mut client = Asking::of(Release::V0_10_2);
    assert_eq!(client.send(1, request(&[null()])), Came::Closed);
    assert_eq!(said(Release::V2_4, null()), (-1, None));
    let message = "Null value not supported for topic configs : retention.ms".to_owned();
    assert_eq!(said(Release::V3_0, null()), (42, Some(message)));
    let message = "Null value not supported for topic configs: retention.ms".to_owned();
    assert_eq!(said(Release::V4_4, null()), (40, Some(message)));
}

/// What is looked at first, where a topic is wrong in two ways.
#[test]
fn each_release_has_its_order() {
    let both = |topic: CreatableTopic| CreatableTopic { num_partitions: 0, ..topic };
    let bad_setting = || with("a b", &[("no.such", Some("1"))]);
    for (release, code) in
        [(Release::V2_1, 40), (Release::V2_4, 40), (Release::V2_8, 37), (Release::V3_9, 37), (Release::V4_4, 17)]
    {
        assert_eq!(said(release, both(bad_setting())).0, code, "{release}");
    }
    for (release, code) in [(Release::V2_1, 40), (Release::V2_4, 36), (Release::V2_8, 36), (Release::V4_4, 36)] {
        let mut client = Asking::of(release);
        client.cluster.create_topic("old", 1);
        let answer = ask(&mut client, &[with("old", &[("no.such", Some("1"))])]);
        assert_eq!(answer[0].error_code.0, code, "{release}");
    }
}

#[test]
fn names_that_metrics_could_not_tell_apart() {
    for release in all() {
        let mut client = Asking::of(release);
        let codes = |answer: Vec<CreatedTopic>| answer.iter().map(|topic| topic.error_code.0).collect::<Vec<_>>();
        assert_eq!(codes(ask(&mut client, &[topic("a.b", 1, 1)])), [0], "{release}");
        assert_eq!(codes(ask(&mut client, &[topic("a_b", 1, 1)])), [17], "{release}");
        // 4.x does not look at what stands in the same request.
        let second = if release >= Release::V4_4 { 0 } else { 17 };
        assert_eq!(codes(ask(&mut client, &[topic("c.d", 1, 1), topic("c_d", 1, 1)])), [0, second], "{release}");
    }
}

#[test]
fn a_name_twice_in_a_request() {
    let twice = [topic("t", 1, 1), topic("t", 1, 1), topic("other", 1, 1)];
    for (release, entries, message) in [
        (
            Release::V2_1,
            1,
            "Create topics request from client `asking` contains multiple entries for the following topics: t",
        ),
        (Release::V2_4, 2, "Found multiple entries for this topic."),
        (Release::V4_4, 1, "Duplicate topic name."),
    ] {
        let mut client = Asking::of(release);
        let answer = ask(&mut client, &twice);
        assert_eq!(answer.len(), entries + 1, "{release}");
        assert_eq!((answer[0].error_code.0, answer[0].error_message.as_deref()), (42, Some(message)), "{release}");
        assert!(client.cluster.topics.contains_key("other") && !client.cluster.topics.contains_key("t"));
    }
}

#[test]
fn brokers_by_name() {
    for release in all() {
        assert_eq!(said(release, assigned("t", &[(0, &[0]), (1, &[0])])).0, 0, "{release}");
        assert_eq!(said(release, assigned("t", &[(0, &[0, 0])])).0, 39, "{release}");
        let counted = CreatableTopic { num_partitions: 1, ..assigned("t", &[(0, &[0])]) };
        assert_eq!(said(release, counted).0, 42, "{release}");
        let uneven = assigned("t", &[(0, &[0]), (1, &[0, 7])]);
        assert_eq!(said(release, uneven).0, 39, "{release}");
    }
    let repeats = |release| said(release, assigned("t", &[(0, &[0, 0])])).1.unwrap();
    assert_eq!(repeats(Release::V2_4), "Duplicate replica assignment found: Map(0 -> ArrayBuffer(0, 0))");
    assert_eq!(repeats(Release::V2_8), "Duplicate replica assignment found: HashMap(0 -> ArrayBuffer(0, 0))");
    assert_eq!(repeats(Release::V4_4), "The manual partition assignment includes the broker 0 more than once.");
    let (code, message) = said(Release::V4_4, assigned("t", &[(0, &[7])]));
    let expected = "The manual partition assignment includes broker 7, but no such broker is registered.";
    assert_eq!((code, message.as_deref()), (39, Some(expected)));
}

/// Brokers with ZooKeeper create what no broker can lead, and wait for a leader until the time is over.
#[test]
fn a_topic_on_a_broker_that_is_not_there() {
    let mut client = Asking::of(Release::V3_9);
    let asked: AnyRequest = request(&[assigned("nowhere", &[(0, &[7])])]).into();
    assert_eq!(client.send(7, asked.clone()), Came::Nothing);
    let Came::Answer(answer) = client.wait(Duration::from_millis(1500), 7, &asked) else { panic!("no answer") };
    let AnyResponse::CreateTopics(answer) = *answer else { panic!("another answer") };
    assert_eq!((answer.topics[0].error_code.0, answer.topics[0].num_partitions), (7, -1));
    assert_ne!(answer.topics[0].topic_id, [0; 16]);
    assert!(client.cluster.topics.contains_key("nowhere"));
}

#[test]
fn without_time() {
    for (release, there) in [(Release::V0_10_1, true), (Release::V3_9, true), (Release::V4_4, false)] {
        let mut client = Asking::of(release);
        let version = newest(&client);
        let hasty = CreateTopicsRequest { timeout_ms: 0, ..request(&[topic("t", 1, 1)]) };
        let answer: CreateTopicsResponse = client.ask(version, hasty);
        assert_eq!(answer.topics[0].error_code.0, 7, "{release}");
        assert_eq!(client.cluster.topics.contains_key("t"), there, "{release}");
    }
}

#[test]
fn only_to_validate() {
    for release in all().filter(|release| *release > Release::V0_10_1) {
        let mut client = Asking::of(release);
        client.cluster.create_topic("old", 1);
        let version = newest(&client);
        let validate =
            CreateTopicsRequest { validate_only: true, ..request(&[topic("new", 1, 1), topic("old", 1, 1)]) };
        let answer: CreateTopicsResponse = client.ask(version, validate);
        let old = if release == Release::V0_10_2 { 0 } else { 36 };
        assert_eq!(answer.topics.iter().map(|topic| topic.error_code.0).collect::<Vec<_>>(), [0, old], "{release}");
        assert!(!client.cluster.topics.contains_key("new"), "{release}");
        assert_eq!(answer.topics[0].topic_id != [0; 16], release >= Release::V4_4, "{release}");
    }
}

/// 41 up to 3.9; with KRaft any broker passes it on.
#[test]
fn only_the_controller_creates_topics() {
    for (release, code) in [(Release::V2_0, 41), (Release::V3_9, 41), (Release::V4_4, 0)] {
        let cluster = Cluster::builder(release).brokers(2).build().unwrap();
        let mut client = Asking::to(cluster, NodeId(1));
        assert_eq!(ask(&mut client, &[topic("t", 2, 2)])[0].error_code.0, code, "{release}");
    }
}

/// A few bytes do not fill the memory: the bound is 4.x's, and holds for the whole request.
#[test]
fn not_any_number_of_partitions() {
    for (release, code) in [(Release::V0_10_1, 37), (Release::V2_0, 37), (Release::V4_4, 44)] {
        let mut client = Asking::of(release);
        let codes = |client: &mut Asking, topics: &[CreatableTopic]| {
            ask(client, topics).iter().map(|topic| topic.error_code.0).collect::<Vec<_>>()
        };
        assert_eq!(codes(&mut client, &[topic("t", i32::MAX, 1)]), [code], "{release}");
        assert_eq!(codes(&mut client, &[topic("t", 5000, 1), topic("u", 5001, 1)]), [code, code], "{release}");
        assert_eq!(codes(&mut client, &[topic("t", 5000, 1), topic("u", 5000, 1)]), [0, 0], "{release}");
    }
}
