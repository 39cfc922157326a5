//! Bytes that kafka-clients 3.9.1 wrote (`vectors/Vectors.java`): read as what they say, and built again.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, CodecError, Decompressor, repair_lz4_header};
use kmirror_proto::records::{
    BatchBuilder, ControlKind, ControlRecord, Entry, MessageFormat, MessageSetBuilder, Placement, RawBatch, RawMessage,
    Stamp, restamp, split, wrapper_shape,
};

use super::story::{BYTES_MAX, T, Told, appended, batch, message_set, push_all, set_by, story, told};

/// The base offset of the vectors that a broker stored.
const STORED_AT: i64 = 7_000_000_000;
const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];
/// Magic 0 and 1 have no zstd.
const LEGACY_CODECS: [Codec; 4] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4];

fn file(name: &str) -> String {
    let path = format!("{}/tests/records/vectors/{name}.hex", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn vector(name: &str) -> Bytes {
    unhex(&file(name))
}

fn unhex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn only_batch(records: Bytes) -> RawBatch {
    let mut entries = split(records);
    let Some(Ok(Entry::Batch(batch))) = entries.next() else { panic!("no batch") };
    assert!(entries.next().is_none());
    batch
}

#[test]
fn magic_2_reads_as_java_wrote_it() {
    for codec in CODECS {
        assert_eq!(told(vector(&format!("magic2-{codec}"))), story(2, 0), "{codec}");
        let stored = vector(&format!("magic2-{codec}-stored"));
        assert_eq!(told(stored.clone()), appended(story(2, STORED_AT), T + 77), "{codec}");
        let header = only_batch(stored).header;
        assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (4711, 3, 99));
        assert_eq!((header.attributes.codec(), header.attributes.append_time()), (Ok(codec), true));
        assert_eq!(header.next_offset(), STORED_AT + 7);
    }
}

#[test]
fn magic_1_reads_as_java_wrote_it() {
    for codec in LEGACY_CODECS {
        assert_eq!(told(vector(&format!("magic1-{codec}"))), story(1, 0), "{codec}");
        let stored = vector(&format!("magic1-{codec}-stored"));
        assert_eq!(told(stored), appended(story(1, STORED_AT), T + 77), "{codec}");
    }
}

#[test]
fn magic_0_reads_as_java_wrote_it() {
    for codec in LEGACY_CODECS {
        assert_eq!(told(vector(&format!("magic0-{codec}"))), story(0, 0), "{codec}");
        assert_eq!(told(vector(&format!("magic0-{codec}-stored"))), story(0, STORED_AT), "{codec}");
    }
}

/// What `Vectors.java` left of a set that ended at 1005.
fn survivors(format: MessageFormat) -> [Told; 3] {
    [1000, 1004, 1005].map(|offset| Told {
        offset,
        timestamp: if format == MessageFormat::V0 { -1 } else { T + offset },
        key: Some(format!("k{offset}").into_bytes()),
        value: Some(format!("v{offset}").into_bytes()),
        headers: Vec::new(),
    })
}

fn only_message(records: Bytes) -> RawMessage {
    let mut entries = split(records);
    let Some(Ok(Entry::Message(message))) = entries.next() else { panic!("no message") };
    assert!(entries.next().is_none());
    message
}

#[test]
fn compacted_sets_keep_their_offsets() {
    for (format, magic) in [(MessageFormat::V0, 0), (MessageFormat::V1, 1)] {
        for codec in LEGACY_CODECS {
            let compacted = vector(&format!("magic{magic}-{codec}-compacted"));
            assert_eq!(told(compacted.clone()), survivors(format), "{magic} {codec}");
            // And built again: byte for byte without a codec, else but for the compressed bytes.
            let ours = message_set(format, codec, &survivors(format));
            if codec == Codec::None {
                assert_eq!(ours, compacted);
            } else {
                assert_eq!(ours[..8], compacted[..8]);
                assert_eq!(told(ours), survivors(format), "{magic} {codec}");
            }
        }
    }
    // Such a wrapper a 0.10 broker would compress again; the one from a builder it keeps. One of magic 0 never.
    let shapes = [
        ("magic1-gzip-compacted", false, 5),
        ("magic1-gzip", true, 6),
        ("magic0-gzip-compacted", false, 5),
        ("magic0-gzip", false, 6),
    ];
    for (name, kept, last) in shapes {
        let shape = wrapper_shape(&only_message(vector(name)), BYTES_MAX).unwrap();
        assert_eq!((shape.is_kept(), shape.last_relative_offset), (kept, last), "{name}");
    }
}

#[test]
fn the_lz4_header_of_magic_0_is_wrong_as_java_writes_it() {
    // KAFKA-3160, M7: read where it belongs, refused elsewhere, the same as ours, and repaired.
    let javas = only_message(vector("magic0-lz4")).value().unwrap().to_vec();
    let ours = only_message(message_set(MessageFormat::V0, Codec::Lz4, &story(0, 0))).value().unwrap().to_vec();
    let right = only_message(vector("magic1-lz4")).value().unwrap().to_vec();
    assert_eq!((javas[..7] == ours[..7], javas[..6] == right[..6]), (true, true));
    assert_ne!(javas[6], right[6]);
    let mut decompressor = Decompressor::new();
    let wrong = Bytes::from(javas.clone());
    assert!(matches!(decompressor.decompress(Codec::Lz4, &wrong, BYTES_MAX), Err(CodecError::Corrupt { .. })));
    let plain = decompressor.decompress_magic_0(Codec::Lz4, &wrong, BYTES_MAX).unwrap();
    let mut repaired = javas;
    repair_lz4_header(&mut repaired).unwrap();
    assert_eq!(repaired[..7], right[..7]);
    assert_eq!(decompressor.decompress(Codec::Lz4, &Bytes::from(repaired), BYTES_MAX).unwrap(), plain);
}

#[test]
fn timestamps_before_1970_are_read() {
    let timestamps: Vec<_> = told(vector("magic2-negative")).iter().map(|told| told.timestamp).collect();
    assert_eq!(timestamps, [-1000, -5, -2_000_000_000_000]);
}

#[test]
fn what_we_build_uncompressed_is_java_byte_for_byte() {
    assert_eq!(batch(Codec::None, &story(2, 0), Stamp::NONE), vector("magic2-none"));
    assert_eq!(message_set(MessageFormat::V1, Codec::None, &story(1, 0)), vector("magic1-none"));
    assert_eq!(message_set(MessageFormat::V0, Codec::None, &story(0, 0)), vector("magic0-none"));
    assert_eq!(message_set(MessageFormat::V0, Codec::None, &story(0, STORED_AT)), vector("magic0-none-stored"));
    let negative = told(vector("magic2-negative"));
    assert_eq!(batch(Codec::None, &negative, Stamp::NONE), vector("magic2-negative"));
}

#[test]
fn what_we_build_compressed_differs_from_java_in_the_compressed_bytes_only() {
    for codec in CODECS.into_iter().skip(1) {
        let ours = only_batch(batch(codec, &story(2, 0), Stamp::NONE));
        let javas = only_batch(vector(&format!("magic2-{codec}")));
        let mut header = ours.header;
        (header.batch_length, header.crc) = (javas.header.batch_length, javas.header.crc);
        assert_eq!(header, javas.header, "{codec}");
        assert_eq!(told(ours.bytes().clone()), story(2, 0), "{codec}");
    }
    for codec in LEGACY_CODECS.into_iter().skip(1) {
        // All but size, crc and the value behind its length.
        for (format, base, name, head) in [
            (MessageFormat::V1, 0, "magic1", 16..30),
            (MessageFormat::V0, 0, "magic0", 16..22),
            (MessageFormat::V0, STORED_AT, "magic0", 16..22),
        ] {
            let stored = if base == 0 { "" } else { "-stored" };
            let javas = vector(&format!("{name}-{codec}{stored}"));
            let ours = message_set(format, codec, &story(format.magic(), base));
            for range in [0..8, head] {
                assert_eq!(ours[range.clone()], javas[range], "{name} {codec}");
            }
            assert_eq!(told(ours), story(format.magic(), base), "{name} {codec}");
        }
    }
}

#[test]
fn a_batch_placed_by_a_leader_is_the_one_that_java_stores() {
    let placement = Placement { base_offset: STORED_AT, append_time: Some(T + 77), ..Placement::NONE };
    let stamp = Stamp { producer_id: 4711, producer_epoch: 3, base_sequence: 99 };
    for codec in CODECS {
        let javas = only_batch(vector(&format!("magic2-{codec}-stored")));
        let mut builder = BatchBuilder::new(codec, None);
        // The second batch of a builder is placed as the first one.
        for _ in 0..2 {
            builder.set_placement(placement);
            push_all(&mut builder, &story(2, 0));
            let ours = only_batch(builder.finish(stamp).unwrap());
            assert!(ours.crc_ok());
            if codec == Codec::None {
                assert_eq!(ours.bytes(), javas.bytes());
            }
            let mut header = ours.header;
            (header.batch_length, header.crc) = (javas.header.batch_length, javas.header.crc);
            assert_eq!(header, javas.header, "{codec}");
            let payload =
                |batch: &RawBatch| Decompressor::new().decompress(codec, &batch.payload(), BYTES_MAX).unwrap();
            assert_eq!(payload(&ours), payload(&javas), "{codec}");
        }
    }
}

#[test]
fn a_set_with_the_brokers_time_is_the_one_that_java_stores() {
    for codec in LEGACY_CODECS {
        let javas = vector(&format!("magic1-{codec}-stored"));
        let mut builder = MessageSetBuilder::new(MessageFormat::V1, codec);
        builder.set_append_time(Some(T + 77));
        let ours = set_by(&mut builder, &story(1, STORED_AT));
        if codec == Codec::None {
            assert_eq!(ours, javas);
            continue;
        }
        assert_eq!((&ours[..8], &ours[16..30]), (&javas[..8], &javas[16..30]), "{codec}");
        // Inside too, bit and time.
        let inside = |set: Bytes| {
            let value = Bytes::copy_from_slice(only_message(set).value().unwrap());
            Decompressor::new().decompress(codec, &value, BYTES_MAX).unwrap()
        };
        assert_eq!(inside(ours), inside(javas), "{codec}");
    }
}

#[test]
fn a_restamped_batch_is_the_one_that_java_writes_under_that_stamp() {
    let stamp = Stamp { producer_id: 4711, producer_epoch: 3, base_sequence: 99 };
    for codec in CODECS {
        let javas = only_batch(vector(&format!("magic2-{codec}")));
        let sent = [&restamp(&javas, stamp)[..], &javas.payload()].concat();
        if codec == Codec::None {
            assert_eq!(sent, batch(Codec::None, &story(2, 0), stamp));
        }
        // And back again: the stored header is rebuilt, CRC included.
        let sent = only_batch(Bytes::from(sent));
        assert!(sent.crc_ok());
        let back = [&restamp(&sent, Stamp::NONE)[..], &sent.payload()].concat();
        assert_eq!(&back, javas.bytes(), "{codec}");
    }
}

/// What `Vectors.java` compressed for zstd-jni.hex, which has zeros beside it.
fn words(len: usize) -> Vec<u8> {
    let words = ["order ", "payment ", "customer ", "amount=", "true,", "null,", "{\"id\":", "2026-11-30 "];
    let mut state = 1_u64;
    let mut out = String::new();
    while out.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        out.push_str(words[usize::try_from(state >> 61).unwrap()]);
        if state >> 60 & 1 == 1 {
            out.push_str(&(state >> 50 & 0x3ff).to_string());
        }
    }
    out.truncate(len);
    out.into_bytes()
}

/// Levels of every strategy that zstd has, with content size and without, with a checksum, flushed into many small
/// blocks, more than one block of 128 KiB, and two frames in a row. One context for all, as a link reads them.
#[test]
fn frames_of_the_zstd_library_are_read() {
    let mut decompressor = Decompressor::new();
    let mut frames = 0;
    for line in file("zstd-jni").lines() {
        let [level, how, len, hex] = *line.split(' ').collect::<Vec<_>>() else { panic!("{line}") };
        let (len, frame) = (len.parse().unwrap(), unhex(hex));
        let content = if len == 1_000_000 { vec![0; len] } else { words(len) };
        let read = decompressor.decompress(Codec::Zstd, &frame, len);
        assert!(read.as_ref() == Ok(&Bytes::from(content)), "level {level}, {how}: {:?}", read.map(|it| it.len()));
        // A cap one byte below ends it, wherever the frame is by then.
        if let Some(bytes_max) = len.checked_sub(1) {
            let refused = Err(CodecError::TooLarge { codec: Codec::Zstd, bytes_max });
            assert_eq!(decompressor.decompress(Codec::Zstd, &frame, bytes_max), refused, "level {level}, {how}");
        }
        frames += 1;
    }
    assert_eq!(frames, 28);
}

#[test]
fn transaction_markers() {
    for (name, kind) in [("magic2-abort", ControlKind::ABORT), ("magic2-commit", ControlKind::COMMIT)] {
        let batch = only_batch(vector(name));
        assert!(batch.crc_ok());
        assert!(batch.header.attributes.control() && batch.header.attributes.transactional());
        let marker = ControlRecord::of(&batch, BYTES_MAX).unwrap().unwrap();
        assert_eq!(marker, ControlRecord { version: 0, kind, coordinator_epoch: Some(42) });
    }
}
