//! Entries that are kept as they came, but for the header.
//!
//! ```text
//!  0             8        12             16      17     21           23                35
//! | base offset' | length | leader epoch'| magic | crc' | attributes'| ...             | max timestamp' | ... payload |
//!
//! | offset'      | size   | crc'         | magic | attributes' | timestamp' | ...          magic 0, 1: see `Message`
//! ```
//!
//! Offset and epoch are outside the CRC. It is written anew only if the timestamp or its kind changes. Mirrors Java's
//! `setLastOffset` and `setMaxTimestamp` of `DefaultRecordBatch` and `AbstractLegacyRecordBatch`.

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Attributes, BATCH_HEADER_BYTES, BatchHeader, RawMessage, RecordError, crc32c};

use super::inside::Seen;
use super::outside::{CRC_COVERS_FROM, MESSAGE_CRC_AT, MESSAGE_CRC_COVERS_FROM};
use super::sent::{Form, Sent};
use super::{Offered, Refusal};
use crate::Release;
use crate::log::Entry;

/// The entries under their offsets. A batch that came alone in its buffer is written over where it lies; else it is one
/// copy of all bytes.
///
/// # Errors
/// None that an entry can have which was walked; one that the log cannot read is refused.
pub(super) fn keep(offered: &Offered<'_>, sent: Vec<Sent>, seen: &[Seen]) -> Result<Vec<Entry>, Refusal> {
    let [Sent { form: Form::Batch(header), .. }] = sent.as_slice() else { return copied(offered, &sent, seen) };
    let [batch] = seen else { return Err(Refusal::corrupt()) };
    let last = offered.next_offset.saturating_add(batch.count).saturating_sub(1);
    let head = Batch::new(offered, header, last, batch.max_timestamp);
    let entries = sent.into_iter().map(|entry| {
        // Without a copy if nobody else has a part of the buffer.
        let mut bytes = BytesMut::from(entry.bytes);
        head.write(&mut bytes);
        Entry::read(bytes.freeze()).map_err(|_| Refusal::corrupt())
    });
    entries.collect()
}

fn copied(offered: &Offered<'_>, sent: &[Sent], seen: &[Seen]) -> Result<Vec<Entry>, Refusal> {
    let mut copy = BytesMut::with_capacity(sent.iter().map(|entry| entry.bytes.len()).sum());
    let mut next = offered.next_offset;
    let mut entries = Vec::with_capacity(sent.len());
    for (entry, seen) in sent.iter().zip(seen) {
        next = next.saturating_add(seen.count);
        let last = next.saturating_sub(1);
        copy.extend_from_slice(&entry.bytes);
        match &entry.form {
            Form::Batch(header) => Batch::new(offered, header, last, seen.max_timestamp).write(&mut copy),
            Form::Message(message) => Message::new(offered, message, last, seen).write(&mut copy),
            Form::Unreadable => return Err(Refusal::corrupt()),
        }
        entries.push(Entry::read(copy.split().freeze()).map_err(|_| Refusal::corrupt())?);
    }
    Ok(entries)
}

/// What of a batch's header is the broker's.
#[derive(Debug)]
struct Batch {
    base_offset: i64,
    leader_epoch: i32,
    max_timestamp: i64,
    attributes: Attributes,
    checksum_changes: bool,
}

impl Batch {
    /// R1, R3, R9, R10: the header of a batch that ends at `last_offset` and whose latest record is of `max_timestamp`.
    ///
    /// Brokers reckon the base offset backwards from the last one. On 0.11 and 1.0, which let a batch claim more
    /// offsets than it has records, it so lies before the end of the log: the log is damaged (R3).
    fn new(offered: &Offered<'_>, header: &BatchHeader, last_offset: i64, max_timestamp: i64) -> Self {
        let append_time = offered.settings.append_time;
        let max_timestamp = if append_time { offered.now.unix_ms } else { max_timestamp };
        let changes = header.attributes.append_time() != append_time || header.max_timestamp != max_timestamp;
        Self {
            base_offset: last_offset.saturating_sub(header.last_offset_delta.into()),
            leader_epoch: offered.leader_epoch,
            max_timestamp,
            attributes: if changes { recomputed(offered, header.attributes) } else { header.attributes },
            checksum_changes: changes,
        }
    }

    /// Writes it over the header of a whole batch.
    fn write(&self, batch: &mut [u8]) {
        if let Some(head) = batch.first_chunk_mut::<BATCH_HEADER_BYTES>() {
            head[0..8].copy_from_slice(&self.base_offset.to_be_bytes());
            head[12..16].copy_from_slice(&self.leader_epoch.to_be_bytes());
            head[21..23].copy_from_slice(&self.attributes.0.to_be_bytes());
            head[35..43].copy_from_slice(&self.max_timestamp.to_be_bytes());
        }
        if self.checksum_changes {
            let crc = crc32c(batch.get(CRC_COVERS_FROM..).unwrap_or_default());
            if let Some(field) = batch.get_mut(17..CRC_COVERS_FROM) {
                field.copy_from_slice(&crc.to_be_bytes());
            }
        }
    }
}

/// R12: the attributes as Java computes them anew: what it does not know is lost. The delete horizon was learnt by 3.9.
fn recomputed(offered: &Offered<'_>, attributes: Attributes) -> Attributes {
    let known = if offered.release >= Release::V3_9 { KNOWN | DELETE_HORIZON } else { KNOWN };
    Attributes(attributes.0 & known).with_append_time(offered.settings.append_time)
}

/// What of a message or wrapper is the broker's.
#[derive(Debug)]
pub(super) struct Message {
    offset: i64,
    /// Attributes and timestamp, if they change; magic 0 has no timestamp.
    change: Option<(i8, i64)>,
}

impl Message {
    /// R9, M2: a message, or a wrapper of which this is the last offset.
    ///
    /// A wrapper gets the largest timestamp inside, which 0.10.0 does not care about.
    fn new(offered: &Offered<'_>, message: &RawMessage, offset: i64, seen: &Seen) -> Self {
        if message.magic == 0 {
            return Self { offset, change: None };
        }
        if offered.settings.append_time {
            return Self::appended(offered, message, offset);
        }
        let wrapper = message.codec() != Ok(Codec::None);
        let puts_right = offered.release >= Release::V0_11 || wrapper && offered.release >= Release::V0_10_1;
        let changes = puts_right && message.timestamp != seen.max_timestamp;
        let attributes = message_attributes(offered, message, 0);
        Self { offset, change: changes.then_some((attributes, seen.max_timestamp)) }
    }

    /// R9: of the time of the append.
    pub(super) fn appended(offered: &Offered<'_>, message: &RawMessage, offset: i64) -> Self {
        Self { offset, change: Some((message_attributes(offered, message, MESSAGE_APPEND_TIME), offered.now.unix_ms)) }
    }

    /// Writes it over a whole message of magic 1, or the offset over one of magic 0.
    pub(super) fn write(&self, message: &mut [u8]) {
        if let Some(offset) = message.first_chunk_mut() {
            *offset = self.offset.to_be_bytes();
        }
        let Some((attributes, timestamp)) = self.change else { return };
        if let Some([byte, field @ ..]) = message.get_mut(17..26) {
            *byte = attributes.cast_unsigned();
            field.copy_from_slice(&timestamp.to_be_bytes());
        }
        write_checksum(message);
    }
}

/// Adds the bits of `attributes` that 0.10 does not know to those of a whole message.
pub(super) fn add_attributes(message: &mut [u8], attributes: i8) {
    if let Some(byte) = message.get_mut(17) {
        *byte |= (attributes & MESSAGE_UNKNOWN).cast_unsigned();
    }
    write_checksum(message);
}

fn write_checksum(message: &mut [u8]) {
    let crc = crc32fast::hash(message.get(MESSAGE_CRC_COVERS_FROM..).unwrap_or_default());
    if let Some(field) = message.get_mut(MESSAGE_CRC_AT..MESSAGE_CRC_COVERS_FROM) {
        field.copy_from_slice(&crc.to_be_bytes());
    }
}

/// The attributes of a message that is changed: 0.10 leaves the bits that it does not know, later releases compute them
/// anew.
fn message_attributes(offered: &Offered<'_>, message: &RawMessage, append_time: i8) -> i8 {
    let left = if offered.release >= Release::V0_11 { MESSAGE_CODEC } else { !MESSAGE_APPEND_TIME };
    message.attributes & left | append_time
}

/// A copy of `bytes` with this header.
///
/// # Errors
/// [`RecordError`] if the log cannot read it.
pub(super) fn entry(bytes: &Bytes, write: impl FnOnce(&mut [u8])) -> Result<Entry, RecordError> {
    let mut copy = BytesMut::from(&bytes[..]);
    write(&mut copy);
    Entry::read(copy.freeze())
}

/// Attributes: the codec, the append time, the transaction, the control bit.
const KNOWN: i16 = 0x3f;
/// Attributes: the base timestamp is a delete horizon (KIP-534).
const DELETE_HORIZON: i16 = 0x40;
/// A message's attributes: the codec.
const MESSAGE_CODEC: i8 = 0x07;
/// A message's attributes: the broker set the timestamp.
const MESSAGE_APPEND_TIME: i8 = 0x08;
/// A message's attributes: what no release gave a meaning.
const MESSAGE_UNKNOWN: i8 = !0x0f;
