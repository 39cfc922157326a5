//! The target's topic is made with the source's partitions and settings, as far as both sides know them.

use std::collections::BTreeMap;

use kmirror_tests::brokers::{Cluster, shared_pair};
use kmirror_tests::judge::{self, Topic};
use kmirror_tests::{Result, measured};

use crate::mirror_file::MirrorFile;

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
fn made(source: &Cluster, target: &Cluster, mark: &str, lines: &[&str]) -> Result<BTreeMap<String, String>> {
    let topic = format!("pairs-settings-{mark}-{}-{}", source.release().version, target.release().version);
    judge::create(source, &topic, PARTITIONS, &SETTINGS)?;
    let mirror = MirrorFile::between(source, target, &topic.replace('.', "_"), &topic);
    let mirror = lines.iter().fold(mirror, |mirror, line| mirror.line(line));
    let (finished, _) = mirror.run_until_caught_up()?;
    finished.one_line_with(&[&topic, "created", "5 partitions"])?;
    let described = judge::describe(target, &topic)?;
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

#[test]
fn the_source_tells_them_from_0_11_on() -> Result {
    for (from, to) in [("0.11.0.3", "3.9.1"), ("2.0.0", "4.4.0"), ("4.4.0", "2.0.0"), ("2.0.0", "0.10.1.1")] {
        let (source, target) = shared_pair(from, to)?;
        has(&made(source, target, "told", &[])?, &SETTINGS);
    }
    Ok(())
}

/// 0.10 does not tell what its topics have: the file decides.
#[test]
fn the_file_tells_them_for_0_10() -> Result {
    let (source, target) = shared_pair("0.10.1.1", "2.0.0")?;
    let line = "settings = { \"cleanup.policy\" = \"compact\", \"max.message.bytes\" = \"654321\" }";
    let own = made(source, target, "file", &[line])?;
    has(&own, &[("cleanup.policy", "compact"), ("max.message.bytes", "654321")]);
    assert!(!own.contains_key("retention.ms"), "nobody knows the source's: {own:?}");
    Ok(())
}

#[test]
fn the_file_wins_over_the_source() -> Result {
    let (source, target) = shared_pair("2.0.0", "3.9.1")?;
    let own = made(source, target, "wins", &["settings = { \"retention.ms\" = \"3600000\" }"])?;
    has(&own, &[("retention.ms", "3600000"), ("cleanup.policy", "compact")]);
    Ok(())
}

/// 0.10.0 has no request that makes a topic: asking for it does, with the broker's own settings, and what could not be set is
/// said.
#[test]
fn the_broker_makes_it_on_0_10_0() -> Result {
    let (source, target) = shared_pair("2.0.0", "0.10.0.1")?;
    let topic = "pairs-settings-by-itself";
    judge::create(source, topic, 1, &[("max.message.bytes", "123456")])?;
    judge::produce_counter(source, topic, 100)?;
    let (finished, report) = MirrorFile::between(source, target, topic, topic).run_until_caught_up()?;
    let said = finished.one_line_with(&[topic, "created", "max.message.bytes", "could not be set"])?;
    assert_eq!(report.count(topic, "records"), 100);
    let described = judge::describe(target, topic)?;
    assert_eq!((described.partitions, described.own.len()), (1, 0), "{described:?}");
    measured(said);
    judge::compare(Topic { cluster: source, name: topic }, Topic { cluster: target, name: topic })
}
