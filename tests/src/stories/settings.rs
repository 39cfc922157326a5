//! The target's topic is made with the source's partitions and settings, as far as both sides know them.

use std::collections::BTreeMap;

use crate::kafka::{self, Kafka};
use crate::mirror_file::MirrorFile;
use crate::{Result, measured};

const PARTITIONS: u32 = 5;

/// Nothing that a broker has by itself.
const SETTINGS: [(&str, &str); 6] = [
    ("cleanup.policy", "compact"),
    ("compression.type", "gzip"),
    ("max.message.bytes", "123456"),
    ("message.timestamp.type", "LogAppendTime"),
    ("retention.bytes", "1073741824"),
    ("retention.ms", "7200000"),
];

/// Creates a topic on the source, lets kmirror make it on the target with these lines in its file, and gives what the
/// target says that the topic has of its own.
fn made(source: &dyn Kafka, target: &dyn Kafka, mark: &str, lines: &[&str]) -> Result<BTreeMap<String, String>> {
    let topic = format!("pairs-settings-{mark}-{}-{}", source.release().version, target.release().version);
    source.create(&topic, PARTITIONS, &SETTINGS)?;
    let mirror = MirrorFile::between(source, target, &topic, &topic);
    let mirror = lines.iter().fold(mirror, |mirror, line| mirror.line(line));
    let (finished, _) = mirror.run_until_caught_up()?;
    finished.one_line_with(&[&topic, "created", "5 partitions"])?;
    let described = target.describe(&topic)?;
    assert_eq!((described.partitions, described.replication), (PARTITIONS, 1), "{topic}");
    measured(&format!("{topic}: {:?}", described.own));
    Ok(described.own)
}

#[track_caller]
fn has(own: &BTreeMap<String, String>, wanted: &[(&str, &str)]) {
    for (key, value) in wanted {
        assert_eq!(own.get(*key).map(String::as_str), Some(*value), "{key} of {own:?}");
    }
}

/// From 0.11 on the source tells them.
pub fn the_source_tells_them(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    has(&made(source, target, "told", &[])?, &SETTINGS);
    Ok(())
}

/// 0.10 does not tell what its topics have: the file decides.
pub fn the_file_tells_them(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let line = "settings = { \"cleanup.policy\" = \"compact\", \"max.message.bytes\" = \"654321\" }";
    let own = made(source, target, "file", &[line])?;
    has(&own, &[("cleanup.policy", "compact"), ("max.message.bytes", "654321")]);
    assert!(!own.contains_key("retention.ms"), "nobody knows the source's: {own:?}");
    Ok(())
}

/// The file wins over the source.
pub fn the_file_wins(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let own = made(source, target, "wins", &["settings = { \"retention.ms\" = \"3600000\" }"])?;
    has(&own, &[("retention.ms", "3600000"), ("cleanup.policy", "compact")]);
    Ok(())
}

/// 0.10.0 has no request that makes a topic: asking for it does, with the broker's own settings, and what could not be set is
/// said.
pub fn the_broker_makes_it(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = "pairs-settings-by-itself";
    source.create(topic, 1, &[("max.message.bytes", "123456")])?;
    source.write_counter(topic, 100)?;
    let (finished, report) = MirrorFile::between(source, target, topic, topic).run_until_caught_up()?;
    let said = finished.one_line_with(&[topic, "created", "max.message.bytes", "could not be set"])?;
    assert_eq!(report.count(topic, "records"), 100);
    let described = target.describe(topic)?;
    assert_eq!((described.partitions, described.own.len()), (1, 0), "{described:?}");
    measured(said);
    kafka::hold_the_same(source, target, topic)
}
