//! Kafka's settings by name: which of them a release has, their defaults, and how their text is read.
//!
//! ```text
//! brokers.tsv ─► table ─┐            ┌─► BrokerSettings   what the brokers go by
//!                       ├─► value ───┤
//! topics.tsv  ─► table ─┘            └─► TopicSettings    overrides over the brokers' settings over defaults
//! ```
//!
//! Every name that a release knows is taken, also those without a meaning for brokers in memory (folders, threads,
//! listeners, ZooKeeper): they are described, and nothing else comes of them.

mod table;
pub(crate) use table::{Change, Setting, broker_setting, broker_settings, topic_setting, topic_settings};

mod value;
pub(crate) use value::Kind;

mod format;

mod broker;
pub(crate) use broker::BrokerSettings;

mod topic;
pub(crate) use topic::read_overrides;

pub(crate) mod describe;

use kmirror_proto::ErrorCode;

use crate::Release;

/// A setting that a cluster or a topic cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The release has no setting of this name.
    #[error("unknown setting {name}")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// The value is not one of those that the setting takes.
    #[error("invalid value {value:?} for setting {name}: {why}")]
    Invalid {
        /// Its name.
        name: String,
        /// What was given, or the part of it that is wrong.
        value: String,
        /// What Kafka says about it.
        why: String,
    },
    /// Two settings that do not go together.
    #[error("settings do not go together: {why}")]
    Conflict {
        /// What Kafka says about them.
        why: String,
    },
}

impl SettingError {
    /// As a release's brokers word it in the answers of CreateTopics and AlterConfigs.
    pub(crate) fn in_answers(&self, release: Release) -> String {
        match self {
            Self::Unknown { name } if release <= Release::V0_10_2 => format!("Unknown Log configuration {name}."),
            Self::Unknown { name } => format!("Unknown topic config name: {name}"),
            Self::Invalid { name, value, why } => format!("Invalid value {value} for configuration {name}: {why}"),
            Self::Conflict { why } => why.clone(),
        }
    }

    /// The code beside it: -1 for a value up to 2.0, which nobody had thought of (facts: CreateTopics bad conf value).
    pub(crate) fn code(&self, release: Release) -> ErrorCode {
        match self {
            Self::Invalid { .. } if release <= Release::V2_0 => ErrorCode::UNKNOWN_SERVER_ERROR,
            Self::Unknown { .. } | Self::Invalid { .. } | Self::Conflict { .. } => ErrorCode::INVALID_CONFIG,
        }
    }
}
