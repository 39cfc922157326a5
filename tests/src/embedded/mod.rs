//! Embedded clusters: the fast check beside the real brokers, which stay the judges.

mod client;
pub use client::Client;

mod kafka;

mod running;
pub use running::{Handles, Heard, impatient, mirror_of, run, run_beside, run_configured};

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kmirror_testkit::net::Server;
use kmirror_testkit::{Cluster, ClusterBuilder, Codec, Now, Record, Release};

use crate::judge::Row;
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// Whatever a mirror between embedded clusters does: it takes seconds at most.
pub const WITHIN: Duration = Duration::from_secs(60);

/// An embedded cluster that listens.
pub struct Embedded {
    /// Which release it is.
    pub release: Release,
    server: Server,
}

impl Embedded {
    /// One broker of a release.
    pub fn start(release: Release) -> Result<Embedded> {
        Embedded::of(Cluster::builder(release))
    }

    /// Whatever the builder says, with an id that no other cluster of this process has.
    pub fn of(builder: ClusterBuilder) -> Result<Embedded> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let seed = STARTED.fetch_add(1, Ordering::Relaxed);
        let cluster = builder.seed(seed).build().map_err(|error| Failure::new(error.to_string()))?;
        let release = cluster.release();
        let server = Server::start(cluster).map_err(|error| Failure::new(format!("Kafka {release}: {error}")))?;
        Ok(Embedded { release, server })
    }

    /// What clients are given.
    pub fn bootstrap(&self) -> String {
        self.server.bootstrap().to_owned()
    }

    /// Looks at the cluster, or changes it.
    pub fn with<R>(&self, control: impl FnOnce(&mut Cluster, Now) -> R) -> R {
        self.server.with(control)
    }

    /// Lets time pass at once: what is due by then happens.
    pub fn pass(&self, time: Duration) {
        self.server.pass(time);
    }

    /// Writes rows to one partition as one batch.
    pub fn append(&self, topic: &str, partition: u32, codec: Codec, rows: &[Row]) -> Result {
        let headers: Vec<Vec<Header<'_>>> = rows.iter().map(headers).collect();
        let records = rows.iter().zip(&headers).map(|(row, headers)| Record {
            offset: 0,
            timestamp: row.timestamp,
            key: row.key.as_deref(),
            value: row.value.as_deref(),
            headers,
        });
        let written = self.with(|cluster, now| cluster.write(now, topic, index(partition), codec, records));
        written.map(drop).map_err(|error| self.failed(&format!("writing to {topic}-{partition}"), &error))
    }

    /// Every record of a partition.
    pub fn read(&self, topic: &str, partition: u32) -> Result<Vec<Row>> {
        Ok(self.read_with_offsets(topic, partition)?.into_iter().map(|(_, row)| row).collect())
    }

    fn read_with_offsets(&self, topic: &str, partition: u32) -> Result<Vec<(i64, Row)>> {
        let mut all = Vec::new();
        let read = self
            .with(|cluster, _| cluster.read(topic, index(partition), |record| all.push((record.offset, row(record)))));
        read.map_err(|error| self.failed(&format!("reading {topic}-{partition}"), &error))?;
        Ok(all)
    }

    /// What could not be done here, and why.
    fn failed(&self, what: &str, why: &dyn std::fmt::Display) -> Failure {
        Failure::new(format!("{what} of the embedded {}: {why}", self.release))
    }

    /// Waits until a partition holds so many records.
    pub fn wait_for(&self, topic: &str, partition: u32, records: usize) -> Result {
        let what = format!("{records} records in {topic}-{partition} of the embedded {}", self.release);
        wait::until(Deadline::after(WITHIN), &what, || {
            let count = self.read(topic, partition).map_or(0, |records| records.len());
            Ok((count >= records).then_some(()))
        })
    }
}

/// Name and value of a header.
type Header<'a> = (&'a [u8], Option<&'a [u8]>);

fn headers(row: &Row) -> Vec<Header<'_>> {
    row.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_deref())).collect()
}

fn row(record: Record<'_>) -> Row {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    Row {
        timestamp: record.timestamp,
        key: record.key.map(<[u8]>::to_vec),
        value: record.value.map(<[u8]>::to_vec),
        headers: record.headers.iter().map(|(name, value)| (text(name), value.map(<[u8]>::to_vec))).collect(),
    }
}

fn index(partition: u32) -> i32 {
    i32::try_from(partition).unwrap_or(i32::MAX)
}
