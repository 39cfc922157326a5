//! Control records: what a control batch holds instead of data.
//!
//! ```text
//! key    +-----------+--------+          value (abort, commit) +-----------+---------------------+
//!        | version 2 | type 2 |                                | version 2 | coordinator epoch 4 |
//!        +-----------+--------+                                +-----------+---------------------+
//! ```
//!
//! KIP-98. Mirrors Java's `ControlRecordType` and `EndTransactionMarker`. Types are open integers: a type that was
//! added later survives as its number, and Java too reads it as a control record that it does not know.

use std::fmt;

use super::cursor::Cursor;
use super::{RawBatch, Record, RecordError, Records};

/// The parsed key, and of a transaction marker the value, of a control record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlRecord {
    /// Version of the key; 0 so far.
    pub version: i16,
    /// What it says.
    pub kind: ControlKind,
    /// The transaction coordinator's epoch, if this is a marker with a whole value.
    pub coordinator_epoch: Option<i32>,
}

impl ControlRecord {
    /// The control record of a batch whose control bit is set; `None` if compaction emptied the batch. Like Java,
    /// looks at the first record only.
    ///
    /// # Errors
    /// [`RecordError`] if the payload is not one of records or the key is too short.
    pub fn of(batch: &RawBatch, bytes_max: usize) -> Result<Option<Self>, RecordError> {
        let records = Records::of(batch, bytes_max)?;
        match records.iter().next() {
            Some(record) => Self::parse(&record?).map(Some),
            None => Ok(None),
        }
    }

    /// Parses a record of a control batch.
    ///
    /// # Errors
    /// [`RecordError`] if the key is null or shorter than 4 bytes, or its version is negative.
    pub fn parse(record: &Record<'_>) -> Result<Self, RecordError> {
        let mut key = Cursor::new(record.key.unwrap_or_default());
        let version = key.i16("control record key")?;
        let kind = ControlKind(key.i16("control record key")?);
        if version < 0 {
            return Err(RecordError::Range { what: "control record key: version", value: version.into() });
        }
        let coordinator_epoch = if kind.is_transaction_end() { epoch(record.value.unwrap_or_default()) } else { None };
        Ok(Self { version, kind, coordinator_epoch })
    }
}

/// The type of a control record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControlKind(pub i16);

impl ControlKind {
    /// The producer's transaction was aborted.
    pub const ABORT: Self = Self(0);
    /// The producer's transaction was committed.
    pub const COMMIT: Self = Self(1);
    /// KRaft: a new leader (KIP-595).
    pub const LEADER_CHANGE: Self = Self(2);
    /// KRaft: the first record of a snapshot (KIP-630).
    pub const SNAPSHOT_HEADER: Self = Self(3);
    /// KRaft: the last record of a snapshot (KIP-630).
    pub const SNAPSHOT_FOOTER: Self = Self(4);
    /// KRaft: the protocol's version (KIP-853).
    pub const KRAFT_VERSION: Self = Self(5);
    /// KRaft: the voters (KIP-853).
    pub const KRAFT_VOTERS: Self = Self(6);

    /// Abort or commit.
    #[must_use]
    pub fn is_transaction_end(self) -> bool {
        self == Self::ABORT || self == Self::COMMIT
    }

    /// Kafka's name of the type, `UNKNOWN` for one that is not known here.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ABORT => "ABORT",
            Self::COMMIT => "COMMIT",
            Self::LEADER_CHANGE => "LEADER_CHANGE",
            Self::SNAPSHOT_HEADER => "SNAPSHOT_HEADER",
            Self::SNAPSHOT_FOOTER => "SNAPSHOT_FOOTER",
            Self::KRAFT_VERSION => "KRAFT_VERSION",
            Self::KRAFT_VOTERS => "KRAFT_VOTERS",
            Self(_) => "UNKNOWN",
        }
    }
}

impl fmt::Display for ControlKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}

fn epoch(value: &[u8]) -> Option<i32> {
    let mut value = Cursor::new(value);
    value.i16("version").ok()?;
    value.i32("coordinator epoch").ok()
}

#[cfg(test)]
mod tests {
    use super::super::Headers;
    use super::*;

    fn record<'a>(key: Option<&'a [u8]>, value: &'a [u8]) -> Record<'a> {
        let value = Some(value);
        Record { attributes: 0, timestamp_delta: 0, offset_delta: 0, key, value, headers: Headers::NONE }
    }

    #[test]
    fn abort_and_commit_carry_the_coordinators_epoch() {
        let marker = ControlRecord::parse(&record(Some(&[0, 0, 0, 0]), &[0, 0, 0, 0, 0, 42])).unwrap();
        assert_eq!(marker, ControlRecord { version: 0, kind: ControlKind::ABORT, coordinator_epoch: Some(42) });
        let marker = ControlRecord::parse(&record(Some(&[0, 0, 0, 1]), &[0, 0])).unwrap();
        assert_eq!(marker, ControlRecord { version: 0, kind: ControlKind::COMMIT, coordinator_epoch: None });
        assert_eq!(marker.kind.to_string(), "COMMIT (1)");
    }

    #[test]
    fn unknown_types_and_later_versions_survive_as_numbers() {
        let marker = ControlRecord::parse(&record(Some(&[0, 9, 3, 0xe7, 1, 2]), &[])).unwrap();
        assert_eq!(marker, ControlRecord { version: 9, kind: ControlKind(999), coordinator_epoch: None });
        assert_eq!(marker.kind.to_string(), "UNKNOWN (999)");
        assert!(!marker.kind.is_transaction_end());
    }

    #[test]
    fn a_short_or_null_key_is_an_error() {
        for key in [None, Some(&[][..]), Some(&[0]), Some(&[0, 0, 0])] {
            assert!(matches!(ControlRecord::parse(&record(key, &[])), Err(RecordError::Truncated { .. })), "{key:?}");
        }
        assert!(matches!(ControlRecord::parse(&record(Some(&[255, 255, 0, 0]), &[])), Err(RecordError::Range { .. })));
    }
}
