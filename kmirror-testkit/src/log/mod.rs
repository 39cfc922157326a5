//! The log of one partition: entries in segments, and what a broker remembers about who wrote them.
//!
//! ```text
//!  start                                                              end
//!    |  segment 0            | segment 40           | segment 95       |
//!    [0-2][3-9][10-39]        [40-41] … [80-94]      [95-99][100-100] → append
//!         ^ a read begins with the entry that holds its offset, and never crosses a segment's end
//! ```
//!
//! What is appended has been checked and given its offsets before; the log decides about sequences only, because what
//! it remembers of producers is part of it: it is lost with what is truncated, and aged by what was written.
//!
//! Java: `UnifiedLog` and `LocalLog`.

use crate::settings::TopicSettings;
use crate::{Now, Release};
use kmirror_proto::ErrorCode;

mod entry;
pub(crate) use entry::Entry;

mod slice;
pub(crate) use slice::Slice;

mod segment;
use segment::Segment;

/// The log of one partition.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    release: Release,
    /// Never empty; the last is the one that is appended to.
    segments: Vec<Segment>,
    start: i64,
    end: i64,
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// The offset of the first record, or where it has been since it was first written.
    pub base_offset: i64,
    /// The offset of the last record.
    pub last_offset: i64,
    /// The producer has written this batch before: nothing was appended (R13).
    pub duplicate: bool,
    /// What the answer says as the append time: the clock of a LogAppendTime topic, the timestamp of the batch that was
    /// there already, else -1.
    pub append_time_ms: i64,
}

/// Why nothing was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// What the answer says.
    pub code: ErrorCode,
}

/// The offset lies before the log's start or after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

impl Log {
    /// An empty log, as brokers of this release keep it.
    pub(crate) fn new(release: Release) -> Self {
        Self { release, segments: vec![Segment::new(0, None)], start: 0, end: 0 }
    }

    /// The first offset that can be read.
    pub(crate) fn start(&self) -> i64 {
        self.start
    }

    /// The offset that the next record gets.
    pub(crate) fn end(&self) -> i64 {
        self.end
    }

    /// Appends what one request has for this partition: entries that were given their offsets at [`Log::end`], each
    /// ending behind the one before.
    ///
    /// # Errors
    /// [`Refused`] with what the release answers: sequences (45, 47, 59), or more bytes than a segment takes (18).
    pub(crate) fn append(
        &mut self,
        now: Now,
        settings: &TopicSettings,
        leader_epoch: i32,
        entries: Vec<Entry>,
    ) -> Result<Appended, Refused> {
        let bytes = entries.iter().map(Entry::size).sum::<usize>();
        if bytes > settings.segment_bytes {
            return Err(Refused { code: ErrorCode::RECORD_LIST_TOO_LARGE });
        }
        let _ = leader_epoch;
        let base_offset = self.end;
        self.push(now, settings, bytes, entries);
        let append_time_ms = if settings.append_time { now.unix_ms } else { -1 };
        Ok(Appended { base_offset, last_offset: self.end - 1, duplicate: false, append_time_ms })
    }

    /// Entries from the one that holds `offset`, before the one that holds `limit` (the high watermark or the last
    /// stable offset), at most so many bytes of one segment. With `whole_first` the first entry comes whole even if it is
    /// larger (Fetch v3 and newer, once per request).
    ///
    /// # Errors
    /// [`OutOfRange`].
    pub(crate) fn read(
        &self,
        offset: i64,
        limit: i64,
        max_bytes: usize,
        whole_first: bool,
    ) -> Result<Slice<'_>, OutOfRange> {
        if offset < self.start || offset > self.end {
            return Err(OutOfRange);
        }
        if offset >= limit {
            return Ok(Slice { aborted_below: offset, ..Slice::default() });
        }
        let from = self.segments.partition_point(|segment| segment.base <= offset).saturating_sub(1);
        let mut segments = self.segments.iter().skip(from).peekable();
        while let Some(segment) = segments.next() {
            let next = segments.peek().map_or(self.end, |next| next.base);
            if let Some(slice) = segment.slice(offset, limit, max_bytes, whole_first, next) {
                return Ok(slice);
            }
        }
        Ok(Slice { aborted_below: self.end, ..Slice::default() })
    }

    /// The entries from the one that holds `from`, through all segments.
    pub(crate) fn entries(&self, from: i64) -> impl Iterator<Item = &Entry> {
        let at = self.segments.partition_point(|segment| segment.base <= from).saturating_sub(1);
        let rest = self.segments.iter().skip(at).flat_map(|segment| &segment.entries);
        rest.skip_while(move |entry| entry.last_offset < from)
    }

    pub(crate) fn last_stable(&self, high_watermark: i64) -> i64 {
        high_watermark
    }

    pub(crate) fn aborted(&self, _: i64, _: i64) -> Vec<(i64, i64)> {
        Vec::new()
    }

    pub(crate) fn offset_for_time(&self, _: i64) -> Option<(i64, i64)> {
        None
    }

    pub(crate) fn truncate(&mut self, to: i64) {
        for segment in &mut self.segments {
            segment.entries.retain(|entry| entry.last_offset < to);
        }
        self.end = to;
    }

    fn push(&mut self, now: Now, settings: &TopicSettings, bytes: usize, entries: Vec<Entry>) {
        let max_timestamp = entries.iter().map(|entry| entry.max_timestamp).max().unwrap_or(-1);
        let last = entries.last().map_or(self.end, |entry| entry.last_offset);
        if self.segments.last().is_none_or(|active| active.is_full(now, settings, bytes, max_timestamp, last)) {
            self.roll(now);
        }
        let Some(active) = self.segments.last_mut() else { return };
        active.created_ms.get_or_insert(now.unix_ms);
        for mut entry in entries {
            debug_assert!(entry.last_offset >= self.end, "an entry was not prepared at the log's end");
            if entry.is_wrapper() {
                entry.base_offset = self.end;
            }
            self.end = entry.next_offset();
            active.push(entry, now.unix_ms);
        }
    }

    fn roll(&mut self, now: Now) {
        if let Some(active) = self.segments.last_mut() {
            active.close();
        }
        self.segments.push(Segment::new(self.end, Some(now.unix_ms)));
    }
}

#[cfg(test)]
mod tests;
