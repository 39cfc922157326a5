//! The records inside the entries: one walk, which allocates nothing for a record.
//!
//! Mirrors the loops of Java's `LogValidator`. Up to 2.1 the first record with a fault refuses the set. From 2.4 on all
//! faulty records of a batch are named (KIP-467).

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchHeader, RawBatch, RecordError, Records};

use super::rewrite::Stored;
use super::sent::{Form, Sent};
use super::{Offered, Refusal, batch};
use crate::Release;

/// An entry whose records were looked at.
#[derive(Debug)]
pub(super) struct Opened {
    /// The records, decompressed.
    pub(super) held: Held,
    /// How many there are.
    pub(super) count: i64,
    /// The largest timestamp in milliseconds; -1 if all are negative (R10).
    pub(super) max_timestamp: i64,
    /// The offsets go on from the entry before without a gap.
    pub(super) dense: bool,
}

/// The records of one entry.
#[derive(Debug)]
pub(super) enum Held {
    /// Of magic 2, with the header that they came under.
    Batch(BatchHeader, Records),
}

/// Looks at all records of all entries.
///
/// # Errors
/// The rules of [`batch`], then R8, R11, R16, R18 of each record in turn.
pub(super) fn open(offered: &Offered<'_>, sent: &[Sent], stored: Stored) -> Result<Vec<Opened>, Refusal> {
    let mut next = 0;
    let mut opened = Vec::with_capacity(sent.len());
    for entry in sent {
        let entry = match &entry.form {
            Form::Batch(header) => open_batch(offered, header, &entry.bytes, stored, next)?,
            Form::Message(_) | Form::Unreadable => return Err(Refusal::corrupt()),
        };
        next += entry.count;
        opened.push(entry);
    }
    Ok(opened)
}

fn open_batch(
    offered: &Offered<'_>,
    header: &BatchHeader,
    bytes: &Bytes,
    stored: Stored,
    first_offset: i64,
) -> Result<Opened, Refusal> {
    batch::check(offered, header, stored.magic)?;
    let raw = RawBatch::from_bytes(bytes.clone()).map_err(|_| Refusal::invalid_record(offered.release))?;
    let compressed = header.attributes.codec() != Ok(Codec::None);
    let broken = |error| payload(offered, compressed, &error);
    let records = Records::of(&raw, DECOMPRESSED_BYTES_MAX).map_err(broken)?;
    let append_time_bit = header.attributes.append_time();
    let mut faults = Faults::default();
    let mut expected = first_offset;
    let mut max_timestamp = NO_TIMESTAMP;
    let mut dense = true;
    for record in &records {
        let record = record.map_err(broken)?;
        let timestamp = header.timestamp_of(&record);
        if record.key.is_none() && offered.settings.compact {
            faults.add(offered, expected - first_offset, Fault::NullKey)?;
        } else if let Some(fault) = timestamp_fault(offered, timestamp, append_time_bit) {
            faults.add(offered, expected - first_offset, fault)?;
        }
        dense &= i64::from(record.offset_delta) == expected;
        stored.numbering(offered, dense)?;
        max_timestamp = max_timestamp.max(timestamp);
        expected += 1;
    }
    faults.finish()?;
    Ok(Opened { count: expected - first_offset, held: Held::Batch(*header, records), max_timestamp, dense })
}

/// R18, R3: why a payload is not that of the records that the header counts.
///
/// A payload that cannot be decompressed, and a record whose length is no number, are exceptions that the broker does
/// not know; all else is an invalid record. 3.9 catches the second, where the payload was compressed.
fn payload(offered: &Offered<'_>, compressed: bool, error: &RecordError) -> Refusal {
    let caught = compressed && offered.release >= Release::V3_9;
    let length = matches!(error, RecordError::Varint { what: "record length", .. });
    if matches!(error, RecordError::Codec(_)) || length && !caught {
        return Refusal::unknown();
    }
    Refusal::invalid_record(offered.release)
}

/// R8, R11: the timestamp of one record.
fn timestamp_fault(offered: &Offered<'_>, timestamp: i64, append_time_bit: bool) -> Option<Fault> {
    let checked = !offered.settings.append_time && timestamp != NO_TIMESTAMP;
    if checked && out_of_range(offered, timestamp) {
        return Some(Fault::Timestamp);
    }
    // 3.9 looks at the bit only where it has no range to look at, and clears it where it does not.
    let looks = offered.release < Release::V3_9 || !checked;
    (append_time_bit && looks).then_some(Fault::AppendTimeBit)
}

/// R11: too far from now, in either direction. Wraps as Java does.
fn out_of_range(offered: &Offered<'_>, timestamp: i64) -> bool {
    let age = offered.now.unix_ms.wrapping_sub(timestamp);
    age > offered.settings.timestamp_before_max_ms || age.wrapping_neg() > offered.settings.timestamp_after_max_ms
}

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// R16: no key, on a compacted topic.
    NullKey,
    /// R11: the timestamp is too far from now.
    Timestamp,
    /// R8: the producer claims that a broker set the timestamp.
    AppendTimeBit,
}

impl Fault {
    fn code(self, release: Release) -> ErrorCode {
        match self {
            Self::NullKey => super::refusal::invalid_record(release),
            Self::Timestamp | Self::AppendTimeBit => ErrorCode::INVALID_TIMESTAMP,
        }
    }
}

/// The faulty records of one entry.
#[derive(Debug, Default)]
struct Faults {
    found: Vec<(i64, Fault)>,
}

impl Faults {
    /// Before 2.4 the first one ends the walk.
    fn add(&mut self, offered: &Offered<'_>, index: i64, fault: Fault) -> Result<(), Refusal> {
        if offered.release < Release::V2_4 {
            return Err(Refusal::code(fault.code(offered.release)));
        }
        self.found.push((index, fault));
        Ok(())
    }

    /// One timestamp that is wrong makes it a matter of timestamps.
    fn finish(&self) -> Result<(), Refusal> {
        if self.found.is_empty() {
            return Ok(());
        }
        let timestamps = self.found.iter().any(|(_, fault)| *fault != Fault::NullKey);
        let code = if timestamps { ErrorCode::INVALID_TIMESTAMP } else { ErrorCode::INVALID_RECORD };
        Err(Refusal::code(code))
    }
}

/// Java's `RecordBatch.NO_TIMESTAMP`.
const NO_TIMESTAMP: i64 = -1;
/// What an entry may decompress to. Brokers have no such limit, but the heap of a JVM: 1 GiB in the tests that measured.
const DECOMPRESSED_BYTES_MAX: usize = 1 << 30;
