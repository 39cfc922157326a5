//! OffsetDelete: committed offsets of topics that no member of the group subscribes to (KIP-496).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DeletedOffset, DeletedOffsetTopic, OffsetDeleteRequest, OffsetDeleteResponse, OffsetDeleteTopic,
};

use crate::cluster::{Call, Cluster, Coordinates, Reply};

/// Answered by the group's coordinator.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &OffsetDeleteRequest) -> Reply {
    let group_id = request.group_id.as_str();
    let known = cluster
        .coordinates(call, Coordinates::Group, group_id)
        .and_then(|()| cluster.groups.get(group_id).map(|_| ()).ok_or(ErrorCode::GROUP_ID_NOT_FOUND));
    if let Err(error_code) = known {
        return Reply::from(OffsetDeleteResponse { error_code, ..OffsetDeleteResponse::default() });
    }
    let topics = request.topics.iter().map(|topic| one(cluster, group_id, topic)).collect();
    Reply::from(OffsetDeleteResponse { topics, ..OffsetDeleteResponse::default() })
}

fn one(cluster: &mut Cluster, group_id: &str, topic: &OffsetDeleteTopic) -> DeletedOffsetTopic {
    let subscribed = cluster.groups.get(group_id).is_some_and(|group| group.subscribes_to(&topic.name));
    let partitions = topic.partition_indexes.iter().map(|index| {
        let error_code = if subscribed {
            ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC
        } else if cluster.partition(&topic.name, *index).is_none() {
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
        } else {
            cluster.groups.forget_offset(group_id, &topic.name, *index);
            ErrorCode::NONE
        };
        DeletedOffset { partition_index: *index, error_code }
    });
    DeletedOffsetTopic { name: topic.name.clone(), partitions: partitions.collect() }
}
