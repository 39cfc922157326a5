//! A topic's settings: its overrides over the brokers' settings over the defaults.
//!
//! Java: `LogConfig.fromProps`, `LogConfig.validate`.

use std::collections::BTreeMap;

use kmirror_proto::compress::Codec;

use super::format::format_magic;
use super::{BrokerSettings, SettingError, topic_setting};
use crate::Release;
use crate::settings::TopicSettings;

/// A topic's overrides as they were sent, in the form that is kept and described.
///
/// # Errors
/// Names that the release does not have, before values that it does not take, before such as do not go together.
pub(crate) fn read_overrides<'a>(
    broker: &BrokerSettings,
    sent: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Result<BTreeMap<String, String>, SettingError> {
    let release = broker.release();
    for (name, _) in sent.clone() {
        topic_setting(release, name).ok_or_else(|| SettingError::Unknown { name: name.to_owned() })?;
    }
    let mut overrides = BTreeMap::new();
    for (name, value) in sent {
        if let Some(setting) = topic_setting(release, name) {
            overrides.insert(name.to_owned(), setting.read(release, value)?);
        }
    }
    if let Some(error) = kept_longer_locally(broker, &overrides) {
        return Err(error);
    }
    conflict(broker, &overrides).map_or(Ok(overrides), |why| Err(SettingError::Conflict { why }))
}

/// 3.0 has the settings of tiered storage without the storage, and looks at them; later ones look where it is on.
fn kept_longer_locally(broker: &BrokerSettings, overrides: &BTreeMap<String, String>) -> Option<SettingError> {
    let number = |name: &str| overrides.get(name).cloned().or_else(|| broker.of_topics(name))?.parse::<i64>().ok();
    let longer = |what: &str| {
        let (local, all) = (format!("local.retention.{what}"), format!("retention.{what}"));
        let (kept, bound) = (number(&local)?, number(&all)?);
        let why = format!("Value must not be more than property: {all} value.");
        (bound >= 0 && kept > bound).then(|| SettingError::Invalid { name: local, value: kept.to_string(), why })
    };
    (broker.release() == Release::V3_0).then(|| longer("ms").or_else(|| longer("bytes")))?
}

/// What `LogConfig.validateValues` refuses.
fn conflict(broker: &BrokerSettings, overrides: &BTreeMap<String, String>) -> Option<String> {
    let value = |name: &str| overrides.get(name).cloned().or_else(|| broker.of_topics(name));
    let number = |name: &str| value(name)?.parse::<i64>().ok();
    if let (Some(least), Some(most)) = (number("min.compaction.lag.ms"), number("max.compaction.lag.ms"))
        && least > most
    {
        return Some(format!(
            "conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
        ));
    }
    let remote = overrides.get("remote.storage.enable").is_some_and(|value| value == "true");
    if remote && broker.release() >= Release::V3_9 && !broker.is("remote.log.storage.system.enable") {
        return Some(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."
                .to_owned(),
        );
    }
    None
}

impl TopicSettings {
    /// What a topic of this release has when nothing was set, neither for it nor for its broker.
    #[must_use]
    pub(crate) fn defaults(release: Release) -> Self {
        let default = |name: &str| topic_setting(release, name)?.default.map(str::to_owned);
        Self::from_text(release, default)
    }

    /// What holds for a topic with these overrides.
    pub(crate) fn of(broker: &BrokerSettings, overrides: &BTreeMap<String, String>) -> Self {
        Self::from_text(broker.release(), |name| overrides.get(name).cloned().or_else(|| broker.of_topics(name)))
    }

    /// From values that were checked; what a release has no setting for is as if there were no bound.
    fn from_text(release: Release, value: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str, absent: i64| value(name).and_then(|text| text.parse().ok()).unwrap_or(absent);
        let size = |name: &str| usize::try_from(number(name, 0)).unwrap_or(0);
        let is = |name: &str, absent: bool| value(name).map_or(absent, |text| text == "true");
        let policy = value("cleanup.policy").unwrap_or_default();
        let policies = |wanted: &str| policy.split(',').any(|policy| policy == wanted);
        let either_side = number("message.timestamp.difference.max.ms", i64::MAX);
        // 3.9 has both: the old one counts where the new one was left at its default.
        let bound = |name: &str| match number(name, i64::MAX) {
            i64::MAX => either_side,
            bound => bound,
        };
        let format = value("message.format.version").and_then(|name| format_magic(release, &name));
        Self {
            max_message_bytes: size("max.message.bytes"),
            append_time: value("message.timestamp.type").is_some_and(|kind| kind == "LogAppendTime"),
            timestamp_before_max_ms: bound("message.timestamp.before.max.ms"),
            timestamp_after_max_ms: bound("message.timestamp.after.max.ms"),
            compression: value("compression.type").and_then(|name| codec(&name)),
            magic: format.unwrap_or(release.magic()),
            down_conversion: is("message.downconversion.enable", true),
            compact: policies("compact"),
            delete: policies("delete"),
            retention_ms: number("retention.ms", -1),
            retention_bytes: number("retention.bytes", -1),
            // Only this crate's own 4.x tests and Kafka's write the internal one.
            segment_bytes: match size("internal.segment.bytes") {
                0 => size("segment.bytes"),
                bytes => bytes,
            },
            segment_ms: number("segment.ms", i64::MAX),
            min_insync_replicas: size("min.insync.replicas"),
            delete_retention_ms: number("delete.retention.ms", 0),
            min_cleanable_dirty_ratio: value("min.cleanable.dirty.ratio")
                .and_then(|ratio| ratio.parse().ok())
                .unwrap_or(0.5),
            unclean_leader_election: is("unclean.leader.election.enable", false),
        }
    }
}

/// `None` for `producer`: as it comes.
fn codec(name: &str) -> Option<Codec> {
    match name {
        "uncompressed" => Some(Codec::None),
        "gzip" => Some(Codec::Gzip),
        "snappy" => Some(Codec::Snappy),
        "lz4" => Some(Codec::Lz4),
        "zstd" => Some(Codec::Zstd),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(release: Release, lines: &[(&str, &str)]) -> BrokerSettings {
        let lines = lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        BrokerSettings::parse(release, &lines).unwrap()
    }

    fn read(release: Release, sent: &[(&str, &str)]) -> Result<BTreeMap<String, String>, SettingError> {
        read_overrides(&broker(release, &[]), sent.iter().copied())
    }

    /// R17, R11: the limits that changed with releases.
    #[test]
    fn defaults_are_the_releases() {
        let of = TopicSettings::defaults;
        assert_eq!([Release::V2_4, Release::V2_8].map(|release| of(release).max_message_bytes), [1_000_012, 1_048_588]);
        assert_eq!(
            [Release::V3_9, Release::V4_4].map(|release| of(release).timestamp_after_max_ms),
            [i64::MAX, 3_600_000]
        );
        assert_eq!(
            [Release::V0_10_2, Release::V0_11].map(|release| of(release).unclean_leader_election),
            [true, false]
        );
        assert_eq!([Release::V0_10_0, Release::V0_11].map(|release| of(release).magic), [1, 2]);
        assert_eq!(of(Release::V4_4).retention_ms, 604_800_000);
        assert_eq!(of(Release::V4_4).compression, None);
    }

    /// The settings of section 5 of the produce matrix: given to the broker, they hold for its topics.
    #[test]
    fn a_topic_has_what_its_broker_says_unless_it_says_otherwise() {
        let broker = broker(
            Release::V0_10_0,
            &[
                ("log.message.timestamp.type", "LogAppendTime"),
                ("compression.type", "gzip"),
                ("log.cleanup.policy", "compact"),
                ("log.message.format.version", "0.9.0.1"),
                ("message.max.bytes", "2000"),
                ("log.retention.hours", "1"),
                ("log.roll.hours", "2"),
            ],
        );
        let settings = TopicSettings::of(&broker, &BTreeMap::new());
        assert!(settings.append_time && settings.compact && !settings.delete);
        assert_eq!((settings.compression, settings.magic, settings.max_message_bytes), (Some(Codec::Gzip), 0, 2000));
        assert_eq!((settings.retention_ms, settings.segment_ms), (3_600_000, 7_200_000));
        let overrides = [("cleanup.policy", "delete"), ("message.format.version", "0.10.0"), ("retention.ms", "-1")];
        let settings = TopicSettings::of(&broker, &read_overrides(&broker, overrides.into_iter()).unwrap());
        assert!(settings.append_time && !settings.compact && settings.delete);
        assert_eq!((settings.magic, settings.retention_ms), (1, -1));
    }

    #[test]
    fn the_shorter_unit_counts() {
        let lines = [("log.retention.hours", "1"), ("log.retention.minutes", "2"), ("log.retention.ms", "3")];
        let retention = |lines: &[_]| TopicSettings::of(&broker(Release::V2_0, lines), &BTreeMap::new()).retention_ms;
        assert_eq!(retention(&lines), 3);
        assert_eq!(retention(lines.get(..2).unwrap()), 120_000);
        assert_eq!(retention(&[("log.retention.hours", "-1")]), -1);
    }

    /// Measured: `local.retention.ms` and so on are known from 3.0 on, `message.format.version` until 3.9.
    #[test]
    fn what_a_release_does_not_have() {
        let unknown = |release, name| matches!(read(release, &[(name, "1")]), Err(SettingError::Unknown { .. }));
        assert!(unknown(Release::V2_0, "no.such"));
        assert!(unknown(Release::V3_0, "message.timestamp.after.max.ms"));
        assert!(!unknown(Release::V3_9, "message.timestamp.after.max.ms"));
        assert!(unknown(Release::V4_4, "message.timestamp.difference.max.ms"));
        assert!(unknown(Release::V0_10_0, "min.compaction.lag.ms"));
        let two = read(Release::V2_0, &[("retention.ms", "x"), ("no.such", "1")]);
        assert_eq!(two, Err(SettingError::Unknown { name: "no.such".to_owned() }), "names are looked at first");
    }

    #[test]
    fn what_does_not_go_together() {
        let lags = read(Release::V2_4, &[("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "5")]).unwrap_err();
        let said = "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)";
        assert_eq!(lags.in_answers(Release::V2_4), said);
        let remote = [("remote.storage.enable", "true")];
        assert!(read(Release::V3_9, &remote).is_err());
        assert_eq!(read(Release::V3_0, &remote).map(|overrides| overrides.len()), Ok(1));
        let local = [("local.retention.ms", "5000"), ("retention.ms", "100")];
        let said = "Invalid value 5000 for configuration local.retention.ms: Value must not be more than property: \
                    retention.ms value.";
        assert_eq!(read(Release::V3_0, &local).unwrap_err().in_answers(Release::V3_0), said);
        assert!(read(Release::V3_9, &local).is_ok());
    }

    /// 4.4: `segment.bytes` is at least 1 MiB, the internal one is not (facts: CreateTopics).
    #[test]
    fn segments_of_4_4() {
        assert!(read(Release::V4_4, &[("segment.bytes", "1048575")]).is_err());
        let overrides = read(Release::V4_4, &[("internal.segment.bytes", "400")]).unwrap();
        assert_eq!(TopicSettings::of(&broker(Release::V4_4, &[]), &overrides).segment_bytes, 400);
    }
}
