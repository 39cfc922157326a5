//! DescribeTopicPartitions: what Metadata says, in pages (KIP-966, 4.x).
//!
//! Measured on 4.4: topics come in the order of their names; a page has 1 to 2000 partitions (`max.request.partition.
//! size.limit`), and the answer says where the next one begins; what may be done is always said. Java:
//! `kafka.server.DescribeTopicPartitionsRequestHandler`.

use std::collections::BTreeSet;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, DescribedPartition, DescribedTopic,
    MetadataPartition, TopicPartitionCursor,
};

use super::{metadata, topic_names};
use crate::acls::{Operation, Resource, authorized, authorized_operations};
use crate::cluster::{Call, Cluster, Reply, Topic};

/// Kafka's default of the broker's own limit.
const PARTITIONS_MAX: usize = 2000;

/// Describes topic by topic until the page is full.
pub(crate) fn answer(cluster: &Cluster, call: &Call, request: &DescribeTopicPartitionsRequest) -> Reply {
    let asked: BTreeSet<&str> = request.topics.iter().map(|topic| topic.name.as_str()).collect();
    let all = asked.is_empty();
    let names = if all { cluster.topics.keys().map(String::as_str).collect() } else { asked };
    let (first_name, first_partition) = match &request.cursor {
        Some(cursor) if cursor.partition_index < 0 || !(all || names.contains(cursor.topic_name.as_str())) => {
            return Reply::from(refused(&names));
        }
        Some(cursor) => (cursor.topic_name.as_str(), usize::try_from(cursor.partition_index).unwrap_or(0)),
        None => ("", 0),
    };
    let limit = usize::try_from(request.response_partition_limit).unwrap_or(0).clamp(1, PARTITIONS_MAX);
    let mut response = DescribeTopicPartitionsResponse::default();
    let mut left = limit;
    for name in names.into_iter().filter(|name| *name >= first_name) {
        let visible = authorized(cluster, call, Operation::Describe, Resource::Topic(name));
        if all && !visible {
            continue;
        }
        let skipped = if name == first_name { first_partition } else { 0 };
        let cursor = |partition: usize| TopicPartitionCursor {
            topic_name: name.to_owned(),
            partition_index: i32::try_from(partition).unwrap_or(i32::MAX),
        };
        if left == 0 {
            response.next_cursor = Some(cursor(skipped));
            break;
        }
        let topic = if visible { described(cluster, call, name, skipped, left) } else { unseen(name) };
        let until = skipped + topic.partitions.len();
        left -= topic.partitions.len();
        response.topics.push(topic);
        if cluster.topics.get(name).is_some_and(|topic| visible && topic.partitions.len() > until) {
            response.next_cursor = Some(cursor(until));
            break;
        }
    }
    Reply::from(response)
}

fn refused(names: &BTreeSet<&str>) -> DescribeTopicPartitionsResponse {
    let topic = |name: &&str| DescribedTopic {
        error_code: ErrorCode::INVALID_REQUEST,
        name: Some((*name).to_owned()),
        ..DescribedTopic::default()
    };
    DescribeTopicPartitionsResponse { topics: names.iter().map(topic).collect(), ..Default::default() }
}

fn unseen(name: &str) -> DescribedTopic {
    let error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    DescribedTopic { error_code, name: Some(name.to_owned()), ..DescribedTopic::default() }
}

fn described(cluster: &Cluster, call: &Call, name: &str, skipped: usize, left: usize) -> DescribedTopic {
    let mut described = DescribedTopic {
        name: Some(name.to_owned()),
        is_internal: topic_names::is_internal(cluster.release, name),
        topic_authorized_operations: authorized_operations(cluster, call, Resource::Topic(name)),
        ..DescribedTopic::default()
    };
    match cluster.topics.get(name) {
        Some(topic) => {
            described.topic_id = topic.id;
            described.partitions = partitions(cluster, topic, skipped, left);
        }
        None if !topic_names::is_valid(name) => described.error_code = ErrorCode::INVALID_TOPIC_EXCEPTION,
        None => described.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    }
    described
}

fn partitions(cluster: &Cluster, topic: &Topic, skipped: usize, left: usize) -> Vec<DescribedPartition> {
    let indexed = (0..).zip(&topic.partitions).skip(skipped).take(left);
    let described = |partition: MetadataPartition| DescribedPartition {
        error_code: partition.error_code,
        partition_index: partition.partition_index,
        leader_id: partition.leader_id,
        leader_epoch: partition.leader_epoch,
        replica_nodes: partition.replica_nodes,
        isr_nodes: partition.isr_nodes,
        eligible_leader_replicas: Some(Vec::new()),
        last_known_elr: Some(Vec::new()),
        offline_replicas: partition.offline_replicas,
    };
    indexed.map(|(index, partition)| described(metadata::partition_of(cluster, index, partition))).collect()
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::DescribeTopicPartitionsTopic;

    use super::*;
    use crate::Release;
    use crate::asking::Asking;

    fn request(names: &[&str], limit: i32, cursor: Option<(&str, i32)>) -> DescribeTopicPartitionsRequest {
        let topics = names.iter().map(|name| DescribeTopicPartitionsTopic { name: (*name).to_owned() });
        let cursor = cursor.map(|(name, partition_index)| {
            let topic_name = name.to_owned();
            TopicPartitionCursor { topic_name, partition_index }
        });
        DescribeTopicPartitionsRequest { topics: topics.collect(), response_partition_limit: limit, cursor }
    }

    /// What is told of a topic: name, code, partitions.
    type Told = (String, i16, Vec<i32>);

    /// Topics `a` with three partitions and `b` with one: name, code and partitions of what is told, and where it goes on.
    fn ask(request: DescribeTopicPartitionsRequest) -> (Vec<Told>, Option<(String, i32)>) {
        let mut client = Asking::of(Release::V4_4);
        client.cluster.create_topic("b", 1);
        client.cluster.create_topic("a", 3);
        let answer: DescribeTopicPartitionsResponse = client.ask(0, request);
        let topics = answer.topics.into_iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|partition| partition.partition_index).collect();
            (topic.name.unwrap(), topic.error_code.0, partitions)
        });
        (topics.collect(), answer.next_cursor.map(|cursor| (cursor.topic_name, cursor.partition_index)))
    }

    fn told(name: &str, code: i16, partitions: &[i32]) -> Told {
        (name.to_owned(), code, partitions.to_vec())
    }

    #[test]
    fn topics_come_in_order() {
        let both = vec![told("a", 0, &[0, 1, 2]), told("b", 0, &[0])];
        assert_eq!(ask(request(&["b", "a", "b"], 2000, None)), (both.clone(), None));
        assert_eq!(ask(request(&[], 2000, None)), (both, None));
        assert_eq!(ask(request(&["nope"], 2000, None)).0, [told("nope", 3, &[])]);
        assert_eq!(ask(request(&["a b"], 2000, None)).0, [told("a b", 17, &[])]);
    }

    #[test]
    fn pages() {
        let next = |name: &str, partition| Some((name.to_owned(), partition));
        assert_eq!(ask(request(&["a", "b"], 2, None)), (vec![told("a", 0, &[0, 1])], next("a", 2)));
        assert_eq!(ask(request(&["a", "b"], 3, None)), (vec![told("a", 0, &[0, 1, 2])], next("b", 0)));
        assert_eq!(ask(request(&["a"], 0, None)), (vec![told("a", 0, &[0])], next("a", 1)));
        let rest = vec![told("a", 0, &[2]), told("b", 0, &[0])];
        assert_eq!(ask(request(&["a", "b"], 2000, Some(("a", 2)))), (rest, None));
        let past = vec![told("a", 0, &[]), told("b", 0, &[0])];
        assert_eq!(ask(request(&["a", "b"], 2000, Some(("a", 3)))), (past, None));
    }

    #[test]
    fn cursors_that_are_none() {
        for cursor in [("a", -1), ("b", 0)] {
            assert_eq!(ask(request(&["a"], 2000, Some(cursor))), (vec![told("a", 42, &[])], None));
        }
    }
}
