//! `abort.on.send.failure`, as MirrorMaker 1 has it: the first record that the target refuses ends the mirror, or is left out,
//! counted and named.

use kmirror_tests::Result;
use kmirror_tests::brokers::{Cluster, shared};
use kmirror_tests::judge::{self, Row};

use super::{Mirror, RUN_WITHIN};

/// A hundred records, of which the 51st is larger than the target's topic takes.
fn prepared(target: &Cluster, topic: &str) -> Result<Vec<Row>> {
    let source = shared("2.0.0")?;
    judge::create(source, topic, 1, &[])?;
    judge::create(target, topic, 1, &[("max.message.bytes", "10000")])?;
    let row = |n| match n {
        50 => Row::sized(1_600_000_000_000 + n, "large", 30_000),
        n => Row::new(1_600_000_000_000 + n, Some("key"), Some(&format!("record {n}"))),
    };
    let rows: Vec<Row> = (0..100).map(row).collect();
    judge::write(source, (topic, 0), "none", &rows, &[])?;
    Ok(rows)
}

/// The default: exit code 1, with the link, the offset and the reason.
fn true_ends_the_mirror(target: &Cluster) -> Result {
    let topic = format!("abort-true-{}", target.release().version);
    let rows = prepared(target, &topic)?;
    let mirror = Mirror::between(shared("2.0.0")?, target, &topic, &topic);
    let finished = mirror.command()?.run(RUN_WITHIN)?.expect_code(1)?;
    finished.last_words(&[&format!("{topic}-0"), "source offset", "50", "max.message.bytes"])?;
    judge::holds(&judge::list(target, &topic)?, (&topic, 0), &rows[..50])
}

/// MirrorMaker's `numDroppedMessages`: counted in the final table, named with topic, partition, offset and reason.
fn false_leaves_it_out(target: &Cluster) -> Result {
    let topic = format!("abort-false-{}", target.release().version);
    let mut rows = prepared(target, &topic)?;
    let mirror = Mirror::between(shared("2.0.0")?, target, &topic, &topic);
    let command = mirror.command()?.option("abort.on.send.failure", "false").arg("--until-caught-up");
    let finished = command.run(RUN_WITHIN)?.expect_code(0)?;
    finished.one_line_with(&[&format!("{topic}-0"), "1 records dropped", "[50, 51)", "max.message.bytes"])?;
    let row = finished.stdout.lines().find(|line| line.starts_with(&topic)).unwrap_or_default();
    // Counted from the end: dropped, links, lag.
    assert_eq!(row.split_whitespace().rev().nth(2), Some("1"), "{}", finished.stdout);
    rows.remove(50);
    judge::holds(&judge::list(target, &topic)?, (&topic, 0), &rows)
}

#[test]
fn true_ends_the_mirror_on_3_9() -> Result {
    true_ends_the_mirror(shared("3.9.1")?)
}

#[test]
fn true_ends_the_mirror_on_0_10_1() -> Result {
    true_ends_the_mirror(shared("0.10.1.1")?)
}

#[test]
fn false_leaves_it_out_on_3_9() -> Result {
    false_leaves_it_out(shared("3.9.1")?)
}

#[test]
fn false_leaves_it_out_on_0_10_1() -> Result {
    false_leaves_it_out(shared("0.10.1.1")?)
}
