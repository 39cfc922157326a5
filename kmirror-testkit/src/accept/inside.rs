//! The records inside the entries: one walk, which allocates nothing for a record of magic 2.
//!
//! Mirrors the loops of Java's `LogValidator`.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, CodecError, decompress};
use kmirror_proto::records::{BatchHeader, RawBatch, RawMessage, RecordError};

use super::fault::{Faults, Looked, NO_TIMESTAMP};
use super::sent::{Form, Sent};
use super::stored::Stored;
use super::{Offered, Refusal, batch, wrapper};
use crate::Release;
use crate::convert::Opened;

/// The entries, opened, and what was seen in them.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The entries' records, decompressed. An empty wrapper is left out.
    pub(super) opened: Vec<Opened>,
    /// One for each of them.
    pub(super) seen: Vec<Seen>,
}

/// What was seen in one entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Its records.
    pub(super) count: i64,
    /// The largest timestamp in milliseconds; -1 if all are negative (R10).
    pub(super) max_timestamp: i64,
    /// The smallest timestamp in milliseconds.
    pub(super) min_timestamp: i64,
    /// The offsets go on from the entry before without a gap.
    pub(super) dense: bool,
}

/// Looks at all records of all entries.
///
/// # Errors
/// The rules of [`batch`], then R3, R8, R11, R16, R18, M2, M7 of each record in turn.
pub(super) fn walk(offered: &Offered<'_>, sent: &[Sent], stored: Stored) -> Result<Walked, Refusal> {
    let mut next = 0;
    let mut walked = Walked::default();
    for entry in sent {
        let mut walk = Walk::new(offered, stored, next);
        let opened = match &entry.form {
            Form::Batch(header) => Some(walk.batch(header, &entry.bytes)?),
            Form::Message(message) => walk.message(entry, message)?,
            // Its checksum was looked at.
            Form::Unreadable => return Err(Refusal::corrupt()),
        };
        let seen = walk.finish()?;
        next = next.saturating_add(seen.count);
        if let Some(opened) = opened {
            walked.opened.push(opened);
            walked.seen.push(seen);
        }
    }
    Ok(walked)
}

/// The walk over the records of one entry.
struct Walk<'a> {
    offered: &'a Offered<'a>,
    stored: Stored,
    faults: Faults,
    first: i64,
    expected: i64,
    max_timestamp: i64,
    min_timestamp: i64,
    dense: bool,
}

impl<'a> Walk<'a> {
    /// The records before this entry are so many.
    fn new(offered: &'a Offered<'a>, stored: Stored, first: i64) -> Self {
        Self {
            offered,
            stored,
            faults: Faults::default(),
            first,
            expected: first,
            max_timestamp: NO_TIMESTAMP,
            min_timestamp: i64::MAX,
            dense: true,
        }
    }

    fn finish(self) -> Result<Seen, Refusal> {
        self.faults.finish(self.offered)?;
        Ok(Seen {
            count: self.expected - self.first,
            max_timestamp: self.max_timestamp,
            min_timestamp: self.min_timestamp,
            dense: self.dense,
        })
    }

    fn batch(&mut self, header: &BatchHeader, bytes: &Bytes) -> Result<Opened, Refusal> {
        let offered = self.offered;
        batch::check(offered, header, self.stored.magic)?;
        let raw = RawBatch::from_bytes(bytes.clone()).map_err(|_| Refusal::invalid_record(offered.release))?;
        let compressed = header.attributes.codec() != Ok(Codec::None);
        let seems_kept = self.stored.seems_kept();
        let broken = |error, last| payload(offered, Read { compressed, seems_kept, last }, &error);
        let opened = Opened::batch(&raw).map_err(|error| broken(first_length(&raw, error), false))?;
        let Opened::Batch(_, records) = &opened else { return Ok(opened) };
        for record in records {
            let index = self.expected - self.first;
            let record = record.map_err(|error| broken(error, index + 1 == header.records_count.into()))?;
            self.record(
                2,
                &Looked {
                    index,
                    offset: record.offset_delta.into(),
                    timestamp: header.timestamp_of(&record),
                    append_time_bit: header.attributes.append_time(),
                    checks_time: true,
                    key: record.key,
                    value: record.value,
                },
            )?;
        }
        Ok(opened)
    }

    /// A message, or all inside a wrapper.
    fn message(&mut self, entry: &Sent, message: &RawMessage) -> Result<Option<Opened>, Refusal> {
        let offered = self.offered;
        let Some(opened) = wrapper::opened(offered, message)? else { return Ok(None) };
        let Opened::Messages(inside) = &opened else { return Ok(Some(opened)) };
        let base = wrapper::base_offset(offered, entry, message, inside)?;
        for (index, inner) in (0..).zip(inside) {
            let inner = inner.map_err(|error| wrapper::not_a_message(offered, &error))?;
            wrapper::checksum(offered, message, &inner)?;
            self.record(
                message.magic,
                &Looked {
                    index,
                    offset: base.saturating_add(inner.offset),
                    timestamp: inner.timestamp,
                    append_time_bit: message.append_time(),
                    checks_time: self.checks_time(message.magic),
                    key: inner.key,
                    value: inner.value,
                },
            )?;
        }
        if self.stored.seems_kept() && self.dense {
            wrapper::checksums_of_kept(inside)?;
        }
        Ok(Some(opened))
    }

    #[inline]
    fn record(&mut self, magic: i8, record: &Looked<'_>) -> Result<(), Refusal> {
        self.faults.look(self.offered, record)?;
        if record.offset != self.expected {
            self.dense = false;
            if self.insists(magic) {
                self.faults.gap(self.offered, record, self.expected)?;
            }
        }
        self.max_timestamp = self.max_timestamp.max(record.timestamp);
        self.min_timestamp = self.min_timestamp.min(record.timestamp);
        self.expected += 1;
        Ok(())
    }

    /// R3: 2.4 alone insists on the numbering 0..n-1 of what it compresses or finds compressed, but for magic 0 (M3).
    fn insists(&self, magic: i8) -> bool {
        self.offered.release == Release::V2_4 && self.stored.is_compressed() && magic.min(self.stored.magic) > 0
    }

    /// 0.10 does not look at the timestamps of what is of magic 0, or becomes it, but where it converts one by one.
    fn checks_time(&self, magic: i8) -> bool {
        let both = magic > 0 && (self.stored.magic > 0 || !self.stored.is_compressed());
        self.offered.release >= Release::V0_11 || both || self.stored.is_converted()
    }
}

/// How the records of a batch are read.
#[derive(Debug, Clone, Copy)]
struct Read {
    /// The payload was compressed.
    compressed: bool,
    /// Keys and values may be skipped.
    seems_kept: bool,
    /// This is the last record.
    last: bool,
}

/// R18, R3: why a payload is not that of the records that the header counts: an invalid record, or an exception that the
/// broker does not know. Which lengths lead to which depends on how the release reads them.
fn payload(offered: &Offered<'_>, read: Read, error: &RecordError) -> Refusal {
    let release = offered.release;
    let unknown = if let RecordError::Codec(why) = error {
        !ends_early(release, why)
    } else {
        unknown_length(release, read, error)
    };
    if unknown { Refusal::unknown() } else { Refusal::invalid_record(release) }
}

/// A length that is no number, is beyond the payload, or negative.
fn unknown_length(release: Release, read: Read, error: &RecordError) -> bool {
    let Read { compressed, seems_kept, last } = read;
    let endless = matches!(error, RecordError::Varint { what: LENGTH, .. });
    let beyond = matches!(error, RecordError::Truncated { what: "record", .. });
    let negative = matches!(error, RecordError::Range { what: LENGTH, .. });
    // Where keys and values are skipped, a negative length is looked at.
    let negative_is_looked_at = if seems_kept { Release::V2_8 } else { Release::V3_9 };
    endless && (!compressed || release < Release::V3_9)
        // Up to 2.8 such a record is a null pointer, but for the last one.
        || beyond && !compressed && !last && release < Release::V3_0
        || negative && compressed && release < negative_is_looked_at
}

/// Gzip that ends early is the end of the file, which up to 3.0 is an invalid record.
fn ends_early(release: Release, why: &CodecError) -> bool {
    let inside = matches!(why, CodecError::Truncated { codec: Codec::Gzip, what } if *what != "header");
    inside && release < Release::V3_9
}

/// Where a payload cannot hold as many records as are counted, the length of its first record still comes first.
fn first_length(batch: &RawBatch, error: RecordError) -> RecordError {
    if !matches!(error, RecordError::Count { .. }) {
        return error;
    }
    let codec = batch.header.attributes.codec().unwrap_or_default();
    let payload = decompress(codec, &batch.payload(), FIRST_BYTES_MAX).unwrap_or_default();
    let endless =
        payload.first_chunk::<LENGTH_BYTES_MAX>().is_some_and(|length| length.iter().all(|&byte| byte >= 0x80));
    if endless { RecordError::Varint { what: LENGTH, bytes_max: LENGTH_BYTES_MAX } } else { error }
}

/// How an error names the length of a record.
const LENGTH: &str = "record length";
/// The longest varint of a record's length.
const LENGTH_BYTES_MAX: usize = 5;
/// How far a payload that is too short for its records is looked into.
const FIRST_BYTES_MAX: usize = 1 << 20;
