//! Reads a broker's `.log` segment files, as they lie on its disk: the bytes that no client shows.
//!
//! ```text
//! magic 2   base offset 8 │ length 4 │ leader epoch 4 │ magic 1 │ crc 4 │ attributes 2 │ last delta 4 │ base time 8 │
//!           max time 8 │ producer id 8 │ epoch 2 │ base sequence 4 │ count 4 ║ payload (from byte 61)
//! magic 0/1 offset 8 │ length 4 │ crc 4 │ magic 1 │ attributes 1 │ (magic 1: timestamp 8) ║ key and value
//! ```
//!
//! Source: `org.apache.kafka.common.record.DefaultRecordBatch` and `LegacyRecord`. Written apart from the product's own
//! reader on purpose.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::brokers::Node;
use crate::failure::{Context as _, ensure};
use crate::sha256::{Digest, Sha256};
use crate::{Failure, Result};

/// A record batch, or one outer message of an older set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Magic 2.
    Batch(Batch),
    /// Magic 0 or 1; a compressed one wraps others.
    Message(Message),
}

/// A magic 2 batch: every field of its header, and what follows as a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Kafka's own names of the header fields, in their order")]
pub struct Batch {
    pub base_offset: i64,
    pub batch_length: i32,
    pub partition_leader_epoch: i32,
    pub crc: u32,
    pub attributes: i16,
    pub last_offset_delta: i32,
    pub base_timestamp: i64,
    pub max_timestamp: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub base_sequence: i32,
    pub records_count: i32,
    /// The hash of everything after the 61 bytes.
    pub payload: Digest,
}

impl Batch {
    /// Whether readers take it for part of a transaction (bit 4).
    pub fn is_transactional(&self) -> bool {
        self.attributes & 0x10 != 0
    }

    /// Whether it is a marker, not data (bit 5).
    pub fn is_control(&self) -> bool {
        self.attributes & 0x20 != 0
    }

    /// 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    pub fn codec(&self) -> i16 {
        self.attributes & 7
    }
}

/// An outer message of magic 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Of the wrapper: that of its last inner message.
    pub offset: i64,
    /// 0 or 1.
    pub magic: i8,
    /// As stored.
    pub crc: u32,
    /// Codec in bits 0-2, LogAppendTime in bit 3.
    pub attributes: i8,
    /// `None` for magic 0.
    pub timestamp: Option<i64>,
    /// The hash of key and value with their lengths.
    pub payload: Digest,
}

/// The entries of each partition of `topic` that a broker has on its disk, in order.
///
/// Offsets that go back within a partition are a failure: such a log is broken whatever clients say.
pub fn read(node: &Node, topic: &str) -> Result<BTreeMap<u32, Vec<Entry>>> {
    read_in(&node.log_dir(), topic)
}

/// [`read`] of a folder that is laid out as a broker's.
pub fn read_in(folder: &Path, topic: &str) -> Result<BTreeMap<u32, Vec<Entry>>> {
    let mut partitions = BTreeMap::new();
    for folder in list(folder)? {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some((of, number)) = name.rsplit_once('-') else {
            continue;
        };
        if of == topic
            && let Ok(number) = number.parse::<u32>()
        {
            let entries = partition(&folder).map_err(|failure| Failure::new(format!("{name}: {failure}")))?;
            partitions.insert(number, entries);
        }
    }
    Ok(partitions)
}

/// Fails if a batch of the topic carries the transactional bit: on 0.11 … 2.x it would hide what follows it from
/// `read_committed` readers for ever, and a mirror opens no transactions.
pub fn assert_no_transactions(partitions: &BTreeMap<u32, Vec<Entry>>) -> Result {
    for (partition, entries) in partitions {
        for batch in batches(entries) {
            ensure(!batch.is_transactional(), || format!("partition {partition}: transactional bit set: {batch:?}"))?;
        }
    }
    Ok(())
}

/// Fails unless two logs hold the same batches: the same payload bytes under the same offsets, counts, codecs and
/// times. Who wrote them (producer id, epoch, sequence), the leader epoch and hence the checksum may differ.
pub fn assert_same_payloads(source: &BTreeMap<u32, Vec<Entry>>, target: &BTreeMap<u32, Vec<Entry>>) -> Result {
    ensure(source.keys().eq(target.keys()), || format!("partitions {:?} and {:?}", source.keys(), target.keys()))?;
    for (partition, source) in source {
        let (want, have) = (batches(source).collect::<Vec<_>>(), batches(&target[partition]).collect::<Vec<_>>());
        for (index, (want, have)) in want.iter().zip(&have).enumerate() {
            let same = kept(want) == kept(have);
            ensure(same, || format!("partition {partition}, batch {index} differs\nsource {want:?}\ntarget {have:?}"))?;
        }
        let (want, have) = (want.len(), have.len());
        ensure(want == have, || format!("partition {partition}: {want} batches at the source, {have} at the target"))?;
    }
    Ok(())
}

/// The batches among the entries.
pub fn batches(entries: &[Entry]) -> impl Iterator<Item = &Batch> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Batch(batch) => Some(batch),
        Entry::Message(_) => None,
    })
}

/// What a mirror hands on as it is.
fn kept(batch: &Batch) -> (i64, i32, i32, i16, i64, i64, Digest) {
    let Batch {
        base_offset, last_offset_delta, records_count, attributes, base_timestamp, max_timestamp, payload, ..
    } = *batch;
    (base_offset, last_offset_delta, records_count, attributes, base_timestamp, max_timestamp, payload)
}

fn partition(folder: &Path) -> Result<Vec<Entry>> {
    let mut segments = list(folder)?;
    // Twenty digits of the first offset: the order of the names is that of the offsets.
    segments.retain(|file| file.extension().is_some_and(|ending| ending == "log"));
    segments.sort();
    let mut entries = Vec::new();
    for segment in segments {
        let bytes = fs::read(&segment).context(|| format!("reading {}", segment.display()))?;
        parse(&bytes, &mut entries).map_err(|failure| Failure::new(format!("{}: {failure}", segment.display())))?;
    }
    let mut next = 0;
    for entry in &entries {
        let (first, last) = match entry {
            Entry::Batch(batch) => (batch.base_offset, batch.base_offset + i64::from(batch.last_offset_delta)),
            Entry::Message(message) => (message.offset, message.offset),
        };
        ensure(first >= next, || format!("offset {first} behind {next}: {entry:?}"))?;
        next = last + 1;
    }
    Ok(entries)
}

fn parse(mut bytes: &[u8], entries: &mut Vec<Entry>) -> Result {
    const HEAD: usize = 12;
    while bytes.len() >= HEAD {
        let mut fields = Fields(bytes);
        let offset = fields.i64()?;
        let length = fields.i32()?;
        // A segment that a broker has open may be preallocated with zeros.
        if length == 0 {
            break;
        }
        let size = HEAD + usize::try_from(length).map_err(|_| Failure::new(format!("length {length}")))?;
        let Some((entry, rest)) = bytes.split_at_checked(size) else {
            return Err(Failure::new(format!("the entry at offset {offset} is cut off")));
        };
        entries.push(parse_entry(entry)?);
        bytes = rest;
    }
    Ok(())
}

fn parse_entry(bytes: &[u8]) -> Result<Entry> {
    const MAGIC: usize = 16;
    match bytes.get(MAGIC) {
        Some(2) => parse_batch(bytes).map(Entry::Batch),
        Some(0 | 1) => parse_message(bytes).map(Entry::Message),
        magic => Err(Failure::new(format!("magic {magic:?}"))),
    }
}

fn parse_batch(bytes: &[u8]) -> Result<Batch> {
    let mut fields = Fields(bytes);
    let base_offset = fields.i64()?;
    let batch_length = fields.i32()?;
    let partition_leader_epoch = fields.i32()?;
    fields.array::<1>()?; // magic
    Ok(Batch {
        base_offset,
        batch_length,
        partition_leader_epoch,
        crc: fields.array().map(u32::from_be_bytes)?,
        attributes: fields.array().map(i16::from_be_bytes)?,
        last_offset_delta: fields.i32()?,
        base_timestamp: fields.i64()?,
        max_timestamp: fields.i64()?,
        producer_id: fields.i64()?,
        producer_epoch: fields.array().map(i16::from_be_bytes)?,
        base_sequence: fields.i32()?,
        records_count: fields.i32()?,
        payload: Sha256::of(fields.0),
    })
}

fn parse_message(bytes: &[u8]) -> Result<Message> {
    let mut fields = Fields(bytes);
    let offset = fields.i64()?;
    fields.i32()?; // length
    let crc = fields.array().map(u32::from_be_bytes)?;
    let [magic] = fields.array().map(|bytes: [u8; 1]| bytes.map(u8::cast_signed))?;
    let [attributes] = fields.array().map(|bytes: [u8; 1]| bytes.map(u8::cast_signed))?;
    let timestamp = if magic == 0 { None } else { Some(fields.i64()?) };
    Ok(Message { offset, magic, crc, attributes, timestamp, payload: Sha256::of(fields.0) })
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>().ok_or_else(|| Failure::new("the entry ends early"))?;
        self.0 = rest;
        Ok(*field)
    }

    fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).context(|| format!("listing {}", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<std::io::Result<_>>().context(|| format!("listing {}", folder.display()))
}
