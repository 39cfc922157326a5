//! K1-K5: what compaction leaves of a log, as the brokers' cleaners were measured to do it.

use kmirror_proto::records::{MessageFormat, MessageSetBuilder, RawBatch, RawMessage, Records, messages};

use super::super::Marker;
use super::*;

/// When the measurement ran; timestamps are relative to it.
const NOW: i64 = 1_790_000_000_000;
const DAY: i64 = 86_400_000;

fn cleaned(now_ms: i64) -> (Now, TopicSettings) {
    let settings = TopicSettings {
        compact: true,
        delete: false,
        segment_ms: 300,
        segment_bytes: 1 << 20,
        min_cleanable_dirty_ratio: 0.001,
        ..settings()
    };
    (at(now_ms), settings)
}

/// A batch of these keys with value `v`, those that begin with `del` without one; timestamps count up from `ago`.
fn keyed(log: &Log, codec: Codec, stamp: Stamp, ago: i64, keys: &[&str]) -> Entry {
    let mut builder = BatchBuilder::new(codec, None);
    for (n, key) in (0..).zip(keys) {
        let value = (!key.starts_with("del")).then_some(&b"v"[..]);
        builder.push(NOW + ago + n, Some(key.as_bytes()), value, HeadersSource::None).unwrap();
    }
    placed(&builder.finish(stamp).unwrap(), log.end())
}

fn producer(producer_id: i64) -> Stamp {
    Stamp { producer_id, producer_epoch: 0, base_sequence: 0 }
}

const TEN: [&str; 10] = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"];

/// The log of the measurement, before the cleaner came.
fn measured(release: Release) -> Log {
    let (now, settings) = cleaned(NOW);
    let mut log = Log::new(release);
    let batches: [(Codec, Stamp, i64, &[&str]); 9] = [
        (Codec::None, producer(5), -40 * DAY, &TEN),
        (Codec::Gzip, Stamp::NONE, -39 * DAY, &TEN),
        (Codec::None, producer(6), -38 * DAY, &["k0", "k1"]),
        (Codec::None, Stamp::NONE, -37 * DAY - DAY / 2, &["k8", "k9"]),
        (Codec::None, Stamp::NONE, -37 * DAY, &["del1", "keep", "del2"]),
        (Codec::Gzip, Stamp::NONE, -36 * DAY, &["del3", "keep2"]),
        (Codec::None, Stamp::NONE, -35 * DAY, &["k0", "k1", "k3", "k4", "k5", "k8", "k9"]),
        (Codec::None, Stamp::NONE, -10 * DAY, &["roll"]),
        (Codec::None, Stamp::NONE, 0, &["roll2"]),
    ];
    for (codec, stamp, ago, keys) in batches {
        let entry = keyed(&log, codec, stamp, ago, keys);
        log.append(now, &settings, 0, vec![entry]).unwrap();
    }
    log
}

fn compact(log: &mut Log, now_ms: i64) {
    let (now, settings) = cleaned(now_ms);
    log.compact(now, &settings);
}

/// As [`compact`], but no two segments become one.
fn compact_apart(log: &mut Log, now_ms: i64) {
    let (now, settings) = cleaned(now_ms);
    log.compact(now, &TopicSettings { segment_bytes: 1, ..settings });
}

/// Base, last delta, count, attributes, base and largest timestamp (against [`NOW`]), producer id, sequence.
type Header = (i64, i32, i32, i16, i64, i64, i64, i32);

fn header(entry: &Entry) -> Header {
    let batch = RawBatch::from_bytes(entry.bytes.clone()).unwrap();
    assert!(batch.crc_ok());
    let h = batch.header;
    let (base, max) = (h.base_timestamp - NOW, h.max_timestamp - NOW);
    let base = if h.base_timestamp == -1 { -1 } else { base };
    let (delta, count) = (h.last_offset_delta, h.records_count);
    (h.base_offset, delta, count, h.attributes.0, base, max, h.producer_id, h.base_sequence)
}

/// Offset delta, timestamp delta, key, whether there is a value.
fn records(entry: &Entry) -> Vec<(i32, i64, String, bool)> {
    let records = Records::of(&RawBatch::from_bytes(entry.bytes.clone()).unwrap(), 1000).unwrap();
    let seen = records.iter().map(|record| {
        let record = record.unwrap();
        let key = String::from_utf8(record.key.unwrap().to_vec()).unwrap();
        (record.offset_delta, record.timestamp_delta, key, record.value.is_some())
    });
    seen.collect()
}

fn expected(horizon: Option<i64>) -> Vec<Header> {
    let (flag, tombstones) = (if horizon.is_some() { 0x40 } else { 0 }, |own| horizon.unwrap_or(own));
    vec![
        (0, 9, 0, 0, -1, -3_455_999_991, 5, 0),
        (10, 9, 3, 1, -3_369_599_998, -3_369_599_993, -1, -1),
        (20, 1, 0, 0, -1, -3_283_199_999, 6, 0),
        (24, 2, 3, flag, tombstones(-3_196_800_000), -3_196_799_998, -1, -1),
        (27, 1, 2, flag | 1, tombstones(-3_110_400_000), -3_110_399_999, -1, -1),
        (29, 6, 7, 0, -3_024_000_000, -3_023_999_994, -1, -1),
        (36, 0, 1, 0, -864_000_000, -864_000_000, -1, -1),
        (37, 0, 1, 0, 0, 0, -1, -1),
    ]
}

#[test]
fn k1_k2_k3_batches_after_cleaning_are_those_that_were_measured() {
    for release in [Release::V0_11, Release::V2_8, Release::V3_9, Release::V4_4] {
        let mut log = measured(release);
        compact(&mut log, NOW + 387);
        let horizon = (release >= Release::V3_9).then_some(DAY + 387);
        let entries: Vec<&Entry> = log.entries(0).collect();
        let headers: Vec<Header> = entries.iter().map(|entry| header(entry)).collect();
        assert_eq!(headers, expected(horizon), "{release}");
        let sizes: Vec<usize> = [0, 2, 3, 6, 7].map(|n: usize| entries[n].size()).to_vec();
        assert_eq!(sizes, [61, 61, if horizon.is_some() { 107 } else { 95 }, 73, 74], "{release}");
        let k = |key: &str| key.to_owned();
        assert_eq!(records(entries[1]), [(2, 0, k("k2"), true), (6, 4, k("k6"), true), (7, 5, k("k7"), true)]);
        let first = if horizon.is_some() { -3_283_200_387 } else { 0 };
        let tombstones =
            [(0, first, k("del1"), false), (1, first + 1, k("keep"), true), (2, first + 2, k("del2"), false)];
        assert_eq!(records(entries[3]), tombstones, "{release}");
    }
}

#[test]
fn k5_a_removed_offset_is_read_as_the_next_batch_and_cleaned_segments_are_one() {
    for release in [Release::V0_11, Release::V4_4] {
        let mut log = measured(release);
        compact(&mut log, NOW);
        let fetched = |from| -> Vec<i64> {
            let slice = log.read(from, 38, 1 << 20, true).unwrap();
            slice.entries.iter().map(|entry| entry.base_offset).collect()
        };
        assert_eq!(fetched(0), [0, 10, 20, 24, 27, 29, 36]);
        assert_eq!(fetched(5), fetched(0));
        assert_eq!(fetched(12), [10, 20, 24, 27, 29, 36]);
        assert_eq!(fetched(20), [20, 24, 27, 29, 36]);
        // 22 and 23 are gone for good.
        assert_eq!((fetched(22), fetched(25)), (vec![24, 27, 29, 36], vec![24, 27, 29, 36]));
        assert_eq!(fetched(37), [37], "the active segment");
    }
}

#[test]
fn k4_a_wrapper_gets_the_offset_of_its_last_survivor() {
    let (now, settings) = cleaned(NOW);
    let mut log = Log::new(Release::V0_10_1);
    let sets: [(Codec, i64, &[&str]); 6] = [
        (Codec::None, -40 * DAY, &TEN),
        (Codec::Gzip, -39 * DAY, &TEN),
        (Codec::None, -38 * DAY, &["k0", "k9"]),
        (Codec::Gzip, -35 * DAY, &["k0", "k1", "k3", "k4", "k5", "k8"]),
        (Codec::None, -10 * DAY, &["roll"]),
        (Codec::None, 0, &["k7of the active segment"]),
    ];
    for (codec, ago, keys) in sets {
        let entries = set(&log, codec, ago, keys);
        log.append(now, &settings, 0, entries).unwrap();
    }
    compact(&mut log, NOW);
    let seen: Vec<(i64, i64, Vec<i64>)> = log
        .entries(0)
        .map(|entry| {
            let message = RawMessage::from_bytes(entry.bytes.clone()).unwrap();
            assert!(message.crc_ok());
            let inner = messages(&message, 10_000).unwrap();
            let offsets = inner.iter().map(|message| message.unwrap().offset).collect();
            (entry.last_offset, entry.max_timestamp - NOW, offsets)
        })
        .collect();
    let six: Vec<i64> = (22..28).collect();
    let last = (29, 0, vec![29]);
    let expected = [
        (17, -3_369_599_993, vec![12, 16, 17]),
        (21, -3_283_199_999, vec![21]),
        (27, -3_023_999_995, six),
        (28, -864_000_000, vec![28]),
        last,
    ];
    assert_eq!(seen, expected);
    // The inner offsets themselves: [0, 4, 5].
    let wrapper = log.read(0, 30, 10_000, true).unwrap().entries[0].clone();
    let inner = kmirror_proto::compress::decompress(Codec::Gzip, &wrapper.bytes.slice(34..), 10_000).unwrap();
    let second = i64::from_be_bytes(inner[12 + 22 + 2 + 1..][..8].try_into().unwrap());
    assert_eq!((inner[7], second, wrapper.base_offset), (0, 4, 12));
}

fn set(log: &Log, codec: Codec, ago: i64, keys: &[&str]) -> Vec<Entry> {
    let mut builder = MessageSetBuilder::new(MessageFormat::V1, codec);
    builder.set_base_offset(log.end());
    for (n, key) in (0..).zip(keys) {
        builder.push(NOW + ago + n, Some(key.as_bytes()), Some(b"v")).unwrap();
    }
    let mut rest = builder.finish().unwrap();
    let mut entries = Vec::new();
    while let Some(length) = rest.get(8..12) {
        let size = 12 + usize::try_from(i32::from_be_bytes(length.try_into().unwrap())).unwrap();
        entries.push(Entry::read(rest.split_to(size)).unwrap());
    }
    entries
}

/// One more batch, so that the last one lies in a segment that is cleaned, and there is something to clean.
fn rolled(log: &mut Log, clock: i64) {
    let (now, settings) = cleaned(clock);
    let entry = keyed(log, Codec::None, Stamp::NONE, clock - NOW, &["roll"]);
    log.append(now, &settings, 0, vec![entry]).unwrap();
}

fn tombstones(log: &Log) -> usize {
    let entries = log.entries(24).take_while(|entry| entry.last_offset < 29);
    entries.flat_map(records).filter(|(.., value)| !value).count()
}

#[test]
fn k3_tombstones_go_at_the_horizon_that_their_batch_says() {
    let mut log = measured(Release::V3_9);
    compact(&mut log, NOW);
    rolled(&mut log, NOW + DAY - 500);
    compact(&mut log, NOW + DAY - 1);
    assert_eq!(tombstones(&log), 3);
    rolled(&mut log, NOW + DAY);
    compact(&mut log, NOW + DAY);
    assert_eq!(tombstones(&log), 0);
    // What else is in their batches stays, still under the horizon.
    let left = log.entries(24).next().unwrap();
    assert_eq!((header(left), records(left).len()), ((24, 2, 1, 0x40, DAY, -3_196_799_999, -1, -1), 1));
}

#[test]
fn up_to_3_0_tombstones_go_when_their_segment_is_a_day_older_than_the_last_clean_one() {
    let mut log = measured(Release::V2_8);
    for (day, left) in [(0, 3), (1, 3), (2, 3), (3, 0)] {
        rolled(&mut log, NOW + day * DAY + 500);
        compact_apart(&mut log, NOW + day * DAY + 500);
        assert_eq!(tombstones(&log), left, "day {day}");
    }
    // Segments that become one are as young as the youngest of them (KAFKA-8522).
    let mut log = measured(Release::V2_8);
    for day in 0..9 {
        rolled(&mut log, NOW + day * DAY + 500);
        compact(&mut log, NOW + day * DAY + 500);
    }
    assert_eq!(tombstones(&log), 3);
}

#[test]
fn what_is_compacted_stays_as_it_is_until_there_is_more() {
    let mut log = measured(Release::V3_9);
    compact(&mut log, NOW);
    let before: Vec<Bytes> = log.entries(0).map(|entry| entry.bytes.clone()).collect();
    compact(&mut log, NOW + 10 * DAY);
    assert_eq!(log.entries(0).map(|entry| entry.bytes.clone()).collect::<Vec<_>>(), before);
    // A ratio that is not reached, or another policy.
    let (now, settings) = cleaned(NOW);
    for idle in [
        TopicSettings { min_cleanable_dirty_ratio: 1.0, ..settings.clone() },
        TopicSettings { compact: false, ..settings },
    ] {
        let mut log = measured(Release::V3_9);
        log.compact(now, &idle);
        assert_eq!(log.entries(0).count(), 9);
    }
}

#[test]
fn aborted_records_go_at_once_and_markers_when_nothing_of_their_transaction_is_left() {
    for release in [Release::V2_8, Release::V3_9] {
        let (now, settings) = cleaned(NOW);
        let mut log = Log::new(release);
        for (id, commit) in [(1, false), (2, true)] {
            let mut bytes = keyed(&log, Codec::None, producer(id), -DAY, &["a", "b"]).bytes.to_vec();
            bytes[22] |= 0x10;
            let crc = kmirror_proto::records::crc32c(&bytes[21..]);
            bytes[17..21].copy_from_slice(&crc.to_be_bytes());
            log.append(now, &settings, 0, vec![Entry::read(Bytes::from(bytes)).unwrap()]).unwrap();
            let marker = Marker { producer_id: id, producer_epoch: 0, coordinator_epoch: 0, commit };
            log.append_marker(now, &settings, 0, marker);
        }
        let seen = |log: &Log| -> Vec<(i64, i32)> {
            log.entries(0).map(header).filter(|h| h.0 < 6).map(|h| (h.0, h.2)).collect()
        };
        rolled(&mut log, NOW + 1000);
        compact_apart(&mut log, NOW + 1000);
        // The aborted batch is the last one of its producer: it stays, emptied.
        assert_eq!(seen(&log), [(0, 0), (2, 1), (3, 2), (5, 1)], "{release}");
        assert_eq!(log.aborted(0, 6), [(1, 0)]);
        // Its producer is forgotten a week later: nothing is left but the marker, and then not that either.
        log.restart(at(NOW + 30 * DAY), true);
        for day in [30, 31, 32, 33] {
            rolled(&mut log, NOW + day * DAY);
            compact_apart(&mut log, NOW + day * DAY);
        }
        assert_eq!(seen(&log), [(3, 2), (5, 1)], "{release}: the committed transaction has its data");
        assert_eq!(log.aborted(0, 6), [], "{release}");
    }
}

#[test]
fn what_is_not_decided_is_not_compacted() {
    let (now, settings) = cleaned(NOW);
    let mut log = Log::new(Release::V3_9);
    for id in [1, 2] {
        let mut bytes = keyed(&log, Codec::None, producer(id), 1000 * id, &["a", "a"]).bytes.to_vec();
        bytes[22] |= if id == 2 { 0x10 } else { 0 };
        log.append(now, &settings, 0, vec![Entry::read(Bytes::from(bytes)).unwrap()]).unwrap();
    }
    rolled(&mut log, NOW + 5000);
    compact(&mut log, NOW + 5000);
    let counts: Vec<i32> = log.entries(0).map(|entry| records(entry).len().try_into().unwrap()).collect();
    assert_eq!(counts, [1, 2, 1], "the first batch lost a record to its own second one, the open one none");
}
