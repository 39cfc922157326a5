//! The zoo from one release to another: equal, record by record.

use crate::judge::{self, Row};
use crate::kafka::{self, Kafka};
use crate::mirror_file::MirrorFile;
use crate::wait::Stopwatch;
use crate::{Result, measured};

const PARTITIONS: u32 = 3;

/// A hundred years: the zoo has a record of 1970.
pub(super) const RETENTION_MS: &str = "3155760000000";

/// A zoo in every partition; kmirror makes the target's topic, copies it once, and nothing twice.
pub fn the_zoo_arrives(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let (from, to) = (source.release().version, target.release().version);
    let topic = format!("pairs-zoo-{from}-{to}");
    source.create(&topic, PARTITIONS, &[("retention.ms", RETENTION_MS)])?;
    let written = judge::write_zoo(source, &topic, PARTITIONS)?;
    let headers = source.release().has_headers() && target.release().has_headers();
    let with_headers = written.iter().flatten().filter(|row| !row.headers.is_empty()).count();

    let mut mirror = MirrorFile::between(source, target, &format!("zoo-{from}-{to}"), &topic);
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

fn has_arrived(target: &dyn Kafka, topic: &str, written: &[Vec<Row>], headers: bool) -> Result {
    let kept = |row: &Row| if headers { row.clone() } else { row.without_headers() };
    let wanted: Vec<Vec<Row>> = written.iter().map(|rows| rows.iter().map(kept).collect()).collect();
    assert_eq!(target.describe(topic)?.partitions, PARTITIONS, "{topic}");
    kafka::holds(target, topic, &wanted)
}
