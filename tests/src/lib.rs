//! The harness of the integration tests: real Kafka brokers of every release on loopback, an independent Java client
//! that judges what arrived, and the `kmirror` binary as a child process.
//!
//! Everything here blocks and reads the real clock: a test says what it waits for, and by when. Nothing here is used by
//! the product.

pub mod failure;
pub mod wait;

mod measured;
pub use measured::measured;

pub mod cache;
pub mod process;

pub mod brokers;
pub mod wire;

pub mod judge;
pub mod dump;
pub mod segments;
pub mod sha256;

pub mod differential;
pub mod golden;

pub mod conformance;

pub mod kmirror;
pub mod mirror_file;
pub mod mirror_maker;

pub mod embedded;

pub mod kafka;
pub mod stories;

pub mod tidy;

pub use failure::{Failure, Result};
