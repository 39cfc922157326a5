//! What is counted and what is written are the same thing, wherever one stops and the other begins.

use proptest::prelude::*;

use super::super::{Abilities, plan, walk};
use super::generated::{Log, committed, log_of, part};
use super::{V1, V2, Walked, contents, planned, view, walked};
use crate::fetch::Aborted;
use crate::sample::{Batch, Seen, joined};

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
        let seen = committed(&log, cursor, target).into_iter().map(|seen| Seen { offset: 0, ..seen }).collect::<Vec<_>>();
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
