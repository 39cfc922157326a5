//! Gzip in Kafka: RFC 1952 members around raw deflate.
//!
//! ```text
//! +----+----+----+-------+-------+-----+----+---------+-------+--------+----------------+-------+-------+
//! | 1f | 8b | 08 | flags | mtime | xfl | os | (extra) | (name)| (text) | (header crc16) | ...   | crc32 | isize
//! +----+----+----+-------+-------+-----+----+---------+-------+--------+----------------+-------+-------+
//!                            4 B                          flags 4  8        16  2         deflate  LE      LE
//! ```
//!
//! Mirrors Java's `GZIPInputStream` / `GZIPOutputStream`: several members are one stream, and bytes after a member
//! that do not begin another one are left unread. The framing is read here rather than by flate2's reader so that the
//! inflate context survives from batch to batch and the output is written once, into its final place.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Codec, CodecError, make_room};

pub(super) fn decompressor() -> Decompress {
    Decompress::new(false)
}

pub(super) fn compressor() -> Compress {
    Compress::new(Compression::new(LEVEL), false)
}

pub(super) fn decompress(context: &mut Decompress, bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::with_capacity(size_hint(bytes, bytes_max));
    let mut rest = bytes;
    loop {
        rest = inflate_member(context, rest, &mut out, bytes_max)?;
        if !rest.starts_with(&MAGIC) {
            return Ok(out);
        }
    }
}

pub(super) fn compress(context: &mut Compress, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    out.extend_from_slice(&HEADER);
    let start = out.len();
    deflate(context, bytes, out)?;
    if out.len() - start > stored_len(bytes.len()) {
        // Level 1 never stores: what does not compress would grow by a sixteenth, and past the target's limit.
        out.truncate(start);
        store(bytes, out);
    }
    out.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    out.extend_from_slice(&size_mod_2_32(bytes.len()).to_le_bytes());
    Ok(())
}

fn deflate(context: &mut Compress, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    context.reset();
    make_room(out, bytes.len() / 2 + 256, usize::MAX);
    let mut rest = bytes;
    loop {
        let before = context.total_in();
        let status = context.compress_vec(rest, out, FlushCompress::Finish).map_err(|_| corrupt("deflate failed"))?;
        rest = advance(rest, context.total_in() - before);
        match status {
            Status::StreamEnd => return Ok(()),
            // Half of the input was the first guess.
            Status::Ok | Status::BufError => make_room(out, rest.len().max(256), usize::MAX),
        }
    }
}

/// Bytes of deflate's stored blocks for `len` bytes.
fn stored_len(len: usize) -> usize {
    len.div_ceil(STORED_BLOCK).max(1).saturating_mul(5).saturating_add(len)
}

/// Deflate's stored blocks: a final bit, the length, its complement, the bytes.
fn store(bytes: &[u8], out: &mut Vec<u8>) {
    make_room(out, stored_len(bytes.len()), usize::MAX);
    let mut blocks = bytes.chunks(STORED_BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(blocks.peek().is_none()));
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&(!len).to_le_bytes());
        out.extend_from_slice(block);
    }
}

/// Appends one member's content to `out` and returns what follows the member.
fn inflate_member<'a>(
    context: &mut Decompress,
    bytes: &'a [u8],
    out: &mut Vec<u8>,
    bytes_max: usize,
) -> Result<&'a [u8], CodecError> {
    let mut rest = skip_header(bytes)?;
    let start = out.len();
    context.reset(false);
    loop {
        if out.len() == out.capacity() {
            // One byte past the cap, so that a stream of exactly the cap is told from a larger one.
            make_room(out, CHUNK.min(bytes_max.saturating_add(1) - out.len()), bytes_max.saturating_add(1));
        }
        let (before_in, before_out) = (context.total_in(), context.total_out());
        let status =
            context.decompress_vec(rest, out, FlushDecompress::None).map_err(|_| corrupt("invalid deflate data"))?;
        rest = advance(rest, context.total_in() - before_in);
        if out.len() > bytes_max {
            return Err(CodecError::TooLarge { codec: Codec::Gzip, bytes_max });
        }
        match status {
            Status::StreamEnd => break,
            Status::Ok | Status::BufError => {
                let idle = context.total_in() == before_in && context.total_out() == before_out;
                if idle && out.len() < out.capacity() {
                    return Err(truncated("deflate data"));
                }
            }
        }
    }
    let (crc, after) = rest.split_first_chunk::<4>().ok_or_else(|| truncated("trailer"))?;
    let (size, after) = after.split_first_chunk::<4>().ok_or_else(|| truncated("trailer"))?;
    let content = out.get(start..).unwrap_or_default();
    if u32::from_le_bytes(*crc) != crc32fast::hash(content) {
        return Err(corrupt("checksum does not match the content"));
    }
    if u32::from_le_bytes(*size) != size_mod_2_32(content.len()) {
        return Err(corrupt("size in the trailer does not match the content"));
    }
    Ok(after)
}

/// What follows a member's header.
fn skip_header(bytes: &[u8]) -> Result<&[u8], CodecError> {
    let (fixed, mut rest) = bytes.split_first_chunk::<10>().ok_or_else(|| truncated("header"))?;
    let [id1, id2, method, flags, ..] = *fixed;
    if [id1, id2] != MAGIC {
        return Err(corrupt("the magic bytes are missing"));
    }
    if method != DEFLATE {
        return Err(corrupt("the method is not deflate"));
    }
    if flags & FLAG_EXTRA != 0 {
        let (len, after) = rest.split_first_chunk::<2>().ok_or_else(|| truncated("header"))?;
        rest = after.get(usize::from(u16::from_le_bytes(*len))..).ok_or_else(|| truncated("header"))?;
    }
    for flag in [FLAG_NAME, FLAG_TEXT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|&byte| byte == 0).ok_or_else(|| truncated("header"))?;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
    if flags & FLAG_HEADER_CRC != 0 {
        let (crc, after) = rest.split_first_chunk::<2>().ok_or_else(|| truncated("header"))?;
        let covered = bytes.get(..bytes.len() - rest.len()).unwrap_or_default();
        let [low0, low1, ..] = crc32fast::hash(covered).to_le_bytes();
        if *crc != [low0, low1] {
            return Err(corrupt("checksum of the header does not match"));
        }
        rest = after;
    }
    Ok(rest)
}

/// How much to reserve at first: what the trailer says, believed up to a usual ratio of text.
fn size_hint(bytes: &[u8], bytes_max: usize) -> usize {
    let claimed = bytes.last_chunk::<4>().map_or(0, |size| u32::from_le_bytes(*size));
    let claimed = usize::try_from(claimed).unwrap_or(usize::MAX);
    claimed
        .saturating_add(SLACK)
        .min(bytes.len().saturating_mul(RATIO_USUAL).saturating_add(SLACK))
        .min(bytes_max.saturating_add(1))
}

/// What is left of `bytes` after `taken` of them.
fn advance(bytes: &[u8], taken: u64) -> &[u8] {
    usize::try_from(taken).ok().and_then(|taken| bytes.get(taken..)).unwrap_or_default()
}

/// The size field of the trailer holds the size modulo 2^32.
#[expect(clippy::cast_possible_truncation, reason = "RFC 1952 defines the field modulo 2^32")]
fn size_mod_2_32(len: usize) -> u32 {
    len as u32
}

fn truncated(what: &'static str) -> CodecError {
    CodecError::Truncated { codec: Codec::Gzip, what }
}

fn corrupt(what: &'static str) -> CodecError {
    CodecError::Corrupt { codec: Codec::Gzip, what }
}

/// Deflate level of what is written: 0.30 GB/s against 0.09 at Java's default of 6, for a tenth more bytes.
const LEVEL: u32 = 1;
/// The longest stored block.
const STORED_BLOCK: usize = 65_535;
const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;
const FLAG_HEADER_CRC: u8 = 0x02;
const FLAG_EXTRA: u8 = 0x04;
const FLAG_NAME: u8 = 0x08;
const FLAG_TEXT: u8 = 0x10;
/// The header that Java writes: no flags, no time, no operating system.
const HEADER: [u8; 10] = [0x1f, 0x8b, DEFLATE, 0, 0, 0, 0, 0, 0, 0];
/// The least by which the output grows.
const CHUNK: usize = 4096;
/// The fast loop of inflate wants 258 bytes of room, the longest match, up to the last symbol.
const SLACK: usize = 320;
/// Deflate reaches 1032; what a trailer claims is believed up to this many times the input and grown into beyond.
const RATIO_USUAL: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(&mut compressor(), bytes, &mut out).unwrap();
        out
    }

    fn gunzip(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
        decompress(&mut decompressor(), bytes, bytes_max)
    }

    #[test]
    fn what_is_written_is_read_back_and_flate2s_own_reader_agrees() {
        use std::io::Read as _;
        let noise: Vec<u8> = (0..100_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
        for text in [&b""[..], b"a", &[0; 70_000], &noise] {
            let packed = gzip(text);
            assert_eq!(gunzip(&packed, text.len()).unwrap(), text);
            let mut read = Vec::new();
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn what_does_not_compress_is_stored() {
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        for len in [1, 65_535, 65_536, 200_000] {
            let text: Vec<u8> = (0..len).map(|_| noise()).collect();
            let packed = gzip(&text);
            assert!(packed.len() <= 18 + stored_len(len), "{len}: {}", packed.len());
            assert_eq!(gunzip(&packed, len).unwrap(), text);
        }
    }

    #[test]
    fn members_are_one_stream_and_junk_behind_them_is_left_unread() {
        let mut packed = gzip(b"one, ");
        packed.extend(gzip(b""));
        packed.extend(gzip(b"two"));
        assert_eq!(gunzip(&packed, 100).unwrap(), b"one, two");
        let padded = [&packed[..], b"\0\0\0 padding"].concat();
        assert_eq!(gunzip(&padded, 100).unwrap(), b"one, two");
        // A further member that has begun is data; being cut off it is an error.
        let cut = [&packed[..], &gzip(b"three")[..15]].concat();
        assert!(matches!(gunzip(&cut, 100), Err(CodecError::Truncated { .. })));
    }

    #[test]
    fn every_optional_header_field_is_skipped() {
        let plain = gzip(b"content");
        let mut packed = plain[..10].to_vec();
        packed[3] = FLAG_EXTRA | FLAG_NAME | FLAG_TEXT | FLAG_HEADER_CRC;
        packed.extend([3, 0, 1, 2, 3]);
        packed.extend(b"name\0comment\0");
        let crc = crc32fast::hash(&packed).to_le_bytes();
        packed.extend(&crc[..2]);
        packed.extend(&plain[10..]);
        assert_eq!(gunzip(&packed, 7).unwrap(), b"content");
        packed[12] ^= 1;
        assert_eq!(gunzip(&packed, 7), Err(corrupt("checksum of the header does not match")));
    }

    #[test]
    fn a_bomb_ends_at_the_cap() {
        let bomb = gzip(&vec![0; 50_000_000]);
        assert!(bomb.len() < 500_000);
        let cap = 1_000_000;
        assert_eq!(gunzip(&bomb, cap), Err(CodecError::TooLarge { codec: Codec::Gzip, bytes_max: cap }));
        assert_eq!(gunzip(&gzip(&vec![0; cap]), cap).unwrap().len(), cap);
        assert!(gunzip(&gzip(&vec![0; cap + 1]), cap).is_err());
    }

    #[test]
    fn a_trailer_that_claims_4_gb_reserves_for_the_input_only() {
        let mut packed = gzip(b"small");
        let at = packed.len() - 4;
        packed[at..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(size_hint(&packed, usize::MAX) < 1000);
        assert_eq!(gunzip(&packed, usize::MAX), Err(corrupt("size in the trailer does not match the content")));
    }

    #[test]
    fn a_flipped_bit_never_changes_the_content_unnoticed() {
        let text = b"some content that is worth keeping whole";
        let packed = gzip(text);
        let mut found = 0;
        for bit in 80..packed.len() * 8 {
            let mut broken = packed.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            match gunzip(&broken, 1000) {
                Ok(same) => assert_eq!(same, text, "bit {bit}"),
                Err(_) => found += 1,
            }
        }
        // The bits after the end-of-block symbol, up to the next whole byte, stand for nothing.
        assert!(found > (packed.len() - 10) * 8 - 8, "{found}");
    }
}
