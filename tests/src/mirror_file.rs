//! A mirror described in a `kmirror.toml`, run as a child process, and the report that it ends with.

use std::path::PathBuf;
use std::time::Duration;

use crate::failure::{Context as _, ensure};
use crate::kafka::Kafka;
use crate::kmirror::{Finished, Kmirror, Running};
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// For one run up to the source's end: minutes longer than it takes on a busy machine.
pub const RUN_WITHIN: Duration = Duration::from_secs(180);

/// For something to happen while it runs.
pub const WITHIN: Duration = Duration::from_secs(60);

/// `stop_timeout` and a little.
pub const STOP_WITHIN: Duration = Duration::from_secs(35);

/// One mirror in a file of its own.
pub struct MirrorFile {
    name: String,
    source: String,
    target: String,
    topics: String,
    lines: Vec<String>,
    folder: tempfile::TempDir,
}

impl MirrorFile {
    /// The mirror `name`, `_` in the place of its dots, between two clusters, of the topics that the pattern matches.
    pub fn between(source: &dyn Kafka, target: &dyn Kafka, name: &str, topics: &str) -> MirrorFile {
        MirrorFile {
            name: name.replace('.', "_"),
            source: source.bootstrap(),
            target: target.bootstrap(),
            topics: topics.to_owned(),
            lines: source.pace().iter().map(|line| (*line).to_owned()).collect(),
            folder: tempfile::tempdir().expect("a folder for kmirror.toml"),
        }
    }

    /// A line of the mirror's table, e.g. `on_keyless = "drop"`.
    pub fn line(mut self, line: &str) -> MirrorFile {
        self.lines.push(line.to_owned());
        self
    }

    /// Batches of a few records each, fetched a few at a time: slow enough to be killed on the way.
    pub fn slowly(self) -> MirrorFile {
        self.line("max_partition_fetch_bytes = \"4000B\"")
    }

    /// Other topics from now on; a running mirror is told by [`MirrorFile::write`] and SIGHUP.
    pub fn topics(&mut self, topics: &str) {
        topics.clone_into(&mut self.topics);
    }

    /// Writes the file; where it is.
    pub fn write(&self) -> Result<PathBuf> {
        let path = self.folder.path().join("kmirror.toml");
        let (name, topics) = (&self.name, &self.topics);
        let mut text = format!("[cluster.here]\nbootstrap.servers = \"{}\"\n", self.source);
        text.push_str(&format!("[cluster.there]\nbootstrap.servers = \"{}\"\n", self.target));
        text.push_str(&format!("[mirror.{name}]\nsource = \"here\"\ntarget = \"there\"\ntopics = '{topics}'\n"));
        self.lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        std::fs::write(&path, text).context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    /// `kmirror run -c` with the file, a report as JSON and a log as text.
    pub fn command(&self) -> Result<Kmirror> {
        let command = Kmirror::new("run").arg("-c").arg(self.write()?.into_os_string());
        Ok(command.arg("--json").option("log-format", "text"))
    }

    /// Starts it. Its file goes with this value: keep it until the mirror runs.
    pub fn start(&self) -> Result<Running> {
        self.command()?.start()
    }

    /// Mirrors everything that the source has, and ends well.
    pub fn run_until_caught_up(&self) -> Result<(Finished, Report)> {
        let finished = self.command()?.arg("--until-caught-up").run(RUN_WITHIN)?.expect_code(0)?;
        let report = Report::of(&finished)?;
        Ok((finished, report))
    }
}

/// Stops a running mirror in order; what it reports.
pub fn stop(running: Running) -> Result<(Finished, Report)> {
    running.signal("TERM")?;
    let finished = running.finish(STOP_WITHIN)?.expect_code(0)?;
    let report = Report::of(&finished)?;
    Ok((finished, report))
}

/// Waits until something holds while the mirror goes on running.
pub fn until(running: &mut Running, what: &str, mut holds: impl FnMut(&Running) -> Result<bool>) -> Result {
    let waited = wait::until(Deadline::after(WITHIN), what, || {
        if let Some(status) = running.status()? {
            return Err(Failure::new(format!("kmirror ended with {status} before {what}")));
        }
        Ok(holds(running)?.then_some(()))
    });
    waited.map_err(|failure| Failure::new(format!("{failure}\n{}", running.output())))
}

/// Waits until the target's topic ends like this.
pub fn until_ends(running: &mut Running, target: &dyn Kafka, topic: &str, ends: &[i64]) -> Result {
    let wanted: Vec<Option<i64>> = ends.iter().copied().map(Some).collect();
    until(running, &format!("{topic} to end at {ends:?}"), |_| Ok(target.ends(topic)? == wanted))
}

/// Waits until one line of the log holds all of these words.
pub fn until_said(running: &mut Running, words: &[&str]) -> Result {
    until(running, &format!("a line with {words:?}"), |running| {
        let said = running.stderr();
        Ok(said.lines().any(|line| words.iter().all(|word| line.contains(word))))
    })
}

/// What a mirror says about itself at its end (`--json`).
#[derive(Debug)]
pub struct Report(serde_json::Value);

impl Report {
    /// Reads the last line of stdout.
    pub fn of(finished: &Finished) -> Result<Report> {
        let line = finished.stdout.lines().next_back().unwrap_or_default();
        let parsed: serde_json::Value = serde_json::from_str(line)
            .map_err(|error| Failure::new(format!("the report is no JSON: {error}: {:?}", finished.stdout)))?;
        let mirrors = parsed["mirrors"].as_array().map_or(0, Vec::len);
        ensure(mirrors == 1, || format!("a report of {mirrors} mirrors: {line}"))?;
        Ok(Report(parsed["mirrors"][0].clone()))
    }

    /// A counter of a topic.
    pub fn count(&self, topic: &str, counter: &str) -> u64 {
        let count = self.topic(topic)[counter].as_u64();
        count.unwrap_or_else(|| panic!("the report has no {counter} of {topic}: {}", self.0))
    }

    /// The state of a topic.
    pub fn state(&self, topic: &str) -> &str {
        self.topic(topic)["state"].as_str().unwrap_or_default()
    }

    /// Why a topic does not go on.
    pub fn reason(&self, topic: &str) -> &str {
        self.topic(topic)["reason"].as_str().unwrap_or_default()
    }

    fn topic(&self, topic: &str) -> &serde_json::Value {
        let mut topics = self.0["topics"].as_array().into_iter().flatten();
        topics.find(|entry| entry["topic"] == topic).unwrap_or_else(|| panic!("the report lacks {topic}: {}", self.0))
    }
}
