//! One verdict per batch, decided from its header and from what the target takes.
//!
//! Every rule is one function with one test. The first rule that answers decides; a batch that no rule stops goes
//! through with its payload untouched.
//!
//! | batch of magic 2 | verdict |
//! |---|---|
//! | ends before the cursor | skip: a broker answers with the whole batch that holds the offset (fact F4) |
//! | stored and computed checksum differ | refuse: nothing of a damaged header may decide anything (report B17) |
//! | control bit | skip: markers never leave their log (report B04) |
//! | part of an aborted transaction | skip (report B05) |
//! | no records | skip: what compaction leaves of a producer's last batch (fact K2) |
//! | codec 5, 6 or 7 | refuse: nobody can say what it holds |
//! | target of 0.10 | rewrite: it keeps magic 1 at most (fact M5); headers have no place there |
//! | begins before the cursor | rewrite: the records before it are on the target |
//! | fewer records than offsets | rewrite: 0.11 and 1.0 store it over other offsets (fact R3) |
//! | append-time bit | rewrite: consumers of the source see that time, and the bit is refused (fact R8) |
//! | zstd towards a target that does not know it | rewrite, in lz4 (report B35) |
//! | refused by the target before | rewrite, record by record |
//! | larger than the target's topic takes | rewrite: split between records (report B31) |
//! | uncompressed, and a record's delta is not its place | rewrite: every broker stores such a batch as it is, and consumers jump over what follows (fact R3) |
//! | none of these | restamp: a new header, the payload as it is |
//!
//! | message or wrapper of magic 0, 1 | verdict |
//! |---|---|
//! | lies before the cursor | skip |
//! | stored and computed checksum differ | refuse |
//! | codec 5, 6 or 7 | refuse |
//! | target from 0.11 on | rewrite: it gets magic 2, stamped (fact M1) |
//! | magic 0 | rewrite: 0.10 would build it up itself (fact M3) |
//! | append-time bit | rewrite |
//! | larger than the target's topic takes | rewrite |
//! | wrapper whose inside 0.10 would compress again, that begins before the cursor, or that was refused | rewrite (fact M2) |
//! | none of these | forward a message, restamp a wrapper: its offset is its last relative one |
//!
//! Timestamps are never lost: magic 0 has no place for them, and no broker that is a target keeps less than magic 1.
//!
//! **What is trusted.** A batch with as many records as offsets is taken for dense if it is compressed: each broker from 0.11
//! on opens a compressed batch when it is produced, and one whose deltas are not 0, 1, 2, … is renumbered (0.11 … 2.1) or
//! refused (2.4 and newer). A source that does not look inside can hold one all the same; its target does look, and does
//! one of the two: renumbered, it is what it should be, and a refused one is taken apart and built again. Uncompressed
//! deltas are checked by no release, so they are read here, without a copy. Compaction removes records, so it
//! shows in the header. What a payload holds beside that is the target's to judge: the raw path does not look inside.

use std::fmt;

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Checksums, Entry, MessageFormat, RawBatch, RawMessage, wrapper_shape};

use super::decode::is_dense;
use super::deltas;
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
    /// A record's offset delta is not its place.
    Deltas,
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
            Self::Deltas => "its records say other offsets than their places",
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
const BATCH_RULES: [BatchRule; 14] = [
    batch_behind_cursor,
    batch_checksum,
    batch_control,
    batch_aborted,
    batch_empty,
    batch_codec_known,
    batch_format,
    batch_before_cursor,
    batch_gaps,
    batch_append_time,
    batch_codec_taken,
    batch_apart,
    batch_too_large,
    batch_deltas,
];

const MESSAGE_RULES: [MessageRule; 7] = [
    message_behind_cursor,
    message_checksum,
    message_codec_known,
    message_format,
    message_append_time,
    message_too_large,
    message_wrapper,
];

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

fn batch_gaps(batch: &RawBatch, _: bool, _: &View<'_>) -> Option<Verdict> {
    when(!is_dense(&batch.header), Verdict::Rewrite(Rewrite::Gaps))
}

fn batch_append_time(batch: &RawBatch, _: bool, _: &View<'_>) -> Option<Verdict> {
    when(batch.header.attributes.append_time(), Verdict::Rewrite(Rewrite::AppendTime))
}

fn batch_codec_taken(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    when(batch.header.attributes.codec() == Ok(Codec::Zstd) && !view.target.zstd, Verdict::Rewrite(Rewrite::Codec))
}

fn batch_apart(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    // One of a single record too: decoded, it may turn out to be no record at all.
    when(batch.header.base_offset < view.apart_to, Verdict::Rewrite(Rewrite::Apart))
}

fn batch_too_large(batch: &RawBatch, _: bool, view: &View<'_>) -> Option<Verdict> {
    when(is_too_large(batch.bytes().len(), view), Verdict::Rewrite(Rewrite::TooLarge))
}

fn batch_deltas(batch: &RawBatch, _: bool, _: &View<'_>) -> Option<Verdict> {
    let plain = batch.header.attributes.codec() == Ok(Codec::None);
    let lies = plain && deltas::contradict(&batch.payload(), batch.header.records_count);
    when(lies, Verdict::Rewrite(Rewrite::Deltas))
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
    let format = view.target.magic == Magic::V2 || message.format() == MessageFormat::V0;
    when(format, Verdict::Rewrite(Rewrite::Format))
}

fn message_append_time(message: &RawMessage, _: &View<'_>) -> Option<Verdict> {
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
