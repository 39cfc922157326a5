//! Zstd in Kafka: one RFC 8878 frame (KIP-110). The room for it; not read or written yet.

use super::{Codec, CodecError};

/// Refused by name.
pub(super) fn decompress(_bytes: &[u8], _bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::Unsupported { codec: Codec::Zstd })
}

/// Refused by name.
pub(super) fn compress(_bytes: &[u8], _out: &mut Vec<u8>) -> Result<(), CodecError> {
    Err(CodecError::Unsupported { codec: Codec::Zstd })
}
