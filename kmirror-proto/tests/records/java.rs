//! Bytes that kafka-clients 3.9.1 wrote (`vectors/Vectors.java`): read as what they say, and built again.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, CodecError, Decompressor};
use kmirror_proto::records::{ControlKind, ControlRecord, Entry, RawBatch, Stamp, restamp, split, wrapper_shape};

use super::story::{BYTES_MAX, T, Told, appended, batch, message_set, story, told};

/// The base offset of the vectors that a broker stored.
const STORED_AT: i64 = 7_000_000_000;
const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];
/// Magic 1 has no zstd.
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
fn compacted_sets_keep_their_offsets() {
    for codec in LEGACY_CODECS {
        let compacted = told(vector(&format!("magic1-{codec}-compacted")));
        let expected = [1000, 1004, 1005].map(|offset| Told {
            offset,
            timestamp: T + offset,
            key: Some(format!("k{offset}").into_bytes()),
            value: Some(format!("v{offset}").into_bytes()),
            headers: Vec::new(),
        });
        assert_eq!(compacted, expected, "{codec}");
    }
    // Such a wrapper a 0.10 broker would compress again; the one from a builder it keeps.
    for (name, kept, last) in [("magic1-gzip-compacted", false, 5), ("magic1-gzip", true, 6)] {
        let Some(Ok(Entry::Message(wrapper))) = split(vector(name)).next() else { panic!("{name}") };
        let shape = wrapper_shape(&wrapper, BYTES_MAX).unwrap();
        assert_eq!((shape.is_kept(), shape.last_relative_offset), (kept, last), "{name}");
    }
}

#[test]
fn timestamps_before_1970_are_read() {
    let timestamps: Vec<_> = told(vector("magic2-negative")).iter().map(|told| told.timestamp).collect();
    assert_eq!(timestamps, [-1000, -5, -2_000_000_000_000]);
}

#[test]
fn what_we_build_uncompressed_is_java_byte_for_byte() {
    assert_eq!(batch(Codec::None, &story(2, 0), Stamp::NONE), vector("magic2-none"));
    assert_eq!(message_set(Codec::None, &story(1, 0)), vector("magic1-none"));
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
        let ours = message_set(codec, &story(1, 0));
        let javas = vector(&format!("magic1-{codec}"));
        // All but size, crc and the value behind its length.
        for range in [0..8, 16..30] {
            assert_eq!(ours[range.clone()], javas[range], "{codec}");
        }
        assert_eq!(told(ours), story(1, 0), "{codec}");
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
