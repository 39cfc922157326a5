//! Partitions that several links write to, each with a producer id of its own (rule P22).

use std::collections::{BTreeMap, VecDeque};

use super::*;
use crate::plan::{Body, Piece};
use crate::produce::{Audit, Lane, Verdict, Window, audit};
use crate::sample::Batch;

const NEIGHBOUR: i64 = 11;

fn shared(checkpoint: Option<Checkpoint>) -> Resume {
    Resume::new("t", 0, Tenancy::Shared, checkpoint, SourceOffset(7), Some(MIRROR), None)
}

/// A log of batches by producer id, epoch, sequence and count, from `start` on.
fn log_from(start: i64, batches: &[(i64, i16, i32, i32)]) -> Target {
    let mut base = start;
    let mut log = Vec::new();
    for (id, epoch, sequence, count) in batches {
        log.push(Batch::new(base, *count).stamp(*id, *epoch, *sequence).bytes());
        base += i64::from(*count);
    }
    Target { start, ..Target::of(log) }
}

fn log(batches: &[(i64, i16, i32, i32)]) -> Target {
    log_from(0, batches)
}

/// How many were written, behind which target offset the last of them ends, and the next sequence.
fn place(course: &Course) -> (u64, i64, i32) {
    let found = course.outcome.clone().expect("a place");
    (found.written, found.target_next.0, found.stamp.1.to_wire())
}

#[test]
fn what_others_write_is_passed_over_and_ours_is_counted_by_its_sequence() {
    let before = [(9, 0, 0, 5), (NEIGHBOUR, 0, 0, 3)];
    let after = [(9, 0, 5, 2), (NEIGHBOUR, 0, 3, 10), (-1, -1, -1, 1), (9, 0, 7, 4), (NEIGHBOUR, 1, 0, 6)];
    let target = log(&[before.as_slice(), &after].concat());
    let course = run(shared(Some(checkpoint(40, 5, 5))), &target);
    assert_eq!(place(&course), (6, 25, 11));
    let found = course.outcome.unwrap();
    assert_eq!((found.from.target_next.0, found.guarded, found.tail_expired), (5, true, false));
    assert!(found.last.is_some(), "our last record, not the log's");
    let none = run(shared(Some(checkpoint(40, 5, 5))), &log(&before));
    assert_eq!(place(&none), (0, 5, 5), "what they wrote behind the checkpoint is not ours");
}

#[test]
fn a_link_begins_at_the_end_and_counts_from_there_whatever_comes_between() {
    let found = run(shared(None), &log(&[(NEIGHBOUR, 0, 0, 5)])).outcome.unwrap();
    assert_eq!((found.origin, found.from.target_next.0, found.target_next.0, found.written), (true, 5, 5, 0));
    let later = [(NEIGHBOUR, 0, 0, 5), (NEIGHBOUR, 0, 5, 2), (9, 0, 0, 3), (NEIGHBOUR, 0, 7, 1)];
    assert_eq!(place(&run(shared(Some(origin(7, 5))), &log(&later[..2]))), (0, 5, 0));
    assert_eq!(place(&run(shared(Some(origin(7, 5))), &log(&later))), (3, 10, 3));
}

#[test]
fn the_batch_that_ends_at_the_checkpoint_proves_it() {
    for at_checkpoint in [(NEIGHBOUR, 0, 0, 3), (9, 0, 4, 3), (9, 1, 5, 3)] {
        let target = log(&[(9, 0, 0, 5), at_checkpoint, (9, 0, 8, 1)]);
        let course = run(shared(Some(checkpoint(40, 8, 8))), &target);
        assert_eq!(course.outcome, Err(Impossible::Unproved { checkpoint: TargetOffset(8) }), "{at_checkpoint:?}");
    }
    let lost = run(shared(Some(checkpoint(40, 8, 8))), &log(&[(9, 0, 0, 5)]));
    assert_eq!(lost.outcome, Err(Impossible::Lost { end: TargetOffset(5), checkpoint: TargetOffset(8) }));
}

#[test]
fn a_gap_a_repetition_or_a_zombie_among_ours_stops_the_link() {
    let begun = [(9, 0, 0, 5), (NEIGHBOUR, 0, 0, 2), (9, 1, 0, 2)];
    for (epoch, sequence) in [(1, 3), (1, 0), (1, 1), (0, 5), (2, 1), (1, -1)] {
        let target = log(&[begun.as_slice(), &[(NEIGHBOUR, 0, 2, 1), (9, epoch, sequence, 1)]].concat());
        let course = run(shared(Some(checkpoint(40, 5, 5))), &target);
        let foreign = Err(Impossible::Foreign { offset: 10, producer_id: 9 });
        assert_eq!(course.outcome, foreign, "{epoch} {sequence}");
    }
    let mut target = log(&begun);
    target.log.push(Batch::marker(9, 9, 1).bytes());
    assert!(matches!(run(shared(Some(checkpoint(40, 5, 5))), &target).outcome, Err(Impossible::Foreign { .. })));
}

#[test]
fn a_raised_epoch_of_ours_begins_at_zero_and_is_counted_on() {
    let target = log(&[(9, 0, 0, 5), (9, 0, 5, 1), (NEIGHBOUR, 7, 0, 2), (9, 1, 0, 2), (9, 1, 2, 3)]);
    let course = run(shared(Some(checkpoint(40, 5, 5))), &target);
    assert_eq!(place(&course), (6, 13, 5));
    let found = course.outcome.unwrap();
    assert_eq!((found.stamp.0, found.producer), (1, Some(Producer { epoch: 1, ..MIRROR })), "not the neighbour's");
}

#[test]
fn the_distance_goes_over_the_wrap() {
    let last = i32::MAX;
    let target = log(&[(9, 0, last - 2, 1), (NEIGHBOUR, 0, 0, 9), (9, 0, last - 1, 2), (9, 0, 0, 4)]);
    assert_eq!(place(&run(shared(Some(checkpoint(40, 1, last - 1))), &target)), (6, 16, 4));
    let expired = log_from(20, &[(NEIGHBOUR, 0, 0, 9), (9, 0, 3, 2)]);
    assert_eq!(place(&run(shared(Some(checkpoint(40, 1, last - 1))), &expired)), (7, 31, 5));
}

#[test]
fn where_retention_took_the_proof_a_later_batch_of_ours_says_how_many_there_were() {
    // hole H7: 4 of ours are gone between the checkpoint and what is left.
    let left = log_from(20, &[(NEIGHBOUR, 0, 0, 3), (9, 0, 12, 2), (NEIGHBOUR, 0, 3, 1), (9, 0, 14, 1)]);
    let course = run(shared(Some(checkpoint(40, 8, 8))), &left);
    assert_eq!(place(&course), (7, 27, 15));
    assert!(course.outcome.unwrap().tail_expired);
    // The first write of a link, too.
    assert_eq!(place(&run(shared(Some(origin(7, 8))), &log_from(20, &[(9, 0, 4, 2)]))), (6, 22, 6));
    // Records deleted up to the middle of a batch leave its header.
    let cut = Target { start: 10, ..log_from(8, &[(9, 0, 8, 4), (9, 0, 12, 1)]) };
    assert_eq!(place(&run(shared(Some(checkpoint(40, 8, 8))), &cut)), (5, 13, 13));
    let gap = log_from(20, &[(9, 0, 12, 2), (NEIGHBOUR, 0, 0, 1), (9, 0, 15, 1)]);
    assert!(matches!(run(shared(Some(checkpoint(40, 8, 8))), &gap).outcome, Err(Impossible::Foreign { .. })));
}

#[test]
fn a_distance_that_the_missing_offsets_cannot_hold_is_no_proof() {
    // The log was cut and grew again: what is left of ours lies before the checkpoint, or is too far on.
    for sequence in [3, 7, 21, 40] {
        let course = run(shared(Some(checkpoint(40, 8, 8))), &log_from(20, &[(9, 0, sequence, 2)]));
        let unproved = Err(Impossible::Unproved { checkpoint: TargetOffset(8) });
        assert_eq!(course.outcome, unproved, "{sequence}");
    }
    // Nothing is missing behind the checkpoint, only its proof: no record of ours can be.
    let course = run(shared(Some(checkpoint(40, 8, 8))), &log_from(8, &[(NEIGHBOUR, 0, 0, 9), (9, 0, 9, 1)]));
    assert_eq!(course.outcome, Err(Impossible::Unproved { checkpoint: TargetOffset(8) }));
    assert_eq!(place(&run(shared(Some(checkpoint(40, 8, 8))), &log_from(8, &[(9, 0, 8, 1)]))), (1, 9, 9));
}

#[test]
fn nothing_of_ours_left_means_that_nothing_can_be_counted() {
    // trace C13: a count of 0 would write it all again.
    let uncounted =
        |checkpoint, log_start| Err(Impossible::Uncounted { checkpoint: TargetOffset(checkpoint), log_start });
    for target in [log_from(20, &[(NEIGHBOUR, 0, 0, 3)]), log_from(20, &[])] {
        assert_eq!(run(shared(Some(checkpoint(40, 8, 8))), &target).outcome, uncounted(8, 20));
        assert_eq!(run(shared(Some(origin(7, 8))), &target).outcome, uncounted(8, 20));
    }
    // Of an epoch that ended meanwhile the number is lost, too.
    let raised = log_from(20, &[(9, 1, 0, 3)]);
    assert_eq!(run(shared(Some(checkpoint(40, 8, 8))), &raised).outcome, uncounted(8, 20));
    // A log that ends where the checkpoint says cannot hold anything behind it.
    assert_eq!(place(&run(shared(Some(checkpoint(40, 8, 8))), &log_from(8, &[]))), (0, 8, 8));
}

/// A partition as a broker of 0.11 or newer keeps it: the next sequence per producer id, and the last batch's place.
#[derive(Default)]
struct Broker {
    end: i64,
    log: Vec<Bytes>,
    /// Producer id → next sequence, and base sequence and offset of the last batch.
    producers: BTreeMap<i64, (i32, i32, i64)>,
}

impl Broker {
    /// Error and base offset of the answer.
    fn append(&mut self, batch: &Bytes) -> (ErrorCode, i64) {
        let Entry::Batch(raw) = entry(batch) else { panic!("not a batch") };
        let header = raw.header;
        let last = self.producers.get(&header.producer_id).copied();
        if let Some((_, sequence, base)) = last.filter(|(_, sequence, _)| *sequence == header.base_sequence) {
            assert!(sequence >= 0);
            return (ErrorCode::NONE, base);
        }
        if last.map_or(0, |(next, ..)| next) != header.base_sequence {
            return (ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, -1);
        }
        let base = self.end;
        self.producers
            .insert(header.producer_id, (header.base_sequence + header.records_count, header.base_sequence, base));
        let mut stored = batch.to_vec();
        stored[..8].copy_from_slice(&base.to_be_bytes());
        self.log.push(stored.into());
        self.end += i64::from(header.records_count);
        (ErrorCode::NONE, base)
    }

    fn target(&self) -> Target {
        Target { end: Some(self.end), ..Target::of(self.log.clone()) }
    }
}

/// A link that copies batches of three records: its lane, and how far it has read.
struct Writer {
    producer: Producer,
    lane: Lane,
    read: i64,
    out: VecDeque<Bytes>,
}

impl Writer {
    fn new(id: i64, origin: i64) -> Self {
        let producer = Producer { id, epoch: 0 };
        let proved = Proved { target_next: TargetOffset(origin), ..Proved::default() };
        Self { producer, lane: Lane::new(Some(producer), proved), read: 0, out: VecDeque::new() }
    }

    /// Reads a batch and puts it on its way.
    fn send(&mut self) {
        let raw = Batch::new(self.read, 3).raw();
        let (first, next) = (self.read, self.read + 3);
        self.read = next;
        let body = Body::Batch(raw);
        let (fingerprint, timestamp_max) = (None, T0);
        let piece =
            Piece { first, next, records: 3, timestamp_max, headers_dropped: 0, fingerprint, rewritten: false, body };
        self.lane.push(piece).unwrap();
        let outgoing = self.lane.take(usize::MAX, None).expect("the window is open");
        self.out.push_back(Bytes::from(outgoing.chunks.concat()));
    }

    /// Takes the answer to the oldest request.
    fn answered(&mut self, (error, base_offset): (ErrorCode, i64)) -> Verdict {
        let expected = self.lane.expected();
        let verdict = audit(Audit { error, base_offset, expected, tenancy: Tenancy::Shared });
        if verdict == Verdict::Written {
            self.lane.acknowledge_at(TargetOffset(base_offset));
            self.lane.set_window(Window::Open(5));
        }
        verdict
    }

    /// Finds its place again, as after a crash: from the last checkpoint, with nothing in memory.
    fn resume(&mut self, checkpoint: Checkpoint, broker: &Broker) -> u64 {
        let resume = Resume::new("t", 0, Tenancy::Shared, Some(checkpoint), SourceOffset(0), Some(self.producer), None);
        let found = run(resume, &broker.target()).outcome.unwrap();
        let read = found.from.source_next.0 + i64::try_from(found.written).unwrap();
        let (epoch, sequence) = found.stamp;
        let target_next = found.target_next;
        let proved = Proved { source_next: SourceOffset(read), target_next, epoch, sequence, fingerprint: None };
        *self = Self { lane: Lane::new(found.producer, proved), read, out: VecDeque::new(), ..*self };
        found.written
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint::new(&self.lane.proved(), Some(self.producer), -1, false, 0)
    }
}

#[test]
fn two_writers_a_crash_of_one_and_its_late_request() {
    let mut broker = Broker::default();
    let (mut one, mut other) = (Writer::new(9, 0), Writer::new(NEIGHBOUR, 0));
    for _ in 0..3 {
        for writer in [&mut one, &mut other] {
            writer.send();
            let batch = writer.out.pop_front().unwrap();
            assert_eq!(writer.answered(broker.append(&batch)), Verdict::Written);
        }
    }
    let checkpoint = one.checkpoint();
    assert_eq!((checkpoint.source_next().0, checkpoint.target_next().0), (9, 15));

    // Two more: the first is appended and its answer lost, the second is still on its way when the writer dies.
    one.send();
    one.send();
    let (appended, late) = (one.out.pop_front().unwrap(), one.out.pop_front().unwrap());
    broker.append(&appended);
    other.send();
    let batch = other.out.pop_front().unwrap();
    assert_eq!(other.answered(broker.append(&batch)), Verdict::Written);

    assert_eq!(one.resume(checkpoint, &broker), 3);
    assert_eq!((one.read, one.lane.expected()), (12, TargetOffset(21)));
    // Now it lands. The same record under the same number: the broker lets one of the two succeed.
    assert_eq!(broker.append(&late).0, ErrorCode::NONE);
    one.send();
    let again = one.out.pop_front().unwrap();
    let answer = broker.append(&again);
    assert_eq!((answer.1, broker.end), (24, 27), "nothing was appended twice");
    assert_eq!(one.answered(answer), Verdict::Written);
    assert_eq!(one.lane.proved().target_next, TargetOffset(27));

    // An answer that names an older place than what is proved is not this batch's.
    one.send();
    assert_eq!(one.answered((ErrorCode::NONE, 18)), Verdict::Elsewhere { base_offset: 18 });

    let mut source = BTreeMap::<i64, Vec<i32>>::new();
    for stored in &broker.log {
        let Entry::Batch(raw) = entry(stored) else { panic!("not a batch") };
        source.entry(raw.header.producer_id).or_default().push(raw.header.base_sequence);
    }
    assert_eq!(source, [(9, vec![0, 3, 6, 9, 12]), (NEIGHBOUR, vec![0, 3, 6, 9])].into());
}
