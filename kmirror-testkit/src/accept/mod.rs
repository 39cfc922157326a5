//! What a broker does with the records of one partition of a Produce request before they are appended.
//!
//! ```text
//! records field ─> request   the request itself: null, empty, partial, one batch of magic 2      R1 R4 R5 R6 M1 M4
//!       entries ─> outside   each entry from outside: base offset, size, checksum, codec         R2 R12 R17 R18 M5
//!               ─> batch     what the batches say of themselves: counts, control, producer       R3 R4 R7 R13 R15 M6
//!               ─> inside    their records: payload, keys, timestamps, numbering                 R3 R8 R11 R16 R18 M2 M7
//!          kept ─> keep      the bytes as they came, the header under its offset                 R1 R3 R9 R10 M2
//!     or written ─> rewrite  the records encoded anew: another codec, format or numbering        R3 R14 R15 M2 M3 M4
//! ```
//!
//! The rules' ids are those of the measured facts, and one function stands for each. Mirrors Java's
//! `ProduceRequest.validateRecords`, `Log.analyzeAndValidateRecords` and `LogValidator`, with what changed in them from
//! release to release. Sequence rules need the log and stand there.

mod refusal;
pub(crate) use refusal::Refusal;

mod sent;

mod request;
pub(crate) use request::{Asked, refuse_request};

mod outside;

mod stored;

mod batch;

mod inside;

mod wrapper;

mod fault;

mod keep;

mod rewrite;

use bytes::Bytes;
use kmirror_proto::ErrorCode;

use crate::log::Entry;
use crate::settings::TopicSettings;
use crate::{Now, Release};

/// The records of one partition as they came in, and the partition that they came to.
#[derive(Debug)]
pub(crate) struct Offered<'a> {
    /// The broker's release.
    pub(crate) release: Release,
    /// The version of the Produce request.
    pub(crate) version: i16,
    /// The topic's settings.
    pub(crate) settings: &'a TopicSettings,
    /// The topic's name, for what the broker has to say.
    pub(crate) topic: &'a str,
    /// The partition's index, likewise.
    pub(crate) partition: i32,
    /// The time of the append.
    pub(crate) now: Now,
    /// The records field, `None` if it was null.
    pub(crate) records: Option<Bytes>,
    /// The log's end: the offset of the next record.
    pub(crate) next_offset: i64,
    /// The partition's leader epoch.
    pub(crate) leader_epoch: i32,
    /// The request's transactional id.
    pub(crate) transactional_id: Option<&'a str>,
}

/// What is to be appended.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// The entries as the log holds them: under their offsets and leader epoch, converted and compressed. None if the
    /// request had none, which Produce v0-v2 may (R5): answered without an error and with base offset -1.
    pub(crate) entries: Vec<Entry>,
    /// The time of the append on a LogAppendTime topic, in milliseconds since 1970; -1 on a CreateTime topic.
    pub(crate) append_time_ms: i64,
}

/// Checks the records, which it takes, and makes of them what the log will hold.
///
/// # Errors
/// [`Refusal`]: as the release answers. What refuses the whole request is refused here too; see [`refuse_request`].
pub(crate) fn accept(offered: &mut Offered<'_>) -> Result<Accepted, Refusal> {
    let asked = Asked {
        release: offered.release,
        version: offered.version,
        records: offered.records.as_ref(),
        transactional_id: offered.transactional_id,
    };
    refuse_request(&asked)?;
    let sent = request::entries(&asked)?;
    if sent.is_empty() {
        return Ok(Accepted { entries: Vec::new(), append_time_ms: -1 });
    }
    request::one_batch(&asked, &sent)?;
    let codec = outside::check(offered, &sent)?;
    let stored = stored::Stored::of(offered, &sent, codec);
    batch::together(offered, &sent, stored)?;
    let walked = inside::walk(offered, &sent, stored)?;
    let entries = if stored.is_kept(&sent, &walked) {
        // What is kept may then be the only part of its buffer that anybody has.
        offered.records = None;
        let inside::Walked { opened, seen } = walked;
        drop(opened);
        keep::keep(offered, sent, &seen)?
    } else {
        rewrite::write(offered, &sent, &walked, stored)?
    };
    larger_when_written(offered, &entries)?;
    larger_than_a_segment(offered, &entries)?;
    let append_time_ms = if offered.settings.append_time { offered.now.unix_ms } else { -1 };
    Ok(Accepted { entries, append_time_ms })
}

/// R17: what the broker wrote anew must hold to `max.message.bytes` too.
fn larger_when_written(offered: &Offered<'_>, entries: &[Entry]) -> Result<(), Refusal> {
    entries.iter().try_for_each(|entry| outside::larger_than_max(offered, entry.bytes.len()))
}

/// R17: all entries together must fit into one segment.
fn larger_than_a_segment(offered: &Offered<'_>, entries: &[Entry]) -> Result<(), Refusal> {
    let bytes: usize = entries.iter().map(|entry| entry.bytes.len()).sum();
    if bytes > offered.settings.segment_bytes {
        return Err(Refusal::request(ErrorCode::RECORD_LIST_TOO_LARGE));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
