//! Message sets: the formats before KIP-98, magic 1 (0.10) and magic 0 (0.9 and before).
//!
//! ```text
//!  0         8        12    16      17           18             26        30
//! +---------+--------+-----+-------+------------+--------------+---------+-----+-----------+-------+
//! | offset 8| size 4 | crc | magic | attributes | timestamp 8  | key len | key | value len | value |
//! |         |        | 4   | 1     | 1          | not magic 0  | 4, -1   |     | 4, -1     |       |
//! +---------+--------+-----+-------+------------+--------------+---------+-----+-----------+-------+
//! size counts from 12; the CRC-32 (not C) covers everything from 16.
//! attributes: 0-2 codec · 08 append time (not magic 0)
//! ```
//!
//! With a codec in its attributes a message is a wrapper: its value is a compressed message set of the same magic. The
//! wrapper's offset is that of its last message. Inside, the offsets of magic 1 are relative (KIP-31): 0..n-1 when
//! written, with gaps once compacted, so the absolute offset is `wrapper - last inner + inner`; with the append-time bit
//! the wrapper's timestamp holds for all of them (KIP-32). The offsets inside magic 0 are absolute: a broker has to
//! compress a wrapper again to append it. Messages of magic 0 have no timestamp, which reads as -1, and lz4 in it has a
//! wrong header checksum for good (KAFKA-3160).
//!
//! Mirrors Java's `LegacyRecord`, `AbstractLegacyRecordBatch` and the legacy half of `MemoryRecordsBuilder`.

mod format;
pub use format::MessageFormat;

mod entry;
pub use entry::{RawMessage, rewrap};

mod walk;
pub use walk::{Message, MessageIter, Messages, WrapperShape, messages, wrapper_shape};

mod build;
pub use build::MessageSetBuilder;

/// What the size field of the shortest message says: crc, magic, attributes and two lengths of magic 0.
pub(super) const MESSAGE_BYTES_MIN: usize = 14;
/// Where the bytes begin that the CRC covers: at the magic.
const CRC_COVERS_FROM: usize = 16;
/// Attributes: the codec.
const CODEC: i8 = 0x07;
/// Attributes: the broker set the timestamp.
const APPEND_TIME: i8 = 0x08;
/// Java's `RecordBatch.NO_TIMESTAMP`.
const NO_TIMESTAMP: i64 = -1;
