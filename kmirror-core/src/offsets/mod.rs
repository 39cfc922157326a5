//! Offsets of a cluster's partitions, by time or at the ends of their logs: what Kafka's `GetOffsetShell` lists.
//!
//! [`Offsets`] is the machine that asks; [`crate::runtime::list_offsets`] drives it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use crate::config::TopicPattern;

mod machine;
pub use machine::Offsets;

#[cfg(test)]
mod tests;

/// What to list.
#[derive(Clone, Debug)]
pub struct OffsetsQuery {
    /// A partition is listed that one of these takes.
    pub rules: Vec<Rule>,
    /// Whether the brokers' own topics are left out.
    pub exclude_internal: bool,
    /// Which offset of each partition.
    pub time: ListTime,
    /// How long the whole may take.
    pub timeout: Duration,
}

/// Partitions of the topics that a pattern names.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Which topics.
    pub topics: TopicPattern,
    /// Which of their partitions.
    pub partitions: Partitions,
}

/// Partitions of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partitions {
    /// All of them.
    All,
    /// Those of these numbers.
    These(BTreeSet<i32>),
    /// Those from the first number to before the second.
    Range(Range<i32>),
}

/// Which offset of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListTime {
    /// Behind the last record (−1).
    Latest,
    /// Of the first record that is still there (−2).
    Earliest,
    /// Of the record with the largest timestamp (−3); needs a broker of 3.0.
    MaxTimestamp,
    /// Of the first record on the broker's own disk (−4); needs a broker of 3.4.
    EarliestLocal,
    /// Of the first record whose timestamp is at least so many milliseconds since 1970; needs a broker of 0.10.1.
    Since(i64),
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by topic, then by partition number.
    pub offsets: Vec<PartitionOffset>,
    /// Partitions that no broker could be asked about, in the same order.
    pub skipped: Vec<SkippedPartition>,
}

/// One partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionOffset {
    /// Its topic.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// The offset; `None` if no record is meant by the time.
    pub offset: Option<i64>,
}

/// One partition without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPartition {
    /// Its topic.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// Why.
    pub reason: String,
}

/// Why nothing can be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OffsetsError {
    /// The cluster has no such partition.
    #[error("could not match any topic-partitions with the specified filters")]
    NothingMatches,
    /// No broker speaks with us.
    #[error("the cluster cannot be reached: {0}")]
    Unreachable(String),
    /// A broker does not know such times.
    #[error("{broker}; {advice}")]
    Unsupported {
        /// Who, and what it speaks.
        broker: String,
        /// Which times it does know.
        advice: &'static str,
    },
}

impl Partitions {
    fn contains(&self, partition: i32) -> bool {
        match self {
            Self::All => true,
            Self::These(numbers) => numbers.contains(&partition),
            Self::Range(range) => range.contains(&partition),
        }
    }
}

impl OffsetsQuery {
    fn takes(&self, topic: &str, partition: i32) -> bool {
        self.rules.iter().any(|rule| rule.partitions.contains(partition) && rule.topics.matches(topic))
    }
}

impl ListTime {
    /// What the wire says for it (`ListOffsetsRequest` of the Java client).
    const fn timestamp(self) -> i64 {
        match self {
            Self::Latest => -1,
            Self::Earliest => -2,
            Self::MaxTimestamp => -3,
            Self::EarliestLocal => -4,
            Self::Since(ms) => ms,
        }
    }

    /// The first version of `ListOffsets` that understands it. Asked at a lower one, a broker up to 2.8 takes −3 for an
    /// ordinary timestamp and answers nonsense; v0 knows times by the age of its files only (measured).
    const fn version_min(self) -> i16 {
        match self {
            Self::Latest | Self::Earliest => 0,
            Self::Since(_) => 1,
            Self::MaxTimestamp => 7,
            Self::EarliestLocal => 8,
        }
    }

    /// What to tell a user whose brokers do not know it.
    const fn advice(self) -> &'static str {
        match self {
            Self::Latest | Self::Earliest => "this broker cannot list offsets",
            Self::Since(_) => "offsets by time need brokers of 0.10.1 or later; -1 and -2 work on all",
            Self::MaxTimestamp => "the largest timestamp (-3) needs brokers of 3.0 or later; -1 and -2 work on all",
            Self::EarliestLocal => "the local start (-4) needs brokers of 3.4 or later; -1 and -2 work on all",
        }
    }
}
