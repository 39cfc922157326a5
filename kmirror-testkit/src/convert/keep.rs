//! Messages of magic 0 and 1 that keep their payload.
//!
//! ```text
//!  0          8      12     16      17            18
//! | offset'  | size | crc' | magic | attributes' | timestamp' ║ key and value, or the compressed set |
//! ```
//!
//! The offset is outside the CRC, which is written anew only if the timestamp or its kind changes. Mirrors the in-place
//! half of `ByteBufferMessageSet.validateMessagesAndAssignOffsets` of 0.10.

use bytes::{Bytes, BytesMut};
use kmirror_proto::records::{MessageFormat, RawMessage};

/// What happens to the timestamp of a kept message; magic 0 has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// It stays: a plain message, and on 0.10.0 a wrapper too, whatever it says.
    Sent,
    /// A wrapper gets the largest of its messages (from 0.10.1 on; M2), in milliseconds.
    Largest(i64),
    /// It gets the time of the append and the bit that says so (R9), in milliseconds.
    Append(i64),
}

/// A message or wrapper with its payload as it came, under the offset of its last message.
pub(crate) fn keep_message(message: &RawMessage, last_offset: i64, time: Time) -> Bytes {
    let mut bytes = BytesMut::from(&message.bytes()[..]);
    put(&mut bytes, 0, &last_offset.to_be_bytes());
    let (timestamp, attributes) = match time {
        Time::Sent => (message.timestamp, message.attributes),
        Time::Largest(timestamp) => (timestamp, message.attributes),
        Time::Append(timestamp) => (timestamp, message.attributes | APPEND_TIME),
    };
    let changes = (timestamp, attributes) != (message.timestamp, message.attributes);
    if changes && message.format() == MessageFormat::V1 {
        put(&mut bytes, ATTRIBUTES_AT, &attributes.to_be_bytes());
        put(&mut bytes, TIMESTAMP_AT, &timestamp.to_be_bytes());
        let crc = crc32fast::hash(bytes.get(CRC_COVERS_FROM..).unwrap_or_default());
        put(&mut bytes, CRC_AT, &crc.to_be_bytes());
    }
    bytes.freeze()
}

/// Writes a field; a message is longer than all of them.
fn put(bytes: &mut BytesMut, at: usize, field: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + field.len()) {
        place.copy_from_slice(field);
    }
}

const CRC_AT: usize = 12;
const CRC_COVERS_FROM: usize = 16;
const ATTRIBUTES_AT: usize = 17;
const TIMESTAMP_AT: usize = 18;
/// Attributes: the broker set the timestamp.
const APPEND_TIME: i8 = 0x08;
