//! Topics created, grown, deleted and described, on every release.
//!
//! What a release has no request for goes through its ZooKeeper, as its own tools do it: CreateTopics and DeleteTopics came
//! with 0.10.1, DescribeConfigs with 0.11, CreatePartitions with 1.0.

use std::collections::BTreeMap;
use std::time::Duration;

use super::WITHIN;
use super::program::Program;
use crate::brokers::Cluster;
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// For the brokers to do what they were told.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);

/// Creates a topic and waits until every partition of it has a leader. `config` holds topic properties, and
/// `replication.factor` (1 unless said otherwise).
pub fn create(cluster: &Cluster, topic: &str, partitions: u32, config: &[(&str, &str)]) -> Result {
    let program = program(cluster, "create", cluster.release().creates_topics)?;
    program.arg(topic).arg(partitions).properties(config).run(WITHIN)?;
    wait_for_leaders(cluster, topic, partitions)
}

/// Raises the number of a topic's partitions and waits until each has a leader.
pub fn add_partitions(cluster: &Cluster, topic: &str, partitions: u32) -> Result {
    let program = program(cluster, "add-partitions", cluster.release().at_least(1, 0))?;
    program.arg(topic).arg(partitions).run(WITHIN)?;
    wait_for_leaders(cluster, topic, partitions)
}

/// Deletes a topic and waits until the brokers do not know it any more.
pub fn delete(cluster: &Cluster, topic: &str) -> Result {
    let program = program(cluster, "delete-topic", cluster.release().creates_topics)?;
    program.arg(topic).run(WITHIN)?;
    wait::until(Deadline::after(SETTLED_WITHIN), &format!("{topic} to be gone"), || {
        Ok(cluster.ends(topic)?.is_empty().then_some(()))
    })
}

/// A topic as its cluster describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Its partitions.
    pub partitions: u32,
    /// The replicas of its first partition.
    pub replication: u32,
    /// What it has of its own, other than the brokers' defaults.
    pub own: BTreeMap<String, String>,
    /// What it has from the brokers; empty on 0.10, which does not tell.
    pub defaults: BTreeMap<String, String>,
}

/// Asks for a topic's partitions, replicas and settings.
pub fn describe(cluster: &Cluster, topic: &str) -> Result<Description> {
    let text = program(cluster, "describe", cluster.release().at_least(0, 11))?.arg(topic).run(WITHIN)?;
    let mut found = Description::default();
    for line in text.lines() {
        read(&mut found, line).ok_or_else(|| Failure::new(format!("description of {topic}: cannot read {line:?}")))?;
    }
    Ok(found)
}

fn read(found: &mut Description, line: &str) -> Option<()> {
    let (kind, rest) = line.split_once(' ')?;
    let mut setting = |into: fn(&mut Description) -> &mut BTreeMap<String, String>| {
        let (key, value) = rest.split_once('=')?;
        into(found).insert(key.to_owned(), value.to_owned());
        Some(())
    };
    match kind {
        "own" => return setting(|found| &mut found.own),
        "default" => return setting(|found| &mut found.defaults),
        "partitions" => found.partitions = rest.parse().ok()?,
        "replication" => found.replication = rest.parse().ok()?,
        _ => return None,
    }
    Some(())
}

/// A command about topics: to the brokers where they have the request, else to their ZooKeeper.
fn program(cluster: &Cluster, command: &str, has_request: bool) -> Result<Program> {
    if has_request {
        Ok(Program::on(cluster, command))
    } else {
        Program::on_zookeeper(cluster, &format!("zk-{command}"))
    }
}

fn wait_for_leaders(cluster: &Cluster, topic: &str, partitions: u32) -> Result {
    let what = format!("leaders of all {partitions} partitions of {topic}");
    wait::until(Deadline::after(SETTLED_WITHIN), &what, || {
        let ends = cluster.ends(topic).unwrap_or_default();
        let led = ends.iter().flatten().count();
        Ok((u32::try_from(led) == Ok(partitions)).then_some(()))
    })
}
