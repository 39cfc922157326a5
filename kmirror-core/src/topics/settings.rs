//! What a target topic is created with, and what one takes: arithmetic on settings by Kafka's names.

use std::collections::BTreeMap;

use kmirror_proto::ApiKey;

use super::Wanted;
use crate::client::ApiRanges;
use crate::plan::TopicLimits;

/// Settings of a topic by name, as they are in force.
pub type Settings = BTreeMap<String, String>;

/// What a topic is created with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blueprint {
    /// How many partitions.
    pub partitions: i32,
    /// How many replicas of each.
    pub replication_factor: i16,
    /// What is set on the topic itself.
    pub settings: Settings,
    /// What the source has and the target's release does not take, and why.
    pub not_set: Vec<(String, String)>,
}

/// What the settings of a cluster's topics can say, which its release decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// `compression.type=zstd` (2.1 and newer).
    pub zstd: bool,
    /// `message.timestamp.before.max.ms` and `.after.max.ms` (3.6 and newer, KIP-937; what a broker says of its APIs
    /// tells from 3.7 on) in the place of `.difference.max.ms`, which 4.0 no longer knows.
    pub before_after: bool,
}

impl Dialect {
    /// Of brokers that speak these versions.
    #[must_use]
    pub fn of(ranges: &ApiRanges) -> Self {
        Self { zstd: ranges.reaches(ApiKey::PRODUCE, 7), before_after: ranges.reaches(ApiKey::PRODUCE, 10) }
    }
}

/// What the target's topic is created with. `source`: the settings in force on the source's topic; `None` where they
/// are unknown, and then the target's own defaults hold.
#[must_use]
pub fn blueprint(wanted: &Wanted, source: Option<&Settings>, brokers: usize, dialect: Dialect) -> Blueprint {
    let creation = &wanted.config.creation;
    let by_size = i16::try_from(wanted.source_replicas.min(brokers)).unwrap_or(i16::MAX).max(1);
    let replication_factor = creation.replication_factor.unwrap_or(by_size);
    let mut made = Blueprint { partitions: wanted.partitions, replication_factor, ..Blueprint::default() };
    for &name in &COPIED {
        if let Some(value) = source.and_then(|source| source.get(name)) {
            match copied(name, value, replication_factor, dialect) {
                Ok(value) => drop(made.settings.insert(name.to_owned(), value)),
                Err(why) if !creation.settings.contains_key(name) => made.not_set.push((name.to_owned(), why)),
                Err(_) => {}
            }
        }
    }
    // Old and odd timestamps arrive as they are; from 4.0 on the default refuses what is an hour ahead (B21).
    let wide: &[&str] = if dialect.before_after { &[BEFORE, AFTER] } else { &[DIFFERENCE] };
    made.settings.extend(wide.iter().map(|&name| (name.to_owned(), i64::MAX.to_string())));
    made.settings.extend(creation.settings.clone());
    made
}

/// What a topic takes, by its own settings and what is known of the source's.
#[must_use]
pub fn limits(target: &Settings, source: Option<&Settings>) -> TopicLimits {
    let number = |name: &str| target.get(name).and_then(|value| value.parse::<i64>().ok());
    let bounded = |name: &str| number(name).filter(|&ms| ms != i64::MAX);
    // Where the broker stamps the records itself it does not look at theirs.
    let append_time = target.get(TIMESTAMP_TYPE).is_some_and(|value| value == "LogAppendTime");
    // As brokers do: the older setting counts for both directions once it is set.
    let of = |name: &str| bounded(DIFFERENCE).or_else(|| bounded(name)).filter(|_| !append_time);
    TopicLimits {
        batch_bytes_max: number(MESSAGE_BYTES).and_then(|bytes| usize::try_from(bytes).ok()),
        keys_required: is_compacted(target) && !source.is_some_and(is_compacted),
        timestamp_before_max_ms: of(BEFORE),
        timestamp_after_max_ms: of(AFTER),
    }
}

/// Whether it is set so that timestamps arrive as they are, and not because the source has it.
pub(super) fn is_wide(name: &str) -> bool {
    matches!(name, DIFFERENCE | BEFORE | AFTER)
}

/// Whether records without a key are refused.
#[must_use]
pub fn is_compacted(settings: &Settings) -> bool {
    settings.get(CLEANUP).is_some_and(|value| value.split(',').any(|policy| policy.trim() == "compact"))
}

/// A setting of the source as the target is to have it, or why it cannot.
fn copied(name: &str, value: &str, replication_factor: i16, dialect: Dialect) -> Result<String, String> {
    match name {
        COMPRESSION if value == "zstd" && !dialect.zstd => {
            Err("zstd needs brokers of 2.1; the target keeps what it gets".to_owned())
        }
        MIN_IN_SYNC => {
            // With more than there are replicas nothing could be written.
            let wanted = value.parse::<i16>().unwrap_or(1);
            Ok(wanted.min(replication_factor).max(1).to_string())
        }
        _ => Ok(value.to_owned()),
    }
}

/// What is asked of a topic: what is copied, and what limits its records.
pub(super) const ASKED: [&str; 10] = [
    CLEANUP,
    "retention.ms",
    "retention.bytes",
    MESSAGE_BYTES,
    COMPRESSION,
    MIN_IN_SYNC,
    TIMESTAMP_TYPE,
    DIFFERENCE,
    BEFORE,
    AFTER,
];

/// What the target's topic has from the source's. Every release since 0.10.0 knows them.
const COPIED: [&str; 7] =
    [CLEANUP, "retention.ms", "retention.bytes", MESSAGE_BYTES, COMPRESSION, MIN_IN_SYNC, TIMESTAMP_TYPE];

const CLEANUP: &str = "cleanup.policy";
const MESSAGE_BYTES: &str = "max.message.bytes";
const COMPRESSION: &str = "compression.type";
const MIN_IN_SYNC: &str = "min.insync.replicas";
const TIMESTAMP_TYPE: &str = "message.timestamp.type";
const DIFFERENCE: &str = "message.timestamp.difference.max.ms";
const BEFORE: &str = "message.timestamp.before.max.ms";
const AFTER: &str = "message.timestamp.after.max.ms";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{RouteConfig, TopicCreation};

    const OLD: Dialect = Dialect { zstd: false, before_after: false };
    const NEW: Dialect = Dialect { zstd: true, before_after: true };
    const EVER: &str = "9223372036854775807";

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn source() -> Settings {
        settings(&[
            ("cleanup.policy", "compact"),
            ("retention.ms", "604800000"),
            ("retention.bytes", "-1"),
            ("max.message.bytes", "1000012"),
            ("compression.type", "zstd"),
            ("min.insync.replicas", "2"),
            ("message.timestamp.type", "CreateTime"),
            ("message.timestamp.difference.max.ms", "1000"),
            ("message.format.version", "2.8-IV1"),
            ("leader.replication.throttled.replicas", "0:1"),
            ("segment.bytes", "400"),
        ])
    }

    fn wanted(source_replicas: usize, creation: TopicCreation) -> Wanted {
        let config = Arc::new(RouteConfig { creation, ..RouteConfig::default() });
        Wanted { source: "s".to_owned(), target: "t".to_owned(), partitions: 6, source_replicas, config }
    }

    #[test]
    fn what_is_copied_and_nothing_else() {
        let made = blueprint(&wanted(3, TopicCreation::default()), Some(&source()), 5, NEW);
        let expected = settings(&[
            ("cleanup.policy", "compact"),
            ("retention.ms", "604800000"),
            ("retention.bytes", "-1"),
            ("max.message.bytes", "1000012"),
            ("compression.type", "zstd"),
            ("min.insync.replicas", "2"),
            ("message.timestamp.type", "CreateTime"),
            ("message.timestamp.before.max.ms", EVER),
            ("message.timestamp.after.max.ms", EVER),
        ]);
        assert_eq!(made, Blueprint { partitions: 6, replication_factor: 3, settings: expected, not_set: vec![] });
    }

    #[test]
    fn what_the_target_does_not_know_is_named() {
        let made = blueprint(&wanted(3, TopicCreation::default()), Some(&source()), 5, OLD);
        assert_eq!(made.not_set.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["compression.type"]);
        assert_eq!(made.settings.get("message.timestamp.difference.max.ms").map(String::as_str), Some(EVER));
        assert!(!made.settings.keys().any(|name| name.contains("before") || name.contains("after")));
        assert!(!made.settings.contains_key("compression.type"));
    }

    #[test]
    fn replicas_as_far_as_there_are_brokers_and_no_more_in_sync_than_there_are() {
        for (replicas, brokers, factor, in_sync) in [(3, 1, 1, "1"), (3, 2, 2, "2"), (1, 5, 1, "1"), (0, 3, 1, "1")] {
            let made = blueprint(&wanted(replicas, TopicCreation::default()), Some(&source()), brokers, NEW);
            assert_eq!(made.replication_factor, factor, "{replicas} on {brokers}");
            assert_eq!(made.settings["min.insync.replicas"], in_sync, "{replicas} on {brokers}");
        }
    }

    #[test]
    fn what_is_configured_wins() {
        let over = [("compression.type", "lz4"), ("message.timestamp.after.max.ms", "5"), ("flush.ms", "1")];
        let creation =
            TopicCreation { replication_factor: Some(4), settings: settings(&over), ..TopicCreation::default() };
        let made = blueprint(&wanted(3, creation), Some(&source()), 1, OLD);
        assert_eq!(made.replication_factor, 4, "the broker says if it has no four");
        for (name, value) in over {
            assert_eq!(made.settings[name], value);
        }
        assert_eq!(made.not_set, [], "zstd was not wanted any more");
    }

    #[test]
    fn of_an_unknown_source_only_the_timestamps_are_set() {
        let made = blueprint(&wanted(2, TopicCreation::default()), None, 3, NEW);
        assert_eq!(made.settings.len(), 2);
        assert!(made.settings.keys().all(|name| name.starts_with("message.timestamp.")));
    }

    #[test]
    fn limits_as_brokers_read_their_settings() {
        let of = |pairs: &[(&str, &str)]| limits(&settings(pairs), None);
        assert_eq!(of(&[]), TopicLimits::default());
        let bytes = of(&[("max.message.bytes", "1048588"), (AFTER, "3600000"), (BEFORE, EVER)]);
        assert_eq!(bytes.batch_bytes_max, Some(1_048_588));
        assert_eq!((bytes.timestamp_before_max_ms, bytes.timestamp_after_max_ms), (None, Some(3_600_000)));
        let older = of(&[(DIFFERENCE, "1000"), (AFTER, EVER), (BEFORE, "7")]);
        assert_eq!((older.timestamp_before_max_ms, older.timestamp_after_max_ms), (Some(1000), Some(1000)));
        let unlimited = of(&[(DIFFERENCE, EVER), (BEFORE, "7")]);
        assert_eq!((unlimited.timestamp_before_max_ms, unlimited.timestamp_after_max_ms), (Some(7), None));
        let stamped = of(&[(DIFFERENCE, "1000"), ("message.timestamp.type", "LogAppendTime")]);
        assert_eq!((stamped.timestamp_before_max_ms, stamped.timestamp_after_max_ms), (None, None));
    }

    #[test]
    fn keys_are_required_where_only_the_target_is_compacted() {
        let policy = |value: &str| settings(&[("cleanup.policy", value)]);
        assert!(limits(&policy("compact"), None).keys_required);
        assert!(limits(&policy("delete, compact"), Some(&policy("delete"))).keys_required);
        assert!(!limits(&policy("compact"), Some(&policy("compact,delete"))).keys_required);
        assert!(!limits(&policy("delete"), None).keys_required);
    }
}
