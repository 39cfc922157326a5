//! What a target cannot take, by policy: the message, the counter, and the neighbours that go on.

pub mod creation;
pub mod losses;
pub mod modulo;
pub mod partitions;
pub mod sizes;

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

use crate::judge::Row;
use crate::kafka::Kafka;
use crate::kmirror::Finished;
use crate::mirror_file::{MirrorFile, until};
use crate::wait::unix_ms;
use crate::{Failure, Result};

/// The `n`-th row of a partition where nothing is wrong with it.
fn good(partition: u32, n: usize) -> Row {
    Row::new(timestamp(n), Some(&format!("key {n}")), Some(&format!("record {n} of partition {partition}")))
}

/// An hour ago, a millisecond later for each record: young enough for a broker to remember who wrote it, so that a start
/// after SIGKILL need not wait.
fn timestamp(n: usize) -> i64 {
    static FIRST: OnceLock<i64> = OnceLock::new();
    FIRST.get_or_init(|| unix_ms() - 3_600_000) + i64::try_from(n).unwrap_or(0)
}

/// Starts the mirror, waits until the target holds a tenth of `records`, and kills it (SIGKILL); what it said until then.
fn killed_on_the_way(mirror: &MirrorFile, target: &dyn Kafka, topic: &str, records: usize) -> Result<Finished> {
    let go = target.slow_down(topic);
    let mut running = mirror.start()?;
    let mut seen = 0;
    until(&mut running, &format!("a tenth of {topic} on the target"), |_| {
        seen = written(target, topic);
        Ok(seen >= records / 10)
    })?;
    running.signal("KILL")?;
    let finished = running.finish(Duration::from_secs(10))?;
    go();
    if seen > records / 5 * 4 {
        return Err(Failure::new(format!("{seen} of {records} were there at the first look: too fast to be killed")));
    }
    Ok(finished)
}

fn written(target: &dyn Kafka, topic: &str) -> usize {
    let ends = target.ends(topic).unwrap_or_default();
    ends.into_iter().flatten().filter_map(|end| usize::try_from(end).ok()).sum()
}

/// The source offsets of a link that its log says were left out, and how many records it counted for them.
fn left_out(finished: &Finished, link: &str) -> Result<(BTreeSet<usize>, usize)> {
    let (mut offsets, mut counted) = (BTreeSet::new(), 0);
    for line in finished.stderr.lines().filter(|line| line.contains(&format!("{link}: "))) {
        let Some((before, range)) = line.split_once(" records dropped, source offsets [") else {
            continue;
        };
        let parse = || {
            let (from, to) = range.split_once(')')?.0.split_once(", ")?;
            let count: usize = before.rsplit(' ').next()?.parse().ok()?;
            Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()?, count))
        };
        let (from, to, count) = parse().ok_or_else(|| Failure::new(format!("cannot read {line:?}")))?;
        offsets.extend(from..to);
        counted += count;
    }
    Ok((offsets, counted))
}
