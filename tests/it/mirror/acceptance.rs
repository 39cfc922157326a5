//! The first acceptance test: 2.0.0 to 0.10.1, 32 partitions, a million records, to the digit.

use std::time::Duration;

use kmirror_tests::Result;
use kmirror_tests::brokers::{Cluster, shared};
use kmirror_tests::judge::{self, Topic};
use kmirror_tests::kmirror::Kmirror;

use kmirror_tests::mirror_maker::Mirror;

const TOPIC: &str = "test-mirror";
const PARTITIONS: u32 = 32;
const RECORDS: u64 = 1_000_000;

#[test]
fn a_million_records_from_2_0_to_0_10_1() -> Result {
    let (source, target) = (shared("2.0.0")?, shared("0.10.1.1")?);
    for cluster in [source, target] {
        judge::create(cluster, TOPIC, PARTITIONS, &[])?;
    }
    judge::produce_counter(source, TOPIC, RECORDS)?;

    mirror(source, target, "test-mirror").run_until_caught_up()?;
    for cluster in [source, target] {
        assert_eq!(offsets(cluster, "-2")?, lines(0));
        assert_eq!(offsets(cluster, "-1")?, lines(31_250));
    }
    let (from, to) = (Topic { cluster: source, name: TOPIC }, Topic { cluster: target, name: TOPIC });
    judge::compare(from, to)?;

    // The same group again: everything is there already.
    mirror(source, target, "test-mirror").run_until_caught_up()?;
    assert_eq!(offsets(target, "-1")?, lines(31_250), "the same group copies nothing twice");
    judge::compare(from, to)?;

    // Another group is another mirror, and begins at the earliest record.
    mirror(source, target, "test-mirror-again").run_until_caught_up()?;
    assert_eq!(offsets(target, "-1")?, lines(62_500), "another group copies all");
    Ok(())
}

fn mirror(source: &Cluster, target: &Cluster, group: &str) -> Mirror {
    let assignor = "org.apache.kafka.clients.consumer.RoundRobinAssignor";
    Mirror::between(source, target, group, TOPIC).consumer("partition.assignment.strategy", assignor)
}

/// What `kmirror offsets` prints: sorted by topic, then by the partition's number.
fn offsets(cluster: &Cluster, time: &str) -> Result<Vec<String>> {
    let command = Kmirror::new("offsets").option("broker-list", cluster.bootstrap()).option("topic", TOPIC);
    let finished = command.option("time", time).run(Duration::from_secs(60))?.expect_code(0)?;
    Ok(finished.stdout.lines().map(str::to_owned).collect())
}

fn lines(offset: i64) -> Vec<String> {
    (0..PARTITIONS).map(|partition| format!("{TOPIC}:{partition}:{offset}")).collect()
}
