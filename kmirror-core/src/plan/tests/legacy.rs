//! Sources of magic 0 and 1, and logs that were upgraded half way.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Entry, RawMessage, split, wrapper_shape};

use super::super::{Body, Refuse, Refused};
use super::{V1, V2, bytes_of, consumed, contents, planned, planned_up_to, ranges, walked};
use crate::sample::{
    Batch, T0, entry, joined, message, message_of, old_message, old_set, records_of, wrapper, wrapper_with,
};

#[test]
fn plain_messages_become_one_run_of_the_same_bytes() {
    let log = joined(&[message(5), message(6), message(9)]);
    let outcome = planned(log.clone(), 5, V1);
    assert_eq!(ranges(&outcome), [(5, 10)]);
    assert_eq!(bytes_of(&outcome.pieces[0]), log, "the broker sets the offsets");
    assert_eq!((outcome.pieces[0].records, outcome.pieces[0].rewritten), (3, false));
    let behind = planned(log.clone(), 6, V1);
    assert_eq!((contents(&behind), ranges(&behind)), (consumed(log, 6), vec![(6, 10)]));
}

#[test]
fn a_run_is_closed_at_the_batch_size_and_by_a_wrapper() {
    let one = message(5).len();
    let log = joined(&[message(5), message(6), message(7), wrapper(Codec::Gzip, &[8, 9]), message(10)]);
    let outcome = planned_up_to(log.clone(), 5, V1, 2 * one);
    assert_eq!(ranges(&outcome), [(5, 7), (7, 8), (8, 10), (10, 11)]);
    assert_eq!(contents(&outcome), consumed(log, 5));
    let is_wrapper = |piece: &super::Piece| matches!(piece.body, Body::Set { wrapper: true, .. });
    assert_eq!(outcome.pieces.iter().map(is_wrapper).collect::<Vec<_>>(), [false, false, true, false]);
}

#[test]
fn a_wrapper_goes_on_under_its_last_relative_offset() {
    // fact M2: under any other offset a 0.10 broker compresses it again.
    let log = wrapper(Codec::Gzip, &[5, 6, 7]);
    let outcome = planned(log.clone(), 5, V1);
    let written = bytes_of(&outcome.pieces[0]);
    assert_eq!(written[..8], 2_i64.to_be_bytes());
    assert_eq!(written[8..], log[8..], "byte for byte but for the offset");
    let piece = &outcome.pieces[0];
    assert_eq!((piece.first, piece.next, piece.records, piece.timestamp_max), (5, 8, 3, T0 + 7));
}

#[test]
fn a_compacted_wrapper_is_built_dense() {
    // fact K4: relative offsets keep their gaps, also in front: [0, 4, 5] under 17; [2, 3] of a wrapper at 10.
    for log in [wrapper(Codec::Gzip, &[12, 16, 17]), wrapper_with(Codec::Lz4, &[12, 13], 2, None)] {
        let outcome = planned(log.clone(), 10, V1);
        assert_eq!(contents(&outcome), consumed(log, 10));
        let Entry::Message(written) = entry(bytes_of(&outcome.pieces[0])) else { panic!("not a message") };
        assert!(wrapper_shape(&written, 1 << 20).unwrap().is_kept());
        assert!(outcome.pieces[0].rewritten);
    }
}

#[test]
fn a_wrapper_is_cut_at_the_cursor() {
    let log = wrapper(Codec::Gzip, &[5, 6, 7]);
    for target in [V1, V2] {
        let outcome = planned(log.clone(), 6, target);
        assert_eq!((contents(&outcome), ranges(&outcome)), (consumed(log.clone(), 6), vec![(6, 8)]));
    }
}

#[test]
fn append_time_wrappers_keep_what_consumers_saw() {
    // report B08: the wrapper's time counts for every message in it.
    let log = wrapper_with(Codec::Gzip, &[5, 6, 7], 0, Some(T0 + 99));
    for target in [V1, V2] {
        let outcome = planned(log.clone(), 5, target);
        assert!(contents(&outcome).iter().all(|seen| seen.timestamp == T0 + 99));
        assert_eq!(contents(&outcome), consumed(log.clone(), 5));
    }
}

#[test]
fn magic_1_is_built_up_into_joined_batches() {
    let log = joined(&[message(5), message(6), wrapper(Codec::Gzip, &[7, 8]), message(20)]);
    let outcome = planned(log.clone(), 5, V2);
    assert_eq!(contents(&outcome), consumed(log, 5));
    // One batch per codec: plain, gzip, plain again.
    assert_eq!(ranges(&outcome), [(5, 7), (7, 9), (20, 21)]);
    for piece in &outcome.pieces {
        let Body::Batch(batch) = &piece.body else { panic!("{piece:?}") };
        assert_eq!(i64::from(batch.header.records_count), i64::from(batch.header.last_offset_delta) + 1);
    }
}

#[test]
fn null_and_empty_stay_apart_in_both_formats() {
    // report B20.
    let log = joined(&[
        message_of(0, 0, T0, None, None),
        message_of(1, 0, T0, Some(b""), Some(b"")),
        message_of(2, 0, T0, Some(b"k"), None),
        message_of(3, 0, T0, None, Some(b"v")),
    ]);
    for target in [V1, V2] {
        let outcome = planned(log.clone(), 0, target);
        assert_eq!(contents(&outcome), consumed(log.clone(), 0));
    }
}

#[test]
fn what_is_skipped_never_counts_as_written_before_what_stands_in_front_of_it() {
    // An upgraded topic: messages that are still being joined when the first batch of magic 2 is a marker. A piece
    // that claimed the marker's end while the joined ones were not written yet would lose them in a crash.
    let small = message(0).len() * 2;
    let log = joined(&[message(0), message(1), message(2), message(3), Batch::marker(4, 7, 0).bytes()]);
    for target in [V1, V2] {
        for batch_bytes_max in [small, small + 100, 800_000] {
            let outcome = planned_up_to(log.clone(), 0, target, batch_bytes_max);
            assert_eq!(contents(&outcome).len(), 4);
            for pair in ranges(&outcome).windows(2) {
                assert!(pair[0].1 <= pair[1].0, "{pair:?} of {:?}", ranges(&outcome));
            }
            assert_eq!(outcome.pieces.last().unwrap().next, 5);
        }
    }
}

#[test]
fn an_upgraded_log_keeps_its_order() {
    let log = joined(&[message(0), wrapper(Codec::Lz4, &[1, 2]), Batch::new(3, 2).bytes(), Batch::new(5, 1).bytes()]);
    for target in [V1, V2] {
        let outcome = planned(log.clone(), 0, target);
        assert_eq!(contents(&outcome), consumed(log.clone(), 0));
        assert_eq!(outcome.cursor, 6);
    }
    assert_eq!(records_of(log).len(), 6);
}

#[test]
fn magic_0_is_built_up_without_timestamps() {
    // fact M3: a 0.10 broker would do the same; no wrapper of magic 0 could go through as it is.
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4] {
        let log = joined(&[old_set(codec, &[3, 4, 8]), old_message(9), message(10)]);
        assert_eq!(
            consumed(log.clone(), 0).iter().map(|seen| seen.timestamp).collect::<Vec<_>>(),
            [-1, -1, -1, -1, T0 + 10]
        );
        for target in [V1, V2] {
            for cursor in [3, 4, 9] {
                let outcome = planned(log.clone(), cursor, target);
                assert_eq!(contents(&outcome), consumed(log.clone(), cursor), "{codec} {target:?} from {cursor}");
                assert_eq!((outcome.cursor, outcome.refused.is_none()), (11, true));
                for piece in &outcome.pieces {
                    let magics: Vec<i8> = split(bytes_of(piece))
                        .map(|entry| match entry.unwrap() {
                            Entry::Batch(batch) => batch.header.magic,
                            Entry::Message(message) => message.magic,
                            Entry::Partial(partial) => panic!("{partial:?}"),
                        })
                        .collect();
                    assert!(magics.iter().all(|magic| *magic == if target == V1 { 1 } else { 2 }), "{magics:?}");
                }
            }
        }
    }
}

#[test]
fn a_record_of_magic_0_is_known_again() {
    // The walk over the source and what the target keeps agree: no timestamp is -1 on both sides.
    let log = joined(&[old_set(Codec::Gzip, &[3, 4, 8]), old_message(9)]);
    for target in [V1, V2] {
        let outcome = planned(log.clone(), 3, target);
        let walked = walked(log.clone(), 3, target, 4);
        assert_eq!((walked.cursor, walked.records), (10, 4));
        assert_eq!(walked.last, outcome.pieces.last().unwrap().fingerprint);
        assert_eq!(walked.last.unwrap().timestamp, -1);
    }
}

/// No honest log has falling offsets; what lies behind the cursor is passed over wherever it stands.
#[test]
fn a_message_that_is_passed_over_is_not_carried_along_by_its_neighbours() {
    let outcome = planned(joined(&[message(0), message(1), message(0), message(2)]), 0, V1);
    assert_eq!(ranges(&outcome), [(0, 2), (2, 3)]);
    let records: Vec<usize> = outcome.pieces.iter().map(|piece| records_of(bytes_of(piece)).len()).collect();
    assert_eq!(records, [2, 1]);
}

#[test]
fn a_damaged_message_of_magic_0_stops_the_link() {
    let mut old = old_message(1).to_vec();
    let last = old.len() - 1;
    old[last] ^= 1;
    let checksums = RawMessage::from_bytes(old.clone().into()).unwrap().checksums();
    for target in [V1, V2] {
        let outcome = planned(joined(&[message(0), old.clone().into(), message(2)]), 0, target);
        assert_eq!((ranges(&outcome), outcome.cursor), (vec![(0, 1)], 1));
        assert_eq!(outcome.refused, Some((1, Refused::Verdict(Refuse::Checksum(checksums)))));
    }
}
