//! The `kmirror` binary: built once, run as a child process, its words kept for the failure message.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::failure::{Context as _, ensure};
use crate::process::{self, Guarded};
use crate::{Failure, Result, cache};

/// The binary, built with the profile of the running test; once per process. `KMIRROR_BIN` names a ready one instead.
pub fn binary() -> Result<&'static Path> {
    static BINARY: OnceLock<std::result::Result<PathBuf, String>> = OnceLock::new();
    let built = BINARY.get_or_init(|| match std::env::var_os("KMIRROR_BIN") {
        Some(path) => Ok(PathBuf::from(path)),
        None => build(&running_profile()).map_err(|failure| failure.to_string()),
    });
    built.as_deref().map_err(|text| Failure::new(text.clone()))
}

/// Builds the binary with a profile of the workspace (`debug`, `release`) into the target folder in use; its path.
pub fn build(profile: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let target = target_folder()?;
    let mut build = Command::new(cargo);
    build.current_dir(cache::workspace());
    build.args(["build", "--locked", "-p", "kmirror-cli", "--bin", "kmirror", "--profile"]);
    // Cargo's `dev` profile builds into a folder with another name.
    build.arg(if profile == "debug" { "dev" } else { profile }).arg("--target-dir").arg(&target);
    process::run("building kmirror", &mut build)?;
    Ok(target.join(profile).join("kmirror"))
}

/// A run of `kmirror`, not yet started.
#[derive(Clone, Debug, Default)]
pub struct Kmirror {
    args: Vec<OsString>,
}

impl Kmirror {
    /// `kmirror <subcommand>`.
    pub fn new(subcommand: &str) -> Kmirror {
        Kmirror { args: vec![subcommand.into()] }
    }

    /// One more argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Kmirror {
        self.args.push(arg.into());
        self
    }

    /// `--name value`.
    pub fn option(self, name: &str, value: impl Into<OsString>) -> Kmirror {
        self.arg(format!("--{name}")).arg(value)
    }

    /// Starts it.
    pub fn start(&self) -> Result<Running> {
        let mut command = vec![binary()?.as_os_str().to_owned()];
        command.extend(self.args.iter().cloned());
        let folder = tempfile::tempdir().context(|| "creating a folder for kmirror's output".to_owned())?;
        let (out, err) = (folder.path().join("stdout"), folder.path().join("stderr"));
        let words: Vec<_> = self.args.iter().map(|word| word.to_string_lossy()).collect();
        let process = Guarded::spawn(&format!("kmirror {}", words.join(" ")), &command, &out, &err)?;
        Ok(Running { process, _folder: folder })
    }

    /// Runs it to its end, which must come by itself within this time.
    pub fn run(&self, within: Duration) -> Result<Finished> {
        self.start()?.finish(within)
    }
}

/// A running `kmirror`. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    process: Guarded,
    _folder: tempfile::TempDir,
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Sends a signal by name, e.g. `TERM`, `INT`, `KILL`, `STOP`.
    pub fn signal(&self, name: &str) -> Result {
        self.process.signal(name)
    }

    /// The exit code if it has ended.
    pub fn status(&mut self) -> Result<Option<i32>> {
        self.process.status()
    }

    /// Its stderr up to now.
    pub fn stderr(&self) -> String {
        self.process.stderr()
    }

    /// The tails of its stdout and stderr up to now, for failure messages.
    pub fn output(&self) -> String {
        self.process.output()
    }

    /// Waits for its end.
    pub fn finish(mut self, within: Duration) -> Result<Finished> {
        let code = self.process.wait(within)?;
        let (stdout, stderr) = (self.process.stdout(), self.process.stderr());
        Ok(Finished { code, stdout, stderr, output: self.process.output() })
    }
}

/// A `kmirror` that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code (128 + the signal that ended it).
    pub code: i32,
    /// All of its stdout.
    pub stdout: String,
    /// All of its stderr.
    pub stderr: String,
    output: String,
}

impl Finished {
    /// Fails unless it ended with this exit code.
    pub fn expect_code(self, code: i32) -> Result<Finished> {
        ensure(self.code == code, || format!("exit code {} instead of {code}\n{}", self.code, self.output))?;
        Ok(self)
    }

    /// Fails unless the last line of stderr, which says why it ended, holds all of these words, and no other line was
    /// said over and over before it.
    pub fn last_words(&self, words: &[&str]) -> Result {
        const REPEATS_MAX: usize = 5;
        let last = self.stderr.lines().next_back().unwrap_or_default();
        let holds = words.iter().all(|word| last.contains(word));
        ensure(holds, || format!("the last line of stderr lacks some of {words:?}\n{}", self.output))?;
        let mut said: BTreeMap<&str, usize> = BTreeMap::new();
        for line in self.stderr.lines() {
            *said.entry(without_time(line)).or_default() += 1;
        }
        match said.into_iter().find(|(_, times)| *times > REPEATS_MAX) {
            None => Ok(()),
            Some((line, times)) => {
                Err(Failure::new(format!("said {times} times, {REPEATS_MAX} at most: {line}\n{}", self.output)))
            }
        }
    }

    /// Fails unless exactly one line of stderr holds all of these words; the line.
    pub fn one_line_with(&self, words: &[&str]) -> Result<&str> {
        let mut lines = self.stderr.lines().filter(|line| words.iter().all(|word| line.contains(word)));
        match (lines.next(), lines.next()) {
            (Some(line), None) => Ok(line),
            (first, _) => {
                let count = if first.is_none() { "no line" } else { "more than one line" };
                Err(Failure::new(format!("{count} of stderr holds all of {words:?}\n{}", self.output)))
            }
        }
    }
}

/// A line of the log without the time at its beginning.
fn without_time(line: &str) -> &str {
    match line.split_once(' ') {
        Some((time, rest)) if time.ends_with('Z') => rest.trim_start(),
        _ => line,
    }
}

/// Writes a Java properties file.
pub fn properties_file(path: &Path, properties: &[(&str, &str)]) -> Result {
    let mut text = String::new();
    for (key, value) in properties {
        text.push_str(&format!("{key}={value}\n"));
    }
    fs::write(path, text).context(|| format!("writing {}", path.display()))
}

/// `target/<profile>/deps/<test>`: the folder of the running test names its profile.
fn running_profile() -> String {
    let name = || Some(profile_folder()?.file_name()?.to_string_lossy().into_owned());
    name().unwrap_or_else(|| "debug".to_owned())
}

fn target_folder() -> Result<PathBuf> {
    let folder = profile_folder().and_then(|folder| folder.parent().map(Path::to_path_buf));
    folder.ok_or_else(|| Failure::new("the running program lies in no target folder"))
}

fn profile_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let deps = folder.file_name().is_some_and(|name| name == "deps");
    Some(if deps { folder.parent()? } else { folder }.to_path_buf())
}
