//! The zoo from each release to another: equal by the Java client, record by record.

use kmirror_tests::brokers::{Cluster, shared_pair};
use kmirror_tests::judge::{self, Row};
use kmirror_tests::wait::Stopwatch;
use kmirror_tests::{Result, measured};

use crate::mirror_file::MirrorFile;

const PARTITIONS: u32 = 3;

/// A hundred years: the zoo has a record of 1970.
pub(super) const RETENTION_MS: &str = "3155760000000";

/// A zoo in every partition; kmirror makes the target's topic, copies it once, and nothing twice.
fn the_zoo_arrives(from: &str, to: &str) -> Result {
    let (source, target) = shared_pair(from, to)?;
    let topic = format!("pairs-zoo-{from}-{to}");
    judge::create(source, &topic, PARTITIONS, &[("retention.ms", RETENTION_MS)])?;
    let written = judge::write_zoo(source, &topic, PARTITIONS)?;
    let headers = source.release().has_headers() && target.release().has_headers();
    let with_headers = written.iter().flatten().filter(|row| !row.headers.is_empty()).count();

    let mut mirror = MirrorFile::between(source, target, &format!("zoo-{from}-{to}").replace('.', "_"), &topic);
    if !source.release().at_least(0, 11) {
        // What the source does not tell, and 1970 is long ago.
        mirror = mirror.line(&format!("settings = {{ \"retention.ms\" = \"{RETENTION_MS}\" }}"));
    }
    let began = Stopwatch::start();
    let (finished, report) = mirror.run_until_caught_up()?;
    let took = began.elapsed();
    has_arrived(target, &topic, &written, headers)?;
    let records: usize = written.iter().map(Vec::len).sum();
    let lost = if headers { 0 } else { with_headers };
    assert_eq!(report.count(&topic, "records"), records as u64);
    assert_eq!(report.count(&topic, "dropped"), 0);
    assert_eq!(report.count(&topic, "headers_dropped"), lost as u64, "records without the headers that they had");
    let said = finished.stderr.lines().filter(|line| line.contains(&topic) && line.contains("headers are dropped"));
    assert_eq!(said.count(), usize::from(lost > 0), "said once for the topic: {}", finished.stderr);

    let (_, report) = mirror.run_until_caught_up()?;
    assert_eq!(report.count(&topic, "records"), 0, "nothing is copied twice");
    has_arrived(target, &topic, &written, headers)?;
    measured(&format!("{from} → {to}: {records} records, {lost} of them without their headers, in {took:?}"));
    Ok(())
}

fn has_arrived(target: &Cluster, topic: &str, written: &[Vec<Row>], headers: bool) -> Result {
    let listing = judge::list(target, topic)?;
    assert_eq!(judge::describe(target, topic)?.partitions, PARTITIONS, "{topic}");
    for (partition, rows) in (0..).zip(written) {
        let wanted: Vec<Row> =
            rows.iter().map(|row| if headers { row.clone() } else { row.without_headers() }).collect();
        judge::holds(&listing, (topic, partition), &wanted)?;
    }
    Ok(())
}

#[test]
fn from_0_10_0_to_0_10_1() -> Result {
    the_zoo_arrives("0.10.0.1", "0.10.1.1")
}

#[test]
fn from_0_10_1_to_2_0() -> Result {
    the_zoo_arrives("0.10.1.1", "2.0.0")
}

#[test]
fn from_1_1_to_0_10_2() -> Result {
    the_zoo_arrives("1.1.1", "0.10.2.2")
}

#[test]
fn from_2_0_to_4_4() -> Result {
    the_zoo_arrives("2.0.0", "4.4.0")
}

#[test]
fn from_3_9_to_0_10_1() -> Result {
    the_zoo_arrives("3.9.1", "0.10.1.1")
}

#[test]
fn from_4_4_to_2_0() -> Result {
    the_zoo_arrives("4.4.0", "2.0.0")
}

#[test]
fn from_0_11_to_3_9() -> Result {
    the_zoo_arrives("0.11.0.3", "3.9.1")
}

#[test]
fn from_2_8_to_1_0() -> Result {
    the_zoo_arrives("2.8.2", "1.0.2")
}
