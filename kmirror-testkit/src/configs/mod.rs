//! Kafka's settings by name: which of them a release has, their defaults, and how their text is read.

use std::collections::BTreeMap;

use crate::Release;
use crate::groups::GroupLimits;
use crate::settings::TopicSettings;

/// A setting that a cluster cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The release has no setting of this name, or this crate does not imitate it.
    #[error("unknown setting {name}")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// The value is not one of those that the setting takes.
    #[error("invalid value {value:?} for setting {name}")]
    Invalid {
        /// Its name.
        name: String,
        /// What was given.
        value: String,
    },
}

/// What holds for a whole cluster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BrokerSettings {
    /// `auto.create.topics.enable`.
    pub(crate) auto_create_topics: bool,
    /// `num.partitions`.
    pub(crate) partitions: usize,
    /// `default.replication.factor`.
    pub(crate) replication_factor: usize,
    /// `group.*` and `offset.metadata.max.bytes`.
    pub(crate) groups: GroupLimits,
    /// What a topic has unless it says otherwise.
    pub(crate) topic: TopicSettings,
}

impl BrokerSettings {
    /// From lines of `server.properties`.
    pub(crate) fn parse(release: Release, lines: &BTreeMap<String, String>) -> Result<Self, SettingError> {
        let mut settings = Self {
            auto_create_topics: true,
            partitions: 1,
            replication_factor: 1,
            groups: GroupLimits::defaults(release),
            topic: TopicSettings::defaults(release),
        };
        for (name, value) in lines {
            let invalid = || SettingError::Invalid { name: name.clone(), value: value.clone() };
            match name.as_str() {
                "auto.create.topics.enable" => settings.auto_create_topics = value.parse().map_err(|_| invalid())?,
                "num.partitions" => settings.partitions = value.parse().map_err(|_| invalid())?,
                "default.replication.factor" => settings.replication_factor = value.parse().map_err(|_| invalid())?,
                "min.insync.replicas" => settings.topic.min_insync_replicas = value.parse().map_err(|_| invalid())?,
                _ => return Err(SettingError::Unknown { name: name.clone() }),
            }
        }
        Ok(settings)
    }
}

impl TopicSettings {
    /// What a topic of this release has when nothing was set, neither for it nor for its broker.
    #[must_use]
    pub fn defaults(release: Release) -> Self {
        const HOUR_MS: i64 = 3_600_000;
        let day_ms = 24 * HOUR_MS;
        Self {
            max_message_bytes: if release >= Release::V2_8 { 1_048_588 } else { 1_000_012 },
            append_time: false,
            timestamp_before_max_ms: i64::MAX,
            timestamp_after_max_ms: if release >= Release::V4_4 { HOUR_MS } else { i64::MAX },
            compression: None,
            magic: release.magic(),
            down_conversion: true,
            compact: false,
            delete: true,
            retention_ms: 7 * day_ms,
            retention_bytes: -1,
            segment_bytes: 1 << 30,
            segment_ms: 7 * day_ms,
            min_insync_replicas: 1,
            delete_retention_ms: day_ms,
            min_cleanable_dirty_ratio: 0.5,
            unclean_leader_election: release < Release::V0_11,
        }
    }
}
