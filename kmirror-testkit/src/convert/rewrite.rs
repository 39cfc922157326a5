//! Records that are written anew: in another format, with another codec, or numbered as they should have been.
//!
//! ```text
//! entries of any format ──► magic 2: ONE batch                                                     M4 R3 R14
//!                       └─► magic 0, 1 with a codec: ONE wrapper            M2 M3 R4 R15
//!                       └─► magic 0, 1 without: a message for each record   M3 R14 R15
//! ```
//!
//! Mirrors Java's `LogValidator.buildRecordsAndAssignOffsets` and `convertAndAssignOffsetsNonCompressed`.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{
    BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Placement, RecordError, Stamp, split,
};

use super::{AnyRecord, Headers, Opened};
use crate::log::Entry;

/// What records are written as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// The format: 0, 1 or 2.
    pub magic: i8,
    /// The codec; of magic 0 and 1 not zstd.
    pub codec: Codec,
    /// The offset of the first record; the others follow without gaps.
    pub base_offset: i64,
    /// The partition's leader epoch, which magic 2 has.
    pub leader_epoch: i32,
    /// The time of the append, in milliseconds, if that is what the topic keeps. Magic 0 keeps none.
    pub append_time: Option<i64>,
    /// Who wrote them, which magic 2 has: the first batch's of magic 2, else nobody.
    pub stamp: Stamp,
    /// The first batch belongs to a transaction.
    pub transactional: bool,
}

impl Form {
    /// A format and a codec from an offset on, with the producers' timestamps and nobody's numbers.
    pub(crate) fn of(magic: i8, codec: Codec, base_offset: i64) -> Self {
        Self {
            magic,
            codec,
            base_offset,
            leader_epoch: -1,
            append_time: None,
            stamp: Stamp::NONE,
            transactional: false,
        }
    }
}

/// All records of all entries as one set: timestamps are kept (-1 stays -1), keys and values too.
///
/// # Errors
/// [`RecordError`] if an entry's payload does not parse, if there is no record, if the set would pass 2 GiB, or if a
/// codec or a header has no place in the format: 0.11 … 2.8 answer -1 to headers on a topic of an older format.
pub(crate) fn rewrite(opened: &[Opened], form: &Form) -> Result<Vec<Entry>, RecordError> {
    match MessageFormat::from_magic(form.magic) {
        None => batch(opened, form).map(|batch| vec![batch]),
        Some(format) => messages(opened, form, format),
    }
}

fn batch(opened: &[Opened], form: &Form) -> Result<Entry, RecordError> {
    let mut builder = BatchBuilder::new(form.codec, None);
    builder.set_placement(Placement {
        base_offset: form.base_offset,
        leader_epoch: form.leader_epoch,
        append_time: form.append_time,
        transactional: form.transactional,
    });
    for entry in opened {
        entry.each(|record| builder.push(record.timestamp, record.key, record.value, headers_of(&record)))?;
    }
    Entry::read(builder.finish(form.stamp)?)
}

fn messages(opened: &[Opened], form: &Form, format: MessageFormat) -> Result<Vec<Entry>, RecordError> {
    let mut builder = MessageSetBuilder::new(format, form.codec);
    builder.set_base_offset(form.base_offset);
    builder.set_append_time(form.append_time);
    for entry in opened {
        entry.each(|record| {
            no_headers(&record, Headers::Refused)?;
            builder.push(record.timestamp, record.key, record.value)
        })?;
    }
    entries(builder.finish()?)
}

/// The entries of a set that was just built.
pub(super) fn entries(set: Bytes) -> Result<Vec<Entry>, RecordError> {
    split(set)
        .map(|entry| match entry? {
            kmirror_proto::records::Entry::Batch(batch) => Entry::read(batch.bytes().clone()),
            kmirror_proto::records::Entry::Message(message) => Entry::read(message.bytes().clone()),
            kmirror_proto::records::Entry::Partial(partial) => {
                let need = partial.need.unwrap_or(partial.have);
                Err(RecordError::Truncated { what: "message set", need, have: partial.have })
            }
        })
        .collect()
}

/// A record's headers as they are.
fn headers_of<'a>(record: &AnyRecord<'a>) -> HeadersSource<'a> {
    if record.headers.count() == 0 { HeadersSource::None } else { record.headers.into() }
}

/// Whether a record can go on without its headers.
///
/// # Errors
/// If it has some and they are refused.
pub(super) fn no_headers(record: &AnyRecord<'_>, headers: Headers) -> Result<(), RecordError> {
    match headers {
        Headers::Refused if record.headers.count() > 0 => {
            let value = i64::try_from(record.headers.count()).unwrap_or(i64::MAX);
            Err(RecordError::Range { what: "record headers before magic 2", value })
        }
        Headers::Refused | Headers::Dropped => Ok(()),
    }
}
