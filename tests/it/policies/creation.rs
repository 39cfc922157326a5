//! `create = false`: a topic that the target does not have is waited for.

use kmirror_tests::Result;
use kmirror_tests::brokers::shared_pair;
use kmirror_tests::judge;

use super::good;
use crate::mirror_file::{MirrorFile, stop, until_ends, until_said};

/// One message says what to do, the target is left alone, the neighbour goes on; once somebody has made the topic, it is
/// mirrored without a restart.
fn a_missing_topic_is_waited_for(to: &str) -> Result {
    let (source, target) = shared_pair("2.0.0", to)?;
    let topic = format!("policies-create-{to}");
    let neighbour = format!("{topic}-neighbour");
    let rows: Vec<_> = (0..100).map(|n| good(0, n)).collect();
    for name in [&topic, &neighbour] {
        judge::create(source, name, 1, &[])?;
        judge::write(source, (name, 0), "none", &rows, &[])?;
    }
    judge::create(target, &neighbour, 1, &[])?;
    let mirror = MirrorFile::between(source, target, &topic.replace('.', "_"), &format!("{topic}.*"));
    let mirror = mirror.line("create = false");
    let mut running = mirror.start()?;
    until_ends(&mut running, target, &neighbour, &[100])?;
    until_said(&mut running, &[&format!("{topic}:"), "create"])?;
    assert!(target.ends(&topic)?.is_empty(), "nobody may make it");
    judge::create(target, &topic, 1, &[])?;
    until_ends(&mut running, target, &topic, &[100])?;
    let (finished, report) = stop(running)?;
    finished.one_line_with(&[&format!("{topic}:"), "create"])?;
    assert_eq!((report.state(&topic), report.count(&topic, "records")), ("running", 100));
    judge::holds(&judge::list(target, &topic)?, (&topic, 0), &rows)
}

#[test]
fn on_3_9() -> Result {
    a_missing_topic_is_waited_for("3.9.1")
}

#[test]
fn on_0_10_1() -> Result {
    a_missing_topic_is_waited_for("0.10.1.1")
}
