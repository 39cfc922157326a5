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

use kmirror_proto::ErrorCode;

use crate::settings::TopicSettings;
use crate::{Now, Release};

mod entry;
pub(crate) use entry::{Entry, Stamped};
pub(crate) use times::Dated;

mod segment;
pub(crate) use segment::Segment;

mod slice;
pub(crate) use slice::Slice;

mod producers;
use producers::Producers;

mod transactions;
use transactions::Transactions;

mod marker;
pub(crate) use marker::Marker;

mod epochs;
use epochs::Epochs;

mod times;

mod recovery;

mod retention;

mod compact;

mod files;
pub(crate) use files::{Stored, StoredSegment};

/// The log of one partition.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    release: Release,
    /// Never empty; the last is the one that is appended to.
    segments: Vec<Segment>,
    start: i64,
    end: i64,
    producers: Producers,
    transactions: Transactions,
    epochs: Epochs,
    /// What lies before it has been compacted.
    dirty_from: i64,
    /// How often what was there was changed: the log was truncated, or compacted.
    rewrites: u64,
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

/// What DescribeProducers says of one producer (KIP-664).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActiveProducer {
    /// Its id.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i32,
    /// The sequence of its last record, -1 if only a marker is known.
    pub last_sequence: i32,
    /// The timestamp of its last batch or marker, in milliseconds.
    pub last_timestamp: i64,
    /// The epoch of the coordinator that last ended a transaction of it, -1 for none.
    pub coordinator_epoch: i32,
    /// Where its open transaction begins, -1 for none.
    pub current_transaction_start: i64,
}

impl Log {
    /// An empty log, as brokers of this release keep it.
    pub(crate) fn new(release: Release) -> Self {
        Self {
            release,
            segments: vec![Segment::new(0, None)],
            start: 0,
            end: 0,
            producers: Producers::new(release),
            transactions: Transactions::default(),
            epochs: Epochs::default(),
            dirty_from: 0,
            rewrites: 0,
        }
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
    /// [`Refused`] with what the release answers: 45, 47, 48 or 59.
    pub(crate) fn append(
        &mut self,
        now: Now,
        settings: &TopicSettings,
        leader_epoch: i32,
        entries: Vec<Entry>,
    ) -> Result<Appended, Refused> {
        self.producers.age(now);
        for entry in &entries {
            let repeated = self.producers.check(entry).map_err(|code| Refused { code })?;
            if let Some(written) = repeated {
                return Ok(Appended {
                    base_offset: written.base_offset,
                    last_offset: written.last_offset,
                    duplicate: true,
                    append_time_ms: written.timestamp,
                });
            }
        }
        let base_offset = self.end;
        self.push(now, settings, leader_epoch, entries);
        let append_time_ms = if settings.append_time { now.unix_ms } else { -1 };
        Ok(Appended { base_offset, last_offset: self.end - 1, duplicate: false, append_time_ms })
    }

    /// Appends the marker that ends a producer's transaction, and gives its offset.
    pub(crate) fn append_marker(
        &mut self,
        now: Now,
        settings: &TopicSettings,
        leader_epoch: i32,
        marker: Marker,
    ) -> i64 {
        let offset = self.end;
        // Ten bytes of record are within every limit of the format.
        if let Ok(entry) = marker.batch(offset, leader_epoch, now.unix_ms, settings.append_time) {
            self.push(now, settings, leader_epoch, vec![entry]);
        }
        offset
    }

    /// Entries from the one that holds `offset`, before the one that holds `limit` (the high watermark or the last
    /// stable offset), at most so many bytes of one segment. With `whole_first` the first entry comes whole even if it
    /// is larger (Fetch v3 and newer, once per request).
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
        let mut segments = self.segments.iter().skip(self.segment_of(offset)).peekable();
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
        let mut segments = self.segments.iter().skip(self.segment_of(from));
        let first = segments.next().and_then(|segment| segment.entries.get(segment.find(from)..)).unwrap_or_default();
        let rest = segments.flat_map(|segment| &segment.entries);
        first.iter().chain(rest.skip_while(move |entry| entry.last_offset < from))
    }

    /// The end of what is decided and replicated: no record at or behind it belongs to an open transaction's reader.
    pub(crate) fn last_stable(&self, high_watermark: i64) -> i64 {
        self.transactions.last_stable(high_watermark)
    }

    /// The aborted transactions, as (producer id, first offset), that a reader of what lies between `from` and
    /// [`Slice::aborted_below`] has to leave out.
    pub(crate) fn aborted(&self, from: i64, below: i64) -> Vec<(i64, i64)> {
        let aborted = self.transactions.aborted(from, below);
        aborted.map(|aborted| (aborted.producer_id, aborted.first_offset)).collect()
    }

    /// A leader begins its epoch; what it appends does so too, but an epoch without records is known as well.
    pub(crate) fn begin_epoch(&mut self, leader_epoch: i32) {
        if self.release >= Release::V0_11 {
            self.epochs.begin(leader_epoch, self.end);
        }
    }

    /// OffsetForLeaderEpoch: the largest epoch up to this one, and where it ends; (-1, -1) if nothing is known of it.
    pub(crate) fn end_of_epoch(&self, leader_epoch: i32) -> (i32, i64) {
        self.epochs.end_of(self.release, leader_epoch, self.end)
    }

    /// The epoch under which the record at this offset was written, as far as that is kept.
    pub(crate) fn epoch_at(&self, offset: i64) -> Option<i32> {
        self.epochs.at(offset)
    }

    /// The newest epoch.
    pub(crate) fn latest_epoch(&self) -> Option<i32> {
        self.epochs.latest()
    }

    /// The producers that are remembered, by id.
    pub(crate) fn producers(&self) -> Vec<ActiveProducer> {
        let row = |(producer_id, producer): (i64, &producers::Producer)| ActiveProducer {
            producer_id,
            producer_epoch: producer.epoch.into(),
            last_sequence: producer.last_sequence(),
            last_timestamp: producer.last_timestamp,
            coordinator_epoch: producer.coordinator_epoch,
            current_transaction_start: producer.open_from.unwrap_or(-1),
        };
        self.producers.iter().map(row).collect()
    }

    fn segment_of(&self, offset: i64) -> usize {
        self.segments.partition_point(|segment| segment.base <= offset).saturating_sub(1)
    }

    fn push(&mut self, now: Now, settings: &TopicSettings, leader_epoch: i32, entries: Vec<Entry>) {
        let bytes = entries.iter().map(Entry::size).sum();
        let max_timestamp = entries.iter().map(|entry| entry.max_timestamp).max().unwrap_or(-1);
        let last = entries.last().map_or(self.end, |entry| entry.last_offset);
        if self.segments.last().is_none_or(|active| active.is_full(now, settings, bytes, max_timestamp, last)) {
            self.roll(now);
        }
        for mut entry in entries {
            debug_assert!(entry.last_offset >= self.end, "an entry was not prepared at the log's end");
            if entry.is_wrapper() {
                entry.base_offset = self.end;
            }
            if entry.magic >= 2 {
                self.epochs.begin(leader_epoch, entry.base_offset);
            }
            self.note(&entry);
            self.end = entry.next_offset();
            if let Some(active) = self.segments.last_mut() {
                active.created_ms.get_or_insert(now.unix_ms);
                active.push(entry, now.unix_ms);
            }
        }
    }

    /// What an entry says about its producer: when it is appended, and when the log is read again.
    fn note(&mut self, entry: &Entry) {
        let Some(stamp) = entry.producer else { return };
        if !entry.control {
            self.producers.wrote(entry);
            if let Some(first) = self.producers.get(stamp.id).and_then(|producer| producer.open_from) {
                self.transactions.open(first);
            }
        } else if let Some(marker) = Marker::of(entry) {
            let began = self.producers.ended(stamp, entry.max_timestamp, marker.coordinator_epoch);
            if let Some(first) = began {
                self.transactions.end(stamp.id, first, entry.last_offset, marker.commit);
            }
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
