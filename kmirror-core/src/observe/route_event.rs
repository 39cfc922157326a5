//! What happens to topics and partitions, as values.

use std::fmt;

use super::event::Severity;
use crate::config::Side;

/// Topics and partitions came, went, or cannot be mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteEvent {
    /// No topic of the source matches. It may come to be.
    NothingMatches {
        /// What was looked for.
        pattern: String,
        /// How many topics the source has.
        topics: usize,
    },
    /// Other topics are wanted from now on.
    Selected {
        /// Which.
        pattern: String,
    },
    /// A topic that was not there before is mirrored from its first record on.
    TopicFound {
        /// Its name on the source.
        topic: String,
        /// Its name on the target.
        target: String,
        /// Partitions of the source.
        partitions: usize,
    },
    /// A mirrored topic has new partitions; they are mirrored from their first record on.
    PartitionsFound {
        /// Its name on the source.
        topic: String,
        /// How many it had.
        from: usize,
        /// How many it has.
        to: usize,
    },
    /// A topic is no longer mirrored: it is gone from the source, or no longer wanted. The target's copy stays.
    LetGo {
        /// Its name on the source.
        topic: String,
        /// Whether it is gone; else it is no longer wanted.
        gone: bool,
    },
    /// A topic was created on the target.
    TopicCreated {
        /// Its name there.
        target: String,
        /// Its partitions.
        partitions: i32,
        /// Its replication factor.
        replication_factor: i16,
        /// Settings that it was given.
        settings: Vec<(String, String)>,
        /// Settings that could not be set, and why.
        not_set: Vec<(String, String)>,
    },
    /// A topic of the target was given more partitions.
    PartitionsAdded {
        /// Its name there.
        target: String,
        /// How many it had.
        from: i32,
        /// How many it has.
        to: i32,
    },
    /// A topic, or some of its partitions, cannot be mirrored until something outside changes. It is looked for again.
    Blocked {
        /// Its name on the source.
        topic: String,
        /// What stands in the way, and the way out.
        reason: String,
    },
    /// The settings of a cluster's topics cannot be read. Of the source: what is created on the target gets the configured
    /// settings only. Of the target: what its topics do not take shows when they refuse it.
    SettingsUnknown {
        /// Which cluster.
        side: Side,
        /// Why.
        reason: String,
    },
    /// Two topics of the target differ only in `.` and `_`, which Kafka's metrics do not tell apart.
    NamesCollide {
        /// One.
        target: String,
        /// The other.
        other: String,
    },
}

impl RouteEvent {
    /// How much it matters.
    #[must_use]
    pub fn level(&self) -> Severity {
        match self {
            Self::Selected { .. }
            | Self::TopicFound { .. }
            | Self::PartitionsFound { .. }
            | Self::PartitionsAdded { .. }
            | Self::LetGo { gone: false, .. } => Severity::Info,
            Self::TopicCreated { not_set, .. } if not_set.is_empty() => Severity::Info,
            Self::TopicCreated { .. }
            | Self::NothingMatches { .. }
            | Self::LetGo { gone: true, .. }
            | Self::SettingsUnknown { .. }
            | Self::NamesCollide { .. } => Severity::Warn,
            Self::Blocked { .. } => Severity::Error,
        }
    }
}

impl fmt::Display for RouteEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingMatches { pattern, topics } => write!(
                f,
                "no topic of the source matches {pattern}: the whole name must match; {topics} topics are there; new ones are \
                 waited for"
            ),
            Self::Selected { pattern } => write!(f, "topics that are mirrored from now on: {pattern}"),
            Self::TopicFound { topic, target, partitions } => {
                write!(f, "{}: new on the source, {partitions} partitions", renamed(topic, target))
            }
            Self::PartitionsFound { topic, from, to } => {
                write!(f, "{topic}: the source has {to} partitions now, before {from}")
            }
            Self::LetGo { topic, gone: true } => {
                write!(f, "{topic}: let go: it is gone from the source; its copy on the target stays")
            }
            Self::LetGo { topic, gone: false } => {
                write!(f, "{topic}: let go: it is no longer wanted; its copy on the target stays")
            }
            Self::TopicCreated { target, partitions, replication_factor, settings, not_set } => {
                write!(f, "target topic {target}: created, {partitions} partitions")?;
                if *replication_factor > 0 {
                    write!(f, ", replication factor {replication_factor}")?;
                }
                settings.iter().try_for_each(|(key, value)| write!(f, ", {key}={value}"))?;
                not_set.iter().try_for_each(|(key, why)| write!(f, "; {key} could not be set: {why}"))
            }
            Self::PartitionsAdded { target, from, to } => {
                write!(f, "target topic {target}: {to} partitions now, before {from}")
            }
            Self::Blocked { topic, reason } => write!(f, "{topic}: not mirrored for now: {reason}"),
            Self::SettingsUnknown { side: Side::Source, reason } => write!(
                f,
                "the settings of the source's topics cannot be read ({reason}): topics that are created on the target get what \
                 the configuration says, and the target's defaults"
            ),
            Self::SettingsUnknown { side: Side::Target, reason } => write!(
                f,
                "the settings of the target's topics cannot be read ({reason}): what they do not take shows when they refuse it"
            ),
            Self::NamesCollide { target, other } => write!(
                f,
                "target topics {target} and {other} differ only in '.' and '_': Kafka's metrics mix them up, and its brokers \
                 refuse to create the second one; rename one of them (rename, topic_mappings)"
            ),
        }
    }
}

/// A topic's name, and the target's where it is another one.
fn renamed(topic: &str, target: &str) -> String {
    if topic == target { topic.to_owned() } else { format!("{topic} → {target}") }
}
