//! Logs for tests: batches and message sets as brokers store them, with every oddity that `crate::rules` names.
//!
//! Record n of a log has the key `k<n>`, the value `v<n>` and the timestamp [`T0`] + n, so that what came out says where
//! it came from.

mod admin;
pub(crate) mod broker;
mod log;
pub(crate) mod network;

use bytes::{BufMut, Bytes, BytesMut};
use kmirror_proto::compress::{Codec, compress};
use kmirror_proto::records::{
    BatchBuilder, Entry, HeadersSource, MessageFormat, MessageSetBuilder, RawBatch, Stamp, crc32c, split,
};

use crate::plan::{SourceRecord, decode};

/// 2023-11-14: the timestamp of record 0, milliseconds.
pub(crate) const T0: i64 = 1_700_000_000_000;

/// The transactional bit of a batch's attributes.
pub(crate) const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;
const APPEND_TIME: i16 = 0x08;

/// One magic 2 batch.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) base: i64,
    /// The offset deltas of its records.
    pub(crate) deltas: Vec<i32>,
    /// The last one, which compaction keeps when it removes records.
    pub(crate) last: i32,
    pub(crate) codec: Codec,
    pub(crate) attributes: i16,
    pub(crate) stamp: Stamp,
    /// The timestamp of record 0.
    pub(crate) t0: i64,
    pub(crate) headers: u8,
    /// The largest timestamp that the header names; by default that of the last record.
    pub(crate) timestamp_max: Option<i64>,
    /// Bytes in front of each value.
    pub(crate) padding: usize,
    control: Option<i16>,
}

impl Batch {
    /// `records` records from offset `base` on.
    pub(crate) fn new(base: i64, records: i32) -> Self {
        Self::gapped(base, (0..records).collect(), records - 1)
    }

    /// What compaction left of a batch.
    pub(crate) fn gapped(base: i64, deltas: Vec<i32>, last: i32) -> Self {
        Self {
            base,
            deltas,
            last,
            codec: Codec::None,
            attributes: 0,
            stamp: Stamp::NONE,
            t0: T0,
            headers: 0,
            timestamp_max: None,
            padding: 0,
            control: None,
        }
    }

    /// A transaction's marker: 0 abort, 1 commit.
    pub(crate) fn marker(base: i64, producer: i64, kind: i16) -> Self {
        let mut batch = Self::new(base, 1).transactional(producer);
        batch.attributes |= CONTROL;
        batch.stamp.base_sequence = -1;
        batch.control = Some(kind);
        batch
    }

    pub(crate) fn codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    pub(crate) fn headers(mut self, headers: u8) -> Self {
        self.headers = headers;
        self
    }

    pub(crate) fn padding(mut self, padding: usize) -> Self {
        self.padding = padding;
        self
    }

    /// Stored by a topic with append time, at `at`.
    pub(crate) fn append_time(mut self, at: i64) -> Self {
        self.attributes |= APPEND_TIME;
        self.timestamp_max = Some(at);
        self
    }

    pub(crate) fn transactional(mut self, producer: i64) -> Self {
        self.attributes |= TRANSACTIONAL;
        self.stamp = Stamp { producer_id: producer, producer_epoch: 0, base_sequence: 0 };
        self
    }

    pub(crate) fn stamp(mut self, producer_id: i64, producer_epoch: i16, base_sequence: i32) -> Self {
        self.stamp = Stamp { producer_id, producer_epoch, base_sequence };
        self
    }

    pub(crate) fn raw(&self) -> RawBatch {
        RawBatch::from_bytes(self.bytes()).unwrap()
    }

    pub(crate) fn entry(&self) -> Entry {
        Entry::Batch(self.raw())
    }

    /// As it lies in the log.
    pub(crate) fn bytes(&self) -> Bytes {
        let mut records = BytesMut::new();
        for delta in &self.deltas {
            let record = self.record(*delta);
            varint(&mut records, i64::try_from(record.len()).unwrap());
            records.put_slice(&record);
        }
        let mut payload = records.to_vec();
        if self.codec != Codec::None {
            payload.clear();
            compress(self.codec, &records, &mut payload).unwrap();
        }
        let mut body = BytesMut::new();
        body.put_i16(self.attributes | codec_bits(self.codec));
        body.put_i32(self.last);
        body.put_i64(self.t0 + self.base);
        let last = self.deltas.last().copied().unwrap_or(0);
        body.put_i64(self.timestamp_max.unwrap_or(self.t0 + self.base + i64::from(last)));
        body.put_i64(self.stamp.producer_id);
        body.put_i16(self.stamp.producer_epoch);
        body.put_i32(self.stamp.base_sequence);
        body.put_i32(i32::try_from(self.deltas.len()).unwrap());
        body.put_slice(&payload);
        let mut bytes = BytesMut::new();
        bytes.put_i64(self.base);
        bytes.put_i32(i32::try_from(body.len() + 9).unwrap());
        bytes.put_i32(0);
        bytes.put_i8(2);
        bytes.put_u32(crc32c(&body));
        bytes.put_slice(&body);
        bytes.freeze()
    }

    fn record(&self, delta: i32) -> BytesMut {
        let offset = self.base + i64::from(delta);
        let (key, value) = match self.control {
            Some(kind) => ([&[0, 0][..], &kind.to_be_bytes()].concat(), vec![0; 6]),
            None => (key_of(offset), [vec![b'.'; self.padding], value_of(offset)].concat()),
        };
        let mut record = BytesMut::new();
        record.put_i8(0);
        varint(&mut record, i64::from(delta));
        varint(&mut record, i64::from(delta));
        for part in [key, value] {
            varint(&mut record, i64::try_from(part.len()).unwrap());
            record.put_slice(&part);
        }
        varint(&mut record, i64::from(self.headers));
        for header in 0..self.headers {
            varint(&mut record, 1);
            record.put_u8(b'a' + header);
            varint(&mut record, -1);
        }
        record
    }
}

/// A batch of one record with this key and value.
pub(crate) fn record(offset: i64, key: &[u8], value: &[u8]) -> Bytes {
    let mut builder = BatchBuilder::new(Codec::None, None);
    builder.push(T0, Some(key), Some(value), HeadersSource::None).unwrap();
    let mut bytes = builder.finish(Stamp::NONE).unwrap().to_vec();
    bytes[..8].copy_from_slice(&offset.to_be_bytes());
    bytes.into()
}

/// A plain magic 1 message.
pub(crate) fn message(offset: i64) -> Bytes {
    message_of(offset, 0, T0 + offset, Some(&key_of(offset)), Some(&value_of(offset)))
}

/// A compressed magic 1 wrapper of the messages at `offsets`.
pub(crate) fn wrapper(codec: Codec, offsets: &[i64]) -> Bytes {
    wrapper_with(codec, offsets, 0, None)
}

/// A wrapper as it was written under `first` (its inner offsets are relative to that), with an append time if given.
pub(crate) fn wrapper_with(codec: Codec, offsets: &[i64], lead: i64, append_time: Option<i64>) -> Bytes {
    let first = offsets[0] - lead;
    let inner: Vec<u8> = offsets.iter().flat_map(|offset| inner_message(*offset, offset - first)).collect();
    let mut value = Vec::new();
    compress(codec, &inner, &mut value).unwrap();
    let last = *offsets.last().unwrap();
    let bits = i8::try_from(codec_bits(codec)).unwrap() | if append_time.is_some() { 8 } else { 0 };
    message_of(last, bits, append_time.unwrap_or(T0 + last), None, Some(&value))
}

/// A plain magic 0 message.
pub(crate) fn old_message(offset: i64) -> Bytes {
    old_set(Codec::None, &[offset])
}

/// A compressed magic 0 wrapper of the messages at `offsets`, or those messages.
pub(crate) fn old_set(codec: Codec, offsets: &[i64]) -> Bytes {
    let mut builder = MessageSetBuilder::new(MessageFormat::V0, codec);
    for &offset in offsets {
        builder.push_at(offset, -1, Some(&key_of(offset)), Some(&value_of(offset))).unwrap();
    }
    builder.finish().unwrap()
}

fn inner_message(offset: i64, relative: i64) -> Bytes {
    message_of(relative, 0, T0 + offset, Some(&key_of(offset)), Some(&value_of(offset)))
}

/// Any magic 1 message.
pub(crate) fn message_of(
    offset: i64,
    attributes: i8,
    timestamp: i64,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Bytes {
    let mut body = BytesMut::new();
    body.put_i8(1);
    body.put_i8(attributes);
    body.put_i64(timestamp);
    for part in [key, value] {
        body.put_i32(part.map_or(-1, |part| i32::try_from(part.len()).unwrap()));
        body.put_slice(part.unwrap_or_default());
    }
    let mut bytes = BytesMut::new();
    bytes.put_i64(offset);
    bytes.put_i32(i32::try_from(body.len() + 4).unwrap());
    bytes.put_u32(crc32(&body));
    bytes.put_slice(&body);
    bytes.freeze()
}

/// The only entry of these bytes.
pub(crate) fn entry(bytes: Bytes) -> Entry {
    split(bytes).next().unwrap().unwrap()
}

/// Whether an entry is a compressed wrapper.
pub(crate) fn is_wrapper(entry: &Entry) -> bool {
    match entry {
        Entry::Message(message) => message.codec() != Ok(Codec::None),
        Entry::Batch(_) | Entry::Partial(_) => false,
    }
}

/// One record, as tests compare it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    pub(crate) offset: i64,
    pub(crate) timestamp: i64,
    pub(crate) key: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) headers: usize,
}

impl Seen {
    fn of(record: &SourceRecord<'_>) -> Self {
        let text = |part: Option<&[u8]>| part.map(|part| String::from_utf8_lossy(part).trim_matches('.').to_owned());
        Self {
            offset: record.offset,
            timestamp: record.timestamp,
            key: text(record.key),
            value: text(record.value),
            headers: record.headers.count(),
        }
    }
}

/// Every record of a log or an answer, control records and all.
pub(crate) fn records_of(bytes: Bytes) -> Vec<Seen> {
    let mut seen = Vec::new();
    for entry in split(bytes) {
        decode(&entry.unwrap(), |record| {
            seen.push(Seen::of(&record));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    }
    seen
}

/// These pieces of a log behind each other.
pub(crate) fn joined(parts: &[Bytes]) -> Bytes {
    Bytes::from(parts.concat())
}

pub(crate) fn key_of(offset: i64) -> Vec<u8> {
    format!("k{offset}").into_bytes()
}

pub(crate) fn value_of(offset: i64) -> Vec<u8> {
    format!("v{offset}").into_bytes()
}

fn codec_bits(codec: Codec) -> i16 {
    match codec {
        Codec::None => 0,
        Codec::Gzip => 1,
        Codec::Snappy => 2,
        Codec::Lz4 => 3,
        Codec::Zstd => 4,
    }
}

fn varint(out: &mut BytesMut, value: i64) {
    let mut zigzag = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while zigzag >= 0x80 {
        out.put_u8(u8::try_from(zigzag & 0x7f).unwrap() | 0x80);
        zigzag >>= 7;
    }
    out.put_u8(u8::try_from(zigzag).unwrap());
}

/// The CRC-32 of zlib, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}
