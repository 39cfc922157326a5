//! The two embedded clusters of a demo.

use kmirror_testkit::net::Server;
use kmirror_testkit::{Cluster, Release};

use super::TOPIC;
use crate::args::DemoArgs;
use crate::exit::Failure;

/// Source and target.
pub(super) struct Sides {
    pub(super) source: Side,
    pub(super) target: Side,
}

/// One of them.
pub(super) struct Side {
    pub(super) release: Release,
    pub(super) server: Server,
}

impl Sides {
    /// Starts both, with the topic on each.
    pub(super) fn start(args: &DemoArgs) -> Result<Self, Failure> {
        let source = Side::start("--source-version", &args.source_version, 1, args.partitions)?;
        if !source.release.knows(args.codec.into()) {
            let release = source.release;
            return Err(Failure::usage(format!("--codec zstd: Kafka {release} does not know it (2.1 and later do)")));
        }
        let target = Side::start("--target-version", &args.target_version, 2, args.partitions)?;
        Ok(Self { source, target })
    }
}

impl Side {
    /// The seed makes the cluster's id: no two clusters may have the same one.
    fn start(flag: &str, release: &str, seed: u64, partitions: u16) -> Result<Self, Failure> {
        let release: Release = release.parse().map_err(|error| Failure::usage(format!("{flag}: {error}")))?;
        let failed = |error: &dyn std::fmt::Display| Failure::failed(format!("embedded Kafka {release}: {error}"));
        let mut cluster = Cluster::builder(release).seed(seed).build().map_err(|error| failed(&error))?;
        cluster.create_topic(TOPIC, partitions.into());
        let server = Server::start(cluster).map_err(|error| failed(&error))?;
        Ok(Self { release, server })
    }

    pub(super) fn bootstrap(&self) -> &str {
        self.server.bootstrap()
    }
}
