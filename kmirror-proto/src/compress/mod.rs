//! Kafka's codecs, each in the framing that Kafka gives it.
//!
//! ```text
//! id  codec   framing                                         read here          written here
//! 0   none    the payload itself                              yes (no copy)      yes
//! 1   gzip    RFC 1952, one member or more                    yes                one member, level 1
//! 2   snappy  xerial chunks, or one bare block                both               xerial chunks of 32 KiB
//! 3   lz4     LZ4 frame (KIP-57; magic 0: KAFKA-3160)         every option       64 KiB independent blocks
//! 4   zstd    RFC 8878 frames (KIP-110, magic 2 only)         windows ≤ 128 MiB  one frame, level 1
//! ```
//!
//! Output is bounded while it is produced: a bomb ends at `bytes_max` (zstd: one block of 128 KiB behind it). What a
//! header, a trailer or a preamble claims about the size is a hint that is never allocated for beyond what the bytes
//! that are there can hold.
//!
//! Mirrors Java's `org.apache.kafka.common.compress.Compression` and `CompressionType`.

mod error;
pub use error::CodecError;

mod gzip;
mod lz4;
mod snappy;
mod zstd;

use std::fmt;

use bytes::Bytes;

/// A compression codec by Kafka's number: bits 0-2 of the attributes of a batch or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Codec {
    /// 0: not compressed.
    #[default]
    None,
    /// 1: gzip.
    Gzip,
    /// 2: snappy.
    Snappy,
    /// 3: lz4 frame.
    Lz4,
    /// 4: zstd (KIP-110; magic 2, Produce v7 and Fetch v10).
    Zstd,
}

impl Codec {
    /// The codec with this number.
    ///
    /// # Errors
    /// [`CodecError::Unknown`] for a number that Kafka does not define.
    pub const fn from_id(id: u8) -> Result<Self, CodecError> {
        match id {
            0 => Ok(Self::None),
            1 => Ok(Self::Gzip),
            2 => Ok(Self::Snappy),
            3 => Ok(Self::Lz4),
            4 => Ok(Self::Zstd),
            id => Err(CodecError::Unknown { id }),
        }
    }

    /// Kafka's number of the codec, 0-4.
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }

    /// Kafka's name of the codec, as in `compression.type`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Decompresses one payload with fresh contexts; see [`Decompressor::decompress`].
///
/// # Errors
/// See [`Decompressor::decompress`].
pub fn decompress(codec: Codec, bytes: &Bytes, bytes_max: usize) -> Result<Bytes, CodecError> {
    Decompressor::new().decompress(codec, bytes, bytes_max)
}

/// Compresses one payload with fresh contexts; see [`Compressor::compress`].
///
/// # Errors
/// See [`Compressor::compress`].
pub fn compress(codec: Codec, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
    Compressor::new().compress(codec, bytes, out)
}

/// Puts the right header checksum into an lz4 frame that magic 0 carried, in place: magic 0 has a wrong one
/// (KAFKA-3160), which brokers and consumers refuse anywhere else (fact M7). A right one stays.
///
/// # Errors
/// [`CodecError`] if the bytes do not begin with the header of an lz4 frame; they are unchanged then.
pub fn repair_lz4_header(frame: &mut [u8]) -> Result<(), CodecError> {
    lz4::repair_header(frame)
}

/// Decompresses payloads and keeps each codec's context from one to the next.
#[derive(Default)]
pub struct Decompressor {
    gzip: Option<flate2::Decompress>,
    zstd: Option<zrip::DecompressContext>,
}

impl Decompressor {
    /// A decompressor without contexts; each is made when its codec is first met.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The plain bytes of `bytes`. [`Codec::None`] hands back the input without copying, whatever its size; of the
    /// others the output has at most `bytes_max` bytes.
    ///
    /// What follows the first lz4 frame, and what follows a gzip member without being another member, is left unread,
    /// as Java's readers do: consumers of the source do not see it either. Snappy and zstd are read to their end.
    ///
    /// # Errors
    /// [`CodecError`]: larger than `bytes_max`, cut off, or contradicting itself.
    pub fn decompress(&mut self, codec: Codec, bytes: &Bytes, bytes_max: usize) -> Result<Bytes, CodecError> {
        self.decompress_as(codec, bytes, bytes_max, lz4::Header::Standard)
    }

    /// As [`Decompressor::decompress`], of a payload of message format 0: the header checksum of an lz4 frame is not
    /// looked at, for it is wrong there (KAFKA-3160).
    ///
    /// # Errors
    /// As [`Decompressor::decompress`].
    pub fn decompress_magic_0(&mut self, codec: Codec, bytes: &Bytes, bytes_max: usize) -> Result<Bytes, CodecError> {
        self.decompress_as(codec, bytes, bytes_max, lz4::Header::Magic0)
    }

    fn decompress_as(
        &mut self,
        codec: Codec,
        bytes: &Bytes,
        bytes_max: usize,
        lz4_header: lz4::Header,
    ) -> Result<Bytes, CodecError> {
        match codec {
            Codec::None => Ok(bytes.clone()),
            Codec::Gzip => {
                let context = self.gzip.get_or_insert_with(gzip::decompressor);
                gzip::decompress(context, bytes, bytes_max).map(Bytes::from)
            }
            Codec::Snappy => snappy::decompress(bytes, bytes_max).map(Bytes::from),
            Codec::Lz4 => lz4::decompress(bytes, bytes_max, lz4_header).map(Bytes::from),
            Codec::Zstd => {
                // Taken out, and put back after a success only: no payload meets what damaged bytes left behind.
                let mut context = self.zstd.take().unwrap_or_else(zstd::decompressor);
                let out = zstd::decompress(&mut context, bytes, bytes_max)?;
                self.zstd = Some(context);
                Ok(Bytes::from(out))
            }
        }
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor").finish_non_exhaustive()
    }
}

/// Compresses payloads and keeps each codec's context from one to the next.
#[derive(Default)]
pub struct Compressor {
    gzip: Option<flate2::Compress>,
    snappy: Option<snap::raw::Encoder>,
    lz4: Option<lz4_flex::block::CompressTable>,
    zstd: Option<zrip::CompressContext>,
}

impl Compressor {
    /// A compressor without contexts; each is made when its codec is first used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the compressed form of `bytes` to `out`. Levels are the fast ones: a mirror compresses again what was
    /// compressed before, at the speed of the link.
    ///
    /// # Errors
    /// [`CodecError::Corrupt`] if an encoder fails, which none does on bytes that fit into memory.
    pub fn compress(&mut self, codec: Codec, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.compress_as(codec, bytes, out, lz4::Header::Standard)
    }

    /// As [`Compressor::compress`], for message format 0: an lz4 frame gets the wrong header checksum that Kafka writes
    /// there (KAFKA-3160).
    ///
    /// # Errors
    /// As [`Compressor::compress`].
    pub fn compress_magic_0(&mut self, codec: Codec, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.compress_as(codec, bytes, out, lz4::Header::Magic0)
    }

    fn compress_as(
        &mut self,
        codec: Codec,
        bytes: &[u8],
        out: &mut Vec<u8>,
        lz4_header: lz4::Header,
    ) -> Result<(), CodecError> {
        match codec {
            Codec::None => {
                out.extend_from_slice(bytes);
                Ok(())
            }
            Codec::Gzip => gzip::compress(self.gzip.get_or_insert_with(gzip::compressor), bytes, out),
            Codec::Snappy => snappy::compress(self.snappy.get_or_insert_with(snappy::compressor), bytes, out),
            Codec::Lz4 => lz4::compress(self.lz4.get_or_insert_with(lz4::compressor), bytes, out, lz4_header),
            Codec::Zstd => {
                let mut context = self.zstd.take().map_or_else(zstd::compressor, Ok)?;
                zstd::compress(&mut context, bytes, out)?;
                self.zstd = Some(context);
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

/// Makes room for `need` more bytes: doubling, so that appending stays linear, but never past `len_max`, so that a
/// bomb costs no more than its cap. A need beyond `len_max` is met exactly.
fn make_room(out: &mut Vec<u8>, need: usize, len_max: usize) {
    let wanted = out.len().saturating_add(need);
    if wanted > out.capacity() {
        let doubled = out.capacity().saturating_mul(2).min(len_max);
        out.reserve_exact(wanted.max(doubled) - out.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

    #[test]
    fn ids_are_kafkas_and_five_to_seven_do_not_exist() {
        for (id, name) in [(0, "none"), (1, "gzip"), (2, "snappy"), (3, "lz4"), (4, "zstd")] {
            let codec = Codec::from_id(id).unwrap();
            assert_eq!((codec.id(), codec.name()), (id, name));
        }
        for id in 5..8 {
            assert_eq!(Codec::from_id(id), Err(CodecError::Unknown { id }));
        }
    }

    #[test]
    fn none_is_handed_back_without_copying() {
        let bytes = Bytes::from_static(b"as it is");
        let same = decompress(Codec::None, &bytes, 0).unwrap();
        assert_eq!(same.as_ptr(), bytes.as_ptr());
    }

    #[test]
    fn what_is_compressed_is_appended() {
        for codec in CODECS {
            let mut out = vec![7];
            compress(codec, b"text", &mut out).unwrap();
            assert_eq!(out.remove(0), 7);
            assert_eq!(decompress(codec, &Bytes::from(out), 4).unwrap(), &b"text"[..], "{codec}");
        }
    }

    #[test]
    fn a_context_that_met_damage_reads_on() {
        let mut decompressor = Decompressor::new();
        let mut whole = Vec::new();
        compress(Codec::Zstd, &b"0123456789".repeat(100), &mut whole).unwrap();
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 0xff;
            let _ = decompressor.decompress(Codec::Zstd, &Bytes::from(broken), 1000);
            let read = decompressor.decompress(Codec::Zstd, &Bytes::from(whole.clone()), 1000);
            assert_eq!(read.unwrap(), b"0123456789".repeat(100), "{at}");
        }
    }

    #[test]
    fn a_kept_context_gives_what_a_fresh_one_gives() {
        let (mut compressor, mut decompressor) = (Compressor::new(), Decompressor::new());
        for codec in CODECS.into_iter().chain(CODECS) {
            for text in [&b"first"[..], b"", &[b'x'; 200_000]] {
                let (mut kept, mut fresh) = (Vec::new(), Vec::new());
                compressor.compress(codec, text, &mut kept).unwrap();
                compress(codec, text, &mut fresh).unwrap();
                assert_eq!(kept, fresh, "{codec}");
                assert_eq!(decompressor.decompress(codec, &Bytes::from(kept), text.len()).unwrap(), text, "{codec}");
            }
        }
    }

    #[test]
    fn room_doubles_up_to_the_cap() {
        let mut out = vec![0; 100];
        out.shrink_to_fit();
        make_room(&mut out, 1, 1000);
        assert!(out.capacity() >= 200);
        make_room(&mut out, 150, 260);
        assert!(out.capacity() >= 250);
    }
}
