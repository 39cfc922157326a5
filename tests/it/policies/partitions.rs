//! A target with fewer partitions than the source: `stop`, `grow`, and where neither they nor `modulo` can be had.

use kmirror_tests::brokers::{Cluster, shared_pair};
use kmirror_tests::judge::{self, Row};
use kmirror_tests::{Result, measured};

use super::{good, write_many};
use crate::mirror_file::{MirrorFile, stop, until_ends, until_said};

/// Partitions of the target.
pub(super) const THERE: u32 = 2;

/// A source topic with so many partitions, rows in each, and a target topic with two.
pub(super) fn prepared(
    source: &Cluster,
    target: &Cluster,
    topic: &str,
    partitions: u32,
    count: usize,
) -> Result<Vec<Vec<Row>>> {
    judge::create(source, topic, partitions, &[])?;
    judge::create(target, topic, THERE, &[])?;
    let rows: Vec<Vec<Row>> =
        (0..partitions).map(|partition| (0..count).map(|n| good(partition, n)).collect()).collect();
    for (partition, rows) in (0..).zip(&rows) {
        write_many(source, topic, partition, rows)?;
    }
    Ok(rows)
}

/// Another topic of the source, with a hundred records, that nothing is wrong with; its name.
fn with_neighbour(source: &Cluster, topic: &str) -> Result<String> {
    let neighbour = format!("{topic}-neighbour");
    judge::create(source, &neighbour, 1, &[])?;
    judge::produce_counter(source, &neighbour, 100)?;
    Ok(neighbour)
}

fn all_hold(target: &Cluster, topic: &str, rows: &[Vec<Row>]) -> Result {
    let listing = judge::list(target, topic)?;
    (0..).zip(rows).try_for_each(|(partition, rows)| judge::holds(&listing, (topic, partition), rows))
}

/// The partitions that the target does not have stand still and say so, the others and other topics go on. Once the target
/// has them, they are mirrored without a restart.
#[test]
fn stop_stands_still_until_the_target_has_them() -> Result {
    let (source, target) = shared_pair("2.0.0", "3.9.1")?;
    let topic = "policies-partitions-stop";
    let rows = prepared(source, target, topic, 4, 100)?;
    let neighbour = with_neighbour(source, topic)?;
    let mirror = MirrorFile::between(source, target, topic, "policies-partitions-stop.*");
    let mirror = mirror.line("partitions = \"stop\"");
    let mut running = mirror.start()?;
    until_ends(&mut running, target, topic, &[100, 100])?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    until_said(&mut running, &[topic, "2 partitions"])?;
    assert_eq!(judge::describe(target, topic)?.partitions, THERE, "stop leaves the target's topic alone");
    judge::add_partitions(target, topic, 4)?;
    until_ends(&mut running, target, topic, &[100, 100, 100, 100])?;
    let (finished, report) = stop(running)?;
    measured(finished.one_line_with(&[topic, "2 partitions"])?);
    assert_eq!((report.state(topic), report.count(topic, "records")), ("running", 400));
    all_hold(target, topic, &rows)
}

/// Partitions are added at the target before the first record.
#[test]
fn grow_adds_them() -> Result {
    for to in ["1.0.2", "4.4.0"] {
        let (source, target) = shared_pair("2.0.0", to)?;
        let topic = format!("policies-partitions-grow-{to}");
        let rows = prepared(source, target, &topic, 4, 100)?;
        // Grow is what happens unless something else is said.
        let mirror = MirrorFile::between(source, target, &topic.replace('.', "_"), &topic);
        let (finished, report) = mirror.run_until_caught_up()?;
        measured(finished.one_line_with(&[&topic, "4 partitions now, before 2"])?);
        assert_eq!(report.count(&topic, "records"), 400);
        all_hold(target, &topic, &rows)?;
    }
    Ok(())
}

/// Brokers below 1.0 add no partitions when they are asked: those that are there go on, the rest waits and says for what.
#[test]
fn grow_says_where_it_cannot() -> Result {
    let (source, target) = shared_pair("2.0.0", "0.10.1.1")?;
    let topic = "policies-partitions-grow-0.10";
    let rows = prepared(source, target, topic, 3, 100)?;
    let neighbour = with_neighbour(source, topic)?;
    let mirror = MirrorFile::between(source, target, "policies_partitions_grow_0_10", &format!("{topic}.*"));
    let mut running = mirror.start()?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    until_ends(&mut running, target, topic, &[100, 100])?;
    until_said(&mut running, &[topic, "has 2 partitions, the source's has 3"])?;
    // Somebody adds it by hand.
    judge::add_partitions(target, topic, 3)?;
    until_ends(&mut running, target, topic, &[100, 100, 100])?;
    let (finished, report) = stop(running)?;
    measured(finished.one_line_with(&[topic, "has 2 partitions"])?);
    assert_eq!((report.state(topic), report.count(topic, "records")), ("running", 300));
    all_hold(target, topic, &rows)
}

/// Without producer ids nobody could tell whose record is whose after a crash.
#[test]
fn modulo_is_refused_on_0_10() -> Result {
    let (source, target) = shared_pair("2.0.0", "0.10.1.1")?;
    let topic = "policies-partitions-modulo-0.10";
    prepared(source, target, topic, 3, 100)?;
    let neighbour = with_neighbour(source, topic)?;
    let mirror = MirrorFile::between(source, target, "policies_modulo_0_10", &format!("{topic}.*"));
    let route = format!("[[mirror.policies_modulo_0_10.route]]\ntopics = \"{topic}\"\npartitions = \"modulo\"");
    let mirror = mirror.line(&route);
    let mut running = mirror.start()?;
    until_said(&mut running, &[topic, "modulo", "0.11"])?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    let (finished, _) = stop(running)?;
    measured(finished.one_line_with(&[topic, "modulo", "0.11"])?);
    assert_eq!(target.ends(topic)?, [Some(0), Some(0)], "nothing is written that nobody can vouch for");
    Ok(())
}
