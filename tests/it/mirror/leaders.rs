//! Several brokers on both sides: every leader is found, and followed when it moves.

use std::time::Duration;

use kmirror_tests::Result;
use kmirror_tests::brokers::Cluster;
use kmirror_tests::judge::{self, Topic, Workload};
use kmirror_tests::kmirror::Running;
use kmirror_tests::wait::{self, Deadline};

use super::stop::written;
use kmirror_tests::mirror_maker::Mirror;

const RECORDS: u64 = 300_000;
const TOPIC: &str = "leaders";

/// Two brokers on each side, six partitions on both brokers. One target broker is killed on the way and comes back, then
/// one of the source: the links of the other broker go on, those of the dead one move to its new leaders, and at the end
/// nothing is missing and nothing there twice.
#[test]
fn a_killed_broker_on_either_side_loses_and_repeats_nothing() -> Result {
    let two = |version| {
        let cluster = Cluster::of(version).nodes(2);
        cluster
            .property("unclean.leader.election.enable", "false")
            .property("zookeeper.session.timeout.ms", "2000")
            .start()
    };
    let (source, target) = (two("2.0.0")?, two("2.4.1")?);
    for cluster in [&source, &target] {
        judge::create(cluster, TOPIC, 6, &[("replication.factor", "2")])?;
    }
    let workload = Workload::of(RECORDS).value_bytes_max(100).property("batch.size", "2000");
    judge::produce(&source, TOPIC, &workload)?;

    let mirror = Mirror::between(&source, &target, TOPIC, TOPIC).consumer("max.partition.fetch.bytes", "4000");
    let mut running = mirror.command()?.arg("--until-caught-up").start()?;
    for (cluster, part) in [(&target, 10), (&source, 4)] {
        wait_until_written(&mut running, &target, RECORDS / part)?;
        cluster.kill(1)?;
        // While it is down the rest goes on: more arrives than had when it was killed.
        let before = written(&target, TOPIC);
        wait_until_written(&mut running, &target, before + RECORDS / 50)?;
        cluster.restart(1)?;
    }
    running.finish(Duration::from_secs(120))?.expect_code(0)?;
    judge::compare(Topic { cluster: &source, name: TOPIC }, Topic { cluster: &target, name: TOPIC })
}

fn wait_until_written(running: &mut Running, target: &Cluster, records: u64) -> Result {
    let what = format!("{records} records of {TOPIC} on the target");
    wait::until(Deadline::after(Duration::from_secs(90)), &what, || {
        let over = running.status()?.is_some();
        Ok((written(target, TOPIC) >= records || over).then_some(()))
    })
}
