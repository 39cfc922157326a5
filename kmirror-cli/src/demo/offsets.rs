//! Where the partitions of both sides begin and end, asked over the wire as `kmirror offsets` does it.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::time::Duration;

use kmirror_core::config::{RawConfig, Role, TopicPattern, cluster};
use kmirror_core::offsets::{ListTime, OffsetsQuery, Partitions, Rule};
use kmirror_core::runtime::list_offsets;

use super::TOPIC;
use super::sides::{Side, Sides};
use crate::args::DemoArgs;
use crate::exit::Failure;

/// Start and end by partition.
type Offsets = BTreeMap<i32, (Option<i64>, Option<i64>)>;

/// Prints both sides.
///
/// # Errors
/// If a side cannot be asked, or does not have every record.
pub(super) fn show(sides: &Sides, args: &DemoArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?;
    let (source, target) = (runtime.block_on(of(&sides.source))?, runtime.block_on(of(&sides.target))?);
    let (ours, theirs) = (sides.source.release.number(), sides.target.release.number());
    let mut out = format!("{:<18}{ours:>22}{theirs:>28}\n", "");
    out.push_str(&format!("{:<18}{:>10}{:>12}{:>16}{:>12}\n", "partition", "start", "end", "start", "end"));
    for (partition, (start, end)) in &source {
        let (target_start, target_end) = target.get(partition).copied().unwrap_or_default();
        let cells = [*start, *end, target_start, target_end].map(|cell| cell.map_or("-".to_owned(), |n| n.to_string()));
        let [start, end, target_start, target_end] = cells;
        let name = format!("{TOPIC}-{partition}");
        out.push_str(&format!("{name:<18}{start:>10}{end:>12}{target_start:>16}{target_end:>12}\n"));
    }
    io::stdout().write_all(out.as_bytes()).map_err(Failure::failed)?;
    let records: i64 = source.values().filter_map(|(_, end)| *end).sum();
    if source != target || u64::try_from(records).ok() != Some(args.records) {
        return Err(Failure::failed(format!(
            "the ends differ: {records} records on the source, {} wanted",
            args.records
        )));
    }
    Ok(())
}

async fn of(side: &Side) -> Result<Offsets, Failure> {
    let starts = ask(side, ListTime::Earliest).await?;
    let ends = ask(side, ListTime::Latest).await?;
    let both =
        starts.into_iter().map(|(partition, start)| (partition, (start, ends.get(&partition).copied().flatten())));
    Ok(both.collect())
}

async fn ask(side: &Side, time: ListTime) -> Result<BTreeMap<i32, Option<i64>>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::failed(format!("asking Kafka {}: {error}", side.release));
    let given = ("--bootstrap-server", side.bootstrap());
    let cluster = cluster(Role::Admin, &RawConfig::default(), Some(given)).map_err(|error| failed(&error))?;
    let topics = TopicPattern::parse(TOPIC).map_err(|error| failed(&error))?;
    let rules = vec![Rule { topics, partitions: Partitions::All }];
    let query = OffsetsQuery { rules, exclude_internal: true, time, timeout: Duration::from_secs(30) };
    let listing = list_offsets(&cluster, query).await.map_err(|error| failed(&error))?;
    Ok(listing.offsets.into_iter().map(|found| (found.partition, found.offset)).collect())
}
