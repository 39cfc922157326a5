//! What can be wrong with a single record: its key, its timestamp.
//!
//! Up to 2.4 the first record with a fault refuses the set. Later all faulty records of a batch are named (KIP-467).
//! Mirrors Java's `LogValidator.validateKey`, `validateTimestamp` and `processRecordErrors`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::RecordError;

use super::refusal::invalid_record;
use super::{Offered, Refusal};
use crate::Release;

/// A record as the checks see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looked<'a> {
    /// Its position in the batch.
    pub(super) index: i64,
    /// Its offset as it was sent.
    pub(super) offset: i64,
    /// Milliseconds, -1 for none; the batch's own if that claims the append time.
    pub(super) timestamp: i64,
    /// The batch claims that a broker set the timestamp.
    pub(super) append_time_bit: bool,
    /// The timestamp is looked at.
    pub(super) checks_time: bool,
    /// The key.
    pub(super) key: Option<&'a [u8]>,
    /// The value.
    pub(super) value: Option<&'a [u8]>,
}

/// The faulty records of one entry.
#[derive(Debug, Default)]
pub(super) struct Faults {
    found: Vec<(ErrorCode, RecordError)>,
}

impl Faults {
    /// R8, R11, R16 of one record.
    ///
    /// # Errors
    /// Up to 2.4, the fault.
    #[inline]
    pub(super) fn look(&mut self, offered: &Offered<'_>, record: &Looked<'_>) -> Result<(), Refusal> {
        if record.key.is_none() && offered.settings.compact {
            return self.add(offered, record, Fault::NullKey);
        }
        match timestamp(offered, record) {
            Some(fault) => self.add(offered, record, fault),
            None => Ok(()),
        }
    }

    /// R3: another offset than the one that should be, where the release insists.
    ///
    /// # Errors
    /// The fault.
    pub(super) fn gap(&mut self, offered: &Offered<'_>, record: &Looked<'_>, expected: i64) -> Result<(), Refusal> {
        self.add(offered, record, Fault::Gap { expected })
    }

    /// One timestamp that is wrong makes it a matter of timestamps.
    ///
    /// # Errors
    /// The faults, if any were found.
    pub(super) fn finish(self, offered: &Offered<'_>) -> Result<(), Refusal> {
        if self.found.is_empty() {
            return Ok(());
        }
        let timestamps = self.found.iter().any(|(code, _)| *code == ErrorCode::INVALID_TIMESTAMP);
        let code = if timestamps { ErrorCode::INVALID_TIMESTAMP } else { ErrorCode::INVALID_RECORD };
        let errors: Vec<_> = self.found.into_iter().map(|(_, error)| error).collect();
        let text = match code {
            ErrorCode::INVALID_TIMESTAMP => {
                "One or more records have been rejected due to invalid timestamp".to_owned()
            }
            _ if offered.release >= Release::V3_9 => counted(&errors),
            _ => "One or more records have been rejected".to_owned(),
        };
        Err(Refusal::log(offered.release, code).saying(text, errors))
    }

    #[cold]
    fn add(&mut self, offered: &Offered<'_>, record: &Looked<'_>, fault: Fault) -> Result<(), Refusal> {
        let code = fault.code(offered.release);
        let text = fault.text(offered, record);
        let batch_index = i32::try_from(record.index).unwrap_or(i32::MAX);
        let release = offered.release;
        if release < Release::V2_4 {
            return Err(Refusal::log(release, code));
        }
        if release == Release::V2_4 {
            // The text is the partition's, and the record is only pointed at.
            let pointed = vec![RecordError { batch_index, message: None }];
            return Err(Refusal::log(release, code).saying(text, pointed));
        }
        self.found.push((code, RecordError { batch_index, message: Some(text) }));
        Ok(())
    }
}

/// What is wrong with a record.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// R16: no key, on a compacted topic.
    NullKey,
    /// R11: the timestamp is too far from now.
    Timestamp,
    /// R8: the producer claims that a broker set the timestamp.
    AppendTimeBit,
    /// R3: another offset than the one after the last record's.
    Gap {
        /// The one that should be.
        expected: i64,
    },
}

impl Fault {
    fn code(self, release: Release) -> ErrorCode {
        match self {
            Self::NullKey | Self::Gap { .. } => invalid_record(release),
            Self::Timestamp | Self::AppendTimeBit => ErrorCode::INVALID_TIMESTAMP,
        }
    }

    /// The broker's words, as measured from 2.4 on.
    fn text(self, offered: &Offered<'_>, record: &Looked<'_>) -> String {
        let place = format!("topic partition {}-{}", offered.topic, offered.partition);
        match self {
            Self::NullKey => {
                let end = if offered.release >= Release::V3_9 { "" } else { "." };
                format!("Compacted topic cannot accept message without key in {place}{end}")
            }
            Self::Timestamp => format!(
                "Timestamp {} of message with offset {} is out of range. The timestamp should be within [{}, {}]",
                record.timestamp,
                record.offset,
                offered.now.unix_ms.wrapping_sub(offered.settings.timestamp_before_max_ms),
                offered.now.unix_ms.wrapping_add(offered.settings.timestamp_after_max_ms),
            ),
            Self::AppendTimeBit => format!(
                "Invalid timestamp type in message {}. Producer should not set timestamp type to LogAppendTime.",
                printed(record),
            ),
            Self::Gap { expected } => format!(
                "Inner record {} inside the compressed record batch does not have incremental offsets, expected offset \
                 is {expected} in {place}.",
                printed(record),
            ),
        }
    }
}

/// R8, R11: the timestamp of one record.
#[inline]
fn timestamp(offered: &Offered<'_>, record: &Looked<'_>) -> Option<Fault> {
    if !record.checks_time {
        return None;
    }
    // 0.10 takes no timestamp for one of long ago.
    let none = record.timestamp == NO_TIMESTAMP && offered.release >= Release::V0_11;
    let ranged = !offered.settings.append_time && !none;
    if ranged && out_of_range(offered, record.timestamp) {
        return Some(Fault::Timestamp);
    }
    // 3.9 looks at the bit only where it has no range to look at, and clears it where it does not.
    let looks = offered.release < Release::V3_9 || !ranged;
    (record.append_time_bit && looks).then_some(Fault::AppendTimeBit)
}

/// R11: too far from now, in either direction. Wraps as Java does.
fn out_of_range(offered: &Offered<'_>, timestamp: i64) -> bool {
    let age = offered.now.unix_ms.wrapping_sub(timestamp);
    age > offered.settings.timestamp_before_max_ms || age.wrapping_neg() > offered.settings.timestamp_after_max_ms
}

/// Java's `DefaultRecord.toString`: only magic 2 comes with a version that is told.
fn printed(record: &Looked<'_>) -> String {
    let size = |bytes: Option<&[u8]>| bytes.map_or(0, <[u8]>::len);
    format!(
        "DefaultRecord(offset={}, timestamp={}, key={} bytes, value={} bytes)",
        record.offset,
        record.timestamp,
        size(record.key),
        size(record.value)
    )
}

/// What 3.9 says of records that are not about timestamps.
fn counted(errors: &[RecordError]) -> String {
    let shown: Vec<_> = errors.iter().take(3).map(shown).collect();
    format!(
        "One or more records have been rejected due to {} record errors in total, and only showing the first three \
         errors at most: [{}]",
        errors.len(),
        shown.join(", ")
    )
}

fn shown(error: &RecordError) -> String {
    let text = error.message.as_deref().unwrap_or("null");
    format!("RecordError(batchIndex={}, message='{text}')", error.batch_index)
}

/// Java's `RecordBatch.NO_TIMESTAMP`.
pub(super) const NO_TIMESTAMP: i64 = -1;
