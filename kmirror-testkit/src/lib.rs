//! An embedded Kafka cluster: any release from 0.10.0 to 4.4, in the process, in memory, with faults on request.
//!
//! It answers as the brokers of that release were measured to answer: the same versions, error codes, disconnects,
//! base offsets, conversions, sequence rules. Whoever writes a Kafka client tests it here against releases that need a
//! JVM otherwise, and against failures that no real broker shows on demand.
//!
//! What this crate promises, and what its tests hold it to:
//!
//! - **The cluster is a value.** `Cluster` has no clock, socket, task or randomness of its own: bytes and the time go
//!   in, bytes come out. The same calls give the same answers.
//! - **It never panics on a client's bytes.** What cannot be read closes the connection, as a broker does.
//! - **What it does not imitate, it does not pretend.** An API that it does not serve is advertised as the release
//!   advertises it, and a request for it closes the connection.
//!
//! # A consumer against a leader move
//!
//! What a test of a consumer looks like. The consumer here is a stand-in of some forty lines (not shown); yours is a
//! client of any language that is given `bootstrap.servers`.
//!
//! ```
//! # mod consumer {
//! #     use std::collections::VecDeque;
//! #     use std::io::{Read, Write};
//! #     use std::net::TcpStream;
//! #     use kmirror_testkit::proto::messages::*;
//! #     use kmirror_testkit::proto::records::{Entry, Records, split};
//! #     use kmirror_testkit::proto::{decode_response, encode_request};
//! #     /// Reads partition 0 of a topic from its beginning: asks any broker who leads, and again whenever that fails.
//! #     pub struct Consumer { bootstrap: String, topic: String, offset: i64, leader: Option<TcpStream>, read: VecDeque<String> }
//! #     impl Consumer {
//! #         pub fn of(bootstrap: &str, topic: &str) -> Self {
//! #             let (bootstrap, topic) = (bootstrap.to_owned(), topic.to_owned());
//! #             Self { bootstrap, topic, offset: 0, leader: None, read: VecDeque::new() }
//! #         }
//! #         pub fn next(&mut self) -> String {
//! #             loop {
//! #                 if let Some(value) = self.read.pop_front() { return value; }
//! #                 if self.fetch().is_none() { self.leader = None; }
//! #             }
//! #         }
//! #         fn fetch(&mut self) -> Option<()> {
//! #             if self.leader.is_none() { self.leader = Some(self.find_leader()?); }
//! #             let asked = FetchPartition { fetch_offset: self.offset, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
//! #             let topics = vec![FetchTopic { name: self.topic.clone(), partitions: vec![asked], ..FetchTopic::default() }];
//! #             let request = FetchRequest { topics, max_wait_ms: 100, min_bytes: 1, ..FetchRequest::default() };
//! #             let answer: FetchResponse = ask(self.leader.as_mut()?, 4, request)?;
//! #             let partition = &answer.topics[0].partitions[0];
//! #             if !partition.error_code.is_ok() { return None; }
//! #             for entry in split(partition.records.clone()?) {
//! #                 let Ok(Entry::Batch(batch)) = entry else { continue };
//! #                 for record in Records::of(&batch, 1 << 20).ok()?.iter() {
//! #                     let record = record.ok()?;
//! #                     if batch.header.offset_of(&record) >= self.offset {
//! #                         self.read.push_back(String::from_utf8(record.value?.to_vec()).ok()?);
//! #                     }
//! #                 }
//! #                 self.offset = self.offset.max(batch.header.next_offset());
//! #             }
//! #             Some(())
//! #         }
//! #         fn find_leader(&self) -> Option<TcpStream> {
//! #             let mut any = self.bootstrap.split(',').find_map(|address| TcpStream::connect(address).ok())?;
//! #             let answer: MetadataResponse = ask(&mut any, 1, MetadataRequest::default())?;
//! #             let leader = answer.topics.iter().find(|topic| topic.name == self.topic)?.partitions[0].leader_id;
//! #             let broker = answer.brokers.iter().find(|broker| broker.node_id == leader)?;
//! #             TcpStream::connect((broker.host.as_str(), u16::try_from(broker.port).ok()?)).ok()
//! #         }
//! #     }
//! #     fn ask<R: TryFrom<AnyResponse>>(to: &mut TcpStream, version: i16, request: impl Into<AnyRequest>) -> Option<R> {
//! #         let request = request.into();
//! #         let frame = encode_request(1, Some("docs"), version, &request).ok()?;
//! #         for chunk in frame.chunks() { to.write_all(chunk).ok()?; }
//! #         let mut length = [0; 4];
//! #         to.read_exact(&mut length).ok()?;
//! #         let mut body = vec![0; usize::try_from(i32::from_be_bytes(length)).ok()?];
//! #         to.read_exact(&mut body).ok()?;
//! #         R::try_from(decode_response(request.key(), version, body.into()).ok()?.1).ok()
//! #     }
//! # }
//! # use consumer::Consumer;
//! use kmirror_testkit::fault::{ApiKey, End, Fault, Requests};
//! use kmirror_testkit::net::Server;
//! use kmirror_testkit::{Cluster, Codec, NodeId, Record, Release};
//!
//! // Three brokers of Kafka 2.0.0, and a topic that all of them have.
//! let cluster = Cluster::builder(Release::V2_0).brokers(3).setting("default.replication.factor", "3").build()?;
//! let server = Server::start(cluster)?;
//! server.with(|cluster, now| {
//!     cluster.create_topic("orders", 1);
//!     let orders = [b"1", b"2"].map(|order| Record::of(now.unix_ms, order));
//!     cluster.write(now, "orders", 0, Codec::Lz4, orders)
//! })?;
//! let mut consumer = Consumer::of(server.bootstrap(), "orders");
//! assert_eq!([consumer.next(), consumer.next()], ["1", "2"]);
//!
//! // The leader moves, and another order comes: it is found, and nothing is read twice.
//! server.with(|cluster, now| {
//!     cluster.move_leader("orders", 0, NodeId(1))?;
//!     cluster.write(now, "orders", 0, Codec::None, [Record::of(now.unix_ms, b"3")])
//! })?;
//! assert_eq!(consumer.next(), "3");
//!
//! // The next leader's first answer breaks off within the records, and the old leader is gone.
//! let cut = server.with(|cluster, now| {
//!     cluster.stop_broker(NodeId(1))?;
//!     cluster.write(now, "orders", 0, Codec::None, [Record::of(now.unix_ms, b"4")])?;
//!     let fault = Fault::Cut { bytes: 100, end: End::Reset };
//!     Ok::<_, kmirror_testkit::ContentsError>(cluster.intercept(Requests::of(ApiKey::FETCH).times(1), fault))
//! })?;
//! assert_eq!(consumer.next(), "4");
//! assert_eq!(server.with(|cluster, _| cluster.lift(cut)), 1, "it was bitten, and read on");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without a [`Server`](net::Server) the cluster is driven by its owner, in virtual time: see [`Cluster`].

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a test may fail"
    )
)]
mod now;
pub use now::Now;

mod release;
pub use release::{Release, UnknownRelease};

mod ids;
pub use ids::NodeId;

mod uuid;

mod limits;

/// The bytes and messages of Kafka: what faults look at and change, and what a test reads answers with.
pub use kmirror_proto as proto;
/// The codecs of Kafka.
pub use kmirror_proto::compress::Codec;

mod settings;

mod configs;
pub use configs::SettingError;

mod cluster;
pub use cluster::{Cluster, ClusterBuilder, ConnectionId, ContentsError, NoSuch, Output, Record};

mod api;

mod accept;

mod convert;

mod log;

pub mod disk;

mod groups;

mod transactions;

pub mod fault;

mod acls;

mod quotas;

pub mod net;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod asking;
