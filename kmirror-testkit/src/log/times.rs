//! Where a time is in the log.
//!
//! Segments and entries are skipped by their largest timestamp; only the one entry that has what is looked for is
//! opened. KIP-79, KIP-734. Java: `LogSegment.findOffsetByTimestamp`, `UnifiedLog.fetchOffsetByTimestamp`.

use bytes::Bytes;
use kmirror_proto::records::{RawBatch, RawMessage, Records, messages};

use super::{Entry, Log, Segment};
use crate::Now;
use crate::limits::DECOMPRESSED_BYTES_MAX;

/// A record that was found by its timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dated {
    /// Its offset.
    pub offset: i64,
    /// Its timestamp in milliseconds.
    pub timestamp: i64,
    /// The leader epoch of its batch, -1 for none.
    pub leader_epoch: i32,
}

impl Log {
    /// ListOffsets v1 and newer: the first record from the log's start on that is as new as this, also inside a
    /// compressed batch.
    pub(crate) fn offset_for_time(&self, timestamp: i64) -> Option<Dated> {
        let mut segments = self.segments.iter().filter(|segment| segment.max_timestamp >= timestamp);
        segments.find_map(|segment| {
            let candidates = segment.entries.get(segment.find_time(timestamp)..).unwrap_or_default();
            candidates.iter().find_map(|entry| first_as_new(entry, timestamp, self.start))
        })
    }

    /// ListOffsets v7 with -3: the first record that has the largest timestamp of all.
    pub(crate) fn newest(&self) -> Option<Dated> {
        let timestamp = self.segments.iter().map(|segment| segment.max_timestamp).max()?;
        self.offset_for_time(timestamp)
    }

    /// ListOffsets v0: the starts of segments that were last written to at `timestamp` or before, newest first, the
    /// log's end before them if that is not empty. -1 asks for all of them, -2 for the first.
    pub(crate) fn offsets_before(&self, now: Now, timestamp: i64, count_max: usize) -> Vec<i64> {
        let dated = |segment: &Segment| (segment.base.max(self.start), segment.modified_ms);
        let mut candidates: Vec<(i64, i64)> = self.segments.iter().map(dated).collect();
        if self.segments.last().is_some_and(|active| active.bytes > 0) {
            candidates.push((self.end, now.unix_ms));
        }
        let count = match timestamp {
            LATEST => candidates.len(),
            EARLIEST => 1,
            _ => candidates.iter().rposition(|(_, modified)| *modified <= timestamp).map_or(0, |at| at + 1),
        };
        candidates.iter().take(count).rev().take(count_max).map(|(offset, _)| *offset).collect()
    }
}

/// The first record of the entry, at `start` or behind, that is as new as this. An entry that cannot be opened counts
/// as one record: brokers stored it without looking.
fn first_as_new(entry: &Entry, timestamp: i64, start: i64) -> Option<Dated> {
    if entry.max_timestamp < timestamp || entry.last_offset < start {
        return None;
    }
    let found = |(offset, timestamp)| Dated { offset, timestamp, leader_epoch: entry.leader_epoch };
    let whole = (entry.base_offset, entry.max_timestamp);
    let fits = |&(offset, at): &(i64, i64)| at >= timestamp && offset >= start;
    if entry.magic >= 2 {
        let batch = RawBatch::from_bytes(Bytes::clone(&entry.bytes)).ok()?;
        let Ok(records) = Records::of(&batch, DECOMPRESSED_BYTES_MAX) else { return Some(found(whole)) };
        let header = batch.header;
        let mut dated = records.iter().map_while(Result::ok);
        return dated
            .find_map(|record| Some((header.offset_of(&record), header.timestamp_of(&record))).filter(fits))
            .map(found);
    }
    if !entry.is_wrapper() {
        return Some(whole).filter(fits).map(found);
    }
    let message = RawMessage::from_bytes(Bytes::clone(&entry.bytes)).ok()?;
    let Ok(inner) = messages(&message, DECOMPRESSED_BYTES_MAX) else { return Some(found(whole)) };
    let mut dated = inner.iter().map_while(Result::ok);
    dated.find_map(|message| Some((message.offset, message.timestamp)).filter(fits)).map(found)
}

/// The end of the log.
const LATEST: i64 = -1;
/// The beginning of the log.
const EARLIEST: i64 = -2;
