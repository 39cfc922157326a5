//! Lz4 in Kafka: one LZ4 frame (KIP-57).
//!
//! ```text
//! +----------------+-----+-----+--------------+----+  +------+------------+----------------+  +---------+----------+
//! | 04 22 4d 18    | FLG | BD  | content size | HC |  | size | block data | block checksum |..| 0 0 0 0 | content  |
//! | magic, LE      |     |     | 8 B, FLG 08  |    |  | LE   |            | 4 B, FLG 10    |  | end mark| checksum |
//! +----------------+-----+-----+--------------+----+  +------+------------+----------------+  +---------+----------+
//!                                                       bit 31: stored as it is                            4 B, FLG 04
//! FLG: version 01 in bits 7-6 · 20 independent blocks · 10 block checksums · 08 content size · 04 content checksum ·
//!      01 dictionary id (refused: there is no dictionary to have)      BD: bits 6-4, 4 = 64 KiB … 7 = 4 MiB
//! HC:  the second byte of the xxHash of what stands between magic and HC; in magic 0 of the magic as well
//! ```
//!
//! Before 0.10 Kafka hashed the frame's magic too (KAFKA-3160). In message format 0 that wrong checksum stays for good:
//! it is written there, and what stands there is not looked at. Anywhere else it is refused (fact M7).
//!
//! Mirrors Java's `Lz4BlockInputStream` / `Lz4BlockOutputStream`: written are independent 64 KiB blocks without
//! checksums; read is every option (Java reads no linked blocks), and what follows the end mark is left unread. Blocks
//! are decoded straight to the end of the output: lz4_flex's own frame reader would take a truncated frame for a whole
//! one and allocate up to 8 MiB for a frame of a few bytes.

use lz4_flex::block::{self, CompressTable, DecompressError};
use xxhash_rust::xxh32::xxh32;

use super::{Codec, CodecError, make_room};

/// Whose header checksum a frame has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// Of magic 1 and 2: the one of the LZ4 frame format.
    Standard,
    /// Of magic 0: written wrong as Kafka did, and not looked at.
    Magic0,
}

pub(super) fn compressor() -> CompressTable {
    CompressTable::small()
}

pub(super) fn decompress(bytes: &[u8], bytes_max: usize, header: Header) -> Result<Vec<u8>, CodecError> {
    let (frame, mut rest) = Descriptor::read(bytes, header)?;
    let mut out = Vec::with_capacity(frame.size_hint(bytes.len(), bytes_max));
    loop {
        let size = take_u32(&mut rest, "block size")?;
        if size == END_MARK {
            break;
        }
        let len = usize::try_from(size & !STORED).unwrap_or(usize::MAX);
        if len > frame.block_max {
            return Err(corrupt("block is larger than the frame's block size"));
        }
        let data = take(&mut rest, len, "block")?;
        if frame.block_checksums && take_u32(&mut rest, "block checksum")? != xxh32(data, 0) {
            return Err(corrupt("checksum of a block does not match"));
        }
        if size & STORED != 0 {
            if len > bytes_max - out.len() {
                return Err(CodecError::TooLarge { codec: Codec::Lz4, bytes_max });
            }
            make_room(&mut out, len, bytes_max);
            out.extend_from_slice(data);
        } else {
            append_block(&mut out, data, &frame, bytes_max)?;
        }
    }
    if frame.content_size.is_some_and(|size| usize::try_from(size) != Ok(out.len())) {
        return Err(corrupt("content size of the frame does not match the content"));
    }
    if frame.content_checksum && take_u32(&mut rest, "content checksum")? != xxh32(&out, 0) {
        return Err(corrupt("checksum of the content does not match"));
    }
    Ok(out)
}

pub(super) fn compress(
    table: &mut CompressTable,
    bytes: &[u8],
    out: &mut Vec<u8>,
    header: Header,
) -> Result<(), CodecError> {
    out.extend_from_slice(&HEADER);
    out.push(match header {
        Header::Standard => HEADER_CHECKSUM,
        Header::Magic0 => HEADER_CHECKSUM_MAGIC_0,
    });
    for data in bytes.chunks(BLOCK_WRITTEN) {
        let at = out.len();
        make_room(out, 4 + block::get_maximum_output_size(data.len()), usize::MAX);
        out.resize(at + 4 + block::get_maximum_output_size(data.len()), 0);
        let (size, room) = out
            .get_mut(at..)
            .and_then(|tail| tail.split_first_chunk_mut::<4>())
            .ok_or_else(|| corrupt("no room for a block"))?;
        let packed = block::compress_into_with_table(data, room, table).map_err(|_| corrupt("no room for a block"))?;
        if packed < data.len() {
            *size = block_size(packed, 0);
            out.truncate(at + 4 + packed);
        } else {
            *size = block_size(data.len(), STORED);
            out.truncate(at + 4);
            out.extend_from_slice(data);
        }
    }
    out.extend_from_slice(&END_MARK.to_le_bytes());
    Ok(())
}

/// Puts the right checksum into the header of a frame of magic 0; see [`super::repair_lz4_header`].
pub(super) fn repair_header(frame: &mut [u8]) -> Result<(), CodecError> {
    let (_, rest) = Descriptor::read(frame, Header::Magic0)?;
    let end = frame.len() - rest.len();
    let checksum = header_checksum(frame.get(MAGIC_BYTES..end - 1).unwrap_or_default());
    if let Some(byte) = frame.get_mut(end - 1) {
        *byte = checksum;
    }
    Ok(())
}

/// The frame descriptor, checked.
struct Descriptor {
    block_max: usize,
    linked: bool,
    block_checksums: bool,
    content_checksum: bool,
    content_size: Option<u64>,
}

impl Descriptor {
    /// The descriptor and what follows it.
    fn read(bytes: &[u8], header: Header) -> Result<(Self, &[u8]), CodecError> {
        let mut rest = bytes;
        if take_u32(&mut rest, "magic")? != MAGIC {
            return Err(corrupt("the magic bytes are missing"));
        }
        let described = rest;
        let [flags, sizes] = *take_array::<2>(&mut rest, "frame descriptor")?;
        if flags & FLAG_VERSION != VERSION {
            return Err(corrupt("frame version is not 1"));
        }
        if flags & FLAG_RESERVED != 0 || sizes & !SIZES_BLOCK != 0 {
            return Err(corrupt("reserved bits of the frame descriptor are set"));
        }
        if flags & FLAG_DICTIONARY != 0 {
            return Err(corrupt("the frame needs a dictionary"));
        }
        let block_max = match (sizes & SIZES_BLOCK) >> 4 {
            4 => 64 << 10,
            5 => 256 << 10,
            6 => 1 << 20,
            7 => 4 << 20,
            _ => return Err(corrupt("block size of the frame is not one of the four")),
        };
        let content_size = if flags & FLAG_CONTENT_SIZE == 0 {
            None
        } else {
            Some(u64::from_le_bytes(*take_array::<8>(&mut rest, "frame descriptor")?))
        };
        let covered = described.get(..described.len() - rest.len()).unwrap_or_default();
        let [checksum] = *take_array::<1>(&mut rest, "frame descriptor")?;
        if header == Header::Standard && checksum != header_checksum(covered) {
            return Err(corrupt("checksum of the frame descriptor does not match"));
        }
        let frame = Self {
            block_max,
            linked: flags & FLAG_INDEPENDENT == 0,
            block_checksums: flags & FLAG_BLOCK_CHECKSUM != 0,
            content_checksum: flags & FLAG_CONTENT_CHECKSUM != 0,
            content_size,
        };
        Ok((frame, rest))
    }

    /// How much to reserve at first: the content size where the frame tells it, else a usual ratio of text.
    fn size_hint(&self, len: usize, bytes_max: usize) -> usize {
        let claimed = self.content_size.and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
        claimed.min(len.saturating_mul(RATIO_USUAL)).min(bytes_max)
    }
}

/// Decodes one compressed block to the end of `out`.
fn append_block(out: &mut Vec<u8>, data: &[u8], frame: &Descriptor, bytes_max: usize) -> Result<(), CodecError> {
    let start = out.len();
    let capped = bytes_max - start;
    // No block of n bytes decodes to more than 255 n: a large block size costs a small block nothing.
    let room = frame.block_max.min(capped).min(data.len().saturating_mul(RATIO_MAX));
    make_room(out, room, bytes_max);
    out.resize(start + room, 0);
    let (before, tail) = out.split_at_mut(start);
    let decoded = if frame.linked {
        let window = before.get(start.saturating_sub(WINDOW)..).unwrap_or_default();
        block::decompress_into_with_dict(data, tail, window)
    } else {
        block::decompress_into(data, tail)
    };
    match decoded {
        Ok(len) => {
            out.truncate(start + len);
            Ok(())
        }
        Err(DecompressError::OutputTooSmall { .. }) if room == capped => {
            Err(CodecError::TooLarge { codec: Codec::Lz4, bytes_max })
        }
        Err(_) => Err(corrupt("invalid block data")),
    }
}

/// The checksum of the descriptor: the second byte of the xxHash of what follows the magic.
fn header_checksum(covered: &[u8]) -> u8 {
    let [_, second, ..] = xxh32(covered, 0).to_le_bytes();
    second
}

/// A block's size field; blocks have 64 KiB at most here.
fn block_size(len: usize, flag: u32) -> [u8; 4] {
    (u32::try_from(len).unwrap_or(0) | flag).to_le_bytes()
}

fn take<'a>(rest: &mut &'a [u8], len: usize, what: &'static str) -> Result<&'a [u8], CodecError> {
    let (taken, after) = rest.split_at_checked(len).ok_or(CodecError::Truncated { codec: Codec::Lz4, what })?;
    *rest = after;
    Ok(taken)
}

fn take_array<'a, const N: usize>(rest: &mut &'a [u8], what: &'static str) -> Result<&'a [u8; N], CodecError> {
    let (taken, after) = rest.split_first_chunk::<N>().ok_or(CodecError::Truncated { codec: Codec::Lz4, what })?;
    *rest = after;
    Ok(taken)
}

fn take_u32(rest: &mut &[u8], what: &'static str) -> Result<u32, CodecError> {
    take_array::<4>(rest, what).map(|bytes| u32::from_le_bytes(*bytes))
}

fn corrupt(what: &'static str) -> CodecError {
    CodecError::Corrupt { codec: Codec::Lz4, what }
}

const MAGIC: u32 = 0x184d_2204;
const MAGIC_BYTES: usize = 4;
const FLAG_VERSION: u8 = 0xc0;
const VERSION: u8 = 0x40;
const FLAG_INDEPENDENT: u8 = 0x20;
const FLAG_BLOCK_CHECKSUM: u8 = 0x10;
const FLAG_CONTENT_SIZE: u8 = 0x08;
const FLAG_CONTENT_CHECKSUM: u8 = 0x04;
const FLAG_RESERVED: u8 = 0x02;
const FLAG_DICTIONARY: u8 = 0x01;
const SIZES_BLOCK: u8 = 0x70;
const END_MARK: u32 = 0;
const STORED: u32 = 1 << 31;
/// How far back a linked block may point.
const WINDOW: usize = 64 << 10;
/// A byte of match length stands for 255 bytes of output at most.
const RATIO_MAX: usize = 255;
/// The output is reserved for this many times the input at first and grows beyond.
const RATIO_USUAL: usize = 4;
const BLOCK_WRITTEN: usize = 64 << 10;
/// The header that Java writes, without its checksum: version 1, independent blocks of 64 KiB.
const HEADER: [u8; 6] = [0x04, 0x22, 0x4d, 0x18, VERSION | FLAG_INDEPENDENT, 0x40];
const HEADER_CHECKSUM: u8 = 0x82;
/// The hash of all of [`HEADER`] (KAFKA-3160).
const HEADER_CHECKSUM_MAGIC_0: u8 = 0x1a;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(&mut compressor(), bytes, &mut out, Header::Standard).unwrap();
        out
    }

    fn decompress(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
        super::decompress(bytes, bytes_max, Header::Standard)
    }

    /// A text of `len` bytes that compresses but not to nothing.
    fn text(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * i / 7).to_le_bytes()[0] & 0x3f).collect()
    }

    fn framed(info: FrameInfo, bytes: &[u8]) -> Vec<u8> {
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_header_is_javas() {
        assert_eq!(header_checksum(&HEADER[4..]), HEADER_CHECKSUM);
        assert_eq!(header_checksum(&HEADER), HEADER_CHECKSUM_MAGIC_0);
        assert_eq!(packed(b""), [&HEADER[..], &[HEADER_CHECKSUM, 0, 0, 0, 0]].concat());
    }

    #[test]
    fn the_wrong_header_checksum_is_of_magic_0_only_and_can_be_repaired() {
        // M7: the same bytes inside magic 1 or 2 are refused.
        let mut old = Vec::new();
        compress(&mut compressor(), &text(1000), &mut old, Header::Magic0).unwrap();
        assert_eq!(super::decompress(&old, 1000, Header::Magic0).unwrap(), text(1000));
        let refused =
            CodecError::Corrupt { codec: Codec::Lz4, what: "checksum of the frame descriptor does not match" };
        assert_eq!(decompress(&old, 1000), Err(refused));
        repair_header(&mut old).unwrap();
        assert_eq!(old, packed(&text(1000)));
        // Magic 0 takes the right one as well, whoever wrote it.
        assert_eq!(super::decompress(&old, 1000, Header::Magic0).unwrap(), text(1000));
    }

    #[test]
    fn a_repair_finds_the_checksum_behind_every_option_and_refuses_what_is_no_frame() {
        let whole = framed(FrameInfo::new().content_checksum(true).content_size(Some(900)), &text(900));
        let mut broken = whole.clone();
        broken[14] ^= 0xff;
        assert!(decompress(&broken, 1000).is_err());
        repair_header(&mut broken).unwrap();
        assert_eq!(broken, whole);
        for len in 0..15 {
            assert!(matches!(repair_header(&mut broken[..len]), Err(CodecError::Truncated { .. })), "{len}");
        }
        broken[0] ^= 1;
        assert!(matches!(repair_header(&mut broken), Err(CodecError::Corrupt { .. })));
    }

    #[test]
    fn what_is_written_is_read_back_and_lz4_flexs_frame_reader_agrees() {
        use std::io::Read as _;
        let noise: Vec<u8> = (0..150_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
        for bytes in [&b"a"[..], &text(65_535), &text(65_536), &text(200_000), &noise] {
            let out = packed(bytes);
            assert_eq!(decompress(&out, bytes.len()).unwrap(), bytes);
            let mut read = Vec::new();
            lz4_flex::frame::FrameDecoder::new(&out[..]).read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
        }
    }

    #[test]
    fn every_legal_frame_option_is_read() {
        let bytes = text(900_000);
        for mode in [BlockMode::Independent, BlockMode::Linked] {
            for size in [BlockSize::Max64KB, BlockSize::Max256KB, BlockSize::Max1MB, BlockSize::Max4MB] {
                for options in 0..8_u8 {
                    let info = FrameInfo::new()
                        .block_mode(mode)
                        .block_size(size)
                        .block_checksums(options & 1 != 0)
                        .content_checksum(options & 2 != 0)
                        .content_size((options & 4 != 0).then_some(bytes.len() as u64));
                    let out = framed(info, &bytes);
                    assert_eq!(decompress(&out, bytes.len()).unwrap(), bytes, "{mode:?} {size:?} {options}");
                    assert!(
                        matches!(decompress(&out, bytes.len() - 1), Err(CodecError::TooLarge { .. })),
                        "{mode:?} {size:?} {options}"
                    );
                }
            }
        }
    }

    #[test]
    fn checksums_and_the_content_size_are_verified() {
        let info = FrameInfo::new().block_checksums(true).content_checksum(true).content_size(Some(5000));
        let out = framed(info, &text(5000));
        for at in 0..out.len() {
            let mut broken = out.clone();
            broken[at] ^= 0x10;
            assert!(decompress(&broken, 1 << 20).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_frame_without_its_end_is_truncated_and_bytes_behind_it_are_left_unread() {
        let mut out = packed(&text(70_000));
        for len in 0..out.len() {
            assert!(matches!(decompress(&out[..len], 1 << 20), Err(CodecError::Truncated { .. })), "{len}");
        }
        out.extend(packed(b"a second frame, which Java does not read either"));
        assert_eq!(decompress(&out, 1 << 20).unwrap(), text(70_000));
    }

    #[test]
    fn a_bomb_ends_at_the_cap_and_a_small_frame_takes_little() {
        let bomb = packed(&vec![0; 20_000_000]);
        assert!(bomb.len() < 100_000);
        let cap = 1_000_000;
        assert_eq!(decompress(&bomb, cap), Err(CodecError::TooLarge { codec: Codec::Lz4, bytes_max: cap }));
        let small = framed(FrameInfo::new().block_size(BlockSize::Max4MB).content_size(Some(2)), b"ab");
        assert!(decompress(&small, usize::MAX).unwrap().capacity() < 1000);
    }

    #[test]
    fn dictionaries_and_reserved_bits_are_refused() {
        for (flags, sizes) in [(0x61, 0x40), (0x62, 0x40), (0x60, 0xc0), (0x60, 0x41), (0x20, 0x40), (0x60, 0x30)] {
            let mut out = packed(b"x");
            (out[4], out[5]) = (flags, sizes);
            out[6] = header_checksum(&[flags, sizes]);
            assert!(matches!(decompress(&out, 100), Err(CodecError::Corrupt { .. })), "{flags:x} {sizes:x}");
        }
    }
}
