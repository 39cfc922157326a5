//! AlterPartitionReassignments and ListPartitionReassignments: a partition moves to other brokers (KIP-455). It is there
//! at once, so that no move is ever seen under way, and there is none to be cancelled (85).
//!
//! Codes and messages as measured on 2.4 to 4.4. Java: `kafka.controller.KafkaController.alterPartitionReassignments`,
//! `org.apache.kafka.controller.ReplicationControlManager.alterPartitionReassignments`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, ListPartitionReassignmentsResponse,
    ReassignablePartition, ReassignedPartition, ReassignedTopic,
};

use super::create_topics::named_brokers;
use super::error::ApiError;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};
use crate::{NodeId, Release};

/// Moves partition by partition.
pub(crate) fn alter(cluster: &mut Cluster, call: &Call, request: &AlterPartitionReassignmentsRequest) -> Reply {
    let allow_replication_factor_change = request.allow_replication_factor_change;
    if let Some(error) = refused(cluster, call, Operation::Alter) {
        let (error_code, error_message) = (error.code, error.message);
        let response = AlterPartitionReassignmentsResponse { error_code, error_message, ..Default::default() };
        return Reply::from(response);
    }
    let same_size = !allow_replication_factor_change;
    let responses = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|asked| {
            let outcome = reassign(cluster, &topic.name, asked, same_size);
            let (error_code, error_message) =
                outcome.map_or_else(|e| (e.code, e.message), |()| (ErrorCode::NONE, None));
            ReassignedPartition { partition_index: asked.partition_index, error_code, error_message }
        });
        ReassignedTopic { name: topic.name.clone(), partitions: partitions.collect() }
    });
    let responses: Vec<_> = responses.collect();
    cluster.waits.change();
    let error_message = (cluster.release < Release::V4_4 || responses.is_empty()).then(String::new);
    Reply::from(AlterPartitionReassignmentsResponse {
        allow_replication_factor_change,
        error_message,
        responses,
        ..AlterPartitionReassignmentsResponse::default()
    })
}

/// Nothing is under way.
pub(crate) fn list(cluster: &Cluster, call: &Call) -> Reply {
    let error = refused(cluster, call, Operation::Describe);
    let fine = (cluster.release < Release::V4_4).then(String::new);
    let (error_code, error_message) = error.map_or((ErrorCode::NONE, fine), |error| (error.code, error.message));
    Reply::from(ListPartitionReassignmentsResponse { error_code, error_message, ..Default::default() })
}

fn refused(cluster: &Cluster, call: &Call, operation: Operation) -> Option<ApiError> {
    if !authorized(cluster, call, operation, Resource::Cluster) {
        return Some(ApiError::new(ErrorCode::CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."));
    }
    if cluster.release < Release::V4_4 && cluster.controller() != Some(call.node) {
        let message = "This is not the correct controller for this cluster.";
        return Some(ApiError::new(ErrorCode::NOT_CONTROLLER, message));
    }
    None
}

fn reassign(
    cluster: &mut Cluster,
    topic: &str,
    asked: &ReassignablePartition,
    same_size: bool,
) -> Result<(), ApiError> {
    let of_4 = cluster.release >= Release::V4_4;
    let index = asked.partition_index;
    let Some(partition) = cluster.partition(topic, index) else {
        let message = match cluster.topics.get(topic) {
            _ if !of_4 => "The partition does not exist.".to_owned(),
            Some(_) => format!("Unable to find partition {topic}:{index}."),
            None => format!("Unable to find a topic named {topic}."),
        };
        return Err(ApiError::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message));
    };
    let has = partition.replicas.len();
    let Some(brokers) = &asked.replicas else {
        let message = (!of_4).then(|| "No partition reassignment is in progress.".to_owned());
        return Err(ApiError { code: ErrorCode::NO_REASSIGNMENT_IN_PROGRESS, message });
    };
    let said = if of_4 { named_brokers(cluster, brokers, None).err() } else { old_complaint(cluster, brokers) };
    if let Some(message) = said {
        return Err(ApiError::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, message));
    }
    if same_size && brokers.len() != has {
        let message = format!("The replication factor is changed from {has} to {}", brokers.len());
        return Err(ApiError::new(ErrorCode::INVALID_REPLICATION_FACTOR, message));
    }
    let nodes: Vec<NodeId> = brokers.iter().copied().map(NodeId).collect();
    cluster.reassign(topic, index, &nodes);
    Ok(())
}

/// What releases with ZooKeeper say about the brokers that a partition is to move to.
fn old_complaint(cluster: &Cluster, brokers: &[i32]) -> Option<String> {
    let running: Vec<i32> = cluster.running().map(|node| node.0).collect();
    let mut unique = brokers.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let joined = |brokers: &[i32]| brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let list = joined(brokers);
    let said = if brokers.is_empty() {
        "Empty replica list specified in partition reassignment.".to_owned()
    } else if unique.len() < brokers.len() {
        format!("Duplicate replica ids in partition reassignment replica list: ArrayBuffer({list})")
    } else if brokers.iter().any(|broker| *broker < 0) {
        format!("Invalid broker id in replica list: ArrayBuffer({list})")
    } else if brokers.iter().any(|broker| !running.contains(broker)) {
        let live = joined(&running);
        format!(
            "Replica assignment has brokers that are not alive. Replica list: ArrayBuffer({list}), live broker list: \
             Set({live})"
        )
    } else {
        return None;
    };
    Some(if cluster.release >= Release::V2_8 { said } else { "Replica assignment is invalid.".to_owned() })
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::{ListPartitionReassignmentsRequest, ReassignableTopic};
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::asking::{Asking, batch};

    fn request(name: &str, partition_index: i32, replicas: Option<&[i32]>) -> AlterPartitionReassignmentsRequest {
        let replicas = replicas.map(<[i32]>::to_vec);
        let partitions = vec![ReassignablePartition { partition_index, replicas }];
        let topics = vec![ReassignableTopic { name: name.to_owned(), partitions }];
        AlterPartitionReassignmentsRequest { topics, ..AlterPartitionReassignmentsRequest::default() }
    }

    fn three(release: Release) -> Asking {
        let cluster = Cluster::builder(release).brokers(3).setting("default.replication.factor", "2").build().unwrap();
        let mut client = Asking::to(cluster, NodeId(0));
        client.cluster.create_topic("t", 1);
        client
    }

    fn said(client: &mut Asking, request: AlterPartitionReassignmentsRequest) -> (i16, String) {
        let answer: AlterPartitionReassignmentsResponse = client.ask(0, request);
        let one = &answer.responses[0].partitions[0];
        (one.error_code.0, one.error_message.clone().unwrap_or_else(|| "null".to_owned()))
    }

    #[test]
    fn a_partition_moves_with_its_records() {
        for release in [Release::V2_4, Release::V3_9, Release::V4_4] {
            let mut client = three(release);
            client.produce(3, "t", -1, batch(5, Stamp::NONE));
            assert_eq!(said(&mut client, request("t", 0, Some(&[2, 1]))), (0, "null".to_owned()), "{release}");
            assert_eq!(
                client.cluster.leader("t", 0),
                Ok(Some(NodeId(1))),
                "{release}: an in-sync one stays or takes over"
            );
            let replicas: Vec<_> =
                client.cluster.partition("t", 0).unwrap().replicas.iter().map(|replica| replica.node.0).collect();
            assert_eq!((replicas, client.cluster.offsets("t", 0)), (vec![2, 1], Ok((0, 5))), "{release}");
            let answer: ListPartitionReassignmentsResponse =
                client.ask(0, ListPartitionReassignmentsRequest { topics: None, timeout_ms: 1000 });
            assert_eq!((answer.error_code.0, answer.topics.len()), (0, 0), "{release}");
        }
    }

    #[test]
    fn brokers_that_are_none() {
        let of = |release, brokers: &[i32]| said(&mut three(release), request("t", 0, Some(brokers)));
        assert_eq!(of(Release::V2_4, &[7]), (39, "Replica assignment is invalid.".to_owned()));
        let alive = "Replica assignment has brokers that are not alive. Replica list: ArrayBuffer(7), live broker list: \
                     Set(0, 1, 2)";
        assert_eq!(of(Release::V3_9, &[7]), (39, alive.to_owned()));
        assert_eq!(of(Release::V3_9, &[-1]), (39, "Invalid broker id in replica list: ArrayBuffer(-1)".to_owned()));
        let empty = "Empty replica list specified in partition reassignment.";
        assert_eq!(of(Release::V2_8, &[]), (39, empty.to_owned()));
        let registered = "The manual partition assignment includes broker 7, but no such broker is registered.";
        assert_eq!(of(Release::V4_4, &[7]), (39, registered.to_owned()));
    }

    #[test]
    fn what_is_not_there() {
        let of = |release, name, index, replicas| said(&mut three(release), request(name, index, replicas));
        let brokers: Option<&[i32]> = Some(&[0]);
        assert_eq!(of(Release::V3_9, "nope", 0, brokers), (3, "The partition does not exist.".to_owned()));
        assert_eq!(of(Release::V4_4, "nope", 0, brokers), (3, "Unable to find a topic named nope.".to_owned()));
        assert_eq!(of(Release::V4_4, "t", 9, brokers), (3, "Unable to find partition t:9.".to_owned()));
        assert_eq!(of(Release::V3_9, "t", 0, None), (85, "No partition reassignment is in progress.".to_owned()));
        assert_eq!(of(Release::V4_4, "t", 0, None), (85, "null".to_owned()));
    }

    #[test]
    fn only_the_controller_moves_partitions() {
        let mut client = three(Release::V3_9);
        client.connect(NodeId(1));
        let answer: AlterPartitionReassignmentsResponse = client.ask(0, request("t", 0, Some(&[0])));
        assert_eq!((answer.error_code.0, answer.responses.len()), (41, 0));
    }
}
