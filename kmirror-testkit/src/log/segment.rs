//! A run of entries that is rolled, deleted, compacted and read as a whole.
//!
//! Java: `LogSegment`, with the sparse indexes that it keeps beside the entries: one pair of them for every
//! `index.interval.bytes`.

use super::{Entry, Slice};
use crate::Now;
use crate::settings::TopicSettings;

/// One segment of a log.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// The offset that names it: the log's end when it was begun.
    pub base: i64,
    /// What lies in it, in order; last offsets rise, base offsets need not (R3).
    pub entries: Vec<Entry>,
    /// Where each entry begins.
    positions: Vec<usize>,
    /// Bytes of all entries.
    pub bytes: usize,
    /// The wall clock when it was begun, in milliseconds; unknown of an empty log's first one.
    pub created_ms: Option<i64>,
    /// The wall clock when it was last written to.
    pub modified_ms: i64,
    /// The largest timestamp of its entries, -1 for none.
    pub max_timestamp: i64,
    /// The last offset of the entry that has it.
    max_timestamp_offset: i64,
    /// Offsets and positions, one for every 4 KiB.
    pub offset_index: Vec<(i64, usize)>,
    /// Timestamps and offsets, written beside the former while timestamps rise.
    pub time_index: Vec<(i64, i64)>,
    bytes_since_index: usize,
}

impl Segment {
    /// An empty one.
    pub(crate) fn new(base: i64, created_ms: Option<i64>) -> Self {
        Self {
            base,
            entries: Vec::new(),
            positions: Vec::new(),
            bytes: 0,
            created_ms,
            // Not written to yet: as if it were from now.
            modified_ms: created_ms.unwrap_or(i64::MAX),
            max_timestamp: -1,
            max_timestamp_offset: base,
            offset_index: Vec::new(),
            time_index: Vec::new(),
            bytes_since_index: 0,
        }
    }

    /// Whether `bytes` more, with records up to this timestamp and offset, begin a new segment.
    pub(crate) fn is_full(
        &self,
        now: Now,
        settings: &TopicSettings,
        bytes: usize,
        max_timestamp: i64,
        last: i64,
    ) -> bool {
        if self.bytes == 0 {
            return false;
        }
        let age = match self.entries.first() {
            Some(first) if first.max_timestamp >= 0 => max_timestamp.saturating_sub(first.max_timestamp),
            _ => now.unix_ms.saturating_sub(self.created_ms.unwrap_or(now.unix_ms)),
        };
        self.bytes.saturating_add(bytes) > settings.segment_bytes
            || age > settings.segment_ms
            || last.saturating_sub(self.base) > i64::from(i32::MAX)
    }

    /// Takes one more entry.
    pub(crate) fn push(&mut self, entry: Entry, now_ms: i64) {
        if entry.max_timestamp > self.max_timestamp {
            self.max_timestamp = entry.max_timestamp;
            self.max_timestamp_offset = entry.last_offset;
        }
        if self.bytes_since_index > INDEX_INTERVAL_BYTES {
            self.offset_index.push((entry.last_offset, self.bytes));
            self.index_time();
            self.bytes_since_index = 0;
        }
        self.bytes_since_index += entry.size();
        self.positions.push(self.bytes);
        self.bytes += entry.size();
        self.modified_ms = now_ms;
        self.entries.push(entry);
    }

    /// Ends it: the last pair of the time index is written when a segment is rolled.
    pub(crate) fn close(&mut self) {
        self.index_time();
    }

    /// The pairs of the time index as they are once it is ended.
    pub(crate) fn times(&self) -> impl Iterator<Item = (i64, i64)> {
        let last = self.time_index.last().map_or(-1, |(timestamp, _)| *timestamp);
        let newest = (self.max_timestamp > last).then_some((self.max_timestamp, self.max_timestamp_offset));
        self.time_index.iter().copied().chain(newest)
    }

    /// The timestamp by which retention goes: the largest of its records, or of the file if they have none.
    pub(crate) fn age_ms(&self) -> i64 {
        if self.max_timestamp >= 0 { self.max_timestamp } else { self.modified_ms }
    }

    /// Where the first entry stands that reaches `offset`.
    pub(crate) fn find(&self, offset: i64) -> usize {
        self.entries.partition_point(|entry| entry.last_offset < offset)
    }

    /// Where to begin to look for a timestamp: whatever is before is older.
    pub(crate) fn find_time(&self, timestamp: i64) -> usize {
        let older = self.time_index.partition_point(|(newest, _)| *newest < timestamp);
        older.checked_sub(1).and_then(|at| self.time_index.get(at)).map_or(0, |(_, offset)| self.find(*offset))
    }

    /// Keeps the first `count` entries.
    pub(crate) fn truncate(&mut self, count: usize) {
        let entries = std::mem::take(&mut self.entries);
        let modified_ms = self.modified_ms;
        *self = Self::new(self.base, self.created_ms);
        entries.into_iter().take(count).for_each(|entry| self.push(entry, modified_ms));
        self.modified_ms = modified_ms;
    }

    /// From the entry that holds `offset`, before the entry that holds `limit`, at most so many bytes. `next` is the
    /// offset at which the next segment begins, or the log ends. `None` if nothing here reaches `offset`.
    pub(crate) fn slice(
        &self,
        offset: i64,
        limit: i64,
        max_bytes: usize,
        whole_first: bool,
        next: i64,
    ) -> Option<Slice<'_>> {
        let start = self.find(offset);
        let rest = self.entries.get(start..).filter(|rest| !rest.is_empty())?;
        let rest = rest.get(..self.find(limit).saturating_sub(start)).unwrap_or_default();
        let position = self.positions.get(start).copied().unwrap_or(self.bytes);
        let first = rest.first().filter(|_| whole_first).map_or(0, Entry::size);
        let budget = max_bytes.max(first);
        let (mut fits, mut left) = (0, budget);
        while let Some(entry) = rest.get(fits).filter(|entry| entry.size() <= left) {
            left -= entry.size();
            fits += 1;
        }
        let cut = rest.get(fits).map(|entry| (entry, left)).filter(|(_, len)| *len > 0);
        let entries = rest.get(..fits).unwrap_or_default();
        let mut slice = Slice { entries, cut, aborted_below: next };
        let end = position + slice.size();
        let behind = self.offset_index.partition_point(|(_, at)| *at < end);
        if let Some((offset, _)) = self.offset_index.get(behind) {
            slice.aborted_below = *offset;
        }
        Some(slice)
    }

    fn index_time(&mut self) {
        let last = self.time_index.last().map_or(-1, |(timestamp, _)| *timestamp);
        if self.max_timestamp > last {
            self.time_index.push((self.max_timestamp, self.max_timestamp_offset));
        }
    }
}

/// `index.interval.bytes`: Kafka's default.
const INDEX_INTERVAL_BYTES: usize = 4096;
