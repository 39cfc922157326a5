//! One partition's answer becomes pieces: what goes into a lane.

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Entry, RawBatch, RecordError, rewrap, split, wrapper_shape};

use super::entry::{codec, has_gap, next_offset, size};
use super::judge::{Magic, Refuse, Skip, Verdict, View, judge};
use super::rewrite::Rewriter;
use crate::fetch::Aborted;
use crate::limits::DECOMPRESSED_BYTES_MAX;

/// The part of a source log that is written as one batch (magic 2) or one set of messages (magic 1).
#[derive(Clone, Debug)]
pub struct Piece {
    /// The source offset of its first record.
    pub first: i64,
    /// The source offset behind it: where the next piece begins, gaps and skipped batches included.
    pub next: i64,
    /// How many records it writes.
    pub records: u32,
    /// The largest timestamp of its records, milliseconds.
    pub timestamp_max: i64,
    /// Records whose headers the target's format cannot carry.
    pub headers_dropped: u32,
    /// Its last record, where the target is told by content (0.10) or it was decoded anyway.
    pub fingerprint: Option<super::Fingerprint>,
    /// Whether it was decoded and built again.
    pub rewritten: bool,
    /// The bytes.
    pub body: Body,
}

/// What is written.
#[derive(Clone, Debug)]
pub enum Body {
    /// One magic 2 batch; it gets its stamp in the lane.
    Batch(RawBatch),
    /// Magic 1: either a run of plain messages, which may be joined with others in one request, or one compressed
    /// wrapper, which goes alone (fact R4).
    Set {
        /// As they go to the wire.
        bytes: Bytes,
        /// One compressed wrapper.
        wrapper: bool,
    },
}

impl Body {
    /// Its size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.bytes().len(),
            Self::Set { bytes, .. } => bytes.len(),
        }
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What came out of one partition's answer.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// To be written, in order.
    pub pieces: Vec<Piece>,
    /// Where the link reads on.
    pub cursor: i64,
    /// Batches passed over, by reason: control, aborted, empty.
    pub skipped: [u32; 3],
    /// Offsets are missing that nothing explains: the log was compacted, and its past may change again.
    pub gaps: bool,
    /// The link cannot go on past this source offset.
    pub refused: Option<(i64, Refused)>,
    /// The answer held less than one whole batch: how many bytes are needed, if it says.
    pub too_small: Option<Option<usize>>,
}

/// Why a link cannot go on past an offset.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The judge said so.
    Verdict(Refuse),
    /// The bytes do not parse.
    Malformed(RecordError),
}

/// Plans everything that `records` holds. `rewriter` is the link's own, made here for the format and codec that is
/// needed first.
#[must_use]
pub fn plan(
    records: Bytes,
    mut aborted: Aborted,
    view: &View,
    codec: Option<Codec>,
    batch_bytes_max: usize,
    rewriter: &mut Option<Rewriter>,
) -> Outcome {
    let mut planner = Planner {
        records: records.clone(),
        view: *view,
        codec,
        batch_bytes_max,
        rewriter,
        run: None,
        out: Outcome { cursor: view.cursor, ..Outcome::default() },
    };
    let mut position = 0;
    for entry in split(records) {
        let fault = match &entry {
            Ok(Entry::Partial(partial)) => {
                // Nothing was passed: the same question would get the same answer.
                if planner.out.cursor == view.cursor {
                    planner.out.too_small = Some(partial.need);
                }
                break;
            }
            Ok(entry) => {
                let len = size(entry);
                let is_aborted = aborted.covers(entry);
                let fault = planner.take(entry, position, is_aborted).err();
                position += len;
                fault
            }
            Err(error) => Some(Refused::Malformed(error.clone())),
        };
        if let Some(why) = fault {
            planner.out.refused = Some((planner.out.cursor, why));
            break;
        }
    }
    planner.finish()
}

struct Planner<'a> {
    records: Bytes,
    view: View,
    codec: Option<Codec>,
    batch_bytes_max: usize,
    rewriter: &'a mut Option<Rewriter>,
    /// A run of plain messages that go through as they are: where it began in `records`.
    run: Option<Run>,
    out: Outcome,
}

struct Run {
    start: usize,
    end: usize,
    piece: Piece,
}

impl Planner<'_> {
    fn take(&mut self, entry: &Entry, position: usize, aborted: bool) -> Result<(), Refused> {
        self.view.cursor = self.out.cursor;
        let apart = self.out.cursor < self.view.apart_to;
        match judge(entry, aborted, &self.view) {
            Verdict::Forward => {
                self.close_rewriter()?;
                self.forward(entry, position);
            }
            Verdict::Restamp => {
                self.close_open()?;
                self.restamp(entry)?;
            }
            Verdict::Rewrite(_) => {
                self.close_run();
                self.rewrite(entry)?;
            }
            Verdict::Skip(Skip::BeforeCursor) => return Ok(()),
            Verdict::Skip(skip) => {
                self.close_open()?;
                self.skip(skip, entry);
            }
            Verdict::Refuse(why) => return Err(Refused::Verdict(why)),
        }
        if apart {
            self.close_open()?;
        }
        self.out.gaps |= has_gap(entry, self.view.cursor);
        if let Some(next) = next_offset(entry) {
            self.out.cursor = self.out.cursor.max(next);
        }
        Ok(())
    }

    /// A plain magic 1 message towards 0.10: it joins the run before it. The broker sets the offsets.
    fn forward(&mut self, entry: &Entry, position: usize) {
        let Entry::Message(message) = entry else { return };
        let len = size(entry);
        let full = self.run.as_ref().is_some_and(|run| run.end - run.start + len > self.batch_bytes_max);
        if full {
            self.close_run();
        }
        let run = self.run.get_or_insert_with(|| Run {
            start: position,
            end: position,
            piece: Piece {
                first: message.offset,
                next: message.offset,
                records: 0,
                timestamp_max: i64::MIN,
                headers_dropped: 0,
                fingerprint: None,
                rewritten: false,
                body: Body::Set { bytes: Bytes::new(), wrapper: false },
            },
        });
        run.end = position + len;
        run.piece.next = message.offset.saturating_add(1);
        run.piece.records += 1;
        run.piece.timestamp_max = run.piece.timestamp_max.max(message.timestamp);
        run.piece.fingerprint = last_fingerprint(entry, false).ok();
    }

    fn restamp(&mut self, entry: &Entry) -> Result<(), Refused> {
        let piece = match entry {
            Entry::Batch(batch) => Piece {
                first: batch.header.base_offset,
                next: batch.header.next_offset(),
                records: u32::try_from(batch.header.records_count).unwrap_or(0),
                timestamp_max: batch.header.max_timestamp,
                headers_dropped: 0,
                fingerprint: None,
                rewritten: false,
                body: Body::Batch(batch.clone()),
            },
            Entry::Message(message) => {
                let shape = wrapper_shape(message, DECOMPRESSED_BYTES_MAX).map_err(Refused::Malformed)?;
                let (offset, rest) = rewrap(message, shape.last_relative_offset);
                let mut bytes = BytesMut::with_capacity(offset.len() + rest.len());
                bytes.extend_from_slice(&offset);
                bytes.extend_from_slice(&rest);
                Piece {
                    first: message.offset - shape.last_relative_offset,
                    next: message.offset.saturating_add(1),
                    records: u32::try_from(shape.records).unwrap_or(u32::MAX),
                    timestamp_max: message.timestamp,
                    headers_dropped: 0,
                    fingerprint: Some(last_fingerprint(entry, false).map_err(Refused::Malformed)?),
                    rewritten: false,
                    body: Body::Set { bytes: bytes.freeze(), wrapper: true },
                }
            }
            Entry::Partial(_) => return Ok(()),
        };
        self.out.pieces.push(piece);
        Ok(())
    }

    fn rewrite(&mut self, entry: &Entry) -> Result<(), Refused> {
        let codec = self.codec.or_else(|| codec(entry).ok()).unwrap_or(Codec::None);
        let target = self.view.target;
        let wanted = (target.magic, codec_for(target.magic, target.zstd, codec));
        if self.rewriter.as_ref().is_some_and(|rewriter| rewriter.builds() != wanted) {
            self.close_rewriter()?;
            *self.rewriter = None;
        }
        // Nothing fits into a piece of no bytes but the one record that it begins with.
        let batch_bytes_max = if self.view.cursor < self.view.apart_to { 0 } else { self.batch_bytes_max };
        let rewriter = self.rewriter.get_or_insert_with(|| Rewriter::new(wanted.0, wanted.1, batch_bytes_max));
        rewriter.set_limit(batch_bytes_max);
        let before = self.out.pieces.len();
        rewriter.push_entry(entry, self.view.cursor, &mut self.out.pieces).map_err(Refused::Malformed)?;
        // A batch of magic 2 stays a piece of its own; loose messages of older formats are joined.
        if matches!(entry, Entry::Batch(_)) {
            rewriter.close(&mut self.out.pieces).map_err(Refused::Malformed)?;
        }
        if let (Some(last), Some(next)) =
            (self.out.pieces.get_mut(before..).and_then(<[Piece]>::last_mut), next_offset(entry))
            && matches!(entry, Entry::Batch(_))
        {
            last.next = next;
        }
        Ok(())
    }

    fn skip(&mut self, skip: Skip, entry: &Entry) {
        let slot = match skip {
            Skip::BeforeCursor => return,
            Skip::Control => 0,
            Skip::Aborted => 1,
            Skip::Empty => 2,
        };
        if let Some(count) = self.out.skipped.get_mut(slot) {
            *count += 1;
        }
        // What is skipped belongs to the piece before it, so that a checkpoint behind that piece lies behind this. That
        // piece is closed: were it still being filled, the one before it would claim records that are not written yet.
        if let (Some(last), Some(next)) = (self.out.pieces.last_mut(), next_offset(entry)) {
            last.next = last.next.max(next);
        }
    }

    fn close_run(&mut self) {
        if let Some(mut run) = self.run.take() {
            run.piece.body = Body::Set { bytes: self.records.slice(run.start..run.end), wrapper: false };
            self.out.pieces.push(run.piece);
        }
    }

    fn close_rewriter(&mut self) -> Result<(), Refused> {
        match self.rewriter.as_mut() {
            Some(rewriter) => rewriter.close(&mut self.out.pieces).map_err(Refused::Malformed),
            None => Ok(()),
        }
    }

    fn close_open(&mut self) -> Result<(), Refused> {
        self.close_run();
        self.close_rewriter()
    }

    fn finish(mut self) -> Outcome {
        if let Err(why) = self.close_open() {
            let cursor = self.out.cursor;
            self.out.refused.get_or_insert((cursor, why));
        }
        self.out
    }
}

fn last_fingerprint(entry: &Entry, with_headers: bool) -> Result<super::Fingerprint, RecordError> {
    let mut last = super::Fingerprint::default();
    super::decode(entry, |record| {
        last = super::Fingerprint::of(&record, with_headers);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(last)
}

/// The codec that a rewritten piece gets: the wanted one, or lz4 where the target does not know zstd.
fn codec_for(magic: Magic, zstd: bool, wanted: Codec) -> Codec {
    match (wanted, magic, zstd) {
        (Codec::Zstd, Magic::V1, _) | (Codec::Zstd, Magic::V2, false) => Codec::Lz4,
        (codec, Magic::V1 | Magic::V2, _) => codec,
    }
}
