//! Every setting of a mirror with the value that is in force, where it comes from, and Kafka's default beside it.
//!
//! The names are those of `kmirror.toml`. What a cluster is reached by has Kafka's names, behind the side.

use std::collections::BTreeMap;

use kmirror_proto::compress::Codec;

use super::cluster::PLAINTEXT;
use super::keys::Role::{self, Consumer, Producer};
use super::model::{ClusterConfig, Config, Isolation, StartPolicy};
use super::origin::Origin;
use super::resolve::Resolved;
use super::routing::{Coalesce, DamagePolicy, LossPolicy, PartitionPolicy, Rename, RouteConfig};
use super::units::{duration_text, size_text};

/// One setting that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name in `kmirror.toml`, below the mirror.
    pub name: String,
    /// Its value as it would be written there; `***` for a secret.
    pub value: String,
    /// Where that comes from.
    pub origin: Origin,
    /// What Kafka's clients, or its mirrors, do without the setting.
    pub kafka: Option<&'static str>,
}

/// A setting that each mirror has once.
pub(super) struct Known {
    pub(super) name: &'static str,
    /// The property of the same meaning.
    pub(super) property: Option<(Role, &'static str)>,
    /// Kafka's default, or that of its mirrors.
    pub(super) kafka: Option<&'static str>,
    value: fn(&Config) -> String,
}

const NONE: &str = "none";

/// The settings that each mirror has once, in the order in which they are shown.
pub(super) static KNOWN: &[Known] = &[
    Known { name: "name", property: None, kafka: None, value: |config| config.name.clone() },
    Known { name: "topics", property: None, kafka: None, value: |config| config.topics.include().to_owned() },
    Known {
        name: "exclude",
        property: None,
        kafka: None,
        value: |config| config.topics.exclude().unwrap_or(NONE).to_owned(),
    },
    Known {
        name: "group",
        property: Some((Consumer, "group.id")),
        kafka: None,
        value: |config| config.group.clone().unwrap_or_else(|| NONE.to_owned()),
    },
    Known {
        name: "start",
        property: Some((Consumer, "auto.offset.reset")),
        kafka: Some("latest, earliest (MirrorMaker 2)"),
        value: |config| start(config.start).to_owned(),
    },
    Known {
        name: "streams",
        property: None,
        kafka: Some("1 (MirrorMaker)"),
        value: |config| config.streams.to_string(),
    },
    Known {
        name: "refresh_interval",
        property: None,
        kafka: Some("5min (MirrorMaker), 10min (MirrorMaker 2)"),
        value: |config| duration_text(config.refresh_interval),
    },
    Known {
        name: "commit_interval",
        property: None,
        kafka: Some("1min (MirrorMaker)"),
        value: |config| duration_text(config.commit_interval),
    },
    Known {
        name: "checkpoint_interval",
        property: None,
        kafka: None,
        value: |config| duration_text(config.checkpoint_interval),
    },
    Known { name: "memory", property: None, kafka: None, value: |config| size_text(config.memory_bytes_max) },
    Known { name: "stop_timeout", property: None, kafka: None, value: |config| duration_text(config.stop_timeout) },
    Known { name: "until_caught_up", property: None, kafka: None, value: |config| config.until_caught_up.to_string() },
    Known {
        name: "abort_on_send_failure",
        property: None,
        kafka: Some("true (MirrorMaker)"),
        value: |config| config.produce.abort_on_send_failure.to_string(),
    },
    Known {
        name: "isolation",
        property: Some((Consumer, "isolation.level")),
        kafka: Some("read_uncommitted"),
        value: |config| isolation(config.fetch.isolation).to_owned(),
    },
    Known {
        name: "check_crcs",
        property: Some((Consumer, "check.crcs")),
        kafka: Some("true"),
        value: |config| config.fetch.check_crcs.to_string(),
    },
    Known {
        name: "fetch_max_bytes",
        property: Some((Consumer, "fetch.max.bytes")),
        kafka: Some("50MiB"),
        value: |config| size_text(config.fetch.bytes_max),
    },
    Known {
        name: "max_partition_fetch_bytes",
        property: Some((Consumer, "max.partition.fetch.bytes")),
        kafka: Some("1MiB"),
        value: |config| size_text(config.fetch.partition_bytes_max),
    },
    Known {
        name: "fetch_min_bytes",
        property: Some((Consumer, "fetch.min.bytes")),
        kafka: Some("1B"),
        value: |config| size_text(config.fetch.bytes_min),
    },
    Known {
        name: "fetch_max_wait",
        property: Some((Consumer, "fetch.max.wait.ms")),
        kafka: Some("500ms"),
        value: |config| duration_text(config.fetch.wait_max),
    },
    Known {
        name: "compression",
        property: Some((Producer, "compression.type")),
        kafka: Some("none"),
        value: |config| config.produce.compression.map_or("source", codec).to_owned(),
    },
    Known {
        name: "batch_size",
        property: Some((Producer, "batch.size")),
        kafka: Some("16KiB"),
        value: |config| size_text(config.produce.batch_bytes_max),
    },
    Known {
        name: "max_request_size",
        property: Some((Producer, "max.request.size")),
        kafka: Some("1MiB"),
        value: |config| size_text(config.produce.request_bytes_max),
    },
    Known {
        name: "max_in_flight",
        property: Some((Producer, "max.in.flight.requests.per.connection")),
        kafka: Some("5, 1 (MirrorMaker)"),
        value: |config| config.produce.in_flight_max.to_string(),
    },
];

/// A setting that each cluster has.
pub(super) struct KnownOfCluster {
    pub(super) property: &'static str,
    pub(super) kafka: Option<&'static str>,
    pub(super) value: fn(&ClusterConfig) -> String,
}

/// The settings that each cluster has.
pub(super) static KNOWN_OF_CLUSTER: &[KnownOfCluster] = &[
    KnownOfCluster { property: "bootstrap.servers", kafka: None, value: servers },
    KnownOfCluster { property: "security.protocol", kafka: Some("PLAINTEXT"), value: |_| PLAINTEXT.to_owned() },
    KnownOfCluster { property: "client.id", kafka: Some("\"\""), value: |cluster| cluster.client_id.clone() },
    KnownOfCluster {
        property: "request.timeout.ms",
        kafka: Some("30000"),
        value: |cluster| cluster.request_timeout.as_millis().to_string(),
    },
    KnownOfCluster {
        property: "socket.connection.setup.timeout.ms",
        kafka: Some("10000"),
        value: |cluster| cluster.connect_timeout.as_millis().to_string(),
    },
    KnownOfCluster {
        property: "reconnect.backoff.ms",
        kafka: Some("50"),
        value: |cluster| cluster.reconnect_backoff.as_millis().to_string(),
    },
    KnownOfCluster {
        property: "reconnect.backoff.max.ms",
        kafka: Some("1000"),
        value: |cluster| cluster.reconnect_backoff_max.as_millis().to_string(),
    },
    KnownOfCluster {
        property: "retry.backoff.ms",
        kafka: Some("100"),
        value: |cluster| cluster.retry_backoff.as_millis().to_string(),
    },
    KnownOfCluster {
        property: "metadata.max.age.ms",
        kafka: Some("300000"),
        value: |cluster| cluster.metadata_max_age.as_millis().to_string(),
    },
];

/// Every setting of a mirror. Secrets are masked.
#[must_use]
pub fn effective(resolved: &Resolved) -> Vec<Setting> {
    let mask = |setting: Setting| match is_secret(&setting.name) {
        true => Setting { value: "***".to_owned(), ..setting },
        false => setting,
    };
    in_force(resolved).into_iter().map(mask).collect()
}

/// Every setting of a mirror, secrets and all.
pub(super) fn in_force(resolved: &Resolved) -> Vec<Setting> {
    let Resolved { config, origins, .. } = resolved;
    let mut settings = Vec::new();
    let mut push = |name: String, value: String, kafka: Option<&'static str>| {
        settings.push(Setting { origin: origins.of(&name), name, value, kafka });
    };
    for (side, cluster) in [("source", &config.source), ("target", &config.target)] {
        for known in KNOWN_OF_CLUSTER {
            push(format!("{side}.{}", known.property), (known.value)(cluster), known.kafka);
        }
    }
    for known in KNOWN {
        push(known.name.to_owned(), (known.value)(config), known.kafka);
    }
    let routing = &config.routing;
    push("topic_mappings".to_owned(), mapping(&routing.mapping), None);
    for (name, value, kafka) in of_route(routing.rename.as_ref(), &routing.config) {
        push(name.to_owned(), value, kafka);
    }
    for (at, rule) in (1..).zip(&routing.rules) {
        push(format!("route.{at}.topics"), rule.topics.as_str().to_owned(), None);
        for (name, value, kafka) in of_route(rule.rename.as_ref(), &rule.config) {
            push(format!("route.{at}.{name}"), value, kafka);
        }
    }
    settings
}

/// Whether a value of this name is never shown.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["password", "secret", "jaas", "token"].iter().any(|word| name.contains(word))
}

/// What holds on a route.
fn of_route(rename: Option<&Rename>, route: &RouteConfig) -> Vec<(String, String, Option<&'static str>)> {
    let RouteConfig { policies, partitions, creation, filters, damage, coalesce } = route;
    let mut out = Vec::new();
    let mut push = |name: &str, value: String, kafka| out.push((name.to_owned(), value, kafka));
    push("rename", rename.map_or_else(|| NONE.to_owned(), rename_text), Some("prefix <source>. (MirrorMaker 2)"));
    let some_filters = Some(filters.to_string()).filter(|text| !text.is_empty());
    push("filters", some_filters.unwrap_or_else(|| NONE.to_owned()), None);
    push("partitions", partition_policy(*partitions).to_owned(), Some("grow (MirrorMaker 2)"));
    push("coalesce", joining(*coalesce).to_owned(), Some("as linger.ms and batch.size say"));
    push("create", creation.create.to_string(), Some("as the target's auto.create.topics.enable says"));
    let factor = creation.replication_factor.map_or_else(|| "source".to_owned(), |factor| factor.to_string());
    push("replication_factor", factor, Some("2 (MirrorMaker 2)"));
    for (name, policy, kafka) in [
        ("on_headers", policies.headers, "headers are dropped unsaid"),
        ("on_too_large", policies.too_large, "as abort.on.send.failure says"),
        ("on_timestamp", policies.timestamps, "as abort.on.send.failure says"),
        ("on_keyless", policies.keyless, "as abort.on.send.failure says"),
        ("on_refused", policies.refused, "as abort.on.send.failure says"),
    ] {
        push(name, loss_policy(policy).to_owned(), Some(kafka));
    }
    push("on_damage", damage_policy(*damage).to_owned(), Some("stop (as the consumer fails)"));
    for (name, value) in &creation.settings {
        push(&format!("settings.{name}"), value.clone(), None);
    }
    out
}

fn servers(cluster: &ClusterConfig) -> String {
    let pair = |(host, port): &(String, u16)| match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    };
    cluster.bootstrap.iter().map(pair).collect::<Vec<_>>().join(",")
}

fn mapping(mapping: &BTreeMap<String, String>) -> String {
    if mapping.is_empty() {
        return NONE.to_owned();
    }
    mapping.iter().map(|(source, target)| format!("{source} → {target}")).collect::<Vec<_>>().join(", ")
}

fn rename_text(rename: &Rename) -> String {
    match rename {
        Rename::Prefix(prefix) => format!("prefix {prefix}"),
        Rename::Pattern { pattern, replacement } => {
            let pattern = pattern.as_str();
            // Without the anchors that every rename has.
            let inner = pattern.strip_prefix(r"\A(?:").and_then(|rest| rest.strip_suffix(r")\z"));
            format!("from {} to {replacement}", inner.unwrap_or(pattern))
        }
    }
}

const fn start(start: StartPolicy) -> &'static str {
    match start {
        StartPolicy::Earliest => "earliest",
        StartPolicy::Latest => "latest",
        StartPolicy::None => "none",
    }
}

const fn isolation(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "read_committed",
        Isolation::ReadUncommitted => "read_uncommitted",
    }
}

const fn codec(codec: Codec) -> &'static str {
    match codec {
        Codec::None => "none",
        Codec::Gzip => "gzip",
        Codec::Snappy => "snappy",
        Codec::Lz4 => "lz4",
        Codec::Zstd => "zstd",
    }
}

const fn partition_policy(policy: PartitionPolicy) -> &'static str {
    match policy {
        PartitionPolicy::Grow => "grow",
        PartitionPolicy::Stop => "stop",
        PartitionPolicy::Modulo => "modulo",
    }
}

const fn damage_policy(policy: DamagePolicy) -> &'static str {
    match policy {
        DamagePolicy::Stop => "stop",
        DamagePolicy::Skip => "skip",
    }
}

const fn joining(coalesce: Coalesce) -> &'static str {
    match coalesce {
        Coalesce::Auto => "auto",
        Coalesce::Off => "off",
    }
}

const fn loss_policy(policy: LossPolicy) -> &'static str {
    match policy {
        LossPolicy::Refuse => "refuse",
        LossPolicy::Drop => "drop",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys;

    /// A property that decides something and is not shown would be one that nobody can check.
    #[test]
    fn every_property_that_is_used_is_shown() {
        for role in [Consumer, Producer] {
            for key in keys::used(role) {
                let of_cluster = KNOWN_OF_CLUSTER.iter().any(|known| known.property == key);
                let of_mirror = KNOWN.iter().any(|known| known.property == Some((role, key)));
                assert!(of_cluster || of_mirror, "{} {key}", role.name());
            }
        }
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in
            ["ssl.key.password", "sasl.jaas.config", "settings.my.SECRET", "sasl.oauthbearer.token.endpoint.url"]
        {
            assert!(is_secret(name), "{name}");
        }
        assert!(!is_secret("settings.retention.ms"));
    }
}
