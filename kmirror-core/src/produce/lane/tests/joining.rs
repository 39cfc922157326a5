//! What a lane joins, and when.

use super::*;

/// The next request, with joining, as (batches' first sequence, records).
fn taken(lane: &mut Lane) -> Option<(i32, u32)> {
    let mut joiner = Joiner::default();
    let outgoing = lane.take(LARGE, Some(Joining { joiner: &mut joiner, bytes_max: 10_000 }))?;
    let batch = RawBatch::from_bytes(Bytes::from(outgoing.chunks.concat())).unwrap();
    assert!(batch.crc_ok());
    assert_eq!(i64::from(batch.header.records_count), i64::from(outgoing.records));
    assert_eq!(outgoing.bytes, batch.bytes().len());
    Some((batch.header.base_sequence, outgoing.records))
}

fn filled(mut lane: Lane, batches: i64) -> Lane {
    for n in 0..batches {
        lane.push(piece(&Batch::new(n * 2, 2))).unwrap();
    }
    lane
}

#[test]
fn what_can_go_at_once_goes_as_it_came() {
    let mut lane = filled(lane(Window::Open(5)), 5);
    let requests: Vec<_> = std::iter::from_fn(|| taken(&mut lane)).collect();
    assert_eq!(requests, [(0, 2), (2, 2), (4, 2), (6, 2), (8, 2)]);
    assert_eq!(acknowledged(&mut lane).batches, Batches { raw: 1, rewritten: 0, joined: 0 });
}

#[test]
fn what_has_to_wait_is_joined() {
    let mut lane = filled(lane(Window::One), 7);
    assert_eq!((taken(&mut lane), taken(&mut lane)), (Some((0, 14)), None));
    assert!(lane.oldest_is_joined());
    assert_eq!(lane.oldest(), Some((SourceOffset(0), SourceOffset(14), 14)));
    assert_eq!(lane.alone(), Some((0, Sequence::ZERO)));
    let released = acknowledged(&mut lane);
    assert_eq!((released.records, released.batches), (14, Batches { raw: 0, rewritten: 0, joined: 7 }));
    assert_eq!((proved(&lane), lane.held_bytes()), ((14, 14, 14), 0));
}

#[test]
fn a_joined_batch_stays_within_its_size() {
    let mut lane = lane(Window::One);
    for n in 0..6 {
        lane.push(piece(&Batch::new(n, 1).padding(4_000))).unwrap();
    }
    let mut records = Vec::new();
    while let Some((_, count)) = taken(&mut lane) {
        records.push(count);
        acknowledged(&mut lane);
    }
    assert_eq!(records, [2, 2, 2]);
    assert_eq!(proved(&lane), (6, 6, 6));
}

#[test]
fn no_joined_batch_straddles_the_wrap() {
    // rule P2
    let mut lane = Lane::new(Some(MIRROR), at_sequence(i32::MAX - 4));
    lane = filled(lane, 5);
    let mut requests = Vec::new();
    while let Some(request) = taken(&mut lane) {
        requests.push(request);
        acknowledged(&mut lane);
    }
    // Two whole ones, the half before the wrap, and behind it the other half with what follows.
    assert_eq!(requests, [(i32::MAX - 4, 4), (i32::MAX, 1), (0, 5)]);
    assert_eq!(proved(&lane), (10, 10, 5));
}

#[test]
fn what_is_passed_over_behind_a_joined_batch_counts_with_it() {
    let mut lane = filled(lane(Window::One), 3);
    lane.skip_to(SourceOffset(20));
    assert_eq!(taken(&mut lane), Some((0, 6)));
    acknowledged(&mut lane);
    assert_eq!(proved(&lane), (20, 6, 6));
}

#[test]
fn the_youngest_record_says_how_old_a_joined_batch_is() {
    // fact E1: a broker goes by the largest timestamp of the batch.
    let mut lane = lane(Window::One);
    lane.push(piece(&Batch::new(0, 1))).unwrap();
    let mut old = Batch::new(1, 1);
    old.t0 -= 2 * 86_400_000;
    lane.push(piece(&old)).unwrap();
    assert_eq!(taken(&mut lane), Some((0, 2)));
    acknowledged(&mut lane);
    lane.push(piece(&Batch::new(2, 1))).unwrap();
    lane.set_window(Window::WhileYoung { limit: 5, horizon_ms: crate::sample::T0 - 1 });
    lane.take(LARGE, None);
    lane.push(piece(&Batch::new(3, 1))).unwrap();
    assert!(lane.is_ready());
}

#[test]
fn batches_that_were_built_again_are_joined_too() {
    let mut lane = lane(Window::One);
    for n in 0..3 {
        lane.push(Piece { rewritten: n == 1, ..piece(&Batch::new(n, 1)) }).unwrap();
    }
    assert_eq!(taken(&mut lane), Some((0, 3)));
    assert_eq!(acknowledged(&mut lane).batches.joined, 3);
}

#[test]
fn without_joining_each_goes_as_it_came() {
    let mut lane = filled(lane(Window::One), 3);
    let mut sequences = Vec::new();
    for n in 0..3 {
        let stored = Batch::new(n * 2, 2).raw();
        let batch = sent(&mut lane);
        assert_eq!(batch.payload(), stored.payload(), "byte for byte");
        sequences.push(batch.header.base_sequence);
        assert!(!lane.oldest_is_joined());
        acknowledged(&mut lane);
    }
    assert_eq!(sequences, [0, 2, 4]);
}
