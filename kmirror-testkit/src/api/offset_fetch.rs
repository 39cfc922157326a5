//! OffsetFetch: what a group has committed; v0 what is in ZooKeeper. From v8 on of several groups (KIP-709).
//!
//! Never committed: error 0, offset -1, empty metadata (measured); from v7 on 88 for what an open transaction may still
//! change, if the client wants only stable offsets (KIP-447).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    FetchedOffset, FetchedOffsetGroup, FetchedOffsetTopic, OffsetFetchGroup, OffsetFetchRequest, OffsetFetchResponse,
    OffsetFetchTopic,
};

use super::access;
use super::offset_commit::BY_ID_FROM;
use crate::Release;
use crate::acls::Operation;
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::groups::Committed;

/// Answers group by group.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &OffsetFetchRequest) -> Reply {
    let groups = request.groups.iter().map(|group| one(cluster, call, group, request.require_stable));
    Reply::from(OffsetFetchResponse { groups: groups.collect(), ..OffsetFetchResponse::default() })
}

fn one(cluster: &Cluster, call: &Call, asked: &OffsetFetchGroup, stable: bool) -> FetchedOffsetGroup {
    let group_id = asked.group_id.clone();
    if !access::may_fetch_offsets(cluster, call, &group_id) {
        return refused((cluster.release, call.version), asked, ErrorCode::GROUP_AUTHORIZATION_FAILED);
    }
    if call.version > 0
        && let Err(error_code) = cluster.coordinates(call, Coordinates::Group, &group_id)
    {
        return refused((cluster.release, call.version), asked, error_code);
    }
    let topics = match &asked.topics {
        None => {
            let mut topics = all(cluster, &group_id, stable);
            topics.retain(|topic| access::topic(cluster, call, Operation::Describe, &topic.name).is_ok());
            topics
        }
        Some(topics) => topics.iter().map(|topic| some(cluster, call, &group_id, topic, stable)).collect(),
    };
    FetchedOffsetGroup { group_id, topics, ..FetchedOffsetGroup::default() }
}

/// Below v2 an answer has no error of its own: each partition has it, but on 3.9, which says nothing (measured).
fn refused((release, version): (Release, i16), asked: &OffsetFetchGroup, error_code: ErrorCode) -> FetchedOffsetGroup {
    let group_id = asked.group_id.clone();
    if version >= 2 || release == Release::V3_9 {
        return FetchedOffsetGroup { group_id, topics: Vec::new(), error_code };
    }
    let metadata = || Some(String::new());
    let partition = |index: &i32| FetchedOffset {
        partition_index: *index,
        metadata: metadata(),
        error_code,
        ..FetchedOffset::default()
    };
    let topic = |topic: &OffsetFetchTopic| FetchedOffsetTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: topic.partition_indexes.iter().map(partition).collect(),
    };
    let topics = asked.topics.iter().flatten().map(topic).collect();
    FetchedOffsetGroup { group_id, topics, error_code }
}

fn all(cluster: &Cluster, group_id: &str, stable: bool) -> Vec<FetchedOffsetTopic> {
    let mut topics: Vec<FetchedOffsetTopic> = Vec::new();
    let committed = cluster.groups.get(group_id).into_iter().flat_map(|group| group.offsets.iter());
    for (name, partition_index, _) in committed {
        let partition = fetched(cluster, group_id, name, partition_index, stable);
        match topics.last_mut() {
            Some(topic) if topic.name == name => topic.partitions.push(partition),
            Some(_) | None => topics.push(FetchedOffsetTopic {
                name: name.to_owned(),
                topic_id: cluster.topics.get(name).map_or([0; 16], |topic| topic.id),
                partitions: vec![partition],
            }),
        }
    }
    topics
}

fn some(cluster: &Cluster, call: &Call, group_id: &str, asked: &OffsetFetchTopic, stable: bool) -> FetchedOffsetTopic {
    let name = cluster.name_of(call.version >= BY_ID_FROM, &asked.name, &asked.topic_id);
    let fetch = |index: &i32| match &name {
        None => FetchedOffset {
            partition_index: *index,
            error_code: ErrorCode::UNKNOWN_TOPIC_ID,
            ..FetchedOffset::default()
        },
        Some(name) if access::topic(cluster, call, Operation::Describe, name).is_err() => {
            let error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
            FetchedOffset { partition_index: *index, error_code, ..FetchedOffset::default() }
        }
        Some(name) if call.version == 0 => {
            let group = cluster.groups.get(group_id);
            let committed = group.and_then(|group| group.offsets.in_zookeeper(name, *index));
            let error_code = match committed {
                Some(_) => ErrorCode::NONE,
                None => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            };
            FetchedOffset { error_code, ..offset(*index, committed) }
        }
        Some(name) => fetched(cluster, group_id, name, *index, stable),
    };
    FetchedOffsetTopic {
        name: asked.name.clone(),
        topic_id: asked.topic_id,
        partitions: asked.partition_indexes.iter().map(fetch).collect(),
    }
}

fn fetched(cluster: &Cluster, group_id: &str, topic: &str, index: i32, stable: bool) -> FetchedOffset {
    let group = cluster.groups.get(group_id);
    if stable && group.is_some_and(|group| group.offsets.is_pending(topic, index)) {
        let error_code = ErrorCode::UNSTABLE_OFFSET_COMMIT;
        return FetchedOffset { error_code, ..offset(index, None) };
    }
    offset(index, group.and_then(|group| group.offsets.get(topic, index)))
}

fn offset(partition_index: i32, committed: Option<&Committed>) -> FetchedOffset {
    let none = FetchedOffset {
        partition_index,
        committed_offset: -1,
        committed_leader_epoch: -1,
        metadata: Some(String::new()),
        error_code: ErrorCode::NONE,
    };
    match committed {
        None => none,
        Some(committed) => FetchedOffset {
            committed_offset: committed.offset,
            committed_leader_epoch: committed.leader_epoch,
            metadata: Some(committed.metadata.clone()),
            ..none
        },
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::{
        FindCoordinatorRequest, FindCoordinatorResponse, OffsetCommitPartition, OffsetCommitRequest,
        OffsetCommitResponse, OffsetCommitTopic,
    };

    use super::*;
    use crate::Release;
    use crate::asking::Asking;

    fn commit(client: &mut Asking, version: i16, topic: &str, partition: i32, metadata: Option<String>) -> i16 {
        let partition = OffsetCommitPartition {
            partition_index: partition,
            committed_offset: 55,
            committed_metadata: metadata,
            ..OffsetCommitPartition::default()
        };
        let topic =
            OffsetCommitTopic { name: topic.to_owned(), partitions: vec![partition], ..OffsetCommitTopic::default() };
        let request =
            OffsetCommitRequest { group_id: "g".to_owned(), topics: vec![topic], ..OffsetCommitRequest::default() };
        let answer: OffsetCommitResponse = client.ask(version, request);
        answer.topics[0].partitions[0].error_code.0
    }

    fn fetch(client: &mut Asking, version: i16, topic: &str) -> (i16, i64, Option<String>) {
        let topic =
            OffsetFetchTopic { name: topic.to_owned(), partition_indexes: vec![0], ..OffsetFetchTopic::default() };
        let request = OffsetFetchRequest::group("g".to_owned(), Some(vec![topic]));
        let answer: OffsetFetchResponse = client.ask(version, request);
        let found = answer.groups[0].topics[0].partitions[0].clone();
        (found.error_code.0, found.committed_offset, found.metadata)
    }

    fn with_group(release: Release) -> Asking {
        let mut client = Asking::of(release);
        client.cluster.create_topic("t", 1);
        for code in [15, 0] {
            let request = FindCoordinatorRequest::group("g".to_owned());
            let answer: FindCoordinatorResponse = client.ask(0, request);
            assert_eq!(answer.into_only().error_code.0, code);
        }
        client
    }

    /// The measured lines on OffsetCommit v2 and OffsetFetch v1, the same on 0.10 to 4.4.
    #[test]
    fn what_was_committed_comes_back() {
        for release in Release::ALL {
            let mut client = with_group(release);
            assert_eq!(fetch(&mut client, 1, "t"), (0, -1, Some(String::new())), "{release}: never committed");
            assert_eq!(client.cluster.committed("g", "t", 0), None, "{release}");
            assert_eq!(commit(&mut client, 2, "t", 0, None), 0, "{release}");
            assert_eq!(fetch(&mut client, 1, "t"), (0, 55, Some(String::new())), "{release}: null comes back empty");
            assert_eq!(client.cluster.committed("g", "t", 0), Some(55), "{release}");
            assert_eq!(commit(&mut client, 2, "t", 0, Some("é☃".to_owned())), 0, "{release}");
            assert_eq!(fetch(&mut client, 1, "t").2.as_deref(), Some("é☃"), "{release}");
            assert_eq!(commit(&mut client, 2, "t", 0, Some("m".repeat(4096))), 0, "{release}");
            assert_eq!(commit(&mut client, 2, "t", 0, Some("m".repeat(4097))), 12, "{release}");
            assert_eq!(commit(&mut client, 2, "absent", 0, None), 3, "{release}");
            let missing_partition = if release < Release::V2_0 { 0 } else { 3 };
            assert_eq!(commit(&mut client, 2, "t", 7, None), missing_partition, "{release}");
        }
    }

    /// v0 writes to and reads from ZooKeeper; 4.x has neither.
    #[test]
    fn version_0_is_a_place_of_its_own() {
        let mut client = with_group(Release::V2_0);
        assert_eq!(commit(&mut client, 0, "t", 0, None), 0);
        assert_eq!(fetch(&mut client, 0, "t"), (0, 55, Some(String::new())));
        assert_eq!(fetch(&mut client, 1, "t").1, -1);
    }
}
