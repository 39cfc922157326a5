//! The records of one entry, whatever its format, as the source's consumers see them.

use std::ops::ControlFlow;

use kmirror_proto::records::{BatchHeader, Entry, Headers, Messages, RecordError, Records, messages};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::filter::Replacement;
use crate::limits::DECOMPRESSED_BYTES_MAX;

/// One record of a source log.
#[derive(Clone, Copy, Debug)]
pub struct SourceRecord<'a> {
    /// Its offset in the source partition; where the batch has as many records as offsets, by its place.
    pub offset: i64,
    /// Milliseconds since 1970: the record's own, or the time of the append where the topic says so; -1 in magic 0.
    pub timestamp: i64,
    /// `None` is null, which is not the empty key.
    pub key: Option<&'a [u8]>,
    /// `None` is null: a tombstone.
    pub value: Option<&'a [u8]>,
    /// In order, with duplicates; none before magic 2.
    pub headers: Headers<'a>,
}

impl<'a> SourceRecord<'a> {
    /// The record with another key and value.
    #[must_use]
    pub fn with(self, new: &'a Replacement) -> Self {
        Self { key: new.key.as_deref(), value: new.value.as_deref(), ..self }
    }

    /// Bytes of key, value and headers.
    pub(super) fn bytes(&self) -> usize {
        self.key.map_or(0, <[u8]>::len) + self.value.map_or(0, <[u8]>::len) + self.headers.raw().len()
    }
}

/// What a record is known again by: a 64-bit hash over key and value (null and empty differ), and over the headers
/// where both sides have them; and its timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Key, value, headers.
    pub content: u64,
    /// Milliseconds since 1970.
    pub timestamp: i64,
}

impl Fingerprint {
    /// The fingerprint of a record as a target keeps it that has headers (magic 2) or has not (magic 1).
    #[must_use]
    pub fn of(record: &SourceRecord<'_>, with_headers: bool) -> Self {
        let mut hash = Xxh3::new();
        for part in [record.key, record.value] {
            let len = part.map_or(-1, |bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX));
            hash.update(&len.to_be_bytes());
            hash.update(part.unwrap_or_default());
        }
        // A record without headers has the same fingerprint on both kinds of target.
        if with_headers && record.headers.count() > 0 {
            hash.update(record.headers.raw());
        }
        Self { content: hash.digest(), timestamp: record.timestamp }
    }

    /// Whether the record that the target keeps is this one. A target topic with append time has its own timestamps.
    #[must_use]
    pub fn agrees(&self, on_target: &Self, target_append_time: bool) -> bool {
        self.content == on_target.content && (target_append_time || self.timestamp == on_target.timestamp)
    }
}

/// An entry's payload, decompressed once: its records can be walked more than once.
#[derive(Debug)]
pub(super) enum Opened {
    /// Of a magic 2 batch.
    Batch(BatchHeader, Records),
    /// Of a message or wrapper of magic 0 or 1.
    Messages(Messages),
    /// A cut-off tail has none.
    Nothing,
}

impl Opened {
    /// Decompresses an entry's payload.
    ///
    /// # Errors
    /// If it does not decompress.
    pub(super) fn of(entry: &Entry) -> Result<Self, RecordError> {
        Ok(match entry {
            Entry::Batch(batch) => Self::Batch(batch.header, Records::of(batch, DECOMPRESSED_BYTES_MAX)?),
            Entry::Message(message) => Self::Messages(messages(message, DECOMPRESSED_BYTES_MAX)?),
            Entry::Partial(_) => Self::Nothing,
        })
    }

    /// Hands every record to `each`, in order, until it breaks.
    ///
    /// # Errors
    /// If the payload does not parse; the records before the fault have been handed over.
    pub(super) fn each(&self, mut each: impl FnMut(SourceRecord<'_>) -> ControlFlow<()>) -> Result<(), RecordError> {
        match self {
            Self::Batch(header, records) => {
                // What the header calls dense is (see the judge): then a record's place is its offset, whatever it says
                // itself. Elsewhere offsets rise within the batch: nothing is skipped or seen twice for a lie.
                let dense = is_dense(header);
                let mut least = header.base_offset;
                for (place, record) in (0..).zip(records) {
                    let record = record?;
                    let delta = if dense { place } else { record.offset_delta };
                    let offset = header.base_offset.saturating_add(delta.into());
                    if offset < least || offset > header.last_offset() {
                        return Err(RecordError::Range { what: "record offset delta", value: delta.into() });
                    }
                    least = offset.saturating_add(1);
                    let found = SourceRecord {
                        offset,
                        timestamp: header.timestamp_of(&record),
                        key: record.key,
                        value: record.value,
                        headers: record.headers,
                    };
                    if each(found).is_break() {
                        break;
                    }
                }
            }
            Self::Messages(messages) => {
                for message in messages {
                    let message = message?;
                    let found = SourceRecord {
                        offset: message.offset,
                        timestamp: message.timestamp,
                        key: message.key,
                        value: message.value,
                        headers: Headers::NONE,
                    };
                    if each(found).is_break() {
                        break;
                    }
                }
            }
            Self::Nothing => {}
        }
        Ok(())
    }
}

/// Whether a batch has as many records as offsets.
pub(super) fn is_dense(header: &BatchHeader) -> bool {
    i64::from(header.records_count) == i64::from(header.last_offset_delta) + 1
}

/// Hands every record of `entry` to `each`, in order, until it breaks.
///
/// # Errors
/// If the payload does not decompress or does not parse; the records before the fault have been handed over.
pub fn decode(entry: &Entry, each: impl FnMut(SourceRecord<'_>) -> ControlFlow<()>) -> Result<(), RecordError> {
    Opened::of(entry)?.each(each)
}
