//! DeleteRecords: a partition begins later from now on (KIP-107).
//!
//! Measured on 0.11 to 4.4: -1 is the high watermark; beyond it, or less than -1, is 1; an internal topic of the
//! brokers is 17, a partition that this broker does not lead 6. Java: `kafka.server.ReplicaManager.deleteRecords`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsResponse, DeletedRecordsPartition, DeletedRecordsTopic,
};

use super::topic_names;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};

/// The high watermark, whatever it is.
const HIGH_WATERMARK: i64 = -1;

/// Moves the start of partition by partition.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &DeleteRecordsRequest) -> Reply {
    let topics = request.topics.iter().map(|topic| DeletedRecordsTopic {
        name: topic.name.clone(),
        partitions: topic.partitions.iter().map(|asked| one(cluster, call, &topic.name, asked)).collect(),
    });
    let response = DeleteRecordsResponse { topics: topics.collect(), ..DeleteRecordsResponse::default() };
    cluster.waits.change();
    Reply::from(response)
}

fn one(cluster: &mut Cluster, call: &Call, topic: &str, asked: &DeleteRecordsPartition) -> DeletedRecordsPartition {
    let outcome = delete(cluster, call, topic, asked);
    DeletedRecordsPartition {
        partition_index: asked.partition_index,
        low_watermark: outcome.unwrap_or(-1),
        error_code: outcome.err().unwrap_or(ErrorCode::NONE),
    }
}

fn delete(cluster: &mut Cluster, call: &Call, topic: &str, asked: &DeleteRecordsPartition) -> Result<i64, ErrorCode> {
    if !authorized(cluster, call, Operation::Delete, Resource::Topic(topic)) {
        return Err(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    }
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    let internal = topic_names::is_internal(cluster.release, topic);
    let (partition, _) = cluster.partition_mut(topic, asked.partition_index).ok_or(unknown)?;
    if internal {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION);
    }
    if partition.leader != Some(call.node) {
        return Err(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    }
    let end = partition.high_watermark();
    let before = if asked.offset == HIGH_WATERMARK { end } else { asked.offset };
    if !(0..=end).contains(&before) {
        return Err(ErrorCode::OFFSET_OUT_OF_RANGE);
    }
    partition.log.delete_records(before);
    Ok(partition.log.start())
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::DeleteRecordsTopic;
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::Release;
    use crate::asking::{Asking, batch};

    fn delete(client: &mut Asking, topic: &str, partition_index: i32, offset: i64) -> (i64, i16) {
        let partitions = vec![DeleteRecordsPartition { partition_index, offset }];
        let topics = vec![DeleteRecordsTopic { name: topic.to_owned(), partitions }];
        let answer: DeleteRecordsResponse = client.ask(0, DeleteRecordsRequest { topics, timeout_ms: 1000 });
        let partition = &answer.topics[0].partitions[0];
        (partition.low_watermark, partition.error_code.0)
    }

    #[test]
    fn a_partition_begins_later() {
        for release in Release::ALL.into_iter().filter(|release| *release >= Release::V0_11) {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            client.produce(3, "t", 1, batch(6, Stamp::NONE));
            assert_eq!(delete(&mut client, "t", 0, 4), (4, 0), "{release}");
            assert_eq!(client.cluster.offsets("t", 0), Ok((4, 6)), "{release}");
            // It never begins earlier again.
            assert_eq!(delete(&mut client, "t", 0, 2), (4, 0), "{release}");
            assert_eq!(delete(&mut client, "t", 0, 7), (-1, 1), "{release}");
            assert_eq!(delete(&mut client, "t", 0, -2), (-1, 1), "{release}");
            assert_eq!(delete(&mut client, "t", 0, -1), (6, 0), "{release}");
            assert_eq!(delete(&mut client, "t", 9, 0), (-1, 3), "{release}");
            assert_eq!(delete(&mut client, "nope", 0, 0), (-1, 3), "{release}");
        }
    }

    #[test]
    fn a_topic_of_the_brokers() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("__consumer_offsets", 1);
        assert_eq!(delete(&mut client, "__consumer_offsets", 0, 0), (-1, 17));
    }
}
