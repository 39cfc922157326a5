//! Which cluster it is.

use std::collections::BTreeSet;

use super::metadata::Metadata;
use crate::config::ClusterConfig;

/// Whether both are one cluster: by id, or where 0.10.0 has none, by the brokers' addresses.
pub(crate) fn is_same_cluster(one: &Metadata, other: &Metadata) -> bool {
    match (&one.cluster_id, &other.cluster_id) {
        (Some(one), Some(other)) => one == other,
        (None, None) => brokers(one) == brokers(other),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// A cluster's id, or its configured addresses.
pub(crate) fn cluster_name(metadata: &Metadata, config: &ClusterConfig) -> String {
    metadata.cluster_id.clone().unwrap_or_else(|| addresses(config))
}

/// The configured addresses, as in `bootstrap.servers`.
pub(crate) fn addresses(config: &ClusterConfig) -> String {
    let addresses: Vec<String> = config.bootstrap.iter().map(|(host, port)| format!("{host}:{port}")).collect();
    addresses.join(",")
}

fn brokers(metadata: &Metadata) -> BTreeSet<(&str, u16)> {
    metadata.brokers.values().map(|broker| (broker.host.as_str(), broker.port)).collect()
}
