//! What can be wrong with records.

use thiserror::Error;

use crate::compress::CodecError;

/// Why bytes are not the records that they should be, or why records could not be built. The same bytes fail again:
/// none of these is cured by reading them once more.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Fewer bytes than a length or the format asks for.
    #[error("{what}: {need} bytes needed, {have} left")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Bytes that it needs.
        need: usize,
        /// Bytes that are there.
        have: usize,
    },
    /// A field has a value that the format does not allow.
    #[error("{what}: {value} is out of range")]
    Range {
        /// Which field.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// A variable-length integer goes on beyond the longest one of its kind.
    #[error("{what}: varint does not end after {bytes_max} bytes")]
    Varint {
        /// What was being read.
        what: &'static str,
        /// The longest legal encoding in bytes: 5 or 10.
        bytes_max: usize,
    },
    /// Bytes are left after the last thing that should be there.
    #[error("{what}: {left} bytes left over")]
    Trailing {
        /// What had been read.
        what: &'static str,
        /// Bytes left.
        left: usize,
    },
    /// More elements are announced than can be in the bytes that are left; nothing was allocated for them.
    #[error("{what}: {count} announced, {have} bytes left")]
    Count {
        /// What is being counted.
        what: &'static str,
        /// The announced count.
        count: i64,
        /// Bytes left.
        have: usize,
    },
    /// The magic byte is not one that is read at this place.
    #[error("{what}: magic {magic} is not supported")]
    Magic {
        /// Where it stands.
        what: &'static str,
        /// The magic byte.
        magic: i8,
    },
    /// A compressed message inside a compressed message.
    #[error("compressed message: another compressed message inside it")]
    Nested,
    /// The payload could not be decompressed or compressed.
    #[error("payload: {0}")]
    Codec(#[from] CodecError),
    /// What is being built would not fit the format's 31-bit length.
    #[error("{what}: {bytes} bytes are more than the format can say")]
    TooLarge {
        /// What was being built.
        what: &'static str,
        /// Its size in bytes.
        bytes: usize,
    },
    /// A batch or message set without a record; brokers refuse it.
    #[error("{what}: no record was pushed")]
    Empty {
        /// What was being built.
        what: &'static str,
    },
}
