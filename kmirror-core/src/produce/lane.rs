//! The write side of a link: pieces wait, get their stamp, are on their way, are acknowledged, in this order and no
//! other.
//!
//! ```text
//! push ─► queue ─► take ─► in flight ─► acknowledged ─► Proved (what a checkpoint may claim)
//!                               │
//!                               └─ any doubt: clear; the link looks at the target's log and reads again
//! ```
//! A piece is never sent twice: after doubt its bytes are dropped and fetched again from where the log says
//! (rule P16).

use std::collections::VecDeque;

use bytes::Bytes;
use kmirror_proto::records::{RawBatch, RecordError, restamp};

use super::sequence::{Producer, Sequence};
use crate::offset::{SourceOffset, TargetOffset};
use crate::plan::{Body, Fingerprint, Joiner, Piece, cut};

/// A point up to which both logs are known to agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// The source is mirrored up to here.
    pub source_next: SourceOffset,
    /// The target's log holds what we wrote up to here; where nobody else writes, it ends here.
    pub target_next: TargetOffset,
    /// The epoch of the last record written.
    pub epoch: i16,
    /// The sequence behind it in that epoch.
    pub sequence: Sequence,
    /// The last record written, where targets are told by content (0.10).
    pub fingerprint: Option<Fingerprint>,
}

/// How many requests of a link may be on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// One: until the first acknowledgement after a resume, and wherever the broker cannot be trusted to refuse what
    /// comes out of turn (rule P8).
    One,
    /// Up to so many.
    Open(usize),
    /// Up to `limit` as long as every batch around is younger than `horizon_ms`, else one: a broker that accepts
    /// unknown ids forgets a producer by the age of its records' timestamps, not by the clock, and accepts then what
    /// comes out of turn (fact E1, trace C4).
    WhileYoung {
        /// How many.
        limit: usize,
        /// Milliseconds since 1970; what is not above is old.
        horizon_ms: i64,
    },
}

/// What goes to the wire next.
#[derive(Debug)]
pub struct Outgoing {
    /// The record set, in chunks that are written one behind the other.
    pub chunks: Vec<Bytes>,
    /// Its size in bytes.
    pub bytes: usize,
    /// How many records it holds.
    pub records: u32,
}

/// How tiny batches that have to wait are joined.
#[derive(Debug)]
pub struct Joining<'a> {
    /// Who joins them.
    pub joiner: &'a mut Joiner,
    /// How large the whole may become, in bytes before compression.
    pub bytes_max: usize,
}

/// The write side of one link.
#[derive(Debug)]
pub struct Lane {
    producer: Option<Producer>,
    window: Window,
    queue: VecDeque<Queued>,
    flights: VecDeque<Flight>,
    queued_bytes: usize,
    flying_bytes: usize,
    /// The sequence of the next piece that is pushed.
    push_sequence: Sequence,
    /// Where the next request's first record has to land.
    expected: TargetOffset,
    proved: Proved,
    /// The largest timestamp of the batch that was acknowledged last.
    acknowledged_ms: Option<i64>,
}

#[derive(Debug)]
struct Queued {
    piece: Piece,
    sequence: Sequence,
    /// False for the first half of a batch that was cut: no source offset lies between the halves for certain, so
    /// nothing is proved before the second one is written.
    whole: bool,
}

#[derive(Debug)]
struct Flight {
    next: SourceOffset,
    records: u32,
    expected: TargetOffset,
    sequence_next: Sequence,
    fingerprint: Option<Fingerprint>,
    timestamp_max: i64,
    bytes: usize,
    headers_dropped: u32,
    whole: bool,
    batches: Batches,
}

/// Batches by what became of them; messages before magic 2 count by runs and wrappers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// Their payload is what it was.
    pub raw: u32,
    /// They were decoded and built again.
    pub rewritten: u32,
    /// They were tiny and joined with others.
    pub joined: u32,
}

/// What an acknowledgement set free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Bytes given back to the memory budget.
    pub bytes: usize,
    /// Records written.
    pub records: u32,
    /// Records of them whose headers the target's format cannot carry.
    pub headers_dropped: u32,
    /// The batches that held them.
    pub batches: Batches,
}

/// Where a lane's sequences begin: behind the last record, or at zero in an epoch that nothing was written in
/// (rule P14).
fn first_sequence(producer: Option<Producer>, proved: &Proved) -> Sequence {
    match producer {
        Some(producer) if producer.epoch != proved.epoch => Sequence::ZERO,
        Some(_) | None => proved.sequence,
    }
}

impl Lane {
    /// A lane that goes on at `proved`; `producer` is `None` on targets without producer ids (0.10).
    #[must_use]
    pub fn new(producer: Option<Producer>, proved: Proved) -> Self {
        Self {
            producer,
            window: Window::One,
            queue: VecDeque::new(),
            flights: VecDeque::new(),
            queued_bytes: 0,
            flying_bytes: 0,
            push_sequence: first_sequence(producer, &proved),
            expected: proved.target_next,
            proved,
            acknowledged_ms: None,
        }
    }

    /// Up to where both logs are known to agree.
    #[must_use]
    pub fn proved(&self) -> Proved {
        self.proved
    }

    /// The stamp of the next piece that is pushed.
    #[must_use]
    pub fn begins(&self) -> Option<(i16, Sequence)> {
        self.producer.map(|producer| (producer.epoch, self.push_sequence))
    }

    /// The stamp of the oldest request on its way, if nothing else is.
    #[must_use]
    pub fn alone(&self) -> Option<(i16, Sequence)> {
        let oldest = self.flights.front().filter(|_| self.flights.len() == 1)?;
        let first = oldest.sequence_next.back(u64::from(oldest.records));
        Some((self.producer?.epoch, first))
    }

    /// Who writes.
    #[must_use]
    pub fn producer(&self) -> Option<Producer> {
        self.producer
    }

    /// Bytes that wait or are on their way.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.queued_bytes + self.flying_bytes
    }

    /// Bytes that wait.
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// Whether nothing waits and nothing is on its way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.flights.is_empty()
    }

    /// Requests on their way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Where the oldest request on its way has to land; in a shared partition, where it can land at the earliest.
    #[must_use]
    pub fn expected(&self) -> TargetOffset {
        self.flights.front().map_or(self.expected, |flight| flight.expected)
    }

    /// How many requests may be on their way from now on.
    pub fn set_window(&mut self, window: Window) {
        self.window = window;
    }

    /// Takes a piece; it gets its sequence here. A batch that would straddle the wrap is cut in two.
    ///
    /// # Errors
    /// If a batch that has to be cut does not decode.
    pub fn push(&mut self, piece: Piece) -> Result<(), RecordError> {
        let room = self.push_sequence.room();
        match &piece.body {
            Body::Batch(batch) if piece.records > room && self.producer.is_some() => {
                let (head, tail) = cut(batch, room)?;
                let head = Piece { records: room, body: Body::Batch(RawBatch::from_bytes(head)?), ..piece.clone() };
                let rest = piece.records - room;
                let tail = Piece { records: rest, body: Body::Batch(RawBatch::from_bytes(tail)?), ..piece };
                self.enqueue(head, false);
                self.enqueue(tail, true);
            }
            Body::Batch(_) | Body::Set { .. } => self.enqueue(piece, true),
        }
        Ok(())
    }

    fn enqueue(&mut self, piece: Piece, whole: bool) {
        self.queued_bytes += piece.body.len();
        let sequence = self.push_sequence;
        self.push_sequence = sequence.plus(u64::from(piece.records));
        self.queue.push_back(Queued { piece, sequence, whole });
    }

    /// The source was read up to `next` and nothing more of it is to be written: markers, aborted or empty batches.
    pub fn skip_to(&mut self, next: SourceOffset) {
        if let Some(last) = self.queue.back_mut() {
            last.piece.next = last.piece.next.max(next.0);
        } else if let Some(last) = self.flights.back_mut() {
            last.next = last.next.max(next);
        } else {
            self.proved.source_next = self.proved.source_next.max(next);
        }
    }

    /// Whether [`Lane::take`] would give something.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.free() > 0 && !self.queue.is_empty()
    }

    /// How many requests more may be on their way.
    fn free(&self) -> usize {
        let limit = match self.window {
            Window::One => 1,
            Window::Open(limit) => limit,
            Window::WhileYoung { limit, horizon_ms } => {
                let around = self.flights.iter().map(|flight| flight.timestamp_max).chain(self.acknowledged_ms);
                let next = self.queue.front().map_or(i64::MAX, |next| next.piece.timestamp_max);
                if around.fold(next, i64::min) > horizon_ms { limit } else { 1 }
            }
        };
        limit.saturating_sub(self.flights.len())
    }

    /// The next request's records. Runs of plain messages go together up to `bytes_max`; a batch or a wrapper goes alone
    /// (fact R4). Where more batches wait than may be on their way, tiny ones are joined, with `joining`, into one.
    pub fn take(&mut self, bytes_max: usize, joining: Option<Joining<'_>>) -> Option<Outgoing> {
        let free = self.free();
        if free == 0 {
            return None;
        }
        let joining = joining.filter(|_| self.queue.len() > free);
        let joined = joining.and_then(|Joining { joiner, bytes_max }| joiner.join(self.joinable(), bytes_max));
        let queued = self.queue.pop_front()?;
        let mut flight = Flight::of(&queued, self.expected);
        let mut chunks = Vec::with_capacity(2);
        match (queued.piece.body, joined) {
            (Body::Batch(_), Some(joined)) => {
                for _ in 1..joined.batches {
                    let Some(next) = self.queue.pop_front() else { break };
                    flight.add(&next);
                }
                let Batches { raw, rewritten, joined: others } = flight.batches;
                flight.batches = Batches { joined: raw + rewritten + others, ..Batches::default() };
                self.stamped(&joined.batch, queued.sequence, &mut chunks);
            }
            (Body::Batch(batch), None) => self.stamped(&batch, queued.sequence, &mut chunks),
            (Body::Set { bytes, wrapper }, _) => {
                chunks.push(bytes);
                while !wrapper && self.goes_along(flight.bytes, bytes_max) {
                    let Some(next) = self.queue.pop_front() else { break };
                    flight.add(&next);
                    if let Body::Set { bytes, .. } = next.piece.body {
                        chunks.push(bytes);
                    }
                }
            }
        }
        self.queued_bytes -= flight.bytes;
        self.flying_bytes += flight.bytes;
        self.expected = flight.expected.plus(flight.records);
        let outgoing = Outgoing { bytes: chunks.iter().map(Bytes::len).sum(), chunks, records: flight.records };
        self.flights.push_back(flight);
        Some(outgoing)
    }

    /// The batches that wait, up to the first that is to stay apart: none straddles the wrap of the sequences (rule P2),
    /// and the halves of a batch that was cut for it are proved together.
    fn joinable(&self) -> impl Iterator<Item = &RawBatch> + Clone {
        let mut room = self.queue.front().map_or(0, |first| u64::from(first.sequence.room()));
        self.queue.iter().map_while(move |queued| {
            room = room.checked_sub(u64::from(queued.piece.records)).filter(|_| queued.whole)?;
            match &queued.piece.body {
                Body::Batch(batch) => Some(batch),
                Body::Set { .. } => None,
            }
        })
    }

    fn goes_along(&self, bytes: usize, bytes_max: usize) -> bool {
        self.queue.front().is_some_and(|next| match &next.piece.body {
            Body::Set { bytes: more, wrapper: false } => bytes + more.len() <= bytes_max,
            Body::Set { .. } | Body::Batch(_) => false,
        })
    }

    fn stamped(&self, batch: &RawBatch, sequence: Sequence, chunks: &mut Vec<Bytes>) {
        let stamp = self.producer.map_or(kmirror_proto::records::Stamp::NONE, |producer| producer.stamp(sequence));
        chunks.push(Bytes::copy_from_slice(&restamp(batch, stamp)));
        chunks.push(batch.payload());
    }

    /// The oldest request on its way was appended at `base_offset`. Everything in it is proved now.
    ///
    /// The audit has seen that this is where it was expected. Only in a shared partition it can lie further on, and
    /// then everything that follows does.
    pub fn acknowledge_at(&mut self, base_offset: TargetOffset) -> Released {
        let ahead = base_offset.0.saturating_sub(self.expected().0).max(0);
        for expected in self.flights.iter_mut().map(|flight| &mut flight.expected).chain([&mut self.expected]) {
            expected.0 = expected.0.saturating_add(ahead);
        }
        let Some(flight) = self.flights.pop_front() else { return Released::default() };
        self.flying_bytes -= flight.bytes;
        self.acknowledged_ms = Some(flight.timestamp_max);
        if flight.whole {
            self.proved = Proved {
                source_next: self.proved.source_next.max(flight.next),
                target_next: flight.expected.plus(flight.records),
                epoch: self.producer.map_or(0, |producer| producer.epoch),
                sequence: flight.sequence_next,
                fingerprint: flight.fingerprint,
            };
        }
        let Flight { bytes, records, headers_dropped, batches, .. } = flight;
        Released { bytes, records, headers_dropped, batches }
    }

    /// Drops everything that waits or is on its way: it will be fetched again from where the target's log says.
    /// Returns the bytes set free.
    pub fn clear(&mut self) -> usize {
        let bytes = self.held_bytes();
        self.queue.clear();
        self.flights.clear();
        self.queued_bytes = 0;
        self.flying_bytes = 0;
        self.push_sequence = first_sequence(self.producer, &self.proved);
        self.expected = self.proved.target_next;
        self.window = Window::One;
        bytes
    }

    /// Source offsets and records of the oldest request on its way: what is lost if the target refuses it for good. The
    /// halves of a batch that was cut are lost together: no source offset lies between them for certain.
    #[must_use]
    pub fn oldest(&self) -> Option<(SourceOffset, SourceOffset, u32)> {
        let oldest = self.flights.front()?;
        let second = self.flights.get(1).map(|flight| flight.records);
        let second = second.or_else(|| self.queue.front().map(|queued| queued.piece.records));
        let tail = if oldest.whole { 0 } else { second.unwrap_or(0) };
        Some((self.proved.source_next, oldest.next, oldest.records + tail))
    }

    /// Whether the oldest request on its way holds batches that were joined.
    #[must_use]
    pub fn oldest_is_joined(&self) -> bool {
        self.flights.front().is_some_and(|oldest| oldest.batches.joined > 0)
    }
}

impl Flight {
    /// Of the piece that it begins with.
    fn of(queued: &Queued, expected: TargetOffset) -> Self {
        let Queued { piece, sequence, whole } = queued;
        Self {
            next: SourceOffset(piece.next),
            records: piece.records,
            expected,
            sequence_next: sequence.plus(u64::from(piece.records)),
            fingerprint: piece.fingerprint,
            timestamp_max: piece.timestamp_max,
            bytes: piece.body.len(),
            headers_dropped: piece.headers_dropped,
            whole: *whole,
            batches: Batches { raw: u32::from(!piece.rewritten), rewritten: u32::from(piece.rewritten), joined: 0 },
        }
    }

    /// With the next piece behind it.
    fn add(&mut self, queued: &Queued) {
        let more = Self::of(queued, self.expected);
        self.next = more.next;
        self.records += more.records;
        self.sequence_next = more.sequence_next;
        self.fingerprint = more.fingerprint;
        self.timestamp_max = self.timestamp_max.max(more.timestamp_max);
        self.bytes += more.bytes;
        self.headers_dropped += more.headers_dropped;
        self.batches.raw += more.batches.raw;
        self.batches.rewritten += more.batches.rewritten;
    }
}

#[cfg(test)]
mod tests;
