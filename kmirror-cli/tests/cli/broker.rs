//! Brokers on loopback ports for the binary to talk to: embedded clusters, one that never answers, none at all.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the other end of a socket")]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

use kmirror_proto::messages::AnyResponse;
use kmirror_proto::{ApiKey, ErrorCode};
use kmirror_testkit::fault::{Fault, InterceptId, Requests};
use kmirror_testkit::net::Server;
use kmirror_testkit::{Cluster, Codec, Now, Record, Release};

/// What a broker has: topics by name, their partitions with (start, end).
pub(crate) type Topics = &'static [(&'static str, &'static [(i64, i64)])];

/// An embedded Kafka with one broker, 2.0 unless a test says another one. The record at offset n has the timestamp n, and n as its value.
pub(crate) struct Broker {
    server: Server,
}

impl Broker {
    pub(crate) fn start(topics: Topics) -> Self {
        Self::of(Release::V2_0, topics)
    }

    pub(crate) fn of(release: Release, topics: Topics) -> Self {
        // The seed makes the cluster's id.
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let seed = STARTED.fetch_add(1, Ordering::Relaxed);
        let mut cluster = Cluster::builder(release).seed(seed).build().unwrap();
        for (name, partitions) in topics {
            cluster.create_topic(name, partitions.len());
            for (partition, (start, end)) in (0..).zip(*partitions) {
                fill(&mut cluster, name, partition, *end);
                cluster.delete_records(name, partition, *start).unwrap();
            }
        }
        Self { server: Server::start(cluster).unwrap() }
    }

    /// The ends of a partition are nobody's business.
    pub(crate) fn refuse_offsets(&self, topic: &'static str, partition: i32) {
        let refuse = Fault::alter(move |answer| {
            let AnyResponse::ListOffsets(answer) = answer else { return };
            for listed in answer.topics.iter_mut().filter(|listed| listed.name == topic) {
                for offset in listed.partitions.iter_mut().filter(|listed| listed.partition_index == partition) {
                    (offset.error_code, offset.offset) = (ErrorCode::TOPIC_AUTHORIZATION_FAILED, -1);
                }
            }
        });
        self.intercept(Requests::of(ApiKey::LIST_OFFSETS).about(topic), refuse);
    }

    /// Has a topic go by another name, whatever that is.
    pub(crate) fn call(&self, topic: &'static str, name: &'static str) {
        let rename = Fault::alter(move |answer| {
            let AnyResponse::Metadata(answer) = answer else { return };
            for listed in answer.topics.iter_mut().filter(|listed| listed.name == topic) {
                name.clone_into(&mut listed.name);
            }
        });
        self.intercept(Requests::of(ApiKey::METADATA), rename);
    }

    pub(crate) fn intercept(&self, requests: Requests, fault: Fault) -> InterceptId {
        self.server.with(|cluster, _| cluster.intercept(requests, fault))
    }

    /// How many requests have met it.
    pub(crate) fn bitten(&self, intercept: InterceptId) -> u64 {
        self.server.with(|cluster, _| cluster.bitten(intercept))
    }

    pub(crate) fn address(&self) -> String {
        self.server.bootstrap().to_owned()
    }
}

fn fill(cluster: &mut Cluster, topic: &str, partition: i32, end: i64) {
    let values: Vec<[u8; 8]> = (0..end).map(i64::to_be_bytes).collect();
    let records = (0..).zip(&values).map(|(offset, value)| Record {
        offset,
        timestamp: offset,
        key: None,
        value: Some(value),
        headers: &[],
    });
    cluster.write(Now::default(), topic, partition, Codec::None, records).unwrap();
}

/// One that takes connections and never says anything; it ends with the test's process.
#[cfg(unix)]
pub(crate) fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let streams: Vec<TcpStream> = listener.incoming().flatten().collect();
        drop(streams);
    });
    address
}

/// A port on which nothing listens.
pub(crate) fn dead_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}
