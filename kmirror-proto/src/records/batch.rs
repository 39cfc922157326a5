//! A magic 2 batch as it lies on the wire.
//!
//! ```text
//!  0         8        12         16      17    21          23            27              35
//! +---------+--------+----------+-------+-----+-----------+-------------+---------------+--------------+
//! | base    | length | leader   | magic | crc | attributes| last offset | base          | max          |
//! | offset 8| 4      | epoch 4  | 2     | 4   | 2         | delta 4     | timestamp 8   | timestamp 8  |
//! +---------+--------+----------+-------+-----+-----------+-------------+---------------+--------------+
//!  43           51          53           57       61
//! +------------+-----------+------------+--------+--------------------------------------------+
//! | producer   | producer  | base       | record | payload: records, or their compressed form |
//! | id 8       | epoch 2   | sequence 4 | count 4|                                            |
//! +------------+-----------+------------+--------+--------------------------------------------+
//! length counts from 12; the CRC-32C covers everything from 21.
//! attributes: 0-2 codec · 08 append time · 10 transactional · 20 control · 40 delete horizon (KIP-534)
//! ```
//!
//! KIP-98, KIP-82. Mirrors Java's `DefaultRecordBatch`.

use bytes::Bytes;

use super::cursor::Cursor;
use super::{Checksums, Record, RecordError, crc};
use crate::compress::{Codec, CodecError};

/// Bytes of the header of a magic 2 batch, the 12 of offset and length included.
pub const BATCH_HEADER_BYTES: usize = 61;
/// Where the bytes begin that the CRC covers: at the attributes.
pub(super) const CRC_COVERS_FROM: usize = 21;
/// What the length field counts at least: the header after it.
const BATCH_LENGTH_MIN: i32 = 49;

/// A whole magic 2 batch: a view of its header, and its bytes, shared with the frame that it came in.
#[derive(Debug, Clone)]
pub struct RawBatch {
    /// The header, checked.
    pub header: BatchHeader,
    bytes: Bytes,
}

impl RawBatch {
    /// Takes exactly one batch. The payload is not looked at, nor the CRC.
    ///
    /// # Errors
    /// [`RecordError`] if the header is not one (see [`BatchHeader::parse`]) or the bytes are more or fewer than its
    /// length.
    pub fn from_bytes(bytes: Bytes) -> Result<Self, RecordError> {
        let header = BatchHeader::parse(&bytes)?;
        match bytes.len().checked_sub(header.size()) {
            Some(0) => Ok(Self { header, bytes }),
            Some(left) => Err(RecordError::Trailing { what: "record batch", left }),
            None => Err(RecordError::Truncated { what: "record batch", need: header.size(), have: bytes.len() }),
        }
    }

    /// The whole batch, header included.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// What follows the header: the records, compressed if the attributes say so. Shared, not copied.
    #[must_use]
    pub fn payload(&self) -> Bytes {
        self.bytes.slice(BATCH_HEADER_BYTES..)
    }

    /// Whether the stored CRC is that of the bytes. Reads the whole batch once.
    #[must_use]
    pub fn crc_ok(&self) -> bool {
        self.checksums().agree()
    }

    /// The stored CRC and that of the bytes. Reads the whole batch once.
    #[must_use]
    pub fn checksums(&self) -> Checksums {
        let computed = crc::crc32c(self.bytes.get(CRC_COVERS_FROM..).unwrap_or_default());
        Checksums { stored: self.header.crc, computed }
    }
}

/// The fields of a batch header. Field by field as on the wire; offsets and deltas are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offset of the first record that the batch was written with; it stays when compaction removes that record.
    pub base_offset: i64,
    /// Bytes after the length field.
    pub batch_length: i32,
    /// The leader's epoch at the time of the append. Not covered by the CRC.
    pub partition_leader_epoch: i32,
    /// Always 2.
    pub magic: i8,
    /// The stored CRC-32C of everything from the attributes on.
    pub crc: u32,
    /// Codec and flags.
    pub attributes: Attributes,
    /// Last offset minus base offset; it stays when compaction removes the last record.
    pub last_offset_delta: i32,
    /// Milliseconds to which the records' deltas are added. With the delete-horizon bit, the horizon itself.
    pub base_timestamp: i64,
    /// The largest timestamp of the records, or the append time of them all.
    pub max_timestamp: i64,
    /// The producer's id, -1 for none.
    pub producer_id: i64,
    /// The producer's epoch, -1 for none.
    pub producer_epoch: i16,
    /// Sequence of the first record, -1 for none.
    pub base_sequence: i32,
    /// Records that are still there; 0 in a batch that compaction emptied.
    pub records_count: i32,
}

impl BatchHeader {
    /// Reads the header of a magic 2 batch from the first 61 bytes.
    ///
    /// # Errors
    /// [`RecordError`] if there are fewer bytes, if the magic is not 2, the length is below 49, the offset, the offset
    /// delta or the count is negative, or the offset after the batch overflows.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut cursor = Cursor::new(bytes);
        let what = "record batch header";
        let header = Self {
            base_offset: cursor.i64(what)?,
            batch_length: cursor.i32(what)?,
            partition_leader_epoch: cursor.i32(what)?,
            magic: cursor.i8(what)?,
            crc: cursor.u32(what)?,
            attributes: Attributes(cursor.i16(what)?),
            last_offset_delta: cursor.i32(what)?,
            base_timestamp: cursor.i64(what)?,
            max_timestamp: cursor.i64(what)?,
            producer_id: cursor.i64(what)?,
            producer_epoch: cursor.i16(what)?,
            base_sequence: cursor.i32(what)?,
            records_count: cursor.i32(what)?,
        };
        header.check()?;
        Ok(header)
    }

    /// Bytes of the whole batch.
    #[must_use]
    pub fn size(&self) -> usize {
        // Checked when parsed: at least 49.
        usize::try_from(self.batch_length).unwrap_or(0).saturating_add(super::split::PREFIX_BYTES)
    }

    /// The last offset that the batch occupies.
    #[must_use]
    pub fn last_offset(&self) -> i64 {
        self.base_offset.saturating_add(self.last_offset_delta.into())
    }

    /// The first offset after the batch, where a reader goes on; also after a compacted or emptied one.
    #[must_use]
    pub fn next_offset(&self) -> i64 {
        self.last_offset().saturating_add(1)
    }

    /// The record's absolute offset.
    #[must_use]
    pub fn offset_of(&self, record: &Record<'_>) -> i64 {
        self.base_offset.saturating_add(record.offset_delta.into())
    }

    /// The record's timestamp in milliseconds as consumers see it: the batch's append time if it has one, else the
    /// record's own. Wraps on overflow as Java's addition does.
    #[must_use]
    pub fn timestamp_of(&self, record: &Record<'_>) -> i64 {
        if self.attributes.append_time() {
            self.max_timestamp
        } else {
            self.base_timestamp.wrapping_add(record.timestamp_delta)
        }
    }

    fn check(&self) -> Result<(), RecordError> {
        if self.magic != 2 {
            return Err(RecordError::Magic { what: "record batch", magic: self.magic });
        }
        let out_of_range = |what, value| Err(RecordError::Range { what, value });
        if self.batch_length < BATCH_LENGTH_MIN {
            return out_of_range("record batch: length", self.batch_length.into());
        }
        if self.base_offset < 0 {
            return out_of_range("record batch: base offset", self.base_offset);
        }
        if self.last_offset_delta < 0 {
            return out_of_range("record batch: last offset delta", self.last_offset_delta.into());
        }
        if self.base_offset > i64::MAX - 1 - i64::from(self.last_offset_delta) {
            return out_of_range("record batch: base offset", self.base_offset);
        }
        if self.records_count < 0 {
            return out_of_range("record batch: record count", self.records_count.into());
        }
        Ok(())
    }
}

/// The attributes of a batch: the codec in bits 0-2, then flags. Unknown bits are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes(pub i16);

impl Attributes {
    const CODEC: i16 = 0x07;
    const APPEND_TIME: i16 = 0x08;
    const TRANSACTIONAL: i16 = 0x10;
    const CONTROL: i16 = 0x20;
    const DELETE_HORIZON: i16 = 0x40;

    /// Attributes with this codec and no flag.
    #[must_use]
    pub fn of(codec: Codec) -> Self {
        Self(codec.id().into())
    }

    /// The codec of the payload.
    ///
    /// # Errors
    /// [`CodecError::Unknown`] for 5, 6 and 7.
    pub fn codec(self) -> Result<Codec, CodecError> {
        let [_, low] = self.0.to_be_bytes();
        Codec::from_id(low & 0x07)
    }

    /// The broker set the timestamps when it appended the batch (`LogAppendTime`).
    #[must_use]
    pub fn append_time(self) -> bool {
        self.0 & Self::APPEND_TIME != 0
    }

    /// The batch belongs to a transaction.
    #[must_use]
    pub fn transactional(self) -> bool {
        self.0 & Self::TRANSACTIONAL != 0
    }

    /// The batch holds a control record, not data.
    #[must_use]
    pub fn control(self) -> bool {
        self.0 & Self::CONTROL != 0
    }

    /// The base timestamp is a delete horizon (KIP-534).
    #[must_use]
    pub fn delete_horizon(self) -> bool {
        self.0 & Self::DELETE_HORIZON != 0
    }

    /// The same with the append-time bit, or without it.
    #[must_use]
    pub fn with_append_time(self, on: bool) -> Self {
        if on { Self(self.0 | Self::APPEND_TIME) } else { self.without_append_time() }
    }

    /// The same with the transactional bit, or without it.
    #[must_use]
    pub fn with_transactional(self, on: bool) -> Self {
        if on { Self(self.0 | Self::TRANSACTIONAL) } else { self.without_transactional() }
    }

    /// The same without the append-time bit.
    #[must_use]
    pub fn without_append_time(self) -> Self {
        Self(self.0 & !Self::APPEND_TIME)
    }

    /// The same without the transactional bit.
    #[must_use]
    pub fn without_transactional(self) -> Self {
        Self(self.0 & !Self::TRANSACTIONAL)
    }

    /// The same without the control bit.
    #[must_use]
    pub fn without_control(self) -> Self {
        Self(self.0 & !Self::CONTROL)
    }

    /// The same without the delete-horizon bit.
    #[must_use]
    pub fn without_delete_horizon(self) -> Self {
        Self(self.0 & !Self::DELETE_HORIZON)
    }

    /// The same with another codec.
    #[must_use]
    pub fn with_codec(self, codec: Codec) -> Self {
        Self(self.0 & !Self::CODEC | i16::from(codec.id()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BatchBuilder, HeadersSource, Records, Stamp};
    use super::*;

    fn built() -> Vec<u8> {
        let mut builder = BatchBuilder::new(Codec::None, None);
        for timestamp in [1000, 3000, 2000] {
            builder.push(timestamp, None, Some(b"v"), HeadersSource::None).unwrap();
        }
        builder.finish(Stamp::NONE).unwrap().to_vec()
    }

    fn patched(at: usize, field: &[u8]) -> Result<RawBatch, RecordError> {
        let mut bytes = built();
        bytes[at..at + field.len()].copy_from_slice(field);
        RawBatch::from_bytes(Bytes::from(bytes))
    }

    #[test]
    fn a_compacted_batch_is_left_behind_its_last_delta_not_its_last_record() {
        // B01: base 10, last delta 9, 3 records of 10 left.
        let mut batch = patched(0, &10_i64.to_be_bytes()).unwrap();
        batch.header.last_offset_delta = 9;
        assert_eq!((batch.header.last_offset(), batch.header.next_offset()), (19, 20));
        // An emptied one too: count 0, no payload (K2).
        let mut empty = built();
        empty.truncate(BATCH_HEADER_BYTES);
        empty[8..12].copy_from_slice(&49_i32.to_be_bytes());
        empty[57..61].copy_from_slice(&0_i32.to_be_bytes());
        let empty = RawBatch::from_bytes(Bytes::from(empty)).unwrap();
        assert_eq!(empty.header.next_offset(), 3);
        assert!(empty.payload().is_empty());
        assert!(Records::of(&empty, 0).unwrap().iter().next().is_none());
    }

    #[test]
    fn offsets_deltas_and_counts_that_cannot_be_are_refused() {
        let refused = |at, field: &[u8], what| {
            assert!(
                matches!(patched(at, field), Err(RecordError::Range { what: found, .. }) if found == what),
                "{what}"
            );
        };
        refused(0, &(-1_i64).to_be_bytes(), "record batch: base offset");
        refused(0, &(i64::MAX - 2).to_be_bytes(), "record batch: base offset");
        refused(23, &(-1_i32).to_be_bytes(), "record batch: last offset delta");
        refused(57, &(-1_i32).to_be_bytes(), "record batch: record count");
        refused(8, &48_i32.to_be_bytes(), "record batch: length");
        let last = patched(0, &(i64::MAX - 3).to_be_bytes()).unwrap();
        assert_eq!(last.header.next_offset(), i64::MAX);
    }

    #[test]
    fn bytes_must_be_one_batch_exactly() {
        let bytes = built();
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(
            RawBatch::from_bytes(Bytes::from(longer)).unwrap_err(),
            RecordError::Trailing { what: "record batch", left: 1 }
        );
        for len in 0..bytes.len() {
            let cut = Bytes::copy_from_slice(&bytes[..len]);
            assert!(matches!(RawBatch::from_bytes(cut), Err(RecordError::Truncated { .. })), "{len}");
        }
    }

    #[test]
    fn append_time_stands_for_every_record() {
        let timestamps = |batch: &RawBatch| -> Vec<i64> {
            let records = Records::of(batch, 1000).unwrap();
            records.iter().map(|record| batch.header.timestamp_of(&record.unwrap())).collect()
        };
        assert_eq!(timestamps(&patched(0, &[]).unwrap()), [1000, 3000, 2000]);
        // R8: the deltas inside are the producer's; consumers see the maximum of the header.
        assert_eq!(timestamps(&patched(21, &[0, 0x08]).unwrap()), [3000, 3000, 3000]);
    }

    #[test]
    fn flags_come_and_go_alone_and_unknown_bits_stay() {
        let all = Attributes(-1);
        assert!(all.append_time() && all.transactional() && all.control() && all.delete_horizon());
        assert_eq!(all.without_append_time().0, !0x08);
        assert_eq!(all.without_transactional().0, !0x10);
        assert_eq!(all.without_control().0, !0x20);
        assert_eq!(all.without_delete_horizon().0, !0x40);
        assert_eq!(all.codec(), Err(CodecError::Unknown { id: 7 }));
        let (some, none) = (Attributes(0x7f42), Attributes(0x7f42).with_append_time(false).with_transactional(false));
        assert_eq!((none, some.with_append_time(true).0, some.with_transactional(true).0), (some, 0x7f4a, 0x7f52));
        assert_eq!(all.with_append_time(false).with_transactional(false).0, !0x18);
        assert_eq!(Attributes(0x7f0a).with_codec(Codec::Lz4), Attributes(0x7f0b));
        assert_eq!(Attributes(0x7f0b).codec(), Ok(Codec::Lz4));
    }

    #[test]
    fn a_flipped_byte_under_the_crc_is_found() {
        let bytes = built();
        assert!(RawBatch::from_bytes(Bytes::from(bytes.clone())).unwrap().crc_ok());
        for at in (17..23).chain(27..57).chain(61..bytes.len()) {
            let mut broken = bytes.clone();
            broken[at] ^= 4;
            assert!(!RawBatch::from_bytes(Bytes::from(broken)).unwrap().crc_ok(), "byte {at}");
        }
    }
}
