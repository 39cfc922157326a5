//! Clients that are libraries: each behind a little program of `tests/clients`, which all take the same words.

use std::ffi::OsString;
use std::fs;

use kmirror_tests::Result;
use kmirror_tests::failure::Context as _;
use kmirror_tests::judge::Row;
use kmirror_tests::process::words;

use super::client::{Abilities, Client, Isolation, Mode, Seen, Topic, Writing};
use super::command::{self, Member};
use kmirror_testkit::Release;

/// A program.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) command: Vec<OsString>,
    pub(super) abilities: fn(Release) -> Abilities,
}

impl Program {
    fn with(&self, command: &str, topic: Topic<'_>, more: &[&str]) -> Vec<OsString> {
        let mut all = self.command.clone();
        all.extend(words([command, &topic.cluster.bootstrap(), topic.name]));
        all.extend(words(more));
        all
    }

    fn what(&self, command: &str, topic: Topic<'_>) -> String {
        format!("{} {command} {} on the embedded {}", self.name, topic.name, topic.cluster.release)
    }
}

impl Client for Program {
    fn abilities(&self, release: Release) -> Abilities {
        (self.abilities)(release)
    }

    fn write(&self, topic: Topic<'_>, writings: &[Writing]) -> Result {
        let folder = command::folder()?;
        let plan = folder.path().join("plan");
        fs::write(&plan, text(writings)).context(|| format!("writing {}", plan.display()))?;
        let command = self.with("write", topic, &[&plan.display().to_string()]);
        command::finish(&self.what("write", topic), &command).map(drop)
    }

    fn read(&self, topic: Topic<'_>, isolation: Isolation, count: usize) -> Result<Vec<Seen>> {
        let command = self.with("read", topic, &[isolation.name(), &count.to_string()]);
        command::lines(&command::finish(&self.what("read", topic), &command)?, parse)
    }

    fn join(&self, topic: Topic<'_>, group: &str) -> Result<Member> {
        Member::start(&self.what("join", topic), &self.with("join", topic, &[group]), parse)
    }
}

/// `with CODEC MODE`, then `PARTITION` and each record's text.
fn text(writings: &[Writing]) -> String {
    let mut text = String::new();
    for writing in writings {
        let mode = match writing.mode {
            Mode::Plain => "plain",
            Mode::Idempotent => "idempotent",
            Mode::Commit => "commit",
            Mode::Abort => "abort",
        };
        text.push_str(&format!("with {} {mode}\n", writing.codec));
        for (partition, row) in &writing.rows {
            text.push_str(&format!("{partition} {}\n", row.text()));
        }
    }
    text
}

/// `PARTITION OFFSET` and the record's text.
fn parse(line: &str) -> Option<Seen> {
    let mut fields = line.splitn(3, ' ');
    let partition = fields.next()?.parse().ok()?;
    fields.next()?;
    Some(Seen { partition: Some(partition), row: Row::parse(fields.next()?)? })
}
