//! ElectLeaders: the preferred replica leads again, or anybody where nobody can (KIP-183, KIP-460).
//!
//! Measured on 2.4 to 4.4: what is as it should be is 84, and not told of when all partitions were asked for; there 4.x
//! tells of every topic, with nothing in it. Java: `kafka.controller.KafkaController`,
//! `org.apache.kafka.controller.ReplicationControlManager.electLeaders`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    ElectLeadersRequest, ElectLeadersResponse, ElectLeadersTopic, ElectedPartition, ElectedTopic,
};

use super::error::ApiError;
use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};

/// Elects partition by partition.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &ElectLeadersRequest) -> Reply {
    let release = cluster.release;
    let all = request.topic_partitions.is_none();
    let topics = request.topic_partitions.clone().unwrap_or_else(|| every(cluster));
    if let Some((whole, each)) = refused(cluster, call, request) {
        let topics = topics.iter().map(|topic| elected(topic, |_| Err(each.clone())));
        let mut response = ElectLeadersResponse { replica_election_results: topics.collect(), ..Default::default() };
        if call.version >= 1 {
            response.error_code = whole;
        }
        return Reply::from(response);
    }
    let mut replica_election_results = Vec::new();
    for topic in &topics {
        let mut told = elected(topic, |index| elect(cluster, request.election_type, &topic.name, index));
        if all {
            told.partitions.retain(|partition| partition.error_code != ErrorCode::ELECTION_NOT_NEEDED);
        }
        if !(all && told.partitions.is_empty()) || release >= Release::V4_4 {
            replica_election_results.push(told);
        }
    }
    cluster.waits.change();
    Reply::from(ElectLeadersResponse { replica_election_results, ..ElectLeadersResponse::default() })
}

fn every(cluster: &Cluster) -> Vec<ElectLeadersTopic> {
    let topic = |(name, topic): (&String, &crate::cluster::Topic)| ElectLeadersTopic {
        name: name.clone(),
        partitions: (0..).zip(&topic.partitions).map(|(index, _)| index).collect(),
    };
    cluster.topics.iter().map(topic).collect()
}

fn elected(topic: &ElectLeadersTopic, mut elect: impl FnMut(i32) -> Result<(), ApiError>) -> ElectedTopic {
    let partitions = topic.partitions.iter().map(|index| {
        let (error_code, error_message) =
            elect(*index).map_or_else(|e| (e.code, e.message), |()| (ErrorCode::NONE, None));
        ElectedPartition { partition_index: *index, error_code, error_message }
    });
    ElectedTopic { name: topic.name.clone(), partitions: partitions.collect() }
}

/// What is answered whatever the partition: for the whole election, and for each partition.
fn refused(cluster: &Cluster, call: &Call, request: &ElectLeadersRequest) -> Option<(ErrorCode, ApiError)> {
    let release = cluster.release;
    let known = matches!(request.election_type, ElectLeadersRequest::PREFERRED | ElectLeadersRequest::UNCLEAN);
    if call.version >= 1 && !known {
        let kind = request.election_type;
        let (code, message) = if release >= Release::V4_4 {
            (ErrorCode::INVALID_REQUEST, Some(format!("Unknown election type {kind}")))
        } else if release >= Release::V2_8 {
            (ErrorCode::UNKNOWN_SERVER_ERROR, None)
        } else {
            (ErrorCode::UNKNOWN_SERVER_ERROR, Some(format!("Value {kind} must be one of [PREFERRED, UNCLEAN]")))
        };
        return Some((code, ApiError { code, message }));
    }
    if !authorized(cluster, call, Operation::Alter, Resource::Cluster) {
        let code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
        return Some((code, ApiError::bare(code)));
    }
    if release < Release::V4_4 && cluster.controller() != Some(call.node) {
        return Some((ErrorCode::NONE, ApiError::bare(ErrorCode::NOT_CONTROLLER)));
    }
    None
}

fn elect(cluster: &mut Cluster, kind: i8, topic: &str, index: i32) -> Result<(), ApiError> {
    let release = cluster.release;
    let not_needed = || {
        let end = if release >= Release::V2_8 { "." } else { "" };
        let message = format!("Leader election not needed for topic partition{end}");
        Err(ApiError::new(ErrorCode::ELECTION_NOT_NEEDED, message))
    };
    let Some(partition) = cluster.partition(topic, index) else { return Err(absent(cluster, topic, index)) };
    let leader = partition.leader;
    if kind == ElectLeadersRequest::UNCLEAN {
        let there = partition.replicas.iter().map(|replica| replica.node).find(|node| cluster.is_running(*node));
        if leader.is_some() {
            return not_needed();
        }
        let elected = there.is_some_and(|node| cluster.elect_unclean(topic, index, node).is_ok());
        let message = "Failed to elect leader for partition: no replica of it is there.";
        let none = || ApiError::new(ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE, message);
        return if elected { Ok(()) } else { Err(none()) };
    }
    if leader.is_some() && leader == partition.replicas.first().map(|replica| replica.node) {
        return not_needed();
    }
    cluster.elect_preferred(topic, index).map_err(|_| {
        let message = if release >= Release::V4_4 {
            "The preferred leader was not available.".to_owned()
        } else {
            format!(
                "Failed to elect leader for partition {topic}-{index} under strategy \
                 PreferredReplicaPartitionLeaderElectionStrategy"
            )
        };
        ApiError::new(ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE, message)
    })
}

fn absent(cluster: &Cluster, topic: &str, index: i32) -> ApiError {
    let message = match cluster.topics.get(topic) {
        _ if cluster.release < Release::V4_4 => "The partition does not exist.".to_owned(),
        Some(_) => format!("No such partition as {topic}-{index}"),
        None => format!("No such topic as {topic}"),
    };
    ApiError::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::asking::Asking;

    fn request(election_type: i8, partitions: Option<&[(&str, i32)]>) -> ElectLeadersRequest {
        let topics = partitions.map(|all| {
            let topic =
                |(name, index): &(&str, i32)| ElectLeadersTopic { name: (*name).to_owned(), partitions: vec![*index] };
            all.iter().map(topic).collect()
        });
        ElectLeadersRequest { election_type, topic_partitions: topics, timeout_ms: 1000 }
    }

    fn two(release: Release) -> Asking {
        let cluster = Cluster::builder(release).brokers(2).setting("default.replication.factor", "2").build().unwrap();
        let mut client = Asking::to(cluster, NodeId(0));
        client.cluster.create_topic("t", 1);
        client
    }

    fn said(client: &mut Asking, request: ElectLeadersRequest) -> (i16, String) {
        let answer: ElectLeadersResponse = client.ask(2, request);
        let one = &answer.replica_election_results[0].partitions[0];
        (one.error_code.0, one.error_message.clone().unwrap_or_else(|| "null".to_owned()))
    }

    fn releases() -> [Release; 5] {
        [Release::V2_4, Release::V2_8, Release::V3_0, Release::V3_9, Release::V4_4]
    }

    #[test]
    fn the_preferred_replica_leads_again() {
        for release in releases() {
            let mut client = two(release);
            let end = if release == Release::V2_4 { "" } else { "." };
            let needless = (84, format!("Leader election not needed for topic partition{end}"));
            assert_eq!(said(&mut client, request(0, Some(&[("t", 0)]))), needless, "{release}");
            client.cluster.move_leader("t", 0, NodeId(1)).unwrap();
            assert_eq!(said(&mut client, request(0, Some(&[("t", 0)]))), (0, "null".to_owned()), "{release}");
            assert_eq!(client.cluster.leader("t", 0), Ok(Some(NodeId(0))), "{release}");
        }
    }

    #[test]
    fn all_partitions() {
        for (release, topics) in [(Release::V3_9, 0), (Release::V4_4, 1)] {
            let answer: ElectLeadersResponse = two(release).ask(2, request(0, None));
            assert_eq!(answer.replica_election_results.len(), topics, "{release}");
            assert!(answer.replica_election_results.iter().all(|topic| topic.partitions.is_empty()));
        }
    }

    #[test]
    fn what_is_not_there() {
        let of = |release, name, index| said(&mut two(release), request(0, Some(&[(name, index)])));
        assert_eq!(of(Release::V2_4, "nope", 0), (3, "The partition does not exist.".to_owned()));
        assert_eq!(of(Release::V4_4, "nope", 0), (3, "No such topic as nope".to_owned()));
        assert_eq!(of(Release::V4_4, "t", 9), (3, "No such partition as t-9".to_owned()));
    }

    #[test]
    fn other_elections() {
        for (release, code) in [(Release::V2_4, -1), (Release::V3_9, -1), (Release::V4_4, 42)] {
            let answer: ElectLeadersResponse = two(release).ask(2, request(5, Some(&[("t", 0)])));
            assert_eq!(answer.error_code.0, code, "{release}");
        }
    }
}
