//! F4-F7 and R3: what a read gives.

use kmirror_proto::records::{MessageFormat, MessageSetBuilder};

use super::super::{OutOfRange, Slice};
use super::*;

const ALL: usize = 1_000_000;

/// The last offsets of the whole entries, and the bytes of the cut one.
fn seen(slice: Slice<'_>) -> (Vec<i64>, usize) {
    assert_eq!(slice.records().len(), slice.size());
    (slice.entries.iter().map(|entry| entry.last_offset).collect(), slice.cut.map_or(0, |(_, len)| len))
}

fn read(log: &Log, offset: i64, max_bytes: usize, whole_first: bool) -> (Vec<i64>, usize) {
    seen(log.read(offset, log.end(), max_bytes, whole_first).unwrap())
}

#[test]
fn f4_an_offset_inside_a_batch_brings_the_whole_batch() {
    let log = filled(Release::V2_0, &[10, 10, 10]);
    assert_eq!(read(&log, 0, ALL, false), (vec![9, 19, 29], 0));
    assert_eq!(read(&log, 15, ALL, false), (vec![19, 29], 0));
    assert_eq!(log.read(15, 30, ALL, false).unwrap().entries[0].base_offset, 10);
}

#[test]
fn f4_plain_messages_begin_at_the_offset_and_a_wrapper_comes_whole() {
    let mut log = Log::new(Release::V0_10_1);
    let mut plain = MessageSetBuilder::new(MessageFormat::V1, Codec::None);
    plain.push(1, None, Some(b"v")).unwrap();
    let plain = plain.finish().unwrap();
    let run = (0..3_i64).map(|offset| {
        let bytes = [&offset.to_be_bytes(), &plain[8..]].concat();
        Entry::read(Bytes::from(bytes)).unwrap()
    });
    append(&mut log, run.collect());
    let mut wrapper = MessageSetBuilder::new(MessageFormat::V1, Codec::Gzip);
    for _ in 0..3 {
        wrapper.push(2, None, Some(b"v")).unwrap();
    }
    let wrapper = [&5_i64.to_be_bytes(), &wrapper.finish().unwrap()[8..]].concat();
    let appended = append(&mut log, vec![Entry::read(Bytes::from(wrapper)).unwrap()]);
    assert_eq!((appended.base_offset, appended.last_offset, log.end()), (3, 5, 6));
    assert_eq!(read(&log, 1, ALL, false), (vec![1, 2, 5], 0));
    let slice = log.read(4, 6, ALL, false).unwrap();
    assert_eq!((slice.entries[0].base_offset, slice.entries[0].last_offset), (3, 5));
}

#[test]
fn f5_the_limit_cuts_a_trailing_batch_and_the_first_one_comes_whole_if_asked() {
    let log = filled(Release::V2_0, &[10, 10, 10]);
    let size = log.entries(0).next().unwrap().size();
    assert_eq!(read(&log, 0, 50, false), (vec![], 50));
    assert_eq!(read(&log, 0, 50, true), (vec![9], 0));
    assert_eq!(read(&log, 0, 0, true), (vec![9], 0));
    assert_eq!(read(&log, 0, 0, false), (vec![], 0));
    assert_eq!(read(&log, 0, size + 159, true), (vec![9], 159));
    let records = log.read(0, 30, size + 159, true).unwrap().records();
    assert_eq!(records[size..], log.entries(10).next().unwrap().bytes[..159]);
}

#[test]
fn f5_one_batch_is_read_without_copying_it() {
    let log = filled(Release::V2_0, &[10]);
    let stored = &log.entries(0).next().unwrap().bytes;
    assert_eq!(log.read(3, 10, ALL, true).unwrap().records().as_ptr(), stored.as_ptr());
}

#[test]
fn f5_an_answer_never_crosses_a_segment_end() {
    let mut log = Log::new(Release::V2_0);
    let size = batch(&log, Stamp::NONE, &[1000]).size();
    let two = TopicSettings { segment_bytes: 2 * size, ..settings() };
    for _ in 0..5 {
        let entry = batch(&log, Stamp::NONE, &[1000]);
        log.append(at(0), &two, 0, vec![entry]).unwrap();
    }
    assert_eq!(read(&log, 0, ALL, false), (vec![0, 1], 0));
    assert_eq!(read(&log, 3, ALL, false), (vec![3], 0));
    assert_eq!(read(&log, 0, size + 9, false), (vec![0], 9));
    assert_eq!(log.entries(1).count(), 4);
}

#[test]
fn f6_f7_nothing_at_the_end_and_out_of_range_beyond_it() {
    let log = filled(Release::V2_0, &[3, 3]);
    assert_eq!(read(&log, 6, ALL, true), (vec![], 0));
    assert_eq!(log.read(7, 6, ALL, true).unwrap_err(), OutOfRange);
    assert_eq!(log.read(-1, 6, ALL, true).unwrap_err(), OutOfRange);
    // The limit lies on a batch's edge, or inside one that is then not returned at all.
    assert_eq!(seen(log.read(0, 3, ALL, true).unwrap()), (vec![2], 0));
    assert_eq!(seen(log.read(4, 3, ALL, true).unwrap()), (vec![], 0));
}

#[test]
fn r3_a_gap_on_0_11_lies_over_earlier_offsets_and_the_end_looks_right() {
    // [0-2][3-5][3-8][1-10][11-13]: measured with deltas [0,2,5] of 3 records, then lod 9 of 2, then a good batch.
    let mut log = filled(Release::V0_11, &[3, 3]);
    for (base, last_delta) in [(3_i64, 5_i32), (1, 9)] {
        let mut gap = batch_at(base, Stamp::NONE, &[1000; 3]).bytes.to_vec();
        gap[23..27].copy_from_slice(&last_delta.to_be_bytes());
        let entry = Entry::read(Bytes::from(gap)).unwrap();
        let before = log.end();
        let appended = append(&mut log, vec![entry]);
        assert_eq!((appended.base_offset, appended.last_offset), (before, base + i64::from(last_delta)));
    }
    let entry = batch(&log, Stamp::NONE, &[1000; 3]);
    append(&mut log, vec![entry]);
    assert_eq!(log.end(), 14);
    let ranges = |from| -> Vec<(i64, i64)> {
        let slice = log.read(from, 14, ALL, true).unwrap();
        slice.entries.iter().map(|entry| (entry.base_offset, entry.last_offset)).collect()
    };
    assert_eq!(ranges(0), [(0, 2), (3, 5), (3, 8), (1, 10), (11, 13)]);
    assert_eq!(ranges(9), [(1, 10), (11, 13)]);
}
