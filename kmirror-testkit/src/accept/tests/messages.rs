//! Messages of magic 0 and 1 to be sent, and how the measurement wrote what became of a set of entries.

use kmirror_proto::compress::Compressor;
use kmirror_proto::records::{Entry, RawBatch, RawMessage, split};

use super::*;

/// A message with these fields. Magic 0 has no timestamp.
pub(super) struct Message {
    pub(super) magic: u8,
    pub(super) offset: i64,
    pub(super) attributes: u8,
    pub(super) timestamp: i64,
    pub(super) key: Option<&'static [u8]>,
    pub(super) value: Option<Vec<u8>>,
}

impl Message {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut body = vec![self.magic, self.attributes];
        if self.magic == 1 {
            body.extend(self.timestamp.to_be_bytes());
        }
        for field in [self.key, self.value.as_deref()] {
            body.extend(field.map_or(-1, |field| i32::try_from(field.len()).unwrap()).to_be_bytes());
            body.extend(field.unwrap_or_default());
        }
        let size = i32::try_from(body.len() + 4).unwrap();
        [&self.offset.to_be_bytes()[..], &size.to_be_bytes(), &crc32fast::hash(&body).to_be_bytes(), &body].concat()
    }
}

/// A message with a key, a value and no codec.
pub(super) fn plain(magic: u8, offset: i64, timestamp: i64) -> Message {
    Message { magic, offset, attributes: 0, timestamp, key: Some(b"key"), value: Some(b"value".to_vec()) }
}

/// Messages with these offsets, their timestamps a millisecond apart.
pub(super) fn set(magic: u8, offsets: &[i64]) -> Vec<u8> {
    offsets.iter().zip(THEN..).flat_map(|(&offset, timestamp)| plain(magic, offset, timestamp).bytes()).collect()
}

/// A wrapper around a set, under an offset, with the timestamp of the third message.
pub(super) fn wrapper(magic: u8, offset: i64, codec: Codec, set: &[u8]) -> Message {
    let mut value = Vec::new();
    let mut compressor = Compressor::new();
    if magic == 0 {
        compressor.compress_magic_0(codec, set, &mut value).unwrap();
    } else {
        compressor.compress(codec, set, &mut value).unwrap();
    }
    if codec == Codec::Gzip {
        // Another operating system than the one that the broker's encoder names: what it writes anew shows.
        value[9] ^= 1;
    }
    Message { magic, offset, attributes: codec.id(), timestamp: THEN + 2, key: None, value: Some(value) }
}

/// The usual wrapper: gzip, offsets 0, 1, 2, under 2.
pub(super) fn gzip(magic: u8) -> Vec<u8> {
    wrapper(magic, 2, Codec::Gzip, &set(magic, &[0, 1, 2])).bytes()
}

/// How the measurement writes what became of a set of entries: entry by entry if they are as many as before. Sizes of
/// what was compressed again are left out: they are another encoder's.
pub(super) fn shown(sent: &[u8], stored: &[u8]) -> String {
    let (old, new) = (entries(sent), entries(stored));
    match (&old[..], &new[..]) {
        (_, []) => "base=-1".to_owned(),
        ([old], [new]) => changed(old, new),
        _ if old.len() == new.len() => {
            let changed = old.iter().zip(&new).enumerate().map(|(n, (old, new))| format!("#{n}:{}", changed(old, new)));
            changed.collect::<Vec<_>>().join(" | ")
        }
        (_, [first, ..]) => format!("{} entries -> {} entries {}", old.len(), new.len(), told(first)),
    }
}

fn entries(records: &[u8]) -> Vec<Entry> {
    let whole = |entry: &Entry| !matches!(entry, Entry::Partial(_));
    split(Bytes::copy_from_slice(records)).map(Result::unwrap).filter(whole).collect()
}

fn changed(old: &Entry, new: &Entry) -> String {
    match (old, new) {
        (Entry::Message(old), Entry::Message(new)) if old.magic == new.magic => message_changed(old, new),
        (Entry::Batch(old), Entry::Batch(new)) => difference(old.bytes(), new.bytes()),
        _ => format!("magic {}->{} ({} crcok=True)", magic(old), magic(new), within(new)),
    }
}

fn message_changed(old: &RawMessage, new: &RawMessage) -> String {
    assert!(new.crc_ok(), "the stored CRC is right");
    let field = |name: &str, old: i64, new: i64| {
        let new_shown = if new == NOW { "NOW".to_owned() } else { new.to_string() };
        (old != new).then(|| format!("{name} {old}->{new_shown}"))
    };
    let unsigned = |attributes: i8| i64::from(attributes.cast_unsigned());
    let changes = [
        field("offset", old.offset, new.offset),
        (old.bytes()[12..16] != new.bytes()[12..16]).then(|| "crc".to_owned()),
        field("attributes", unsigned(old.attributes), unsigned(new.attributes)),
        field("timestamp", old.timestamp, new.timestamp),
        (old.value() != new.value()).then(|| "VALUE differs".to_owned()),
    ];
    format!("changed: {}", changes.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn told(entry: &Entry) -> String {
    let magic = magic(entry);
    match entry {
        Entry::Batch(batch) => {
            let header = &batch.header;
            assert!(batch.crc_ok());
            format!(
                "magic{magic} attrs=0x{:x} count={} lod={} pid={} base={}",
                header.attributes.0,
                header.records_count,
                header.last_offset_delta,
                header.producer_id,
                header.base_offset
            )
        }
        Entry::Message(_) | Entry::Partial(_) => format!("magic{magic} {}", within(entry)),
    }
}

fn within(entry: &Entry) -> String {
    match entry {
        Entry::Batch(batch) => batch_within(batch),
        Entry::Message(message) => {
            assert!(message.crc_ok());
            let timestamp = match message.timestamp {
                _ if message.magic == 0 => "None".to_owned(),
                NOW => "NOW".to_owned(),
                timestamp => timestamp.to_string(),
            };
            format!("attrs=0x{:x} off={} ts={timestamp}", message.attributes, message.offset)
        }
        Entry::Partial(_) => unreachable!("only whole entries are looked at"),
    }
}

fn batch_within(batch: &RawBatch) -> String {
    let header = &batch.header;
    assert!(batch.crc_ok());
    format!("attrs=0x{:x} count={} pid={}", header.attributes.0, header.records_count, header.producer_id)
}

fn magic(entry: &Entry) -> i8 {
    match entry {
        Entry::Batch(_) => 2,
        Entry::Message(message) => message.magic,
        Entry::Partial(_) => -1,
    }
}
