//! CreatePartitions: a topic grows; the new partitions are there at once and begin empty (KIP-195).
//!
//! Codes and messages as measured on 1.0 to 4.4. Without time (timeout 0) releases with ZooKeeper grow the topic and
//! answer 7, 4.x answers 7 and does nothing. Java: `kafka.server.ZkAdminManager.createPartitions`,
//! `org.apache.kafka.controller.ReplicationControlManager.createPartitions`.

use std::collections::BTreeSet;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsResult, CreatePartitionsTopic,
};

use super::create_topics::{named_brokers, too_many};
use super::error::ApiError;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply, Topic};
use crate::{NodeId, Release};

/// Grows topic by topic.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &CreatePartitionsRequest) -> Reply {
    let (release, patient) = (cluster.release, request.timeout_ms > 0);
    let mut told = BTreeSet::new();
    let mut results = Vec::new();
    let too_many = too_many(release, additional(cluster, &request.topics), "additional partitions");
    for topic in request.topics.iter().filter(|topic| told.insert(topic.name.as_str())) {
        let repeated = request.topics.iter().filter(|other| other.name == topic.name).count() > 1;
        let outcome = if release < Release::V4_4 && cluster.controller() != Some(call.node) {
            Err(ApiError::bare(ErrorCode::NOT_CONTROLLER))
        } else if repeated {
            let of_4 = release >= Release::V4_4;
            let message = if of_4 { "Duplicate topic name." } else { "Duplicate topic in request." };
            Err(ApiError::new(ErrorCode::INVALID_REQUEST, message))
        } else if release >= Release::V4_4 && !patient {
            Err(ApiError::bare(ErrorCode::REQUEST_TIMED_OUT))
        } else if let Some(error) = &too_many {
            Err(error.clone())
        } else {
            grow(cluster, call, topic, request.validate_only).and_then(|()| {
                let late = !patient && !request.validate_only;
                if late { Err(ApiError::bare(ErrorCode::REQUEST_TIMED_OUT)) } else { Ok(()) }
            })
        };
        let (error_code, error_message) = outcome.map_or_else(|e| (e.code, e.message), |()| (ErrorCode::NONE, None));
        results.push(CreatePartitionsResult { name: topic.name.clone(), error_code, error_message });
    }
    cluster.waits.change();
    Reply::from(CreatePartitionsResponse { results, ..CreatePartitionsResponse::default() })
}

/// How many partitions the request would add in all.
fn additional(cluster: &Cluster, topics: &[CreatePartitionsTopic]) -> i64 {
    let of = |asked: &CreatePartitionsTopic| {
        let has = i64::try_from(cluster.topics.get(&asked.name)?.partitions.len()).ok()?;
        Some((i64::from(asked.count) - has).max(0))
    };
    topics.iter().filter_map(of).fold(0, i64::saturating_add)
}

/// One topic.
fn grow(
    cluster: &mut Cluster,
    call: &Call,
    asked: &CreatePartitionsTopic,
    validate_only: bool,
) -> Result<(), ApiError> {
    let release = cluster.release;
    if !authorized(cluster, call, Operation::Alter, Resource::Topic(&asked.name)) {
        let message = (release < Release::V4_4).then(|| "The topic authorization is failed.".to_owned());
        return Err(ApiError { code: ErrorCode::TOPIC_AUTHORIZATION_FAILED, message });
    }
    let Some(topic) = cluster.topics.get(&asked.name) else {
        let message = (release < Release::V4_4).then(|| format!("The topic '{}' does not exist.", asked.name));
        return Err(ApiError { code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message });
    };
    let has = topic.partitions.len();
    let more = more(release, asked, has)?;
    let brokers = named(cluster, asked, topic, more)?;
    if validate_only {
        return Ok(());
    }
    let replicas = topic.partitions.first().map_or(1, |partition| partition.replicas.len());
    let brokers = brokers.unwrap_or_else(|| cluster.assignment(has, more, replicas));
    cluster.grow_topic(&asked.name, &brokers);
    Ok(())
}

/// How many partitions are to be added.
fn more(release: Release, asked: &CreatePartitionsTopic, has: usize) -> Result<usize, ApiError> {
    let wanted = usize::try_from(asked.count).unwrap_or(0);
    let invalid = |message: String| Err(ApiError::new(ErrorCode::INVALID_PARTITIONS, message));
    let of_4 = release >= Release::V4_4;
    let (name, count) = (&asked.name, asked.count);
    match wanted.checked_sub(has) {
        Some(0) if of_4 => invalid(format!("Topic already has {has} partition(s).")),
        Some(0) => invalid(format!("Topic already has {has} partitions.")),
        Some(more) => Ok(more),
        None if of_4 => {
            invalid(format!("The topic {name} currently has {has} partition(s); {count} would not be an increase."))
        }
        None => invalid(format!("Topic currently has {has} partitions, which is higher than the requested {count}.")),
    }
}

/// The brokers of the new partitions, if they were named.
fn named(
    cluster: &Cluster,
    asked: &CreatePartitionsTopic,
    topic: &Topic,
    more: usize,
) -> Result<Option<Vec<Vec<NodeId>>>, ApiError> {
    let Some(assignments) = &asked.assignments else { return Ok(None) };
    let invalid = |message: String| Err(ApiError::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, message));
    let (of_4, given) = (cluster.release >= Release::V4_4, assignments.len());
    if given != more && of_4 {
        return invalid(format!(
            "Attempted to add {more} additional partition(s), but only {given} assignment(s) were specified."
        ));
    }
    if given != more {
        return invalid(format!("Increasing the number of partitions by {more} but {given} assignments provided."));
    }
    let replicas = topic.partitions.first().map(|partition| partition.replicas.len());
    for (partition, brokers) in (topic.partitions.len()..).zip(assignments) {
        let brokers = &brokers.broker_ids;
        let said = if of_4 {
            named_brokers(cluster, brokers, replicas).err()
        } else {
            old_complaint(cluster, partition, brokers, replicas)
        };
        if let Some(message) = said {
            return invalid(message);
        }
    }
    let nodes = |brokers: &Vec<i32>| brokers.iter().copied().map(NodeId).collect();
    Ok(Some(assignments.iter().map(|assigned| nodes(&assigned.broker_ids)).collect()))
}

/// What releases with ZooKeeper say about the brokers of a new partition (`AdminZkClient.validateReplicaAssignment`).
fn old_complaint(cluster: &Cluster, partition: usize, brokers: &[i32], replicas: Option<usize>) -> Option<String> {
    let joined = |brokers: &[i32]| brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let unknown: Vec<i32> =
        brokers.iter().copied().filter(|broker| !cluster.running().any(|node| node.0 == *broker)).collect();
    if brokers.is_empty() {
        return Some(format!("Cannot have replication factor of 0 for partition id {partition}."));
    }
    if brokers.iter().collect::<BTreeSet<_>>().len() < brokers.len() {
        let brokers = joined(brokers);
        return Some(format!(
            "Duplicate brokers not allowed in replica assignment: {brokers} for partition id {partition}."
        ));
    }
    if !unknown.is_empty() {
        return Some(format!("Unknown broker(s) in replica assignment: {}.", joined(&unknown)));
    }
    if let Some(replicas) = replicas.filter(|replicas| *replicas != brokers.len()) {
        return Some(format!(
            "Inconsistent replication factor between partitions, partition 0 has {replicas} while partitions [{partition}] \
             have replication factors [{}], respectively.",
            brokers.len()
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::CreatePartitionsAssignment;

    use super::*;
    use crate::asking::Asking;

    fn to(name: &str, count: i32, brokers: Option<&[&[i32]]>) -> CreatePartitionsRequest {
        let assignments = brokers
            .map(|all| all.iter().map(|brokers| CreatePartitionsAssignment { broker_ids: brokers.to_vec() }).collect());
        let topics = vec![CreatePartitionsTopic { name: name.to_owned(), count, assignments }];
        CreatePartitionsRequest { topics, timeout_ms: 1000, validate_only: false }
    }

    fn said(client: &mut Asking, request: CreatePartitionsRequest) -> (i16, Option<String>) {
        let answer: CreatePartitionsResponse = client.ask(0, request);
        (answer.results[0].error_code.0, answer.results[0].error_message.clone())
    }

    fn with_topic(release: Release) -> Asking {
        let mut client = Asking::of(release);
        client.cluster.create_topic("t", 3);
        client
    }

    fn releases() -> impl Iterator<Item = Release> {
        Release::ALL.into_iter().filter(|release| *release >= Release::V1_0)
    }

    #[test]
    fn a_topic_grows() {
        for release in releases() {
            let mut client = with_topic(release);
            assert_eq!(said(&mut client, to("t", 5, None)), (0, None), "{release}");
            assert_eq!(said(&mut client, to("t", 6, Some(&[&[0]]))), (0, None), "{release}");
            assert_eq!(client.cluster.offsets("t", 5), Ok((0, 0)), "{release}");
            let validate = CreatePartitionsRequest { validate_only: true, ..to("t", 9, None) };
            assert_eq!(said(&mut client, validate), (0, None), "{release}");
            assert!(client.cluster.offsets("t", 6).is_err(), "{release}");
        }
    }

    #[test]
    fn what_is_no_growth() {
        let of = |release, count| said(&mut with_topic(release), to("t", count, None));
        let old = "Topic currently has 3 partitions, which is higher than the requested 2.";
        let new = "The topic t currently has 3 partition(s); 2 would not be an increase.";
        assert_eq!(of(Release::V2_0, 2), (37, Some(old.to_owned())));
        assert_eq!(of(Release::V4_4, 2), (37, Some(new.to_owned())));
        assert_eq!(of(Release::V3_9, 3), (37, Some("Topic already has 3 partitions.".to_owned())));
        assert_eq!(of(Release::V4_4, 3), (37, Some("Topic already has 3 partition(s).".to_owned())));
        let absent = said(&mut with_topic(Release::V3_9), to("nope", 3, None));
        assert_eq!(absent, (3, Some("The topic 'nope' does not exist.".to_owned())));
        assert_eq!(said(&mut with_topic(Release::V4_4), to("nope", 3, None)), (3, None));
    }

    #[test]
    fn not_any_number_of_partitions() {
        let of = |release, count| said(&mut with_topic(release), to("t", count, None));
        let new = "Excessively large number of additional partitions per request.";
        assert_eq!(of(Release::V4_4, i32::MAX), (44, Some(new.to_owned())));
        assert_eq!(of(Release::V2_0, 10_004).0, 37);
        assert_eq!(of(Release::V2_0, 10_003).0, 0);
    }

    #[test]
    fn brokers_that_are_none() {
        let of = |release, brokers: &[&[i32]]| {
            let (code, message) = said(&mut with_topic(release), to("t", 4, Some(brokers)));
            assert_eq!(code, 39);
            message.unwrap()
        };
        let old = Release::V2_0;
        assert_eq!(of(old, &[&[0], &[0]]), "Increasing the number of partitions by 1 but 2 assignments provided.");
        assert_eq!(of(old, &[&[7]]), "Unknown broker(s) in replica assignment: 7.");
        let twice = "Duplicate brokers not allowed in replica assignment: 0, 0 for partition id 3.";
        assert_eq!(of(old, &[&[0, 0]]), twice);
        assert_eq!(of(old, &[&[]]), "Cannot have replication factor of 0 for partition id 3.");
        let new = Release::V4_4;
        let count = "Attempted to add 1 additional partition(s), but only 2 assignment(s) were specified.";
        assert_eq!(of(new, &[&[0], &[0]]), count);
        assert_eq!(of(new, &[&[]]), "The manual partition assignment includes an empty replica list.");
    }

    #[test]
    fn without_time() {
        for (release, partitions) in [(Release::V3_9, 4), (Release::V4_4, 3)] {
            let mut client = with_topic(release);
            let hasty = CreatePartitionsRequest { timeout_ms: 0, ..to("t", 4, None) };
            assert_eq!(said(&mut client, hasty), (7, None), "{release}");
            assert_eq!(client.cluster.topics.get("t").unwrap().partitions.len(), partitions, "{release}");
        }
    }

    #[test]
    fn a_topic_twice_in_a_request() {
        for (release, message) in
            [(Release::V3_9, "Duplicate topic in request."), (Release::V4_4, "Duplicate topic name.")]
        {
            let mut request = to("t", 4, None);
            request.topics.extend(request.topics.clone());
            assert_eq!(said(&mut with_topic(release), request), (42, Some(message.to_owned())), "{release}");
        }
    }
}
