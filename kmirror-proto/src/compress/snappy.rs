//! Snappy in Kafka: xerial chunks of bare blocks, or one bare block (librdkafka, franz-go).
//!
//! The room for it; not read or written yet.

use super::{Codec, CodecError};

/// Refused by name.
pub(super) fn decompress(_bytes: &[u8], _bytes_max: usize) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::Unsupported { codec: Codec::Snappy })
}

/// Refused by name.
pub(super) fn compress(_bytes: &[u8], _out: &mut Vec<u8>) -> Result<(), CodecError> {
    Err(CodecError::Unsupported { codec: Codec::Snappy })
}
