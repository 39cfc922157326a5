//! What the target cannot take, found before it is sent.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp, crc32c};

use super::super::{LeftOut, Loss, LossRange, Outcome, Refused, TopicLimits, View, plan, walk};
use super::{Abilities, LARGE, V1, V2, consumed, contents, ranges, view};
use crate::config::{LossPolicy, Policies};
use crate::fetch::Aborted;
use crate::limits::LEFT_OUT_RANGES_MAX;
use crate::sample::{Batch, T0, joined, message, message_of, wrapper};

const NONE: TopicLimits = TopicLimits {
    batch_bytes_max: None,
    keys_required: false,
    timestamp_before_max_ms: None,
    timestamp_after_max_ms: None,
};
const KEYS: TopicLimits = TopicLimits { keys_required: true, ..NONE };
const REFUSE: Policies = all(LossPolicy::Refuse);
const DROP: Policies = all(LossPolicy::Drop);

const fn all(policy: LossPolicy) -> Policies {
    Policies { headers: policy, too_large: policy, timestamps: policy, keyless: policy, refused: policy }
}

fn size(bytes_max: usize) -> TopicLimits {
    TopicLimits { batch_bytes_max: Some(bytes_max), ..NONE }
}

fn planned(log: &Bytes, target: Abilities, limits: TopicLimits, policies: Policies) -> Outcome {
    plan(log.clone(), Aborted::default(), &View { limits, policies, ..view(0, target) }, None, LARGE, &mut None)
}

/// Bytes that do not compress.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..len).map(|_| byte()).collect()
}

/// Timestamp, key and value of a record.
type Row<'a> = (i64, Option<&'a [u8]>, &'a [u8]);

/// A batch of these records, from offset `base` on.
fn batch(base: i64, codec: Codec, records: &[Row<'_>]) -> Bytes {
    let mut builder = BatchBuilder::new(codec, None);
    for (timestamp, key, value) in records {
        builder.push(*timestamp, *key, Some(value), HeadersSource::None).unwrap();
    }
    let mut bytes = builder.finish(Stamp::NONE).unwrap().to_vec();
    bytes[..8].copy_from_slice(&base.to_be_bytes());
    bytes.into()
}

/// One record for each sign: `k` with a key, `-` without.
fn keyed(base: i64, signs: &str) -> Bytes {
    let records: Vec<_> = signs.bytes().map(|sign| (T0, (sign == b'k').then_some(&b"k"[..]), &b"v"[..])).collect();
    batch(base, Codec::None, &records)
}

fn lost(outcome: &Outcome) -> Vec<(i64, i64, u32, Loss)> {
    outcome.left_out.iter().map(|range| (range.from, range.to, range.records, range.loss.clone())).collect()
}

#[test]
fn limits_that_are_not_reached_decode_nothing() {
    let mut broken = Batch::new(0, 3);
    broken.attributes = 1;
    let limits = TopicLimits {
        batch_bytes_max: Some(broken.bytes().len()),
        timestamp_before_max_ms: Some(0),
        timestamp_after_max_ms: Some(2),
        ..NONE
    };
    let outcome = planned(&broken.bytes(), V2, limits, DROP);
    assert_eq!((ranges(&outcome), outcome.refused, outcome.pieces[0].rewritten), (vec![(0, 3)], None, false));
}

#[test]
fn a_batch_that_is_too_large_goes_in_smaller_ones() {
    // report B31 (a).
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let value = noise(100_000);
        let log = batch(0, codec, &[(T0, Some(&b"k"[..]), &value[..]); 12]);
        let bytes_max = if log.len() > 1_000_000 { 1_000_000 } else { log.len() - 1 };
        for target in [V1, V2] {
            let outcome = planned(&log, target, size(bytes_max), REFUSE);
            assert!(outcome.pieces.len() > 1, "{codec}");
            assert!(outcome.pieces.iter().all(|piece| piece.body.len() <= bytes_max), "{codec}");
            assert_eq!((contents(&outcome), outcome.refused), (consumed(log.clone(), 0), None));
        }
    }
}

#[test]
fn no_piece_is_larger_than_the_target_takes_however_badly_it_compresses() {
    let value = noise(300);
    let many: Vec<_> = (0..40).map(|n| (T0, Some(&b"k"[..]), &value[..100 + n * 5])).collect();
    let log = batch(0, Codec::None, &many);
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        for target in [V1, V2] {
            for bytes_max in (1000..1300).step_by(7) {
                let view = View { limits: size(bytes_max), ..view(0, target) };
                let outcome = plan(log.clone(), Aborted::default(), &view, Some(codec), LARGE, &mut None);
                assert!(outcome.pieces.iter().all(|piece| piece.body.len() <= bytes_max), "{codec} {bytes_max}");
                assert!(outcome.pieces.iter().any(|piece| piece.records > 1), "{codec} {bytes_max}");
                assert_eq!(contents(&outcome).len(), 40);
            }
        }
    }
}

#[test]
fn a_batch_that_decodes_to_far_more_than_it_is_is_split_by_what_it_decodes_to() {
    // 4 MB in every codec, in a batch and in a wrapper, larger than the topic takes, and one record among them that no
    // batch of it holds.
    let (dull, loud) = (vec![b'.'; 40_000], noise(9_000));
    let value = |n: usize| if n == 50 { noise(60_000) } else { [&dull[..], &loud[n * 80..n * 80 + 400]].concat() };
    let values: Vec<_> = (0..100).map(value).collect();
    let rows: Vec<Row<'_>> = values.iter().map(|value| (T0, None, &value[..])).collect();
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let log = batch(0, codec, &rows);
        assert!(log.len() > 25_000 && log.len() < 1_000_000, "{codec}: {}", log.len());
        for target in [V1, V2] {
            let outcome = planned(&log, target, size(25_000), REFUSE);
            assert!(
                matches!(outcome.refused, Some((50, Refused::Loss(Loss::TooLarge { .. })))),
                "{:?}",
                outcome.refused
            );
            assert_eq!((contents(&outcome).len(), outcome.cursor), (50, 50), "{codec}");
            assert!(outcome.pieces.iter().all(|piece| piece.body.len() <= 25_000), "{codec}");
            let dropped = planned(&log, target, size(25_000), DROP);
            assert_eq!(lost(&dropped).iter().map(|loss| (loss.0, loss.1)).collect::<Vec<_>>(), [(50, 51)]);
        }
    }
}

#[test]
fn a_record_that_is_too_large_alone_is_lost_and_one_that_fits_compressed_is_not() {
    // report B31 (b), (c).
    let (large, small) = (noise(3000), vec![b'x'; 3000]);
    let records: [Row<'_>; 4] = [(T0, None, b"a"), (T0, None, &small), (T0, None, &large), (T0, None, b"b")];
    let log = batch(0, Codec::Gzip, &records);
    for target in [V1, V2] {
        let refused = planned(&log, target, size(2000), REFUSE);
        let Some((2, Refused::Loss(Loss::TooLarge { bytes, bytes_max: 2000 }))) = refused.refused else {
            panic!("{:?}", refused.refused)
        };
        assert!((3000..3300).contains(&bytes), "as it would be sent: {bytes}");
        assert_eq!((contents(&refused).len(), refused.cursor), (2, 2), "the records before it are written");
        let dropped = planned(&log, target, size(2000), DROP);
        assert_eq!(lost(&dropped), [(2, 3, 1, Loss::TooLarge { bytes, bytes_max: 2000 })]);
    }
    let fits = batch(0, Codec::Gzip, &records[..2]);
    let outcome = planned(&fits, V2, size(2000), REFUSE);
    assert_eq!((outcome.pieces[0].rewritten, outcome.refused), (false, None));
    // A plain message has no codec of its own; with the configured one it may fit.
    let plain = message_of(0, 0, T0, None, Some(&small));
    assert!(planned(&plain, V1, size(2000), REFUSE).refused.is_some());
    let view = View { limits: size(2000), ..view(0, V1) };
    let outcome = plan(plain, Aborted::default(), &view, Some(Codec::Gzip), LARGE, &mut None);
    assert_eq!((outcome.pieces.len(), outcome.refused), (1, None));
}

#[test]
fn the_size_is_that_of_the_whole_entry() {
    // fact R17: 2000 is taken, 2001 is not.
    for (log, target) in [(Batch::new(0, 1).padding(500).bytes(), V2), (message(0), V1)] {
        assert_eq!(planned(&log, target, size(log.len()), REFUSE).refused, None);
        assert!(planned(&log, target, size(log.len() - 1), REFUSE).refused.is_some());
    }
}

#[test]
fn timestamps_are_looked_at_where_the_header_says_that_one_may_be_out_of_range() {
    // report B21.
    let hour = 3_600_000;
    let limits = TopicLimits { timestamp_after_max_ms: Some(hour), ..NONE };
    let log = batch(0, Codec::Gzip, &[(T0, None, b"a"), (T0 + hour + 1, None, b"b"), (T0 + hour, None, b"c")]);
    let refused = planned(&log, V2, limits, REFUSE);
    let loss = Loss::Timestamp { timestamp: T0 + hour + 1 };
    assert_eq!((ranges(&refused), refused.refused), (vec![(0, 1)], Some((1, Refused::Loss(loss.clone())))));
    assert_eq!(lost(&planned(&log, V2, limits, DROP)), [(1, 2, 1, loss)]);
    // A maximum that no record has is the broker's to correct (fact R10).
    let mut wrong = Batch::new(0, 2);
    wrong.timestamp_max = Some(i64::MAX);
    let outcome = planned(&wrong.bytes(), V2, limits, REFUSE);
    assert_eq!((outcome.pieces[0].rewritten, outcome.refused), (false, None));
}

#[test]
fn no_timestamp_is_always_taken_and_extreme_ones_are_only_numbers() {
    let limits = TopicLimits { timestamp_before_max_ms: Some(1000), timestamp_after_max_ms: Some(1000), ..NONE };
    for (timestamp, is_taken) in [
        (-1, true),
        (T0, true),
        (T0 - 1000, true),
        (T0 - 1001, false),
        (0, false),
        (i64::MIN, false),
        (i64::MAX, false),
    ] {
        for (log, target) in [
            (batch(0, Codec::None, &[(timestamp, None, b"v")]), V2),
            (batch(0, Codec::Lz4, &[(timestamp, None, b"v")]), V1),
            (message_of(0, 0, timestamp, None, Some(b"v")), V1),
            (message_of(0, 0, timestamp, None, Some(b"v")), V2),
        ] {
            let outcome = planned(&log, target, limits, REFUSE);
            assert_eq!(outcome.refused.is_none(), is_taken, "{timestamp} to {:?}", target.magic);
            assert_eq!(planned(&log, target, NONE, REFUSE).refused, None);
        }
    }
}

#[test]
fn a_record_older_than_the_first_of_its_batch_is_found_once_the_target_has_refused_the_batch() {
    let limits = TopicLimits { timestamp_before_max_ms: Some(1000), ..NONE };
    let log = batch(0, Codec::None, &[(T0, None, b"a"), (T0 - 5000, None, b"b"), (T0, None, b"c")]);
    assert_eq!(ranges(&planned(&log, V2, limits, REFUSE)), [(0, 3)], "the header does not show it");
    let apart = View { limits, policies: REFUSE, apart_to: 3, ..view(0, V2) };
    let outcome = plan(log, Aborted::default(), &apart, None, LARGE, &mut None);
    let loss = Refused::Loss(Loss::Timestamp { timestamp: T0 - 5000 });
    assert_eq!((ranges(&outcome), outcome.refused), (vec![(0, 1)], Some((1, loss))));
    // Of a wrapper the header says even less: it is always looked into.
    let old = wrapper(Codec::Gzip, &[0, 1, 2000]);
    let limits = TopicLimits { timestamp_before_max_ms: Some(-1), ..NONE };
    assert!(matches!(planned(&old, V1, limits, REFUSE).refused, Some((0, _))));
}

#[test]
fn a_delete_horizon_says_nothing_about_the_age_of_records() {
    // KIP-534: the base timestamp lies in the future, and the records' deltas are negative.
    let mut builder = BatchBuilder::new(Codec::None, Some(T0 + 86_400_000));
    for timestamp in [T0 - 5000, T0] {
        builder.push(timestamp, None, Some(b"v"), HeadersSource::None).unwrap();
    }
    let mut log = builder.finish(Stamp::NONE).unwrap().to_vec();
    log[22] |= 0x40;
    let crc = crc32c(&log[21..]);
    log[17..21].copy_from_slice(&crc.to_be_bytes());
    let limits = TopicLimits { timestamp_before_max_ms: Some(1000), ..NONE };
    let view = View { limits, policies: REFUSE, ..view(0, V2) };
    let outcome = plan(log.into(), Aborted::default(), &view, None, LARGE, &mut None);
    assert_eq!(outcome.refused, Some((0, Refused::Loss(Loss::Timestamp { timestamp: T0 - 5000 }))));
}

#[test]
fn a_record_without_a_key_stops_the_link_in_front_of_it() {
    // report B20: neighbours in its batch still arrive.
    for target in [V1, V2] {
        let log = joined(&[keyed(0, "kk"), keyed(2, "k-k")]);
        let outcome = planned(&log, target, KEYS, REFUSE);
        assert_eq!((ranges(&outcome), outcome.cursor), (vec![(0, 2), (2, 3)], 3));
        assert_eq!(outcome.refused, Some((3, Refused::Loss(Loss::NoKey))));
        let again = plan(log, Aborted::default(), &View { limits: KEYS, ..view(3, target) }, None, LARGE, &mut None);
        assert_eq!((again.pieces.len(), again.refused), (0, Some((3, Refused::Loss(Loss::NoKey)))));
    }
}

#[test]
fn what_is_to_be_left_out_is_told_first_and_nothing_behind_it_is_written_meanwhile() {
    let log = joined(&[
        keyed(0, "kk"),
        keyed(2, "k--k-"),
        Batch::marker(7, 1, 1).bytes(),
        keyed(8, "kk"),
        keyed(10, "--"),
        Batch::new(12, 50).bytes().slice(..100),
    ]);
    for target in [V1, V2] {
        let told = planned(&log, target, KEYS, DROP);
        assert_eq!((ranges(&told), told.cursor, told.skipped), (vec![(0, 2)], 2, [0, 0, 0]));
        let runs = [(3, 5, 2, Loss::NoKey), (6, 7, 1, Loss::NoKey), (10, 12, 2, Loss::NoKey)];
        assert_eq!((lost(&told), told.refused, told.too_small), (runs.to_vec(), None, None));
        let left_out: LeftOut = told.left_out.iter().map(|range| (range.from, range.to)).collect();
        let stored = View { limits: KEYS, policies: DROP, left_out: &left_out, ..view(told.cursor, target) };
        let outcome = plan(log.clone(), Aborted::default(), &stored, None, LARGE, &mut None);
        assert_eq!((ranges(&outcome), outcome.cursor), (vec![(2, 8), (8, 12)], 12));
        assert_eq!((contents(&outcome).len(), outcome.left_out, outcome.skipped), (4, vec![], [1, 0, 0]));
        let walked = walk(log.clone(), Aborted::default(), &stored, 3);
        assert_eq!((walked.records, walked.cursor), (3, 9));
    }
}

#[test]
fn the_first_answer_that_is_all_losses_is_not_too_small() {
    let log = joined(&[keyed(0, "-"), Batch::new(1, 50).bytes().slice(..100)]);
    let told = planned(&log, V2, KEYS, DROP);
    assert_eq!((told.left_out.len(), told.cursor, told.too_small), (1, 0, None));
}

#[test]
fn a_loss_that_stops_the_link_waits_for_those_before_it_to_be_stored() {
    let policies = Policies { keyless: LossPolicy::Drop, timestamps: LossPolicy::Refuse, ..REFUSE };
    let limits = TopicLimits { timestamp_after_max_ms: Some(0), ..KEYS };
    let log = batch(
        0,
        Codec::None,
        &[(T0, None, b"a"), (T0, Some(b"k"), b"b"), (T0 + 1, Some(b"k"), b"c"), (T0, None, b"d")],
    );
    let told = planned(&log, V2, limits, policies);
    assert_eq!((lost(&told), told.refused), (vec![(0, 1, 1, Loss::NoKey)], None), "the last one is behind the stop");
    let left_out: LeftOut = [(0, 1)].into_iter().collect();
    let view = View { limits, policies, left_out: &left_out, ..view(0, V2) };
    let stopped = plan(log, Aborted::default(), &view, None, LARGE, &mut None);
    let loss = Refused::Loss(Loss::Timestamp { timestamp: T0 + 1 });
    assert_eq!((ranges(&stopped), stopped.refused), (vec![(1, 2)], Some((2, loss))));
}

#[test]
fn neighbours_of_one_kind_are_one_run() {
    let limits = TopicLimits { timestamp_after_max_ms: Some(0), ..KEYS };
    let at = |n: i64| T0 + n;
    let log = batch(0, Codec::None, &[(at(1), Some(b"k"), b""), (at(2), Some(b"k"), b""), (at(0), None, b"")]);
    let runs = lost(&planned(&joined(&[log, keyed(3, "-k-")]), V2, limits, DROP));
    let first = Loss::Timestamp { timestamp: at(1) };
    assert_eq!(runs, [(0, 2, 2, first), (2, 4, 2, Loss::NoKey), (5, 6, 1, Loss::NoKey)]);
}

#[test]
fn so_many_runs_in_one_call_and_no_more() {
    let signs = "-k".repeat(LEFT_OUT_RANGES_MAX + 5);
    let log = joined(&[keyed(0, &signs), keyed(i64::try_from(signs.len()).unwrap(), "-")]);
    let told = planned(&log, V2, KEYS, DROP);
    assert_eq!((told.left_out.len(), told.cursor), (LEFT_OUT_RANGES_MAX, 0));
    let left_out: LeftOut = told.left_out.iter().map(|range| (range.from, range.to)).collect();
    let view = View { limits: KEYS, policies: DROP, left_out: &left_out, ..view(0, V2) };
    let rest = plan(log, Aborted::default(), &view, None, LARGE, &mut None).left_out;
    let last = |range: &LossRange| (range.from, range.records);
    let end = i64::try_from(signs.len()).unwrap();
    assert_eq!((rest.len(), rest.last().map(last)), (6, Some((end, 1))));
}

#[test]
fn headers_towards_0_10_stop_the_link_or_are_dropped_from_the_record() {
    // report B18.
    let log = joined(&[Batch::new(0, 2).bytes(), Batch::new(2, 2).headers(1).bytes()]);
    let refused = planned(&log, V1, NONE, REFUSE);
    assert_eq!((ranges(&refused), refused.refused), (vec![(0, 2)], Some((2, Refused::Loss(Loss::Headers)))));
    let carried = planned(&log, V1, NONE, DROP);
    assert_eq!((contents(&carried).len(), carried.left_out.len()), (4, 0));
    assert_eq!(carried.pieces.iter().map(|piece| piece.headers_dropped).sum::<u32>(), 2);
    assert_eq!(planned(&log, V2, NONE, REFUSE).pieces.iter().map(|piece| piece.rewritten).max(), Some(false));
}

#[test]
fn zstd_becomes_lz4_where_the_target_does_not_know_it_and_snappy_stays() {
    // report B35.
    let old = Abilities { zstd: false, ..V2 };
    for (codec, target, wanted) in [
        (Codec::Zstd, old, Codec::Lz4),
        (Codec::Zstd, V1, Codec::Lz4),
        (Codec::Snappy, V1, Codec::Snappy),
        (Codec::Snappy, old, Codec::Snappy),
    ] {
        let log = Batch::gapped(0, vec![0, 2], 2).codec(codec).bytes();
        let outcome = planned(&log, target, NONE, REFUSE);
        assert_eq!(contents(&outcome), consumed(log, 0));
        let written = crate::sample::entry(super::bytes_of(&outcome.pieces[0]));
        assert_eq!(super::super::entry::codec(&written), Ok(wanted), "{codec} to {:?}", target.magic);
    }
}
