//! A clean stop in the middle, and going on from there.

use std::time::Duration;

use kmirror_tests::brokers::{Cluster, shared};
use kmirror_tests::judge::{self, Topic, Workload};
use kmirror_tests::kmirror::Running;
use kmirror_tests::wait::{self, Deadline};
use kmirror_tests::{Failure, Result};

use kmirror_tests::mirror_maker::Mirror;

pub(super) const RECORDS: u64 = 200_000;
const PARTITIONS: u32 = 4;

/// The default of `stop_timeout`, 30 s, and a little for a busy machine.
const STOP_WITHIN: Duration = Duration::from_secs(35);

/// SIGTERM between a tenth and four fifths of the way: exit code 0 within the bound; started again, it copies the
/// rest, and nothing is missing and nothing there twice.
fn stopped_in_the_middle(release: &str, signal: &str) -> Result {
    let (source, target) = (shared("2.0.0")?, shared(release)?);
    let topic = format!("stop-{}-{signal}", target.release().version);
    for cluster in [source, target] {
        judge::create(cluster, &topic, PARTITIONS, &[])?;
    }
    // Small batches at the source, few of them per fetch: slow enough to be stopped on the way.
    let workload = Workload::of(RECORDS).without_headers().value_bytes_max(100).property("batch.size", "2000");
    judge::produce(source, &topic, &workload)?;
    let mirror = Mirror::between(source, target, &topic, &topic).consumer("max.partition.fetch.bytes", "4000");

    let mut running = mirror.command()?.start()?;
    let before = wait_for_progress(&mut running, target, &topic)?;
    running.signal(signal)?;
    running.finish(STOP_WITHIN)?.expect_code(0)?;
    let stopped = written(target, &topic);
    assert!(stopped >= before && stopped < RECORDS, "stopped at {stopped} of {RECORDS}, seen at {before}");

    mirror.run_until_caught_up()?;
    assert_eq!(written(target, &topic), RECORDS);
    judge::compare(Topic { cluster: source, name: &topic }, Topic { cluster: target, name: &topic })
}

#[test]
fn sigterm_in_the_middle_loses_nothing_on_0_10_1() -> Result {
    stopped_in_the_middle("0.10.1.1", "TERM")
}

#[test]
fn sigterm_in_the_middle_loses_nothing_on_2_0() -> Result {
    stopped_in_the_middle("2.0.0/second", "TERM")
}

#[test]
fn ctrl_c_in_the_middle_loses_nothing_on_2_0() -> Result {
    stopped_in_the_middle("2.0.0/second", "INT")
}

/// Waits until the target holds a tenth; fails when it already holds more than four fifths: then nothing was stopped
/// in the middle, and the test would prove nothing.
pub(super) fn wait_for_progress(running: &mut Running, target: &Cluster, topic: &str) -> Result<u64> {
    let what = format!("a tenth of {topic} on the target");
    let seen = wait::until(Deadline::after(Duration::from_secs(120)), &what, || {
        if let Some(status) = running.status()? {
            return Err(Failure::new(format!("kmirror ended with {status}\n{}", running.output())));
        }
        let written = written(target, topic);
        Ok((written >= RECORDS / 10).then_some(written))
    })?;
    match seen {
        seen if seen <= RECORDS / 5 * 4 => Ok(seen),
        seen => Err(Failure::new(format!("{seen} of {RECORDS} were there at the first look: too fast to be stopped"))),
    }
}

/// Records at the target. While a leader moves its partition has no end to tell: then what was seen counts as nothing.
pub(super) fn written(target: &Cluster, topic: &str) -> u64 {
    let ends = target.ends(topic).unwrap_or_default();
    ends.into_iter().flatten().filter_map(|end| u64::try_from(end).ok()).sum()
}
