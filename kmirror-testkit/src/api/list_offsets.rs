//! ListOffsets: where a log begins and ends, and where a time is in it.
//!
//! v0 gives the starts of segments, newest first; v1 and later one offset. Besides -1 (the end) and -2 (the beginning)
//! there came -3 (the largest timestamp, v7, KIP-734), -4 (the beginning of what is not tiered, v8) and -5 (the end of
//! what is tiered, v9, KIP-405): releases below 3.0 take them for times, 3.0 takes -3 at every version, later ones refuse
//! what the version does not have with 35 (measured). Java: `kafka.server.KafkaApis.handleListOffsetRequest`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListedOffset, ListedTopic,
};

use super::access;
use crate::Release;
use crate::acls::Operation;
use crate::cluster::{Call, Cluster, Partition, Reply};
use crate::log::Dated;

/// What a question about a partition means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// The end of what is readable at the isolation level.
    Latest,
    /// The beginning.
    Earliest,
    /// The record with the largest timestamp.
    Newest,
    /// The end of what is tiered: nothing ever is.
    Tiered,
    /// The first record that is as new as this.
    Time(i64),
    /// Something that the version does not have.
    Unsupported,
}

/// Looks each partition up.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &ListOffsetsRequest) -> Reply {
    let topics = request.topics.iter().map(|topic| ListedTopic {
        name: topic.name.clone(),
        partitions: topic.partitions.iter().map(|asked| one(cluster, call, request, &topic.name, asked)).collect(),
    });
    Reply::from(ListOffsetsResponse { topics: topics.collect(), ..ListOffsetsResponse::default() })
}

fn one(
    cluster: &Cluster,
    call: &Call,
    request: &ListOffsetsRequest,
    topic: &str,
    asked: &ListOffsetsPartition,
) -> ListedOffset {
    let partition_index = asked.partition_index;
    let refused = |error_code| ListedOffset { partition_index, error_code, ..ListedOffset::default() };
    if let Err(code) = access::topic(cluster, call, Operation::Describe, topic) {
        return refused(code);
    }
    let Some(partition) = cluster.partition(topic, partition_index) else {
        return refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    if let Err(code) = partition.may_ask(call.node, asked.current_leader_epoch) {
        return refused(code);
    }
    if call.version == 0 && wanted(cluster.release, call.version, asked.timestamp) != Wanted::Unsupported {
        let count_max = usize::try_from(asked.max_num_offsets).unwrap_or(0);
        let mut offsets = partition.log.offsets_before(call.now, asked.timestamp, count_max).into_iter();
        let offset = offsets.next().unwrap_or(-1);
        return ListedOffset { partition_index, offset, segment_starts: offsets.collect(), ..ListedOffset::default() };
    }
    match find(cluster.release, call, request, partition, asked.timestamp) {
        Ok(Some((offset, timestamp, epoch))) => {
            let leader_epoch = if cluster.release >= Release::V2_4 { epoch } else { -1 };
            ListedOffset { partition_index, offset, timestamp, leader_epoch, ..ListedOffset::default() }
        }
        Ok(None) => ListedOffset { partition_index, ..ListedOffset::default() },
        Err(code) => refused(code),
    }
}

/// Offset, timestamp and leader epoch.
fn find(
    release: Release,
    call: &Call,
    request: &ListOffsetsRequest,
    partition: &Partition,
    timestamp: i64,
) -> Result<Option<(i64, i64, i32)>, ErrorCode> {
    let log = &partition.log;
    let start = || (log.start(), -1, log.epoch_at(log.start()).unwrap_or(partition.leader_epoch));
    let end = if request.isolation_level == 1 { partition.last_stable() } else { partition.high_watermark() };
    let readable = |dated: &Dated| dated.offset < end;
    let dated = |dated: Dated| (dated.offset, dated.timestamp, dated.leader_epoch);
    match wanted(release, call.version, timestamp) {
        Wanted::Unsupported => Err(ErrorCode::UNSUPPORTED_VERSION),
        Wanted::Latest => Ok(Some((end, -1, partition.leader_epoch))),
        Wanted::Earliest => Ok(Some(start())),
        Wanted::Tiered => Ok(None),
        Wanted::Newest => Ok(log.newest().filter(readable).map(dated)),
        Wanted::Time(time) => Ok(log.offset_for_time(time).filter(readable).map(dated)),
    }
}

fn wanted(release: Release, version: i16, timestamp: i64) -> Wanted {
    let from = |first: i16, wanted| if version >= first { wanted } else { Wanted::Unsupported };
    match timestamp {
        -1 => Wanted::Latest,
        -2 => Wanted::Earliest,
        -3 if release == Release::V3_0 => Wanted::Newest,
        time if release < Release::V3_9 => Wanted::Time(time),
        -3 => from(7, Wanted::Newest),
        -4 => from(8, Wanted::Earliest),
        -5 => from(9, Wanted::Tiered),
        -6 => from(11, Wanted::Tiered),
        ..-6 => Wanted::Unsupported,
        time => Wanted::Time(time),
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::compress::Codec;
    use kmirror_proto::messages::ListOffsetsTopic;
    use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp};

    use super::*;
    use crate::asking::Asking;

    const BASE: i64 = 1_600_000_000_000;

    /// Three batches of three records, the second gzip, a hundred seconds apart.
    fn with_nine(release: Release) -> Asking {
        let mut client = Asking::of(release);
        client.cluster.create_topic("t", 1);
        for (codec, from) in [(Codec::None, 0), (Codec::Gzip, 100_000), (Codec::None, 200_000)] {
            let mut builder = BatchBuilder::new(codec, None);
            for n in 0..3 {
                builder.push(BASE + from + n, None, Some(b"v"), HeadersSource::None).unwrap();
            }
            let produced = client.produce(3, "t", -1, builder.finish(Stamp::NONE).unwrap());
            assert_eq!(produced.error_code.0, 0);
        }
        client
    }

    fn list(client: &mut Asking, version: i16, timestamp: i64) -> (i16, i64, i64, i32) {
        let found = asked(client, version, timestamp);
        (found.error_code.0, found.timestamp, found.offset, found.leader_epoch)
    }

    fn asked(client: &mut Asking, version: i16, timestamp: i64) -> ListedOffset {
        let partition = ListOffsetsPartition { timestamp, max_num_offsets: 9, ..ListOffsetsPartition::default() };
        let topic = ListOffsetsTopic { name: "t".to_owned(), partitions: vec![partition] };
        let request = ListOffsetsRequest { topics: vec![topic], ..ListOffsetsRequest::default() };
        let answer: ListOffsetsResponse = client.ask(version, request);
        answer.topics[0].partitions[0].clone()
    }

    /// The measured rows of the log with nine records.
    #[test]
    fn times_are_found_exactly() {
        for (release, version, epoch) in [(Release::V0_11, 2, -1), (Release::V2_4, 5, 0), (Release::V4_4, 11, 0)] {
            let mut client = with_nine(release);
            for (asked, expected) in [
                (-1, (0, -1, 9, epoch)),
                (-2, (0, -1, 0, epoch)),
                (BASE + 100_001, (0, BASE + 100_001, 4, epoch)),
                (BASE + 100_000, (0, BASE + 100_000, 3, epoch)),
                (BASE - 1, (0, BASE, 0, epoch)),
                (1_700_000_000_000, (0, -1, -1, -1)),
                (0, (0, BASE, 0, epoch)),
            ] {
                assert_eq!(list(&mut client, version, asked), expected, "{release} {asked}");
            }
        }
    }

    #[test]
    fn special_questions_are_understood_as_the_release_does() {
        let first = (0, BASE, 0, -1);
        let newest = (0, BASE + 200_002, 8, 0);
        let refused = (35, -1, -1, -1);
        for (release, version, asked, expected) in [
            (Release::V2_0, 3, -3, first),
            (Release::V3_0, 4, -3, newest),
            (Release::V3_9, 6, -3, refused),
            (Release::V3_9, 7, -3, newest),
            (Release::V3_9, 7, -4, refused),
            (Release::V3_9, 8, -4, (0, -1, 0, 0)),
            (Release::V3_9, 8, -5, refused),
            (Release::V3_9, 9, -5, (0, -1, -1, -1)),
        ] {
            let mut client = with_nine(release);
            assert_eq!(list(&mut client, version, asked), expected, "{release} v{version} {asked}");
        }
    }

    /// v0: the starts of segments, and for times nothing that is of use.
    #[test]
    fn version_0_gives_segments() {
        let mut client = with_nine(Release::V2_0);
        for (time, first, rest) in [(-1, 9, vec![0]), (-2, 0, vec![]), (BASE, -1, vec![])] {
            let found = asked(&mut client, 0, time);
            assert_eq!((found.offset, found.segment_starts), (first, rest), "{time}");
        }
    }
}
