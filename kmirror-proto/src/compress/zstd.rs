//! Zstd in Kafka: RFC 8878 frames (KIP-110), magic 2 only.
//!
//! ```text
//! +-------------+-----+--------+------------+--------------+  +---------------------+-----------+  +----------+
//! | 28 b5 2f fd | FHD | window | dictionary | content size |  | last, type, size    | block     |..| checksum |
//! | magic, LE   |     | (1 B)  | id (0-4 B) | (0-8 B)      |  | 3 B LE: 1, 2, 21 bit|           |  | (4 B)    |
//! +-------------+-----+--------+------------+--------------+  +---------------------+-----------+  +----------+
//! FHD: bits 7-6 size of the content size · 20 single segment, no window · 08 reserved · 04 checksum · 1-0 size of the id
//! block types: 0 stored, 1 one byte repeated, 2 compressed, 3 reserved; at most 128 KiB of content each
//! ```
//!
//! Mirrors Java's `ZstdInputStream` / `ZstdOutputStream` (zstd-jni): frames one behind the other are one stream,
//! skippable frames are skipped, a window above 128 MiB is refused, a frame may lack its content size (Java's do).
//!
//! Blocks are decoded and encoded by the crate `zrip`, in plain Rust without `unsafe`. It was chosen among the pure-Rust
//! ones by what Kafka's own frames cost: all of ruzstd 0.9, structured-zstd 0.2 and zrip 0.8 read 508 frames of zstd-jni
//! (levels -50 … 22, with and without size and checksum, windows up to 128 MiB). zrip reads text at 0.7-1.1 GB/s
//! (ruzstd 0.3; structured-zstd 0.7, but 0.2 ms a call, and 160,000 lines of which a thousand are unsafe), writes it at
//! 0.3 GB/s (ruzstd 0.08), decodes straight into the output, and keeps its context from call to call.
//!
//! What it is not trusted with is the size of things. Here the blocks of a frame are walked first: they say how much the
//! frame can hold at most, whatever its header claims. The room for that, or for the cap, is reserved once and never
//! grows while the frame is decoded.

use zrip::{CompressContext, DecompressContext};

use super::{Codec, CodecError};

pub(super) fn decompressor() -> DecompressContext {
    DecompressContext::new()
}

pub(super) fn compressor() -> Result<CompressContext, CodecError> {
    let mut context = CompressContext::new(LEVEL).map_err(|_| corrupt("no such level"))?;
    // As Java writes: the CRC of the batch covers the same bytes.
    context.set_content_checksum(false);
    Ok(context)
}

pub(super) fn decompress(
    context: &mut DecompressContext,
    bytes: &[u8],
    bytes_max: usize,
) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    let mut rest = bytes;
    loop {
        rest = match Frame::next(rest)? {
            (Some(frame), after) => {
                append_frame(context, &frame, &mut out, bytes_max)?;
                after
            }
            (None, after) => after,
        };
        if rest.is_empty() {
            out.shrink_to_fit();
            return Ok(out);
        }
    }
}

pub(super) fn compress(context: &mut CompressContext, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    let at = out.len();
    out.resize(at + zrip::compress_bound(bytes.len()), 0);
    let room = out.get_mut(at..).unwrap_or_default();
    let written = context.compress_into(bytes, room).map_err(|_| corrupt("no room for the frame"));
    out.truncate(at + written.as_ref().map_or(0, |&len| len));
    written.map(drop)
}

/// Appends the content of one frame to `out`.
fn append_frame(
    context: &mut DecompressContext,
    frame: &Frame<'_>,
    out: &mut Vec<u8>,
    bytes_max: usize,
) -> Result<(), CodecError> {
    let too_large = CodecError::TooLarge { codec: Codec::Zstd, bytes_max };
    if let Some(size) = frame.content_size {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > frame.content_max {
            return Err(corrupt("a frame claims more than its blocks can hold"));
        }
        if size > bytes_max - out.len() {
            return Err(too_large);
        }
    }
    // Within the room for one more block a limit is not told from damage: so there is that room, and what reaches into
    // it was too large.
    let room_max = bytes_max.saturating_add(BLOCK_MAX) - out.len();
    let held = frame.content_size.map_or(frame.content_max, |size| usize::try_from(size).unwrap_or(usize::MAX));
    out.reserve_exact(held.min(room_max).saturating_add(OVERRUN));
    let read = context.decompress_into_with_limit(frame.bytes, out, room_max);
    if out.len() > bytes_max {
        return Err(too_large);
    }
    read.map(drop).map_err(|error| corrupt(reason(&error)))
}

/// One frame, its outline checked.
struct Frame<'a> {
    bytes: &'a [u8],
    content_size: Option<u64>,
    /// What the blocks can hold at most, in bytes.
    content_max: usize,
}

impl<'a> Frame<'a> {
    /// The frame at the beginning of `bytes`, `None` for one that is to be skipped, and what follows it.
    fn next(bytes: &'a [u8]) -> Result<(Option<Self>, &'a [u8]), CodecError> {
        let mut rest = bytes;
        let magic = u32::from_le_bytes(*take_array(&mut rest, "magic")?);
        if magic & !SKIPPABLE_LOW == SKIPPABLE {
            let len = u32::from_le_bytes(*take_array(&mut rest, "skippable frame")?);
            take(&mut rest, usize::try_from(len).unwrap_or(usize::MAX), "skippable frame")?;
            return Ok((None, rest));
        }
        if magic != MAGIC {
            return Err(corrupt("the magic bytes are missing"));
        }
        let [flags] = *take_array(&mut rest, "frame header")?;
        if flags & FLAG_RESERVED != 0 {
            return Err(corrupt("the reserved bit of the frame header is set"));
        }
        let single_segment = flags & FLAG_SINGLE_SEGMENT != 0;
        if !single_segment {
            let [window] = *take_array(&mut rest, "frame header")?;
            let (exponent, mantissa) = (window >> 3, u64::from(window & 7));
            let base = 1_u64 << (10 + exponent);
            if base + base / 8 * mantissa > WINDOW_MAX {
                return Err(corrupt("the window is larger than 128 MiB"));
            }
        }
        let dictionary_bytes = [0, 1, 2, 4].get(usize::from(flags & 3)).copied().unwrap_or(0);
        if take(&mut rest, dictionary_bytes, "frame header")?.iter().any(|&byte| byte != 0) {
            return Err(corrupt("the frame needs a dictionary"));
        }
        let content_size = match flags >> 6 {
            0 if single_segment => Some(take_array::<1>(&mut rest, "frame header")?[0].into()),
            0 => None,
            1 => Some(u64::from(u16::from_le_bytes(*take_array(&mut rest, "frame header")?)) + 256),
            2 => Some(u32::from_le_bytes(*take_array(&mut rest, "frame header")?).into()),
            _ => Some(u64::from_le_bytes(*take_array(&mut rest, "frame header")?)),
        };
        let content_max = skip_blocks(&mut rest)?;
        if flags & FLAG_CHECKSUM != 0 {
            take_array::<4>(&mut rest, "content checksum")?;
        }
        let bytes = bytes.get(..bytes.len() - rest.len()).unwrap_or_default();
        Ok((Some(Self { bytes, content_size, content_max }), rest))
    }
}

/// Skips the blocks up to the last one; how much they can hold at most, in bytes.
fn skip_blocks(rest: &mut &[u8]) -> Result<usize, CodecError> {
    let mut content_max = 0_usize;
    loop {
        let [low, middle, high] = *take_array(rest, "block header")?;
        let header = u32::from_le_bytes([low, middle, high, 0]);
        let size = usize::try_from(header >> 3).unwrap_or(usize::MAX);
        if size > BLOCK_MAX {
            return Err(corrupt("a block is larger than 128 KiB"));
        }
        let (stored, held) = match header >> 1 & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, BLOCK_MAX),
            _ => return Err(corrupt("a block has the reserved type")),
        };
        take(rest, stored, "block")?;
        content_max = content_max.saturating_add(held);
        if header & 1 == 1 {
            return Ok(content_max);
        }
    }
}

fn take<'a>(rest: &mut &'a [u8], len: usize, what: &'static str) -> Result<&'a [u8], CodecError> {
    let (taken, after) = rest.split_at_checked(len).ok_or(CodecError::Truncated { codec: Codec::Zstd, what })?;
    *rest = after;
    Ok(taken)
}

fn take_array<'a, const N: usize>(rest: &mut &'a [u8], what: &'static str) -> Result<&'a [u8; N], CodecError> {
    let (taken, after) = rest.split_first_chunk::<N>().ok_or(CodecError::Truncated { codec: Codec::Zstd, what })?;
    *rest = after;
    Ok(taken)
}

/// What the decoder found, in the words of this crate.
fn reason(error: &zrip::DecompressError) -> &'static str {
    use zrip::DecompressError as E;
    match error {
        E::ChecksumMismatch { .. } => "checksum of the content does not match",
        E::FrameSizeMismatch => "content size of the frame does not match the content",
        E::CorruptLiterals | E::BadHuffmanWeights | E::BadHuffmanStream => "invalid literals",
        E::CorruptSequences | E::BadFseTable => "invalid sequences",
        E::InvalidOffset => "a copy from before the beginning",
        E::BadMagic
        | E::BadFrameHeader
        | E::BadBlockHeader
        | E::BadBlockType
        | E::BlockTooLarge
        | E::WindowTooLarge { .. }
        | E::OutputTooSmall
        | E::DictMismatch { .. }
        | E::DictRequired
        | E::InvalidDictionary
        | E::InputExhausted
        | E::ExtraBytes => "invalid block",
    }
}

fn corrupt(what: &'static str) -> CodecError {
    CodecError::Corrupt { codec: Codec::Zstd, what }
}

/// Level of what is written: 0.28 GB/s against 0.18 at Java's default of 3, for a twenty-fifth more bytes.
const LEVEL: i32 = 1;
const MAGIC: u32 = 0xfd2f_b528;
/// Sixteen magics, 50 … 5f, begin a frame that is to be skipped.
const SKIPPABLE: u32 = 0x184d_2a50;
const SKIPPABLE_LOW: u32 = 0x0f;
const FLAG_SINGLE_SEGMENT: u8 = 0x20;
const FLAG_RESERVED: u8 = 0x08;
const FLAG_CHECKSUM: u8 = 0x04;
/// The largest window that zstd reads without being told to, and so Java's consumers.
const WINDOW_MAX: u64 = 128 << 20;
/// No block holds more, in either form (RFC 8878, 3.1.1.2.4).
const BLOCK_MAX: usize = 128 << 10;
/// The decoder copies in steps that may reach over the end of a block by this much.
const OVERRUN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(&mut compressor().unwrap(), bytes, &mut out).unwrap();
        out
    }

    fn unpacked(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
        decompress(&mut decompressor(), bytes, bytes_max)
    }

    /// A frame without content size, window 1 KiB, of these (type, size, bytes) blocks.
    fn frame(blocks: &[(u32, u32, &[u8])]) -> Vec<u8> {
        let mut out = [&MAGIC.to_le_bytes()[..], &[0, 0]].concat();
        for (index, (kind, size, bytes)) in blocks.iter().enumerate() {
            let last = u32::from(index + 1 == blocks.len());
            out.extend(&(size << 3 | kind << 1 | last).to_le_bytes()[..3]);
            out.extend(*bytes);
        }
        out
    }

    fn words(len: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let words: [&[u8]; 4] = [b"order ", b"payment ", b"customer ", b"7"];
        let mut out = Vec::new();
        while out.len() < len {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            out.extend(words[usize::from(state.to_be_bytes()[0] & 3)]);
        }
        out.truncate(len);
        out
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in [&b""[..], b"a", &[0; 200_000], &words(1_000_000)] {
            let packed = packed(text);
            assert_eq!(unpacked(&packed, text.len()).unwrap(), text);
            assert!(packed.len() < text.len() / 2 + 20, "{}", packed.len());
        }
    }

    #[test]
    fn frames_are_one_stream_and_skippable_ones_are_skipped() {
        let skippable = [&0x184d_2a5f_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"---"].concat();
        let stream = [&skippable[..], &packed(b"one, "), &packed(b""), &skippable, &packed(b"two")].concat();
        assert_eq!(unpacked(&stream, 8).unwrap(), b"one, two");
        assert_eq!(unpacked(&stream, 7), Err(CodecError::TooLarge { codec: Codec::Zstd, bytes_max: 7 }));
        assert_eq!(unpacked(&skippable, 0).unwrap(), b"");
        let junk = [&packed(b"one")[..], b"junk"].concat();
        assert_eq!(unpacked(&junk, 99), Err(corrupt("the magic bytes are missing")));
        assert_eq!(unpacked(b"", 99), Err(CodecError::Truncated { codec: Codec::Zstd, what: "magic" }));
    }

    /// H17: a kilobyte that becomes as much as one likes. Blocks of one byte repeated are the densest there are.
    #[test]
    fn a_bomb_ends_at_the_cap_and_allocates_no_more() {
        let bomb = frame(&[(1, 128 << 10, b"0".as_slice()); 256]);
        assert!(bomb.len() < 1100);
        assert_eq!(unpacked(&bomb, 32 << 20).unwrap().len(), 32 << 20);
        for cap in [0, 1, 1_000_000, (32 << 20) - 1] {
            let mut out = Vec::new();
            let (frame, _) = Frame::next(&bomb).unwrap();
            let refused = append_frame(&mut decompressor(), &frame.unwrap(), &mut out, cap);
            assert_eq!(refused, Err(CodecError::TooLarge { codec: Codec::Zstd, bytes_max: cap }));
            assert!(out.capacity() <= cap + BLOCK_MAX + OVERRUN, "{} for {cap}", out.capacity());
        }
        // The same told by its header, and in copies instead of repeats.
        let bomb = packed(&vec![0; 50_000_000]);
        assert!(bomb.len() < 20_000);
        assert_eq!(unpacked(&bomb, 1_000), Err(CodecError::TooLarge { codec: Codec::Zstd, bytes_max: 1_000 }));
    }

    /// Java's frames do not tell their size: every cap around it, within a compressed block and at its edges.
    #[test]
    fn a_cap_within_a_block_is_told_from_damage() {
        let text = words(300_000);
        let (told, mut untold) = (packed(&text), packed(&text));
        // Single segment, size of 4 bytes: instead no size and a window of 512 KiB.
        assert_eq!(untold[4], 0xa0);
        untold[4] = 0;
        untold.splice(5..9, [9 << 3]);
        for cap in [0, 1, 65_537, 131_071, 131_072, 131_073, 200_000, 262_144, 299_999] {
            let refused = Err(CodecError::TooLarge { codec: Codec::Zstd, bytes_max: cap });
            assert_eq!(unpacked(&told, cap), refused);
            assert_eq!(unpacked(&untold, cap), refused);
        }
        assert_eq!(unpacked(&untold, 300_000).unwrap(), text);
        assert_eq!(unpacked(&untold, 300_000).unwrap().capacity(), 300_000, "what was reserved is given back");
    }

    #[test]
    fn a_claim_is_held_against_the_blocks_before_it_is_believed() {
        // 1 GiB in a frame of one block of 5 bytes.
        let claim = [&MAGIC.to_le_bytes()[..], &[0xa0], &(1_u32 << 30).to_le_bytes(), &[5 << 3 | 1, 0, 0], b"hello"];
        let refused = corrupt("a frame claims more than its blocks can hold");
        assert_eq!(unpacked(&claim.concat(), usize::MAX), Err(refused));
        // Less than it holds, and more.
        for size in [4, 6] {
            let wrong = [&MAGIC.to_le_bytes()[..], &[0x20, size], &[5 << 3, 0, 0], b"hello", &[1, 0, 0]].concat();
            assert!(matches!(unpacked(&wrong, 100), Err(CodecError::Corrupt { .. })), "{size}");
        }
    }

    #[test]
    fn headers_that_java_refuses_are_refused() {
        let whole = frame(&[(0, 5, b"hello".as_slice())]);
        assert_eq!(unpacked(&whole, 5).unwrap(), b"hello");
        let with = |at: usize, byte: u8| {
            let mut changed = whole.clone();
            changed[at] = byte;
            unpacked(&changed, 5)
        };
        assert_eq!(with(5, 17 << 3).unwrap(), b"hello", "128 MiB are read");
        for window in [17 << 3 | 1, 31 << 3] {
            assert_eq!(with(5, window), Err(corrupt("the window is larger than 128 MiB")));
        }
        assert_eq!(with(4, FLAG_RESERVED), Err(corrupt("the reserved bit of the frame header is set")));
        assert_eq!(with(4, 1), Err(corrupt("the frame needs a dictionary")));
        assert_eq!(with(6, 5 << 3 | 3 << 1 | 1), Err(corrupt("a block has the reserved type")));
        assert_eq!(with(8, 0x80), Err(corrupt("a block is larger than 128 KiB")));
        assert_eq!(with(0, 0), Err(corrupt("the magic bytes are missing")));
    }

    #[test]
    fn what_is_cut_says_where_and_a_wrong_checksum_is_found() {
        // XXH64 of nothing begins with 99 e9 d8 51 (the low four bytes, little-endian).
        let mut whole = [&MAGIC.to_le_bytes()[..], &[FLAG_CHECKSUM, 0], &[1, 0, 0], &[0x99, 0xe9, 0xd8, 0x51]].concat();
        assert_eq!(unpacked(&whole, 0).unwrap(), b"");
        let parts = ["magic"; 4].into_iter().chain(["frame header"; 2]).chain(["block header"; 3]);
        for (len, what) in parts.chain(["content checksum"; 4]).enumerate() {
            assert_eq!(unpacked(&whole[..len], 0), Err(CodecError::Truncated { codec: Codec::Zstd, what }), "{len}");
        }
        whole[12] ^= 1;
        assert_eq!(unpacked(&whole, 0), Err(corrupt("checksum of the content does not match")));
    }
}
