//! A magic 2 batch of which records are taken out.
//!
//! ```text
//! base offset, last offset delta, leader epoch, producer: as before     count, CRC, length: new
//! base timestamp: the first survivor's (K1), -1 without any (K2), or the delete horizon under bit 40 (K3)
//! records: their offset deltas with gaps, their timestamps against the new base; compressed again
//! ```
//!
//! Java: `MemoryRecords.buildRetainedRecordsInto`, `DefaultRecordBatch.writeEmptyHeader`.

use bytes::{BufMut, Bytes};
use kmirror_proto::Writer;
use kmirror_proto::compress::{Codec, compress};
use kmirror_proto::records::{
    Attributes, BATCH_HEADER_BYTES, BatchHeader, RawBatch, Record, RecordError, Records, crc32c,
};

use crate::limits::DECOMPRESSED_BYTES_MAX;
use crate::log::Entry;

/// The records of a batch, and which of them stay.
pub(super) struct Kept {
    header: BatchHeader,
    records: Records,
    /// For each record whether it stays.
    stays: Vec<bool>,
}

impl Kept {
    /// Asks for each record, by offset, key and value, whether it survives.
    ///
    /// # Errors
    /// [`RecordError`] if the payload is not one of records.
    pub(super) fn of(
        entry: &Entry,
        mut survives: impl FnMut(i64, Option<&[u8]>, Option<&[u8]>) -> bool,
    ) -> Result<Self, RecordError> {
        let batch = RawBatch::from_bytes(Bytes::clone(&entry.bytes))?;
        let records = Records::of(&batch, DECOMPRESSED_BYTES_MAX)?;
        let mut stays = Vec::with_capacity(records.len());
        for record in &records {
            let record = record?;
            stays.push(survives(batch.header.offset_of(&record), record.key, record.value));
        }
        Ok(Self { header: batch.header, records, stays })
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.stays.contains(&true)
    }

    pub(super) fn is_all(&self) -> bool {
        !self.stays.contains(&false)
    }

    /// Whether a survivor has no value.
    pub(super) fn has_tombstones(&self) -> bool {
        self.survivors().any(|record| record.value.is_none())
    }

    /// The batch of the survivors, of which there is one at least, with this delete horizon.
    pub(super) fn batch(&self, horizon: Option<i64>) -> Option<Entry> {
        let first = self.survivors().next()?;
        let base_timestamp = horizon.unwrap_or_else(|| self.header.timestamp_of(&first));
        let (mut payload, mut max_timestamp, mut count) = (Writer::new(), -1, 0);
        for record in self.survivors() {
            let timestamp = self.header.timestamp_of(&record);
            put_record(&mut payload, &record, timestamp.wrapping_sub(base_timestamp));
            max_timestamp = timestamp.max(max_timestamp);
            count += 1;
        }
        let codec = self.header.attributes.codec().ok()?;
        let mut bytes = vec![0; BATCH_HEADER_BYTES];
        compress(codec, &payload.into_chunks().concat(), &mut bytes).ok()?;
        let attributes = attributes(self.header.attributes, codec, horizon.is_some());
        let header = BatchHeader { attributes, base_timestamp, max_timestamp, records_count: count, ..self.header };
        finished(&header, bytes)
    }

    fn survivors(&self) -> impl Iterator<Item = Record<'_>> {
        let records = self.records.iter().map_while(Result::ok).zip(&self.stays);
        records.filter(|(_, stays)| **stays).map(|(record, _)| record)
    }
}

/// The batch without records.
pub(super) fn emptied(entry: &Entry) -> Option<Entry> {
    let header = BatchHeader::parse(&entry.bytes).ok()?;
    let attributes = attributes(header.attributes, Codec::None, false);
    let header = BatchHeader { attributes, base_timestamp: -1, records_count: 0, ..header };
    finished(&header, vec![0; BATCH_HEADER_BYTES])
}

/// The time at which the tombstones of a batch go, or its marker.
pub(super) fn horizon(entry: &Entry) -> Option<i64> {
    let header = BatchHeader::parse(&entry.bytes).ok()?;
    entry.delete_horizon.then_some(header.base_timestamp)
}

/// Of the flags those stay that say something about the records.
fn attributes(old: Attributes, codec: Codec, horizon: bool) -> Attributes {
    let flags = [(old.append_time(), 0x08), (old.transactional(), 0x10), (old.control(), 0x20), (horizon, 0x40)];
    let set = flags.into_iter().filter(|(set, _)| *set).fold(0, |all, (_, bit)| all | bit);
    Attributes(set).with_codec(codec)
}

/// Writes the header before the payload.
fn finished(header: &BatchHeader, mut bytes: Vec<u8>) -> Option<Entry> {
    let length = i32::try_from(bytes.len().checked_sub(super::super::entry::PREFIX_BYTES)?).ok()?;
    let mut written = Vec::with_capacity(BATCH_HEADER_BYTES);
    written.put_i64(header.base_offset);
    written.put_i32(length);
    written.put_i32(header.partition_leader_epoch);
    written.put_i8(header.magic);
    written.put_u32(0);
    written.put_i16(header.attributes.0);
    written.put_i32(header.last_offset_delta);
    written.put_i64(header.base_timestamp);
    written.put_i64(header.max_timestamp);
    written.put_i64(header.producer_id);
    written.put_i16(header.producer_epoch);
    written.put_i32(header.base_sequence);
    written.put_i32(header.records_count);
    bytes.get_mut(..BATCH_HEADER_BYTES)?.copy_from_slice(&written);
    let crc = crc32c(bytes.get(CRC_COVERS_FROM..)?);
    bytes.get_mut(CRC_COVERS_FROM - 4..CRC_COVERS_FROM)?.copy_from_slice(&crc.to_be_bytes());
    Entry::read(Bytes::from(bytes)).ok()
}

fn put_record(out: &mut Writer, record: &Record<'_>, timestamp_delta: i64) {
    let mut body = Writer::new();
    body.put_i8(record.attributes);
    body.put_varlong(timestamp_delta);
    body.put_varint(record.offset_delta);
    put_nullable(&mut body, record.key);
    put_nullable(&mut body, record.value);
    body.put_slice(record.headers.raw());
    put_length(out, body.len());
    body.into_chunks().iter().for_each(|chunk| out.put_slice(chunk));
}

fn put_nullable(out: &mut Writer, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => {
            put_length(out, bytes.len());
            out.put_slice(bytes);
        }
        None => out.put_varint(-1),
    }
}

fn put_length(out: &mut Writer, length: usize) {
    // What it is the length of was read from a batch, whose lengths are varints too.
    out.put_varint(i32::try_from(length).unwrap_or(i32::MAX));
}

/// Where the bytes begin that the CRC covers.
const CRC_COVERS_FROM: usize = 21;
