//! The raw path: where both sides speak magic 2, each batch arrives with the very bytes that it had.

use kmirror_tests::Result;
use kmirror_tests::brokers::{Cluster, shared};
use kmirror_tests::judge::{self, Topic, Workload};
use kmirror_tests::mirror_file::MirrorFile;
use kmirror_tests::segments;

const RECORDS: u64 = 100_000;

/// All records of one topic for each codec, headers and all; then the payload bytes of each batch.
fn batches_arrive_as_they_are(target: &Cluster, mark: &str) -> Result {
    let source = shared("2.0.0")?;
    for codec in ["none", "gzip", "lz4"] {
        let topic = format!("raw-{mark}-{codec}");
        for cluster in [source, target] {
            judge::create(cluster, &topic, 4, &[])?;
        }
        judge::produce(source, &topic, &Workload::of(RECORDS).codec(codec))?;
    }
    let mirror = MirrorFile::between(source, target, &format!("raw-{mark}"), &format!("raw-{mark}-.*"));
    mirror.line("coalesce = \"off\"").run_until_caught_up()?;
    for codec in ["none", "gzip", "lz4"] {
        let topic = format!("raw-{mark}-{codec}");
        judge::compare(Topic { cluster: source, name: &topic }, Topic { cluster: target, name: &topic })?;
        let committed = judge::dump_with(target, &topic, &[("isolation.level", "read_committed")])?;
        assert_eq!(committed.values().map(|digest| digest.count).sum::<u64>(), RECORDS, "{topic}");
        let sent = segments::read(&source.nodes()[0], &topic)?;
        let arrived = segments::read(&target.nodes()[0], &topic)?;
        segments::assert_same_payloads(&sent, &arrived)?;
        segments::assert_no_transactions(&arrived)?;
    }
    Ok(())
}

#[test]
fn batches_arrive_as_they_are_on_2_0() -> Result {
    batches_arrive_as_they_are(shared("2.0.0/second")?, "2.0")
}

#[test]
fn batches_arrive_as_they_are_on_3_9() -> Result {
    batches_arrive_as_they_are(shared("3.9.1")?, "3.9")
}
