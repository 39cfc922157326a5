//! The harness against itself: it must be able to fail before it may judge.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use kmirror_tests::brokers::{Cluster, RELEASES, shared};
use kmirror_tests::judge::{self, CounterTopic, Topic, Workload};
use kmirror_tests::process::alive;
use kmirror_tests::segments::{self, Entry};
use kmirror_tests::wait::{self, Deadline};
use kmirror_tests::{Failure, Result};

/// The counter topic of acceptance test 1, small: what the Java judge reads is what was computed here.
fn digest_equals_the_computed_one(release: &str) -> Result {
    let cluster = shared(release)?;
    let counter = CounterTopic { records: 1000, partitions: 7, first_timestamp: 1_500_000_000_000 };
    judge::create(cluster, "harness-counter", counter.partitions, &[])?;
    judge::produce_counter_at(cluster, "harness-counter", counter)?;
    let dump = judge::dump(cluster, "harness-counter")?;
    let partitions: Vec<u32> = dump.keys().copied().collect();
    assert_eq!(partitions, [0, 1, 2, 3, 4, 5, 6]);
    for (partition, digest) in dump {
        assert_eq!(digest, counter.digest(partition), "partition {partition}");
    }
    let ends: Vec<i64> = cluster.ends("harness-counter")?.into_iter().flatten().collect();
    assert_eq!(ends, [143, 143, 143, 143, 143, 143, 142]);
    Ok(())
}

#[test]
fn counter_on_0_10_0_has_the_computed_digest() -> Result {
    digest_equals_the_computed_one("0.10.0.1")
}

#[test]
fn counter_on_0_10_1_has_the_computed_digest() -> Result {
    digest_equals_the_computed_one("0.10.1.1")
}

#[test]
fn counter_on_2_0_has_the_computed_digest() -> Result {
    digest_equals_the_computed_one("2.0.0")
}

#[test]
fn counter_on_4_4_has_the_computed_digest() -> Result {
    digest_equals_the_computed_one("4.4.0")
}

/// Two topics from the same seed are equal across releases; one record more, another seed, or one changed header is
/// found and named.
#[test]
fn planted_differences_are_found_and_named() -> Result {
    let (source, target) = (shared("2.0.0")?, shared("3.9.1")?);
    let workload = Workload::of(500).codec("gzip");
    for (cluster, topic) in
        [(source, "planted"), (target, "planted"), (target, "planted-more"), (target, "planted-less")]
    {
        judge::create(cluster, topic, 3, &[])?;
        judge::produce(cluster, topic, &workload)?;
    }
    let from = Topic { cluster: source, name: "planted" };
    judge::compare(from, Topic { cluster: target, name: "planted" })?;

    judge::produce(target, "planted-more", &Workload::of(1).seed(2))?;
    let failure = refused(judge::compare(from, Topic { cluster: target, name: "planted-more" }))?;
    assert!(failure.contains("source (none)"), "names the record that is too many: {failure}");

    judge::create(source, "planted-other", 3, &[])?;
    judge::produce(source, "planted-other", &workload.clone().without_headers())?;
    let failure = refused(judge::compare(Topic { cluster: source, name: "planted-other" }, from))?;
    assert!(failure.contains("differs") && failure.contains("header"), "headers count: {failure}");
    Ok(())
}

/// A broker that is killed comes back under its old port with its old data, in ZooKeeper mode and in KRaft.
#[test]
fn a_killed_broker_comes_back_with_its_data() -> Result {
    for release in ["0.10.1.1", "4.4.0"] {
        let cluster = Cluster::start(release)?;
        let bootstrap = cluster.bootstrap();
        let counter = CounterTopic { records: 100, partitions: 2, first_timestamp: 1_500_000_000_000 };
        judge::create(&cluster, "kept", counter.partitions, &[])?;
        judge::produce_counter_at(&cluster, "kept", counter)?;
        cluster.kill(0)?;
        assert!(cluster.ends("kept").is_err(), "{release}: nobody listens while it is down");
        cluster.restart(0)?;
        assert_eq!(cluster.bootstrap(), bootstrap, "{release}");
        let what = format!("{release} to lead its partitions again");
        wait::until(Deadline::after(Duration::from_secs(60)), &what, || {
            let ends = cluster.ends("kept").unwrap_or_default();
            Ok((ends == [Some(50), Some(50)]).then_some(()))
        })?;
        assert_eq!(judge::dump(&cluster, "kept")?[&0], counter.digest(0), "{release}");
    }
    Ok(())
}

/// Three brokers know each other, and replicate a topic.
#[test]
fn a_cluster_of_three_replicates() -> Result {
    let cluster = Cluster::of("2.8.2").nodes(3).property("auto.create.topics.enable", "false").start()?;
    judge::create(&cluster, "replicated", 6, &[("replication.factor", "3")])?;
    judge::produce_counter(&cluster, "replicated", 600)?;
    cluster.stop(0)?;
    let what = "the other two to lead all partitions";
    wait::until(Deadline::after(Duration::from_secs(60)), what, || {
        let ends = cluster.ends("replicated").unwrap_or_default();
        Ok((ends == [Some(100); 6]).then_some(()))
    })
}

/// Segment files of both formats are read, and a batch that differs is named.
#[test]
fn segment_files_are_read() -> Result {
    let (old, new) = (shared("0.10.1.1")?, shared("2.0.0")?);
    for (cluster, topic, codec) in [(old, "plain", "none"), (new, "plain", "none"), (new, "packed", "lz4")] {
        let topic = format!("segments-{topic}");
        judge::create(cluster, &topic, 2, &[])?;
        judge::produce(cluster, &topic, &Workload::of(300).without_headers().codec(codec))?;
    }
    let messages = segments::read(&old.nodes()[0], "segments-plain")?;
    assert!(messages.values().flatten().all(|entry| matches!(entry, Entry::Message(message) if message.magic == 1)));
    assert_eq!(messages.values().flatten().count(), 300, "uncompressed: one entry each");

    let plain = segments::read(&new.nodes()[0], "segments-plain")?;
    let packed = segments::read(&new.nodes()[0], "segments-packed")?;
    let counted: i32 = plain.values().flat_map(|entries| segments::batches(entries)).map(|b| b.records_count).sum();
    assert_eq!(counted, 300);
    assert!(packed.values().flat_map(|entries| segments::batches(entries)).all(|batch| batch.codec() == 3));
    segments::assert_no_transactions(&plain)?;
    segments::assert_same_payloads(&plain, &plain)?;
    let failure = refused(segments::assert_same_payloads(&plain, &packed))?;
    assert!(failure.contains("partition 0, batch 0 differs"), "{failure}");
    let mut transactional = plain;
    if let Some(Entry::Batch(batch)) = transactional.get_mut(&1).and_then(|entries| entries.first_mut()) {
        batch.attributes |= 0x10;
    }
    let failure = refused(segments::assert_no_transactions(&transactional))?;
    assert!(failure.contains("partition 1: transactional bit"), "{failure}");
    Ok(())
}

/// Offsets that one run commits are read back; a live member of a group is seen to be one.
#[test]
fn groups_are_written_and_read() -> Result {
    let cluster = shared("2.0.0")?;
    judge::create(cluster, "grouped", 2, &[])?;
    judge::produce_counter(cluster, "grouped", 10)?;
    judge::commit(cluster, "grouped", "readers", 3)?;
    let committed: Vec<(u32, i64)> = judge::committed(cluster, "grouped", "readers")?.into_iter().collect();
    assert_eq!(committed, [(0, 3), (1, 3)]);
    let member = judge::live_member(cluster, "grouped", "readers")?;
    // Kafka lets nobody commit past a live member.
    refused(judge::commit(cluster, "grouped", "readers", 4))?;
    member.leave()?;
    judge::commit(cluster, "grouped", "readers", 5)
}

/// A test process that is killed leaves no JVM and no data behind.
#[test]
fn a_killed_test_process_leaves_nothing_running() -> Result {
    let mut child = Command::new(brokers_binary()?)
        .arg("2.0.0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::new(format!("starting the brokers binary: {error}")))?;
    let started = read_line(&mut child)?;
    let data = PathBuf::from(started.split(' ').nth(2).unwrap_or_default());
    assert!(data.is_dir(), "a broker runs on its data folder: {started:?}");
    let jvms = java_processes_of(&data);
    assert_eq!(jvms.len(), 1, "the broker holds files in its data folder");

    child.kill().map_err(|error| Failure::new(format!("killing it: {error}")))?;
    child.wait().map_err(|error| Failure::new(format!("waiting for it: {error}")))?;
    wait::until(Deadline::after(Duration::from_secs(20)), "the broker and its data to be gone", || {
        Ok((!jvms.iter().any(|pid| alive(*pid)) && !data.exists()).then_some(()))
    })
}

/// A release that is not there, and a broker that cannot start, say what is wrong.
#[test]
fn failures_say_what_is_wrong() -> Result {
    let failure = refused(Cluster::start("9.9.9").map(drop))?;
    assert!(failure.contains("no release 9.9.9") && failure.contains("4.4.0"), "{failure}");
    let broken = Cluster::of("2.0.0").property("log.dirs", "/proc/nowhere").start();
    let failure = refused(broken.map(drop))?;
    assert!(failure.contains("/proc/nowhere"), "the tail of the broker's log is shown: {failure}");
    Ok(())
}

/// The table names each release once, oldest first.
#[test]
fn releases_are_in_order() {
    let numbers = |version: &str| version.split('.').map(|n| n.parse::<u32>().unwrap()).collect::<Vec<_>>();
    assert!(RELEASES.windows(2).all(|pair| numbers(pair[0].version) < numbers(pair[1].version)));
    let without: Vec<_> = RELEASES.iter().filter(|release| !release.creates_topics).map(|r| r.version).collect();
    assert_eq!(without, ["0.10.0.1"]);
    let without: Vec<_> = RELEASES.iter().filter(|release| !release.has_headers()).map(|r| r.version).collect();
    assert_eq!(without, ["0.10.0.1", "0.10.1.1", "0.10.2.2"]);
}

fn refused(result: Result) -> Result<String> {
    match result {
        Ok(()) => Err(Failure::new("this should have been refused")),
        Err(failure) => Ok(failure.to_string()),
    }
}

fn brokers_binary() -> Result<PathBuf> {
    Ok(PathBuf::from(env!("CARGO_BIN_EXE_brokers")))
}

fn read_line(child: &mut std::process::Child) -> Result<String> {
    use std::io::BufRead as _;
    let stdout = child.stdout.take().ok_or_else(|| Failure::new("no stdout"))?;
    let mut line = String::new();
    std::io::BufReader::new(stdout)
        .read_line(&mut line)
        .map_err(|error| Failure::new(format!("reading its first line: {error}")))?;
    Ok(line.trim().to_owned())
}

/// The processes that have a file of this folder open.
fn java_processes_of(folder: &std::path::Path) -> Vec<u32> {
    let holds = |pid: &u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|file| file.starts_with(folder))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).filter(holds).collect()
}
