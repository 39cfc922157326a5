//! One partition of a Fetch: who may be asked, what is read, and what stands beside it.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{
    AbortedTransaction, EpochEndOffset, FetchPartition, FetchRequest, FetchedPartition, LeaderIdAndEpoch,
};

use super::down;
use super::session::Asked;
use crate::Release;
use crate::acls::Operation;
use crate::api::access;
use crate::cluster::{Call, Cluster, Partition};
use crate::settings::TopicSettings;

/// What the answer has room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Bytes of `max_bytes` that are left.
    pub(super) left: usize,
    /// Bytes that other partitions have.
    pub(super) taken: usize,
}

impl Room {
    pub(super) fn take(&mut self, bytes: usize) {
        self.taken += bytes;
        self.left = self.left.saturating_sub(bytes);
    }
}

/// The first version that keeps `max_bytes`, and gives a whole first batch whatever the limits are (F5).
const WHOLE_FIRST_FROM: i16 = 3;

/// The first version whose topics go by id (F11).
const BY_ID_FROM: i16 = 13;

/// The first version that is served by followers (KIP-392).
const FOLLOWERS_FROM: i16 = 11;

/// The first version that may be given zstd from a topic of zstd (F3).
const ZSTD_FROM: i16 = 10;

/// The first version that is told who leads (KIP-951).
const NAMES_LEADER_FROM: i16 = 16;

/// Reads one partition.
pub(super) fn fetch(
    cluster: &Cluster,
    call: &Call,
    request: &FetchRequest,
    asked: &Asked,
    room: &Room,
) -> FetchedPartition {
    let Some(name) = cluster.name_of(call.version >= BY_ID_FROM, &asked.name, &asked.topic_id) else {
        return refused(cluster, asked, ErrorCode::UNKNOWN_TOPIC_ID);
    };
    if let Err(code) = access::topic(cluster, call, Operation::Read, &name) {
        return refused(cluster, asked, code);
    }
    let found = cluster.topics.get(&name).zip(cluster.partition(&name, asked.partition.partition));
    let Some((topic, partition)) = found else {
        return refused(cluster, asked, unknown(cluster, call));
    };
    if let Err(code) = may_read(call, partition, &asked.partition) {
        return FetchedPartition { current_leader: leader(call, code, partition), ..refused(cluster, asked, code) };
    }
    // F3: 4.x has no such rule.
    let hides_zstd = topic.settings.compression == Some(Codec::Zstd) && cluster.release < Release::V4_4;
    if hides_zstd && call.version < ZSTD_FROM {
        return refused(cluster, asked, ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
    }
    if let Some(diverging_epoch) = diverging(partition, &asked.partition) {
        return FetchedPartition {
            diverging_epoch: Some(diverging_epoch),
            ..beside(cluster, request, asked, partition)
        };
    }
    match read(cluster, call, request, asked, (partition, &topic.settings), room) {
        Ok(fetched) => fetched,
        Err(code) => refused(cluster, asked, code),
    }
}

fn read(
    cluster: &Cluster,
    call: &Call,
    request: &FetchRequest,
    asked: &Asked,
    (partition, settings): (&Partition, &TopicSettings),
    room: &Room,
) -> Result<FetchedPartition, ErrorCode> {
    let offset = asked.partition.fetch_offset;
    let committed_only = request.isolation_level == 1;
    let end = if committed_only { partition.last_stable() } else { partition.high_watermark() };
    let end = partition.end_at(call.node).map_or(end, |own| end.min(own));
    let mut bytes_max = usize::try_from(asked.partition.partition_max_bytes).unwrap_or(0);
    if call.version >= WHOLE_FIRST_FROM {
        bytes_max = bytes_max.min(room.left);
    }
    let whole_first = call.version >= WHOLE_FIRST_FROM && room.taken == 0;
    let mut slice =
        partition.log.read(offset, end, bytes_max, whole_first).map_err(|_| ErrorCode::OFFSET_OUT_OF_RANGE)?;
    if call.version >= WHOLE_FIRST_FROM && slice.entries.is_empty() {
        // F5: these versions are not given the beginning of a batch alone.
        slice.cut = None;
    }
    let records = match down::format(cluster.release, call.version, settings) {
        None => slice.records(),
        Some(_) if !settings.down_conversion => return Err(ErrorCode::UNSUPPORTED_VERSION),
        Some(format) => down::convert(cluster.release, &slice, format, offset)?,
    };
    let aborted = || {
        let aborted = partition.log.aborted(offset, slice.aborted_below).into_iter();
        let aborted = aborted.map(|(producer_id, first_offset)| AbortedTransaction { producer_id, first_offset });
        aborted.collect::<Vec<_>>()
    };
    Ok(FetchedPartition {
        aborted_transactions: committed_only.then(aborted),
        records: Some(records),
        ..beside(cluster, request, asked, partition)
    })
}

/// What stands beside the records.
fn beside(cluster: &Cluster, request: &FetchRequest, asked: &Asked, partition: &Partition) -> FetchedPartition {
    // F8: up to 1.1 only who asks for what is committed is told, on 2.0 nobody.
    let told = cluster.release > Release::V2_0 || (cluster.release < Release::V2_0 && request.isolation_level == 1);
    FetchedPartition {
        partition_index: asked.partition.partition,
        high_watermark: partition.high_watermark(),
        last_stable_offset: if told { partition.last_stable() } else { -1 },
        log_start_offset: partition.log.start(),
        records: Some(Bytes::new()),
        ..FetchedPartition::default()
    }
}

/// F7: records are empty with an error, from 3.0 on null with those that come from converting; the list of aborted
/// transactions is null, from 3.0 on empty for what is not there and what cannot be converted (measured on 3.9).
fn refused(cluster: &Cluster, asked: &Asked, error_code: ErrorCode) -> FetchedPartition {
    let of_conversion = matches!(error_code, ErrorCode::UNSUPPORTED_VERSION | ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
    let is_null = of_conversion && cluster.release >= Release::V3_0;
    let of_topic = matches!(error_code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION | ErrorCode::UNKNOWN_TOPIC_ID);
    let lists_nothing = (of_topic || of_conversion) && cluster.release >= Release::V3_0;
    FetchedPartition {
        partition_index: asked.partition.partition,
        error_code,
        aborted_transactions: lists_nothing.then(Vec::new),
        records: (!is_null).then(Bytes::new),
        ..FetchedPartition::default()
    }
}

/// F3: 2.1 takes what it does not have for a topic of zstd.
fn unknown(cluster: &Cluster, call: &Call) -> ErrorCode {
    if cluster.release == Release::V2_1 && call.version < ZSTD_FROM {
        ErrorCode::UNSUPPORTED_COMPRESSION_TYPE
    } else {
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    }
}

/// Leaders are asked, from v11 on also followers; and whoever says what epoch it knows has to know the present one
/// (KIP-320).
fn may_read(call: &Call, partition: &Partition, asked: &FetchPartition) -> Result<(), ErrorCode> {
    let follows = call.version >= FOLLOWERS_FROM && partition.end_at(call.node).is_some();
    if partition.leader != Some(call.node) && !follows {
        return Err(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    }
    partition.check_epoch(asked.current_leader_epoch)
}

fn leader(call: &Call, code: ErrorCode, partition: &Partition) -> Option<LeaderIdAndEpoch> {
    let asked_wrong = matches!(code, ErrorCode::NOT_LEADER_OR_FOLLOWER | ErrorCode::FENCED_LEADER_EPOCH);
    (asked_wrong && call.version >= NAMES_LEADER_FROM).then(|| LeaderIdAndEpoch {
        leader_id: partition.leader.map_or(-1, |node| node.0),
        leader_epoch: partition.leader_epoch,
    })
}

/// Where the log parts from what the client has read (KIP-595): its epoch ended before its offset here.
fn diverging(partition: &Partition, asked: &FetchPartition) -> Option<EpochEndOffset> {
    if asked.last_fetched_epoch < 0 {
        return None;
    }
    let (epoch, end_offset) = partition.log.end_of_epoch(asked.last_fetched_epoch);
    let parts = epoch < asked.last_fetched_epoch || end_offset < asked.fetch_offset;
    parts.then_some(EpochEndOffset { epoch, end_offset })
}
