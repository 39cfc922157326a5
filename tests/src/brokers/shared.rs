//! Clusters that all tests of a process share: started on first use, ended with the process.
//!
//! One broker takes about 350 MiB and next to no time while nobody asks it anything: all releases fit side by side into
//! 8 GiB. Their starts do not: each keeps a core busy for seconds.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use super::cluster::Cluster;
use crate::{Failure, Result};

/// So many start at once; more of them only make all of them late.
const STARTING_MAX: usize = 2;

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
    let cluster = slot.get_or_init(|| {
        let _turn = Turn::take();
        Cluster::start(version).map_err(|failure| failure.to_string())
    });
    cluster.as_ref().map_err(|text| Failure::new(text.clone()))
}

/// Two shared clusters, started side by side.
pub fn shared_pair(source: &str, target: &str) -> Result<(&'static Cluster, &'static Cluster)> {
    std::thread::scope(|scope| {
        let starting = scope.spawn(|| shared(source));
        let target = shared(target)?;
        let source = starting.join().map_err(|_| Failure::new(format!("starting {source} panicked")))?;
        Ok((source?, target))
    })
}

/// Leave to start a cluster, given back when dropped.
struct Turn;

static STARTING: Mutex<usize> = Mutex::new(0);
static ONE_LESS: Condvar = Condvar::new();

impl Turn {
    fn take() -> Turn {
        let starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = ONE_LESS.wait_while(starting, |starting| *starting >= STARTING_MAX);
        *waited.unwrap_or_else(PoisonError::into_inner) += 1;
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *STARTING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        ONE_LESS.notify_one();
    }
}
