//! What a topic is refused for, in the order of the release.
//!
//! ```text
//! 0.10 … 2.1:  settings, assignment or counts, counts, name, exists, collision, assignment
//! 2.4:         exists, settings, assignment or counts, counts, name, collision, assignment
//! 2.8 … 3.9:   exists, null settings, assignment or counts, counts, name, collision, assignment, settings
//! 4.4:         name, collision, exists, settings, counts or assignment
//! ```

use std::collections::{BTreeMap, BTreeSet};

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::CreatableTopic;

use crate::api::error::ApiError;
use crate::api::topic_names;
use crate::cluster::Cluster;
use crate::configs::read_overrides;
use crate::limits::PARTITIONS_PER_REQUEST_MAX;
use crate::{NodeId, Release};

/// A topic that can be created.
pub(super) struct Checked {
    pub(super) assignment: Vec<Vec<NodeId>>,
    pub(super) overrides: BTreeMap<String, String>,
}

/// What the release says against a topic, or what it is to be.
pub(super) fn check(
    cluster: &Cluster,
    topic: &CreatableTopic,
    before: &BTreeSet<String>,
    validate_only: bool,
) -> Result<Checked, ApiError> {
    let release = cluster.release;
    if release >= Release::V3_9 && topic.name == "__cluster_metadata" {
        let message = "Creation of internal topic __cluster_metadata is prohibited.";
        return Err(ApiError::new(ErrorCode::INVALID_REQUEST, message));
    }
    if release >= Release::V4_4 {
        name(cluster, topic, before)?;
        exists(cluster, topic)?;
        let overrides = overrides(cluster, topic)?;
        return Ok(Checked { assignment: assignment(cluster, topic)?, overrides });
    }
    if release >= Release::V2_4 {
        exists(cluster, topic)?;
    }
    if release >= Release::V2_8 {
        null(release, topic)?;
        let assignment = assignment(cluster, topic)?;
        name(cluster, topic, before)?;
        consistent(release, topic)?;
        return Ok(Checked { assignment, overrides: overrides(cluster, topic)? });
    }
    let overrides = overrides(cluster, topic)?;
    let assignment = assignment(cluster, topic)?;
    // 0.10.2 looks no further when it is only to validate.
    if !(validate_only && release <= Release::V0_10_2) {
        name(cluster, topic, before)?;
        consistent(release, topic)?;
    }
    Ok(Checked { assignment, overrides })
}

fn exists(cluster: &Cluster, topic: &CreatableTopic) -> Result<(), ApiError> {
    if cluster.topics.contains_key(&topic.name) {
        let message = format!("Topic '{}' already exists.", topic.name);
        return Err(ApiError::new(ErrorCode::TOPIC_ALREADY_EXISTS, message));
    }
    Ok(())
}

/// Legal, and not to be taken for another in metrics; for releases with ZooKeeper also new.
fn name(cluster: &Cluster, topic: &CreatableTopic, before: &BTreeSet<String>) -> Result<(), ApiError> {
    let (name, release) = (topic.name.as_str(), cluster.release);
    let illegal = |message: String| ApiError::new(ErrorCode::INVALID_TOPIC_EXCEPTION, message);
    if let Some(message) = topic_names::complaint(release, name) {
        return Err(illegal(message));
    }
    if release >= Release::V4_4 {
        let other = before.iter().find(|other| topic_names::collide(name, other));
        return other
            .map_or(Ok(()), |other| Err(illegal(format!("Topic '{name}' collides with existing topic: {other}"))));
    }
    exists(cluster, topic)?;
    let others: Vec<&str> =
        cluster.topics.keys().map(String::as_str).filter(|other| topic_names::collide(name, other)).collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(illegal(format!("Topic '{name}' collides with existing topics: {}", others.join(", "))))
}

/// A setting without a value: nobody had thought of it before 2.8.
fn null(release: Release, topic: &CreatableTopic) -> Result<(), ApiError> {
    let names = topic.configs.iter().filter(|config| config.value.is_none()).map(|config| config.name.as_str());
    let names = names.collect::<Vec<_>>().join(",");
    if names.is_empty() {
        return Ok(());
    }
    Err(if release >= Release::V3_9 {
        ApiError::new(ErrorCode::INVALID_CONFIG, format!("Null value not supported for topic configs: {names}"))
    } else if release >= Release::V2_8 {
        ApiError::new(ErrorCode::INVALID_REQUEST, format!("Null value not supported for topic configs : {names}"))
    } else {
        ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR)
    })
}

fn overrides(cluster: &Cluster, topic: &CreatableTopic) -> Result<BTreeMap<String, String>, ApiError> {
    null(cluster.release, topic)?;
    let sent = topic.configs.iter().filter_map(|config| Some((config.name.as_str(), config.value.as_deref()?)));
    read_overrides(&cluster.settings, sent).map_err(|error| ApiError::of_setting(cluster.release, &error))
}

/// The brokers of each partition: as they were named, else by the counts.
fn assignment(cluster: &Cluster, topic: &CreatableTopic) -> Result<Vec<Vec<NodeId>>, ApiError> {
    if topic.assignments.is_empty() {
        return counted(cluster, topic.num_partitions, topic.replication_factor);
    }
    let release = cluster.release;
    if release >= Release::V4_4 {
        named_of_4(cluster, topic)?;
    } else if topic.num_partitions != -1 || topic.replication_factor != -1 {
        let message = "Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used at \
                       the same time.";
        return Err(ApiError::new(ErrorCode::INVALID_REQUEST, message));
    }
    // Of two entries for one partition the last counts.
    let by_index: BTreeMap<i32, Vec<NodeId>> = topic
        .assignments
        .iter()
        .map(|assigned| (assigned.partition_index, assigned.broker_ids.iter().copied().map(NodeId).collect()))
        .collect();
    Ok(by_index.into_values().collect())
}

/// By counts, -1 for the brokers' default from 2.4 on (KIP-464).
fn counted(cluster: &Cluster, partitions: i32, replicas: i16) -> Result<Vec<Vec<NodeId>>, ApiError> {
    let defaults = cluster.release >= Release::V2_4;
    let partitions = if defaults && partitions == -1 { as_i32(cluster.settings.partitions) } else { partitions };
    let replicas = i32::from(replicas);
    let replicas = if defaults && replicas == -1 { as_i32(cluster.settings.replication_factor) } else { replicas };
    match counts_complaint(cluster, partitions, replicas) {
        Some(error) => Err(error),
        None => {
            let count = |count: i32| usize::try_from(count).unwrap_or(0);
            Ok(cluster.assignment(0, count(partitions), count(replicas)))
        }
    }
}

/// What is said of a request that would make so many partitions in all: by 4.x as here, by older releases nothing.
pub(in crate::api) fn too_many(release: Release, partitions: i64, what: &str) -> Option<ApiError> {
    let (code, message) = if release >= Release::V4_4 {
        (ErrorCode::POLICY_VIOLATION, format!("Excessively large number of {what} per request."))
    } else {
        (ErrorCode::INVALID_PARTITIONS, format!("More than {PARTITIONS_PER_REQUEST_MAX} {what} in one request."))
    };
    (partitions > PARTITIONS_PER_REQUEST_MAX).then(|| ApiError::new(code, message))
}

/// How many partitions a request for topics would make.
pub(super) fn partitions_in_all(cluster: &Cluster, topics: &[CreatableTopic]) -> i64 {
    let of = |topic: &CreatableTopic| match topic.num_partitions {
        _ if !topic.assignments.is_empty() => i64::try_from(topic.assignments.len()).unwrap_or(i64::MAX),
        -1 => i64::from(as_i32(cluster.settings.partitions)),
        count => i64::from(count.max(0)),
    };
    topics.iter().map(of).fold(0, i64::saturating_add)
}

fn as_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// What a release says about so many partitions on so many of its brokers.
pub(in crate::api) fn counts_complaint(cluster: &Cluster, partitions: i32, replicas: i32) -> Option<ApiError> {
    let (release, brokers) = (cluster.release, as_i32(cluster.running().count()));
    let of_partitions = |message: &str| Some(ApiError::new(ErrorCode::INVALID_PARTITIONS, message));
    let of_replicas = |message: String| Some(ApiError::new(ErrorCode::INVALID_REPLICATION_FACTOR, message));
    if release >= Release::V4_4 {
        return match (replicas, partitions) {
            (..1, _) => {
                of_replicas("Replication factor must be larger than 0, or -1 to use the default value.".to_owned())
            }
            (_, ..1) => of_partitions("Number of partitions was set to an invalid non-positive value."),
            _ if replicas > brokers => of_replicas(format!(
                "Unable to replicate the partition {replicas} time(s): The target replication factor of {replicas} cannot \
                 be reached because only {brokers} broker(s) are registered or some brokers have all their log \
                 directories cordoned."
            )),
            _ => None,
        };
    }
    // Since 1.0 they are sentences.
    let old = release <= Release::V0_11;
    match (partitions, replicas) {
        (..1, _) if old => of_partitions("number of partitions must be larger than 0"),
        (..1, _) => of_partitions("Number of partitions must be larger than 0."),
        (_, ..1) if old => of_replicas("replication factor must be larger than 0".to_owned()),
        (_, ..1) => of_replicas("Replication factor must be larger than 0.".to_owned()),
        _ if replicas <= brokers => None,
        _ if old => of_replicas(format!("replication factor: {replicas} larger than available brokers: {brokers}")),
        _ => of_replicas(format!("Replication factor: {replicas} larger than available brokers: {brokers}.")),
    }
}

fn unassignable(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, message)
}

const CONSECUTIVE: &str = "partitions should be a consecutive 0-based integer sequence";

/// What releases with ZooKeeper check of an assignment; that its brokers are there is not among it.
fn consistent(release: Release, topic: &CreatableTopic) -> Result<(), ApiError> {
    let by_index: BTreeMap<i32, &Vec<i32>> =
        topic.assignments.iter().map(|assigned| (assigned.partition_index, &assigned.broker_ids)).collect();
    let mut counts = by_index.values().map(|brokers| brokers.len());
    if counts.next().is_some_and(|first| counts.any(|count| count != first)) {
        return Err(unassignable("All partitions should have the same number of replicas"));
    }
    let repeats = |brokers: &Vec<i32>| brokers.iter().collect::<BTreeSet<_>>().len() < brokers.len();
    if by_index.values().any(|brokers| repeats(brokers)) {
        let map = if release >= Release::V2_8 { "HashMap" } else { "Map" };
        let buffer = |brokers: &[i32]| brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let entries = by_index.iter().map(|(index, brokers)| format!("{index} -> ArrayBuffer({})", buffer(brokers)));
        let entries = entries.collect::<Vec<_>>().join(", ");
        return Err(unassignable(format!("Duplicate replica assignment found: {map}({entries})")));
    }
    if by_index.keys().zip(0..).all(|(index, expected)| *index == expected) {
        return Ok(());
    }
    // Up to 2.1 numbers may be missing (measured); here those behind them move up.
    if release <= Release::V2_1 {
        return Ok(());
    }
    // From 2.4 on the sum is looked at, without negative ones; then partition 0 is looked up.
    let count = i64::try_from(by_index.len()).unwrap_or(i64::MAX);
    let sum: i64 = by_index.keys().filter(|index| **index >= 0).map(|index| i64::from(*index)).sum();
    if sum == count * (count - 1) / 2 {
        let message = (release == Release::V2_4).then(|| "key not found: 0".to_owned());
        return Err(ApiError { code: ErrorCode::UNKNOWN_SERVER_ERROR, message });
    }
    Err(unassignable(CONSECUTIVE))
}

/// What 4.x checks of an assignment.
fn named_of_4(cluster: &Cluster, topic: &CreatableTopic) -> Result<(), ApiError> {
    let both = |what: &str| {
        let message = format!("A manual partition assignment was specified, but {what} was not set to -1.");
        Err(ApiError::new(ErrorCode::INVALID_REQUEST, message))
    };
    if topic.replication_factor != -1 {
        return both("replication factor");
    }
    if topic.num_partitions != -1 {
        return both("numPartitions");
    }
    let mut indexes = BTreeSet::new();
    let mut replicas = None;
    for assigned in &topic.assignments {
        let index = assigned.partition_index;
        if !indexes.insert(index) {
            return Err(unassignable(format!("Found multiple manual partition assignments for partition {index}")));
        }
        named_brokers(cluster, &assigned.broker_ids, replicas).map_err(unassignable)?;
        replicas = Some(assigned.broker_ids.len());
    }
    if indexes.iter().zip(0..).any(|(index, expected)| *index != expected) {
        return Err(unassignable(CONSECUTIVE));
    }
    Ok(())
}

/// What 4.x says about the brokers of one partition (`ReplicationControlManager.validateManualPartitionAssignment`).
pub(in crate::api) fn named_brokers(cluster: &Cluster, brokers: &[i32], replicas: Option<usize>) -> Result<(), String> {
    let this = "The manual partition assignment includes";
    if brokers.is_empty() {
        return Err(format!("{this} an empty replica list."));
    }
    let mut sorted = brokers.to_vec();
    sorted.sort_unstable();
    for (at, broker) in sorted.iter().enumerate() {
        if !cluster.brokers.contains_key(&NodeId(*broker)) {
            return Err(format!("{this} broker {broker}, but no such broker is registered."));
        }
        if at > 0 && sorted.get(at - 1) == Some(broker) {
            return Err(format!("{this} the broker {broker} more than once."));
        }
    }
    match replicas {
        Some(replicas) if replicas != brokers.len() => Err(format!(
            "{this} a partition with {} replica(s), but this is not consistent with previous partitions, which have \
             {replicas} replica(s).",
            brokers.len()
        )),
        Some(_) | None => Ok(()),
    }
}
