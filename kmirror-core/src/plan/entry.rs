//! What every entry of a source log has, whatever its format.

use kmirror_proto::compress::{Codec, CodecError};
use kmirror_proto::records::Entry;

use super::decode::is_dense;

/// The offset behind an entry; `None` for a cut-off tail.
#[must_use]
pub fn next_offset(entry: &Entry) -> Option<i64> {
    match entry {
        Entry::Batch(batch) => Some(batch.header.next_offset()),
        Entry::Message(message) => Some(message.next_offset()),
        Entry::Partial(_) => None,
    }
}

/// The codec of its payload.
pub(super) fn codec(entry: &Entry) -> Result<Codec, CodecError> {
    match entry {
        Entry::Batch(batch) => batch.header.attributes.codec(),
        Entry::Message(message) => message.codec(),
        Entry::Partial(_) => Ok(Codec::None),
    }
}

/// Whether offsets between `expected` and the entry's end are missing for good: the log was compacted. Wrappers do not
/// say it without being decompressed.
pub(super) fn has_gap(entry: &Entry, expected: i64) -> bool {
    match entry {
        Entry::Batch(batch) => {
            let header = &batch.header;
            header.base_offset > expected || !is_dense(header)
        }
        Entry::Message(message) => message.codec() == Ok(Codec::None) && message.offset > expected,
        Entry::Partial(_) => false,
    }
}
