//! What is counted and what is written are the same thing, wherever one stops and the other begins.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::AbortedTransaction;
use proptest::prelude::*;

use super::super::{Abilities, Magic, plan, walk};
use super::{V1, V2, Walked, consumed, contents, planned, view, walked};
use crate::fetch::Aborted;
use crate::sample::{Batch, Seen, joined, message, wrapper};

/// One entry of a generated log; offsets are given when the log is put together.
#[derive(Clone, Debug)]
enum Part {
    Batch { deltas: Vec<i32>, trailing: i32, codec: Codec, producer: Option<i64>, append_time: bool },
    Marker { producer: i64, abort: bool },
    Message,
    Wrapper { gaps: Vec<i64>, codec: Codec },
    Missing(i64),
}

fn codec() -> impl Strategy<Value = Codec> {
    prop_oneof![Just(Codec::None), Just(Codec::Gzip), Just(Codec::Lz4)]
}

fn part() -> impl Strategy<Value = Part> {
    let batch =
        (prop::collection::btree_set(0..6, 0..5), 0..3, codec(), prop::option::of(1..3_i64), prop::bool::weighted(0.2));
    let batch = batch.prop_map(|(deltas, trailing, codec, producer, append_time)| Part::Batch {
        deltas: deltas.into_iter().collect(),
        trailing,
        codec,
        producer,
        append_time,
    });
    prop_oneof![
        4 => batch,
        2 => (1..6_i32, codec(), prop::option::of(1..3_i64)).prop_map(|(n, codec, producer)| Part::Batch {
            deltas: (0..n).collect(),
            trailing: 0,
            codec,
            producer,
            append_time: false,
        }),
        2 => (1..3_i64, any::<bool>()).prop_map(|(producer, abort)| Part::Marker { producer, abort }),
        2 => Just(Part::Message),
        1 => (prop::collection::vec(1..3_i64, 1..4), prop_oneof![Just(Codec::Gzip), Just(Codec::Lz4)])
            .prop_map(|(gaps, codec)| Part::Wrapper { gaps, codec }),
        1 => (1..4_i64).prop_map(Part::Missing),
    ]
}

struct Log {
    bytes: Bytes,
    aborted: Vec<AbortedTransaction>,
    end: i64,
}

/// Puts a log together; a producer's batches since its last marker are aborted if the next marker says so.
fn log_of(parts: &[Part]) -> Log {
    let (mut entries, mut end, mut aborted) = (Vec::new(), 0, Vec::new());
    let mut open = std::collections::BTreeMap::new();
    for part in parts {
        match part {
            Part::Batch { deltas, trailing, codec, producer, append_time } => {
                let last = deltas.last().copied().unwrap_or(0) + trailing;
                let mut batch = Batch::gapped(end, deltas.clone(), last);
                // An empty batch has no payload to compress.
                batch.codec = if deltas.is_empty() { Codec::None } else { *codec };
                if let Some(producer) = producer {
                    open.entry(*producer).or_insert(end);
                    batch = batch.transactional(*producer);
                }
                if *append_time {
                    batch = batch.append_time(7);
                }
                entries.push(batch.bytes());
                end += i64::from(last) + 1;
            }
            Part::Marker { producer, abort } => {
                if let Some(first_offset) = open.remove(producer).filter(|_| *abort) {
                    aborted.push(AbortedTransaction { producer_id: *producer, first_offset });
                }
                entries.push(Batch::marker(end, *producer, i16::from(!abort)).bytes());
                end += 1;
            }
            Part::Message => {
                entries.push(message(end));
                end += 1;
            }
            Part::Wrapper { gaps, codec } => {
                let offsets: Vec<i64> = gaps
                    .iter()
                    .map(|gap| {
                        end += gap;
                        end - 1
                    })
                    .collect();
                entries.push(wrapper(*codec, &offsets));
            }
            Part::Missing(offsets) => end += offsets,
        }
    }
    aborted.reverse();
    Log { bytes: joined(&entries), aborted, end }
}

fn plan_of(log: &Log, cursor: i64, target: Abilities, batch_bytes_max: usize) -> super::Outcome {
    let aborted = Aborted::new(Some(&log.aborted));
    plan(log.bytes.clone(), aborted, &view(cursor, target), None, batch_bytes_max, &mut None)
}

fn walk_of(log: &Log, cursor: i64, target: Abilities, wanted: u64) -> Walked {
    walk(log.bytes.clone(), Aborted::new(Some(&log.aborted)), &view(cursor, target), wanted)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn walking_k_records_and_planning_from_there_is_planning_all(
        parts in prop::collection::vec(part(), 0..9),
        magic_2 in any::<bool>(),
        start in 0.0..1.0_f64,
        batch_bytes_max in prop_oneof![Just(200_usize), Just(800_000)],
    ) {
        let target = if magic_2 { V2 } else { V1 };
        let log = log_of(&parts);
        #[expect(clippy::cast_possible_truncation, reason = "a fraction of a small number")]
        let cursor = (start * log.end as f64) as i64;
        let all = plan_of(&log, cursor, target, batch_bytes_max);
        prop_assert_eq!(&all.refused, &None);
        let written = contents(&all);
        let total: u64 = all.pieces.iter().map(|piece| u64::from(piece.records)).sum();
        prop_assert_eq!(total, written.len() as u64);
        pieces_are_in_order(&all, cursor)?;
        // Exactly what a consumer sees, in its order.
        let seen: Vec<Seen> = committed(&log, cursor, target);
        prop_assert_eq!(&written, &seen);
        for wanted in 1..=total {
            let walked = walk_of(&log, cursor, target, wanted);
            prop_assert_eq!((walked.records, &walked.refused), (wanted, &None));
            let rest = plan_of(&log, walked.cursor, target, batch_bytes_max);
            prop_assert_eq!(&contents(&rest)[..], &written[usize::try_from(wanted).unwrap()..], "after {}", wanted);
            if wanted < total || walked.cursor < all.cursor {
                prop_assert_eq!(rest.cursor, all.cursor);
            }
        }
        let beyond = walk_of(&log, cursor, target, total + 1);
        prop_assert_eq!((beyond.records, beyond.cursor, beyond.last), (total, all.cursor, None));
    }

    /// Behind every piece lies a point at which a checkpoint may stand: what is planned from there is the rest.
    #[test]
    fn every_piece_ends_where_the_next_one_begins(
        parts in prop::collection::vec(part(), 0..9),
        magic_2 in any::<bool>(),
        batch_bytes_max in prop_oneof![Just(120_usize), Just(800_000)],
    ) {
        let target = if magic_2 { V2 } else { V1 };
        let log = log_of(&parts);
        let all = plan_of(&log, 0, target, batch_bytes_max);
        let written = contents(&all);
        let mut passed = 0;
        for piece in &all.pieces {
            passed += piece.records as usize;
            let rest = plan_of(&log, piece.next, target, batch_bytes_max);
            prop_assert_eq!(&contents(&rest)[..], &written[passed..], "behind {}..{}", piece.first, piece.next);
        }
    }
}

fn pieces_are_in_order(outcome: &super::Outcome, cursor: i64) -> Result<(), TestCaseError> {
    let mut at = cursor;
    for piece in &outcome.pieces {
        prop_assert!(piece.first >= at && piece.next > piece.first, "{}..{} at {at}", piece.first, piece.next);
        at = piece.next;
    }
    prop_assert!(outcome.cursor >= at);
    Ok(())
}

/// The records that a read_committed consumer gets, as the target's format keeps them.
fn committed(log: &Log, cursor: i64, target: Abilities) -> Vec<Seen> {
    let mut aborted = Aborted::new(Some(&log.aborted));
    let mut seen = Vec::new();
    for entry in kmirror_proto::records::split(log.bytes.clone()) {
        let entry = entry.unwrap();
        let is_aborted = aborted.covers(&entry);
        let (bytes, control) = match &entry {
            kmirror_proto::records::Entry::Batch(batch) => (batch.bytes().clone(), batch.header.attributes.control()),
            kmirror_proto::records::Entry::Message(message) => (message.bytes().clone(), false),
            kmirror_proto::records::Entry::Partial(_) => continue,
        };
        if !is_aborted && !control {
            seen.extend(consumed(bytes, cursor));
        }
    }
    if target.magic == Magic::V1 {
        seen.iter_mut().for_each(|seen| seen.headers = 0);
    }
    seen
}

#[test]
fn the_last_record_of_a_walk_is_known_and_the_ones_before_are_not_decoded() {
    // A payload that does not decode, under a header that says how many records it holds.
    let mut broken = Batch::new(0, 3);
    broken.attributes = 1;
    let log = joined(&[broken.bytes(), Batch::new(3, 2).bytes()]);
    let outcome = walked(log.clone(), 0, V2, 4);
    assert_eq!((outcome.records, outcome.cursor, outcome.refused.is_none()), (4, 4, true));
    assert!(outcome.last.is_some());
    assert!(walked(log, 0, V2, 3).refused.is_some(), "the last one has to be looked at");
}

#[test]
fn a_walk_asks_for_more_where_planning_does() {
    let batch = Batch::new(2, 50).bytes();
    for target in [V1, V2] {
        let cut = joined(&[Batch::new(0, 2).bytes(), batch.slice(..100)]);
        let need = Some(Some(batch.len()));
        assert_eq!(
            (walked(cut.clone(), 2, target, 9).too_small, planned(cut.clone(), 2, target).too_small),
            (need, need)
        );
        assert_eq!((walked(cut.clone(), 0, target, 9).too_small, planned(cut, 0, target).too_small), (None, None));
    }
}
