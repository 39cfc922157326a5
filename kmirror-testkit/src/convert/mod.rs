//! Between the message formats: what a broker makes of records that it does not keep or hand out as they are.
//!
//! ```text
//! Produce   sent entries ──► opened ──► rewrite   one set of the log's format, numbered anew  M2 M3 M4 R3 R4 R14 R15
//! Fetch     stored entries ─────────► down        the same offsets in an older format                          F1 F2
//! ```
//!
//! Pure: bytes in, bytes out. Where releases differ, the difference is a parameter with a name; which release does
//! what, the callers know. Mirrors Java's `LogValidator` and `RecordsUtil.downConvert`, and the `ByteBufferMessageSet`
//! of 0.10.

mod opened;
pub(crate) use opened::{AnyRecord, Opened};

mod rewrite;
pub(crate) use rewrite::{Form, rewrite};

mod down;
pub(crate) use down::{NotDown, Packing, down, is_needed};

/// What a record with headers becomes in a format that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headers {
    /// The record goes on without them.
    Dropped,
    /// An exception that the broker does not know (KAFKA-6739).
    Refused,
}

#[cfg(test)]
mod tests;
