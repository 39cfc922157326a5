//! While kmirror runs, topics and partitions come and go, and other topics are wanted: no restart, from the first record,
//! nothing twice.

pub mod selection;
pub mod topics;

use std::time::Duration;

use crate::judge::Row;
use crate::kafka::{self, Kafka};
use crate::kmirror::Running;
use crate::mirror_file::until;
use crate::wait::Stopwatch;
use crate::{Result, measured};

/// What the issue promises for whatever comes while it runs.
const SEEN_WITHIN: Duration = Duration::from_secs(30);

/// So many rows, no two alike: the `from`-th and the following of a partition.
fn rows(topic: &str, partition: u32, from: usize, count: usize) -> Vec<Row> {
    let row = |n: usize| {
        let timestamp = 1_600_000_000_000 + i64::try_from(n).unwrap_or(0);
        Row::new(timestamp, Some(&format!("{topic}-{partition}")), Some(&format!("record {n}")))
    };
    (from..from + count).map(row).collect()
}

/// Writes `count` rows, the first being the `from`-th, to each of the first `partitions` partitions.
fn write(cluster: &dyn Kafka, topic: &str, partitions: u32, from: usize, count: usize) -> Result {
    for partition in 0..partitions {
        cluster.write((topic, partition), "none", &rows(topic, partition, from, count))?;
    }
    Ok(())
}

/// Waits until the target's topic has so many partitions with so many records each; fails if it took longer than promised.
fn arrives(
    running: &mut Running,
    target: &dyn Kafka,
    what: &str,
    topic: &str,
    ends: &[i64],
    since: Stopwatch,
) -> Result {
    let wanted: Vec<Option<i64>> = ends.iter().copied().map(Some).collect();
    until(running, &format!("{what}: {topic} to end at {ends:?}"), |_| Ok(target.ends(topic)? == wanted))?;
    let took = since.elapsed();
    measured(&format!("{}: {what}: there after {took:?}", target.release().version));
    assert!(took <= SEEN_WITHIN, "{what}: {took:?} instead of {SEEN_WITHIN:?} at most");
    Ok(())
}

/// Fails unless each partition holds its first `count` rows, each once, in order.
fn holds(cluster: &dyn Kafka, topic: &str, partitions: u32, count: usize) -> Result {
    let wanted: Vec<Vec<Row>> = (0..partitions).map(|partition| rows(topic, partition, 0, count)).collect();
    kafka::holds(cluster, topic, &wanted)
}
