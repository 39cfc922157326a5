//! What is inside a wrapper of magic 0 or 1; a plain message is inside itself.
//!
//! Mirrors Java's `AbstractLegacyRecordBatch.DeepRecordsIterator`, and what stood for it in 0.10.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Message, Messages, RawMessage, RecordError};

use super::sent::Sent;
use super::{Offered, Refusal};
use crate::Release;
use crate::convert::Opened;

/// The messages as they were sent; `None` if there are none, which is nothing to append on 0.10.0 and 0.10.1.
///
/// # Errors
/// M7, R18: what cannot be taken apart.
pub(super) fn opened(offered: &Offered<'_>, wrapper: &RawMessage) -> Result<Option<Opened>, Refusal> {
    let release = offered.release;
    if wrapper.codec().is_err() {
        // The formats have no zstd; other numbers were refused before.
        return Err(Refusal::invalid_record(release));
    }
    let empty = if release < Release::V0_11 { Refusal::unknown() } else { Refusal::invalid_record(release) };
    match Opened::sent(wrapper) {
        Ok(opened) => Ok(Some(opened)),
        Err(RecordError::Empty { .. }) if release < Release::V0_10_2 && wrapper.value().is_some() => Ok(None),
        Err(RecordError::Empty { .. }) => Err(empty),
        Err(RecordError::Codec(_)) if release >= Release::V0_10_2 => Err(Refusal::unknown()),
        Err(_) => Err(Refusal::corrupt()),
    }
}

/// M2: what is added to the offsets inside magic 1; 0 in magic 0, and of a plain message.
///
/// A wrapper has the offset of its last message, but some clients send it with 0, or anything else. 0.10.0 and 0.10.1
/// reckon with it all the same, 0.10.2 takes what does not fit for 0, later releases take 0 for that.
///
/// # Errors
/// From 0.11 on, an offset before that of the last message.
pub(super) fn base_offset(
    offered: &Offered<'_>,
    entry: &Sent,
    wrapper: &RawMessage,
    inside: &Messages,
) -> Result<i64, Refusal> {
    if wrapper.codec() == Ok(Codec::None) {
        // The offset that was sent, if the message could not be read under it.
        return Ok(entry.offset.min(0));
    }
    let last = inside.iter().filter_map(Result::ok).last();
    let Some(last) = last.filter(|_| wrapper.magic == 1) else { return Ok(0) };
    let (release, base) = (offered.release, entry.offset.saturating_sub(last.offset));
    if release < Release::V0_10_2 {
        return Ok(base);
    }
    if release < Release::V0_11 {
        return Ok(base.max(0));
    }
    if entry.offset == 0 {
        return Ok(0);
    }
    if base < 0 { Err(Refusal::invalid_record(release)) } else { Ok(base) }
}

/// A wrapper inside a wrapper, or a message of the other magic.
pub(super) fn not_a_message(offered: &Offered<'_>, error: &RecordError) -> Refusal {
    let other_magic = matches!(error, RecordError::Magic { .. });
    if other_magic && offered.release == Release::V0_10_0 {
        return Refusal::unknown();
    }
    Refusal::invalid_record(offered.release)
}

/// R18: the checksum of a message inside a wrapper is a `CorruptRecordException` on all releases. 0.10 looks at it only
/// when it keeps the wrapper: see [`checksums_of_kept`]. A plain message's was looked at before.
///
/// # Errors
/// A wrong one.
pub(super) fn checksum(offered: &Offered<'_>, wrapper: &RawMessage, inner: &Message<'_>) -> Result<(), Refusal> {
    let looks = offered.release >= Release::V0_11 && wrapper.codec() != Ok(Codec::None);
    if looks && !inner.crc_ok() { Err(Refusal::corrupt()) } else { Ok(()) }
}

/// R18: the checksums of all messages inside a wrapper that seems to be kept.
///
/// # Errors
/// A wrong one.
pub(super) fn checksums_of_kept(inside: &Messages) -> Result<(), Refusal> {
    let right = inside.iter().all(|inner| inner.is_ok_and(|inner| inner.crc_ok()));
    if right { Ok(()) } else { Err(Refusal::corrupt()) }
}
