//! What is written anew on its way into the log.

use kmirror_proto::records::MessageFormat::{V0, V1};

use super::super::{Form, rewrite};
use super::*;

/// What a set becomes at the log's end.
fn stored(opened: &[Opened], magic: i8, codec: Codec) -> Vec<Entry> {
    rewrite(opened, &Form::of(magic, codec, NEXT)).unwrap()
}

fn opened(entries: &[Entry]) -> Vec<Opened> {
    let open = |entry: &Entry| match entry.magic {
        2 => Opened::batch(&RawBatch::from_bytes(entry.bytes.clone()).unwrap()).unwrap(),
        _ => opened_sent(&RawMessage::from_bytes(entry.bytes.clone()).unwrap()),
    };
    entries.iter().map(open).collect()
}

fn three() -> Vec<Told> {
    (0..3).map(told).collect()
}

/// The records at the log's end, with or without the timestamps that magic 0 has no place for.
fn expected(records: Vec<Told>, timestamps: bool) -> Vec<(i64, Told)> {
    let numbered = (NEXT..).zip(records);
    numbered.map(|(offset, told)| (offset, if timestamps { told } else { Told { timestamp: -1, ..told } })).collect()
}

#[test]
fn m4_messages_become_one_batch_without_a_producer() {
    // `3 entries -> 1 entries magic2 attrs=0x0 count=3 lod=2 pid=-1 base=N`; `magic 1->2 (attrs=0x1 count=3 pid=-1)`
    for format in [V0, V1] {
        for (codec, row) in [
            (Codec::None, "m2[3..5]n3a0"),
            (Codec::Gzip, "m2[3..5]n3a1"),
            (Codec::Snappy, "m2[3..5]n3a2"),
            (Codec::Lz4, "m2[3..5]n3a3"),
        ] {
            let set = opened(&set(format, codec, 0, &three()));
            let stored = rewrite(&set, &Form { leader_epoch: 9, ..Form::of(2, codec, NEXT) }).unwrap();
            assert_eq!(shown(&stored), row);
            assert_eq!(read(&stored), expected(three(), format == V1));
            let entry = &stored[0];
            assert_eq!(
                (entry.leader_epoch, entry.producer, entry.max_timestamp),
                (9, None, if format == V1 { THEN + 2 } else { -1 })
            );
        }
    }
}

#[test]
fn m3_magic_0_becomes_magic_1_without_a_timestamp() {
    // `#0:magic 0->1 (attrs=0x0 off=N ts=-1) | #1 … | #2 …`; `magic 0->1 (attrs=0x1 off=N ts=-1)`
    let plain = stored(&opened(&set(V0, Codec::None, 0, &three())), 1, Codec::None);
    assert_eq!(shown(&plain), "m1@3a0 m1@4a0 m1@5a0");
    assert!(plain.iter().all(|message| message.max_timestamp == -1));
    let packed = stored(&opened(&set(V0, Codec::Gzip, 0, &three())), 1, Codec::Gzip);
    assert_eq!((shown(&packed).as_str(), packed[0].max_timestamp), ("m1@5a1", -1));
    for stored in [plain, packed] {
        assert_eq!(read(&stored), expected(three(), false));
    }
}

#[test]
fn m3_a_wrapper_of_magic_0_gets_absolute_offsets() {
    // `[log.message.format.version=0.9.0.1] A:m0gzip: offset 2->17, size 95->98, crc, VALUE differs`
    for inner in [&[0, 1, 2][..], &[0, 0, 0], &[700, 701, 702]] {
        let sent = opened_sent(&sent_wrapper(V0, Codec::Gzip, 2, inner));
        let stored = stored(&[sent], 0, Codec::Gzip);
        assert_eq!(shown(&stored), "m0@5a1");
        let message = RawMessage::from_bytes(stored[0].bytes.clone()).unwrap();
        let Opened::Messages(inside) = opened_sent(&message) else { panic!("not messages") };
        assert_eq!(inside.iter().map(|message| message.unwrap().offset).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(read(&stored), expected(three(), false));
    }
}

#[test]
fn m7_lz4_is_repaired_where_it_leaves_magic_0_and_broken_where_it_enters() {
    let old = sent_wrapper(V0, Codec::Lz4, 2, &[0, 1, 2]);
    let checksum = |entry: &Entry| RawMessage::from_bytes(entry.bytes.clone()).unwrap().value().unwrap()[6];
    assert_eq!(old.value().unwrap()[6], 0x1a);
    assert_eq!(checksum(&stored(&[opened_sent(&old)], 0, Codec::Lz4)[0]), 0x1a);
    let newer = stored(&[opened_sent(&old)], 1, Codec::Lz4);
    assert_eq!(checksum(&newer[0]), 0x82);
    assert_eq!(checksum(&stored(&opened(&newer), 0, Codec::Lz4)[0]), 0x1a);
    let batch = stored(&[opened_sent(&old)], 2, Codec::Lz4);
    assert_eq!((read(&batch), batch[0].bytes[61 + 6]), (expected(three(), false), 0x82));
    // The same bytes inside magic 1: 2 (0.10.1) / -1.
    let mut inside_magic_1 = sent_wrapper(V1, Codec::Lz4, 2, &[0, 1, 2]).bytes().to_vec();
    inside_magic_1[34 + 6] = 0x1a;
    let message = RawMessage::from_bytes(Bytes::from(inside_magic_1)).unwrap();
    assert!(matches!(Opened::sent(&message), Err(RecordError::Codec(_))));
}

#[test]
fn m2_what_is_numbered_otherwise_is_written_anew() {
    // `changed: crc, VALUE differs (94->94B)`, `offset 3->5`, `offset 1002->5`, `offset 0->N, size 111->116`
    for (outer, inner) in [(5, &[0, 2, 5][..]), (3, &[1, 2, 3]), (1002, &[0, 1, 2]), (0, &[0, 0, 0]), (0, &[0, 1, 2])] {
        let sent = opened_sent(&sent_wrapper(V1, Codec::Gzip, outer, inner));
        let stored = stored(&[sent], 1, Codec::Gzip);
        assert_eq!((shown(&stored).as_str(), stored[0].max_timestamp), ("m1@5a1", THEN + 2));
        assert_eq!(read(&stored), expected(three(), true));
        let kept =
            kmirror_proto::records::wrapper_shape(&RawMessage::from_bytes(stored[0].bytes.clone()).unwrap(), 1 << 20);
        assert!(kept.unwrap().is_kept(), "it could be sent on as it is");
    }
}

#[test]
fn r4_two_wrappers_are_merged() {
    // `B:m1 two gzip wrappers in a set`, `B:m1 plain + gzip wrapper`:
    // 0.10 `2 entries -> 1 entries magic1 attrs=0x1 off=8 ts=1600000000002`; 0.11 … 2.1 `magic2 attrs=0x1 count=6 lod=5`
    let wrapper = || opened_sent(&sent_wrapper(V1, Codec::Gzip, 2, &[0, 1, 2]));
    let mut plain_and_wrapper = opened(&set(V1, Codec::None, 0, &three()));
    plain_and_wrapper.push(wrapper());
    for sent in [vec![wrapper(), wrapper()], plain_and_wrapper] {
        let six = [three(), three()].concat();
        let old = stored(&sent, 1, Codec::Gzip);
        assert_eq!((shown(&old).as_str(), old[0].max_timestamp), ("m1@8a1", THEN + 2));
        assert_eq!(read(&old), expected(six.clone(), true));
        let new = stored(&sent, 2, Codec::Gzip);
        assert_eq!(shown(&new), "m2[3..8]n6a1");
        assert_eq!(read(&new), expected(six, true));
    }
}

#[test]
fn m6_mixed_magics_come_out_as_one() {
    // `B:mixed m0+m1`: 0.10.2 `#0:magic 0->1 (off=3 ts=-1) | #1: offset 0->4 | #2`; 0.11 … 2.1 `3 entries -> 1 magic2`
    let mut mixed = opened(&set(V0, Codec::None, 0, &[told(0)]));
    mixed.extend(opened(&set(V1, Codec::None, 0, &[told(1), told(2)])));
    let timestamps = |entries: &[Entry]| read(entries).iter().map(|(_, told)| told.timestamp).collect::<Vec<_>>();
    let (old, new) = (stored(&mixed, 1, Codec::None), stored(&mixed, 2, Codec::None));
    assert_eq!((shown(&old).as_str(), shown(&new).as_str()), ("m1@3a0 m1@4a0 m1@5a0", "m2[3..5]n3a0"));
    for entries in [old, new] {
        assert_eq!(timestamps(&entries), [-1, THEN + 1, THEN + 2]);
    }
}

#[test]
fn r14_another_codec_or_none() {
    // magic 1: `compression.type=gzip: 3 entries -> 1 entries magic1 attrs=0x1 off=5 ts=1600000000002`,
    // `m1lz4 … attributes 3->1`, `uncompressed: 1 entries -> 3 entries magic1 attrs=0x0 off=3 ts=1600000000000`
    let plain = opened(&set(V1, Codec::None, 0, &three()));
    let lz4 = opened(&set(V1, Codec::Lz4, 0, &three()));
    for sent in [&plain, &lz4] {
        let stored = stored(sent, 1, Codec::Gzip);
        assert_eq!((shown(&stored).as_str(), stored[0].max_timestamp), ("m1@5a1", THEN + 2));
    }
    let unpacked = stored(&lz4, 1, Codec::None);
    assert_eq!((shown(&unpacked).as_str(), unpacked[0].max_timestamp), ("m1@3a0 m1@4a0 m1@5a0", THEN));
    // magic 2: the producer's numbers stay.
    let stamp = Stamp { producer_id: 7, producer_epoch: 1, base_sequence: 40 };
    let sent = opened(&[batch(Codec::Gzip, 0, &three())]);
    let form = Form { stamp, transactional: true, ..Form::of(2, Codec::Zstd, NEXT) };
    let stored = rewrite(&sent, &form).unwrap();
    assert_eq!(shown(&stored), "m2[3..5]n3a14");
    let header = RawBatch::from_bytes(stored[0].bytes.clone()).unwrap().header;
    assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (7, 1, 40));
    assert_eq!(read(&stored), expected(three(), true));
}

#[test]
fn r3_deltas_are_renumbered_in_what_is_compressed() {
    // `C:gap deltas [0,2,5] lod=5 count=3 gzip`: `+base+ple, crc, lastOffsetDelta 5->2, RECORDS payload differs`
    let mut record = [2 * 12, 0, 0, 0, 2, b'k', 10, b'v', b'a', b'l', b'u', b'e', 0].to_vec();
    let mut payload = Vec::new();
    for delta in [0, 2, 5] {
        record[3] = delta * 2;
        payload.extend(&record);
    }
    let mut bytes = batch(Codec::None, 0, &three()).bytes[..61].to_vec();
    bytes[22] = Codec::Gzip.id();
    bytes[26] = 5;
    compress(Codec::Gzip, &payload, &mut bytes).unwrap();
    let length = i32::try_from(bytes.len() - 12).unwrap();
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    let sent = Opened::batch(&RawBatch::from_bytes(Bytes::from(bytes)).unwrap()).unwrap();
    let stored = stored(&[sent], 2, Codec::Gzip);
    assert_eq!(shown(&stored), "m2[3..5]n3a1");
    let one = Told { timestamp: THEN, key: Some(b"k".to_vec()), value: Some(b"value".to_vec()), headers: Vec::new() };
    assert_eq!(read(&stored), expected(vec![one.clone(), one.clone(), one], true));
}

#[test]
fn r15_a_topic_of_an_older_format() {
    // `message.format.version=0.9.0`: `#0:magic 1->0 (attrs=0x0 off=3 ts=None) | …`, `magic 1->0 (attrs=0x1 off=5)`
    for (codec, old, older) in
        [(Codec::None, "m1@3a0 m1@4a0 m1@5a0", "m0@3a0 m0@4a0 m0@5a0"), (Codec::Gzip, "m1@5a1", "m0@5a1")]
    {
        let (messages, batch) = (opened(&set(V1, codec, 0, &three())), opened(&[batch(codec, 0, &three())]));
        for sent in [messages, batch] {
            assert_eq!(
                (shown(&stored(&sent, 1, codec)).as_str(), shown(&stored(&sent, 0, codec)).as_str()),
                (old, older)
            );
            assert_eq!(read(&stored(&sent, 1, codec)), expected(three(), true));
            assert_eq!(read(&stored(&sent, 0, codec)), expected(three(), false));
        }
    }
    let zstd = opened(&[batch(Codec::Zstd, 0, &three())]);
    assert!(matches!(rewrite(&zstd, &Form::of(1, Codec::Zstd, NEXT)), Err(RecordError::Codec(_))));
}

#[test]
fn headers_have_no_place_before_magic_2() {
    let with = Told { headers: vec![(b"h".to_vec(), None)], ..told(0) };
    let sent = opened(&[batch(Codec::None, 0, std::slice::from_ref(&with))]);
    assert_eq!(read(&stored(&sent, 2, Codec::Lz4)), [(NEXT, with)]);
    // Headers to a topic of format 0.10 or 0.9: -1 on 0.11.0.3, 1.1.1, 2.0.0 and 2.8.2, compressed or not.
    for magic in [0, 1] {
        for codec in [Codec::None, Codec::Gzip] {
            let refused = rewrite(&sent, &Form::of(magic, codec, NEXT));
            assert!(matches!(refused, Err(RecordError::Range { value: 1, .. })), "{refused:?}");
        }
    }
}

#[test]
fn r9_the_time_of_the_append() {
    // `B:m1 on LogAppendTime topic` 0.11 …: `3 entries -> 1 entries magic2 attrs=0x8 count=3 lod=2`; gzip `attrs=0x9`
    for (codec, row) in [(Codec::None, "m2[3..5]n3a8"), (Codec::Gzip, "m2[3..5]n3a9")] {
        let sent = opened(&set(V1, codec, 0, &three()));
        let stored = rewrite(&sent, &Form { append_time: Some(NOW), ..Form::of(2, codec, NEXT) }).unwrap();
        assert_eq!((shown(&stored).as_str(), stored[0].max_timestamp), (row, NOW));
        // Inside, the producer's timestamps stay (R8).
        let header = RawBatch::from_bytes(stored[0].bytes.clone()).unwrap().header;
        assert_eq!(header.base_timestamp, THEN);
        assert!(read(&stored).iter().all(|(_, told)| told.timestamp == NOW));
    }
    // Built up from magic 0 on 0.10: the bit, and the time in every message.
    let sent = opened(&set(V0, Codec::None, 0, &three()));
    let stored = rewrite(&sent, &Form { append_time: Some(NOW), ..Form::of(1, Codec::None, NEXT) }).unwrap();
    assert_eq!(shown(&stored), "m1@3a8 m1@4a8 m1@5a8");
    assert!(stored.iter().all(|message| message.max_timestamp == NOW));
}
