//! One partition's answer becomes pieces.

use std::ops::ControlFlow;

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Entry, RecordError, rewrap, split, wrapper_shape};

use super::damage::{Damage, Passing, pass, size_of};
use super::decode::{Fingerprint, Opened, decode};
use super::entry::{codec, has_gap, next_offset};
use super::judge::{Refuse, Skip, Verdict, judge};
use super::look::{Look, is_needed, look, room};
use super::pieces::{Body, Outcome, Piece, Refused};
use super::rewrite::Rewriter;
use super::view::{Fate, Magic, View};
use crate::fetch::Aborted;
use crate::limits::{DECOMPRESSED_BYTES_MAX, LEFT_OUT_RANGES_MAX};

/// Plans everything that `records` holds. `rewriter` is the link's own, made here for the format and codec that is
/// needed first.
#[must_use]
pub fn plan(
    records: Bytes,
    mut aborted: Aborted,
    view: &View<'_>,
    codec: Option<Codec>,
    batch_bytes_max: usize,
    rewriter: &mut Option<Rewriter>,
) -> Outcome {
    let limit = view.limits.batch_bytes_max.map_or(usize::MAX, room);
    let mut planner = Planner {
        records,
        view: *view,
        codec,
        batch_bytes_max: batch_bytes_max.min(limit),
        rewriter,
        run: None,
        out: Outcome { cursor: view.cursor, ..Outcome::default() },
    };
    let mut position = 0;
    let mut entries = split(planner.records.clone());
    while let Some(entry) = entries.next() {
        let taken = match &entry {
            Ok(Entry::Partial(partial)) => {
                // Nothing was passed: the same question would get the same answer.
                if planner.out.cursor == view.cursor && planner.out.left_out.is_empty() {
                    planner.out.too_small = Some(partial.need);
                }
                break;
            }
            Ok(entry) => {
                let taken = planner.take(entry, position, aborted.holds(entry));
                position += entry.size();
                if let Ok(Taken::Passed) = taken {
                    aborted.pass(entry);
                }
                taken
            }
            Err(error) => {
                let taken = planner.damaged(None, position, Damage::Malformed(error.clone()));
                let rest = planner.records.slice(position.min(planner.records.len())..);
                let size = size_of(&rest).unwrap_or(rest.len());
                position += size;
                entries = split(rest.slice(size..));
                taken
            }
        };
        match taken {
            Ok(Taken::Passed | Taken::Behind) => {}
            Ok(Taken::Ends) => break,
            Err(why) => {
                planner.refuse(planner.out.cursor, why);
                break;
            }
        }
    }
    planner.finish()
}

/// What became of an entry of the answer.
enum Taken {
    /// The next one may be looked at.
    Passed,
    /// It is damaged and lies before the cursor: nothing is believed of it.
    Behind,
    /// Nothing behind it is to be looked at in this call.
    Ends,
}

struct Planner<'a> {
    records: Bytes,
    view: View<'a>,
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
    fn take(&mut self, entry: &Entry, position: usize, aborted: bool) -> Result<Taken, Refused> {
        self.view.cursor = self.out.cursor;
        let verdict = judge(entry, aborted, &self.view);
        let rewritten = match verdict {
            Verdict::Forward | Verdict::Restamp => false,
            Verdict::Rewrite(_) => true,
            Verdict::Skip(skip) => {
                self.skip(skip, entry)?;
                return Ok(Taken::Passed);
            }
            Verdict::Refuse(why) => return self.damaged(Some(entry), position, Damage::Verdict(why)),
        };
        let needed = is_needed(entry, rewritten, &self.view);
        let looked = match if needed || rewritten { self.look_into(entry, needed) } else { Ok(None) } {
            Ok(looked) => looked,
            Err(damage) => return self.damaged(Some(entry), position, damage),
        };
        if !self.out.left_out.is_empty() {
            // Nothing is written any more before the ledger knows what is left out; only more of that is looked for.
            let stops = looked.is_some_and(|(_, look)| look.is_some_and(|look| look.refused.is_some()));
            let full = self.out.left_out.len() >= LEFT_OUT_RANGES_MAX;
            return Ok(if stops || full { Taken::Ends } else { Taken::Passed });
        }
        match looked {
            Some((opened, look)) if rewritten || look.as_ref().is_some_and(|look| look.changed) => {
                self.build(entry, &opened, look.as_ref())?;
            }
            None | Some(_) => self.pass_through(verdict, entry, position)?,
        }
        self.out.gaps |= has_gap(entry, self.view.cursor);
        if let Some(next) = next_offset(entry) {
            self.out.cursor = self.out.cursor.max(next);
        }
        Ok(Taken::Passed)
    }

    /// Opens an entry, and asks its records one by one where that is `needed`.
    fn look_into(&mut self, entry: &Entry, needed: bool) -> Result<Option<(Opened, Option<Look>)>, Damage> {
        // Whatever is built again gets a fresh checksum: the old one is verified first, even where it is not asked for.
        if !self.view.check_crcs {
            verified(entry)?;
        }
        let opened = Opened::of(entry).map_err(Damage::Malformed)?;
        if !needed {
            // It is written as a whole or not at all: nothing of it may be in a piece when the fault is found.
            opened.each(|_| ControlFlow::Continue(())).map_err(Damage::Malformed)?;
            return Ok(Some((opened, None)));
        }
        let (_, codec) = self.builds(entry);
        let mut left_out = self.out.left_out.clone();
        let look = look(&opened, &self.view, codec, &mut left_out).map_err(Damage::Malformed)?;
        self.out.left_out = left_out;
        Ok(Some((opened, Some(look))))
    }

    /// Passes a damaged entry, or stops in front of it.
    fn damaged(&mut self, entry: Option<&Entry>, position: usize, damage: Damage) -> Result<Taken, Refused> {
        self.view.cursor = self.out.cursor;
        let records = self.records.get(position..).unwrap_or_default();
        match pass(records, entry, &self.view, &damage) {
            Passing::Behind => return Ok(Taken::Behind),
            // Which transactions are open behind it is not known any more: the next answer will say.
            Passing::LeftOut(next) => {
                if self.out.left_out.is_empty() {
                    self.close_open()?;
                    self.pass_to(Some(next));
                    self.out.cursor = self.out.cursor.max(next);
                }
            }
            Passing::New(range) => self.out.left_out.push(range),
            Passing::Stops(offset) => self.refuse(offset, damage.into()),
        }
        Ok(Taken::Ends)
    }

    /// Writes an entry with its payload as it came.
    fn pass_through(&mut self, verdict: Verdict, entry: &Entry, position: usize) -> Result<(), Refused> {
        self.close_rewriter()?;
        if verdict == Verdict::Forward {
            self.forward(entry, position);
            if self.is_apart() {
                self.close_run();
            }
        } else {
            self.close_run();
            self.restamp(entry)?;
        }
        Ok(())
    }

    /// A plain magic 1 message towards 0.10: it joins the run before it. The broker sets the offsets.
    fn forward(&mut self, entry: &Entry, position: usize) {
        let Entry::Message(message) = entry else { return };
        let len = entry.size();
        // What was passed over is not part of a run: offsets that fall, as no honest log has them, lie behind the cursor.
        let ends = |run: &Run| run.end != position || run.end - run.start + len > self.batch_bytes_max;
        if self.run.as_ref().is_some_and(ends) {
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

    /// Writes an entry's records in pieces of their own, without those that are not mirrored, and up to the one that
    /// stops the link.
    fn build(&mut self, entry: &Entry, opened: &Opened, look: Option<&Look>) -> Result<(), Refused> {
        self.close_run();
        let mirrored = |fate: &Fate| matches!(fate, Fate::Kept | Fate::Replaced);
        if look.is_none_or(|look| look.fates.iter().any(mirrored)) {
            self.rebuild(entry, opened, look.map(|look| look.fates.as_slice()))?;
        }
        let Some(look) = look else {
            self.pass_to(next_offset(entry));
            return Ok(());
        };
        self.out.filtered += look.filtered;
        let Some((offset, loss)) = look.refused.clone() else {
            self.pass_to(next_offset(entry));
            return Ok(());
        };
        self.pass_to(Some(offset));
        self.out.cursor = self.out.cursor.max(offset);
        Err(Refused::Loss(loss))
    }

    fn rebuild(&mut self, entry: &Entry, opened: &Opened, fates: Option<&[Fate]>) -> Result<(), Refused> {
        let wanted = self.builds(entry);
        if self.rewriter.as_ref().is_some_and(|rewriter| rewriter.builds() != wanted) {
            self.close_rewriter()?;
            *self.rewriter = None;
        }
        // Nothing fits into a piece of no bytes but the one record that it begins with.
        let apart = self.is_apart();
        let batch_bytes_max = if apart { 0 } else { self.batch_bytes_max };
        let rewriter = self.rewriter.get_or_insert_with(|| Rewriter::new(wanted.0, wanted.1, batch_bytes_max));
        rewriter.set_limit(batch_bytes_max);
        let begun = rewriter.begun();
        let pushed = rewriter.push_all(opened, &self.view, fates, &mut self.out.pieces);
        self.or_back_to(begun, pushed)?;
        // A batch of magic 2 stays a piece of its own; loose messages of older formats are joined.
        if apart || matches!(entry, Entry::Batch(_)) {
            self.close_rewriter()?;
        }
        Ok(())
    }

    /// The format and codec in which the records of an entry are built again.
    fn builds(&self, entry: &Entry) -> (Magic, Codec) {
        let codec = self.codec.or_else(|| codec(entry).ok()).unwrap_or(Codec::None);
        let target = self.view.target;
        (target.magic, codec_for(target.magic, target.zstd, codec))
    }

    /// Whether the target has refused what is planned now, so that every record goes alone.
    fn is_apart(&self) -> bool {
        self.view.cursor < self.view.apart_to
    }

    fn skip(&mut self, skip: Skip, entry: &Entry) -> Result<(), Refused> {
        let slot = match skip {
            Skip::BeforeCursor => return Ok(()),
            Skip::Control => 0,
            Skip::Aborted => 1,
            Skip::Empty => 2,
        };
        if !self.out.left_out.is_empty() {
            return Ok(());
        }
        self.close_open()?;
        if let Some(count) = self.out.skipped.get_mut(slot) {
            *count += 1;
        }
        self.pass_to(next_offset(entry));
        self.out.gaps |= has_gap(entry, self.view.cursor);
        self.out.cursor = self.out.cursor.max(next_offset(entry).unwrap_or(self.out.cursor));
        Ok(())
    }

    /// Nothing before `next` is still to be written. What is passed over belongs to the piece before it, so that a
    /// checkpoint behind that piece lies behind this: the one that is being filled, else the last one. Were it the one
    /// before the one that is being filled, it would claim records that are not written yet.
    fn pass_to(&mut self, next: Option<i64>) {
        let Some(next) = next else { return };
        let filling = self.rewriter.as_mut().is_some_and(|rewriter| rewriter.pass_to(next));
        if let Some(last) = self.out.pieces.last_mut().filter(|_| !filling) {
            last.next = last.next.max(next);
        }
    }

    /// The link cannot go on past `offset`; unless it goes nowhere anyway before the ledger has been told.
    fn refuse(&mut self, offset: i64, why: Refused) {
        if self.out.left_out.is_empty() {
            self.out.refused.get_or_insert((offset, why));
        }
    }

    fn close_run(&mut self) {
        if let Some(mut run) = self.run.take() {
            run.piece.body = Body::Set { bytes: self.records.slice(run.start..run.end), wrapper: false };
            self.out.pieces.push(run.piece);
        }
    }

    fn close_rewriter(&mut self) -> Result<(), Refused> {
        let Some(rewriter) = self.rewriter.as_mut() else { return Ok(()) };
        let begun = rewriter.begun();
        let closed = rewriter.close(&mut self.out.pieces);
        self.or_back_to(begun, closed)
    }

    /// A piece that cannot be finished takes the records with it that were joined in it before: the cursor goes back to
    /// the first of them.
    fn or_back_to(&mut self, begun: Option<i64>, done: Result<(), RecordError>) -> Result<(), Refused> {
        if let (Err(_), Some(first)) = (&done, begun.filter(|_| !self.is_filling())) {
            self.out.cursor = self.out.cursor.min(first);
        }
        done.map_err(Refused::Malformed)
    }

    fn is_filling(&self) -> bool {
        self.rewriter.as_ref().is_some_and(|rewriter| rewriter.begun().is_some())
    }

    fn close_open(&mut self) -> Result<(), Refused> {
        self.close_run();
        self.close_rewriter()
    }

    fn finish(mut self) -> Outcome {
        if let Err(why) = self.close_open() {
            self.out.left_out.clear();
            self.refuse(self.out.cursor, why);
        }
        self.out
    }
}

/// Whether the checksum of an entry is that of its bytes.
fn verified(entry: &Entry) -> Result<(), Damage> {
    let checksums = match entry {
        Entry::Batch(batch) => batch.checksums(),
        Entry::Message(message) => message.checksums(),
        Entry::Partial(_) => return Ok(()),
    };
    if checksums.agree() { Ok(()) } else { Err(Damage::Verdict(Refuse::Checksum(checksums))) }
}

fn last_fingerprint(entry: &Entry, with_headers: bool) -> Result<Fingerprint, RecordError> {
    let mut last = Fingerprint::default();
    decode(entry, |record| {
        last = Fingerprint::of(&record, with_headers);
        ControlFlow::Continue(())
    })?;
    Ok(last)
}

/// The codec that a rewritten piece gets: the wanted one, or lz4 where the target does not know zstd (report B35).
fn codec_for(magic: Magic, zstd: bool, wanted: Codec) -> Codec {
    match (wanted, magic, zstd) {
        (Codec::Zstd, Magic::V1, _) | (Codec::Zstd, Magic::V2, false) => Codec::Lz4,
        (codec, Magic::V1 | Magic::V2, _) => codec,
    }
}
