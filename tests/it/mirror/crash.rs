//! The process is killed on the way: the next one finds out from the target's own log where it was.

use std::time::Duration;

use kmirror_tests::Result;
use kmirror_tests::brokers::shared;
use kmirror_tests::judge::{self, Topic, Workload};

use super::stop::{RECORDS, wait_for_progress};
use kmirror_tests::mirror_maker::Mirror;

/// SIGKILL on the way, three times, then to the end. On 0.10 each start after a crash waits for the settle time first.
fn killed_on_the_way(release: &str, times: u32) -> Result {
    let (source, target) = (shared("2.0.0")?, shared(release)?);
    let topic = format!("crash-{}", target.release().version);
    for cluster in [source, target] {
        judge::create(cluster, &topic, 4, &[])?;
    }
    let workload = Workload::of(RECORDS).without_headers().value_bytes_max(100).property("batch.size", "2000");
    judge::produce(source, &topic, &workload)?;
    let mirror = Mirror::between(source, target, &topic, &topic).consumer("max.partition.fetch.bytes", "4000");
    for _ in 0..times {
        let mut running = mirror.command()?.start()?;
        wait_for_progress(&mut running, target, &topic)?;
        running.signal("KILL")?;
        running.finish(Duration::from_secs(10))?;
    }
    mirror.run_until_caught_up()?;
    judge::compare(Topic { cluster: source, name: &topic }, Topic { cluster: target, name: &topic })
}

#[test]
fn sigkill_loses_and_repeats_nothing_on_2_0() -> Result {
    killed_on_the_way("2.0.0/second", 3)
}

#[test]
fn sigkill_loses_and_repeats_nothing_on_3_9() -> Result {
    killed_on_the_way("3.9.1", 3)
}

#[test]
fn sigkill_loses_and_repeats_nothing_on_0_10_1() -> Result {
    killed_on_the_way("0.10.1.1", 1)
}
