//! Cuts a records field into its entries without copying.
//!
//! ```text
//! +----------+----------+----------------------------+
//! | offset 8 | length 4 | length bytes; magic at 4   |  × any number of any magic, then perhaps a cut one
//! +----------+----------+----------------------------+
//! ```
//!
//! Mirrors Java's `ByteBufferLogInputStream`. One answer can mix magics (a topic whose format changed), and it may end
//! in a piece of an entry: brokers cut at `max_bytes`, and down-converted answers are padded with such a piece.

use bytes::Bytes;

use super::batch::BATCH_HEADER_BYTES;
use super::cursor::Cursor;
use super::legacy::MESSAGE_BYTES_MIN;
use super::{RawBatch, RawMessage, RecordError};

/// Walks the entries of a records field. The iterator ends after a partial entry and after an error.
#[must_use]
pub fn split(records: Bytes) -> Split {
    Split { rest: records }
}

/// One entry of a records field.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A magic 2 batch, its header checked.
    Batch(RawBatch),
    /// A message or wrapper of magic 0 or 1, its lengths checked.
    Message(RawMessage),
    /// The beginning of an entry that was cut off; always the last.
    Partial(Partial),
}

impl Entry {
    /// Its size in bytes, as far as it is there.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.bytes().len(),
            Self::Message(message) => message.bytes().len(),
            Self::Partial(partial) => partial.have,
        }
    }
}

/// How much of a cut entry there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partial {
    /// Bytes that are there.
    pub have: usize,
    /// Bytes of the whole entry, if enough is there to say so. A peer's claim: check it before asking for as much.
    pub need: Option<usize>,
}

/// The iterator of [`split`].
#[derive(Debug, Clone)]
pub struct Split {
    rest: Bytes,
}

impl Iterator for Split {
    type Item = Result<Entry, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let entry = next_entry(&mut self.rest);
        if !matches!(entry, Ok(Entry::Batch(_) | Entry::Message(_))) {
            self.rest = Bytes::new();
        }
        Some(entry)
    }
}

/// Bytes before the length ends.
pub(super) const PREFIX_BYTES: usize = 12;

/// The size of the whole entry whose prefix this is, 12 bytes of prefix included.
pub(super) fn entry_size(prefix: &mut Cursor<'_>) -> Result<usize, RecordError> {
    prefix.i64("entry offset")?;
    let length = prefix.i32("entry length")?;
    let out_of_range = RecordError::Range { what: "entry length", value: length.into() };
    // A message of magic 0 is the shortest entry there is.
    match usize::try_from(length) {
        Ok(length) if length >= MESSAGE_BYTES_MIN => Ok(PREFIX_BYTES + length),
        _ => Err(out_of_range),
    }
}

fn next_entry(rest: &mut Bytes) -> Result<Entry, RecordError> {
    let have = rest.len();
    let mut cursor = Cursor::new(rest);
    if have < PREFIX_BYTES {
        return Ok(Entry::Partial(Partial { have, need: None }));
    }
    let size = entry_size(&mut cursor)?;
    if have < size {
        return Ok(Entry::Partial(Partial { have, need: Some(size) }));
    }
    cursor.u32("entry")?;
    match cursor.i8("entry magic")? {
        2 if size < BATCH_HEADER_BYTES => {
            Err(RecordError::Truncated { what: "record batch header", need: BATCH_HEADER_BYTES, have: size })
        }
        2 => RawBatch::from_bytes(rest.split_to(size)).map(Entry::Batch),
        0 | 1 => RawMessage::from_bytes(rest.split_to(size)).map(Entry::Message),
        magic => Err(RecordError::Magic { what: "entry", magic }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Stamp};
    use super::*;
    use crate::compress::Codec;

    fn batch() -> Bytes {
        let mut builder = BatchBuilder::new(Codec::None, None);
        builder.push(7, None, Some(b"value"), HeadersSource::None).unwrap();
        builder.finish(Stamp::NONE).unwrap()
    }

    fn message(format: MessageFormat) -> Bytes {
        let mut builder = MessageSetBuilder::new(format, Codec::None);
        builder.push(7, None, Some(b"value")).unwrap();
        builder.finish().unwrap()
    }

    fn kinds(records: Vec<u8>) -> Vec<&'static str> {
        split(Bytes::from(records))
            .map(|entry| match entry {
                Ok(Entry::Batch(_)) => "batch",
                Ok(Entry::Message(_)) => "message",
                Ok(Entry::Partial(_)) => "partial",
                Err(_) => "error",
            })
            .collect()
    }

    #[test]
    fn magics_may_be_mixed_and_nothing_is_copied() {
        let (old, new) = (message(MessageFormat::V0), message(MessageFormat::V1));
        let records = Bytes::from([&new[..], &batch(), &old].concat());
        let range = records.as_ptr_range();
        let mut sizes = Vec::new();
        for entry in split(records.clone()) {
            let bytes = match entry.unwrap() {
                Entry::Batch(batch) => batch.bytes().clone(),
                Entry::Message(message) => message.bytes().clone(),
                Entry::Partial(partial) => panic!("{partial:?}"),
            };
            assert!(range.contains(&bytes.as_ptr()));
            sizes.push(bytes.len());
        }
        assert_eq!(sizes, [new.len(), batch().len(), old.len()]);
    }

    #[test]
    fn a_cut_entry_says_how_much_it_needs() {
        let whole = batch();
        for len in 1..whole.len() {
            let mut entries = split(whole.slice(..len));
            let Some(Ok(Entry::Partial(partial))) = entries.next() else { panic!("{len}") };
            assert_eq!(partial, Partial { have: len, need: (len >= 12).then_some(whole.len()) });
            assert!(entries.next().is_none());
        }
    }

    #[test]
    fn batch_lengths_that_cannot_be_are_errors_and_end_the_walk() {
        for length in [-1_i32, i32::MIN, 0, 13, 48] {
            let mut records = [&batch()[..], &batch()].concat();
            records[8..12].copy_from_slice(&length.to_be_bytes());
            assert_eq!(kinds(records), ["error"], "{length}");
        }
        let mut records = batch().to_vec();
        records[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
        assert_eq!(kinds(records), ["partial"]);
    }

    #[test]
    fn other_magics_are_errors() {
        for magic in [-1_i8, 3, 127] {
            let mut records = batch().to_vec();
            records[16] = magic.cast_unsigned();
            let error = split(Bytes::from(records)).next().unwrap().unwrap_err();
            assert_eq!(error, RecordError::Magic { what: "entry", magic });
        }
    }
}
