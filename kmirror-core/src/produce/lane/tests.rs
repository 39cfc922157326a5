//! A lane fed and acknowledged by hand.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::RawBatch;

use super::*;
use crate::sample::{Batch, message, records_of};

mod joining;

const MIRROR: Producer = Producer { id: 9, epoch: 0 };
const LARGE: usize = 1 << 20;

fn piece(batch: &Batch) -> Piece {
    let raw = batch.raw();
    Piece {
        first: batch.base,
        next: raw.header.next_offset(),
        records: u32::try_from(raw.header.records_count).unwrap(),
        timestamp_max: raw.header.max_timestamp,
        headers_dropped: 0,
        fingerprint: None,
        rewritten: false,
        body: Body::Batch(raw),
    }
}

fn set(offset: i64, wrapper: bool) -> Piece {
    let fingerprint = Some(Fingerprint { content: offset.unsigned_abs(), timestamp: offset });
    let body = Body::Set { bytes: message(offset), wrapper };
    let (first, next) = (offset, offset + 1);
    Piece { first, next, records: 1, timestamp_max: 0, headers_dropped: 0, fingerprint, rewritten: false, body }
}

/// A lane at source and target offset 0 that may have `window` requests on their way.
fn lane(window: Window) -> Lane {
    let mut lane = Lane::new(Some(MIRROR), Proved::default());
    lane.set_window(window);
    lane
}

fn at_sequence(sequence: i32) -> Proved {
    Proved { sequence: Sequence::from_wire(sequence).unwrap(), ..Proved::default() }
}

fn sent(lane: &mut Lane) -> RawBatch {
    let outgoing = lane.take(LARGE, None).expect("something to send");
    RawBatch::from_bytes(Bytes::from(outgoing.chunks.concat())).unwrap()
}

/// The oldest request was appended where it was expected.
fn acknowledged(lane: &mut Lane) -> Released {
    lane.acknowledge_at(lane.expected())
}

fn proved(lane: &Lane) -> (i64, i64, i32) {
    let proved = lane.proved();
    (proved.source_next.0, proved.target_next.0, proved.sequence.to_wire())
}

#[test]
fn the_nth_record_has_sequence_n_also_after_doubt() {
    let batches = [Batch::new(0, 3), Batch::new(10, 2), Batch::new(12, 4)];
    let mut lane = lane(Window::Open(5));
    for batch in &batches {
        lane.push(piece(batch)).unwrap();
    }
    let first: Vec<_> = (0..3).map(|_| sent(&mut lane).header.base_sequence).collect();
    assert_eq!(first, [0, 3, 5]);
    acknowledged(&mut lane);
    lane.clear();
    for batch in &batches[1..] {
        lane.push(piece(batch)).unwrap();
    }
    assert_eq!(sent(&mut lane).header.base_sequence, 3, "the same record, the same number");
    assert_eq!(lane.expected(), TargetOffset(3));
}

#[test]
fn a_stamped_batch_is_whole_and_keeps_its_payload() {
    let batch = Batch::new(7, 3).codec(Codec::Gzip).transactional(77);
    let mut lane = Lane::new(Some(MIRROR), at_sequence(40));
    let waiting = piece(&batch);
    let Body::Batch(raw) = &waiting.body else { unreachable!() };
    let payload = raw.payload();
    lane.push(waiting.clone()).unwrap();
    let outgoing = lane.take(LARGE, None).unwrap();
    assert_eq!(outgoing.chunks[1].as_ptr(), payload.as_ptr(), "not copied");
    let written = RawBatch::from_bytes(Bytes::from(outgoing.chunks.concat())).unwrap();
    assert!(written.crc_ok());
    let header = &written.header;
    assert_eq!((header.base_offset, header.producer_id, header.producer_epoch, header.base_sequence), (0, 9, 0, 40));
    assert!(!header.attributes.transactional(), "report B06");
}

#[test]
fn without_ids_nothing_is_stamped() {
    let mut lane = Lane::new(None, Proved::default());
    lane.push(piece(&Batch::new(0, 2).stamp(5, 1, 7))).unwrap();
    assert_eq!(sent(&mut lane).header.producer_id, -1, "report B07: the source's id never goes on");
}

#[test]
fn a_batch_over_the_wrap_is_cut_and_nothing_is_proved_between_the_halves() {
    let mut lane = Lane::new(Some(MIRROR), at_sequence(i32::MAX - 1));
    lane.set_window(Window::Open(5));
    lane.push(piece(&Batch::new(100, 5).codec(Codec::Lz4))).unwrap();
    lane.push(piece(&Batch::new(105, 1))).unwrap();
    let halves = [sent(&mut lane), sent(&mut lane), sent(&mut lane)];
    let stamps: Vec<_> = halves.iter().map(|half| (half.header.base_sequence, half.header.records_count)).collect();
    assert_eq!(stamps, [(i32::MAX - 1, 2), (0, 3), (3, 1)]);
    let values: Vec<_> =
        halves.iter().flat_map(|half| records_of(half.bytes().clone())).map(|seen| seen.value).collect();
    assert_eq!(values, (100..106).map(|n| Some(format!("v{n}"))).collect::<Vec<_>>());
    assert_eq!(lane.oldest(), Some((SourceOffset(0), SourceOffset(105), 5)), "the halves are lost together");
    acknowledged(&mut lane);
    assert_eq!(proved(&lane), (0, 0, i32::MAX - 1));
    acknowledged(&mut lane);
    assert_eq!(proved(&lane), (105, 5, 3));
    acknowledged(&mut lane);
    assert_eq!((proved(&lane), lane.held_bytes()), ((106, 6, 4), 0));
}

#[test]
fn a_batch_that_ends_exactly_at_the_wrap_is_not_cut() {
    let mut lane = Lane::new(Some(MIRROR), at_sequence(i32::MAX - 2));
    lane.push(piece(&Batch::new(0, 3))).unwrap();
    assert_eq!(sent(&mut lane).header.records_count, 3);
    acknowledged(&mut lane);
    assert_eq!(proved(&lane), (3, 3, 0));
}

#[test]
fn one_at_a_time_until_the_window_opens() {
    let mut lane = Lane::new(Some(MIRROR), Proved::default());
    for n in 0..7 {
        lane.push(piece(&Batch::new(n, 1))).unwrap();
    }
    assert!(lane.take(LARGE, None).is_some() && lane.take(LARGE, None).is_none(), "rule P8");
    acknowledged(&mut lane);
    lane.set_window(Window::Open(5));
    let many = std::iter::from_fn(|| lane.take(LARGE, None)).count();
    assert_eq!((many, lane.in_flight(), lane.is_ready()), (5, 5, false));
    lane.clear();
    lane.push(piece(&Batch::new(1, 1))).unwrap();
    lane.push(piece(&Batch::new(2, 1))).unwrap();
    assert!(lane.take(LARGE, None).is_some() && lane.take(LARGE, None).is_none(), "doubt closes it again");
}

#[test]
fn old_records_go_one_at_a_time_where_the_broker_forgets_by_timestamp() {
    // trace C4: state expires, batch n is refused, batch n+1 is accepted.
    let horizon_ms = 1_000;
    let mut lane = lane(Window::WhileYoung { limit: 5, horizon_ms });
    for (n, at) in [(0, 5_000), (1, 5_000), (2, 900), (3, 5_000), (4, 5_000)] {
        lane.push(Piece { timestamp_max: at, ..piece(&Batch::new(n, 1)) }).unwrap();
    }
    let mut flying = || std::iter::from_fn(|| lane.take(LARGE, None)).count();
    assert_eq!(flying(), 2, "the old one waits for those before it");
    acknowledged(&mut lane);
    assert!(lane.take(LARGE, None).is_none());
    acknowledged(&mut lane);
    assert!(lane.take(LARGE, None).is_some() && lane.take(LARGE, None).is_none(), "and goes alone");
    acknowledged(&mut lane);
    assert!(
        lane.take(LARGE, None).is_some() && lane.take(LARGE, None).is_none(),
        "the newest stamp in the log is an old one"
    );
    acknowledged(&mut lane);
    assert!(lane.take(LARGE, None).is_some());
}

#[test]
fn plain_messages_share_a_request_up_to_the_limit() {
    let mut lane = Lane::new(None, Proved::default());
    let one = message(0).len();
    for n in 0..5 {
        lane.push(set(n, false)).unwrap();
    }
    let outgoing = lane.take(3 * one, None).unwrap();
    assert_eq!((outgoing.records, outgoing.bytes, outgoing.chunks.len()), (3, 3 * one, 3));
    acknowledged(&mut lane);
    assert_eq!((proved(&lane).0, proved(&lane).1), (3, 3));
    assert_eq!(lane.proved().fingerprint.map(|last| last.content), Some(2), "the last record of the request");
    assert_eq!(
        lane.take(1, None).map(|outgoing| outgoing.records),
        Some(1),
        "one always goes, however little room there is"
    );
}

#[test]
fn a_wrapper_goes_alone() {
    // fact R4: two wrappers in one request are merged, or refused.
    let mut lane = Lane::new(None, Proved::default());
    lane.set_window(Window::Open(5));
    for (n, wrapper) in [(0, false), (1, true), (2, true), (3, false), (4, false)] {
        lane.push(set(n, wrapper)).unwrap();
    }
    let records: Vec<_> = std::iter::from_fn(|| lane.take(LARGE, None)).map(|outgoing| outgoing.records).collect();
    assert_eq!(records, [1, 1, 1, 2]);
}

#[test]
fn what_is_proved_only_grows() {
    let mut lane = lane(Window::Open(5));
    let mut last = (0, 0);
    for n in 0..20 {
        lane.push(piece(&Batch::new(n * 3, 2))).unwrap();
        lane.skip_to(SourceOffset(n * 3 + 3));
        lane.skip_to(SourceOffset(n * 3 - 50));
        if n % 3 > 0 {
            lane.take(LARGE, None);
        }
        if n % 5 == 4 {
            acknowledged(&mut lane);
        }
        let (source, target, _) = proved(&lane);
        assert!(source >= last.0 && target >= last.1, "{last:?} then {source}, {target}");
        last = (source, target);
    }
    assert!(last.1 > 0);
}

#[test]
fn what_is_skipped_counts_once_everything_before_it_is_written() {
    let mut lane = lane(Window::Open(5));
    lane.skip_to(SourceOffset(4));
    assert_eq!(proved(&lane), (4, 0, 0), "nothing before it");
    lane.push(piece(&Batch::new(4, 2))).unwrap();
    lane.skip_to(SourceOffset(8));
    assert_eq!(proved(&lane), (4, 0, 0), "a piece waits");
    lane.take(LARGE, None);
    lane.skip_to(SourceOffset(9));
    assert_eq!(proved(&lane), (4, 0, 0), "it is on its way");
    acknowledged(&mut lane);
    assert_eq!(proved(&lane), (9, 2, 2));
}

#[test]
fn every_byte_that_is_taken_is_given_back() {
    let mut lane = lane(Window::Open(2));
    let mut taken = 0;
    for n in 0..6 {
        let piece = piece(&Batch::new(n, 1).padding(usize::try_from(n).unwrap() * 10));
        taken += piece.body.len();
        lane.push(piece).unwrap();
    }
    assert_eq!((lane.held_bytes(), lane.queued_bytes()), (taken, taken));
    let flying: usize = std::iter::from_fn(|| lane.take(LARGE, None)).map(|outgoing| outgoing.bytes).sum();
    assert_eq!((lane.held_bytes(), lane.queued_bytes()), (taken, taken - flying));
    let released = acknowledged(&mut lane);
    assert_eq!(lane.clear() + released.bytes, taken);
    assert_eq!((lane.held_bytes(), lane.queued_bytes(), lane.is_idle()), (0, 0, true));
    assert_eq!(acknowledged(&mut lane), Released::default(), "an answer nobody waits for is worth nothing");
}

#[test]
fn among_others_every_answer_moves_what_follows() {
    let mut lane = lane(Window::Open(5));
    for batch in [Batch::new(0, 3), Batch::new(3, 2), Batch::new(5, 1)] {
        lane.push(piece(&batch)).unwrap();
    }
    (0..2).for_each(|_| drop(lane.take(LARGE, None)));
    // A neighbour wrote four records before the first, and ten between the two.
    lane.acknowledge_at(TargetOffset(4));
    assert_eq!((proved(&lane), lane.expected()), ((3, 7, 3), TargetOffset(7)), "not before the end of the first");
    lane.take(LARGE, None);
    lane.acknowledge_at(TargetOffset(17));
    assert_eq!((proved(&lane), lane.expected()), ((5, 19, 5), TargetOffset(19)));
    lane.clear();
    lane.push(piece(&Batch::new(5, 1))).unwrap();
    assert_eq!((sent(&mut lane).header.base_sequence, lane.expected()), (5, TargetOffset(19)));
}

#[test]
fn among_others_the_halves_of_a_batch_may_lie_apart() {
    let mut lane = Lane::new(Some(MIRROR), at_sequence(i32::MAX));
    lane.set_window(Window::Open(5));
    lane.push(piece(&Batch::new(0, 3))).unwrap();
    (0..2).for_each(|_| drop(lane.take(LARGE, None)));
    lane.acknowledge_at(TargetOffset(8));
    assert_eq!((proved(&lane), lane.expected()), ((0, 0, i32::MAX), TargetOffset(9)));
    lane.acknowledge_at(TargetOffset(20));
    assert_eq!(proved(&lane), (3, 22, 2));
}
