//! The records that every test of this folder tells again: `vectors/Vectors.java` wrote the same ones.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{
    BatchBuilder, Entry, HeadersSource, MessageFormat, MessageSetBuilder, RawBatch, RawMessage, Records, Stamp,
    messages, split,
};

/// The time of the first record.
pub(crate) const T: i64 = 1_500_000_000_000;
/// Room for any of the payloads here.
pub(crate) const BYTES_MAX: usize = 1 << 20;

/// One record with its absolute offset, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) offset: i64,
    pub(crate) timestamp: i64,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Null and empty keys and values, duplicate headers, a null header value, an empty header, timestamps that go back and
/// far ahead, none at all, and a value that compresses. Magic 0 has no timestamps.
pub(crate) fn story(magic: i8, base_offset: i64) -> Vec<Told> {
    let long = "0123456789".repeat(200);
    let records = [
        (T, Some("key"), Some("value")),
        (T + 5, None, Some("null key")),
        (T - 1000, Some("tombstone"), None),
        (T + 1, None, None),
        (T + 3_000_000_000, Some(""), Some("")),
        (-1, Some("no time"), Some("at all")),
        (0, Some("long"), Some(long.as_str())),
    ];
    let told = records.into_iter().enumerate().map(|(i, (timestamp, key, value))| Told {
        offset: base_offset + i64::try_from(i).unwrap(),
        timestamp: if magic == 0 { -1 } else { timestamp },
        key: key.map(Vec::from),
        value: value.map(Vec::from),
        headers: if i == 0 && magic == 2 { headers() } else { Vec::new() },
    });
    told.collect()
}

fn headers() -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    [("trace", Some("first")), ("trace", Some("second")), ("", Some("")), ("null", None)]
        .into_iter()
        .map(|(name, value)| (Vec::from(name), value.map(Vec::from)))
        .collect()
}

/// The same records as they are read after a broker set their timestamps.
pub(crate) fn appended(mut story: Vec<Told>, timestamp: i64) -> Vec<Told> {
    for told in &mut story {
        told.timestamp = timestamp;
    }
    story
}

/// Builds one batch.
pub(crate) fn batch(codec: Codec, story: &[Told], stamp: Stamp) -> Bytes {
    let mut builder = BatchBuilder::new(codec, None);
    push_all(&mut builder, story);
    builder.finish(stamp).unwrap()
}

/// Pushes all records.
pub(crate) fn push_all(builder: &mut BatchBuilder, story: &[Told]) {
    for told in story {
        let headers: Vec<_> = told.headers.iter().map(|(name, value)| (&name[..], value.as_deref())).collect();
        let headers = HeadersSource::List(&headers);
        builder.push(told.timestamp, told.key.as_deref(), told.value.as_deref(), headers).unwrap();
    }
}

/// Builds one message set from the offset of its first record on.
pub(crate) fn message_set(format: MessageFormat, codec: Codec, story: &[Told]) -> Bytes {
    set_by(&mut MessageSetBuilder::new(format, codec), story)
}

/// Builds one message set with a builder that was used before, or set up otherwise.
pub(crate) fn set_by(builder: &mut MessageSetBuilder, story: &[Told]) -> Bytes {
    builder.set_base_offset(story.first().map_or(0, |told| told.offset));
    for told in story {
        builder.push_at(told.offset, told.timestamp, told.key.as_deref(), told.value.as_deref()).unwrap();
    }
    builder.finish().unwrap()
}

/// Reads a records field of any magic; every CRC, also the inner ones, must be right.
pub(crate) fn told(records: Bytes) -> Vec<Told> {
    let mut found = Vec::new();
    for entry in split(records) {
        match entry.unwrap() {
            Entry::Batch(batch) => found.extend(told_by_batch(&batch)),
            Entry::Message(message) => found.extend(told_by_message(&message)),
            Entry::Partial(partial) => panic!("{partial:?}"),
        }
    }
    found
}

fn told_by_batch(batch: &RawBatch) -> Vec<Told> {
    assert!(batch.crc_ok());
    let records = Records::of(batch, BYTES_MAX).unwrap();
    let told = records.iter().map(|record| {
        let record = record.unwrap();
        assert_eq!(record.headers.iter().count(), record.headers.count());
        Told {
            offset: batch.header.offset_of(&record),
            timestamp: batch.header.timestamp_of(&record),
            key: record.key.map(Vec::from),
            value: record.value.map(Vec::from),
            headers: record.headers.iter().map(|(name, value)| (name.to_vec(), value.map(Vec::from))).collect(),
        }
    });
    told.collect()
}

fn told_by_message(message: &RawMessage) -> Vec<Told> {
    assert!(message.crc_ok());
    let messages = messages(message, BYTES_MAX).unwrap();
    let told = messages.iter().map(|message| {
        let message = message.unwrap();
        assert!(message.crc_ok());
        Told {
            offset: message.offset,
            timestamp: message.timestamp,
            key: message.key.map(Vec::from),
            value: message.value.map(Vec::from),
            headers: Vec::new(),
        }
    });
    told.collect()
}
