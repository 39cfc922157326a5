//! Embedded clusters: the fast check beside the real brokers, which stay the judges.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kmirror_core::mirror::worker::Summary;
use kmirror_core::runtime::MirrorBuilder;
use kmirror_core::{Mirror, SelectionHandle, StopHandle};
use kmirror_testkit::net::Server;
use kmirror_testkit::{Cluster, ClusterBuilder, Codec, Now, Record, Release};

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

/// Name and value of a header.
type Header<'a> = (&'a [u8], Option<&'a [u8]>);

/// A record as a test writes and reads it; headers with nullable values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owned {
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// `None` is null.
    pub key: Option<Vec<u8>>,
    /// `None` is null.
    pub value: Option<Vec<u8>>,
    /// In order.
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
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

    /// Writes records as one batch.
    pub fn write(&self, topic: &str, partition: i32, codec: Codec, records: &[Owned]) -> Result {
        let headers: Vec<Vec<Header<'_>>> = records.iter().map(Owned::headers).collect();
        let records = records.iter().zip(&headers).map(|(record, headers)| Record {
            offset: 0,
            timestamp: record.timestamp,
            key: record.key.as_deref(),
            value: record.value.as_deref(),
            headers,
        });
        let written = self.with(|cluster, now| cluster.write(now, topic, partition, codec, records));
        written.map(|_| ()).map_err(|error| Failure::new(format!("{topic}-{partition} of {}: {error}", self.release)))
    }

    /// Every record of a partition.
    pub fn read(&self, topic: &str, partition: i32) -> Result<Vec<Owned>> {
        let mut all = Vec::new();
        let read = self.with(|cluster, _| cluster.read(topic, partition, |record| all.push(Owned::from(record))));
        read.map_err(|error| Failure::new(format!("{topic}-{partition} of {}: {error}", self.release)))?;
        Ok(all)
    }

    /// Waits until a partition holds so many records.
    pub fn wait_for(&self, topic: &str, partition: i32, records: usize) -> Result {
        let what = format!("{records} records in {topic}-{partition} of the embedded {}", self.release);
        wait::until(Deadline::after(WITHIN), &what, || {
            let count = self.read(topic, partition).map_or(0, |records| records.len());
            Ok((count >= records).then_some(()))
        })
    }
}

impl Owned {
    /// A record with a value alone.
    pub fn value(value: &[u8]) -> Owned {
        Owned { timestamp: 1_700_000_000_000, value: Some(value.to_vec()), ..Owned::default() }
    }

    fn headers(&self) -> Vec<Header<'_>> {
        self.headers.iter().map(|(name, value)| (name.as_slice(), value.as_deref())).collect()
    }
}

impl From<Record<'_>> for Owned {
    fn from(record: Record<'_>) -> Owned {
        Owned {
            timestamp: record.timestamp,
            key: record.key.map(<[u8]>::to_vec),
            value: record.value.map(<[u8]>::to_vec),
            headers: record.headers.iter().map(|(name, value)| (name.to_vec(), value.map(<[u8]>::to_vec))).collect(),
        }
    }
}

/// A mirror between two of them, named after its topics.
pub fn mirror_of(source: &Embedded, target: &Embedded, topics: &str) -> MirrorBuilder {
    Mirror::builder().name("embedded").source(source.bootstrap()).target(target.bootstrap()).topics(topics).streams(1)
}

/// What a running mirror can be told.
#[derive(Clone)]
pub struct Handles {
    /// To stop.
    pub stop: StopHandle,
    /// Which topics; it also looks at both clusters then.
    pub selection: SelectionHandle,
}

/// Runs a mirror to its end, on this thread.
pub fn run(mirror: MirrorBuilder) -> Result<Summary> {
    run_beside(mirror, |_| Ok(())).map(|(summary, ())| summary)
}

/// Runs a mirror, and beside it on a thread of its own what a test does to it; that has the last word on a failure.
pub fn run_beside<R: Send>(
    mirror: MirrorBuilder,
    beside: impl FnOnce(Handles) -> Result<R> + Send,
) -> Result<(Summary, R)> {
    let mirror = mirror.build().map_err(|error| Failure::new(error.to_string()))?;
    let handles = Handles { stop: mirror.stop_handle(), selection: mirror.selection_handle() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(error.to_string()))?;
    std::thread::scope(|scope| {
        let does = scope.spawn(|| {
            let result = beside(handles.clone());
            if result.is_err() {
                handles.stop.stop_now();
            }
            result
        });
        let summary = runtime.block_on(async { tokio::time::timeout(WITHIN, mirror.run()).await });
        let result = does.join().map_err(|_| Failure::new("the thread beside the mirror panicked".to_owned()))??;
        let summary = summary.map_err(|_| Failure::new(format!("the mirror did not end within {WITHIN:?}")))?;
        Ok((summary.map_err(|error| Failure::new(error.to_string()))?, result))
    })
}
