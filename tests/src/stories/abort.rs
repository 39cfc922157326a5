//! `abort.on.send.failure`, as MirrorMaker 1 has it: the first record that the target refuses ends the mirror, or is left out,
//! counted and named.

use crate::Result;
use crate::judge::{self, Row};
use crate::kafka::Kafka;
use crate::mirror_maker::{Mirror, RUN_WITHIN};

/// A hundred records, of which the 51st is larger than the target's topic takes.
fn prepared(source: &dyn Kafka, target: &dyn Kafka, topic: &str) -> Result<Vec<Row>> {
    source.create(topic, 1, &[])?;
    target.create(topic, 1, &[("max.message.bytes", "10000")])?;
    let row = |n| match n {
        50 => Row::sized(1_600_000_000_000 + n, "large", 30_000),
        n => Row::new(1_600_000_000_000 + n, Some("key"), Some(&format!("record {n}"))),
    };
    let rows: Vec<Row> = (0..100).map(row).collect();
    source.write((topic, 0), "none", &rows)?;
    Ok(rows)
}

/// The default: exit code 1, with the link, the offset and the reason.
pub fn true_ends_the_mirror(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = format!("abort-true-{}", target.release().version);
    let rows = prepared(source, target, &topic)?;
    let mirror = Mirror::between(source, target, &topic, &topic);
    let finished = mirror.command()?.run(RUN_WITHIN)?.expect_code(1)?;
    finished.last_words(&[&format!("{topic}-0"), "source offset", "50", "max.message.bytes"])?;
    judge::holds(&target.list(&topic)?, (&topic, 0), &rows[..50])
}

/// MirrorMaker's `numDroppedMessages`: counted in the final table, named with topic, partition, offset and reason.
pub fn false_leaves_it_out(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = format!("abort-false-{}", target.release().version);
    let mut rows = prepared(source, target, &topic)?;
    let mirror = Mirror::between(source, target, &topic, &topic);
    let command = mirror.command()?.option("abort.on.send.failure", "false").arg("--until-caught-up");
    let finished = command.run(RUN_WITHIN)?.expect_code(0)?;
    finished.one_line_with(&[&format!("{topic}-0"), "1 records dropped", "[50, 51)", "max.message.bytes"])?;
    let row = finished.stdout.lines().find(|line| line.starts_with(&topic)).unwrap_or_default();
    // Counted from the end: dropped, links, lag.
    assert_eq!(row.split_whitespace().rev().nth(2), Some("1"), "{}", finished.stdout);
    rows.remove(50);
    judge::holds(&target.list(&topic)?, (&topic, 0), &rows)
}
