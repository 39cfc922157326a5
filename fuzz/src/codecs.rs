//! Codecs: any bytes are decompressed within the limit or refused, and what is compressed comes back.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, compress, decompress, repair_lz4_header};

use crate::DECOMPRESSED_BYTES_MAX;

/// The first byte names the codec.
pub(crate) fn body(data: &[u8]) {
    let Some((&id, bytes)) = data.split_first() else { return };
    let Ok(codec) = Codec::from_id(id & 7) else { return };
    for bytes_max in [0, 100, DECOMPRESSED_BYTES_MAX] {
        if let Ok(out) = decompress(codec, &Bytes::copy_from_slice(bytes), bytes_max) {
            assert!(out.len() <= bytes_max || codec == Codec::None, "{} of {bytes_max}", out.len());
        }
    }
    let _ = repair_lz4_header(&mut bytes.to_vec());
    let mut compressed = Vec::new();
    compress(codec, bytes, &mut compressed).unwrap();
    assert_eq!(decompress(codec, &compressed.into(), bytes.len()).unwrap(), bytes);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let text = b"the same again, ".repeat(20);
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        for content in [&b""[..], b"x", &text] {
            let mut out = vec![codec.id()];
            compress(codec, content, &mut out).unwrap();
            seeds.push(out);
        }
    }
    // Snappy without Java's framing.
    seeds.push([&[Codec::Snappy.id()][..], &[5, 16, b'h', b'e', b'l', b'l', b'o']].concat());
    seeds
}
