//! Tiny batches that become one.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{RawBatch, Records};
use proptest::prelude::*;

use super::super::{Joiner, TopicLimits, joined_bytes_max};
use crate::limits::{DECOMPRESSED_BYTES_MAX, TINY_BATCH_BYTES};
use crate::sample::{Batch, Seen, records_of};

const LARGE: usize = 800_000;

/// How many batches were joined, and the values of the whole.
fn joined(batches: &[RawBatch], bytes_max: usize) -> Option<(usize, Vec<Seen>)> {
    let joined = Joiner::default().join(batches.iter(), bytes_max)?;
    assert!(joined.batch.crc_ok());
    Some((joined.batches, seen(std::slice::from_ref(&joined.batch))))
}

fn seen(batches: &[RawBatch]) -> Vec<Seen> {
    let all = batches.iter().flat_map(|batch| records_of(batch.bytes().clone()));
    all.map(|seen| Seen { offset: 0, ..seen }).collect()
}

fn raw(batches: &[Batch]) -> Vec<RawBatch> {
    batches.iter().map(Batch::raw).collect()
}

#[test]
fn records_keep_their_times_and_headers_and_the_batch_its_codec() {
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let mut later = Batch::new(3, 2).codec(codec).headers(2).transactional(7);
        later.t0 -= 500;
        let batches = raw(&[Batch::new(0, 3).codec(codec), later, Batch::new(9, 1).codec(codec)]);
        let joined = Joiner::default().join(batches.iter(), LARGE).unwrap();
        let header = &joined.batch.header;
        assert_eq!(joined.batches, 3);
        assert_eq!(
            header.attributes.0, batches[0].header.attributes.0,
            "{codec}: no other bit is taken along (report B06)"
        );
        assert_eq!((header.base_offset, header.records_count, header.last_offset_delta), (0, 6, 5));
        assert_eq!(header.max_timestamp, batches[2].header.max_timestamp);
        let records = Records::of(&joined.batch, DECOMPRESSED_BYTES_MAX).unwrap();
        let deltas: Vec<_> = records.iter().map(|record| record.unwrap().offset_delta).collect();
        assert_eq!(deltas, [0, 1, 2, 3, 4, 5]);
        assert_eq!(seen(&[joined.batch]), seen(&batches));
    }
}

#[test]
fn only_neighbours_of_one_codec_are_joined() {
    let [plain, gzip] = [Codec::None, Codec::Gzip].map(|codec| move |base| Batch::new(base, 1).codec(codec));
    let batches = raw(&[plain(0), plain(1), gzip(2), gzip(3), plain(4)]);
    let mut joiner = Joiner::default();
    let mut count = |from: usize| joiner.join(batches[from..].iter(), LARGE).map(|joined| joined.batches);
    assert_eq!((count(0), count(1), count(2), count(3), count(4)), (Some(2), None, Some(2), None, None));
}

#[test]
fn a_batch_of_16_kib_is_never_joined() {
    let of = |bytes: usize| {
        let overhead = Batch::new(1, 1).padding(10_000).bytes().len() - 10_000;
        let batch = Batch::new(1, 1).padding(bytes - overhead).raw();
        assert_eq!(batch.bytes().len(), bytes);
        batch
    };
    let tiny = Batch::new(0, 1).raw();
    assert!(joined(&[tiny.clone(), of(TINY_BATCH_BYTES)], LARGE).is_none());
    assert!(joined(&[of(TINY_BATCH_BYTES), tiny.clone()], LARGE).is_none());
    assert_eq!(joined(&[tiny, of(TINY_BATCH_BYTES - 1)], LARGE).map(|(batches, _)| batches), Some(2));
}

#[test]
fn a_damaged_batch_is_left_to_be_refused() {
    // report B17: a fresh checksum over it would launder the damage.
    let mut bytes = Batch::new(2, 1).bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    let damaged = RawBatch::from_bytes(bytes.into()).unwrap();
    let [before, behind] = [Batch::new(0, 1).raw(), Batch::new(1, 1).raw()];
    let batches = [before.clone(), behind.clone(), damaged.clone(), before.clone()];
    assert_eq!(joined(&batches, LARGE).map(|(batches, _)| batches), Some(2));
    assert!(joined(&[before.clone(), damaged.clone()], LARGE).is_none());
    assert!(joined(&[damaged, before.clone()], LARGE).is_none());
    // Nor is one that does not parse, under a checksum that is right.
    let mut broken = Batch::new(2, 1);
    broken.attributes = 1;
    let broken = broken.raw();
    let gzip = Batch::new(0, 1).codec(Codec::Gzip).raw();
    assert!(broken.crc_ok() && joined(&[gzip, broken], LARGE).is_none());
}

#[test]
fn what_was_begun_is_forgotten() {
    // A first batch that fits and a second one that does not: nothing of the first is left in the next one.
    let mut joiner = Joiner::default();
    let small = raw(&[Batch::new(0, 1), Batch::new(1, 1)]);
    assert!(joiner.join([&small[0], &Batch::new(1, 1).padding(400).raw()].into_iter(), 300).is_none());
    let joined = joiner.join(small.iter(), 300).unwrap();
    assert_eq!(seen(&[joined.batch]), seen(&small));
}

#[test]
fn a_bomb_is_not_opened_for_it() {
    // 5 MB of dots in less than 16 KiB: it goes as it is.
    let bomb = Batch::new(1, 1).codec(Codec::Zstd).padding(5_000_000).raw();
    assert!(bomb.bytes().len() < TINY_BATCH_BYTES);
    assert!(joined(&[Batch::new(0, 1).codec(Codec::Zstd).raw(), bomb], LARGE).is_none());
}

#[test]
fn the_topics_limit_counts() {
    let limits = |bytes| TopicLimits { batch_bytes_max: bytes, ..TopicLimits::default() };
    assert_eq!(joined_bytes_max(LARGE, &limits(None)), LARGE);
    assert!(joined_bytes_max(LARGE, &limits(Some(100_000))) < 100_000);
    assert_eq!(joined_bytes_max(500, &limits(Some(100_000))), 500);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is joined is a prefix of what waits, no larger than it may be, and says the same.
    #[test]
    fn nothing_is_added_or_lost(
        sizes in prop::collection::vec((1..5_i32, 0..300_usize, 0..3_u8, -9000..9000_i64), 0..12),
        codec in prop_oneof![Just(Codec::None), Just(Codec::Lz4), Just(Codec::Zstd)],
        bytes_max in 61..3000_usize,
    ) {
        let mut base = 0;
        let mut batches = Vec::new();
        for (records, padding, headers, ahead) in sizes {
            let mut batch = Batch::new(base, records).padding(padding).headers(headers).codec(codec);
            batch.t0 += ahead;
            batches.push(batch.raw());
            base += i64::from(records);
        }
        let Some(joined) = Joiner::default().join(batches.iter(), bytes_max) else { return Ok(()) };
        prop_assert!(joined.batches >= 2 && joined.batches <= batches.len());
        let plain = Records::of(&joined.batch, DECOMPRESSED_BYTES_MAX).unwrap().payload().len();
        prop_assert!(plain + 61 <= bytes_max, "{plain} bytes, {bytes_max} allowed");
        prop_assert_eq!(seen(std::slice::from_ref(&joined.batch)), seen(&batches[..joined.batches]));
    }
}
