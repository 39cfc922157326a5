//! Whether both sides hold the same records in the same order.

use kmirror_testkit::{ContentsError, Record};

use super::TOPIC;
use super::sides::Side;
use crate::args::DemoArgs;
use crate::exit::Failure;

/// A record, owned: one partition at a time is held.
type Owned = (i64, i64, Option<Vec<u8>>, Option<Vec<u8>>);

/// Compares every record; returns how many there are.
///
/// # Errors
/// The first record that differs, by its place.
pub(super) fn compare(source: &Side, target: &Side, args: &DemoArgs) -> Result<u64, Failure> {
    let mut equal = 0;
    for partition in 0..i32::from(args.partitions) {
        let (ours, theirs) = (records(source, partition)?, records(target, partition)?);
        if let Some(at) = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at)) {
            let (ours, theirs) = (ours.get(at), theirs.get(at));
            let place = format!("{TOPIC}-{partition}, record {at}");
            return Err(Failure::failed(format!("{place} differs: source {ours:?}, target {theirs:?}")));
        }
        equal += u64::try_from(ours.len()).unwrap_or(u64::MAX);
    }
    if equal != args.records {
        return Err(Failure::failed(format!("{equal} records on both sides, {} were written", args.records)));
    }
    Ok(equal)
}

fn records(side: &Side, partition: i32) -> Result<Vec<Owned>, Failure> {
    let mut records = Vec::new();
    let own = |record: Record<'_>| {
        (record.offset, record.timestamp, record.key.map(<[u8]>::to_vec), record.value.map(<[u8]>::to_vec))
    };
    let read = side.server.with(|cluster, _| cluster.read(TOPIC, partition, |record| records.push(own(record))));
    let failed = |error: ContentsError| {
        Failure::failed(format!("reading {TOPIC}-{partition} of Kafka {}: {error}", side.release))
    };
    read.map_err(failed)?;
    Ok(records)
}
