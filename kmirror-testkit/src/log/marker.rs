//! The control batch that ends a transaction.
//!
//! ```text
//! batch of one record, attributes 30 (control, transactional), sequence -1:
//!   20 00 00 00 08 0000 0000 0c 0000 00000000 00          (F9; type 1 is a commit)
//!   │  │  │  │  │  │    │    │  │    │        └ no headers
//!   │  │  │  │  │  │    type │  │    coordinator epoch
//!   │  │  │  │  │  version 0 │  version 0
//!   │  │  │  │  key, 4 bytes value, 6 bytes
//!   length 16, attributes, timestamp delta, offset delta
//! ```
//!
//! Java: `EndTransactionMarker`.

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{
    BatchBuilder, ControlKind, ControlRecord, HeadersSource, RawBatch, RecordError, Stamp, crc32c,
};

use super::Entry;

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// Whose transaction.
    pub producer_id: i64,
    /// The producer's epoch; above the transaction's own where the coordinator raised it (KIP-890).
    pub producer_epoch: i16,
    /// The coordinator's.
    pub coordinator_epoch: i32,
    /// Or aborted.
    pub commit: bool,
}

impl Marker {
    /// The batch that says so. `timestamp` in milliseconds, taken by the broker's clock.
    pub(super) fn batch(
        self,
        offset: i64,
        leader_epoch: i32,
        timestamp: i64,
        append_time: bool,
    ) -> Result<Entry, RecordError> {
        let kind = if self.commit { ControlKind::COMMIT } else { ControlKind::ABORT };
        let mut key = [0; 4];
        key[2..].copy_from_slice(&kind.0.to_be_bytes());
        let mut value = [0; 6];
        value[2..].copy_from_slice(&self.coordinator_epoch.to_be_bytes());
        let mut builder = BatchBuilder::new(Codec::None, None);
        builder.push(timestamp, Some(&key), Some(&value), HeadersSource::None)?;
        let stamp = Stamp { producer_id: self.producer_id, producer_epoch: self.producer_epoch, base_sequence: -1 };
        let mut bytes = BytesMut::from(builder.finish(stamp)?);
        if let Some(header) = bytes.first_chunk_mut::<23>() {
            header[0..8].copy_from_slice(&offset.to_be_bytes());
            header[12..16].copy_from_slice(&leader_epoch.to_be_bytes());
            header[22] = if append_time { 0x38 } else { 0x30 };
        }
        let crc = crc32c(bytes.get(21..).unwrap_or_default());
        if let Some(field) = bytes.get_mut(17..21) {
            field.copy_from_slice(&crc.to_be_bytes());
        }
        Entry::read(bytes.freeze())
    }

    /// What a control batch says, if it is one that ends a transaction and compaction left its record.
    pub(super) fn of(entry: &Entry) -> Option<Self> {
        let (true, Some(stamp)) = (entry.control, entry.producer) else { return None };
        let batch = RawBatch::from_bytes(Bytes::clone(&entry.bytes)).ok()?;
        let record = ControlRecord::of(&batch, CONTROL_BYTES_MAX).ok()??;
        Some(Self {
            producer_id: stamp.id,
            producer_epoch: stamp.epoch,
            coordinator_epoch: record.coordinator_epoch?,
            commit: record.kind == ControlKind::COMMIT,
        })
    }
}

/// More than a control record has.
const CONTROL_BYTES_MAX: usize = 1 << 16;
