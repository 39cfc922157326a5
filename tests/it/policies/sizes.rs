//! What looks too large and is not: a batch that is split, a batch that fits because it is compressed (report B31).

use kmirror_tests::brokers::shared_pair;
use kmirror_tests::judge::{self, Row};
use kmirror_tests::{Result, measured};

use super::{good, timestamp};
use crate::mirror_file::MirrorFile;

/// Batches of 24 kB of noise, of 60 kB that gzip makes small, and one record of 30 kB that gzip makes small, into a topic
/// that takes 10 kB: all of it arrives, with the policy `refuse`.
fn all_of_it_arrives(to: &str) -> Result {
    let (source, target) = shared_pair("2.0.0", to)?;
    let topic = format!("policies-sizes-{to}");
    judge::create(source, &topic, 1, &[])?;
    judge::create(target, &topic, 1, &[("max.message.bytes", "10000")])?;
    let noise: Vec<Row> = (0..12).map(|n| Row::sized(timestamp(n), "noise", 2000)).collect();
    let words = "the same words again and again ".repeat(20);
    let packed: Vec<Row> = (12..112).map(|n| Row::new(timestamp(n), Some("packed"), Some(&words))).collect();
    let long = vec![Row::new(timestamp(112), Some("long"), Some(&words.repeat(50)))];
    for (codec, rows) in [("none", &noise), ("gzip", &packed), ("gzip", &long), ("none", &vec![good(0, 113)])] {
        judge::write(source, (&topic, 0), codec, rows, &[])?;
    }
    let mirror =
        MirrorFile::between(source, target, &topic.replace('.', "_"), &topic).line("on_too_large = \"refuse\"");
    let (_, report) = mirror.run_until_caught_up()?;
    let rows: Vec<Row> = [noise, packed, long, vec![good(0, 113)]].concat();
    judge::holds(&judge::list(target, &topic)?, (&topic, 0), &rows)?;
    assert_eq!((report.count(&topic, "dropped"), report.count(&topic, "records")), (0, rows.len() as u64));
    let (raw, rewritten) = (report.count(&topic, "batches_raw"), report.count(&topic, "batches_rewritten"));
    measured(&format!("{to}: {} records, {raw} batches raw, {rewritten} rewritten", rows.len()));
    Ok(())
}

#[test]
fn a_batch_that_is_too_large_is_split_on_3_9() -> Result {
    all_of_it_arrives("3.9.1")
}

#[test]
fn a_batch_that_is_too_large_is_split_on_0_10_1() -> Result {
    all_of_it_arrives("0.10.1.1")
}
