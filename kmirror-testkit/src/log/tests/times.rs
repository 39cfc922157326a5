//! ListOffsets as measured: 9 records in 3 batches, timestamps 16e11, + 100000 (gzip), + 200000.

use kmirror_proto::records::{MessageFormat, MessageSetBuilder};

use super::*;

const T: i64 = 1_600_000_000_000;

fn measured(magic: i8) -> Log {
    let mut log = Log::new(if magic == 2 { Release::V3_9 } else { Release::V0_10_1 });
    for (n, codec) in [(0, Codec::None), (1, Codec::Gzip), (2, Codec::None)] {
        let timestamps = [0, 1, 2].map(|i| T + n * 100_000 + i);
        let entries =
            if magic == 2 { vec![batch_of(&log, codec, timestamps)] } else { set_of(&log, codec, timestamps) };
        append(&mut log, entries);
    }
    log
}

fn batch_of(log: &Log, codec: Codec, timestamps: [i64; 3]) -> Entry {
    let mut builder = BatchBuilder::new(codec, None);
    for timestamp in timestamps {
        builder.push(timestamp, None, Some(b"v"), HeadersSource::None).unwrap();
    }
    placed(&builder.finish(Stamp::NONE).unwrap(), log.end())
}

fn set_of(log: &Log, codec: Codec, timestamps: [i64; 3]) -> Vec<Entry> {
    let entry = |set: Bytes, offset: i64| {
        Entry::read(Bytes::from([&(log.end() + offset).to_be_bytes(), &set[8..]].concat())).unwrap()
    };
    let built = |timestamps: &[i64]| {
        let mut builder = MessageSetBuilder::new(MessageFormat::V1, codec);
        timestamps.iter().for_each(|timestamp| builder.push(*timestamp, None, Some(b"v")).unwrap());
        builder.finish().unwrap()
    };
    match codec {
        Codec::None => (0..).zip(timestamps).map(|(n, timestamp)| entry(built(&[timestamp]), n)).collect(),
        Codec::Gzip | Codec::Snappy | Codec::Lz4 | Codec::Zstd => vec![entry(built(&timestamps), 2)],
    }
}

#[test]
fn a_time_finds_the_first_record_that_is_as_new_also_inside_a_compressed_batch() {
    for magic in [1, 2] {
        let log = measured(magic);
        let found = |timestamp| log.offset_for_time(timestamp).map(|dated| (dated.timestamp, dated.offset));
        assert_eq!(found(T + 100_001), Some((T + 100_001, 4)));
        assert_eq!(found(T + 100_000), Some((T + 100_000, 3)));
        assert_eq!(found(T - 1), Some((T, 0)));
        assert_eq!(found(0), Some((T, 0)));
        assert_eq!(found(-3), Some((T, 0)), "an ordinary timestamp up to 2.8");
        assert_eq!(found(1_700_000_000_000), None);
        assert_eq!(log.newest().map(|dated| (dated.timestamp, dated.offset)), Some((T + 200_002, 8)));
        assert_eq!(log.offset_for_time(T).unwrap().leader_epoch, if magic == 2 { 0 } else { -1 });
    }
    assert_eq!(Log::new(Release::V3_9).offset_for_time(T), None);
}

#[test]
fn what_lies_before_the_start_is_not_found() {
    let mut log = measured(2);
    log.delete_records(4);
    assert_eq!(log.offset_for_time(0).map(|dated| dated.offset), Some(4));
}

#[test]
fn an_append_time_is_every_records_time() {
    let mut log = Log::new(Release::V2_0);
    let mut bytes = batch_at(0, Stamp::NONE, &[T, T + 5, T + 9]).bytes.to_vec();
    bytes[22] |= 0x08;
    append(&mut log, vec![Entry::read(Bytes::from(bytes)).unwrap()]);
    let dated = log.offset_for_time(T + 1).unwrap();
    assert_eq!((dated.offset, dated.timestamp), (0, T + 9));
}

#[test]
fn version_0_knows_the_starts_of_segments_only() {
    let mut log = measured(1);
    let now = at(T + 1_000_000_000);
    assert_eq!(log.offsets_before(now, -1, 10), [9, 0]);
    assert_eq!(log.offsets_before(now, -1, 1), [9]);
    assert_eq!(log.offsets_before(now, -2, 10), [0]);
    assert_eq!(log.offsets_before(now, -3, 10), Vec::<i64>::new());
    assert_eq!(Log::new(Release::V0_10_0).offsets_before(now, -1, 10), [0]);
    // A second segment, written to a second later.
    let small = TopicSettings { segment_bytes: 200, ..settings() };
    let more = set_of(&log, Codec::None, [T; 3]);
    log.append(at(1000), &small, 0, more).unwrap();
    assert_eq!(log.offsets_before(now, -1, 10), [12, 9, 0]);
    assert_eq!(log.offsets_before(now, 999, 10), [0]);
    assert_eq!(log.offsets_before(now, 1000, 10), [9, 0]);
}

#[test]
fn a_long_log_is_searched_through_its_index() {
    let mut log = Log::new(Release::V2_0);
    for n in 0..2000 {
        // Now and then an old one, which the search must not take for a new one.
        let timestamp = if n % 7 == 3 { 5 } else { n * 10 };
        let entry = batch(&log, Stamp::NONE, &[timestamp]);
        append(&mut log, vec![entry]);
    }
    for n in [0, 1, 500, 1234, 1999] {
        let brute = log.entries(0).find(|entry| entry.max_timestamp >= n * 10).map(|entry| entry.base_offset);
        assert_eq!(log.offset_for_time(n * 10).map(|dated| dated.offset), brute, "{n}");
    }
}
