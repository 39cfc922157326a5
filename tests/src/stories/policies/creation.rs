//! `create = false`: a topic that the target does not have is waited for.

use super::good;
use crate::Result;
use crate::judge;
use crate::kafka::Kafka;
use crate::mirror_file::{MirrorFile, stop, until_ends, until_said};

/// One message says what to do, the target is left alone, the neighbour goes on; once somebody has made the topic, it is
/// mirrored without a restart.
pub fn a_missing_topic_is_waited_for(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let to = target.release().version;
    let topic = format!("policies-create-{to}");
    let neighbour = format!("{topic}-neighbour");
    let rows: Vec<_> = (0..100).map(|n| good(0, n)).collect();
    for name in [&topic, &neighbour] {
        source.create(name, 1, &[])?;
        source.write((name, 0), "none", &rows)?;
    }
    target.create(&neighbour, 1, &[])?;
    let mirror = MirrorFile::between(source, target, &topic, &format!("{topic}.*"));
    let mirror = mirror.line("create = false");
    let mut running = mirror.start()?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    until_said(&mut running, &[&format!("{topic}:"), "create"])?;
    assert!(target.ends(&topic)?.is_empty(), "nobody may make it");
    target.create(&topic, 1, &[])?;
    until_ends(&mut running, target, &topic, &[100])?;
    let (finished, report) = stop(running)?;
    finished.one_line_with(&[&format!("{topic}:"), "create"])?;
    assert_eq!((report.state(&topic), report.count(&topic, "records")), ("running", 100));
    judge::holds(&target.list(&topic)?, (&topic, 0), &rows)
}
