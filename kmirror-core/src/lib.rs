//! The mirror engine of kmirror: pure state machines, and a small runtime around them.
//!
//! - **Machines decide.** Everything outside [`runtime`] is without clock, socket, task, thread and randomness: time is
//!   an argument, jitter comes from a seed, and the same calls give the same run.
//! - **Nothing is guessed.** Where a link goes on is read from the target's log ([`resume`]), what an acknowledgement
//!   proves is decided in one place ([`produce`]), and a link that cannot prove its place stands still and says why.
//! - **Everything is bounded.** Each queue, loop and buffer has its limit in [`limits`] or in the configuration.
//!
//! [`Mirror`] is the way in:
//!
//! ```no_run
//! use kmirror_core::Mirror;
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let mirror = Mirror::builder()
//!     .name("orders")
//!     .source("old-kafka:9092")
//!     .target("new-kafka:9092")
//!     .topics("orders.*")
//!     .until_caught_up(true)
//!     .build()?;
//! let summary = mirror.run().await?;
//! println!("{} records", summary.status.total().counters.records);
//! # Ok(())
//! # }
//! ```
//!
//! The modules stand in the order in which data flows.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::wildcard_enum_match_arm,
        reason = "a test may fail"
    )
)]

pub mod clock;
pub mod config;
pub mod limits;
pub mod offset;
pub mod machine;
pub mod rules;

pub mod client;
pub mod fetch;
pub mod filter;
pub mod plan;
pub mod produce;
pub mod ledger;
pub mod topics;
pub mod resume;
pub mod mirror;
pub mod observe;
pub mod offsets;
pub mod preview;

pub mod runtime;
pub use runtime::{EventStream, Mirror, MirrorBuilder, SelectionHandle, StatusReader, StopHandle};

#[cfg(test)]
mod sample;
