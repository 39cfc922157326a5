//! The table of releases: which artifact, and what it needs to run on today's Java.

use crate::{Failure, Result};

/// How the brokers of a release agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Through a ZooKeeper, which the harness starts beside them.
    ZooKeeper,
    /// Through their own quorum; each node is broker and controller.
    KRaft,
}

/// One release of Apache Kafka, as Maven serves it.
#[derive(Debug)]
pub struct Release {
    /// Its number, e.g. `0.10.1.1`.
    pub version: &'static str,
    /// The Scala version in the name of its artifact.
    pub scala: &'static str,
    /// How its brokers agree.
    pub mode: Mode,
    /// Whether it has the CreateTopics API (0.10.0 has not).
    pub creates_topics: bool,
    /// Artifacts beside it (group, artifact, version). Nearest wins in Maven, so these also replace what Kafka asks for.
    pub beside: &'static [(&'static str, &'static str, &'static str)],
}

impl Release {
    /// Whether this release is `major.minor` or newer.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        let mut numbers = self.version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
    }

    /// Whether it stores record batches with headers (magic 2, from 0.11 on).
    pub fn has_headers(&self) -> bool {
        self.at_least(0, 11)
    }
}

/// Every release that the tests know, oldest first.
pub const RELEASES: &[Release] = &[
    Release { creates_topics: false, ..Release::zookeeper("0.10.0.1", "2.10", JAXB) },
    Release::zookeeper("0.10.1.1", "2.10", JAXB),
    Release::zookeeper("0.10.2.2", "2.11", JAXB),
    Release::zookeeper("0.11.0.3", "2.11", JAXB),
    Release::zookeeper("1.0.2", "2.11", JAXB),
    Release::zookeeper("1.1.1", "2.11", JAXB),
    Release::zookeeper("2.0.0", "2.11", ZOOKEEPER_3_4_12),
    Release::zookeeper("2.1.1", "2.12", ZOOKEEPER_3_4_12),
    Release::zookeeper("2.4.1", "2.12", LOG4J),
    Release::zookeeper("2.8.2", "2.13", LOG4J),
    Release::zookeeper("3.0.2", "2.13", LOG4J),
    Release::zookeeper("3.9.1", "2.13", RELOAD4J),
    Release { version: "4.4.0", scala: "2.13", mode: Mode::KRaft, creates_topics: true, beside: LOG4J2 },
];

impl Release {
    const fn zookeeper(
        version: &'static str,
        scala: &'static str,
        beside: &'static [(&'static str, &'static str, &'static str)],
    ) -> Release {
        Release { version, scala, mode: Mode::ZooKeeper, creates_topics: true, beside }
    }
}

/// The release with this number.
pub fn release(version: &str) -> Result<&'static Release> {
    RELEASES.iter().find(|release| release.version == version).ok_or_else(|| {
        let known: Vec<&str> = RELEASES.iter().map(|release| release.version).collect();
        Failure::new(format!("no release {version} in the table; known: {}", known.join(" ")))
    })
}

type Artifacts = &'static [(&'static str, &'static str, &'static str)];

const LOG4J: Artifacts = &[("org.slf4j", "slf4j-log4j12", "1.7.25"), ("log4j", "log4j", "1.2.17")];

const RELOAD4J: Artifacts = &[("org.slf4j", "slf4j-reload4j", "1.7.36")];

const LOG4J2: Artifacts = &[("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.5")];

/// Kafka before 2.0 uses `javax.xml.bind`, which left the JDK with Java 11.
const JAXB: Artifacts = &[
    ("javax.xml.bind", "jaxb-api", "2.3.1"),
    ("org.glassfish.jaxb", "jaxb-runtime", "2.3.1"),
    ("org.slf4j", "slf4j-log4j12", "1.7.25"),
    ("log4j", "log4j", "1.2.17"),
];

/// ZooKeeper 3.4.13 and 3.4.14 cannot resolve 127.0.0.1 on Java 14 and newer; 3.4.12 can.
const ZOOKEEPER_3_4_12: Artifacts = &[
    ("org.apache.zookeeper", "zookeeper", "3.4.12"),
    ("org.slf4j", "slf4j-log4j12", "1.7.25"),
    ("log4j", "log4j", "1.2.17"),
];
