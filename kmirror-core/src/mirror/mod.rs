//! The mirror itself: one [`Worker`](worker::Worker) that decides which links there are, and shards that copy them.
//!
//! ```text
//!                         ┌─ ShardCommand: open links, origin stored, stop ─►┐
//!  Worker                 │                                                  │  Shard (one per stream)
//!   topics, start offsets │                                                  │   source client ─ fetch ─ plan
//!   ledger, group offsets │                                                  │   lanes ─ target client
//!                         └◄─ ShardReport: origins, progress, events ────────┘
//! ```
//! Both are pure machines; what goes between them are plain values, carried by channels in [`crate::runtime`].

mod link;
pub use link::{LinkId, LinkName, LinkSpec};

pub mod shard;
pub mod worker;
pub use worker::{EndReason, MirrorError, Summary};

mod report;
pub use report::{LinkProgress, Omitted, ShardCommand, ShardReport, StoredEntry};

#[cfg(test)]
mod tests;
