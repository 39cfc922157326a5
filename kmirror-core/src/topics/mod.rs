//! The target's topics: there before the first record, with the source's settings, and as many partitions.
//!
//! ```text
//!            not there                       enough partitions, each with a leader
//! Wanted ─┬─────────────► source's settings ─► CreateTopics ─┐
//!         │ too few                                          ├─► wait for the metadata ─► target's settings ─► Ready
//!         ├─────────────► CreatePartitions ──────────────────┘                                 ▲
//!         └─ there ────────────────────────────────────────────────────────────────────────────┘
//!            at any point: Blocked, with the way out; looked at again with back-off
//! ```
//! [`Topics`] asks through the two clients that it is lent, many topics at a time. Brokers of 0.10.0 have no
//! CreateTopics: there the topic's name is asked for, and the broker creates it as it is configured (B42).

pub mod names;

mod settings;
pub use settings::{Blueprint, Dialect, Settings, blueprint, is_compacted, limits};

mod blocked;
pub use blocked::{Blocked, Change};

mod asking;
pub(crate) use asking::ranges;

mod answers;
mod job;

mod machine;
pub use machine::Topics;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::config::{RouteConfig, Side};
use crate::plan::TopicLimits;

/// A target topic that a route needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The source's topic.
    pub source: String,
    /// Its name on the target.
    pub target: String,
    /// How many partitions the source has.
    pub partitions: i32,
    /// How many replicas each of them has.
    pub source_replicas: usize,
    /// What holds on the way.
    pub config: Arc<RouteConfig>,
}

/// What there is to say about the target's topics.
#[derive(Clone, Debug, PartialEq)]
pub enum TopicEvent {
    /// It can be written. Said again when its number of partitions has changed.
    Ready {
        /// The target's topic.
        target: String,
        /// How many partitions it has, which may be fewer than the source's where the route says `stop` or `modulo`.
        partitions: i32,
        /// What it takes, as far as its settings could be read.
        limits: TopicLimits,
    },
    /// It was not there and is now. `Ready` follows.
    Created {
        /// The target's topic.
        target: String,
        /// How many partitions.
        partitions: i32,
        /// How many replicas of each.
        replication_factor: i16,
        /// What was set, by Kafka's names.
        settings: Vec<(String, String)>,
        /// What could not be set, and why.
        not_set: Vec<(String, String)>,
    },
    /// Partitions were added. `Ready` follows.
    Grown {
        /// The target's topic.
        target: String,
        /// How many it had.
        from: i32,
        /// How many it has.
        to: i32,
    },
    /// It cannot be written, or, where `Ready` was just said with fewer partitions than the source has, these partitions
    /// only. It is looked at again and again; said once for each reason.
    Blocked {
        /// The target's topic.
        target: String,
        /// Why, with the way out.
        why: Blocked,
    },
    /// The settings of this side's topics cannot be read, all or some; said once for each side. Of the source: what is
    /// created gets the configured settings only. Of the target: what its topics take is not known beforehand.
    SettingsUnknown {
        /// Which cluster.
        side: Side,
        /// Why.
        reason: String,
    },
}
