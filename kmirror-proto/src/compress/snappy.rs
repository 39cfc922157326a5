//! Snappy in Kafka: the chunks of xerial's snappy-java, or one bare block.
//!
//! ```text
//! +-------------------------+-----------+------------+  +---------+--------------+
//! | 82 53 4e 41 50 50 59 00 | version   | compatible |  | length  | snappy block |  ... to the end
//! | 82 S  N  A  P  P  Y  0  | 4 B       | 4 B        |  | 4 B, BE |              |
//! +-------------------------+-----------+------------+  +---------+--------------+
//! snappy block: uvarint length of the content, then literals and copies
//! ```
//!
//! Mirrors Java's `SnappyInputStream` / `SnappyOutputStream`, at every magic. Writers differ (measured): librdkafka's
//! older releases and franz-go write one bare block, Redpanda writes the two versions little-endian. So the eight magic
//! bytes alone decide, and the versions are not looked at. No block begins with these bytes: behind the length they
//! would be a copy from before the beginning. Streams one behind the other are one stream, as in Java.
//!
//! The length in front of a block is a claim: more than its bytes can hold is refused before anything is allocated.

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

use super::{Codec, CodecError, make_room};

pub(super) fn compressor() -> Encoder {
    Encoder::new()
}

pub(super) fn decompress(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    if !bytes.starts_with(&MAGIC) {
        append_block(&mut out, bytes, bytes_max)?;
        return Ok(out);
    }
    let mut rest = bytes;
    while !rest.is_empty() {
        if let Some(versions) = rest.strip_prefix(&MAGIC) {
            rest = versions.get(VERSIONS.len()..).ok_or_else(|| truncated("header"))?;
            continue;
        }
        let (len, after) = rest.split_first_chunk::<4>().ok_or_else(|| truncated("chunk length"))?;
        let len =
            usize::try_from(i32::from_be_bytes(*len)).map_err(|_| corrupt("the length of a chunk is negative"))?;
        let (block, after) = after.split_at_checked(len).ok_or_else(|| truncated("chunk"))?;
        append_block(&mut out, block, bytes_max)?;
        rest = after;
    }
    Ok(out)
}

pub(super) fn compress(encoder: &mut Encoder, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSIONS);
    for content in bytes.chunks(CHUNK_WRITTEN) {
        let at = out.len();
        let room = 4 + max_compress_len(content.len());
        make_room(out, room, usize::MAX);
        out.resize(at + room, 0);
        let (length, block) = out
            .get_mut(at..)
            .and_then(|tail| tail.split_first_chunk_mut::<4>())
            .ok_or_else(|| corrupt("no room for a chunk"))?;
        let len = encoder.compress(content, block).map_err(|_| corrupt("no room for a chunk"))?;
        *length = u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes();
        out.truncate(at + 4 + len);
    }
    Ok(())
}

/// Appends the content of one block to `out`.
fn append_block(out: &mut Vec<u8>, block: &[u8], bytes_max: usize) -> Result<(), CodecError> {
    if block.is_empty() {
        return Err(truncated("block"));
    }
    let len = decompress_len(block).map_err(|_| corrupt("the length in front of a block is not one"))?;
    if len > block.len().saturating_mul(RATIO_MAX) {
        return Err(corrupt("a block claims more than its bytes can hold"));
    }
    if len > bytes_max - out.len() {
        return Err(CodecError::TooLarge { codec: Codec::Snappy, bytes_max });
    }
    let at = out.len();
    make_room(out, len, bytes_max);
    out.resize(at + len, 0);
    let room = out.get_mut(at..).unwrap_or_default();
    // A block that gives another length than it claims is an error of the decoder.
    Decoder::new().decompress(block, room).map(drop).map_err(|_| corrupt("invalid block"))
}

fn truncated(what: &'static str) -> CodecError {
    CodecError::Truncated { codec: Codec::Snappy, what }
}

fn corrupt(what: &'static str) -> CodecError {
    CodecError::Corrupt { codec: Codec::Snappy, what }
}

const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
/// Version 1, readable since version 1, as Java writes them.
const VERSIONS: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 1];
/// Content of one chunk, as in Java.
const CHUNK_WRITTEN: usize = 32 << 10;
/// The densest element is a copy of 64 bytes in 3.
const RATIO_MAX: usize = 22;

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(&mut compressor(), bytes, &mut out).unwrap();
        out
    }

    fn bare(bytes: &[u8]) -> Vec<u8> {
        Encoder::new().compress_vec(bytes).unwrap()
    }

    fn framed(header: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
        let mut out = header.to_vec();
        for block in blocks {
            out.extend(u32::try_from(block.len()).unwrap().to_be_bytes());
            out.extend(*block);
        }
        out
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn what_is_written_is_read_back_in_chunks_of_32_kib() {
        for text in [&b""[..], b"a", &[0; 32 << 10], &[7; (32 << 10) + 1], &noise(100_000)] {
            let packed = packed(text);
            assert_eq!(packed[..16], [&MAGIC[..], &VERSIONS].concat());
            assert_eq!(decompress(&packed, text.len()).unwrap(), text);
            let (mut rest, mut chunks) = (&packed[16..], 0);
            while let Some((len, after)) = rest.split_first_chunk::<4>() {
                rest = &after[usize::try_from(u32::from_be_bytes(*len)).unwrap()..];
                chunks += 1;
            }
            assert_eq!(chunks, text.len().div_ceil(32 << 10));
        }
    }

    #[test]
    fn one_bare_block_is_read() {
        let text = noise(50_000);
        assert_eq!(decompress(&bare(&text), text.len()).unwrap(), text);
        assert_eq!(decompress(&bare(b""), 0).unwrap(), b"");
    }

    /// A content of 130 bytes begins with 82 01, one of 10626 bytes with 82 53: the magic's first bytes, by chance.
    #[test]
    fn a_bare_block_that_begins_like_the_magic_is_a_bare_block() {
        for len in [130, 10_626] {
            let text = noise(len);
            let block = bare(&text);
            assert_eq!(block[0], 0x82);
            assert_eq!(decompress(&block, len).unwrap(), text);
        }
        // A block of the eight bytes and more is never valid: "N" would copy from before the beginning.
        assert!(Decoder::new().decompress_vec(&[&MAGIC[..], &[0; 20]].concat()).is_err());
    }

    /// Redpanda writes the versions little-endian; others may write what they like.
    #[test]
    fn the_versions_are_not_looked_at() {
        let block = bare(b"content");
        for versions in [[1, 0, 0, 0, 1, 0, 0, 0], [0; 8], [0xff; 8]] {
            let header = [MAGIC, versions].concat();
            assert_eq!(decompress(&framed(&header, &[&block]), 7).unwrap(), b"content");
        }
    }

    #[test]
    fn chunks_of_any_size_and_streams_in_a_row_are_one_stream() {
        let header = [MAGIC, VERSIONS].concat();
        let (one, two) = (bare(b"one, "), bare(b"two, "));
        let mut stream = framed(&header, &[&one, &bare(b""), &two]);
        stream.extend(packed(b"three"));
        assert_eq!(decompress(&stream, 15).unwrap(), b"one, two, three");
        assert_eq!(decompress(&header, 0).unwrap(), b"", "no chunk at all");
    }

    #[test]
    fn a_claim_is_held_against_the_bytes_before_it_is_believed() {
        // H17: 2^32 - 1 bytes in front of nothing much.
        let claim = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, b'x'];
        let refused = Err(corrupt("a block claims more than its bytes can hold"));
        assert_eq!(decompress(&claim, usize::MAX), refused);
        assert_eq!(decompress(&framed(&[MAGIC, VERSIONS].concat(), &[&claim]), usize::MAX), refused);
        for length in [0x7fff_ffff_u32, 0xffff_ffff] {
            let chunk = [&MAGIC[..], &VERSIONS, &length.to_be_bytes(), b"x"].concat();
            assert!(decompress(&chunk, usize::MAX).is_err());
        }
    }

    #[test]
    fn a_bomb_ends_at_the_cap() {
        let cap = 1_000_000;
        let bomb = packed(&vec![0; 50_000_000]);
        assert!(bomb.len() < 3_000_000);
        assert_eq!(decompress(&bomb, cap), Err(CodecError::TooLarge { codec: Codec::Snappy, bytes_max: cap }));
        assert_eq!(decompress(&packed(&vec![0; cap]), cap).unwrap().len(), cap);
        assert!(decompress(&packed(&vec![0; cap + 1]), cap).is_err());
        let bare_bomb = bare(&vec![0; cap + 1]);
        assert_eq!(decompress(&bare_bomb, cap), Err(CodecError::TooLarge { codec: Codec::Snappy, bytes_max: cap }));
        // The densest block there is is believed.
        assert_eq!(decompress(&bare_bomb, cap + 1).unwrap().len(), cap + 1);
    }

    #[test]
    fn what_is_cut_says_where() {
        assert_eq!(decompress(b"", 9), Err(truncated("block")));
        let whole = packed(b"content");
        for len in 8..16 {
            assert_eq!(decompress(&whole[..len], 9), Err(truncated("header")), "{len}");
        }
        for len in 17..20 {
            assert_eq!(decompress(&whole[..len], 9), Err(truncated("chunk length")), "{len}");
        }
        for len in 20..whole.len() {
            assert_eq!(decompress(&whole[..len], 9), Err(truncated("chunk")), "{len}");
        }
    }
}
