//! `partitions = "modulo"`: several source partitions share one of the target.

use super::partitions::{THERE, prepared};
use super::{good, killed_on_the_way};
use crate::judge::{self, Listing, Row};
use crate::kafka::Kafka;
use crate::mirror_file::MirrorFile;
use crate::{Result, measured};

/// Partition n goes to partition n modulo 2: each in its order, once, whatever is written beside it, also after SIGKILL.
pub fn partitions_are_shared(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    const RECORDS: usize = 3000;
    const MORE: usize = 100;
    let to = target.release().version;
    let topic = format!("policies-partitions-modulo-{to}");
    let mut rows = prepared(source, target, &topic, 5, RECORDS)?;
    let mirror = MirrorFile::between(source, target, &topic, &topic);
    let mirror = mirror.line("partitions = \"modulo\"").slowly();
    killed_on_the_way(&mirror, target, &topic, 5 * RECORDS)?;
    mirror.run_until_caught_up()?;
    are_shared(&target.list(&topic)?, &topic, &rows)?;

    for (partition, rows) in (0..).zip(&mut rows) {
        let more: Vec<Row> = (RECORDS..RECORDS + MORE).map(|n| good(partition, n)).collect();
        source.write_many((&topic, partition), &more)?;
        rows.extend(more);
    }
    let (_, report) = mirror.run_until_caught_up()?;
    assert_eq!(report.count(&topic, "records"), 5 * MORE as u64, "nothing twice");
    are_shared(&target.list(&topic)?, &topic, &rows)?;
    measured(&format!("{to}: 5 partitions in 2, {} records", 5 * (RECORDS + MORE)));
    Ok(())
}

/// Fails unless the target's two partitions hold each source partition's rows in their order, and nothing else.
fn are_shared(listing: &Listing, topic: &str, rows: &[Vec<Row>]) -> Result {
    let total: usize = listing.values().map(Vec::len).sum();
    for (partition, rows) in (0..).zip(rows) {
        let mark = format!("of partition {partition}");
        let of_it = |row: &Row| row.value.as_ref().is_some_and(|value| value.ends_with(mark.as_bytes()));
        let found = listing.get(&(partition % THERE)).into_iter().flatten().filter(|(_, row)| of_it(row));
        let found = (0..).zip(found).map(|(n, (_, row))| (n, row.clone())).collect();
        judge::holds(&Listing::from([(partition, found)]), (topic, partition), rows)?;
    }
    assert_eq!(total, rows.iter().map(Vec::len).sum::<usize>(), "{topic}: nothing else");
    Ok(())
}
