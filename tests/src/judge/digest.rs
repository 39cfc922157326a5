//! What a topic holds, as one hash per partition; and the comparison of two topics.

use std::collections::BTreeMap;

use super::WITHIN;
use super::program::Program;
use crate::brokers::Cluster;
use crate::sha256::{Digest, Sha256};
use crate::{Failure, Result};

/// What a reader was given of one partition, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionDigest {
    /// How many records.
    pub count: u64,
    /// The offset of the first record; -1 without one.
    pub first_offset: i64,
    /// The offset of the last record; -1 without one.
    pub last_offset: i64,
    /// The hash over key, value and timestamp of every record: each byte string behind its length as four bytes
    /// big-endian (-1: null), the timestamp as eight.
    pub sha256: Digest,
    /// The hash over the headers of every record: their number, then each name and value, as above.
    pub headers_sha256: Digest,
    /// A sum over the contents of every record (as in `sha256`) in which their order does not count: added up over all
    /// partitions it tells whether two topics hold the same records somewhere.
    pub content_sum: u64,
}

/// A topic on a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Topic<'a> {
    /// Where.
    pub cluster: &'a Cluster,
    /// Its name there.
    pub name: &'a str,
}

/// Reads a topic whole, up to its ends as of now.
pub fn dump(cluster: &Cluster, topic: &str) -> Result<BTreeMap<u32, PartitionDigest>> {
    dump_with(cluster, topic, &[])
}

/// Like [`dump`], with properties for Kafka's consumer, e.g. `isolation.level`.
pub fn dump_with(
    cluster: &Cluster,
    topic: &str,
    properties: &[(&str, &str)],
) -> Result<BTreeMap<u32, PartitionDigest>> {
    let text = Program::on(cluster, "dump").arg(topic).properties(properties).run(WITHIN)?;
    let read = |line| parse(line).ok_or_else(|| Failure::new(format!("dump of {topic}: cannot read {line:?}")));
    text.lines().map(read).collect()
}

/// Fails unless two topics hold the same records in the same order in each partition: keys, values, timestamps, and
/// headers where both releases can hold them. Names the first partition that differs, and its first records that do.
pub fn compare(source: Topic<'_>, target: Topic<'_>) -> Result {
    let headers = source.cluster.release().has_headers() && target.cluster.release().has_headers();
    let (want, have) = (dump(source.cluster, source.name)?, dump(target.cluster, target.name)?);
    if want.keys().ne(have.keys()) {
        let text = format!(
            "source {} has partitions {:?}, target {} {:?}",
            source.name,
            want.keys(),
            target.name,
            have.keys()
        );
        return Err(Failure::new(text));
    }
    for (partition, want) in &want {
        let have = &have[partition];
        let same = want.count == have.count && want.sha256 == have.sha256;
        if same && (!headers || want.headers_sha256 == have.headers_sha256) {
            continue;
        }
        let records = differences(source, target, *partition, headers)?;
        let (topic, from, to) = (source.name, &want, &have);
        let text = format!("{topic}-{partition} differs\nsource {from:?}\ntarget {to:?}\n{records}");
        return Err(Failure::new(text));
    }
    Ok(())
}

/// The first records in which two partitions differ, as text.
fn differences(source: Topic<'_>, target: Topic<'_>, partition: u32, headers: bool) -> Result<String> {
    const LINES: u32 = 5;
    let mut program = Program::on_any("diff").arg(source.cluster.bootstrap()).arg(source.name);
    program = program.arg(target.cluster.bootstrap()).arg(target.name);
    program.arg(partition).arg(headers).arg(LINES).run(WITHIN)
}

fn parse(line: &str) -> Option<(u32, PartitionDigest)> {
    let mut words = line.split(' ');
    let partition = words.next()?.parse().ok()?;
    let digest = PartitionDigest {
        count: words.next()?.parse().ok()?,
        first_offset: words.next()?.parse().ok()?,
        last_offset: words.next()?.parse().ok()?,
        sha256: parse_hex(words.next()?)?,
        headers_sha256: parse_hex(words.next()?)?,
        content_sum: u64::from_str_radix(words.next()?, 16).ok()?,
    };
    words.next().is_none().then_some((partition, digest))
}

fn parse_hex(text: &str) -> Option<Digest> {
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(Digest(bytes))
}

/// What [`produce_counter_at`](super::produce_counter_at) writes, computed here without Java: the judge and this must
/// agree before either is trusted.
#[derive(Clone, Copy, Debug)]
pub struct CounterTopic {
    /// Records over all partitions.
    pub records: u64,
    /// Partitions.
    pub partitions: u32,
    /// The timestamp of record 0; record i has i more.
    pub first_timestamp: i64,
}

impl CounterTopic {
    /// What a reader of `partition` must be given.
    pub fn digest(self, partition: u32) -> PartitionDigest {
        let (mut records, mut headers) = (Sha256::default(), Sha256::default());
        let (mut count, mut content_sum) = (0, 0u64);
        for i in (0..self.records).filter(|i| i % u64::from(self.partitions) == u64::from(partition)) {
            let timestamp = self.first_timestamp.wrapping_add_unsigned(i);
            let no_key = (-1i32).to_be_bytes();
            let record = [&no_key[..], &8i32.to_be_bytes(), &i.to_be_bytes(), &timestamp.to_be_bytes()].concat();
            records.update(&record);
            headers.update(&0i32.to_be_bytes());
            content_sum = content_sum.wrapping_add(mixed(&record));
            count += 1;
        }
        PartitionDigest {
            count,
            first_offset: if count == 0 { -1 } else { 0 },
            last_offset: i64::try_from(count).unwrap_or(i64::MAX) - 1,
            sha256: records.finish(),
            headers_sha256: headers.finish(),
            content_sum,
        }
    }
}

/// FNV-1a, then mixed so that sums of many of them stay far apart.
fn mixed(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}
