//! What is looked at in the request as a whole: whether there are records, and how many batches of which format.
//!
//! Up to 2.0 this was done while the request was parsed, and a request that cannot be parsed closes the connection.
//! Later it is an error of the partition. Mirrors Java's `ProduceRequest.validateRecords` and `RequestUtils.flags`.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::compress::Codec;

use super::refusal::invalid_record;
use super::sent::{NotEntries, Sent};
use super::{Offered, Refusal};
use crate::Release;

/// What ends the whole request, whichever partition has it: to be asked of every partition before anything is appended.
///
/// # Errors
/// [`Refusal`], of all partitions alike.
pub(crate) fn refuse_request(offered: &Offered<'_>) -> Result<(), Refusal> {
    dropped_version(offered)?;
    let sent = match Sent::entries(offered.release, null_records(offered)?) {
        Ok(sent) => sent,
        Err(why) if why.first || is_parsed(offered) => return Err(not_entries(offered, why)),
        Err(_) => return Ok(()),
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
/// R5.
pub(super) fn entries(offered: &Offered<'_>) -> Result<Vec<Sent>, Refusal> {
    let records = null_records(offered)?;
    let sent = Sent::entries(offered.release, records).map_err(|why| not_entries(offered, why))?;
    no_entries(offered, &sent)?;
    Ok(sent)
}

/// R1, R4, M1: Produce v3+ takes one batch of magic 2, and no zstd before v7.
///
/// # Errors
/// As the release answers.
pub(super) fn one_batch(offered: &Offered<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    if offered.version < FIRST_OF_MAGIC_2 {
        return Ok(());
    }
    if sent.first().is_some_and(|entry| !entry.is_magic(2)) {
        return Err(refused(offered, Release::V2_1));
    }
    early_zstd(offered, sent)?;
    if sent.len() > 1 { Err(refused(offered, Release::V2_1)) } else { Ok(()) }
}

/// M4: 4.x advertises Produce v0-v2, and closes the connection that sends one.
fn dropped_version(offered: &Offered<'_>) -> Result<(), Refusal> {
    if offered.release >= Release::V4_4 && offered.version < FIRST_OF_MAGIC_2 {
        return Err(Refusal::Disconnect);
    }
    Ok(())
}

/// R5: null records are a null pointer, whose exception goes wherever the release lets it. 2.8 and 3.0 answer and close
/// the connection at the same time; which of the two is seen is what was measured.
fn null_records(offered: &Offered<'_>) -> Result<Bytes, Refusal> {
    let refusal = match &offered.records {
        Some(records) => return Ok(records.clone()),
        None if offered.release >= Release::V3_9 => Refusal::Silence,
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
    if needs_an_entry(offered) { Err(Refusal::Disconnect) } else { Ok(()) }
}

/// R5: bytes that are no entries.
fn not_entries(offered: &Offered<'_>, why: NotEntries) -> Refusal {
    if is_parsed(offered) || why.first && needs_an_entry(offered) {
        return Refusal::Disconnect;
    }
    let corrupt = Refusal::corrupt();
    // From 2.8 on the first entry is looked at before the log is, by code that passes the exception's text on.
    if why.first && offered.release >= Release::V2_8 { corrupt.saying(why.text, Vec::new()) } else { corrupt }
}

/// R6: a transactional batch in a request without a transactional id, which until 2.1 nobody looked at.
fn transaction_without_id(offered: &Offered<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    let looks = offered.release >= Release::V2_1 && offered.transactional_id.is_none();
    if looks && sent.first().is_some_and(Sent::is_transactional) {
        return Err(Refusal::request(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
    }
    Ok(())
}

/// R1: zstd came with 2.1 and Produce v7. What is older than 2.1 does not know the codec: see R12.
fn early_zstd(offered: &Offered<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    let zstd = sent.first().is_some_and(|entry| entry.codec() == Ok(Codec::Zstd));
    if zstd && offered.release >= Release::V2_1 && offered.version < FIRST_OF_ZSTD {
        return Err(Refusal::request(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE));
    }
    Ok(())
}

/// A disconnect before the release that answers with an error.
fn refused(offered: &Offered<'_>, answers_from: Release) -> Refusal {
    if offered.release >= answers_from {
        Refusal::request(invalid_record(offered.release))
    } else {
        Refusal::Disconnect
    }
}

/// Up to 2.0 the batches of Produce v3+ are read while the request is parsed.
fn is_parsed(offered: &Offered<'_>) -> bool {
    offered.release < Release::V2_1 && offered.version >= FIRST_OF_MAGIC_2
}

/// 2.1 and 2.4 look for a transaction in the first entry, without asking whether there is one.
fn needs_an_entry(offered: &Offered<'_>) -> bool {
    offered.release >= Release::V2_1 && offered.release < Release::V2_8
}

/// The Produce version that came with magic 2 (KIP-98).
const FIRST_OF_MAGIC_2: i16 = 3;
/// The Produce version that came with zstd (KIP-110).
const FIRST_OF_ZSTD: i16 = 7;
/// The first Produce version with compact fields (KIP-482).
const FIRST_COMPACT: i16 = 9;
