//! Damage on the source: where it stops the link, what is left out under the other policy, and that the walk counts the same.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{RawBatch, crc32c};

use super::super::{Abilities, Damage, LeftOut, Loss, Outcome, Refuse, Refused, View, Walked, plan, walk};
use super::{LARGE, V1, V2, contents, ranges, view};
use crate::config::DamagePolicy;
use crate::fetch::Aborted;
use crate::sample::{Batch, Seen, joined, message, message_of, old_message, old_set, records_of, wrapper};

fn flipped(bytes: &Bytes, at: usize) -> Bytes {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes.into()
}

/// One bit of the last byte.
fn damaged(bytes: &Bytes) -> Bytes {
    flipped(bytes, bytes.len() - 1)
}

/// Plans as a link under `skip` does, from where it stands, until it is at the log's end.
fn skipping(log: &Bytes, target: Abilities, end: i64) -> (Vec<Seen>, Vec<(i64, i64, u32)>, LeftOut) {
    let (mut left_out, mut cursor) = (LeftOut::default(), 0);
    let (mut written, mut lost) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let view = View { damage: DamagePolicy::Skip, end, left_out: &left_out, ..view(cursor, target) };
        let outcome = plan(from(log, cursor), Aborted::default(), &view, None, LARGE, &mut None);
        assert_eq!(outcome.refused, None);
        written.extend(contents(&outcome));
        lost.extend(outcome.left_out.iter().map(|range| (range.from, range.to, range.records)));
        let ranges: Vec<_> = outcome.left_out.iter().map(|range| (range.from, range.to)).collect();
        if outcome.cursor == cursor && ranges.is_empty() {
            return (written, lost, left_out);
        }
        cursor = outcome.cursor;
        ranges.into_iter().for_each(|(from, to)| left_out.add(from, to));
    }
    panic!("it leads nowhere: {cursor}");
}

/// What a broker answers from `cursor` on, going by what its own headers say.
fn from(log: &Bytes, cursor: i64) -> Bytes {
    let mut at = 0;
    while at < log.len() {
        let size = 12 + usize::try_from(i32::from_be_bytes(log[at + 8..at + 12].try_into().unwrap())).unwrap();
        let offset = i64::from_be_bytes(log[at..at + 8].try_into().unwrap());
        let last = if log[at + 16] == 2 { i32::from_be_bytes(log[at + 23..at + 27].try_into().unwrap()) } else { 0 };
        if offset + i64::from(last) >= cursor {
            break;
        }
        at += size;
    }
    log.slice(at..)
}

fn values(seen: &[Seen]) -> Vec<i64> {
    seen.iter().map(|seen| seen.value.as_deref().unwrap()[1..].parse().unwrap()).collect()
}

fn walked(log: &Bytes, left_out: &LeftOut, cursor: i64, target: Abilities, wanted: u64) -> Walked {
    let view = View { damage: DamagePolicy::Skip, left_out, ..view(cursor, target) };
    walk(from(log, cursor), Aborted::default(), &view, wanted)
}

#[test]
fn a_damaged_batch_is_left_out_as_a_whole_and_the_neighbours_arrive() {
    let batches = [0, 3, 6].map(|base| Batch::new(base, 3).codec(Codec::Lz4).bytes());
    let checksums = RawBatch::from_bytes(damaged(&batches[1])).unwrap().checksums();
    let log = joined(&[batches[0].clone(), damaged(&batches[1]), batches[2].clone()]);
    for target in [V1, V2] {
        let view = View { damage: DamagePolicy::Skip, ..view(0, target) };
        let outcome = plan(log.clone(), Aborted::default(), &view, None, LARGE, &mut None);
        assert_eq!((ranges(&outcome), outcome.cursor), (vec![(0, 3)], 3), "nothing behind it before the ledger knows");
        let loss = &outcome.left_out[0].loss;
        assert_eq!(loss, &Loss::Damaged(Damage::Verdict(Refuse::Checksum(checksums))));
        let (stored, computed) = (format!("{:08x}", checksums.stored), format!("{:08x}", checksums.computed));
        let text = loss.to_string();
        assert!(text.contains(&stored) && text.contains(&computed), "{text}: {stored}, {computed}");

        let (written, lost, _) = skipping(&log, target, 9);
        assert_eq!((values(&written), lost), (vec![0, 1, 2, 6, 7, 8], vec![(3, 6, 3)]), "{target:?}");
    }
}

#[test]
fn every_byte_of_a_batch_may_be_the_damaged_one() {
    // Whatever the header claims then, no more than the batch itself is lost, and the next one is not.
    let batches = [0, 3, 6].map(|base| Batch::new(base, 3).transactional(7).bytes());
    for at in 12..batches[1].len() {
        // The partition leader's epoch is not covered, and nobody's business.
        if (12..16).contains(&at) {
            continue;
        }
        let log = joined(&[batches[0].clone(), flipped(&batches[1], at), batches[2].clone()]);
        let (written, lost, left_out) = skipping(&log, V2, 9);
        assert_eq!(values(&written), [0, 1, 2, 6, 7, 8], "byte {at}");
        assert_eq!(lost.iter().map(|(from, to, _)| (*from, *to)).collect::<Vec<_>>(), [(3, 6)], "byte {at}");
        let mut walk = walked(&log, &left_out, 0, V2, 6);
        if walk.records < 6 {
            // It reads on behind what is left out, as planning does.
            assert_eq!((walk.cursor, walk.records, &walk.refused), (6, 3, &None), "byte {at}");
            walk = walked(&log, &left_out, walk.cursor, V2, 3);
        }
        assert_eq!((walk.cursor, walk.refused), (9, None), "byte {at}");
    }
}

#[test]
fn damage_at_the_logs_end_does_not_reach_beyond_it() {
    let mut tail = Batch::new(3, 3).bytes().to_vec();
    tail[23] = 0x10; // a last delta of hundreds of millions
    let log = joined(&[Batch::new(0, 3).bytes(), tail.into()]);
    let (written, lost, _) = skipping(&log, V2, 6);
    assert_eq!((values(&written), lost), (vec![0, 1, 2], vec![(3, 6, 3)]));
    // More is written behind it, and the broker goes by that header: it answers with the damaged batch again.
    let log = joined(&[log, Batch::new(6, 2).bytes()]);
    let left_out: LeftOut = [(3, 6)].into_iter().collect();
    for left_out in [LeftOut::default(), left_out] {
        let view = View { damage: DamagePolicy::Skip, end: 8, left_out: &left_out, ..view(6, V2) };
        let outcome = plan(from(&log, 6), Aborted::default(), &view, None, LARGE, &mut None);
        assert_eq!((ranges(&outcome), outcome.cursor, outcome.left_out), (vec![(6, 8)], 8, vec![]));
    }
}

#[test]
fn messages_and_wrappers_are_left_out_too() {
    let whole = wrapper(Codec::Gzip, &[2, 3, 4]);
    let old = old_set(Codec::Snappy, &[5, 6]);
    for target in [V1, V2] {
        let log = joined(&[message(0), damaged(&message(1)), whole.clone(), old.clone(), old_message(7)]);
        let (written, lost, _) = skipping(&log, target, 8);
        assert_eq!((values(&written), lost), (vec![0, 2, 3, 4, 5, 6, 7], vec![(1, 2, 1)]));
        let log = joined(&[message(0), message(1), damaged(&whole), damaged(&old), old_message(7)]);
        let (written, lost, _) = skipping(&log, target, 8);
        assert_eq!(values(&written), [0, 1, 7]);
        assert_eq!(lost, [(2, 5, 3), (5, 7, 2)], "which offsets a wrapper has stands inside of it");
    }
}

#[test]
fn what_is_no_batch_is_left_out_if_its_length_is_known() {
    let good = [0, 3, 6].map(|base| Batch::new(base, 3).bytes());
    let mut magic = good[1].to_vec();
    magic[16] = 9;
    let log = joined(&[good[0].clone(), magic.into(), good[2].clone()]);
    let (written, lost, left_out) = skipping(&log, V2, 9);
    assert_eq!((values(&written), lost), (vec![0, 1, 2, 6, 7, 8], vec![(3, 6, 3)]));
    assert_eq!(walked(&log, &left_out, 0, V2, 4).records, 3);
    assert_eq!(walked(&log, &left_out, 6, V2, 1).records, 1);
    // Without a length nobody knows where the next one begins.
    let mut length = good[1].to_vec();
    length[8..12].copy_from_slice(&5_i32.to_be_bytes());
    let log = joined(&[good[0].clone(), length.into(), good[2].clone()]);
    let view = View { damage: DamagePolicy::Skip, ..view(0, V2) };
    let outcome = plan(log, Aborted::default(), &view, None, LARGE, &mut None);
    assert!(matches!(outcome.refused, Some((3, Refused::Malformed(_)))), "{:?}", outcome.refused);
}

#[test]
fn a_codec_that_does_not_exist_is_left_out() {
    let mut unknown = Batch::new(3, 3);
    unknown.attributes = 6;
    let log = joined(&[Batch::new(0, 3).bytes(), unknown.bytes(), Batch::new(6, 1).bytes()]);
    for target in [V1, V2] {
        let (written, lost, _) = skipping(&log, target, 7);
        assert_eq!((values(&written), lost), (vec![0, 1, 2, 6], vec![(3, 6, 3)]));
    }
    let log = joined(&[message(0), message_of(1, 5, 0, None, Some(b"v")), message(2)]);
    assert_eq!(values(&skipping(&log, V1, 3).0), [0, 2]);
}

/// A payload that does not decompress, under a checksum that is right.
fn broken(base: i64, records: i32) -> Batch {
    let mut broken = Batch::new(base, records);
    broken.attributes = 1;
    broken
}

/// The first record is whole, the second is not: a batch is written as a whole or not at all.
#[test]
fn nothing_of_a_batch_is_written_whose_end_is_broken() {
    let mut bytes = Batch::new(2, 2).bytes().to_vec();
    let end = bytes.len();
    // The count of the last record's headers.
    bytes[end - 1] = 0x7e;
    let crc = crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    let log = joined(&[Batch::new(0, 2).bytes(), bytes.into()]);
    for view in [view(0, V1), View { apart_to: 9, ..view(0, V2) }] {
        let outcome = plan(log.clone(), Aborted::default(), &view, None, 100, &mut None);
        assert_eq!((ranges(&outcome).last(), outcome.cursor), (Some(&(outcome.cursor - 1, outcome.cursor)), 2));
        assert!(matches!(outcome.refused, Some((2, Refused::Malformed(_)))), "{:?}", outcome.refused);
    }
}

#[test]
fn insides_count_only_where_they_are_needed() {
    let log = joined(&[Batch::new(0, 2).bytes(), broken(2, 3).bytes(), Batch::new(5, 1).bytes()]);
    // The raw path does not look inside: the target's broker does.
    let outcome = super::planned(log.clone(), 0, V2);
    assert_eq!((ranges(&outcome), outcome.refused), (vec![(0, 2), (2, 5), (5, 6)], None));
    let outcome = super::planned(log.clone(), 0, V1);
    assert_eq!((ranges(&outcome), outcome.cursor), (vec![(0, 2)], 2));
    assert!(matches!(outcome.refused, Some((2, Refused::Malformed(_)))));
    // Where the target has refused it, it is looked into, though it held one record only.
    for batch in [broken(2, 3), broken(2, 1)] {
        let apart = View { apart_to: 3, ..view(2, V2) };
        let outcome = plan(batch.bytes(), Aborted::default(), &apart, None, LARGE, &mut None);
        assert!(matches!(outcome.refused, Some((2, Refused::Malformed(_)))), "{:?}", outcome.refused);
    }
    let (written, lost, left_out) = skipping(&log, V1, 6);
    assert_eq!((values(&written), lost), (vec![0, 1, 5], vec![(2, 5, 3)]));
    assert_eq!(walked(&log, &left_out, 0, V1, 3).cursor, 5);
    assert_eq!(walked(&log, &left_out, 5, V1, 1).records, 1);
}

#[test]
fn a_batch_that_breaks_in_the_middle_leaves_nothing_in_a_piece() {
    // Its first records parse; loose messages before it are being joined when the fault is found.
    let mut cut = Batch::new(2, 3).bytes().to_vec();
    *cut.last_mut().unwrap() = 0x7e; // the last record's header count: 63
    let crc = RawBatch::from_bytes(cut.clone().into()).unwrap().checksums().computed;
    cut[17..21].copy_from_slice(&crc.to_be_bytes());
    let log = joined(&[message(0), message(1), cut.into(), Batch::new(5, 2).bytes()]);
    let (written, lost, _) = skipping(&log, V1, 7);
    assert_eq!((values(&written), lost), (vec![0, 1, 5, 6], vec![(2, 5, 3)]));
}

#[test]
fn unchecked_damage_is_not_built_again() {
    // With check.crcs=false the raw path forwards a batch with the checksum that it had, and the target refuses it. Nothing
    // that is built again gets a fresh one.
    let log = damaged(&Batch::new(0, 3).bytes());
    let unchecked = View { check_crcs: false, ..view(0, V2) };
    let raw = plan(log.clone(), Aborted::default(), &unchecked, None, LARGE, &mut None);
    assert_eq!((ranges(&raw), raw.pieces[0].rewritten), (vec![(0, 3)], false));
    let rebuilt = |view: View<'_>| -> Outcome { plan(log.clone(), Aborted::default(), &view, None, LARGE, &mut None) };
    for view in [View { target: V1, ..unchecked }, View { apart_to: 3, ..unchecked }, View { cursor: 1, ..unchecked }] {
        let outcome = rebuilt(view);
        assert!(outcome.pieces.is_empty());
        assert!(matches!(outcome.refused, Some((_, Refused::Verdict(Refuse::Checksum(_))))), "{:?}", outcome.refused);
    }
}

#[test]
fn a_walk_stops_at_damage_that_the_ledger_does_not_know() {
    // It was written before it was damaged, so it counts: how many records it held is not certain any more.
    let log = joined(&[Batch::new(0, 2).bytes(), damaged(&Batch::new(2, 2).bytes()), Batch::new(4, 2).bytes()]);
    let walk = walked(&log, &LeftOut::default(), 0, V2, 5);
    assert_eq!((walk.cursor, walk.records), (2, 2));
    assert!(matches!(walk.refused, Some((2, Refused::Verdict(Refuse::Checksum(_))))), "{:?}", walk.refused);
}

#[test]
fn what_is_open_behind_damage_is_asked_for_anew() {
    // The abort marker is damaged: what its producer writes next is not part of the aborted transaction.
    let aborted =
        || Aborted::new(Some(&[kmirror_proto::messages::AbortedTransaction { producer_id: 7, first_offset: 0 }]));
    let marker = damaged(&Batch::marker(2, 7, 0).bytes());
    let log = joined(&[Batch::new(0, 2).transactional(7).bytes(), marker, Batch::new(3, 2).transactional(7).bytes()]);
    let stored: LeftOut = [(2, 3)].into_iter().collect();
    let view = View { damage: DamagePolicy::Skip, left_out: &stored, ..view(0, V2) };
    let outcome = plan(log.clone(), aborted(), &view, None, LARGE, &mut None);
    assert_eq!((outcome.cursor, outcome.pieces.len()), (3, 0), "no further: the list was about another answer");
    let walk = walk(log, aborted(), &view, 2);
    assert_eq!((walk.cursor, walk.records), (3, 0));
}

#[test]
fn a_batch_that_is_whole_again_stays_left_out() {
    // It was left out for good: what the ledger says holds, whatever the bytes say now.
    let stored: LeftOut = [(2, 4)].into_iter().collect();
    let log = joined(&[0, 2, 4].map(|base| Batch::new(base, 2).bytes()));
    let view = View { left_out: &stored, ..view(0, V2) };
    let outcome = plan(log, Aborted::default(), &view, None, LARGE, &mut None);
    assert_eq!(values(&contents(&outcome)), [0, 1, 4, 5]);
}

#[test]
fn deltas_that_contradict_their_places_are_no_gaps() {
    // As many records as offsets, and what they say themselves is not believed: each has the offset of its place.
    let odd = Batch::gapped(5, vec![0, 2, 5], 2).bytes();
    assert_eq!(records_of(odd.clone()).iter().map(|seen| seen.offset).collect::<Vec<_>>(), [5, 6, 7]);
    let outcome = super::planned(odd.clone(), 5, V2);
    assert_eq!((ranges(&outcome), outcome.gaps, outcome.cursor), (vec![(5, 8)], false, 8));
    for wanted in 1..=3 {
        let walk = super::walked(odd.clone(), 5, V2, wanted);
        assert_eq!((walk.cursor, walk.records), (5 + i64::try_from(wanted).unwrap(), wanted));
        let rest = super::planned(odd.clone(), walk.cursor, V2);
        assert_eq!(rest.pieces.iter().map(|piece| u64::from(piece.records)).sum::<u64>(), 3 - wanted);
    }
}

#[test]
fn offsets_that_do_not_rise_within_the_batch_are_damage() {
    // 0.11 and 1.0 store what they are sent: no record is skipped or written twice for it.
    for deltas in [vec![0, 0], vec![3, 1], vec![0, 9], vec![-1, 2], vec![0, 1, 2, 3, 4, 5]] {
        let batch = Batch::gapped(5, deltas.clone(), 4).bytes();
        for target in [V1, V2] {
            let outcome = super::planned(batch.clone(), 5, target);
            assert!(matches!(outcome.refused, Some((5, Refused::Malformed(_)))), "{deltas:?}: {:?}", outcome.refused);
        }
    }
}
