//! What is looked at in the request as a whole: whether there are records, and how many batches of which format.
//!
//! Up to 2.0 this was done while the request was parsed, and a request that cannot be parsed closes the connection.
//! Later it is an error of the partition. Mirrors Java's `ProduceRequest.validateRecords` and `RequestUtils.flags`.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::compress::Codec;

use super::Refusal;
use super::refusal::invalid_record;
use super::sent::{NotEntries, Sent};
use crate::Release;

/// A request, as far as it is looked at before the log is: with the records of one of its partitions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The broker's release.
    pub(crate) release: Release,
    /// The version of the Produce request.
    pub(crate) version: i16,
    /// The records field, `None` if it was null.
    pub(crate) records: Option<&'a Bytes>,
    /// The request's transactional id.
    pub(crate) transactional_id: Option<&'a str>,
}

/// What ends the whole request, whichever partition has it: to be asked of every partition before anything is appended.
///
/// # Errors
/// [`Refusal`], of all partitions alike.
pub(crate) fn refuse_request(asked: &Asked<'_>) -> Result<(), Refusal> {
    dropped_version(asked)?;
    let sent = match Sent::entries(asked.release, null_records(asked)?.clone()) {
        Ok(sent) => sent,
        Err(why) if why.first || is_parsed(asked) => return Err(not_entries(asked, why)),
        Err(_) => return Ok(()),
    };
    transaction_without_id(asked, &sent)?;
    match no_entries(asked, &sent).and_then(|()| one_batch(asked, &sent)) {
        Err(Refusal::Disconnect) => Err(Refusal::Disconnect),
        Ok(()) | Err(Refusal::Code { .. } | Refusal::Silence) => Ok(()),
    }
}

/// The entries of the records field, without a partial one at the end.
///
/// # Errors
/// R5.
pub(super) fn entries(asked: &Asked<'_>) -> Result<Vec<Sent>, Refusal> {
    let records = null_records(asked)?;
    let sent = Sent::entries(asked.release, records.clone()).map_err(|why| not_entries(asked, why))?;
    no_entries(asked, &sent)?;
    Ok(sent)
}

/// R1, R4, M1: Produce v3+ takes one batch of magic 2, and no zstd before v7.
///
/// # Errors
/// As the release answers.
pub(super) fn one_batch(asked: &Asked<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    if asked.version < FIRST_OF_MAGIC_2 {
        return Ok(());
    }
    if sent.first().is_some_and(|entry| !entry.is_magic(2)) {
        return Err(refused(asked, Release::V2_1));
    }
    early_zstd(asked, sent)?;
    if sent.len() > 1 { Err(refused(asked, Release::V2_1)) } else { Ok(()) }
}

/// M4: 4.x advertises Produce v0-v2, and closes the connection that sends one.
fn dropped_version(asked: &Asked<'_>) -> Result<(), Refusal> {
    if asked.release >= Release::V4_4 && asked.version < FIRST_OF_MAGIC_2 {
        return Err(Refusal::Disconnect);
    }
    Ok(())
}

/// R5: null records are a null pointer, whose exception goes wherever the release lets it. 2.8 and 3.0 answer and close
/// the connection at the same time; which of the two is seen is what was measured.
fn null_records<'a>(asked: &Asked<'a>) -> Result<&'a Bytes, Refusal> {
    let refusal = match asked.records {
        Some(records) => return Ok(records),
        None if asked.release >= Release::V3_9 => Refusal::Silence,
        None if asked.release == Release::V3_0 && asked.version >= FIRST_COMPACT => Refusal::Disconnect,
        None if asked.release >= Release::V2_8 => Refusal::unknown(),
        None => Refusal::Disconnect,
    };
    Err(refusal)
}

/// R5: empty records, or less than one entry. Produce v0-v2 gets nothing appended and no error.
fn no_entries(asked: &Asked<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    if !sent.is_empty() {
        return Ok(());
    }
    if asked.version >= FIRST_OF_MAGIC_2 {
        return Err(refused(asked, Release::V2_8));
    }
    if needs_an_entry(asked) { Err(Refusal::Disconnect) } else { Ok(()) }
}

/// R5: bytes that are no entries.
fn not_entries(asked: &Asked<'_>, why: NotEntries) -> Refusal {
    if is_parsed(asked) || why.first && needs_an_entry(asked) {
        return Refusal::Disconnect;
    }
    let corrupt = Refusal::corrupt();
    // From 2.8 on the first entry is looked at before the log is, by code that passes the exception's text on.
    if why.first && asked.release >= Release::V2_8 { corrupt.saying(why.text, Vec::new()) } else { corrupt }
}

/// R6: a transactional batch in a request without a transactional id, which until 2.1 nobody looked at.
fn transaction_without_id(asked: &Asked<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    let looks = asked.release >= Release::V2_1 && asked.transactional_id.is_none();
    if looks && sent.first().is_some_and(Sent::is_transactional) {
        return Err(Refusal::request(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
    }
    Ok(())
}

/// R1: zstd came with 2.1 and Produce v7. What is older than 2.1 does not know the codec: see R12.
fn early_zstd(asked: &Asked<'_>, sent: &[Sent]) -> Result<(), Refusal> {
    let zstd = sent.first().is_some_and(|entry| entry.codec() == Ok(Codec::Zstd));
    if zstd && asked.release >= Release::V2_1 && asked.version < FIRST_OF_ZSTD {
        return Err(Refusal::request(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE));
    }
    Ok(())
}

/// A disconnect before the release that answers with an error.
fn refused(asked: &Asked<'_>, answers_from: Release) -> Refusal {
    if asked.release >= answers_from { Refusal::request(invalid_record(asked.release)) } else { Refusal::Disconnect }
}

/// Up to 2.0 the batches of Produce v3+ are read while the request is parsed.
fn is_parsed(asked: &Asked<'_>) -> bool {
    asked.release < Release::V2_1 && asked.version >= FIRST_OF_MAGIC_2
}

/// 2.1 and 2.4 look for a transaction in the first entry, without asking whether there is one.
fn needs_an_entry(asked: &Asked<'_>) -> bool {
    asked.release >= Release::V2_1 && asked.release < Release::V2_8
}

/// The Produce version that came with magic 2 (KIP-98).
const FIRST_OF_MAGIC_2: i16 = 3;
/// The Produce version that came with zstd (KIP-110).
const FIRST_OF_ZSTD: i16 = 7;
/// The first Produce version with compact fields (KIP-482).
const FIRST_COMPACT: i16 = 9;
