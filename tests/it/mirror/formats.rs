//! Between releases that store different formats: what both can carry arrives, and the rest is named.

use kmirror_tests::Result;
use kmirror_tests::brokers::{Cluster, shared};
use kmirror_tests::judge::{self, Topic, Workload};
use kmirror_tests::segments::{self, Entry};

use kmirror_tests::mirror_maker::{Mirror, RUN_WITHIN};

const RECORDS: u64 = 20_000;

/// The same records in each codec, from `source` to `target`, compared by the Java client.
fn records_arrive(source: &Cluster, target: &Cluster, mark: &str) -> Result {
    records_of_arrive(&[], source, target, mark)
}

/// As above, with these settings of the source's topics.
fn records_of_arrive(settings: &[(&str, &str)], source: &Cluster, target: &Cluster, mark: &str) -> Result {
    for codec in ["none", "gzip", "lz4"] {
        let topic = format!("format-{mark}-{codec}");
        judge::create(source, &topic, 3, settings)?;
        judge::create(target, &topic, 3, &[])?;
        judge::produce(source, &topic, &Workload::of(RECORDS).without_headers().codec(codec))?;
    }
    let pattern = format!("format-{mark}-.*");
    Mirror::between(source, target, &format!("format-{mark}"), &pattern).run_until_caught_up()?;
    for codec in ["none", "gzip", "lz4"] {
        let topic = format!("format-{mark}-{codec}");
        judge::compare(Topic { cluster: source, name: &topic }, Topic { cluster: target, name: &topic })?;
    }
    Ok(())
}

#[test]
fn format_1_goes_to_format_1_as_it_is() -> Result {
    let (source, target) = (shared("0.10.1.1")?, shared("0.10.1.1/second")?);
    records_arrive(source, target, "1-1")?;
    // Plain messages and kept wrappers: what a 0.10 broker stores is what the other one had stored.
    for codec in ["none", "gzip", "lz4"] {
        let topic = format!("format-1-1-{codec}");
        let sent = segments::read(&source.nodes()[0], &topic)?;
        let arrived = segments::read(&target.nodes()[0], &topic)?;
        segments::assert_same_payloads(&sent, &arrived)?;
    }
    Ok(())
}

#[test]
fn format_1_is_built_up_to_format_2() -> Result {
    records_arrive(shared("0.10.1.1")?, shared("2.0.0")?, "1-2")
}

#[test]
fn format_2_is_built_down_to_format_1() -> Result {
    records_arrive(shared("2.0.0")?, shared("0.10.1.1")?, "2-1")
}

/// What is left of the days of 0.9: its messages have no timestamps, and consumers see none on either side.
#[test]
fn format_0_is_built_up_to_both() -> Result {
    let old = [("message.format.version", "0.9.0")];
    let (early, late) = (shared("0.10.1.1")?, shared("2.0.0")?);
    records_of_arrive(&old, early, shared("0.10.1.1/second")?, "0-1")?;
    records_of_arrive(&old, early, late, "0-2")?;
    records_of_arrive(&old, late, early, "0-1-late")?;
    for (cluster, topic) in [(early, "format-0-1-lz4"), (early, "format-0-2-none"), (late, "format-0-1-late-gzip")] {
        let stored = segments::read(&cluster.nodes()[0], topic)?;
        let mut entries = stored.values().flatten();
        assert!(entries.all(|entry| matches!(entry, Entry::Message(message) if message.magic == 0)), "{topic}");
        assert!(stored.values().any(|entries| !entries.is_empty()), "{topic}");
    }
    Ok(())
}

/// Headers have no place in format 1: they are dropped, with one warning that names the topic, and everything else
/// arrives.
#[test]
fn dropped_headers_are_said_once() -> Result {
    let (source, target) = (shared("2.0.0")?, shared("0.10.1.1")?);
    let topic = "format-headers";
    for cluster in [source, target] {
        judge::create(cluster, topic, 1, &[])?;
    }
    judge::produce(source, topic, &Workload::of(1_000))?;
    let mirror = Mirror::between(source, target, topic, topic);
    let finished = mirror.command()?.arg("--until-caught-up").run(RUN_WITHIN)?.expect_code(0)?;
    finished.one_line_with(&[topic, "headers", "dropped"])?;
    let (sent, arrived) = (judge::dump(source, topic)?, judge::dump(target, topic)?);
    for (partition, digest) in &sent {
        let there = &arrived[partition];
        assert_eq!((digest.count, &digest.sha256), (there.count, &there.sha256), "{topic}-{partition}");
        assert_ne!(digest.headers_sha256, there.headers_sha256, "the workload has headers");
    }
    Ok(())
}
