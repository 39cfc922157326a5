//! Integration tests: everything that needs more than one crate, a real broker, or the tree itself.
//!
//! One binary, so that all tests share the brokers that they start.

mod clients;
mod conformance;
mod harness;
mod live;
mod mirror;
mod pairs;
mod policies;
mod records;
mod releases;
mod stored;

use kmirror_tests::Result;
use kmirror_tests::brokers::shared_pair;
use kmirror_tests::kafka::Kafka;

/// Plays a story between two of the brokers that all tests share.
fn played(story: impl FnOnce(&dyn Kafka, &dyn Kafka) -> Result, from: &str, to: &str) -> Result {
    let (source, target) = shared_pair(from, to)?;
    story(source, target)
}
