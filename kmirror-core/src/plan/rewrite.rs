//! Building batches again: the one place where records are decoded on their way through.

use std::ops::ControlFlow;

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{
    BatchBuilder, Entry, HeadersSource, MessageFormat, MessageSetBuilder, RawBatch, RecordError, Stamp,
};

use super::decode::{Fingerprint, Opened, SourceRecord, decode};
use super::pieces::{Body, Piece};
use super::view::{Fate, Magic, View};

/// Builds pieces for one link, out of one run of entries that all need it. Its buffers live as long as the link's
/// shard does.
pub struct Rewriter {
    magic: Magic,
    codec: Codec,
    batch_bytes_max: usize,
    set: MessageSetBuilder,
    batch: BatchBuilder,
    open: Option<OpenPiece>,
}

/// The piece that is being filled.
struct OpenPiece {
    first: i64,
    next: i64,
    records: u32,
    timestamp_max: i64,
    headers_dropped: u32,
    fingerprint: Fingerprint,
}

impl std::fmt::Debug for Rewriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rewriter").field("magic", &self.magic).field("codec", &self.codec).finish_non_exhaustive()
    }
}

impl Rewriter {
    /// A rewriter towards a target of `magic`; a piece is closed before it grows past `batch_bytes_max` uncompressed
    /// bytes.
    #[must_use]
    pub fn new(magic: Magic, codec: Codec, batch_bytes_max: usize) -> Self {
        Self {
            magic,
            codec,
            batch_bytes_max,
            set: MessageSetBuilder::new(MessageFormat::V1, codec),
            batch: BatchBuilder::new(codec, None),
            open: None,
        }
    }

    /// The format and codec that it builds.
    #[must_use]
    pub fn builds(&self) -> (Magic, Codec) {
        (self.magic, self.codec)
    }

    /// Closes pieces at another size from now on.
    pub fn set_limit(&mut self, batch_bytes_max: usize) {
        self.batch_bytes_max = batch_bytes_max;
    }

    /// Takes the records of an entry from the view's cursor on; full pieces go to `out`. `fates` says what becomes of
    /// each, and ends where no more is wanted; without it they are taken as they are.
    ///
    /// # Errors
    /// If the entry does not parse, or a piece does not compress.
    pub(super) fn push_all(
        &mut self,
        opened: &Opened,
        view: &View<'_>,
        fates: Option<&[Fate]>,
        out: &mut Vec<Piece>,
    ) -> Result<(), RecordError> {
        let mut fault = Ok(());
        let mut fates = fates.map(<[Fate]>::iter);
        opened.each(|record| {
            if record.offset < view.cursor {
                return ControlFlow::Continue(());
            }
            let fate = match &mut fates {
                None => Fate::Kept,
                Some(fates) => match fates.next() {
                    Some(fate) => *fate,
                    None => return ControlFlow::Break(()),
                },
            };
            fault = match fate {
                Fate::Kept => self.push(&record, out),
                Fate::Replaced => {
                    let (_, new) = view.fate(&record);
                    self.push(&new.as_ref().map_or(record, |new| record.with(new)), out)
                }
                Fate::Filtered | Fate::LeftOut => Ok(()),
            };
            if fault.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        fault
    }

    /// The first source offset of the piece that is being filled.
    pub(super) fn begun(&self) -> Option<i64> {
        self.open.as_ref().map(|open| open.first)
    }

    /// The source has nothing more to be written before `next`: it belongs to the piece that is being filled, if there
    /// is one.
    pub(super) fn pass_to(&mut self, next: i64) -> bool {
        if let Some(open) = &mut self.open {
            open.next = open.next.max(next);
        }
        self.open.is_some()
    }

    fn push(&mut self, record: &SourceRecord<'_>, out: &mut Vec<Piece>) -> Result<(), RecordError> {
        if self.open.is_some() && self.bytes() + record.bytes() + RECORD_OVERHEAD > self.batch_bytes_max {
            self.close(out)?;
        }
        match self.magic {
            Magic::V1 => self.set.push(record.timestamp, record.key, record.value)?,
            Magic::V2 => {
                self.batch.push(
                    record.timestamp,
                    record.key,
                    record.value,
                    HeadersSource::Raw(record.headers.raw()),
                )?;
            }
        }
        let dropped = if self.magic == Magic::V1 && record.headers.count() > 0 { 1 } else { 0 };
        let fingerprint = Fingerprint::of(record, self.magic == Magic::V2);
        let open = self.open.get_or_insert(OpenPiece {
            first: record.offset,
            next: record.offset,
            records: 0,
            timestamp_max: i64::MIN,
            headers_dropped: 0,
            fingerprint,
        });
        open.next = record.offset.saturating_add(1);
        open.records += 1;
        open.timestamp_max = open.timestamp_max.max(record.timestamp);
        open.headers_dropped += dropped;
        open.fingerprint = fingerprint;
        Ok(())
    }

    fn bytes(&self) -> usize {
        match self.magic {
            Magic::V1 => self.set.bytes(),
            Magic::V2 => self.batch.bytes(),
        }
    }

    /// Closes the piece that is being filled, if there is one.
    ///
    /// # Errors
    /// If it does not compress.
    pub fn close(&mut self, out: &mut Vec<Piece>) -> Result<(), RecordError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let body = match self.magic {
            Magic::V1 => Body::Set { bytes: self.set.finish()?, wrapper: self.codec != Codec::None },
            Magic::V2 => Body::Batch(RawBatch::from_bytes(self.batch.finish(Stamp::NONE)?)?),
        };
        out.push(Piece {
            first: open.first,
            next: open.next,
            records: open.records,
            timestamp_max: open.timestamp_max,
            headers_dropped: open.headers_dropped,
            fingerprint: Some(open.fingerprint),
            rewritten: true,
            body,
        });
        Ok(())
    }
}

/// Cuts a batch in two behind its first `records` records, with dense deltas on both sides. Needed where a link's
/// sequence numbers wrap: no batch may straddle 2^31 (rule P2).
///
/// # Errors
/// If the batch does not decode or does not compress.
pub fn cut(batch: &RawBatch, records: u32) -> Result<(Bytes, Bytes), RecordError> {
    let codec = batch.header.attributes.codec()?;
    let mut halves = [BatchBuilder::new(codec, None), BatchBuilder::new(codec, None)];
    let mut count = 0;
    let mut fault = Ok(());
    let [head, tail] = &mut halves;
    decode(&Entry::Batch(batch.clone()), |record| {
        let half = if count < records { &mut *head } else { &mut *tail };
        count += 1;
        fault = half.push(record.timestamp, record.key, record.value, HeadersSource::Raw(record.headers.raw()));
        if fault.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    fault?;
    Ok((head.finish(Stamp::NONE)?, tail.finish(Stamp::NONE)?))
}

/// More than the framing of one record takes in either format.
const RECORD_OVERHEAD: usize = 64;
