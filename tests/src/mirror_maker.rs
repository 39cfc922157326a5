//! A mirror described as MirrorMaker 1 is: two properties files and a whitelist; run as a child process.

use std::path::PathBuf;
use std::time::Duration;

use crate::Result;
use crate::kafka::Kafka;
use crate::kmirror::{Kmirror, properties_file};

/// For one run up to the source's end: minutes longer than it takes on a busy machine.
pub const RUN_WITHIN: Duration = Duration::from_secs(300);

/// A mirror with its two properties files, as MirrorMaker 1 takes them.
pub struct Mirror {
    consumer: Vec<(String, String)>,
    producer: Vec<(String, String)>,
    whitelist: String,
    folder: tempfile::TempDir,
}

impl Mirror {
    /// Mirrors what `whitelist` matches, as the group `group`, from its earliest record on.
    pub fn new(source: &str, target: &str, group: &str, whitelist: &str) -> Mirror {
        let mirror = Mirror {
            consumer: Vec::new(),
            producer: Vec::new(),
            whitelist: whitelist.to_owned(),
            folder: tempfile::tempdir().expect("a folder for the properties files"),
        };
        mirror
            .consumer("bootstrap.servers", source)
            .consumer("group.id", group)
            .consumer("auto.offset.reset", "earliest")
            .producer("bootstrap.servers", target)
    }

    /// Between two clusters.
    pub fn between(source: &dyn Kafka, target: &dyn Kafka, group: &str, whitelist: &str) -> Mirror {
        Mirror::new(&source.bootstrap(), &target.bootstrap(), group, whitelist)
    }

    /// A line of the consumer's file.
    pub fn consumer(mut self, key: &str, value: &str) -> Mirror {
        self.consumer.push((key.to_owned(), value.to_owned()));
        self
    }

    /// A line of the producer's file.
    pub fn producer(mut self, key: &str, value: &str) -> Mirror {
        self.producer.push((key.to_owned(), value.to_owned()));
        self
    }

    /// `kmirror run` with these files.
    pub fn command(&self) -> Result<Kmirror> {
        let consumer = self.file("consumer.properties", &self.consumer)?;
        let producer = self.file("producer.properties", &self.producer)?;
        let command = Kmirror::new("run").option("consumer.config", consumer).option("producer.config", producer);
        Ok(command.option("num.streams", "5").option("whitelist", &self.whitelist))
    }

    /// Mirrors everything that the source has, and ends.
    pub fn run_until_caught_up(&self) -> Result {
        let finished = self.command()?.arg("--until-caught-up").run(RUN_WITHIN)?.expect_code(0)?;
        assert_nothing_dropped(&finished.stdout);
        Ok(())
    }

    fn file(&self, name: &str, lines: &[(String, String)]) -> Result<PathBuf> {
        let path = self.folder.path().join(name);
        let lines: Vec<(&str, &str)> = lines.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        properties_file(&path, &lines)?;
        Ok(path)
    }
}

/// The final table says for each topic that nothing was dropped (MirrorMaker's `numDroppedMessages`).
fn assert_nothing_dropped(table: &str) {
    let mut lines = table.lines();
    let head = lines.next().unwrap_or_default();
    assert!(head.contains("bytes") && head.contains("dropped"), "the final table: {table}");
    // A topic's line: its name, records, bytes as a number and a unit, dropped, links, lag.
    let rows: Vec<Vec<&str>> =
        lines.map(|line| line.split_whitespace().collect()).filter(|row: &Vec<_>| row.len() >= 7).collect();
    assert!(!rows.is_empty(), "the final table has no topic: {table}");
    for row in rows {
        // Counted from the end: the line of all topics has a name of two words.
        assert_eq!(row[row.len() - 3], "0", "dropped: {table}");
    }
}
