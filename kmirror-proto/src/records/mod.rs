//! Record batches and message sets: the records field of Fetch and Produce.
//!
//! ```text
//! records field      +-----------+-----------+- - - - - -+
//!                    | entry     | entry     | cut entry |      split() walks it without copying
//!                    +-----------+-----------+- - - - - -+
//! every entry        | offset 8 | length 4 | 4 bytes | magic 1 | ...
//!
//! magic 2  RawBatch    61 bytes of header, then the payload: records, perhaps compressed      KIP-98
//!          restamp()   header rewritten for a target, CRC fixed from the stored one, payload as it is
//!          Records     the payload decompressed; RecordIter walks it without allocating
//!          BatchBuilder makes a batch
//! magic 0, RawMessage  one message, or a wrapper whose value is a compressed message set      KIP-31, KIP-32
//! magic 1  messages()  the message or what is inside it, with absolute offsets
//!          MessageSetBuilder makes a run of messages or a wrapper; rewrap() sends a wrapper on
//! ```
//!
//! Mirrors Java's `org.apache.kafka.common.record`. Everything read here comes from a peer: every length is checked
//! against the bytes that are there, every payload must be consumed exactly, nothing panics, and memory stays within
//! the input plus the caller's cap on decompressed bytes.

mod error;
pub use error::RecordError;

mod cursor;

mod split;
pub use split::{Entry, Partial, Split, split};

mod batch;
pub use batch::{Attributes, BATCH_HEADER_BYTES, BatchHeader, RawBatch};

mod crc;
pub use crc::{Checksums, crc32c};

mod patch;
pub use patch::{Stamp, restamp};

mod record;
pub use record::{HeaderIter, Headers, Record, RecordIter, Records};

mod build;
pub use build::{BatchBuilder, HeadersSource, Placement};

mod legacy;
pub use legacy::{
    Message, MessageFormat, MessageIter, MessageSetBuilder, Messages, RawMessage, WrapperShape, messages, rewrap,
    wrapper_shape,
};

mod control;
pub use control::{ControlKind, ControlRecord};
