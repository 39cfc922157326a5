//! Expectations are the rows that were measured on real brokers; the rule stands beside each.

mod any;
mod append;
mod brokers;
mod fetch;

use bytes::Bytes;
use kmirror_proto::compress::{Codec, Compressor, compress};
use kmirror_proto::records::{
    BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Placement, RawBatch, RawMessage, RecordError, Stamp,
};

use super::Opened;
use crate::log::Entry;

/// The timestamp of the first record.
const THEN: i64 = 1_600_000_000_000;
/// The time of the append.
const NOW: i64 = 1_796_061_340_575;
/// The log holds three records already.
const NEXT: i64 = 3;

/// One record without its offset.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Record `n` of the measurement: a millisecond after the one before.
fn told(n: i64) -> Told {
    let value = format!("value {n} {}", "x".repeat(60));
    let (key, value) = (format!("key-{}", n % 10).into_bytes(), value.into_bytes()[..64].to_vec());
    Told { timestamp: THEN + n, key: Some(key), value: Some(value), headers: Vec::new() }
}

/// A batch of magic 2 from an offset on.
fn batch(codec: Codec, base_offset: i64, records: &[Told]) -> Entry {
    let mut builder = BatchBuilder::new(codec, None);
    builder.set_placement(Placement { base_offset, leader_epoch: 0, ..Placement::NONE });
    for told in records {
        let headers: Vec<_> = told.headers.iter().map(|(name, value)| (&name[..], value.as_deref())).collect();
        let headers = HeadersSource::List(&headers);
        builder.push(told.timestamp, told.key.as_deref(), told.value.as_deref(), headers).unwrap();
    }
    Entry::read(builder.finish(Stamp::NONE).unwrap()).unwrap()
}

/// Messages or a wrapper of magic 0 or 1 from an offset on.
fn set(format: MessageFormat, codec: Codec, base_offset: i64, records: &[Told]) -> Vec<Entry> {
    let mut builder = MessageSetBuilder::new(format, codec);
    builder.set_base_offset(base_offset);
    for told in records {
        builder.push(told.timestamp, told.key.as_deref(), told.value.as_deref()).unwrap();
    }
    super::rewrite::entries(builder.finish().unwrap()).unwrap()
}

/// A wrapper as some producer sent it: any offsets inside and outside, the largest timestamp as its own.
fn sent_wrapper(format: MessageFormat, codec: Codec, outer: i64, inner: &[i64]) -> RawMessage {
    let mut plain = Vec::new();
    for (n, offset) in (0..).zip(inner) {
        let message = set(format, Codec::None, 0, &[told(n)]).remove(0);
        plain.extend(offset.to_be_bytes());
        plain.extend(&message.bytes[8..]);
    }
    let mut value = Vec::new();
    match format {
        MessageFormat::V0 => Compressor::new().compress_magic_0(codec, &plain, &mut value).unwrap(),
        MessageFormat::V1 => compress(codec, &plain, &mut value).unwrap(),
    }
    let last = i64::try_from(inner.len()).unwrap() - 1;
    let whole = Told { timestamp: THEN + last, key: None, value: Some(value), headers: Vec::new() };
    let mut bytes = set(format, Codec::None, outer, &[whole]).remove(0).bytes.to_vec();
    bytes[17] = codec.id();
    let crc = crc32fast::hash(&bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_be_bytes());
    RawMessage::from_bytes(Bytes::from(bytes)).unwrap()
}

fn opened_sent(message: &RawMessage) -> Opened {
    Opened::sent(message).unwrap()
}

/// The records of stored entries, with their offsets. Checksums must be right, inside of wrappers too.
fn read(entries: &[Entry]) -> Vec<(i64, Told)> {
    let mut all = Vec::new();
    for entry in entries {
        let opened = Opened::stored(entry).unwrap();
        match &opened {
            Opened::Batch(..) => assert!(RawBatch::from_bytes(entry.bytes.clone()).unwrap().crc_ok()),
            Opened::Messages(inner) => {
                assert!(RawMessage::from_bytes(entry.bytes.clone()).unwrap().crc_ok());
                assert!(inner.iter().all(|message| message.unwrap().crc_ok()));
            }
        }
        opened
            .each(|record| {
                let headers = record.headers.iter().map(|(name, value)| (name.to_vec(), value.map(Vec::from)));
                let told = Told {
                    timestamp: record.timestamp,
                    key: record.key.map(Vec::from),
                    value: record.value.map(Vec::from),
                    headers: headers.collect(),
                };
                all.push((record.offset, told));
                Ok::<_, RecordError>(())
            })
            .unwrap();
    }
    all
}

/// The entries as the measurement writes them: magic, offsets, attributes.
fn shown(entries: &[Entry]) -> String {
    let one = |entry: &Entry| {
        let attributes = match entry.magic {
            2 => entry.bytes[22],
            _ => entry.bytes[17],
        };
        match entry.magic {
            2 => {
                let count = i32::from_be_bytes(entry.bytes[57..61].try_into().unwrap());
                format!("m2[{}..{}]n{count}a{attributes:x}", entry.base_offset, entry.last_offset)
            }
            magic => format!("m{magic}@{}a{attributes:x}", entry.last_offset),
        }
    };
    let all: Vec<String> = entries.iter().map(one).collect();
    if all.len() <= 6 {
        return all.join(" ");
    }
    let (first, last) = (all[..3].join(" "), all[all.len() - 2..].join(" "));
    format!("{first} ..{} more.. {last}", all.len() - 5)
}
