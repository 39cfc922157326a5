//! Expectations: what brokers of each release answered to the same requests.

use kmirror_proto::messages::AlterableConfig;

use super::*;
use crate::api::config_resources::{BROKER, BROKER_LOGGER, TOPIC};
use crate::asking::{Asking, Came};

fn request(resource_type: i8, name: &str, configs: &[(&str, Option<&str>)]) -> AlterConfigsRequest {
    let configs = configs
        .iter()
        .map(|(name, value)| AlterableConfig { name: (*name).to_owned(), value: value.map(str::to_owned) })
        .collect();
    let resources = vec![AlterConfigsResource { resource_type, resource_name: name.to_owned(), configs }];
    AlterConfigsRequest { resources, validate_only: false }
}

fn with_topic(release: Release) -> Asking {
    let mut client = Asking::of(release);
    client.cluster.create_topic("t", 1);
    client
}

fn ask(client: &mut Asking, request: AlterConfigsRequest) -> (i16, Option<String>) {
    let answer: AlterConfigsResponse = client.ask(0, request);
    (answer.responses[0].error_code.0, answer.responses[0].error_message.clone())
}

fn said(release: Release, kind: i8, name: &str, configs: &[(&str, Option<&str>)]) -> (i16, String) {
    let (code, message) = ask(&mut with_topic(release), request(kind, name, configs));
    (code, message.unwrap_or_else(|| "null".to_owned()))
}

fn releases() -> impl Iterator<Item = Release> {
    Release::ALL.into_iter().filter(|release| *release >= Release::V0_11)
}

#[test]
fn the_settings_of_a_topic_are_replaced() {
    for release in releases() {
        let mut client = with_topic(release);
        assert_eq!(ask(&mut client, request(TOPIC, "t", &[("retention.ms", Some("1000"))])), (0, None), "{release}");
        assert_eq!(client.cluster.topics.get("t").unwrap().settings.retention_ms, 1000, "{release}");
        let only = AlterConfigsRequest { validate_only: true, ..request(TOPIC, "t", &[]) };
        assert_eq!(ask(&mut client, only), (0, None), "{release}");
        assert_eq!(client.cluster.topics.get("t").unwrap().settings.retention_ms, 1000, "{release}");
        assert_eq!(ask(&mut client, request(TOPIC, "t", &[("segment.bytes", Some("2000000"))])), (0, None));
        let topic = client.cluster.topics.get("t").unwrap();
        assert_eq!((topic.settings.retention_ms, topic.settings.segment_bytes), (604_800_000, 2_000_000), "{release}");
    }
}

#[test]
fn what_a_topic_does_not_take() {
    let bad = |release| said(release, TOPIC, "t", &[("retention.ms", Some("x"))]);
    let value = "Invalid value x for configuration retention.ms: Not a number of type LONG";
    let begins = "Invalid config value for resource ";
    assert_eq!(bad(Release::V1_1), (42, format!("{begins}Resource(type=TOPIC, name='t'}}: {value}")));
    assert_eq!(bad(Release::V3_0), (42, format!("{begins}ConfigResource(type=TOPIC, name='t'): {value}")));
    assert_eq!(bad(Release::V3_9), (40, format!("{begins}ConfigResource(type=TOPIC, name='t'): {value}")));
    assert_eq!(bad(Release::V4_4), (40, value.to_owned()));
    for release in releases() {
        let unknown = said(release, TOPIC, "t", &[("no.such", Some("1"))]);
        assert_eq!(unknown, (40, "Unknown topic config name: no.such".to_owned()), "{release}");
    }
}

#[test]
fn a_topic_that_is_not_there() {
    let absent = |release| said(release, TOPIC, "nope", &[("retention.ms", Some("1"))]);
    assert_eq!(absent(Release::V2_4), (-1, "Topic \"nope\" does not exist.".to_owned()));
    assert_eq!(absent(Release::V2_8), (3, "The topic 'nope' does not exist.".to_owned()));
    let none = |release| said(release, TOPIC, "a b", &[]).0;
    assert_eq!([Release::V2_4, Release::V3_9, Release::V4_4].map(none), [17, 3, 17]);
    let default = said(Release::V4_4, TOPIC, "", &[]);
    assert_eq!(default, (42, "Default topic resources are not allowed.".to_owned()));
}

#[test]
fn a_setting_without_a_value() {
    let null = [("retention.ms", None)];
    assert_eq!(said(Release::V1_1, TOPIC, "t", &null), (-1, "null".to_owned()));
    assert_eq!(with_topic(Release::V2_0).send(0, request(TOPIC, "t", &null)), Came::Closed);
    assert_eq!(said(Release::V3_0, TOPIC, "t", &null), (-1, "null".to_owned()));
    assert_eq!(said(Release::V4_4, TOPIC, "t", &null), (42, "Null value not supported for : retention.ms".to_owned()));
}

#[test]
fn a_resource_twice_in_a_request() {
    let mut twice = request(TOPIC, "t", &[]);
    twice.resources.extend(twice.resources.clone());
    let answer: AlterConfigsResponse = with_topic(Release::V2_4).ask(0, twice.clone());
    assert_eq!(answer.responses.len(), 1);
    assert_eq!(with_topic(Release::V2_8).send(0, twice), Came::Nothing);
    let key = said(Release::V3_9, TOPIC, "t", &[("retention.ms", Some("1")), ("retention.ms", Some("2"))]);
    assert_eq!(key, (42, "Error due to duplicate config keys".to_owned()));
}

/// KIP-226: from 1.1 on; what is set for the cluster holds for the topics that do not say otherwise.
#[test]
fn the_settings_of_the_cluster() {
    for release in releases().filter(|release| *release >= Release::V1_1 && *release < Release::V4_4) {
        let mut client = with_topic(release);
        assert_eq!(
            ask(&mut client, request(BROKER, "", &[("message.max.bytes", Some("5000"))])),
            (0, None),
            "{release}"
        );
        assert_eq!(client.cluster.topics.get("t").unwrap().settings.max_message_bytes, 5000, "{release}");
        assert_eq!(ask(&mut client, request(BROKER, "", &[])), (0, None), "{release}");
        let default = TopicBytes::of(release);
        assert_eq!(client.cluster.topics.get("t").unwrap().settings.max_message_bytes, default, "{release}");
    }
    let elr = said(Release::V4_4, BROKER, "", &[("message.max.bytes", Some("5000"))]);
    assert_eq!(elr, (40, "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.".to_owned()));
}

struct TopicBytes;

impl TopicBytes {
    fn of(release: Release) -> usize {
        crate::settings::TopicSettings::defaults(release).max_message_bytes
    }
}

#[test]
fn what_a_broker_does_not_take() {
    let of = |release, name, setting, value| said(release, BROKER, name, &[(setting, Some(value))]);
    let old = "Invalid config value for resource ConfigResource(type=BROKER, name='0'): ";
    let fixed = "Cannot update these configs dynamically: ";
    assert_eq!(of(Release::V2_0, "0", "num.partitions", "3"), (42, format!("{old}{fixed}Set(num.partitions)")));
    assert_eq!(of(Release::V3_9, "0", "num.partitions", "3"), (42, format!("{fixed}Set(num.partitions)")));
    assert_eq!(of(Release::V4_4, "0", "num.partitions", "3"), (42, format!("{fixed}[num.partitions]")));
    let value = "Invalid value x for configuration log.cleaner.backoff.ms: Not a number of type LONG";
    assert_eq!(of(Release::V2_0, "0", "log.cleaner.backoff.ms", "x"), (42, format!("{old}{value}")));
    assert_eq!(of(Release::V4_4, "0", "log.cleaner.backoff.ms", "x"), (42, value.to_owned()));
    assert_eq!(of(Release::V2_0, "0", "no.such", "x").0, 0);
    assert_eq!(of(Release::V2_4, "1", "no.such", "x").1, "Unexpected broker id, expected 0, but received 1");
    assert_eq!(of(Release::V3_0, "x", "no.such", "x").1, "Broker id must be an integer, but it is: x");
    assert_eq!(of(Release::V3_9, "x", "no.such", "x").1, "Node id must be an integer, but it is: x");
    let only = "AlterConfigs is only supported for topics, but resource type is BROKER";
    assert_eq!(of(Release::V1_0, "0", "no.such", "x"), (42, only.to_owned()));
}

#[test]
fn what_has_no_settings() {
    for (release, kind, message) in [
        (Release::V1_1, 3, "Unexpected resource type GROUP"),
        (Release::V2_0, 3, "Unexpected resource type UNKNOWN"),
        (Release::V3_9, 3, "Unknown resource type 3"),
        (Release::V2_1, BROKER_LOGGER, "Unexpected resource type UNKNOWN"),
        (
            Release::V2_4,
            BROKER_LOGGER,
            "AlterConfigs is deprecated and does not support the resource type BROKER_LOGGER",
        ),
        (Release::V4_4, BROKER_LOGGER, "Unknown resource type 8"),
    ] {
        assert_eq!(said(release, kind, "0", &[]), (42, message.to_owned()), "{release} {kind}");
    }
}
