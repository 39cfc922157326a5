//! Metadata: brokers, topics, leaders; and topics that come to be by being asked for.
//!
//! Measured (facts of the releases): a missing topic is created when auto creation is on; the answer that created it says
//! 5 (LEADER_NOT_AVAILABLE), on 4.x 3 (UNKNOWN_TOPIC_OR_PARTITION), the next one has it. A bad name is 17. An unknown id
//! is 100 (KIP-516). Java: `kafka.server.KafkaApis.handleTopicMetadataRequest`.

use std::collections::{BTreeMap, BTreeSet};

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    MetadataBroker, MetadataPartition, MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataTopic,
};

use super::create_topics::may_create;
use super::topic_names;
use crate::acls::{Operation, Resource, authorized, authorized_operations};
use crate::cluster::{Call, Cluster, Coordinates, Partition, Reply, Topic};
use crate::{NodeId, Release};

/// No id: what a topic is asked for by when it is asked for by name.
pub(crate) const NO_ID: [u8; 16] = [0; 16];

/// The first version that may ask for topics by id (KIP-516: in 2.8 without an implementation).
const BY_ID_FROM: i16 = 12;

/// Answers for the whole cluster, whichever broker is asked. Topics that are there come before those that are not, and
/// each once.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &MetadataRequest) -> Reply {
    if let Some(code) = unservable(call, request) {
        return Reply::from(refused_whole(call, request, code));
    }
    // Nobody could forbid it before v4.
    let create = cluster.settings.auto_create_topics && (call.version < 4 || request.allow_auto_topic_creation);
    let mut topics: Vec<MetadataTopic> = match &request.topics {
        None => every(cluster, call),
        Some(topics) => {
            let mut seen = BTreeSet::new();
            let topics = topics.iter().filter(|topic| seen.insert((&topic.name, topic.topic_id)));
            topics.map(|topic| one(cluster, call, topic, create)).collect()
        }
    };
    topics.sort_by_key(|topic| !topic.error_code.is_ok());
    let silent = if cluster.release == Release::V2_4 { 0 } else { i32::MIN };
    for topic in &mut topics {
        let seen = topic.error_code != ErrorCode::TOPIC_AUTHORIZATION_FAILED && !topic.name.is_empty();
        topic.topic_authorized_operations = if request.include_topic_authorized_operations && seen {
            authorized_operations(cluster, call, Resource::Topic(&topic.name))
        } else {
            silent
        };
    }
    let cluster_authorized_operations = if request.include_cluster_authorized_operations {
        authorized_operations(cluster, call, Resource::Cluster)
    } else {
        silent
    };
    Reply::from(MetadataResponse {
        brokers: cluster.running().filter_map(|node| broker(cluster, node)).collect(),
        cluster_id: Some(cluster.id.clone()),
        controller_id: cluster.controller().map_or(-1, |node| node.0),
        topics,
        cluster_authorized_operations,
        ..MetadataResponse::default()
    })
}

fn every(cluster: &Cluster, call: &Call) -> Vec<MetadataTopic> {
    let visible = |name: &str| authorized(cluster, call, Operation::Describe, Resource::Topic(name));
    let topics = cluster.topics.iter().filter(|(name, _)| visible(name));
    topics.map(|(name, topic)| described(cluster, name, topic)).collect()
}

/// Measured on 2.8 to 4.4: v10 and v11 have room for ids, but no broker takes one; a topic without name and id is
/// nothing at all.
fn unservable(call: &Call, request: &MetadataRequest) -> Option<ErrorCode> {
    let mut topics = request.topics.iter().flatten();
    if call.version < BY_ID_FROM {
        let by_id = |topic: &MetadataRequestTopic| topic.name.is_none() || topic.topic_id != NO_ID;
        return topics.any(by_id).then_some(ErrorCode::INVALID_REQUEST);
    }
    let nothing = |topic: &MetadataRequestTopic| topic.name.is_none() && topic.topic_id == NO_ID;
    topics.any(nothing).then_some(ErrorCode::UNKNOWN_SERVER_ERROR)
}

fn refused_whole(call: &Call, request: &MetadataRequest, error_code: ErrorCode) -> MetadataResponse {
    let topic = |topic: &MetadataRequestTopic| MetadataTopic {
        topic_id: topic.topic_id,
        ..refused(topic.name.as_deref().unwrap_or_default(), error_code)
    };
    MetadataResponse {
        controller_id: -1,
        topics: request.topics.iter().flatten().map(topic).collect(),
        error_code: if call.version >= 13 { error_code } else { ErrorCode::NONE },
        ..MetadataResponse::default()
    }
}

fn broker(cluster: &Cluster, node: NodeId) -> Option<MetadataBroker> {
    let broker = cluster.brokers.get(&node)?;
    Some(MetadataBroker {
        node_id: node.0,
        host: broker.host.clone(),
        port: i32::from(broker.port),
        rack: broker.rack.clone(),
    })
}

fn one(cluster: &mut Cluster, call: &Call, asked: &MetadataRequestTopic, create: bool) -> MetadataTopic {
    let Some(name) = asked.name.as_deref().filter(|_| asked.topic_id == NO_ID) else {
        return by_id(cluster, call, asked.topic_id);
    };
    if !authorized(cluster, call, Operation::Describe, Resource::Topic(name)) {
        return refused(name, ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    }
    match cluster.topics.get(name) {
        Some(topic) => described(cluster, name, topic),
        None => {
            let is_internal = topic_names::is_internal(cluster.release, name);
            let error_code = absent(cluster, call, name, create);
            MetadataTopic { is_internal, ..refused(name, error_code) }
        }
    }
}

/// What is said of a topic that is not there; it may be there afterwards.
fn absent(cluster: &mut Cluster, call: &Call, name: &str, create: bool) -> ErrorCode {
    let of_4 = cluster.release >= Release::V4_4;
    if !topic_names::is_valid(name) {
        return ErrorCode::INVALID_TOPIC_EXCEPTION;
    }
    if !create {
        return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    }
    if !may_create(cluster, call, name) {
        return ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    }
    // What 4.x cannot create it does not speak of: the controller is asked, and nobody waits for what it says.
    if cluster.topics.keys().any(|other| topic_names::collide(name, other)) {
        return if of_4 { ErrorCode::UNKNOWN_TOPIC_OR_PARTITION } else { ErrorCode::INVALID_TOPIC_EXCEPTION };
    }
    let what = [Coordinates::Group, Coordinates::Transaction].into_iter().find(|what| what.topic() == name);
    if let Some(what) = what.filter(|_| topic_names::is_internal(cluster.release, name)) {
        cluster.make_internal_topic(what);
    } else {
        let settings = &cluster.settings;
        if !of_4 && settings.replication_factor > cluster.running().count() {
            return ErrorCode::INVALID_REPLICATION_FACTOR;
        }
        let assignment = cluster.assignment(0, settings.partitions, settings.replication_factor);
        cluster.place_topic(name, &assignment, BTreeMap::new());
    }
    if of_4 { ErrorCode::UNKNOWN_TOPIC_OR_PARTITION } else { ErrorCode::LEADER_NOT_AVAILABLE }
}

fn by_id(cluster: &Cluster, call: &Call, id: [u8; 16]) -> MetadataTopic {
    let visible = |name: &str| authorized(cluster, call, Operation::Describe, Resource::Topic(name));
    match cluster.topics.iter().find(|(name, topic)| topic.id == id && visible(name)) {
        Some((name, topic)) => described(cluster, name, topic),
        None => MetadataTopic { topic_id: id, ..refused("", ErrorCode::UNKNOWN_TOPIC_ID) },
    }
}

fn refused(name: &str, error_code: ErrorCode) -> MetadataTopic {
    MetadataTopic { error_code, name: name.to_owned(), ..MetadataTopic::default() }
}

fn described(cluster: &Cluster, name: &str, topic: &Topic) -> MetadataTopic {
    let indexed = (0..).zip(&topic.partitions);
    MetadataTopic {
        name: name.to_owned(),
        topic_id: if cluster.release >= Release::V2_8 { topic.id } else { NO_ID },
        is_internal: topic_names::is_internal(cluster.release, name),
        partitions: indexed.map(|(index, partition)| partition_of(cluster, index, partition)).collect(),
        ..MetadataTopic::default()
    }
}

/// What clients are told of a partition.
pub(crate) fn partition_of(cluster: &Cluster, partition_index: i32, partition: &Partition) -> MetadataPartition {
    let runs = |node: &NodeId| cluster.brokers.get(node).is_some_and(|broker| broker.running);
    let replicas = partition.replicas.iter().map(|replica| replica.node);
    MetadataPartition {
        error_code: if partition.leader.is_some() { ErrorCode::NONE } else { ErrorCode::LEADER_NOT_AVAILABLE },
        partition_index,
        leader_id: partition.leader.map_or(-1, |node| node.0),
        leader_epoch: partition.leader_epoch,
        replica_nodes: replicas.clone().map(|node| node.0).collect(),
        isr_nodes: partition.in_sync().map(|node| node.0).collect(),
        offline_replicas: replicas.filter(|node| !runs(node)).map(|node| node.0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asking::Asking;

    fn asked(name: &str) -> MetadataRequest {
        let topic = MetadataRequestTopic { topic_id: NO_ID, name: Some(name.to_owned()) };
        MetadataRequest { topics: Some(vec![topic]), ..MetadataRequest::default() }
    }

    /// The first answer about a topic that it creates says that it is not there yet; which error, is the release's.
    #[test]
    fn a_missing_topic_is_created_by_asking() {
        for (release, first) in [(Release::V0_10_0, 5), (Release::V2_0, 5), (Release::V3_9, 5), (Release::V4_4, 3)] {
            let mut client = Asking::of(release);
            let answer: MetadataResponse = client.ask(1, asked("new"));
            assert_eq!((answer.topics[0].error_code.0, answer.topics[0].partitions.len()), (first, 0), "{release}");
            let answer: MetadataResponse = client.ask(1, asked("new"));
            assert_eq!((answer.topics[0].error_code.0, answer.topics[0].partitions.len()), (0, 1), "{release}");
        }
    }

    #[test]
    fn from_v4_on_asking_does_not_have_to_create() {
        let mut client = Asking::of(Release::V2_0);
        let absent = MetadataRequest { allow_auto_topic_creation: false, ..asked("absent") };
        for _ in 0..2 {
            let answer: MetadataResponse = client.ask(4, absent.clone());
            assert_eq!(answer.topics[0].error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
        }
    }

    #[test]
    fn names_that_are_none() {
        let mut client = Asking::of(Release::V2_0);
        for name in ["a b", "", "..", &"n".repeat(250)] {
            let answer: MetadataResponse = client.ask(1, asked(name));
            assert_eq!(answer.topics[0].error_code, ErrorCode::INVALID_TOPIC_EXCEPTION, "{name:?}");
        }
    }

    fn ask(client: &mut Asking, version: i16, topics: &[(Option<&str>, [u8; 16])]) -> Vec<(String, i16)> {
        let topic = |(name, topic_id): &(Option<&str>, [u8; 16])| {
            let name = name.map(str::to_owned);
            MetadataRequestTopic { topic_id: *topic_id, name }
        };
        let topics = Some(topics.iter().map(topic).collect());
        let answer: MetadataResponse = client.ask(version, MetadataRequest { topics, ..MetadataRequest::default() });
        answer.topics.into_iter().map(|topic| (topic.name, topic.error_code.0)).collect()
    }

    /// What is there comes first, and nothing comes twice (measured on all releases).
    #[test]
    fn the_order_of_the_answer() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("b", 1);
        client.cluster.create_topic("a", 1);
        let asked = ["a b", "b", "new", "a", "b"].map(|name| (Some(name), NO_ID));
        let told = [("b", 0), ("a", 0), ("a b", 17), ("new", 5)];
        assert_eq!(ask(&mut client, 1, &asked), told.map(|(name, code)| (name.to_owned(), code)));
    }

    /// Measured: 4.x says of it only that it is not there, however often it is asked.
    #[test]
    fn a_name_that_metrics_could_not_tell_from_another() {
        for (release, code) in [(Release::V0_10_0, 17), (Release::V3_9, 17), (Release::V4_4, 3)] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("a.b", 1);
            for _ in 0..2 {
                assert_eq!(ask(&mut client, 1, &[(Some("a_b"), NO_ID)]), [("a_b".to_owned(), code)], "{release}");
            }
        }
    }

    /// The topics of coordinators come to be with as many partitions as the settings say.
    #[test]
    fn topics_of_the_brokers() {
        for (release, partitions) in [(Release::V0_10_2, 1), (Release::V2_0, 50), (Release::V4_4, 50)] {
            let mut client = Asking::of(release);
            ask(&mut client, 1, &[(Some("__transaction_state"), NO_ID)]);
            let answer: MetadataResponse = client.ask(1, asked("__transaction_state"));
            let topic = &answer.topics[0];
            assert_eq!((topic.partitions.len(), topic.is_internal), (partitions, partitions == 50), "{release}");
        }
    }

    /// v10 and v11 have room for ids, and no broker takes them.
    #[test]
    fn topics_by_id() {
        for release in [Release::V2_8, Release::V3_9, Release::V4_4] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            let id = client.cluster.topics.get("t").unwrap().id;
            for version in [10, 11] {
                assert_eq!(ask(&mut client, version, &[(None, id)]), [(String::new(), 42)], "{release}");
            }
            if release >= Release::V3_9 {
                assert_eq!(ask(&mut client, 12, &[(None, id)]), [("t".to_owned(), 0)], "{release}");
                assert_eq!(ask(&mut client, 12, &[(None, [9; 16])]), [(String::new(), 100)], "{release}");
                assert_eq!(ask(&mut client, 12, &[(Some("t"), [9; 16])]), [(String::new(), 100)], "{release}");
                assert_eq!(ask(&mut client, 12, &[(None, NO_ID)]), [(String::new(), -1)], "{release}");
            }
        }
    }

    #[test]
    fn what_one_may_do() {
        for (release, silent) in [(Release::V2_4, 0), (Release::V2_8, i32::MIN), (Release::V4_4, i32::MIN)] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            let plain: MetadataResponse = client.ask(8, asked("t"));
            let operations = (plain.topics[0].topic_authorized_operations, plain.cluster_authorized_operations);
            assert_eq!(operations, (silent, silent), "{release}");
            let request = MetadataRequest {
                include_topic_authorized_operations: true,
                include_cluster_authorized_operations: true,
                ..asked("t")
            };
            let told: MetadataResponse = client.ask(8, request);
            let operations = (told.topics[0].topic_authorized_operations, told.cluster_authorized_operations);
            assert_eq!(operations, (3576, 8096), "{release}");
        }
    }

    #[test]
    fn too_few_brokers_for_a_new_topic() {
        let cluster = Cluster::builder(Release::V2_0).setting("default.replication.factor", "2").build().unwrap();
        let mut client = Asking::to(cluster, NodeId(0));
        assert_eq!(ask(&mut client, 1, &[(Some("new"), NO_ID)]), [("new".to_owned(), 38)]);
    }
}
