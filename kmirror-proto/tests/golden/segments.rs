//! Segment files: each format and codec as brokers store it.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, Decompressor};
use kmirror_proto::records::{
    BatchBuilder, BatchHeader, Entry, HeadersSource, MessageFormat, MessageSetBuilder, Placement, RawBatch, RawMessage,
    Records, Stamp, messages, split,
};

use super::{Row, rows, vectors};

const BYTES_MAX: usize = 1 << 20;

/// One entry of a set.
pub(super) enum Stored {
    Batch(RawBatch),
    Message(RawMessage),
}

impl Stored {
    pub(super) fn magic(&self) -> i8 {
        match self {
            Stored::Batch(_) => 2,
            Stored::Message(message) => message.magic,
        }
    }

    fn codec(&self) -> Codec {
        match self {
            Stored::Batch(batch) => batch.header.attributes.codec().unwrap(),
            Stored::Message(message) => message.codec().unwrap(),
        }
    }

    /// The time of the append, if it stands for all timestamps.
    fn append_time(&self) -> Option<i64> {
        match self {
            Stored::Batch(batch) => batch.header.attributes.append_time().then_some(batch.header.max_timestamp),
            Stored::Message(message) => message.append_time().then_some(message.timestamp),
        }
    }
}

/// A whole set: its entries, and its records with their offsets. Every checksum has to be right.
pub(super) fn told(set: Bytes) -> (Vec<Stored>, Vec<(i64, Row)>) {
    let (mut entries, mut found) = (Vec::new(), Vec::new());
    for entry in split(set) {
        match entry.unwrap() {
            Entry::Batch(batch) => {
                assert!(batch.crc_ok());
                for record in &Records::of(&batch, BYTES_MAX).unwrap() {
                    let record = record.unwrap();
                    let row = Row {
                        timestamp: batch.header.timestamp_of(&record),
                        key: record.key.map(Vec::from),
                        value: record.value.map(Vec::from),
                        headers: record
                            .headers
                            .iter()
                            .map(|(name, value)| (name.into(), value.map(Vec::from)))
                            .collect(),
                    };
                    found.push((batch.header.offset_of(&record), row));
                }
                entries.push(Stored::Batch(batch));
            }
            Entry::Message(message) => {
                assert!(message.crc_ok());
                for inner in &messages(&message, BYTES_MAX).unwrap() {
                    let inner = inner.unwrap();
                    assert!(inner.crc_ok());
                    let (key, value) = (inner.key.map(Vec::from), inner.value.map(Vec::from));
                    found.push((inner.offset, Row { timestamp: inner.timestamp, key, value, headers: Vec::new() }));
                }
                entries.push(Stored::Message(message));
            }
            Entry::Partial(partial) => panic!("{partial:?}"),
        }
    }
    (entries, found)
}

/// Magic, codec, and whether the broker set the time, as the name of a topic says.
fn named(name: &str) -> (i8, &str, bool) {
    let rest = name.strip_prefix("magic").unwrap();
    let (magic, codec) = rest.split_once('-').unwrap();
    let bare = codec.strip_suffix("-appended");
    (magic.parse().unwrap(), bare.unwrap_or(codec), bare.is_some())
}

#[test]
fn segments_hold_what_was_written() {
    for vector in vectors() {
        let ["segment", name] = vector.words[..] else { continue };
        let what = format!("{name} of {}", vector.release);
        let (magic, codec, appended) = named(name);
        let (entries, found) = told(vector.bytes);
        let mut expected = rows(magic == 2);
        for entry in &entries {
            assert_eq!((entry.magic(), entry.codec().name()), (magic, codec), "{what}");
            assert_eq!(entry.append_time().is_some(), appended, "{what}");
        }
        for row in &mut expected {
            row.timestamp = if magic == 0 { -1 } else { entries[0].append_time().unwrap_or(row.timestamp) };
        }
        assert!(found.into_iter().eq((0..).zip(expected)), "{what}");
    }
}

#[test]
fn what_is_in_a_segment_is_written_again_to_the_same_bytes() {
    for vector in vectors() {
        let ["segment", name] = vector.words[..] else { continue };
        let what = format!("{name} of {}", vector.release);
        let (entries, _) = told(vector.bytes.clone());
        match &entries[..] {
            [Stored::Batch(batch)] => batch_again(batch, &what),
            [Stored::Message(wrapper)] => wrapper_again(wrapper, &what),
            run => {
                let built = plain_set(run[0].magic(), run[0].append_time());
                assert_eq!(built, vector.bytes, "{what}");
            }
        }
    }
}

/// The same header but for what the codec's bytes decide, and the same records in front of the codec.
fn batch_again(stored: &RawBatch, what: &str) {
    let header = stored.header;
    let codec = header.attributes.codec().unwrap();
    let mut builder = BatchBuilder::new(codec, None);
    builder.set_placement(Placement {
        base_offset: 0,
        leader_epoch: header.partition_leader_epoch,
        append_time: header.attributes.append_time().then_some(header.max_timestamp),
        transactional: false,
    });
    for row in rows(true) {
        let headers: Vec<_> = row.headers.iter().map(|(name, value)| (&name[..], value.as_deref())).collect();
        let headers = HeadersSource::List(&headers);
        builder.push(row.timestamp, row.key.as_deref(), row.value.as_deref(), headers).unwrap();
    }
    let BatchHeader { producer_id, producer_epoch, base_sequence, .. } = header;
    let ours = builder.finish(Stamp { producer_id, producer_epoch, base_sequence }).unwrap();
    if codec == Codec::None {
        assert_eq!(&ours, stored.bytes(), "{what}");
    }
    let ours = RawBatch::from_bytes(ours).unwrap();
    let (batch_length, crc) = (header.batch_length, header.crc);
    assert_eq!(BatchHeader { batch_length, crc, ..ours.header }, header, "{what}");
    let plain = |batch: &RawBatch| Decompressor::new().decompress(codec, &batch.payload(), BYTES_MAX).unwrap();
    assert_eq!(plain(&ours), plain(stored), "{what}");
}

/// The same messages in front of the codec, and the same fields around it.
fn wrapper_again(stored: &RawMessage, what: &str) {
    let codec = stored.codec().unwrap();
    let value = Bytes::copy_from_slice(stored.value().unwrap());
    let mut decompressor = Decompressor::new();
    let plain = match stored.format() {
        MessageFormat::V0 => decompressor.decompress_magic_0(codec, &value, BYTES_MAX),
        MessageFormat::V1 => decompressor.decompress(codec, &value, BYTES_MAX),
    };
    // What the producer's timestamps were stays inside.
    assert_eq!(plain.unwrap(), plain_set(stored.magic, None), "{what}");
    assert_eq!((stored.offset, stored.key()), (4, None), "{what}");
    let newest = rows(false).iter().map(|row| row.timestamp).max().unwrap();
    match stored.format() {
        MessageFormat::V0 => assert_eq!(stored.timestamp, -1, "{what}"),
        MessageFormat::V1 if stored.append_time() => assert!(stored.timestamp > newest, "{what}"),
        MessageFormat::V1 => assert_eq!(stored.timestamp, newest, "{what}"),
    }
}

/// The records as messages without a codec.
fn plain_set(magic: i8, append_time: Option<i64>) -> Bytes {
    let format = MessageFormat::from_magic(magic).unwrap();
    let mut builder = MessageSetBuilder::new(format, Codec::None);
    builder.set_append_time(append_time);
    for row in rows(false) {
        builder.push(row.timestamp, row.key.as_deref(), row.value.as_deref()).unwrap();
    }
    builder.finish().unwrap()
}
