//! Bytes from a peer that means harm or is broken: nothing panics, nothing takes more than its input and the cap.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, CodecError, Decompressor, compress, decompress, repair_lz4_header};
use kmirror_proto::records::{
    BatchHeader, ControlRecord, Entry, MessageFormat, MessageSetBuilder, Messages, Partial, RawBatch, RawMessage,
    RecordError, Records, Stamp, messages, restamp, rewrap, split, wrapper_shape,
};
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use proptest::collection::vec;
use proptest::prelude::*;

use super::story::{BYTES_MAX, batch, message_set, story};

const FORMATS: [MessageFormat; 2] = [MessageFormat::V0, MessageFormat::V1];
const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];
/// Small, so that what does decompress meets it too.
const CAP: usize = 10_000;

/// Uses everything that there is to use on bytes from a peer; how many records it came to.
fn devour(records: &Bytes) -> usize {
    let mut found = 0;
    for entry in split(records.clone()) {
        match entry {
            Ok(Entry::Batch(batch)) => found += devour_batch(&batch),
            Ok(Entry::Message(message)) => found += devour_message(&message),
            Ok(Entry::Partial(Partial { have, need })) => assert!(need.is_none_or(|need| need > have)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    found
}

fn devour_batch(batch: &RawBatch) -> usize {
    let header = batch.header;
    assert!(header.next_offset() > header.base_offset);
    assert_eq!(restamp(batch, Stamp::NONE)[8..12], batch.bytes()[8..12]);
    let _ = ControlRecord::of(batch, CAP);
    let Ok(records) = Records::of(batch, CAP) else { return 0 };
    assert!(records.payload().len() <= CAP.max(batch.bytes().len()));
    let walked = records.iter().map_while(Result::ok).map(|record| {
        assert!(header.offset_of(&record) >= 0 || record.offset_delta < 0);
        let _ = header.timestamp_of(&record);
        assert_eq!(record.headers.iter().count(), record.headers.count());
    });
    let count = walked.count();
    assert!(count <= records.payload().len() / 7);
    count
}

fn devour_message(message: &RawMessage) -> usize {
    assert_eq!(rewrap(message, 0).1.len(), message.bytes().len() - 8);
    let _ = (message.key(), message.value(), message.crc_ok(), wrapper_shape(message, CAP));
    if let Ok(sent) = Messages::as_sent(&mut Decompressor::new(), message, CAP) {
        assert!(sent.iter().map_while(Result::ok).count() <= CAP.max(message.bytes().len()) / 26);
    }
    let Ok(messages) = messages(message, CAP) else { return 0 };
    let walked = messages.iter().map_while(Result::ok).map(|inner| {
        assert!((0..=message.offset).contains(&inner.offset));
        inner.crc_ok()
    });
    walked.count()
}

/// One valid records field of each magic and codec.
fn valid_sets() -> Vec<Bytes> {
    let batches = CODECS.iter().map(|&codec| batch(codec, &story(2, 0), Stamp::NONE));
    let sets = FORMATS.iter().flat_map(|&format| {
        let codecs = CODECS.iter().filter(|&&codec| codec != Codec::Zstd);
        codecs.map(move |&codec| message_set(format, codec, &story(format.magic(), 0)))
    });
    batches.chain(sets).collect()
}

/// The descriptor of an lz4 frame with these options and its right checksum.
fn lz4_header(linked: bool, checksums: bool) -> Vec<u8> {
    let mode = if linked { BlockMode::Linked } else { BlockMode::Independent };
    let info = FrameInfo::new().block_mode(mode).block_checksums(checksums).block_size(BlockSize::Max4MB);
    let mut frame = FrameEncoder::with_frame_info(info, Vec::new()).finish().unwrap();
    frame.truncate(7);
    frame
}

#[test]
fn valid_sets_cut_at_every_byte_give_whole_entries_and_one_partial() {
    for set in valid_sets() {
        for len in 0..set.len() {
            devour(&set.slice(..len));
            let last = split(set.slice(..len)).last();
            let whole = split(set.clone()).map_while(Result::ok).scan(0, |end, entry| {
                *end += match entry {
                    Entry::Batch(batch) => batch.bytes().len(),
                    Entry::Message(message) => message.bytes().len(),
                    Entry::Partial(partial) => panic!("{partial:?}"),
                };
                Some(*end)
            });
            let between = len == 0 || whole.into_iter().any(|end| end == len);
            assert_eq!(matches!(last, Some(Ok(Entry::Partial(_)))), !between, "{len} of {}", set.len());
        }
    }
}

#[test]
fn a_payload_cut_at_every_byte_under_a_matching_length_is_an_error() {
    for codec in CODECS {
        let whole = batch(codec, &story(2, 0), Stamp::NONE);
        for len in 61..whole.len() {
            let mut cut = whole[..len].to_vec();
            let length = i32::try_from(len - 12).unwrap();
            cut[8..12].copy_from_slice(&length.to_be_bytes());
            let cut = RawBatch::from_bytes(Bytes::from(cut)).unwrap();
            let read = Records::of(&cut, BYTES_MAX).map(|records| records.iter().all(|record| record.is_ok()));
            assert!(!matches!(read, Ok(true)), "{codec} {len}");
        }
    }
}

#[test]
fn wrappers_in_wrappers_are_refused_at_the_first() {
    // H17: a thousand deep; the second level is never opened.
    for format in FORMATS {
        let mut set = message_set(format, Codec::Gzip, &story(format.magic(), 0));
        for _ in 0..1000 {
            let mut value = Vec::new();
            compress(Codec::Gzip, &set, &mut value).unwrap();
            let mut builder = MessageSetBuilder::new(format, Codec::None);
            builder.push(0, None, Some(&value)).unwrap();
            let mut message = builder.finish().unwrap().to_vec();
            message[17] = Codec::Gzip.id();
            set = Bytes::from(message);
        }
        let outer = RawMessage::from_bytes(set).unwrap();
        let sent = Messages::as_sent(&mut Decompressor::new(), &outer, BYTES_MAX).unwrap();
        assert_eq!(sent.iter().collect::<Result<Vec<_>, _>>().unwrap_err(), RecordError::Nested);
        let read =
            messages(&outer, BYTES_MAX).map(|inner| inner.iter().any(|message| message == Err(RecordError::Nested)));
        // The offset 0 of the outermost cannot be that of the last of seven: magic 0 says so before.
        assert!(matches!(read, Ok(true) | Err(RecordError::Range { .. })), "{read:?}");
    }
}

#[test]
fn a_bomb_in_a_wrapper_ends_at_the_callers_cap() {
    // H17, for both magics and the codecs that both have.
    let zeros = vec![0; 5_000_000];
    for format in FORMATS {
        for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4] {
            let mut builder = MessageSetBuilder::new(format, codec);
            builder.push(0, None, Some(&zeros)).unwrap();
            let bomb = RawMessage::from_bytes(builder.finish().unwrap()).unwrap();
            assert!(bomb.bytes().len() < 300_000);
            let refused = RecordError::Codec(CodecError::TooLarge { codec, bytes_max: CAP });
            assert_eq!(messages(&bomb, CAP).unwrap_err(), refused, "{codec}");
            assert_eq!(Messages::as_sent(&mut Decompressor::new(), &bomb, CAP).unwrap_err(), refused, "{codec}");
        }
    }
}

#[test]
fn codec_bits_5_to_7_are_errors_of_the_batch_only() {
    for id in 5..8 {
        let mut bytes = batch(Codec::None, &story(2, 0), Stamp::NONE).to_vec();
        bytes[22] = id;
        let batch = RawBatch::from_bytes(Bytes::from(bytes)).unwrap();
        assert_eq!(Records::of(&batch, CAP).unwrap_err(), RecordError::Codec(CodecError::Unknown { id }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..300)) {
        let bytes = Bytes::from(bytes);
        devour(&bytes);
        let _ = (BatchHeader::parse(&bytes), RawBatch::from_bytes(bytes.clone()), RawMessage::from_bytes(bytes));
    }

    #[test]
    fn arbitrary_bytes_behind_a_right_prefix_never_panic(bytes in vec(any::<u8>(), 49..300), magic in 0..4_u8) {
        let mut entry = [&[0; 8][..], &u32::try_from(bytes.len()).unwrap().to_be_bytes(), &bytes].concat();
        entry[16] = magic;
        devour(&Bytes::from(entry));
    }

    #[test]
    fn a_valid_set_with_some_bytes_changed_never_panics(
        set in 0..13_usize, changes in vec((any::<usize>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = valid_sets().swap_remove(set).to_vec();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        devour(&Bytes::from(bytes));
    }

    #[test]
    fn arbitrary_records_behind_a_right_header_never_panic(payload in vec(any::<u8>(), 0..200), count: i32) {
        let mut bytes = batch(Codec::None, &story(2, 0), Stamp::NONE)[..61].to_vec();
        bytes.extend(payload);
        let length = i32::try_from(bytes.len() - 12).unwrap();
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        bytes[57..61].copy_from_slice(&(count & 0xf).to_be_bytes());
        devour(&Bytes::from(bytes));
    }

    #[test]
    fn arbitrary_deflate_data_is_an_error_or_within_the_cap(body in vec(any::<u8>(), 0..300), flags in 0..32_u8) {
        let packed = [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 0], &body[..]].concat();
        if let Ok(plain) = decompress(Codec::Gzip, &Bytes::from(packed), CAP) {
            prop_assert!(plain.len() <= CAP);
        }
    }

    #[test]
    fn arbitrary_lz4_blocks_are_an_error_or_within_the_cap(
        blocks in vec((any::<bool>(), vec(any::<u8>(), 1..200)), 0..5), linked: bool, checksums: bool,
    ) {
        let mut packed = lz4_header(linked, checksums);
        for (stored, block) in &blocks {
            let size = u32::try_from(block.len()).unwrap() | u32::from(*stored) << 31;
            packed.extend(size.to_le_bytes());
            packed.extend(block);
        }
        packed.extend([0; 4]);
        if let Ok(plain) = decompress(Codec::Lz4, &Bytes::from(packed), CAP) {
            prop_assert!(plain.len() <= CAP);
        }
    }

    #[test]
    fn a_wrapper_of_arbitrary_messages_never_panics(
        magic in 0..2_usize, codec in 0..4_usize, outer in 0..i64::MAX,
        inner in vec((any::<i64>(), 0..3_u8, any::<u8>(), vec(any::<u8>(), 0..40)), 0..5),
    ) {
        let mut set = Vec::new();
        for (offset, magic, attributes, body) in inner {
            set.extend(offset.to_be_bytes());
            set.extend(u32::try_from(body.len() + 14).unwrap().to_be_bytes());
            set.extend([0, 0, 0, 0, magic, attributes]);
            set.extend([255; 8]);
            set.extend(body);
        }
        let mut value = Vec::new();
        compress(CODECS[codec], &set, &mut value).unwrap();
        let mut builder = MessageSetBuilder::new(FORMATS[magic], Codec::None);
        builder.push_at(outer, 0, None, Some(&value)).unwrap();
        let mut bytes = builder.finish().unwrap().to_vec();
        bytes[17] = CODECS[codec].id();
        devour(&Bytes::from(bytes));
    }

    #[test]
    fn arbitrary_lz4_headers_are_repaired_or_left_alone(mut bytes in vec(any::<u8>(), 0..20), framed: bool) {
        if framed {
            bytes.splice(..0, [0x04, 0x22, 0x4d, 0x18]);
        }
        let before = bytes.clone();
        let repaired = repair_lz4_header(&mut bytes).is_ok();
        let changed = before.iter().zip(&bytes).filter(|(before, after)| before != after).count();
        prop_assert!(changed <= usize::from(repaired));
        if repaired {
            let read = decompress(Codec::Lz4, &Bytes::from(bytes), CAP);
            let what = "checksum of the frame descriptor does not match";
            prop_assert_ne!(read, Err(CodecError::Corrupt { codec: Codec::Lz4, what }));
        }
    }

    #[test]
    fn arbitrary_snappy_chunks_are_an_error_or_within_the_cap(
        framed: bool, blocks in vec((0..200_u8, vec(any::<u8>(), 0..200)), 1..5),
    ) {
        let mut packed = if framed { b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec() } else { Vec::new() };
        for (claim, block) in &blocks {
            if framed {
                packed.extend(u32::try_from(1 + block.len()).unwrap().to_be_bytes());
            }
            packed.push(*claim);
            packed.extend(block);
        }
        if let Ok(plain) = decompress(Codec::Snappy, &Bytes::from(packed), CAP) {
            prop_assert!(plain.len() <= CAP);
        }
    }

    #[test]
    fn arbitrary_zstd_blocks_are_an_error_or_within_the_cap(
        flags in prop_oneof![Just(0_u8), Just(0x04), Just(0x20), any::<u8>()],
        blocks in vec((0..3_u32, vec(any::<u8>(), 1..200)), 1..5),
    ) {
        let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, flags, 0x40];
        for (index, (kind, block)) in blocks.iter().enumerate() {
            let last = u32::from(index + 1 == blocks.len());
            let header = u32::try_from(block.len()).unwrap() << 3 | kind << 1 | last;
            packed.extend(&header.to_le_bytes()[..3]);
            packed.extend(if *kind == 1 { &block[..1] } else { block });
        }
        packed.extend([0; 4]);
        if let Ok(plain) = decompress(Codec::Zstd, &Bytes::from(packed), CAP) {
            prop_assert!(plain.len() <= CAP);
        }
    }

    #[test]
    fn damaged_frames_are_errors_within_the_cap(
        codec in 1..5_usize, len in 0..40_000_usize, at: usize, byte: u8, cap in 0..50_000_usize,
    ) {
        let codec = CODECS[codec];
        let plain: Vec<u8> = (0..len).map(|i| (i / 3 * 7).to_le_bytes()[0]).collect();
        let mut packed = Vec::new();
        compress(codec, &plain, &mut packed).unwrap();
        let whole = decompress(codec, &Bytes::copy_from_slice(&packed), cap);
        if len <= cap {
            prop_assert_eq!(whole.unwrap(), plain);
        } else {
            prop_assert_eq!(whole, Err(CodecError::TooLarge { codec, bytes_max: cap }));
        }
        let at = at % packed.len();
        packed[at] = byte;
        if let Ok(plain) = decompress(codec, &Bytes::from(packed), cap) {
            prop_assert!(plain.len() <= cap);
        }
    }
}
