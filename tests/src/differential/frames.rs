//! The frames that a codec allows, beyond those that kmirror writes: as other producers send them.
//!
//! Left out is what Java refuses to read: lz4 blocks that lean on the one before them, an lz4 frame that names its
//! content's size, and a second lz4 frame, which Java takes for nothing.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use kmirror_proto::compress::{Codec, compress};
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};

use crate::failure::Context as _;
use crate::{Failure, Result};

/// Compresses `plain` into a frame with the options that `option`, any number that is not negative, stands for.
pub(super) fn framed(codec: Codec, option: i32, plain: &[u8]) -> Result<Vec<u8>> {
    let option = option.unsigned_abs();
    match codec {
        Codec::None => Ok(plain.to_vec()),
        Codec::Gzip => gzip(option, plain),
        Codec::Snappy => snappy(option, plain),
        Codec::Lz4 => lz4(option, plain),
        Codec::Zstd => zstd(option, plain),
    }
}

/// One member or two; with each optional field of the header, its own checksum included.
fn gzip(option: u32, plain: &[u8]) -> Result<Vec<u8>> {
    let halves =
        if option.is_multiple_of(2) { vec![plain] } else { Vec::from(<[_; 2]>::from(plain.split_at(plain.len() / 2))) };
    let mut frame = Vec::new();
    for half in halves {
        let begin = frame.len();
        let flags = (option / 2 % 32).to_le_bytes()[0];
        frame.extend([0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 255]);
        if flags & 4 != 0 {
            frame.extend(b"\x05\0extra");
        }
        if flags & 8 != 0 {
            frame.extend(b"name\0");
        }
        if flags & 16 != 0 {
            frame.extend(b"a comment\0");
        }
        if flags & 2 != 0 {
            let [low, high, ..] = crc32fast::hash(&frame[begin..]).to_le_bytes();
            frame.extend([low, high]);
        }
        let mut encoder = DeflateEncoder::new(&mut frame, flate2::Compression::new(option / 64 % 10));
        encoder.write_all(half).and_then(|()| encoder.finish()).context(|| "deflating".to_owned())?;
        frame.extend(crc32fast::hash(half).to_le_bytes());
        frame.extend(u32::try_from(half.len()).unwrap_or(0).to_le_bytes());
    }
    Ok(frame)
}

/// One bare block, or xerial chunks of any size.
fn snappy(option: u32, plain: &[u8]) -> Result<Vec<u8>> {
    let block = |bytes: &[u8]| {
        let packed = snap::raw::Encoder::new().compress_vec(bytes);
        packed.map_err(|error| Failure::new(format!("compressing with snappy: {error}")))
    };
    if option.is_multiple_of(2) {
        return block(plain);
    }
    let mut frame = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01".to_vec();
    for chunk in plain.chunks(1 << (6 + option / 2 % 12)) {
        let packed = block(chunk)?;
        frame.extend(u32::try_from(packed.len()).unwrap_or(0).to_be_bytes());
        frame.extend(packed);
    }
    Ok(frame)
}

/// Blocks of 64 KiB to 4 MiB, with and without checksums of blocks and content.
fn lz4(option: u32, plain: &[u8]) -> Result<Vec<u8>> {
    let sizes = [BlockSize::Max64KB, BlockSize::Max256KB, BlockSize::Max1MB, BlockSize::Max4MB];
    let size = sizes[usize::try_from(option % 4).unwrap_or(0)];
    let frame = FrameInfo::new().block_mode(BlockMode::Independent).block_size(size);
    let frame = frame.block_checksums(option / 4 % 2 == 1).content_checksum(option / 8 % 2 == 1);
    let mut encoder = FrameEncoder::with_frame_info(frame, Vec::new());
    encoder.write_all(plain).context(|| "compressing with lz4".to_owned())?;
    encoder.finish().map_err(|error| Failure::new(format!("compressing with lz4: {error}")))
}

/// One frame or two, with frames between that are to be skipped.
fn zstd(option: u32, plain: &[u8]) -> Result<Vec<u8>> {
    let failed = |error| Failure::new(format!("compressing with zstd: {error}"));
    let skipped = b"\x51\x2a\x4d\x18\x03\0\0\0any";
    let mut frame = Vec::new();
    let (first, second) = if option.is_multiple_of(2) { (plain, None) } else { two(plain) };
    if option / 2 % 4 == 1 {
        frame.extend(skipped);
    }
    compress(Codec::Zstd, first, &mut frame).map_err(failed)?;
    if let Some(second) = second {
        if option / 8 % 2 == 1 {
            frame.extend(skipped);
        }
        compress(Codec::Zstd, second, &mut frame).map_err(failed)?;
    }
    Ok(frame)
}

fn two(plain: &[u8]) -> (&[u8], Option<&[u8]>) {
    let (first, second) = plain.split_at(plain.len() / 3);
    (first, Some(second))
}
