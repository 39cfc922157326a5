//! What is in a record set, as Java says it, and as kmirror-proto reads it: the same shape, to be compared.

use bytes::{Buf, Bytes, TryGetError};
use kmirror_proto::compress::{Codec, Decompressor};
use kmirror_proto::records::{ControlRecord, Entry, Messages, RawBatch, RawMessage, RecordError, Records, split};

/// One batch of magic 2, or one message or wrapper of magic 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BatchRead {
    pub(super) magic: i8,
    /// Its bytes, offset and length included.
    pub(super) size: i32,
    /// The stored one.
    pub(super) crc: u32,
    /// What is in it, if the checksum is that of the bytes.
    pub(super) content: Option<Content>,
}

/// The fields of an undamaged batch. What magic 0 and 1 do not have stands as Java says it: -1, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) base_offset: i64,
    pub(super) last_offset: i64,
    pub(super) codec: u8,
    /// 0: the records' own, 1: the append's, -1: magic 0.
    pub(super) timestamp_type: i8,
    pub(super) max_timestamp: i64,
    pub(super) producer_id: i64,
    pub(super) producer_epoch: i16,
    pub(super) base_sequence: i32,
    pub(super) transactional: bool,
    pub(super) control: bool,
    pub(super) leader_epoch: i32,
    pub(super) count: i32,
    /// The smallest number for none.
    pub(super) delete_horizon: i64,
    /// Type and coordinator's epoch.
    pub(super) marker: Option<(i16, i32)>,
    pub(super) records: Vec<RecordRead>,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordRead {
    pub(super) offset: i64,
    pub(super) timestamp: i64,
    /// Whether its own checksum is right; magic 2 has none.
    pub(super) valid: bool,
    pub(super) key: Option<Vec<u8>>,
    pub(super) value: Option<Vec<u8>>,
    pub(super) headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Reads Java's description of a set; `tests/judge/records/Reading.java` has its layout.
pub(super) fn described(answer: &mut Bytes) -> Result<Vec<BatchRead>, TryGetError> {
    (0..answer.try_get_i32()?).map(|_| batch(answer)).collect()
}

fn batch(answer: &mut Bytes) -> Result<BatchRead, TryGetError> {
    let (magic, size, crc) = (answer.try_get_i8()?, answer.try_get_i32()?, answer.try_get_u32()?);
    let valid = flag(answer)?;
    Ok(BatchRead { magic, size, crc, content: if valid { Some(content(answer)?) } else { None } })
}

fn content(answer: &mut Bytes) -> Result<Content, TryGetError> {
    Ok(Content {
        base_offset: answer.try_get_i64()?,
        last_offset: answer.try_get_i64()?,
        codec: answer.try_get_u8()?,
        timestamp_type: answer.try_get_i8()?,
        max_timestamp: answer.try_get_i64()?,
        producer_id: answer.try_get_i64()?,
        producer_epoch: answer.try_get_i16()?,
        base_sequence: answer.try_get_i32()?,
        transactional: flag(answer)?,
        control: flag(answer)?,
        leader_epoch: answer.try_get_i32()?,
        count: answer.try_get_i32()?,
        delete_horizon: answer.try_get_i64()?,
        marker: if flag(answer)? { Some((answer.try_get_i16()?, answer.try_get_i32()?)) } else { None },
        records: (0..answer.try_get_i32()?).map(|_| record(answer)).collect::<Result<_, _>>()?,
    })
}

fn record(answer: &mut Bytes) -> Result<RecordRead, TryGetError> {
    Ok(RecordRead {
        offset: answer.try_get_i64()?,
        timestamp: answer.try_get_i64()?,
        valid: flag(answer)?,
        key: bytes(answer)?,
        value: bytes(answer)?,
        headers: (0..answer.try_get_i32()?)
            .map(|_| Ok((bytes(answer)?.unwrap_or_default(), bytes(answer)?)))
            .collect::<Result<_, TryGetError>>()?,
    })
}

fn flag(answer: &mut Bytes) -> Result<bool, TryGetError> {
    Ok(answer.try_get_u8()? == 1)
}

fn bytes(answer: &mut Bytes) -> Result<Option<Vec<u8>>, TryGetError> {
    let Ok(length) = usize::try_from(answer.try_get_i32()?) else { return Ok(None) };
    let missing = TryGetError { requested: length, available: answer.remaining() };
    if length > answer.remaining() { Err(missing) } else { Ok(Some(answer.split_to(length).to_vec())) }
}

/// Reads a set as kmirror does. An entry whose checksum is wrong, or that does not even parse, has no content.
///
/// # Errors
/// If an undamaged batch is refused.
pub(super) fn read(set: &Bytes, decompressor: &mut Decompressor) -> Result<Vec<BatchRead>, RecordError> {
    let mut batches = Vec::new();
    let mut at = 0;
    for entry in split(set.clone()) {
        let batch = match entry {
            Ok(Entry::Batch(batch)) if batch.crc_ok() => of_batch(&batch, decompressor)?,
            Ok(Entry::Message(message)) if message.crc_ok() => of_message(&message, decompressor)?,
            Ok(Entry::Batch(_) | Entry::Message(_)) | Err(_) => damaged(set.get(at..).unwrap_or_default()),
            Ok(Entry::Partial(_)) => break,
        };
        at += usize::try_from(batch.size).unwrap_or(0);
        batches.push(batch);
    }
    Ok(batches)
}

/// The largest payload that is generated is far below.
const BYTES_MAX: usize = 16 << 20;

fn of_batch(batch: &RawBatch, decompressor: &mut Decompressor) -> Result<BatchRead, RecordError> {
    let header = &batch.header;
    let records = Records::with(decompressor, batch, BYTES_MAX)?;
    let records = records.iter().map(|record| {
        let record = record?;
        Ok(RecordRead {
            offset: header.offset_of(&record),
            timestamp: header.timestamp_of(&record),
            valid: true,
            key: record.key.map(Vec::from),
            value: record.value.map(Vec::from),
            headers: record.headers.iter().map(|(name, value)| (name.to_vec(), value.map(Vec::from))).collect(),
        })
    });
    let attributes = header.attributes;
    let marker = if attributes.control() { ControlRecord::of(batch, BYTES_MAX)? } else { None };
    let content = Content {
        base_offset: header.base_offset,
        last_offset: header.last_offset(),
        codec: attributes.codec()?.id(),
        timestamp_type: i8::from(attributes.append_time()),
        max_timestamp: header.max_timestamp,
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
        base_sequence: header.base_sequence,
        transactional: attributes.transactional(),
        control: attributes.control(),
        leader_epoch: header.partition_leader_epoch,
        count: header.records_count,
        delete_horizon: if attributes.delete_horizon() { header.base_timestamp } else { i64::MIN },
        marker: marker.map(|marker| (marker.kind.0, marker.coordinator_epoch.unwrap_or(i32::MIN))),
        records: records.collect::<Result<_, RecordError>>()?,
    };
    Ok(BatchRead { magic: 2, size: size(batch.bytes()), crc: header.crc, content: Some(content) })
}

fn of_message(message: &RawMessage, decompressor: &mut Decompressor) -> Result<BatchRead, RecordError> {
    let messages = Messages::with(decompressor, message, BYTES_MAX)?;
    let records = messages.iter().map(|message| {
        let message = message?;
        Ok(RecordRead {
            offset: message.offset,
            timestamp: message.timestamp,
            valid: message.crc_ok(),
            key: message.key.map(Vec::from),
            value: message.value.map(Vec::from),
            headers: Vec::new(),
        })
    });
    let records: Vec<RecordRead> = records.collect::<Result<_, RecordError>>()?;
    let content = Content {
        base_offset: records.first().map_or(message.offset, |record| record.offset),
        last_offset: message.offset,
        codec: message.codec()?.id(),
        timestamp_type: if message.magic == 0 { -1 } else { i8::from(message.append_time()) },
        max_timestamp: message.timestamp,
        producer_id: -1,
        producer_epoch: -1,
        base_sequence: -1,
        transactional: false,
        control: false,
        leader_epoch: -1,
        count: -1,
        delete_horizon: i64::MIN,
        marker: None,
        records,
    };
    let crc = message.checksums().stored;
    Ok(BatchRead { magic: message.magic, size: size(message.bytes()), crc, content: Some(content) })
}

/// An entry of which only the prefix can be trusted.
fn damaged(mut entry: &[u8]) -> BatchRead {
    let mut prefix = [0; 21];
    let len = entry.len().min(prefix.len());
    entry.copy_to_slice(&mut prefix[..len]);
    let [magic] = [prefix[16].cast_signed()];
    let number = |at: usize| u32::from_be_bytes([prefix[at], prefix[at + 1], prefix[at + 2], prefix[at + 3]]);
    let crc = number(if magic == 2 { 17 } else { 12 });
    BatchRead { magic, size: number(8).cast_signed().saturating_add(12), crc, content: None }
}

fn size(bytes: &Bytes) -> i32 {
    i32::try_from(bytes.len()).unwrap_or(i32::MAX)
}

/// The codec's name, for a number that Kafka has.
pub(super) fn codec_name(id: u8) -> &'static str {
    Codec::from_id(id).map_or("unknown", Codec::name)
}
