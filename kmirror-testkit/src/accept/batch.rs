//! What the batches say of themselves, each in its header and together.
//!
//! Mirrors Java's `LogValidator.validateBatch` and `getFirstBatchAndMaybeValidateNoMoreBatches`.

use kmirror_proto::ErrorCode;
use kmirror_proto::records::BatchHeader;

use super::sent::Sent;
use super::stored::Stored;
use super::{Offered, Refusal};
use crate::Release;

/// Checks the entries of one partition against each other.
///
/// # Errors
/// R4, R15, M6.
pub(super) fn together(offered: &Offered<'_>, sent: &[Sent], stored: Stored) -> Result<(), Refusal> {
    one_compressed(offered, sent, stored)?;
    mixed_formats(offered, sent, stored)?;
    converted_transaction(sent, stored)
}

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

/// R4: what is compressed, and magic 2, stands alone from 2.4 on; before, it is merged.
fn one_compressed(offered: &Offered<'_>, sent: &[Sent], stored: Stored) -> Result<(), Refusal> {
    let alone = stored.came_compressed() || sent.first().is_some_and(|first| first.is_magic(2));
    if offered.release >= Release::V2_4 && alone && sent.len() > 1 {
        return Err(Refusal::invalid_record(offered.release));
    }
    Ok(())
}

/// M6: formats side by side. 0.10.0 and 0.10.1 cannot convert them, 2.4 and later will not.
fn mixed_formats(offered: &Offered<'_>, sent: &[Sent], stored: Stored) -> Result<(), Refusal> {
    let mixed = [0, 1, 2].into_iter().filter(|&magic| sent.iter().any(|entry| entry.is_magic(magic))).count() > 1;
    if !mixed {
        return Ok(());
    }
    if offered.release < Release::V0_10_2 && stored.is_converted() {
        return Err(Refusal::unknown());
    }
    if offered.release >= Release::V2_4 { Err(Refusal::invalid_record(offered.release)) } else { Ok(()) }
}

/// R15: the builder of an older format refuses a transaction before the batch is looked at, with an exception that the
/// broker does not know. Where a set is compressed, the batch is looked at first.
fn converted_transaction(sent: &[Sent], stored: Stored) -> Result<(), Refusal> {
    if stored.is_converted() && stored.magic < 2 && sent.first().is_some_and(Sent::is_transactional) {
        return Err(Refusal::unknown());
    }
    Ok(())
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
        return Err(Refusal::unexpected(ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT));
    }
    Ok(())
}
