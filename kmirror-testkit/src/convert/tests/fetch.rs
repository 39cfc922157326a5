//! F1, F2: converted answers, by the raw rows of the fetch matrix. Topics: 10 plain, 10 gzip, 10 plain records.

use kmirror_proto::records::MessageFormat::{V0, V1};

use super::super::down::Down;
use super::super::{Headers, NotDown, Packing, down, is_needed};
use super::*;

/// The log as it is stored in `magic`.
fn log(magic: i8) -> Vec<Entry> {
    let part = |codec, first: i64| {
        let records: Vec<Told> = (first..first + 10).map(told).collect();
        match MessageFormat::from_magic(magic) {
            Some(format) => set(format, codec, first, &records),
            None => vec![batch(codec, first, &records)],
        }
    };
    [part(Codec::None, 0), part(Codec::Gzip, 10), part(Codec::None, 20)].concat()
}

/// What a read from an offset gives (F4).
fn from(log: &[Entry], offset: i64) -> &[Entry] {
    let at = log.iter().position(|entry| entry.last_offset >= offset).unwrap();
    &log[at..]
}

fn converted(entries: &[Entry], format: MessageFormat, offset: i64, packing: Packing) -> (Down, Vec<Entry>) {
    let down = down(entries, format, offset, packing, Headers::Dropped).unwrap();
    let entries = super::super::rewrite::entries(down.records.clone()).unwrap();
    (down, entries)
}

/// The size, and the entries as the measurement writes them.
fn row(entries: &[Entry], format: MessageFormat, offset: i64, packing: Packing) -> (usize, String) {
    let (down, entries) = converted(entries, format, offset, packing);
    (down.records.len(), shown(&entries))
}

#[test]
fn the_records_are_as_large_as_the_measured_ones() {
    // native(m1) `F v3 103B: m1@0a0`, native(m2) `F v4 841B: m2[0..9]n10a0`, `m0` 950B for ten.
    assert_eq!(log(1)[0].size(), 103);
    assert_eq!((log(2)[0].size(), shown(&log(2)[..1])), (841, "m2[0..9]n10a0".to_owned()));
    assert_eq!(log(0)[..10].iter().map(Entry::size).sum::<usize>(), 950);
}

#[test]
fn f1_from_0_11_on_each_entry_by_itself() {
    for stored in [1, 2] {
        let log = log(stored);
        // `1 whole log from 0`: F v0-1, v2-3.
        let (_, whole) = row(&log, V0, 0, Packing::Apart);
        assert_eq!(whole, "m0@0a0 m0@1a0 m0@2a0 ..16 more.. m0@28a0 m0@29a0");
        // `2 from offset 15 (mid gzip batch)`: the whole wrapper comes.
        let (_, mid) = row(from(&log, 15), V0, 15, Packing::Apart);
        assert_eq!(mid, "m0@19a1 m0@20a0 m0@21a0 ..6 more.. m0@28a0 m0@29a0");
        // `2b from offset 5 (mid 1st)`: exactly from the offset on, though the batch comes whole.
        let (_, early) = row(from(&log, 5), V0, 5, Packing::Apart);
        assert_eq!(early, "m0@5a0 m0@6a0 m0@7a0 ..11 more.. m0@28a0 m0@29a0");
    }
    let log = log(2);
    assert_eq!(row(&log, V1, 0, Packing::Apart).1, "m1@0a0 m1@1a0 m1@2a0 ..16 more.. m1@28a0 m1@29a0");
    assert_eq!(row(from(&log, 15), V1, 15, Packing::Apart).1, "m1@19a1 m1@20a0 m1@21a0 ..6 more.. m1@28a0 m1@29a0");
    // `3c partition max_bytes=1000`: F v0-1 950B, v2-3 1030B of ten; `3b` F v3: m1@19a1.
    assert_eq!(row(&log[..1], V0, 0, Packing::Apart).0, 950);
    assert_eq!(
        row(&log[..1], V1, 0, Packing::Apart),
        (1030, "m1@0a0 m1@1a0 m1@2a0 ..5 more.. m1@8a0 m1@9a0".to_owned())
    );
    assert_eq!(row(&log[1..2], V1, 10, Packing::Apart).1, "m1@19a1");
}

#[test]
fn f1_0_10_packs_all_in_the_codec_of_the_first() {
    let log = log(1);
    // `1 whole log from 0, native(m1)`: `F v0-1 2850B: m0@0a0 … ..25 more..`; `2b`: 2375B.
    let whole = (2850, "m0@0a0 m0@1a0 m0@2a0 ..25 more.. m0@28a0 m0@29a0".to_owned());
    assert_eq!(row(&log, V0, 0, Packing::Together), whole);
    let early = (2375, "m0@5a0 m0@6a0 m0@7a0 ..20 more.. m0@28a0 m0@29a0".to_owned());
    assert_eq!(row(from(&log, 5), V0, 5, Packing::Together), early);
    // `2 from offset 15`: `F v0-1 264B: m0@29a1`, twenty records.
    let (_, entries) = converted(from(&log, 15), V0, 15, Packing::Together);
    assert_eq!(shown(&entries), "m0@29a1");
    assert_eq!(read(&entries).iter().map(|(offset, _)| *offset).collect::<Vec<_>>(), (10..30).collect::<Vec<_>>());
    // `3c partition max_bytes=1000`: of what is whole, `855B: m0@0a0 … m0@8a0`.
    let nine = (855, "m0@0a0 m0@1a0 m0@2a0 ..4 more.. m0@7a0 m0@8a0".to_owned());
    assert_eq!(row(&log[..9], V0, 0, Packing::Together), nine);
}

#[test]
fn contents_and_offsets_stay() {
    for (stored, format, packing) in
        [(2, V1, Packing::Apart), (2, V0, Packing::Apart), (1, V0, Packing::Apart), (1, V0, Packing::Together)]
    {
        let (_, entries) = converted(&log(stored), format, 0, packing);
        let kept = |n| Told { timestamp: if format == V0 { -1 } else { THEN + n }, ..told(n) };
        assert_eq!(read(&entries), (0..30).map(|n| (n, kept(n))).collect::<Vec<_>>());
    }
}

#[test]
fn a_compacted_batch_keeps_the_gaps() {
    // K1 as stored, K4 as it would be in magic 1: wrapper 17, inner [0, 4, 5].
    let mut builder = MessageSetBuilder::new(V1, Codec::Gzip);
    builder.set_base_offset(12);
    for offset in [12, 16, 17] {
        builder.push_at(offset, THEN, Some(b"k"), Some(b"v")).unwrap();
    }
    let stored = super::super::rewrite::entries(builder.finish().unwrap()).unwrap();
    let (_, entries) = converted(&stored, V0, 0, Packing::Apart);
    assert_eq!(shown(&entries), "m0@17a1");
    assert_eq!(read(&entries).iter().map(|(offset, _)| *offset).collect::<Vec<_>>(), [12, 16, 17]);
    // K2: a batch that compaction emptied leaves nothing.
    let mut empty = batch(Codec::None, 40, &[told(0)]).bytes[..61].to_vec();
    empty[8..12].copy_from_slice(&49_i32.to_be_bytes());
    empty[57..61].copy_from_slice(&0_i32.to_be_bytes());
    let empty = Entry::read(Bytes::from(empty)).unwrap();
    assert_eq!(converted(&[empty], V1, 0, Packing::Apart).0, Down::default());
}

#[test]
fn older_entries_go_out_as_they_are() {
    let mixed = [log(0)[..2].to_vec(), log(1)[2..4].to_vec(), vec![batch(Codec::None, 4, &[told(4)])]].concat();
    assert!(is_needed(&mixed, V1) && is_needed(&mixed[..4], V0));
    assert!(!is_needed(&mixed[..4], V1) && !is_needed(&mixed[..2], V0));
    let (_, entries) = converted(&mixed, V1, 0, Packing::Apart);
    assert_eq!(shown(&entries), "m0@0a0 m0@1a0 m1@2a0 m1@3a0 m1@4a0");
    assert_eq!(entries[0].bytes, mixed[0].bytes);
}

/// `[0-1] plain, [2-4] txA ABORTED + ctl 5, [6-9] txB COMMITTED + ctl 10, [11-12] plain, [13-17] txC OPEN, [18] plain`
fn transactions() -> Vec<Entry> {
    let part = |first: i64, last: i64, attributes: u8| {
        let records: Vec<Told> = (first..=last).map(told).collect();
        let mut bytes = batch(Codec::None, first, &records).bytes.to_vec();
        bytes[22] |= attributes;
        Entry::read(Bytes::from(bytes)).unwrap()
    };
    let parts =
        [(0, 1, 0), (2, 4, 0x10), (5, 5, 0x30), (6, 9, 0x10), (10, 10, 0x30), (11, 12, 0), (13, 17, 0x10), (18, 18, 0)];
    parts.into_iter().map(|(first, last, attributes)| part(first, last, attributes)).collect()
}

#[test]
fn f2_control_batches_are_dropped_and_aborted_data_is_kept() {
    let log = transactions();
    let rows = [
        (V0, 0, 1615, "m0@0a0 m0@1a0 m0@2a0 ..12 more.. m0@17a0 m0@18a0"),
        (V1, 0, 1751, "m1@0a0 m1@1a0 m1@2a0 ..12 more.. m1@17a0 m1@18a0"),
        (V0, 6, 1140, "m0@6a0 m0@7a0 m0@8a0 ..7 more.. m0@17a0 m0@18a0"),
        (V1, 6, 1236, "m1@6a0 m1@7a0 m1@8a0 ..7 more.. m1@17a0 m1@18a0"),
        (V0, 14, 475, "m0@14a0 m0@15a0 m0@16a0 m0@17a0 m0@18a0"),
        (V1, 14, 515, "m1@14a0 m1@15a0 m1@16a0 m1@17a0 m1@18a0"),
    ];
    for (format, offset, bytes, entries) in rows {
        assert_eq!(row(from(&log, offset), format, offset, Packing::Apart), (bytes, entries.to_owned()));
    }
    assert_eq!(converted(&log[2..3], V1, 5, Packing::Apart).0, Down::default());
}

/// The size, the whole entries, and what is left of a cut one: its bytes, offset and length.
fn answer(records: &Bytes) -> (usize, String, Option<(usize, i64, i32)>) {
    let (mut entries, mut cut) = (Vec::new(), None);
    let mut rest = records.clone();
    while !rest.is_empty() {
        let length = rest.get(8..12).map_or(i32::MAX, |length| i32::from_be_bytes(length.try_into().unwrap()));
        let size = usize::try_from(length).unwrap().saturating_add(12);
        if size > rest.len() {
            let offset = i64::from_be_bytes(rest[..8].try_into().unwrap());
            cut = Some((rest.len(), offset, length));
            break;
        }
        entries.push(Entry::read(rest.split_to(size)).unwrap());
    }
    (records.len(), shown(&entries), cut)
}

#[test]
fn f2_from_2_0_on_the_answer_is_as_long_as_what_is_stored() {
    let log = log(2);
    let filled = |entries: &[Entry], format, offset| {
        let stored = entries.iter().map(Entry::size).sum();
        answer(&down(entries, format, offset, Packing::Apart, Headers::Dropped).unwrap().filled(stored))
    };
    // `2b from offset 5`: F v0-1 `1869B: m0@5a0 … ..11 more.. +partial 221B`, v2-3 `… +partial 60B`. Our gzip is not
    // Java's, so the sizes differ by what theirs saves; without the gzip batch they are the measured ones.
    let (bytes, entries, cut) = filled(&log, V0, 5);
    assert_eq!(
        (bytes, entries.as_str()),
        (log.iter().map(Entry::size).sum(), "m0@5a0 m0@6a0 m0@7a0 ..11 more.. m0@28a0 m0@29a0")
    );
    assert_eq!(cut.map(|(_, offset, _)| offset), Some(-1));
    // `12 txn log`: F v0-1 `1848B … +partial 233B`, v2-3 `+partial 97B`; from 6 `1258B`, 118 and 22; at 14 `590B`, 115, 75.
    let transactions = transactions();
    for (offset, stored, rows) in [(0, 1848, [233, 97]), (6, 1258, [118, 22]), (14, 590, [115, 75])] {
        for (format, left) in [V0, V1].into_iter().zip(rows) {
            let from = from(&transactions, offset);
            // Our marker is as large as a record; the real one is 78 bytes.
            let real = from.iter().map(|entry| if entry.control { 78 } else { entry.size() }).sum();
            let answer = answer(&down(from, format, offset, Packing::Apart, Headers::Dropped).unwrap().filled(real));
            let cut = Some((left, -1, i32::try_from(left + 1).unwrap().max(61)));
            assert_eq!((answer.0, answer.2), (stored, cut), "{format:?} from {offset}");
        }
    }
    // `3c partition max_bytes=1000`: v0-1 `1000B … m0@9a0 +partial 50B`, v2-3 `1030B: … m1@9a0`, longer than asked for.
    let ten = |format| answer(&down(&log[..1], format, 0, Packing::Apart, Headers::Dropped).unwrap().filled(1000));
    assert_eq!((ten(V0).0, ten(V0).2), (1000, Some((50, -1, 61))));
    assert_eq!((ten(V1).0, ten(V1).2), (1030, None));
    // `3 partition max_bytes=50`, v0-2: `50B: +partial 50B`.
    assert_eq!(answer(&Down::default().filled(50)), (50, String::new(), Some((50, -1, 61))));
    assert_eq!(Down::default().filled(0), Bytes::new());
}

#[test]
fn a_longer_answer_is_cut_in_the_middle_of_an_entry() {
    // Measured on 2.0.0: three batches of three records each of 86 bytes in magic 1, 238 stored: `partial 26B off=8`.
    let records = |first: i64| -> Vec<Told> {
        let record = |n| Told {
            timestamp: THEN,
            key: Some(format!("k{n}").into_bytes()),
            value: Some(vec![b'v'; 50]),
            headers: Vec::new(),
        };
        (first..first + 3).map(|_| record(0)).collect()
    };
    let log = [0, 3, 6].map(|first| batch(Codec::None, first, &records(first)));
    assert_eq!(log.iter().map(Entry::size).sum::<usize>(), 714);
    let filled = |format| answer(&down(&log, format, 0, Packing::Apart, Headers::Dropped).unwrap().filled(714));
    assert_eq!(filled(V1), (714, "m1@0a0 m1@1a0 m1@2a0 ..3 more.. m1@6a0 m1@7a0".to_owned(), Some((26, 8, 74))));
    assert_eq!(filled(V0), (714, "m0@0a0 m0@1a0 m0@2a0 ..4 more.. m0@7a0 m0@8a0".to_owned(), Some((12, -1, 61))));
}

#[test]
fn f2_zstd_is_refused_at_the_front_and_behind_it_takes_its_piece_along() {
    // Measured on 2.8.2 with plain, plain, zstd, plain: from 0 and from 3 the first batch only, filled up; from 6 error 76.
    let part = |codec, first: i64| batch(codec, first, &(first..first + 3).map(told).collect::<Vec<_>>());
    let log = [part(Codec::None, 0), part(Codec::None, 3), part(Codec::Zstd, 6), part(Codec::None, 9)];
    for (format, rows) in [
        (V0, ["m0@0a0 m0@1a0 m0@2a0", "m0@3a0 m0@4a0 m0@5a0", "m0@9a0 m0@10a0 m0@11a0"]),
        (V1, ["m1@0a0 m1@1a0 m1@2a0", "m1@3a0 m1@4a0 m1@5a0", "m1@9a0 m1@10a0 m1@11a0"]),
    ] {
        for (at, row) in [0, 1, 3].into_iter().zip(rows) {
            assert_eq!(shown(&converted(&log[at..], format, 0, Packing::Apart).1), row);
        }
        assert_eq!(down(&log[2..], format, 6, Packing::Apart, Headers::Dropped), Err(NotDown::Zstd));
        // What fits into an earlier piece stays.
        let large = |first| {
            let value = (0..60_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
            batch(Codec::None, first, &[Told { value: Some(value), ..told(first) }])
        };
        let log = [large(0), large(1), large(2), part(Codec::Zstd, 3)];
        let offsets: Vec<i64> =
            converted(&log, format, 0, Packing::Apart).1.iter().map(|entry| entry.last_offset).collect();
        assert_eq!(offsets, [0]);
        let log = [large(0), large(1), large(2), large(3), part(Codec::Zstd, 4)];
        let offsets: Vec<i64> =
            converted(&log, format, 0, Packing::Apart).1.iter().map(|entry| entry.last_offset).collect();
        assert_eq!(offsets, [0, 1, 2], "the second piece is full, the third begins with 3");
    }
}

#[test]
fn f2_headers_stop_0_11_and_are_dropped_by_others() {
    let with = Told { headers: vec![(b"h".to_vec(), None)], ..told(3) };
    let entries = [batch(Codec::None, 3, &[with])];
    let refused = down(&entries, V1, 0, Packing::Apart, Headers::Refused);
    assert!(matches!(refused, Err(NotDown::Broken(_))), "{refused:?}");
    let (_, dropped) = converted(&entries, V1, 0, Packing::Apart);
    assert_eq!(read(&dropped), [(3, told(3))]);
}

#[test]
fn the_append_time_goes_along_into_magic_1() {
    for (codec, shown_as) in [(Codec::None, "m1@3a8 m1@4a8"), (Codec::Gzip, "m1@4a9")] {
        let mut builder = BatchBuilder::new(codec, None);
        builder.set_placement(Placement { base_offset: 3, append_time: Some(NOW), ..Placement::NONE });
        for n in 0..2 {
            builder.push(THEN + n, None, Some(b"v"), HeadersSource::None).unwrap();
        }
        let stored = [Entry::read(builder.finish(Stamp::NONE).unwrap()).unwrap()];
        let (_, entries) = converted(&stored, V1, 0, Packing::Apart);
        assert_eq!(shown(&entries), shown_as);
        assert!(read(&entries).iter().all(|(_, told)| told.timestamp == NOW));
        let (_, older) = converted(&stored, V0, 0, Packing::Apart);
        assert!(read(&older).iter().all(|(_, told)| told.timestamp == -1));
    }
}
