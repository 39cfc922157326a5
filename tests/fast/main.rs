//! The tests that need nothing but Rust: mirrors between embedded clusters, and the tree itself.
//!
//! What they say about the embedded clusters' likeness to real ones is proved by the conformance suite, which runs on
//! both. The real brokers' tests are in `it`.

mod conformance;
mod leaders;
mod live;
mod pairs;
mod resume;
mod tidy;
