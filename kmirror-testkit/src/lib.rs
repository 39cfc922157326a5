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
#![allow(dead_code, reason = "parts of it are built before what uses them")]

mod now;
pub use now::Now;

mod release;
pub use release::{Release, UnknownRelease};

mod ids;
pub use ids::NodeId;

/// The codecs of Kafka.
pub use kmirror_proto::compress::Codec;

pub mod settings;

pub mod configs;

pub mod cluster;
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

#[cfg(test)]
mod asking;
