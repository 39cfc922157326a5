//! A target with fewer partitions than the source: `stop`, `grow`, and where neither they nor `modulo` can be had.

use super::good;
use crate::judge::Row;
use crate::kafka::{self, Kafka};
use crate::mirror_file::{MirrorFile, stop, until_ends, until_said};
use crate::{Result, measured};

/// Partitions of the target.
pub(super) const THERE: u32 = 2;

/// A source topic with so many partitions, rows in each, and a target topic with two.
pub(super) fn prepared(
    source: &dyn Kafka,
    target: &dyn Kafka,
    topic: &str,
    partitions: u32,
    count: usize,
) -> Result<Vec<Vec<Row>>> {
    source.create(topic, partitions, &[])?;
    target.create(topic, THERE, &[])?;
    let rows: Vec<Vec<Row>> =
        (0..partitions).map(|partition| (0..count).map(|n| good(partition, n)).collect()).collect();
    for (partition, rows) in (0..).zip(&rows) {
        source.write_many((topic, partition), rows)?;
    }
    Ok(rows)
}

/// Another topic of the source, with a hundred records, that nothing is wrong with; its name.
fn with_neighbour(source: &dyn Kafka, topic: &str) -> Result<String> {
    let neighbour = format!("{topic}-neighbour");
    source.create(&neighbour, 1, &[])?;
    source.write_counter(&neighbour, 100)?;
    Ok(neighbour)
}

/// The partitions that the target does not have stand still and say so, the others and other topics go on. Once the target
/// has them, they are mirrored without a restart.
pub fn stop_stands_still_until_the_target_has_them(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = &format!("policies-partitions-stop-{}", target.release().version);
    let rows = prepared(source, target, topic, 4, 100)?;
    let neighbour = with_neighbour(source, topic)?;
    let mirror = MirrorFile::between(source, target, topic, &format!("{topic}.*"));
    let mirror = mirror.line("partitions = \"stop\"");
    let mut running = mirror.start()?;
    until_ends(&mut running, target, topic, &[100, 100])?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    until_said(&mut running, &[topic, "2 partitions"])?;
    assert_eq!(target.describe(topic)?.partitions, THERE, "stop leaves the target's topic alone");
    target.add_partitions(topic, 4)?;
    until_ends(&mut running, target, topic, &[100, 100, 100, 100])?;
    let (finished, report) = stop(running)?;
    measured(finished.one_line_with(&[topic, "2 partitions"])?);
    assert_eq!((report.state(topic), report.count(topic, "records")), ("running", 400));
    kafka::holds(target, topic, &rows)
}

/// Partitions are added at the target before the first record.
pub fn grow_adds_them(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = &format!("policies-partitions-grow-{}", target.release().version);
    let rows = prepared(source, target, topic, 4, 100)?;
    // Grow is what happens unless something else is said.
    let (finished, report) = MirrorFile::between(source, target, topic, topic).run_until_caught_up()?;
    measured(finished.one_line_with(&[topic, "4 partitions now, before 2"])?);
    assert_eq!(report.count(topic, "records"), 400);
    kafka::holds(target, topic, &rows)
}

/// Brokers below 1.0 add no partitions when they are asked: those that are there go on, the rest waits and says for what.
pub fn grow_says_where_it_cannot(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = &format!("policies-partitions-grow-{}", target.release().version);
    let rows = prepared(source, target, topic, 3, 100)?;
    let neighbour = with_neighbour(source, topic)?;
    let mirror = MirrorFile::between(source, target, topic, &format!("{topic}.*"));
    let mut running = mirror.start()?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    until_ends(&mut running, target, topic, &[100, 100])?;
    until_said(&mut running, &[topic, "has 2 partitions, the source's has 3"])?;
    // Somebody adds it by hand.
    target.add_partitions(topic, 3)?;
    until_ends(&mut running, target, topic, &[100, 100, 100])?;
    let (finished, report) = stop(running)?;
    measured(finished.one_line_with(&[topic, "has 2 partitions"])?);
    assert_eq!((report.state(topic), report.count(topic, "records")), ("running", 300));
    kafka::holds(target, topic, &rows)
}

/// Without producer ids nobody could tell whose record is whose after a crash.
pub fn modulo_is_refused_on_0_10(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = &format!("policies-partitions-modulo-{}", target.release().version);
    prepared(source, target, topic, 3, 100)?;
    let neighbour = with_neighbour(source, topic)?;
    let mirror = MirrorFile::between(source, target, "modulo-refused", &format!("{topic}.*"));
    let route = format!("[[mirror.modulo-refused.route]]\ntopics = \"{topic}\"\npartitions = \"modulo\"");
    let mirror = mirror.line(&route);
    let mut running = mirror.start()?;
    until_said(&mut running, &[topic, "modulo", "0.11"])?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    let (finished, _) = stop(running)?;
    measured(finished.one_line_with(&[topic, "modulo", "0.11"])?);
    assert_eq!(target.ends(topic)?, [Some(0), Some(0)], "nothing is written that nobody can vouch for");
    Ok(())
}
