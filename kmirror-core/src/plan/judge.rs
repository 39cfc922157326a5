//! One verdict per batch, decided from its header and from what the target takes.
//!
//! Every rule is one function with one test. The first rule that answers decides; a batch that no rule stops goes
//! through with its payload untouched.

use std::fmt;

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Checksums, Entry, MessageFormat, RawBatch, RawMessage, wrapper_shape};

use super::view::{Magic, View};
use crate::limits::DECOMPRESSED_BYTES_MAX;

/// What happens to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its bytes are written as they came.
    Forward,
    /// Its header gets our stamp (magic 2) or its outer offset is set (a magic 1 wrapper); the payload is untouched.
    Restamp,
    /// It is decoded and built again.
    Rewrite(Rewrite),
    /// Nothing is written; the cursor moves past it.
    Skip(Skip),
    /// The link stops.
    Refuse(Refuse),
}

/// Why a batch is built again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rewrite {
    /// The target stores another format.
    Format,
    /// Compaction left gaps; 0.11 and 1.0 would store overlapping offsets, newer brokers refuse (fact R3).
    Gaps,
    /// The source's append time is what its consumers see; the bit is refused (fact R8).
    AppendTime,
    /// The target does not take the codec.
    Codec,
    /// It begins before the cursor.
    BeforeCursor,
    /// A magic 1 wrapper that a 0.10 broker would recompress by itself (fact M2).
    Wrapper,
    /// It is larger than the target's topic takes: its records go in smaller batches.
    TooLarge,
    /// The target refused it as a whole: its records go one by one, so that no more is left out than has to be.
    Apart,
}

/// Why a batch is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// It lies before the cursor: a broker answers with the whole batch that holds the offset.
    BeforeCursor,
    /// A transaction's marker.
    Control,
    /// Records of an aborted transaction.
    Aborted,
    /// Compaction left the header only (fact K2).
    Empty,
}

/// Why a link cannot go on past a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refuse {
    /// The checksum does not match the bytes.
    Checksum(Checksums),
    /// The attributes name a codec that does not exist.
    UnknownCodec,
}

impl Rewrite {
    /// The same in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Format => "the target keeps another message format",
            Self::Gaps => "compaction left gaps",
            Self::AppendTime => "the source's append times are kept",
            Self::Codec => "the target does not take zstd",
            Self::BeforeCursor => "it begins before the link",
            Self::Wrapper => "a 0.10 broker would compress it again",
            Self::TooLarge => "it is larger than the target's topic takes",
            Self::Apart => "its records go one by one",
        }
    }
}

impl Skip {
    /// The same in words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::BeforeCursor => "it lies before the link",
            Self::Control => "a transaction's marker",
            Self::Aborted => "an aborted transaction",
            Self::Empty => "compaction left nothing in it",
        }
    }
}

/// Judges one entry of a source log. `aborted` says whether it belongs to an aborted transaction
/// ([`crate::fetch::Aborted`]).
#[must_use]
pub fn judge(entry: &Entry, aborted: bool, view: &View<'_>) -> Verdict {
    match entry {
        Entry::Batch(batch) => {
            BATCH_RULES.iter().find_map(|rule| rule(batch, aborted, view)).unwrap_or(Verdict::Restamp)
        }
        Entry::Message(message) => {
            MESSAGE_RULES.iter().find_map(|rule| rule(message, view)).unwrap_or(match message.codec() {
                Ok(Codec::None) => Verdict::Forward,
                Ok(_) | Err(_) => Verdict::Restamp,
            })
        }
        // A cut-off tail is asked for again from the cursor on.
        Entry::Partial(_) => Verdict::Skip(Skip::Empty),
    }
}

type BatchRule = fn(&RawBatch, bool, &View<'_>) -> Option<Verdict>;
type MessageRule = fn(&RawMessage, &View<'_>) -> Option<Verdict>;

/// In this order: a damaged header must not decide anything, and a batch without records needs no format.
const BATCH_RULES: [BatchRule; 12] = [
    batch_behind_cursor,
    batch_checksum,
    batch_control,
    batch_aborted,
    batch_empty,
    batch_codec_known,
    batch_format,
    batch_before_cursor,
    batch_gaps_or_append_time,
    batch_codec_taken,
    batch_apart,
    batch_too_large,
];

const MESSAGE_RULES: [MessageRule; 6] =
    [message_behind_cursor, message_checksum, message_codec_known, message_format, message_too_large, message_wrapper];

fn when(condition: bool, verdict: Verdict) -> Option<Verdict> {
    condition.then_some(verdict)
}

fn checksum(view: &View<'_>, checksums: impl FnOnce() -> Checksums) -> Option<Verdict> {
    let damaged = view.check_crcs.then(checksums).filter(|checksums| !checksums.agree())?;
    Some(Verdict::Refuse(Refuse::Checksum(damaged)))
}

fn batch_behind_cursor(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    when(batch.header.next_offset() <= view.cursor, Verdict::Skip(Skip::BeforeCursor))
}

fn batch_checksum(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    checksum(view, || batch.checksums())
}

fn batch_control(batch: &RawBatch, _: bool, _: &View<'_>) -> Option<Verdict> {
    when(batch.header.attributes.control(), Verdict::Skip(Skip::Control))
}

fn batch_aborted(_: &RawBatch, aborted: bool, _: &View<'_>) -> Option<Verdict> {
    when(aborted, Verdict::Skip(Skip::Aborted))
}

fn batch_empty(batch: &RawBatch, _: bool, _: &View<'_>) -> Option<Verdict> {
    when(batch.header.records_count == 0, Verdict::Skip(Skip::Empty))
}

fn batch_codec_known(batch: &RawBatch, _: bool, _: &View<'_>) -> Option<Verdict> {
    when(batch.header.attributes.codec().is_err(), Verdict::Refuse(Refuse::UnknownCodec))
}

fn batch_format(_: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    when(view.target.magic == Magic::V1, Verdict::Rewrite(Rewrite::Format))
}

fn batch_before_cursor(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    when(batch.header.base_offset < view.cursor, Verdict::Rewrite(Rewrite::BeforeCursor))
}

fn batch_gaps_or_append_time(batch: &RawBatch, _: bool, _: &View<'_>) -> Option<Verdict> {
    // Offsets in a stored batch rise strictly from the base, so as many records as offsets means no gap.
    let dense = i64::from(batch.header.records_count) == i64::from(batch.header.last_offset_delta) + 1;
    when(!dense, Verdict::Rewrite(Rewrite::Gaps))
        .or_else(|| when(batch.header.attributes.append_time(), Verdict::Rewrite(Rewrite::AppendTime)))
}

fn batch_codec_taken(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    when(batch.header.attributes.codec() == Ok(Codec::Zstd) && !view.target.zstd, Verdict::Rewrite(Rewrite::Codec))
}

fn batch_apart(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    let several = batch.header.records_count > 1;
    when(several && batch.header.base_offset < view.apart_to, Verdict::Rewrite(Rewrite::Apart))
}

fn batch_too_large(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    when(is_too_large(batch.bytes().len(), view), Verdict::Rewrite(Rewrite::TooLarge))
}

fn message_behind_cursor(message: &RawMessage, view: &View<'_>) -> Option<Verdict> {
    when(message.offset < view.cursor, Verdict::Skip(Skip::BeforeCursor))
}

fn message_checksum(message: &RawMessage, view: &View<'_>) -> Option<Verdict> {
    checksum(view, || message.checksums())
}

fn message_codec_known(message: &RawMessage, _: &View<'_>) -> Option<Verdict> {
    when(message.codec().is_err(), Verdict::Refuse(Refuse::UnknownCodec))
}

fn message_format(message: &RawMessage, view: &View<'_>) -> Option<Verdict> {
    // A target of 0.10 would convert magic 0 itself (fact M3): what is there then is not what was proved.
    if view.target.magic == Magic::V2 || message.format() == MessageFormat::V0 {
        return Some(Verdict::Rewrite(Rewrite::Format));
    }
    when(message.append_time(), Verdict::Rewrite(Rewrite::AppendTime))
}

fn message_too_large(message: &RawMessage, view: &View<'_>) -> Option<Verdict> {
    when(is_too_large(message.bytes().len(), view), Verdict::Rewrite(Rewrite::TooLarge))
}

fn is_too_large(bytes: usize, view: &View<'_>) -> bool {
    view.limits.batch_bytes_max.is_some_and(|bytes_max| bytes > bytes_max)
}

fn message_wrapper(message: &RawMessage, view: &View<'_>) -> Option<Verdict> {
    if message.codec() == Ok(Codec::None) {
        return None;
    }
    // Only the inner messages say whether a 0.10 broker keeps the wrapper as it is, and where the first one lies.
    match wrapper_shape(message, DECOMPRESSED_BYTES_MAX) {
        Ok(shape) if shape.records > 1 && message.offset - shape.last_relative_offset < view.apart_to => {
            Some(Verdict::Rewrite(Rewrite::Apart))
        }
        Ok(shape) if shape.is_kept() && message.offset - shape.last_relative_offset >= view.cursor => None,
        Ok(_) | Err(_) => Some(Verdict::Rewrite(Rewrite::Wrapper)),
    }
}

impl fmt::Display for Refuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksum(checksums) => write!(f, "the checksum does not match the bytes ({checksums})"),
            Self::UnknownCodec => f.write_str("the batch names a codec that does not exist"),
        }
    }
}
