//! What a cluster is to be, before it is one.

use std::collections::BTreeMap;

use super::Cluster;
use crate::Release;
use crate::configs::{BrokerSettings, SettingError};

/// Builds a [`Cluster`].
///
/// ```
/// use kmirror_testkit::{Cluster, Release};
///
/// let cluster = Cluster::builder(Release::V2_0).brokers(3).setting("min.insync.replicas", "2").build()?;
/// # Ok::<(), kmirror_testkit::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClusterBuilder {
    pub(super) release: Release,
    pub(super) brokers: u16,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) seed: u64,
}

impl ClusterBuilder {
    pub(super) fn new(release: Release) -> Self {
        Self { release, brokers: 1, settings: BTreeMap::new(), seed: 0 }
    }

    /// So many brokers, with the ids 0 and up; one unless said otherwise.
    #[must_use]
    pub fn brokers(mut self, brokers: u16) -> Self {
        self.brokers = brokers;
        self
    }

    /// A line of `server.properties`, as the release knows it: `auto.create.topics.enable`, `num.partitions`,
    /// `message.max.bytes`, `log.retention.ms` …
    #[must_use]
    pub fn setting(mut self, key: &str, value: &str) -> Self {
        self.settings.insert(key.to_owned(), value.to_owned());
        self
    }

    /// With an authorizer that keeps access control lists, Kafka's own of that release: what no list is about is allowed.
    /// Other rules are settings: `authorizer.class.name`, `super.users`, `allow.everyone.if.no.acl.found`.
    #[must_use]
    pub fn authorizer(self) -> Self {
        let class = if self.release >= Release::V4_4 {
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        } else if self.release >= Release::V2_4 {
            "kafka.security.authorizer.AclAuthorizer"
        } else {
            "kafka.security.auth.SimpleAclAuthorizer"
        };
        self.setting("authorizer.class.name", class).setting("allow.everyone.if.no.acl.found", "true")
    }

    /// What ids are made from, that of the cluster too: clusters with the same seed and the same calls give the same
    /// answers. Two clusters that one client talks to need seeds that differ; 0 unless said otherwise.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The cluster, its brokers running.
    ///
    /// # Errors
    /// A setting that the release does not have, or a value that it does not take.
    pub fn build(self) -> Result<Cluster, SettingError> {
        let settings = BrokerSettings::parse(self.release, &self.settings)?;
        Ok(Cluster::new(&self, settings))
    }
}
