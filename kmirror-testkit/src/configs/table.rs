//! The settings that each release defines, as its own tables (`topics.tsv`, `brokers.tsv`) were read out of its jars and
//! compared with what its brokers describe.
//!
//! Java: `org.apache.kafka.storage.internals.log.LogConfig` (formerly `kafka.log.LogConfig`), `kafka.server.KafkaConfig`,
//! `kafka.server.DynamicBrokerConfig`.

use std::sync::LazyLock;

use super::value::{Kind, Valid};
use crate::Release;

/// One setting, as some releases define it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    first: Release,
    last: Release,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// What holds when nothing was said; `None` is Kafka's null.
    pub(crate) default: Option<&'static str>,
    pub(crate) valid: Valid,
    pub(crate) change: Change,
    /// A password: never described.
    pub(crate) sensitive: bool,
    /// Known, but described only where it was set.
    pub(crate) internal: bool,
    /// For a topic's setting: the broker's setting that is its default.
    pub(crate) of_broker: Option<&'static str>,
}

/// Whether a broker's setting can be changed while it runs (KIP-226).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Not at all: only `server.properties`.
    ReadOnly,
    /// For one broker.
    OneBroker,
    /// For one broker, or for the whole cluster.
    Cluster,
}

/// The settings of a release's topics, by name.
pub(crate) fn topic_settings(release: Release) -> impl Iterator<Item = &'static Setting> {
    TOPICS.iter().filter(move |setting| setting.is_of(release))
}

/// A topic's setting of this name, if the release has it.
pub(crate) fn topic_setting(release: Release, name: &str) -> Option<&'static Setting> {
    topic_settings(release).find(|setting| setting.name == name)
}

/// The settings of a release's brokers, by name.
pub(crate) fn broker_settings(release: Release) -> impl Iterator<Item = &'static Setting> {
    BROKERS.iter().filter(move |setting| setting.is_of(release))
}

/// A broker's setting of this name, if the release has it.
pub(crate) fn broker_setting(release: Release, name: &str) -> Option<&'static Setting> {
    broker_settings(release).find(|setting| setting.name == name)
}

impl Setting {
    fn is_of(&self, release: Release) -> bool {
        (self.first..=self.last).contains(&release)
    }

    /// One line of a table.
    fn parse(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or_default();
        let first = numbered(field())?;
        let last = match field() {
            "" => Release::V4_4,
            number => numbered(number)?,
        };
        let (name, kind) = (field(), Kind::named(field())?);
        let default = Some(field()).filter(|default| *default != "~");
        let valid = Valid::parse(field())?;
        let flags = field();
        let change = match flags {
            flags if flags.contains('c') => Change::Cluster,
            flags if flags.contains('b') => Change::OneBroker,
            _ => Change::ReadOnly,
        };
        let (sensitive, internal) = (flags.contains('s'), flags.contains('i'));
        let of_broker = Some(field()).filter(|name| !name.is_empty());
        Some(Self { first, last, name, kind, default, valid, change, sensitive, internal, of_broker })
    }
}

fn numbered(number: &str) -> Option<Release> {
    Release::ALL.into_iter().find(|release| release.number() == number)
}

fn read(table: &'static str) -> Vec<Setting> {
    table.lines().filter_map(Setting::parse).collect()
}

static TOPICS: LazyLock<Vec<Setting>> = LazyLock::new(|| read(TOPICS_TABLE));
static BROKERS: LazyLock<Vec<Setting>> = LazyLock::new(|| read(BROKERS_TABLE));

const TOPICS_TABLE: &str = include_str!("topics.tsv");
const BROKERS_TABLE: &str = include_str!("brokers.tsv");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        for (table, read) in [(TOPICS_TABLE, &*TOPICS), (BROKERS_TABLE, &*BROKERS)] {
            assert_eq!(read.len(), table.lines().filter(|line| !line.starts_with('#')).count());
        }
    }

    /// What DescribeConfigs counts on real brokers (facts: DescribeConfigs topic; measured: brokers).
    #[test]
    fn there_are_as_many_as_brokers_describe() {
        let described = |settings: &mut dyn Iterator<Item = &'static Setting>| settings.filter(|s| !s.internal).count();
        for (release, topic, broker) in [
            (Release::V0_11, 24, 154),
            (Release::V1_0, 24, 155),
            (Release::V1_1, 24, 171),
            (Release::V2_0, 25, 181),
            (Release::V2_1, 25, 184),
            (Release::V2_4, 26, 192),
            (Release::V2_8, 26, 218),
            (Release::V3_0, 26, 232),
            (Release::V3_9, 36, 314),
            (Release::V4_4, 37, 350),
        ] {
            assert_eq!(described(&mut topic_settings(release)), topic, "topics of {release}");
            assert_eq!(described(&mut broker_settings(release)), broker, "brokers of {release}");
        }
    }

    /// A line is about some releases, and no two lines about one release name the same setting.
    #[test]
    fn a_release_has_each_setting_once() {
        for release in Release::ALL {
            for settings in [topic_settings(release).collect::<Vec<_>>(), broker_settings(release).collect()] {
                let names: std::collections::BTreeSet<_> = settings.iter().map(|setting| setting.name).collect();
                assert_eq!(names.len(), settings.len(), "{release}");
            }
        }
    }

    #[test]
    fn defaults_are_valid_and_topics_name_settings_of_brokers() {
        for release in Release::ALL {
            for setting in topic_settings(release).chain(broker_settings(release)) {
                if let Some(default) = setting.default {
                    assert_eq!(setting.read(release, default).as_deref(), Ok(default), "{release} {}", setting.name);
                }
            }
            for name in
                topic_settings(release).filter(|setting| !setting.internal).filter_map(|setting| setting.of_broker)
            {
                assert!(broker_setting(release, name).is_some(), "{release} {name}");
            }
        }
    }
}
