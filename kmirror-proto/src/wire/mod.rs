//! The primitive types of the protocol, read and written within bounds.
//!
//! ```text
//! classic (before KIP-482)                      compact ("flexible versions", KIP-482)
//! string    +-------+-----------+               +---------------+-----------+
//!           | i16 n | n bytes   |  n = -1: null | uvarint n + 1 | n bytes   |  0: null
//! bytes     +-------+-----------+               +---------------+-----------+
//!           | i32 n | n bytes   |  n = -1: null | uvarint n + 1 | n bytes   |  0: null
//! array     +-------+-----------+               +---------------+-----------+
//!           | i32 n | n items   |  n = -1: null | uvarint n + 1 | n items   |  0: null
//! tagged    (none)                              +---------------+
//!                                               | uvarint count | count times: uvarint tag, uvarint size, bytes
//! ```
//!
//! Java: `org.apache.kafka.common.protocol.types.Type`, `ByteBufferAccessor`, `ByteUtils`.

mod reader;
pub use reader::Reader;

mod writer;
pub use writer::Writer;

mod tagged;
pub use tagged::TaggedFields;

mod varint;

/// How strings, byte runs, arrays and tagged fields are written: the old way or that of KIP-482.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Fixed-size lengths, no tagged fields.
    Classic,
    /// Variable-size lengths (plus one), tagged fields at the end of every structure.
    Compact,
}

impl Form {
    /// The form of `version` of an API whose versions are compact from `flexible_from` on.
    #[must_use]
    pub const fn at(version: i16, flexible_from: i16) -> Self {
        if version >= flexible_from { Self::Compact } else { Self::Classic }
    }
}
