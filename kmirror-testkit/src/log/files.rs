//! A log as the files that Kafka keeps it in. What stands in them; the folder is [`disk`](crate::disk)'s.
//!
//! ```text
//! <base>.log        the entries, one behind the other
//! <base>.index      relative offset 4 · position 4         one pair for every 4 KiB (Kafka's index.interval.bytes)
//! <base>.timeindex  timestamp 8 · relative offset 4        the newest so far, beside each of those, and at the end
//! leader-epoch-checkpoint   "0", the number of lines, then "epoch offset" each
//! ```
//!
//! Java: `FileRecords`, `OffsetIndex`, `TimeIndex`, `LeaderEpochCheckpointFile`.

use bytes::{BufMut, Bytes};
use kmirror_proto::records::{RawBatch, RawMessage};

use super::entry::PREFIX_BYTES;
use super::{Entry, Epochs, Log, Segment};
use crate::Release;

/// What was read of a log's files.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// In the order of their bases.
    pub segments: Vec<StoredSegment>,
    /// The log's start, if that was kept.
    pub start: i64,
    /// What lies before it has been compacted.
    pub dirty_from: i64,
    /// The text of the epochs' checkpoint, if there is one.
    pub epochs: Option<String>,
}

/// What was read of one segment.
#[derive(Debug)]
pub(crate) struct StoredSegment {
    /// The offset in its name.
    pub base: i64,
    /// The `.log` file.
    pub bytes: Bytes,
    /// When that was last written to, in milliseconds since 1970.
    pub modified_ms: i64,
}

impl Log {
    /// Its segments, for files.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How often what was there before was changed, other than by appending and by dropping whole segments.
    pub(crate) fn rewrites(&self) -> u64 {
        self.rewrites
    }

    /// What lies before it has been compacted.
    pub(crate) fn dirty_from(&self) -> i64 {
        self.dirty_from
    }

    /// The leader epochs' checkpoint; brokers have it from 0.11 on.
    pub(crate) fn epochs_text(&self) -> Option<String> {
        let lines = self.epochs.all().iter().map(|(epoch, offset)| format!("{epoch} {offset}\n"));
        let text = format!("0\n{}\n{}", self.epochs.all().len(), lines.collect::<String>());
        (self.release >= Release::V0_11).then_some(text)
    }

    /// The log that was stored, as a broker has it that was not stopped in order: what is not whole or fails its
    /// checksum is cut off, with all behind it. Also where that was, if it was so.
    pub(crate) fn of_files(release: Release, stored: Stored) -> (Self, Option<i64>) {
        let mut log = Self::new(release);
        log.segments.clear();
        let mut cut = None;
        for stored in stored.segments {
            if log.end > stored.base && !log.segments.is_empty() {
                cut = Some(log.end);
                break;
            }
            log.end = stored.base;
            log.segments.iter_mut().next_back().into_iter().for_each(Segment::close);
            log.segments.push(Segment::new(stored.base, Some(stored.modified_ms)));
            if !log.take(stored.bytes, stored.modified_ms) {
                cut = Some(log.end);
                break;
            }
        }
        if log.segments.is_empty() {
            log.segments.push(Segment::new(0, None));
        }
        log.start = log.segments.first().map_or(0, |first| first.base).max(stored.start).min(log.end);
        log.dirty_from = stored.dirty_from.min(log.end);
        if let Some(epochs) = stored.epochs.as_deref().and_then(Epochs::of_text) {
            log.epochs = epochs;
            log.epochs.truncate(log.end);
        }
        log.producers.forget_all_but_last();
        (log, cut)
    }

    /// Takes the entries of one `.log` file; whether all of them were good.
    fn take(&mut self, mut rest: Bytes, modified_ms: i64) -> bool {
        while let Some(size) = entry_size(&rest) {
            let Some(entry) = (size <= rest.len()).then(|| rest.split_to(size)).and_then(good) else { return false };
            if entry.last_offset < self.end {
                return false;
            }
            self.take_one(entry, modified_ms);
        }
        // A broker preallocates files with zeros, where it is told to.
        rest.iter().all(|byte| *byte == 0)
    }

    fn take_one(&mut self, mut entry: Entry, modified_ms: i64) {
        if entry.is_wrapper() {
            entry.base_offset = self.end;
        }
        self.epochs.begin(entry.leader_epoch, entry.base_offset);
        self.note(&entry);
        self.end = entry.next_offset();
        if let Some(segment) = self.segments.last_mut() {
            segment.push(entry, modified_ms);
        }
    }
}

impl Segment {
    /// The `.index` file.
    pub(crate) fn offset_index_file(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(8 * self.offset_index.len());
        for (offset, position) in &self.offset_index {
            file.put_i32(self.relative(*offset));
            file.put_i32(i32::try_from(*position).unwrap_or(i32::MAX));
        }
        file
    }

    /// The `.timeindex` file.
    pub(crate) fn time_index_file(&self) -> Vec<u8> {
        let mut file = Vec::new();
        for (timestamp, offset) in self.times() {
            file.put_i64(timestamp);
            file.put_i32(self.relative(offset));
        }
        file
    }

    /// A segment ends before an offset that is too far from its base.
    fn relative(&self, offset: i64) -> i32 {
        i32::try_from(offset - self.base).unwrap_or(i32::MAX)
    }
}

impl Epochs {
    /// Reads the checkpoint; `None` if it is not one.
    fn of_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (version, count) = (lines.next()?, lines.next()?.parse::<usize>().ok()?);
        let mut epochs = Self::default();
        let mut read = 0;
        for line in lines {
            let (epoch, offset) = line.split_once(' ')?;
            epochs.begin(epoch.parse().ok()?, offset.parse().ok()?);
            read += 1;
        }
        (version == "0" && read == count).then_some(epochs)
    }
}

/// The bytes of the next entry, or `None` where no entry begins.
fn entry_size(bytes: &[u8]) -> Option<usize> {
    let length = i32::from_be_bytes(*bytes.get(8..)?.first_chunk()?);
    let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
    Some(length + PREFIX_BYTES)
}

/// The entry, if its checksum is right.
fn good(bytes: Bytes) -> Option<Entry> {
    let entry = Entry::read(bytes).ok()?;
    let whole = if entry.magic >= 2 {
        RawBatch::from_bytes(Bytes::clone(&entry.bytes)).ok()?.crc_ok()
    } else {
        RawMessage::from_bytes(Bytes::clone(&entry.bytes)).ok()?.crc_ok()
    };
    whole.then_some(entry)
}
