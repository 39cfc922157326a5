//! The harness on every release: what the judge writes is what it reads, and topics are what it made them.

use kmirror_tests::brokers::shared;
use kmirror_tests::judge;
use kmirror_tests::segments::{self, Entry};
use kmirror_tests::wait::Stopwatch;
use kmirror_tests::{Result, measured};

const PARTITIONS: u32 = 2;

/// Long enough for a record of 1970.
const RETENTION_MS: &str = "3155760000000";

fn the_judge_knows(version: &str) -> Result {
    let cluster = shared(version)?;
    let began = Stopwatch::start();
    let topic = "releases-zoo";
    judge::create(cluster, topic, PARTITIONS, &[("retention.ms", RETENTION_MS), ("max.message.bytes", "2000000")])?;
    let written = judge::write_zoo(cluster, topic, PARTITIONS)?;
    let listing = judge::list(cluster, topic)?;
    for (partition, rows) in (0..).zip(&written) {
        judge::holds(&listing, (topic, partition), rows)?;
    }
    assert!(judge::holds(&listing, (topic, 0), &written[1]).is_err(), "no partition is like another");
    let stored = segments::read(&cluster.nodes()[0], topic)?;
    for codec in 0..judge::codecs(cluster.release()).len() {
        let there = stored.values().all(|entries| entries.iter().any(|entry| codec_of(entry) == codec));
        assert!(there, "{version}: codec {codec} is stored in each partition");
    }

    judge::add_partitions(cluster, topic, PARTITIONS + 1)?;
    let described = judge::describe(cluster, topic)?;
    assert_eq!((described.partitions, described.replication), (PARTITIONS + 1, 1), "{version}");
    let own: Vec<(&str, &str)> = described.own.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(own, [("max.message.bytes", "2000000"), ("retention.ms", RETENTION_MS)], "{version}");
    judge::delete(cluster, topic)?;
    let records: usize = written.iter().map(Vec::len).sum();
    let elapsed = began.elapsed();
    measured(&format!("{version}: {records} records written and read, the topic grown and deleted in {elapsed:?}"));
    Ok(())
}

fn codec_of(entry: &Entry) -> usize {
    let attributes = match entry {
        Entry::Batch(batch) => batch.attributes,
        Entry::Message(message) => i16::from(message.attributes),
    };
    usize::try_from(attributes & 7).unwrap_or(usize::MAX)
}

macro_rules! on_each_release {
    ($($name:ident $version:literal)*) => {
        $(#[test]
        fn $name() -> Result {
            the_judge_knows($version)
        })*

        #[test]
        fn no_release_is_left_out() {
            let tested = [$($version),*];
            let known: Vec<&str> = kmirror_tests::brokers::RELEASES.iter().map(|release| release.version).collect();
            assert_eq!(tested[..], known[..]);
        }
    };
}

on_each_release! {
    the_judge_knows_0_10_0 "0.10.0.1"
    the_judge_knows_0_10_1 "0.10.1.1"
    the_judge_knows_0_10_2 "0.10.2.2"
    the_judge_knows_0_11 "0.11.0.3"
    the_judge_knows_1_0 "1.0.2"
    the_judge_knows_1_1 "1.1.1"
    the_judge_knows_2_0 "2.0.0"
    the_judge_knows_2_1 "2.1.1"
    the_judge_knows_2_4 "2.4.1"
    the_judge_knows_2_8 "2.8.2"
    the_judge_knows_3_0 "3.0.2"
    the_judge_knows_3_9 "3.9.1"
    the_judge_knows_4_4 "4.4.0"
}
