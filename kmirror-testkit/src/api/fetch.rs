//! Fetch: records from a partition's leader, at once or once there are enough.
//!
//! Java: `kafka.server.KafkaApis.handleFetchRequest`, `ReplicaManager.readFromLocalLog`, `DelayedFetch`.

use std::time::Duration;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AbortedTransaction, FetchPartition, FetchRequest, FetchResponse, FetchableTopic, FetchedPartition,
};

use crate::Release;
use crate::cluster::waits::Waiting as Wait;
use crate::cluster::{Call, Cluster, Partition, Reply};

/// A fetch that waits for `min_bytes`.
#[derive(Debug)]
pub(crate) struct Waiting {
    request: FetchRequest,
}

/// Answers what is there, or waits for more.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: FetchRequest) -> Reply {
    let wait = Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0));
    let mut waiting = Waiting { request };
    match look_again(cluster, call, &mut waiting, wait.is_zero()) {
        Some(response) => Reply::from(response),
        None => {
            cluster.wait(call, call.now.after(wait), Wait::Fetch(waiting));
            Reply::Later
        }
    }
}

/// The answer, if there is enough for one, something is wrong, or the time is `over`.
pub(crate) fn look_again(cluster: &Cluster, call: &Call, waiting: &mut Waiting, over: bool) -> Option<FetchResponse> {
    let request = &waiting.request;
    let mut left = usize::try_from(request.max_bytes).unwrap_or(0);
    let (mut bytes, mut failed, mut topics) = (0, false, Vec::new());
    for topic in &request.topics {
        let mut fetched = FetchableTopic { name: topic.name.clone(), ..FetchableTopic::default() };
        for asked in &topic.partitions {
            let partition = one(cluster, call, request.isolation_level, &topic.name, asked, (left, bytes == 0));
            let length = partition.records.as_ref().map_or(0, bytes::Bytes::len);
            bytes += length;
            left = left.saturating_sub(length);
            failed |= partition.error_code != ErrorCode::NONE;
            fetched.partitions.push(partition);
        }
        topics.push(fetched);
    }
    let enough = bytes >= usize::try_from(request.min_bytes).unwrap_or(0);
    (enough || failed || over || topics.is_empty()).then(|| FetchResponse { topics, ..FetchResponse::default() })
}

fn one(
    cluster: &Cluster,
    call: &Call,
    isolation_level: i8,
    topic: &str,
    asked: &FetchPartition,
    (bytes_left, first): (usize, bool),
) -> FetchedPartition {
    let partition_index = asked.partition;
    let refused = |error_code| FetchedPartition { partition_index, error_code, ..FetchedPartition::default() };
    let Some(partition) = cluster.partition(topic, partition_index) else {
        return refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    if partition.leader != Some(call.node) {
        return refused(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    }
    read(cluster, call, isolation_level, partition, asked, (bytes_left, first))
}

fn read(
    cluster: &Cluster,
    call: &Call,
    isolation_level: i8,
    partition: &Partition,
    asked: &FetchPartition,
    (bytes_left, first): (usize, bool),
) -> FetchedPartition {
    let partition_index = asked.partition;
    let (high_watermark, last_stable) = (partition.high_watermark(), partition.last_stable());
    let limit = if isolation_level == 1 { last_stable } else { high_watermark };
    let bytes_max = bytes_left.min(usize::try_from(asked.partition_max_bytes).unwrap_or(0));
    let whole_first = call.version >= 3 && first;
    let Ok(slice) = partition.log.read(asked.fetch_offset, limit, bytes_max, whole_first) else {
        let error_code = ErrorCode::OFFSET_OUT_OF_RANGE;
        return FetchedPartition { partition_index, error_code, ..FetchedPartition::default() };
    };
    let aborted = || {
        let aborted = partition.log.aborted(asked.fetch_offset, slice.aborted_below);
        let transaction = |(producer_id, first_offset)| AbortedTransaction { producer_id, first_offset };
        aborted.into_iter().map(transaction).collect()
    };
    FetchedPartition {
        partition_index,
        high_watermark,
        // F8: brokers up to 2.0 do not say it.
        last_stable_offset: if cluster.release >= Release::V2_1 { last_stable } else { -1 },
        log_start_offset: partition.log.start(),
        aborted_transactions: (isolation_level == 1).then(aborted),
        records: Some(slice.records()),
        ..FetchedPartition::default()
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::{AnyRequest, AnyResponse, FetchTopic};
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::asking::{Asking, Came, batch};

    fn from(fetch_offset: i64) -> FetchRequest {
        let asked = FetchPartition { fetch_offset, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
        let topics = vec![FetchTopic { name: "numbers".to_owned(), partitions: vec![asked], ..FetchTopic::default() }];
        FetchRequest { topics, max_wait_ms: 700, min_bytes: 1, ..FetchRequest::default() }
    }

    /// F6: at the log end the answer comes after `max_wait_ms`, or with the next record.
    #[test]
    fn at_the_end_a_fetch_waits() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        let request = AnyRequest::from(from(0));
        assert_eq!(client.send(4, request.clone()), Came::Nothing);
        assert_eq!(client.cluster.poll_timeout(), Some(Duration::from_millis(700)));
        assert_eq!(client.wait(Duration::from_millis(699), 4, &request), Came::Nothing);
        let Came::Answer(answer) = client.wait(Duration::from_millis(1), 4, &request) else { panic!("no answer") };
        let AnyResponse::Fetch(answer) = *answer else { panic!("of another API") };
        assert_eq!(answer.topics[0].partitions[0].records.as_ref().map(bytes::Bytes::len), Some(0));
    }

    /// F7.
    #[test]
    fn beyond_the_end_is_out_of_range() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        client.produce(3, "numbers", -1, batch(2, Stamp::NONE));
        for offset in [3, -1] {
            let answer: FetchResponse = client.ask(5, from(offset));
            let partition = &answer.topics[0].partitions[0];
            assert_eq!(partition.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
            assert_eq!((partition.high_watermark, partition.log_start_offset), (-1, -1));
        }
        let answer: FetchResponse = client.ask(5, from(0));
        assert_eq!(answer.topics[0].partitions[0].high_watermark, 2);
    }
}
