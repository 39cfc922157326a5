//! What can go wrong in a codec.

use thiserror::Error;

use super::Codec;

/// Why a payload could not be compressed or decompressed. Never a fault of the connection: the same bytes fail again.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The attributes name a codec that Kafka does not define (5, 6 or 7).
    #[error("compression codec {id} does not exist")]
    Unknown {
        /// The three codec bits.
        id: u8,
    },
    /// Kafka has the codec, but not in this format: zstd before magic 2.
    #[error("compression codec {codec} is not supported")]
    Unsupported {
        /// Which one.
        codec: Codec,
    },
    /// The output would pass the cap given by the caller: a decompression bomb, or a cap that is too small.
    #[error("{codec}: decompressed data exceeds {bytes_max} bytes")]
    TooLarge {
        /// Which codec was reading.
        codec: Codec,
        /// The cap in bytes.
        bytes_max: usize,
    },
    /// The compressed data ends before its end mark or trailer.
    #[error("{codec}: data ends inside the {what}")]
    Truncated {
        /// Which codec was reading.
        codec: Codec,
        /// What was being read.
        what: &'static str,
    },
    /// The compressed data contradicts itself.
    #[error("{codec}: {what}")]
    Corrupt {
        /// Which codec was reading.
        codec: Codec,
        /// What is wrong.
        what: &'static str,
    },
}
