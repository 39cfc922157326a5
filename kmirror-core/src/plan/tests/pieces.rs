//! Magic 2 sources: what is written, in which pieces, and where the cursor stands afterwards.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::AbortedTransaction;
use kmirror_proto::records::RawBatch;

use super::super::{Body, Refuse, Refused, View, plan};
use super::{Seen, V1, V2, bytes_of, consumed, contents, planned, planned_up_to, ranges, view};
use crate::fetch::Aborted;
use crate::sample::{Batch, T0, joined, message, records_of, wrapper};

#[test]
fn the_raw_path_copies_nothing() {
    let log = joined(&[Batch::new(5, 3).codec(Codec::Gzip).bytes(), Batch::new(8, 2).bytes()]);
    let outcome = planned(log.clone(), 5, V2);
    assert_eq!(ranges(&outcome), [(5, 8), (8, 10)]);
    let begin = log.as_ptr() as usize;
    for piece in &outcome.pieces {
        let Body::Batch(batch) = &piece.body else { panic!("{piece:?}") };
        let payload = batch.payload();
        let at = payload.as_ptr() as usize - begin;
        assert_eq!(payload, log.slice(at..at + payload.len()), "a view into the answer itself");
        assert!(!piece.rewritten);
    }
    assert_eq!((outcome.cursor, outcome.skipped, outcome.gaps), (10, [0, 0, 0], false));
}

#[test]
fn a_batch_that_begins_before_the_cursor_is_cut_at_it() {
    // fact F4: a fetch inside of a batch answers with the whole batch.
    for codec in [Codec::None, Codec::Gzip] {
        let log = joined(&[Batch::new(5, 4).codec(codec).headers(2).bytes(), Batch::new(9, 1).bytes()]);
        let outcome = planned(log.clone(), 7, V2);
        assert_eq!(ranges(&outcome), [(7, 9), (9, 10)]);
        assert_eq!(contents(&outcome), consumed(log, 7));
        assert_eq!(outcome.pieces.iter().map(|piece| piece.rewritten).collect::<Vec<_>>(), [true, false]);
    }
}

#[test]
fn a_compacted_tail_moves_the_cursor_behind_what_is_missing() {
    // report B01: the next offset comes from the batch, not from its last record.
    let log = Batch::gapped(0, vec![0], 2).bytes();
    for cursor in [0, 1, 2] {
        let outcome = planned(log.clone(), cursor, V2);
        assert_eq!(outcome.cursor, 3, "from {cursor}");
        assert_eq!(contents(&outcome), consumed(log.clone(), cursor));
        assert!(outcome.gaps);
    }
    assert_eq!(ranges(&planned(log, 0, V2)), [(0, 3)]);
}

#[test]
fn gaps_are_closed_and_nothing_else_changes() {
    for codec in [Codec::None, Codec::Gzip, Codec::Lz4] {
        let log = Batch::gapped(10, vec![2, 6, 7], 9).codec(codec).headers(1).bytes();
        let outcome = planned(log.clone(), 10, V2);
        let written = records_of(bytes_of(&outcome.pieces[0]));
        assert_eq!(written.iter().map(|seen| seen.offset).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(contents(&outcome), consumed(log, 10));
        assert_eq!((outcome.pieces[0].first, outcome.pieces[0].next), (12, 20));
    }
}

#[test]
fn append_time_becomes_the_records_own() {
    let at = T0 + 1_000_000;
    let log = Batch::new(5, 3).codec(Codec::Gzip).append_time(at).bytes();
    let outcome = planned(log.clone(), 5, V2);
    assert!(contents(&outcome).iter().all(|seen| seen.timestamp == at));
    assert_eq!(contents(&outcome), consumed(log, 5));
    let Body::Batch(batch) = &outcome.pieces[0].body else { panic!("not a batch") };
    assert!(!batch.header.attributes.append_time(), "fact R8: the bit is refused");
    assert_eq!(batch.header.max_timestamp, at);
}

#[test]
fn skipped_batches_move_the_cursor_and_belong_to_the_piece_before() {
    let log = joined(&[
        Batch::marker(4, 1, 1).bytes(),
        Batch::new(5, 2).transactional(7).bytes(),
        Batch::marker(7, 7, 1).bytes(),
        Batch::gapped(8, vec![], 3).bytes(),
        Batch::new(12, 1).bytes(),
        Batch::marker(13, 1, 0).bytes(),
    ]);
    let outcome = planned(log, 4, V2);
    assert_eq!(ranges(&outcome), [(5, 12), (12, 14)]);
    assert_eq!((outcome.cursor, outcome.skipped), (14, [3, 0, 1]));
}

#[test]
fn aborted_records_are_left_out_and_committed_ones_are_not() {
    // report B05: A commits 0-1, aborts 3-4; B begins, A begins, B 6, A 7, B 8, A commits, B aborts.
    let log = joined(&[
        Batch::new(0, 2).transactional(1).bytes(),
        Batch::marker(2, 1, 1).bytes(),
        Batch::new(3, 2).codec(Codec::Gzip).transactional(1).bytes(),
        Batch::marker(5, 1, 0).bytes(),
        Batch::new(6, 1).transactional(2).bytes(),
        Batch::new(7, 1).transactional(1).bytes(),
        Batch::new(8, 1).transactional(2).bytes(),
        Batch::marker(9, 1, 1).bytes(),
        Batch::marker(10, 2, 0).bytes(),
    ]);
    let list = [(1, 3), (2, 6)].map(|(producer_id, first_offset)| AbortedTransaction { producer_id, first_offset });
    for target in [V1, V2] {
        let outcome = plan(log.clone(), Aborted::new(Some(&list)), &view(0, target), None, 800_000, &mut None);
        let values: Vec<_> = contents(&outcome).into_iter().filter_map(|seen| seen.value).collect();
        assert_eq!(values, ["v0", "v1", "v7"]);
        assert_eq!((outcome.cursor, outcome.skipped), (11, [4, 3, 0]));
        assert_eq!(outcome.pieces.last().map(|piece| piece.next), Some(11));
    }
    let all = planned(log, 0, V2);
    assert_eq!(contents(&all).len(), 7, "with read_uncommitted all records, still no markers");
}

#[test]
fn a_magic_2_source_is_built_up_for_0_10() {
    for codec in [Codec::None, Codec::Gzip, Codec::Lz4] {
        let log = joined(&[
            Batch::new(5, 3).codec(codec).headers(2).bytes(),
            Batch::new(8, 2).codec(codec).append_time(T0 + 500).bytes(),
        ]);
        let outcome = planned(log.clone(), 6, V1);
        let without_headers = |seen: Seen| Seen { headers: 0, ..seen };
        let wanted: Vec<_> = consumed(log, 6).into_iter().map(without_headers).collect();
        assert_eq!(contents(&outcome), wanted);
        assert_eq!(ranges(&outcome), [(6, 8), (8, 10)]);
        assert_eq!(outcome.pieces.iter().map(|piece| piece.headers_dropped).collect::<Vec<_>>(), [2, 0]);
        for piece in &outcome.pieces {
            let Body::Set { wrapper, .. } = &piece.body else { panic!("{piece:?}") };
            assert_eq!(*wrapper, codec != Codec::None);
            assert!(piece.fingerprint.is_some(), "0.10 is told by content");
        }
    }
}

#[test]
fn what_is_built_stays_under_the_batch_size() {
    let log = Batch::gapped(0, (0..40).map(|n| n * 2).collect(), 80).padding(100).bytes();
    for (target, codec) in [(V1, Codec::None), (V1, Codec::Gzip), (V2, Codec::None), (V2, Codec::Gzip)] {
        let outcome = plan(log.clone(), Aborted::default(), &view(0, target), Some(codec), 1000, &mut None);
        assert!(outcome.pieces.len() >= 5, "{} pieces", outcome.pieces.len());
        assert!(outcome.pieces.iter().all(|piece| piece.body.len() <= 1000));
        assert_eq!(contents(&outcome), consumed(log.clone(), 0));
        for pair in ranges(&outcome).windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{pair:?}");
        }
        assert_eq!((outcome.pieces.last().unwrap().next, outcome.cursor), (81, 81));
    }
}

#[test]
fn a_record_larger_than_the_batch_size_goes_alone() {
    let log = Batch::gapped(0, vec![0, 2, 4], 4).padding(2000).bytes();
    let outcome = planned_up_to(log, 0, V2, 1000);
    assert_eq!(outcome.pieces.iter().map(|piece| piece.records).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn a_cut_off_tail_is_asked_for_again_from_where_it_begins() {
    let (first, second) = (Batch::new(0, 2).bytes(), Batch::new(2, 50).bytes());
    let log = joined(&[first, second.slice(..100)]);
    let outcome = planned(log, 0, V2);
    assert_eq!((ranges(&outcome), outcome.cursor, outcome.too_small), (vec![(0, 2)], 2, None));
}

#[test]
fn a_cut_off_tail_alone_says_how_much_is_needed() {
    // report B23: the size stands in the stump, bytes 8..12.
    let batch = Batch::new(2, 50).bytes();
    let outcome = planned(batch.slice(..100), 2, V2);
    assert_eq!((outcome.pieces.len(), outcome.cursor, outcome.too_small), (0, 2, Some(Some(batch.len()))));
    let stump = planned(batch.slice(..10), 2, V2);
    assert_eq!(stump.too_small, Some(None), "too short to tell");
    assert_eq!(planned(Bytes::new(), 2, V2).too_small, None);
}

#[test]
fn a_tail_behind_nothing_but_what_was_passed_is_too_small_too() {
    // Else the same question would be asked, and answered, for ever.
    let (old, wanted) = (Batch::new(0, 2).bytes(), Batch::new(2, 50).bytes());
    let outcome = planned(joined(&[old, wanted.slice(..100)]), 2, V2);
    assert_eq!((outcome.cursor, outcome.too_small), (2, Some(Some(wanted.len()))));
}

#[test]
fn what_stands_before_damage_comes_out() {
    let mut bad = Batch::new(2, 2).bytes().to_vec();
    *bad.last_mut().unwrap() ^= 1;
    let checksums = RawBatch::from_bytes(bad.clone().into()).unwrap().checksums();
    let log = joined(&[Batch::new(0, 2).bytes(), bad.into(), Batch::new(4, 2).bytes()]);
    for target in [V1, V2] {
        let outcome = planned(log.clone(), 0, target);
        assert_eq!((ranges(&outcome), outcome.cursor), (vec![(0, 2)], 2), "{target:?}");
        assert_eq!(outcome.refused, Some((2, Refused::Verdict(Refuse::Checksum(checksums)))));
    }
}

#[test]
fn bytes_that_are_no_batch_are_named_and_not_skipped() {
    let mut bad = Batch::new(2, 2).bytes().to_vec();
    bad[16] = 9;
    let outcome = planned(joined(&[Batch::new(0, 2).bytes(), bad.into()]), 0, V2);
    assert_eq!((ranges(&outcome), outcome.cursor), (vec![(0, 2)], 2));
    assert!(matches!(outcome.refused, Some((2, Refused::Malformed(_)))), "{:?}", outcome.refused);
}

#[test]
fn the_largest_timestamp_is_known_of_every_piece() {
    let raw = planned(Batch::new(5, 3).bytes(), 5, V2);
    let built = planned(Batch::new(5, 3).bytes(), 5, V1);
    assert_eq!([&raw, &built].map(|outcome| outcome.pieces[0].timestamp_max), [T0 + 7, T0 + 7]);
}

#[test]
fn records_that_were_refused_together_go_one_by_one_and_the_rest_as_before() {
    // report B20, B31: no more is left out than has to be.
    let stamped =
        joined(&[Batch::new(0, 3).codec(Codec::Gzip).bytes(), Batch::new(3, 1).bytes(), Batch::new(4, 2).bytes()]);
    let legacy = joined(&[message(0), message(1), wrapper(Codec::Gzip, &[2, 3]), message(4), message(5)]);
    for (log, target) in [(&stamped, V1), (&stamped, V2), (&legacy, V1), (&legacy, V2)] {
        let view = View { apart_to: 4, ..view(0, target) };
        let outcome = plan(log.clone(), Aborted::default(), &view, None, 800_000, &mut None);
        assert_eq!(ranges(&outcome), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 6)], "{target:?}");
        assert_eq!(contents(&outcome), consumed(log.clone(), 0));
    }
}
