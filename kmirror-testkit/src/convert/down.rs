//! What Fetch v0-v3 get of a log that holds a newer format than they know: the same records under the same offsets.
//!
//! ```text
//! stored     m1@0 m1@1 … m1@19(gzip of 10-19) m1@20 … m1@29
//! 0.10       all in the codec of the first:  from 0  m0@0 … m0@29        from 15  m0@29(gzip of 10-29)
//! 0.11 …     each by itself:                 from 0  m0@0 … m0@19(gzip) m0@20 …    from 15  m0@19(gzip) m0@20 …
//! ```
//!
//! Control batches have no counterpart and are left out, data of aborted transactions stays (F2). Mirrors
//! `FileMessageSet.toMessageFormat` of 0.10 and Java's `RecordsUtil.downConvert`, and of 2.0 and newer
//! `LazyDownConversionRecords`, which has promised the length of the answer before it knows the rest of it.

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BATCH_HEADER_BYTES, MessageFormat, MessageSetBuilder, RecordError};

use super::rewrite::no_headers;
use super::{Headers, Opened};
use crate::log::Entry;

/// How records of several entries are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// All of them in the codec of the first entry: in one wrapper if it has one (0.10).
    Together,
    /// Each entry by itself, in its own codec (from 0.11 on).
    Apart,
}

/// Records in an older format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Down {
    /// The whole entries: all of the answer up to 1.1.
    pub records: Bytes,
    /// How many of these bytes come from the first entry that left anything.
    first_bytes: usize,
}

impl Down {
    /// What 2.0 and newer make of entries of which the very first leaves nothing (an empty batch, a marker): the first that
    /// leaves something comes twice. `LazyDownConversionRecords` converts up to there for its length, and then skips one
    /// stored batch, not all that it has converted (measured on 2.8 and 3.9; K2).
    pub(crate) fn first_twice(self) -> Self {
        let first = self.records.get(..self.first_bytes).unwrap_or_default();
        let records = Bytes::from([first, &self.records].concat());
        Self { records, ..self }
    }

    /// The answer of 2.0 and newer, which is as long as the stored entries are (`slice_bytes`, a cut one included), or
    /// as the first converted one if that is longer: the records are cut, or followed by the beginning of a batch that
    /// does not end (F2).
    pub(crate) fn filled(&self, slice_bytes: usize) -> Bytes {
        let bytes = slice_bytes.max(self.first_bytes);
        let Some(left) = bytes.checked_sub(self.records.len()) else { return self.records.slice(..bytes) };
        let mut filled = BytesMut::with_capacity(bytes + OVERFLOW_HEAD_BYTES);
        filled.extend_from_slice(&self.records);
        filled.extend_from_slice(&(-1_i64).to_be_bytes());
        // A length behind the end of the answer, and not shorter than a batch is.
        let length = left.saturating_add(1).max(BATCH_HEADER_BYTES);
        filled.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX >> 1).to_be_bytes());
        filled.resize(bytes, 0);
        filled.freeze()
    }
}

/// Why records cannot be had in an older format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotDown {
    /// The first of them are compressed with zstd, which only magic 2 has: error 76 (F2).
    #[error("zstd has no place in an older format")]
    Zstd,
    /// A record has headers, which the release trips over (0.11.0; F2), or its payload is broken: error -1.
    #[error("build down: {0}")]
    Broken(#[from] RecordError),
}

/// Whether any of these entries is newer than `format`: if none is, they go out as they are, with what the limit cut.
pub(crate) fn is_needed(entries: &[Entry], format: MessageFormat) -> bool {
    entries.iter().any(|entry| entry.magic > format.magic())
}

/// The records of these entries in `format`; entries that are not newer stay as they are. Of entries that are not
/// compressed, records before `from` are left out.
///
/// zstd behind the first entry ends the answer, before the piece of 128 KiB that it lies in: a reader comes back for
/// it and gets the error then (measured on 2.8.2).
///
/// # Errors
/// [`NotDown`].
pub(crate) fn down(
    entries: &[Entry],
    format: MessageFormat,
    from: i64,
    packing: Packing,
    headers: Headers,
) -> Result<Down, NotDown> {
    match packing {
        Packing::Together => together(entries, format),
        Packing::Apart => apart(entries, format, from, headers),
    }
}

fn together(entries: &[Entry], format: MessageFormat) -> Result<Down, NotDown> {
    let Some(first) = entries.first() else { return Ok(Down::default()) };
    let mut builder = MessageSetBuilder::new(format, first.codec);
    for entry in entries {
        let opened = Opened::stored(entry)?;
        opened.each(|record| {
            if builder.is_empty() {
                builder.set_base_offset(record.offset);
            }
            builder.push_at(record.offset, record.timestamp, record.key, record.value)
        })?;
    }
    let records = builder.finish()?;
    Ok(Down { first_bytes: records.len(), records })
}

/// The first entry that leaves anything is a piece alone, the others are taken by as many as fit into one.
fn apart(entries: &[Entry], format: MessageFormat, from: i64, headers: Headers) -> Result<Down, NotDown> {
    let mut records = BytesMut::new();
    let mut first_bytes = 0;
    let mut rest = entries;
    while !rest.is_empty() {
        let (piece, behind) = if first_bytes == 0 { rest.split_at(1) } else { rest.split_at(piece_of(rest)) };
        let before = records.len();
        for entry in piece {
            match one(entry, format, from, headers) {
                Ok(built) => records.extend_from_slice(&built),
                Err(NotDown::Zstd) if first_bytes > 0 => {
                    records.truncate(before);
                    return Ok(Down { records: records.freeze(), first_bytes });
                }
                Err(error) => return Err(error),
            }
        }
        if first_bytes == 0 {
            first_bytes = records.len();
        }
        rest = behind;
    }
    Ok(Down { records: records.freeze(), first_bytes })
}

/// How many entries make the next piece: at least one.
fn piece_of(entries: &[Entry]) -> usize {
    let ends = entries.iter().scan(0_usize, |end, entry| {
        *end += entry.size();
        Some(*end)
    });
    ends.take_while(|end| *end <= PIECE_BYTES).count().max(1)
}

/// One entry; nothing if none of its records is to be seen.
fn one(entry: &Entry, format: MessageFormat, from: i64, headers: Headers) -> Result<Bytes, NotDown> {
    if entry.control {
        return Ok(Bytes::new());
    }
    if entry.magic <= format.magic() {
        return Ok(entry.bytes.clone());
    }
    if entry.codec == Codec::Zstd {
        return Err(NotDown::Zstd);
    }
    let mut builder = MessageSetBuilder::new(format, entry.codec);
    builder.set_append_time(entry.append_time.then_some(entry.max_timestamp));
    let opened = Opened::stored(entry)?;
    opened.each(|record| {
        if entry.codec == Codec::None && record.offset < from {
            return Ok(());
        }
        no_headers(&record, headers)?;
        if builder.is_empty() {
            builder.set_base_offset(record.offset);
        }
        builder.push_at(record.offset, record.timestamp, record.key, record.value)
    })?;
    if builder.is_empty() { Ok(Bytes::new()) } else { Ok(builder.finish()?) }
}

/// Java's `LazyDownConversionRecordsSend.MAX_READ_SIZE`.
const PIECE_BYTES: usize = 128 << 10;
/// Offset and length of the batch that fills an answer up.
const OVERFLOW_HEAD_BYTES: usize = 12;
