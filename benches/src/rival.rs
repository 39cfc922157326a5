//! The mirrors that are compared, each as a command on two properties files.

use std::ffi::OsString;
use std::path::Path;

use kmirror_tests::brokers::{Cluster, distribution};
use kmirror_tests::kmirror::{self, properties_file};
use kmirror_tests::process::{Guarded, words};
use kmirror_tests::{Failure, Result};

/// A mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// `kafka.tools.MirrorMaker` of Kafka 2.0.0.
    MirrorMaker1,
    /// `kmirror run`.
    Kmirror,
}

impl Rival {
    /// By the name on the command line.
    pub fn named(name: &str) -> Result<Rival> {
        [Rival::MirrorMaker1, Rival::Kmirror]
            .into_iter()
            .find(|rival| rival.name() == name)
            .ok_or_else(|| Failure::new(format!("no mirror {name}: mm1 or kmirror")))
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Rival::MirrorMaker1 => "mm1",
            Rival::Kmirror => "kmirror",
        }
    }

    /// Whether a record of partition n arrives in partition n.
    pub fn keeps_partitions(self) -> bool {
        match self {
            // Its default handler leaves the partition to the producer.
            Rival::MirrorMaker1 => false,
            Rival::Kmirror => true,
        }
    }

    /// Starts it on `topic`, with its files and output in `folder`.
    pub fn start(self, source: &Cluster, target: &Cluster, topic: &str, folder: &Path) -> Result<Guarded> {
        let (consumer, producer) = (folder.join("consumer.properties"), folder.join("producer.properties"));
        properties_file(
            &consumer,
            &[
                ("bootstrap.servers", &source.bootstrap()),
                // The target is fresh in each run, and so is the group.
                ("group.id", &folder.file_name().unwrap_or_default().to_string_lossy()),
                ("auto.offset.reset", "earliest"),
                ("partition.assignment.strategy", "org.apache.kafka.clients.consumer.RoundRobinAssignor"),
            ],
        )?;
        properties_file(&producer, &[("bootstrap.servers", &target.bootstrap())])?;
        let mut command = match self {
            Rival::MirrorMaker1 => mirror_maker_1()?,
            Rival::Kmirror => words([kmirror::binary()?.as_os_str(), "run".as_ref()]),
        };
        command.extend(words(["--num.streams", "5", "--whitelist", topic]));
        command.extend(words(["--consumer.config".as_ref(), consumer.as_os_str()]));
        command.extend(words(["--producer.config".as_ref(), producer.as_os_str()]));
        Guarded::spawn(self.name(), &command, &folder.join("stdout"), &folder.join("stderr"))
    }
}

/// With the JVM options of Kafka's own start script, and the heap that people give it.
fn mirror_maker_1() -> Result<Vec<OsString>> {
    let mut command = words(["java", "-Xms256m", "-Xmx1g", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"]);
    command.extend(words(["-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-cp"]));
    command.push(distribution("2.0.0")?.class_path().into());
    command.push("kafka.tools.MirrorMaker".into());
    Ok(command)
}
