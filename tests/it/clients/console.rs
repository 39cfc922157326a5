//! Kafka's own console producer and consumer, of 2.0.0 and of 3.9.1.
//!
//! The console has no transactions: those are written by the judge, with the client of the same release.

use std::ffi::OsString;
use std::fs;

use kmirror_testkit::Release;
use kmirror_tests::brokers::{distribution, tools};
use kmirror_tests::failure::Context as _;
use kmirror_tests::judge::{self, Row};
use kmirror_tests::process::words;
use kmirror_tests::{Failure, Result};

use super::client::{Abilities, Client, Isolation, Mode, Seen, Topic, Writing};
use super::command::{self, Member};
use super::story::on_each;

/// What stands for null in what is typed and shown.
const NULL: &str = "<null>";

/// The console of a release.
#[derive(Clone, Copy)]
struct Console(judge::Client);

impl Console {
    /// Whether it can say and show all that a record has.
    fn is_new(self) -> bool {
        match self.0 {
            judge::Client::Old => false,
            judge::Client::New => true,
        }
    }

    /// `java` with this release's tools and the name of one.
    fn java(self, old: &str, new: &str) -> Result<Vec<OsString>> {
        let mut class_path = distribution(self.0.version())?.class_path();
        if self.is_new() {
            class_path.push_str(&format!(":{}/*", tools(self.0.version())?.display()));
        }
        let mut command = words(["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m"]);
        command.extend(words(["-cp", &class_path, if self.is_new() { new } else { old }]));
        Ok(command)
    }

    fn consumer(self, topic: Topic<'_>) -> Result<Vec<OsString>> {
        let mut command =
            self.java("kafka.tools.ConsoleConsumer", "org.apache.kafka.tools.consumer.ConsoleConsumer")?;
        command.extend(words(["--bootstrap-server", &topic.cluster.bootstrap(), "--topic", topic.name]));
        command.extend(words([
            "--from-beginning",
            "--property",
            "print.key=true",
            "--property",
            "print.timestamp=true",
        ]));
        if self.is_new() {
            command.extend(words(["--property", "print.partition=true", "--property", "print.headers=true"]));
            command.extend(words(["--property", &format!("null.literal={NULL}")]));
        }
        for property in ["heartbeat.interval.ms=300", "fetch.max.wait.ms=100"] {
            command.extend(words(["--consumer-property", property]));
        }
        Ok(command)
    }

    fn producer(self, topic: Topic<'_>, writing: &Writing) -> Result<Vec<OsString>> {
        let mut command = self.java("kafka.tools.ConsoleProducer", "kafka.tools.ConsoleProducer")?;
        let brokers = if self.is_new() { "--bootstrap-server" } else { "--broker-list" };
        command.extend(words([brokers, &topic.cluster.bootstrap(), "--topic", topic.name]));
        command.extend(words(["--compression-codec", writing.codec, "--request-required-acks", "all"]));
        command.extend(words(["--property", "parse.key=true", "--timeout", "50"]));
        if self.is_new() {
            command.extend(words(["--property", "parse.headers=true", "--property", &format!("null.marker={NULL}")]));
        }
        let idempotent = writing.mode != Mode::Plain;
        command.extend(words(["--producer-property", &format!("enable.idempotence={idempotent}")]));
        Ok(command)
    }

    /// A record as the console producer is given it: `headers`, key and value with tabs between.
    fn line(self, row: &Row) -> String {
        let text = |bytes: &Option<Vec<u8>>| match bytes {
            None => NULL.to_owned(),
            Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        };
        let record = format!("{}\t{}\n", text(&row.key), text(&row.value));
        if !self.is_new() {
            return record;
        }
        let headers = row.headers.iter().map(|(name, value)| format!("{name}:{}", text(value)));
        let headers: Vec<String> = headers.collect();
        let headers = if headers.is_empty() { NULL.to_owned() } else { headers.join(",") };
        format!("{headers}\t{record}")
    }

    fn transaction(self, topic: Topic<'_>, number: usize, writing: &Writing) -> Result {
        let partitions = writing.rows.chunk_by(|(partition, _), (next, _)| partition == next);
        for rows in partitions {
            let Some((partition, _)) = rows.first() else { continue };
            let id = format!("console-{}-{number}-{partition}", topic.name);
            let bootstrap = topic.cluster.bootstrap();
            let rows: Vec<Row> = rows.iter().map(|(_, row)| row.clone()).collect();
            let commit = writing.mode == Mode::Commit;
            judge::write_transaction(
                self.0,
                (&bootstrap, topic.name, *partition),
                (&id, commit),
                writing.codec,
                &rows,
            )?;
        }
        Ok(())
    }
}

impl Client for Console {
    fn abilities(&self, release: Release) -> Abilities {
        let all = Abilities::all_of(release);
        Abilities {
            chooses_partition: false,
            chooses_timestamp: false,
            nulls: self.is_new(),
            writes_headers: all.writes_headers && self.is_new(),
            null_headers: false,
            shows_partition: self.is_new(),
            shows_headers: self.is_new(),
            // A JVM for each that is written.
            codecs: if release >= Release::V2_1 && self.is_new() { &["lz4", "zstd"] } else { &["gzip", "snappy"] },
            reads: if self.is_new() { all.reads } else { &all.reads[..4] },
            ..all
        }
    }

    fn write(&self, topic: Topic<'_>, writings: &[Writing]) -> Result {
        for (number, writing) in writings.iter().enumerate() {
            if matches!(writing.mode, Mode::Commit | Mode::Abort) {
                self.transaction(topic, number, writing)?;
                continue;
            }
            let folder = command::folder()?;
            let input = folder.path().join("input");
            let lines: String = writing.rows.iter().map(|(_, row)| self.line(row)).collect();
            fs::write(&input, lines).context(|| format!("writing {}", input.display()))?;
            command::finish("the console producer", &command::with_input(&input, &self.producer(topic, writing)?))?;
        }
        Ok(())
    }

    fn read(&self, topic: Topic<'_>, isolation: Isolation, count: usize) -> Result<Vec<Seen>> {
        let mut command = self.consumer(topic)?;
        command.extend(words(["--max-messages", &count.to_string(), "--timeout-ms", "30000"]));
        command.extend(words(["--isolation-level", isolation.name()]));
        command::lines(&command::finish("the console consumer", &command)?, self.parse())
    }

    fn join(&self, topic: Topic<'_>, group: &str) -> Result<Member> {
        let mut command = self.consumer(topic)?;
        command.extend(words(["--group", group]));
        Member::start("the console consumer", &command, self.parse())
    }
}

impl Console {
    fn parse(self) -> fn(&str) -> Option<Seen> {
        if self.is_new() { parse_new } else { parse_old }
    }
}

/// `CreateTime:1`, key and value.
fn parse_old(line: &str) -> Option<Seen> {
    let mut fields = line.split('\t');
    let timestamp = fields.next()?.strip_prefix("CreateTime:")?.parse().ok()?;
    let row = Row::new(timestamp, Some(fields.next()?), Some(fields.next()?));
    Some(Seen { partition: None, row })
}

/// `CreateTime:1`, `Partition:0`, headers, key and value.
fn parse_new(line: &str) -> Option<Seen> {
    let mut fields = line.split('\t');
    let timestamp = fields.next()?.strip_prefix("CreateTime:")?.parse().ok()?;
    let partition = fields.next()?.strip_prefix("Partition:")?.parse().ok()?;
    let headers = fields.next()?;
    let some = |text| (text != NULL).then_some(text);
    let mut row = Row::new(timestamp, some(fields.next()?), some(fields.next()?));
    for header in headers.split(',').filter(|_| headers != "NO_HEADERS") {
        let (name, value) = header.split_once(':')?;
        row = row.header(name, some(value));
    }
    Some(Seen { partition: Some(partition), row })
}

mod of_2_0 {
    use super::*;

    on_each! { Ok::<_, Failure>(Console(judge::Client::Old));
        on_0_10_1 V0_10_1
        on_0_11 V0_11
        on_2_0 V2_0
        on_3_9 V3_9
    }
}

mod of_3_9 {
    use super::*;

    on_each! { Ok::<_, Failure>(Console(judge::Client::New));
        on_0_10_0 V0_10_0
        on_1_1 V1_1
        on_2_8 V2_8
        on_3_9 V3_9
        on_4_4 V4_4
    }
}
