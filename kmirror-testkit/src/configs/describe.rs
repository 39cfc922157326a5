//! Settings as brokers describe them: the value, where it comes from, and what it would be otherwise.
//!
//! Java: `kafka.server.ConfigHelper` (formerly `AdminManager`), `DynamicBrokerConfig.brokerConfigSynonyms`.

use std::collections::BTreeMap;

use super::{BrokerSettings, Change, Setting, broker_setting, broker_settings, topic_settings};
use crate::{NodeId, Release};

/// A setting and what holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    pub(crate) setting: &'static Setting,
    pub(crate) value: Option<String>,
    pub(crate) source: Source,
    pub(crate) read_only: bool,
    /// Where it is looked for, in order; the first is what holds.
    pub(crate) synonyms: Vec<Synonym>,
}

/// One place where a value was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Synonym {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) source: Source,
}

/// Where a value comes from (`DescribeConfigsResponse.ConfigSource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Topic,
    Broker,
    Cluster,
    Static,
    Default,
}

impl Source {
    /// Its number on the wire.
    pub(crate) const fn number(self) -> i8 {
        match self {
            Self::Topic => 1,
            Self::Broker => 2,
            Self::Cluster => 3,
            Self::Static => 4,
            Self::Default => 5,
        }
    }
}

/// All settings of a topic with these overrides, as a broker describes them.
pub(crate) fn topic(broker: &BrokerSettings, node: NodeId, overrides: &BTreeMap<String, String>) -> Vec<Described> {
    let shown = |setting: &&Setting| !setting.internal || overrides.contains_key(setting.name);
    let describe = |setting: &'static Setting| {
        let said = overrides.get(setting.name).cloned();
        let of_broker = setting.of_broker.map(|name| synonyms(broker, node, name)).unwrap_or_default();
        let of_topic = said.clone().map(|value| Synonym {
            name: setting.name.to_owned(),
            value: Some(value),
            source: Source::Topic,
        });
        let synonyms: Vec<Synonym> = of_topic.into_iter().chain(of_broker).collect();
        Described {
            setting,
            value: said.or_else(|| broker.of_topics(setting.name)),
            source: synonyms.first().map_or(Source::Default, |synonym| synonym.source),
            read_only: false,
            synonyms,
        }
    };
    topic_settings(broker.release()).filter(shown).map(describe).collect()
}

/// All settings of a broker, as it describes them itself.
pub(crate) fn broker(broker: &BrokerSettings, node: NodeId, address: &str) -> Vec<Described> {
    let own = own_lines(broker.release(), node, address);
    let describe = |setting: &'static Setting| {
        let mut synonyms = synonyms(broker, node, setting.name);
        if let Some(value) = own.get(setting.name) {
            synonyms.retain(|synonym| synonym.source == Source::Default);
            let name = setting.name.to_owned();
            synonyms.insert(0, Synonym { name, value: Some(value.clone()), source: Source::Static });
        }
        let first = synonyms.first().filter(|synonym| synonym.name == setting.name);
        let value = first.and_then(|synonym| synonym.value.clone());
        Described {
            setting,
            value: value.filter(|_| !setting.sensitive),
            source: synonyms.first().map_or(Source::Default, |synonym| synonym.source),
            read_only: setting.change == Change::ReadOnly,
            synonyms,
        }
    };
    broker_settings(broker.release()).filter(|setting| !setting.internal).map(describe).collect()
}

/// What was set for the cluster while it runs: the settings of the broker without a name.
pub(crate) fn cluster(broker: &BrokerSettings) -> Vec<Described> {
    let describe = |(name, value): (&String, &String)| {
        let setting = broker_setting(broker.release(), name)?;
        let value = Some(value.clone()).filter(|_| !setting.sensitive);
        Some(Described {
            setting,
            value: value.clone(),
            source: Source::Cluster,
            read_only: setting.change == Change::ReadOnly,
            synonyms: vec![Synonym { name: name.clone(), value, source: Source::Cluster }],
        })
    };
    broker.of_cluster.iter().filter_map(describe).collect()
}

/// Where a broker's setting and those that stand in for it are set, the highest first; nothing before the setting's own.
fn synonyms(broker: &BrokerSettings, node: NodeId, name: &str) -> Vec<Synonym> {
    let sensitive = broker_setting(broker.release(), name).is_some_and(|setting| setting.sensitive);
    let names = stand_ins(name);
    let nothing = BTreeMap::new();
    let of_broker = broker.of_brokers.get(&node).unwrap_or(&nothing);
    let places = [(of_broker, Source::Broker), (&broker.of_cluster, Source::Cluster), (broker.lines(), Source::Static)];
    let said = places.into_iter().flat_map(|(values, source)| {
        names.iter().filter_map(move |name| Some((*name, values.get(*name)?.clone(), source)))
    });
    let defaults = names.iter().filter_map(|name| {
        let default = broker_setting(broker.release(), name)?.default?;
        Some((*name, default.to_owned(), Source::Default))
    });
    said.chain(defaults)
        .map(|(name, value, source)| Synonym {
            name: name.to_owned(),
            value: Some(value).filter(|_| !sensitive),
            source,
        })
        .skip_while(|synonym| synonym.name != name)
        .collect()
}

/// A setting and the coarser ones that are looked at when it is not set.
fn stand_ins(name: &str) -> Vec<&str> {
    match name {
        "log.retention.ms" | "log.retention.minutes" | "log.retention.hours" => {
            vec!["log.retention.ms", "log.retention.minutes", "log.retention.hours"]
        }
        "log.roll.ms" | "log.roll.hours" => vec!["log.roll.ms", "log.roll.hours"],
        "log.roll.jitter.ms" | "log.roll.jitter.hours" => vec!["log.roll.jitter.ms", "log.roll.jitter.hours"],
        "log.flush.interval.ms" => vec!["log.flush.interval.ms", "log.flush.scheduler.interval.ms"],
        _ => vec![name],
    }
}

/// The lines of `server.properties` that differ from broker to broker.
fn own_lines(release: Release, node: NodeId, address: &str) -> BTreeMap<&'static str, String> {
    let mut own = BTreeMap::from([
        ("broker.id", node.to_string()),
        ("listeners", format!("PLAINTEXT://{address}")),
        ("advertised.listeners", format!("PLAINTEXT://{address}")),
    ]);
    if release >= Release::V4_4 {
        own.insert("node.id", node.to_string());
        own.insert("process.roles", "broker,controller".to_owned());
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(release: Release, lines: &[(&str, &str)]) -> BrokerSettings {
        let lines = lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        BrokerSettings::parse(release, &lines).unwrap()
    }

    /// Value, source, and the synonyms with theirs.
    type Found<'a> = (Option<&'a str>, i8, Vec<(&'a str, &'a str, i8)>);

    fn found<'a>(described: &'a [Described], name: &str) -> Found<'a> {
        let one = described.iter().find(|described| described.setting.name == name).unwrap();
        let synonym = |s: &'a Synonym| (s.name.as_str(), s.value.as_deref().unwrap_or("null"), s.source.number());
        (one.value.as_deref(), one.source.number(), one.synonyms.iter().map(synonym).collect())
    }

    /// Measured on 2.0.0 with `log.retention.ms=-1` in `server.properties`: what stands before the setting's own name is
    /// left out, so `segment.ms` has no synonym though `log.roll.hours` has a default.
    #[test]
    fn a_topics_settings_say_where_they_come_from() {
        let broker = settings(Release::V2_0, &[("log.retention.ms", "-1")]);
        let described = topic(&broker, NodeId(0), &BTreeMap::from([("segment.bytes".to_owned(), "2000".to_owned())]));
        let retention = vec![("log.retention.ms", "-1", 4), ("log.retention.hours", "168", 5)];
        assert_eq!(found(&described, "retention.ms"), (Some("-1"), 4, retention));
        assert_eq!(found(&described, "segment.ms"), (Some("604800000"), 5, vec![]));
        let size = vec![("segment.bytes", "2000", 1), ("log.segment.bytes", "1073741824", 5)];
        assert_eq!(found(&described, "segment.bytes"), (Some("2000"), 1, size));
        assert_eq!(found(&described, "leader.replication.throttled.replicas"), (Some(""), 5, vec![]));
    }

    /// Measured: on 4.4 it is the cluster's, since eligible leader replicas are on (KIP-966).
    #[test]
    fn in_sync_replicas_of_4_4() {
        let broker = settings(Release::V4_4, &[]);
        let both = vec![("min.insync.replicas", "1", 3), ("min.insync.replicas", "1", 5)];
        assert_eq!(found(&topic(&broker, NodeId(0), &BTreeMap::new()), "min.insync.replicas"), (Some("1"), 3, both));
        assert_eq!(cluster(&broker).len(), 1);
        assert_eq!(cluster(&settings(Release::V3_9, &[])), []);
    }

    /// Measured on 2.0.0 and 2.8.2.
    #[test]
    fn a_brokers_settings_say_where_they_come_from() {
        let described = broker(&settings(Release::V2_8, &[("log.retention.ms", "-1")]), NodeId(3), "127.0.0.1:9092");
        let id = vec![("broker.id", "3", 4), ("broker.id", "-1", 5)];
        assert_eq!(found(&described, "broker.id"), (Some("3"), 4, id));
        assert_eq!(found(&described, "log.retention.hours"), (Some("168"), 5, vec![("log.retention.hours", "168", 5)]));
        assert_eq!(found(&described, "log.retention.minutes"), (None, 5, vec![]));
        assert_eq!(found(&described, "log.roll.ms"), (None, 5, vec![]));
        assert_eq!(found(&described, "ssl.key.password"), (None, 5, vec![]));
        assert_eq!(found(&described, "listeners").0, Some("PLAINTEXT://127.0.0.1:9092"));
        let read_only = |name| described.iter().find(|described| described.setting.name == name).unwrap().read_only;
        assert!(read_only("num.partitions") && !read_only("message.max.bytes"));
    }
}
