//! Integration tests: everything that needs more than one crate, a real broker, or the tree itself.
//!
//! One binary, so that all tests share the brokers that they start.

mod clients;
mod conformance;
mod harness;
mod live;
mod mirror;
mod mirror_file;
mod pairs;
mod policies;
mod records;
mod releases;
mod stored;
