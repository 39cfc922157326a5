//! What a batch of magic 2 says of itself in its header.
//!
//! Mirrors Java's `LogValidator.validateBatch`.

use kmirror_proto::ErrorCode;
use kmirror_proto::records::BatchHeader;

use super::{Offered, Refusal};
use crate::Release;

/// Checks the header of a batch that is to be stored as `magic`.
///
/// # Errors
/// R3, R7, R13, R15.
pub(super) fn check(offered: &Offered<'_>, header: &BatchHeader, magic: i8) -> Result<(), Refusal> {
    counts(offered, header)?;
    sequence(offered, header)?;
    control(offered, header)?;
    older_format(header, magic)
}

/// R3: there is a record, and from 1.1 on as many as the offsets reach. 0.11 and 1.0 do not compare the two: what they
/// make of it, see [`super::keep`].
fn counts(offered: &Offered<'_>, header: &BatchHeader) -> Result<(), Refusal> {
    let offsets = i64::from(header.last_offset_delta) + 1;
    let count = header.records_count;
    if count <= 0 || offered.release >= Release::V1_1 && offsets != count.into() {
        return Err(Refusal::invalid_record(offered.release));
    }
    Ok(())
}

/// R13: a producer id with a negative sequence. Without an id nothing else is looked at, nor an epoch of -1 with one.
fn sequence(offered: &Offered<'_>, header: &BatchHeader) -> Result<(), Refusal> {
    if header.producer_id >= 0 && header.base_sequence < 0 {
        return Err(Refusal::invalid_record(offered.release));
    }
    Ok(())
}

/// R7: control batches are the brokers' own.
fn control(offered: &Offered<'_>, header: &BatchHeader) -> Result<(), Refusal> {
    if header.attributes.control() { Err(Refusal::invalid_record(offered.release)) } else { Ok(()) }
}

/// R15: the older formats have no place for a producer or a transaction.
fn older_format(header: &BatchHeader, magic: i8) -> Result<(), Refusal> {
    if magic < 2 && (header.producer_id >= 0 || header.attributes.transactional()) {
        return Err(Refusal::code(ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT));
    }
    Ok(())
}
