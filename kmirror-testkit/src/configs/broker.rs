//! What the brokers of a cluster go by: `server.properties`, and what was changed while they run.
//!
//! All brokers have the same lines. Precedence, highest first, as for Kafka (KIP-226): set for one broker, set for the
//! cluster, `server.properties`, default.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{SettingError, broker_setting, topic_setting};
use crate::groups::GroupLimits;
use crate::settings::TopicSettings;
use crate::{NodeId, Release};

/// What holds for a whole cluster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BrokerSettings {
    release: Release,
    /// `server.properties`.
    lines: BTreeMap<String, String>,
    /// Set for the cluster while it runs.
    pub(crate) of_cluster: BTreeMap<String, String>,
    /// Set for one broker while it runs. They are described, but all brokers behave alike.
    pub(crate) of_brokers: BTreeMap<NodeId, BTreeMap<String, String>>,
    /// `auto.create.topics.enable`.
    pub(crate) auto_create_topics: bool,
    /// `num.partitions`.
    pub(crate) partitions: usize,
    /// `default.replication.factor`.
    pub(crate) replication_factor: usize,
    /// `delete.topic.enable`.
    pub(crate) delete_topics: bool,
    /// `socket.request.max.bytes`: of a request, without its length.
    pub(crate) request_bytes_max: usize,
    /// `offsets.topic.num.partitions`.
    pub(crate) offsets_partitions: usize,
    /// `transaction.state.log.num.partitions` (0.11 and later).
    pub(crate) transaction_partitions: usize,
    /// `transaction.max.timeout.ms` (0.11 and later).
    pub(crate) transaction_timeout_max: Duration,
    /// `replica.lag.time.max.ms`.
    pub(crate) replica_lag_max: Duration,
    /// `log.retention.check.interval.ms`.
    pub(crate) retention_check_interval: Duration,
    /// `log.cleaner.enable`.
    pub(crate) cleaner: bool,
    /// `log.cleaner.backoff.ms`.
    pub(crate) cleaner_backoff: Duration,
    /// `group.*` and `offset.metadata.max.bytes`.
    pub(crate) groups: GroupLimits,
    /// What a topic has unless it says otherwise.
    pub(crate) topic: TopicSettings,
}

impl BrokerSettings {
    /// From lines of `server.properties`.
    pub(crate) fn parse(release: Release, lines: &BTreeMap<String, String>) -> Result<Self, SettingError> {
        let mut read = BTreeMap::new();
        for (name, value) in lines {
            if OF_AUTHORIZER.contains(&name.as_str()) {
                read.insert(name.clone(), value.clone());
                continue;
            }
            let setting = broker_setting(release, name).ok_or_else(|| SettingError::Unknown { name: name.clone() })?;
            read.insert(name.clone(), setting.read(release, value)?);
        }
        // As Kafka's own quick start has it: else every test with a group waits three seconds.
        if let Some(setting) = broker_setting(release, REBALANCE_DELAY) {
            read.entry(setting.name.to_owned()).or_insert_with(|| "0".to_owned());
        }
        let mut of_cluster = BTreeMap::new();
        if release >= Release::V4_4 {
            // With eligible leader replicas (KIP-966) it is the cluster's, not a broker's: measured.
            let replicas = read.get(IN_SYNC_MIN).cloned().unwrap_or_else(|| "1".to_owned());
            of_cluster.insert(IN_SYNC_MIN.to_owned(), replicas);
        }
        Ok(Self::of(release, read, of_cluster, BTreeMap::new()))
    }

    /// The release whose settings they are.
    pub(crate) const fn release(&self) -> Release {
        self.release
    }

    /// `server.properties`.
    pub(crate) const fn lines(&self) -> &BTreeMap<String, String> {
        &self.lines
    }

    /// The settings with others for the cluster.
    #[must_use]
    pub(crate) fn with_of_cluster(&self, of_cluster: BTreeMap<String, String>) -> Self {
        Self::of(self.release, self.lines.clone(), of_cluster, self.of_brokers.clone())
    }

    /// A broker's setting; `None` is Kafka's null, or no setting of this release.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let said = self.of_cluster.get(name).or_else(|| self.lines.get(name));
        said.map_or_else(|| broker_setting(self.release, name)?.default, |value| Some(value))
    }

    /// Whether a broker's setting is true.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.value(name) == Some("true")
    }

    /// What a topic's setting is by the brokers' settings: `retention.ms` by `log.retention.ms`, `.minutes` or `.hours`.
    pub(crate) fn of_topics(&self, name: &str) -> Option<String> {
        let setting = topic_setting(self.release, name)?;
        let Some(of_broker) = setting.of_broker else { return setting.default.map(str::to_owned) };
        let longer: &[(&str, i64)] = match of_broker {
            "log.retention.ms" => &[("log.retention.minutes", MINUTE_MS), ("log.retention.hours", HOUR_MS)],
            "log.roll.ms" => &[("log.roll.hours", HOUR_MS)],
            "log.roll.jitter.ms" => &[("log.roll.jitter.hours", HOUR_MS)],
            "log.flush.interval.ms" => &[("log.flush.scheduler.interval.ms", 1)],
            _ => &[],
        };
        let longer = longer.iter().filter_map(|(name, ms)| {
            let value: i64 = self.value(name)?.parse().ok()?;
            Some(if value < 0 { "-1".to_owned() } else { value.saturating_mul(*ms).to_string() })
        });
        let value = self.value(of_broker).map(str::to_owned);
        value.into_iter().chain(longer).next().or_else(|| setting.default.map(str::to_owned))
    }

    fn of(
        release: Release,
        lines: BTreeMap<String, String>,
        of_cluster: BTreeMap<String, String>,
        of_brokers: BTreeMap<NodeId, BTreeMap<String, String>>,
    ) -> Self {
        let mut settings = Self {
            release,
            lines,
            of_cluster,
            of_brokers,
            auto_create_topics: true,
            partitions: 1,
            replication_factor: 1,
            delete_topics: true,
            request_bytes_max: 0,
            offsets_partitions: 1,
            transaction_partitions: 1,
            transaction_timeout_max: Duration::ZERO,
            replica_lag_max: Duration::ZERO,
            retention_check_interval: Duration::ZERO,
            cleaner: true,
            cleaner_backoff: Duration::ZERO,
            groups: GroupLimits::defaults(release),
            topic: TopicSettings::defaults(release),
        };
        settings.derive();
        settings
    }

    /// The fields from the text.
    fn derive(&mut self) {
        let number = |name: &str| self.value(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let size = |name: &str| usize::try_from(number(name)).unwrap_or(usize::MAX);
        let ms = |name: &str| Duration::from_millis(number(name));
        let groups = GroupLimits {
            session_timeout_min: ms("group.min.session.timeout.ms"),
            session_timeout_max: ms("group.max.session.timeout.ms"),
            initial_rebalance_delay: ms(REBALANCE_DELAY),
            metadata_bytes_max: size("offset.metadata.max.bytes"),
            record_bytes_max: size("message.max.bytes"),
        };
        let derived = Self {
            auto_create_topics: self.is("auto.create.topics.enable"),
            partitions: size("num.partitions"),
            replication_factor: size("default.replication.factor"),
            delete_topics: self.is("delete.topic.enable"),
            request_bytes_max: size("socket.request.max.bytes"),
            offsets_partitions: size("offsets.topic.num.partitions"),
            transaction_partitions: size("transaction.state.log.num.partitions"),
            transaction_timeout_max: ms("transaction.max.timeout.ms"),
            replica_lag_max: ms("replica.lag.time.max.ms"),
            retention_check_interval: ms("log.retention.check.interval.ms"),
            // 4.x has no such setting: it always cleans.
            cleaner: self.value("log.cleaner.enable") != Some("false"),
            cleaner_backoff: ms("log.cleaner.backoff.ms"),
            groups,
            topic: TopicSettings::of(self, &BTreeMap::new()),
            ..self.clone()
        };
        *self = derived;
    }
}

/// Settings of Kafka's own authorizers, which are no broker's: no release lists them.
const OF_AUTHORIZER: [&str; 2] = ["super.users", "allow.everyone.if.no.acl.found"];

const REBALANCE_DELAY: &str = "group.initial.rebalance.delay.ms";
const IN_SYNC_MIN: &str = "min.insync.replicas";
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(release: Release, name: &str, value: &str) -> Result<BrokerSettings, SettingError> {
        BrokerSettings::parse(release, &BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    /// Facts: sizes, CreateTopics; KIP-537 (2.4: sessions of half an hour), 1.0 (topics can be deleted).
    #[test]
    fn defaults_are_the_releases() {
        let of = |release| BrokerSettings::parse(release, &BTreeMap::new()).unwrap();
        for release in Release::ALL {
            let settings = of(release);
            assert_eq!(settings.request_bytes_max, 104_857_600, "{release}");
            assert_eq!((settings.partitions, settings.replication_factor), (1, 1), "{release}");
            assert_eq!(settings.delete_topics, release >= Release::V1_0, "{release}");
            let record_bytes_max = settings.topic.max_message_bytes;
            let groups = GroupLimits { record_bytes_max, ..GroupLimits::defaults(release) };
            assert_eq!(settings.groups, groups, "{release}");
            assert_eq!(settings.topic, TopicSettings::defaults(release), "{release}");
            assert!(settings.auto_create_topics && settings.cleaner, "{release}");
        }
    }

    #[test]
    fn every_name_of_the_release_is_taken_and_no_other() {
        assert!(parse(Release::V2_0, "zookeeper.connect", "127.0.0.1:2181").is_ok());
        assert_eq!(
            parse(Release::V4_4, "zookeeper.connect", "127.0.0.1:2181"),
            Err(SettingError::Unknown { name: "zookeeper.connect".to_owned() })
        );
        let refused = parse(Release::V2_0, "num.partitions", "0").unwrap_err().to_string();
        assert_eq!(refused, "invalid value \"0\" for setting num.partitions: Value must be at least 1");
    }

    #[test]
    fn what_is_set_while_it_runs_comes_before_the_lines() {
        let settings = parse(Release::V2_0, "message.max.bytes", "2000").unwrap();
        assert_eq!(settings.topic.max_message_bytes, 2000);
        let of_cluster = BTreeMap::from([("message.max.bytes".to_owned(), "3000".to_owned())]);
        let changed = settings.with_of_cluster(of_cluster);
        assert_eq!(changed.topic.max_message_bytes, 3000);
        assert_eq!(changed.with_of_cluster(BTreeMap::new()), settings);
    }
}
