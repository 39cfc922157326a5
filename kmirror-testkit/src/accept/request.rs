//! What is looked at in the request as a whole: whether there are records, and how many batches of which format.
//!
//! Up to 2.0 this was done while the request was parsed, and a request that cannot be parsed closes the connection.
//! Later it is an error of the partition. Mirrors Java's `ProduceRequest.validateRecords`.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::compress::Codec;

use super::sent::{Form, NotEntries, Sent};
use super::{Offered, Refusal};
use crate::Release;

/// What ends the whole request, whichever partition has it: to be asked of every partition before anything is appended.
///
/// # Errors
/// [`Refusal`], of all partitions alike.
pub(crate) fn refuse_request(offered: &Offered<'_>) -> Result<(), Refusal> {
    dropped_version(offered)?;
    let records = null_records(offered)?;
    let sent = match Sent::entries(offered.release, records) {
        Ok(sent) => sent,
        Err(NotEntries) if unparsed(offered) => return Err(Refusal::Disconnect),
        Err(NotEntries) => return Ok(()),
    };
    transaction_without_id(offered, &sent)?;
    match no_entries(offered, &sent).and_then(|()| one_batch(offered, &sent)) {
        Err(Refusal::Disconnect) => Err(Refusal::Disconnect),
        Ok(()) | Err(Refusal::Code { .. } | Refusal::Silence) => Ok(()),
    }
}

/// The entries of the records field, without a partial one at the end.
///
/// # Errors
/// R5, and [`Refusal::corrupt`] for lengths and magics that are none.
pub(super) fn entries(offered: &Offered<'_>) -> Result<Vec<Sent>, Refusal> {
    let records = null_records(offered)?;
    let sent = Sent::entries(offered.release, records).map_err(|NotEntries| Refusal::corrupt())?;
    no_entries(offered, &sent)?;
    Ok(sent)
}

/// R1, R4, M1: Produce v3+ takes one batch of magic 2, and no zstd before v7.
pub(super) fn one_batch(offered: &Offered<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    if offered.version < FIRST_OF_MAGIC_2 {
        return Ok(());
    }
    if sent.iter().take(1).any(|entry| !entry.is_magic(2)) {
        return Err(refused(offered, Release::V2_1));
    }
    early_zstd(offered, sent)?;
    if sent.len() > 1 {
        return Err(refused(offered, Release::V2_1));
    }
    Ok(())
}

/// M4: 4.x advertises Produce v0-v2, and closes the connection that sends one.
fn dropped_version(offered: &Offered<'_>) -> Result<(), Refusal> {
    if offered.release >= Release::V4_4 && offered.version < FIRST_OF_MAGIC_2 {
        return Err(Refusal::Disconnect);
    }
    Ok(())
}

/// R5: null records are a null pointer, whose exception goes wherever the release lets it.
fn null_records(offered: &Offered<'_>) -> Result<Bytes, Refusal> {
    let refusal = match &offered.records {
        Some(records) => return Ok(records.clone()),
        None if offered.release >= Release::V3_9 => Refusal::Silence,
        // 3.0 parses the compact versions by generated code, which knows that the field is not nullable.
        None if offered.release == Release::V3_0 && offered.version >= FIRST_COMPACT => Refusal::Disconnect,
        None if offered.release >= Release::V2_8 => Refusal::unknown(),
        None => Refusal::Disconnect,
    };
    Err(refusal)
}

/// R5: empty records, or less than one entry. Produce v0-v2 gets nothing appended and no error.
fn no_entries(offered: &Offered<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    if !sent.is_empty() {
        return Ok(());
    }
    if offered.version >= FIRST_OF_MAGIC_2 {
        return Err(refused(offered, Release::V2_8));
    }
    // 2.1 and 2.4 look for a transaction in the first entry without asking whether there is one.
    let looks = offered.release >= Release::V2_1 && offered.release < Release::V2_8;
    if looks { Err(Refusal::Disconnect) } else { Ok(()) }
}

/// R6: a transactional batch in a request without a transactional id, which until 2.1 nobody looked at.
fn transaction_without_id(offered: &Offered<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    let looks = offered.release >= Release::V2_1 && offered.transactional_id.is_none();
    if looks && sent.iter().any(Sent::is_transactional) {
        return Err(Refusal::code(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
    }
    Ok(())
}

/// R1: zstd came with 2.1 and Produce v7. What is older than 2.1 does not know the codec: see R12.
fn early_zstd(offered: &Offered<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    let zstd = matches!(sent.first(), Some(Sent { form: Form::Batch(header), .. }) if header.attributes.codec() == Ok(Codec::Zstd));
    if zstd && offered.release >= Release::V2_1 && offered.version < FIRST_OF_ZSTD {
        return Err(Refusal::code(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE));
    }
    Ok(())
}

/// A disconnect before the release that answers with an error.
fn refused(offered: &Offered<'_>, answers_from: Release) -> Refusal {
    if offered.release >= answers_from { Refusal::invalid_record(offered.release) } else { Refusal::Disconnect }
}

/// Whether entries that cannot be told apart end the request while it is parsed.
fn unparsed(offered: &Offered<'_>) -> bool {
    offered.release < Release::V2_1 && offered.version >= FIRST_OF_MAGIC_2
}

/// The Produce version that came with magic 2 (KIP-98).
const FIRST_OF_MAGIC_2: i16 = 3;
/// The Produce version that came with zstd (KIP-110).
const FIRST_OF_ZSTD: i16 = 7;
/// The first Produce version with compact fields (KIP-482).
const FIRST_COMPACT: i16 = 9;
