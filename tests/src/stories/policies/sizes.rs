//! What looks too large and is not: a batch that is split, a batch that fits because it is compressed (report B31).

use super::{good, timestamp};
use crate::judge::{self, Row};
use crate::kafka::Kafka;
use crate::mirror_file::MirrorFile;
use crate::{Result, measured};

/// Batches of 24 kB of noise, of 60 kB that gzip makes small, and one record of 30 kB that gzip makes small, into a topic
/// that takes 10 kB: all of it arrives, with the policy `refuse`.
pub fn all_of_it_arrives(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let to = target.release().version;
    let topic = format!("policies-sizes-{to}");
    source.create(&topic, 1, &[])?;
    target.create(&topic, 1, &[("max.message.bytes", "10000")])?;
    let noise: Vec<Row> = (0..12).map(|n| Row::sized(timestamp(n), "noise", 2000)).collect();
    let words = "the same words again and again ".repeat(20);
    let packed: Vec<Row> = (12..112).map(|n| Row::new(timestamp(n), Some("packed"), Some(&words))).collect();
    let long = vec![Row::new(timestamp(112), Some("long"), Some(&words.repeat(50)))];
    for (codec, rows) in [("none", &noise), ("gzip", &packed), ("gzip", &long), ("none", &vec![good(0, 113)])] {
        source.write((&topic, 0), codec, rows)?;
    }
    let mirror = MirrorFile::between(source, target, &topic, &topic).line("on_too_large = \"refuse\"");
    let (_, report) = mirror.run_until_caught_up()?;
    let rows: Vec<Row> = [noise, packed, long, vec![good(0, 113)]].concat();
    judge::holds(&target.list(&topic)?, (&topic, 0), &rows)?;
    assert_eq!((report.count(&topic, "dropped"), report.count(&topic, "records")), (0, rows.len() as u64));
    let (raw, rewritten) = (report.count(&topic, "batches_raw"), report.count(&topic, "batches_rewritten"));
    measured(&format!("{to}: {} records, {raw} batches raw, {rewritten} rewritten", rows.len()));
    Ok(())
}
