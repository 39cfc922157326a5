//! kmirror's main job before your eyes: `cargo run --release -p kmirror-tests --bin first-run`.
//!
//! Starts a real Kafka 2.0.0 and a real 0.10.1.1, writes a million records into 32 partitions of the first, mirrors them
//! into the second with the two properties files of MirrorMaker 1, and shows where both logs end.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a small tool for people")]

use std::path::Path;
use std::process::Command;

use kmirror_tests::brokers::Cluster;
use kmirror_tests::failure::{Context as _, ensure};
use kmirror_tests::judge::{self, Topic};
use kmirror_tests::kmirror::{binary, properties_file};
use kmirror_tests::{Failure, Result};

const TOPIC: &str = "test-mirror";
const PARTITIONS: u32 = 32;
const RECORDS: u64 = 1_000_000;

fn main() -> Result {
    say("building kmirror");
    let kmirror = binary()?;
    say("starting Kafka 2.0.0 and Kafka 0.10.1.1 (the first time their jars are fetched through Maven)");
    let source = std::thread::spawn(|| Cluster::start("2.0.0"));
    let target = Cluster::start("0.10.1.1")?;
    let source = source.join().map_err(|_| Failure::new("starting 2.0.0 panicked".to_owned()))??;

    say(&format!("writing {RECORDS} records into {PARTITIONS} partitions of {TOPIC} on 2.0.0"));
    for cluster in [&source, &target] {
        judge::create(cluster, TOPIC, PARTITIONS, &[])?;
    }
    judge::produce_counter(&source, TOPIC, RECORDS)?;

    let folder = tempfile::tempdir().context(|| "creating a folder for the properties files".to_owned())?;
    let consumer = folder.path().join("consumer.properties");
    let producer = folder.path().join("producer.properties");
    let assignor = "org.apache.kafka.clients.consumer.RoundRobinAssignor";
    properties_file(
        &consumer,
        &[
            ("bootstrap.servers", &source.bootstrap()),
            ("group.id", TOPIC),
            ("auto.offset.reset", "earliest"),
            ("partition.assignment.strategy", assignor),
        ],
    )?;
    properties_file(&producer, &[("bootstrap.servers", &target.bootstrap())])?;
    mirror(kmirror, &consumer, &producer)?;

    for (name, cluster) in [("2.0.0", &source), ("0.10.1.1", &target)] {
        say(&format!("where the log ends on {name}"));
        let bootstrap = cluster.bootstrap();
        run(kmirror, &["offsets", "--broker-list", &bootstrap, "--topic", TOPIC, "--time", "-1"])?;
    }
    say("comparing every record with Kafka's own Java client");
    judge::compare(Topic { cluster: &source, name: TOPIC }, Topic { cluster: &target, name: TOPIC })?;
    say("every key, value, timestamp and order is equal");
    Ok(())
}

fn mirror(kmirror: &Path, consumer: &Path, producer: &Path) -> Result {
    let (consumer, producer) = (consumer.display().to_string(), producer.display().to_string());
    let files = ["--consumer.config", &consumer, "--producer.config", &producer];
    let rest = ["--num.streams", "5", "--whitelist", TOPIC, "--until-caught-up"];
    run(kmirror, &[&["run"], &files[..], &rest[..]].concat())
}

/// Runs kmirror with its words going where ours go.
fn run(kmirror: &Path, args: &[&str]) -> Result {
    say(&format!("kmirror {}", args.join(" ")));
    let status = Command::new(kmirror).args(args).status();
    let status = status.context(|| format!("starting {}", kmirror.display()))?;
    ensure(status.success(), || format!("kmirror ended with {status}"))
}

fn say(what: &str) {
    println!("== {what}");
}
