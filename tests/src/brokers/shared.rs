//! Clusters that all tests of a process share: started on first use, ended with the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::cluster::Cluster;
use crate::{Failure, Result};

type Slot = Arc<OnceLock<std::result::Result<Cluster, String>>>;

/// The shared cluster `name`: a release (`2.0.0`), or a release and a mark (`2.0.0/second`) for a further cluster of it.
///
/// Tests use topics and groups of their own in it and leave its brokers running. Different clusters start in parallel.
pub fn shared(name: &str) -> Result<&'static Cluster> {
    static CLUSTERS: Mutex<BTreeMap<String, &'static Slot>> = Mutex::new(BTreeMap::new());
    let slot: &'static Slot = {
        let mut clusters = CLUSTERS.lock().unwrap_or_else(PoisonError::into_inner);
        clusters.entry(name.to_owned()).or_insert_with(|| Box::leak(Box::default()))
    };
    let version = name.split('/').next().unwrap_or(name);
    let cluster = slot.get_or_init(|| Cluster::start(version).map_err(|failure| failure.to_string()));
    cluster.as_ref().map_err(|text| Failure::new(text.clone()))
}
