//! The judge: Kafka's own Java client fills topics and reads them back; its word decides what arrived.
//!
//! The program is `tests/judge/*.java`, compiled once per machine against the 2.0.0 client. It runs with that client
//! against brokers up to 2.0.0, and with the 3.9.1 client (which 2.1 … 4.x understand, zstd included) against newer ones.

mod program;
mod server;

mod topics;
pub use topics::{Description, add_partitions, create, delete, describe};

mod digest;
pub use digest::{CounterTopic, PartitionDigest, Topic, compare, dump, dump_with};

mod rows;
pub use rows::{Listing, Row, holds, list, write, write_transaction};

mod zoo;
pub use zoo::{codecs, write_zoo};

use std::time::Duration;

use crate::brokers::Cluster;
use crate::failure::ensure;
use crate::process::{self, Guarded};
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

use program::Program;

pub use program::Client;

/// The longest that one run of the judge may take.
const WITHIN: Duration = Duration::from_secs(300);

/// Writes acceptance test 1's records: record i of `records` has no key, i as eight bytes big-endian, and goes to
/// partition i mod P.
pub fn produce_counter(cluster: &Cluster, topic: &str, records: u64) -> Result {
    let program = Program::on(cluster, "produce-counter").arg(topic).arg(records);
    program.run(WITHIN).map(drop)
}

/// Like [`produce_counter`], with the timestamp `first_timestamp` + i for record i: see [`CounterTopic`].
pub fn produce_counter_at(cluster: &Cluster, topic: &str, counter: CounterTopic) -> Result {
    let program = Program::on(cluster, "produce-counter").arg(topic).arg(counter.records);
    program.arg(format!("timestamp={}", counter.first_timestamp)).run(WITHIN).map(drop)
}

/// Writes `records` values of `size` bytes without keys, round robin over the partitions: a load for measurements.
pub fn perf_fill(cluster: &Cluster, topic: &str, records: u64, size: u32) -> Result {
    let program = Program::on(cluster, "perf-fill").arg(topic);
    program.arg(format!("records={records}")).arg(format!("size={size}")).run(WITHIN).map(drop)
}

/// Records of every shape from a seed: null, empty and full keys and values, headers with duplicate and empty names and
/// no values, timestamps out of order and long past, over all partitions.
#[derive(Clone, Debug)]
pub struct Workload {
    records: u64,
    words: Vec<String>,
}

impl Workload {
    /// So many records.
    pub fn of(records: u64) -> Workload {
        Workload { records, words: Vec::new() }
    }

    /// Another seed gives other records.
    pub fn seed(self, seed: u64) -> Workload {
        self.word(format!("seed={seed}"))
    }

    /// No headers: for a topic of 0.10, which cannot hold them.
    pub fn without_headers(self) -> Workload {
        self.word("headers=false".to_owned())
    }

    /// The largest value, in bytes (200 unless said otherwise).
    pub fn value_bytes_max(self, bytes: u32) -> Workload {
        self.word(format!("value={bytes}"))
    }

    /// `none`, `gzip`, `lz4`, `snappy` or `zstd`.
    pub fn codec(self, codec: &str) -> Workload {
        self.property("compression.type", codec)
    }

    /// Any property of Kafka's producer, e.g. `batch.size`.
    pub fn property(self, key: &str, value: &str) -> Workload {
        self.word(format!("{key}={value}"))
    }

    fn word(mut self, word: String) -> Workload {
        self.words.push(word);
        self
    }
}

/// Writes a workload.
pub fn produce(cluster: &Cluster, topic: &str, workload: &Workload) -> Result {
    let mut program = Program::on(cluster, "produce").arg(topic);
    program = program.arg(format!("records={}", workload.records));
    for word in &workload.words {
        program = program.arg(word);
    }
    program.run(WITHIN).map(drop)
}

/// Writes transactions of several producers, interleaved with each other and with writes without one; some are committed,
/// some aborted, some empty. The last one, over all partitions, ends as `end` says: `commit`, `abort` or `open`.
pub fn produce_transactions(cluster: &Cluster, topic: &str, end: &str, codec: &str) -> Result {
    let program = Program::on(cluster, "transactions").arg(topic);
    // A transaction stays open only if its producer's JVM ends at once.
    program.arg(format!("end={end}")).arg(format!("compression.type={codec}")).run_alone(WITHIN)
}

/// Deletes what lies before `offset`, as retention does.
pub fn delete_records(cluster: &Cluster, topic: &str, partition: u32, offset: i64) -> Result {
    let program = Program::on(cluster, "delete-records").arg(topic);
    program.arg(partition).arg(offset).run(WITHIN).map(drop)
}

/// A Java consumer that is a member of a group until it leaves, or this is dropped (then its session has to end first).
#[derive(Debug)]
pub struct LiveMember {
    process: Guarded,
    _folder: tempfile::TempDir,
}

impl LiveMember {
    /// Leaves the group in order: it has no members when this returns.
    pub fn leave(mut self) -> Result {
        self.process.signal("TERM")?;
        self.process.wait(WITHIN).map(drop)
    }
}

/// Joins `group` with a consumer of `topic`, and returns once it has partitions.
pub fn live_member(cluster: &Cluster, topic: &str, group: &str) -> Result<LiveMember> {
    let program = Program::on(cluster, "live").arg(topic).arg(group);
    let (mut process, folder) = program.start()?;
    wait::until(Deadline::after(Duration::from_secs(60)), "the consumer to be assigned partitions", || {
        if let Some(status) = process.status()? {
            return Err(Failure::new(format!("the consumer ended with {status}\n{}", process.output())));
        }
        Ok(process.stdout().contains("assigned ").then_some(()))
    })?;
    Ok(LiveMember { process, _folder: folder })
}

/// Commits `offset` for every partition of `topic`, as `group` without members.
pub fn commit(cluster: &Cluster, topic: &str, group: &str, offset: i64) -> Result {
    let program = Program::on(cluster, "commit").arg(topic).arg(group).arg(offset);
    program.run(WITHIN).map(drop)
}

/// The committed offset of each partition of `topic` that has one in `group`.
pub fn committed(cluster: &Cluster, topic: &str, group: &str) -> Result<std::collections::BTreeMap<u32, i64>> {
    let program = Program::on(cluster, "committed").arg(topic).arg(group);
    let text = program.run(WITHIN)?;
    let parse = |line: &str| {
        let (partition, offset) = line.split_once(' ')?;
        Some((partition.parse().ok()?, offset.parse().ok()?))
    };
    let parsed: std::collections::BTreeMap<u32, i64> = text.lines().filter_map(parse).collect();
    ensure(parsed.len() == text.lines().count(), || format!("committed: cannot read\n{}", process::tail(&text)))?;
    Ok(parsed)
}
