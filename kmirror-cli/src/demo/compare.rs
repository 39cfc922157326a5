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

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use kmirror_testkit::Codec;

    use super::super::sides::Sides;
    use super::*;
    use crate::args::{Cli, Command};

    /// Both sides with these values in partition 1, and what comparing them says.
    fn compared(ours: &[&[u8]], theirs: &[&[u8]]) -> Result<u64, String> {
        let cli = Cli::try_parse_from(["kmirror", "demo", "--records", "2", "--partitions", "2"]).unwrap();
        let Command::Demo(args) = cli.command else { unreachable!() };
        let sides = Sides::start(&args).unwrap();
        for (side, values) in [(&sides.source, ours), (&sides.target, theirs)] {
            let record =
                |value| Record { offset: 0, timestamp: 1_700_000_000_000, key: None, value: Some(value), headers: &[] };
            let records = values.iter().copied().map(record);
            side.server.with(|cluster, now| cluster.write(now, TOPIC, 1, Codec::None, records)).unwrap();
        }
        compare(&sides.source, &sides.target, &args).map_err(|failure| failure.to_string())
    }

    #[test]
    fn every_difference_is_found_and_has_its_place() {
        assert_eq!(compared(&[b"a", b"b"], &[b"a", b"b"]), Ok(2));
        for theirs in [&[&b"a"[..], b"c"][..], &[b"a"], &[b"a", b"b", b"b"]] {
            let said = compared(&[b"a", b"b"], theirs).unwrap_err();
            let at = if theirs.len() == 3 { 2 } else { 1 };
            assert!(said.starts_with(&format!("test-mirror-1, record {at} differs: source ")), "{said}");
        }
        let missing = compared(&[b"a"], &[b"a"]).unwrap_err();
        assert_eq!(missing, "1 records on both sides, 2 were written");
    }
}
