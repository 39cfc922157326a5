//! Outside programs with a time limit, and the members of groups among them.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use kmirror_tests::failure::{Context as _, ensure};
use kmirror_tests::process::{Guarded, words};
use kmirror_tests::{Failure, Result};
use tempfile::TempDir;

use super::client::Seen;

/// The longest that one command may take on a busy machine.
const WITHIN: Duration = Duration::from_secs(60);

/// Runs the command `$@` with the file `$in` as its standard input.
const WITH_INPUT: &str = r#"in=$1; shift; exec "$@" <"$in""#;

/// Runs a command to its end; what it said.
pub(super) fn finish(what: &str, command: &[OsString]) -> Result<String> {
    finish_within(what, command, WITHIN)
}

/// [`finish`] with another limit.
pub(super) fn finish_within(what: &str, command: &[OsString], within: Duration) -> Result<String> {
    let folder = folder()?;
    let mut process = start(what, command, folder.path())?;
    let status = process.wait(within)?;
    ensure(status == 0, || format!("{what} ended with {status}\n{command:?}\n{}", process.output()))?;
    Ok(process.stdout())
}

/// A command that reads a file where it would read the terminal.
pub(super) fn with_input(input: &Path, command: &[OsString]) -> Vec<OsString> {
    let mut all = words(["sh", "-c", WITH_INPUT, "with-input"]);
    all.push(input.into());
    all.extend_from_slice(command);
    all
}

/// A folder that is gone when it is dropped.
pub(super) fn folder() -> Result<TempDir> {
    tempfile::tempdir().context(|| "creating a folder for a client".to_owned())
}

/// Starts a command whose output goes to files in a folder.
pub(super) fn start(what: &str, command: &[OsString], folder: &Path) -> Result<Guarded> {
    Guarded::spawn(what, command, &folder.join("stdout"), &folder.join("stderr"))
}

/// A member of a consumer group: a process that prints what it reads until SIGTERM, and then leaves.
pub(super) struct Member {
    process: Guarded,
    _folder: TempDir,
    parse: fn(&str) -> Option<Seen>,
}

impl Member {
    /// Starts it; `parse` reads a line that it prints.
    pub(super) fn start(what: &str, command: &[OsString], parse: fn(&str) -> Option<Seen>) -> Result<Member> {
        let folder = folder()?;
        let process = start(what, command, folder.path())?;
        Ok(Member { process, _folder: folder, parse })
    }

    /// What it has read so far.
    pub(super) fn seen(&mut self) -> Result<Vec<Seen>> {
        if let Some(status) = self.process.status()? {
            return Err(Failure::new(format!("the member ended with {status}\n{}", self.process.output())));
        }
        self.read()
    }

    /// Leaves the group in order; all that it has read.
    pub(super) fn leave(mut self) -> Result<Vec<Seen>> {
        self.process.signal("TERM")?;
        self.process.wait(WITHIN)?;
        self.read()
    }

    /// The tail of what it said, for failure messages.
    pub(super) fn output(&self) -> String {
        self.process.output()
    }

    fn read(&self) -> Result<Vec<Seen>> {
        let said = self.process.stdout();
        let complete = said.rsplit_once('\n').map_or("", |(complete, _)| complete);
        lines(complete, self.parse)
    }
}

/// Reads each line.
pub(super) fn lines(text: &str, parse: fn(&str) -> Option<Seen>) -> Result<Vec<Seen>> {
    let read = |line| parse(line).ok_or_else(|| Failure::new(format!("a client said what cannot be read: {line:?}")));
    text.lines().map(read).collect()
}
