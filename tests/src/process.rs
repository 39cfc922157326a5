//! Child processes that never outlive this one.
//!
//! A [`Guarded`] process runs under a small `sh` that holds the other end of a pipe from here. When the pipe closes —
//! dropped, a panic, or this process killed — the `sh` kills its child:
//!
//! ```text
//! this process ──pipe──► sh ── watcher: read to the end of the pipe, then kill -9
//!                         └── the command; its exit status becomes that of sh
//! ```
//!
//! Output goes to files, so a chatty child never blocks and its last words can be shown when a test fails.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::failure::{Context as _, Failure, Result};
use crate::wait::{self, Deadline};

/// `$1`, `$2`: files for stdout and stderr; then the command.
const GUARD: &str = r#"
exec 3<&0
out=$1 err=$2
shift 2
if [ "$out" = "$err" ]; then "$@" </dev/null >>"$out" 2>&1 3<&- & else "$@" </dev/null >"$out" 2>"$err" 3<&- & fi
child=$!
( read -r _ <&3; kill -9 "$child" ) >/dev/null 2>&1 &
watcher=$!
echo "$child"
exec >/dev/null
wait "$child"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
"#;

/// A running command and its guard.
#[derive(Debug)]
pub struct Guarded {
    what: String,
    sh: Child,
    pid: u32,
    pipe: Option<ChildStdin>,
    out: PathBuf,
    err: PathBuf,
    status: Option<i32>,
}

impl Guarded {
    /// Starts `command` with its stdout and stderr in these files (the same file for both: appended in one stream).
    pub fn spawn(what: &str, command: &[OsString], out: &Path, err: &Path) -> Result<Guarded> {
        let mut sh = Command::new("sh");
        sh.arg("-c").arg(GUARD).arg("guard").arg(out).arg(err).args(command);
        // A group of its own: Ctrl-C in a terminal ends the test process, and the closing pipe ends the rest in order.
        sh.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut sh = sh.spawn().context(|| format!("starting sh for {what}"))?;
        let pipe = sh.stdin.take();
        let mut line = String::new();
        if let Some(stdout) = sh.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).context(|| format!("starting {what}"))?;
        }
        let pid =
            line.trim().parse().map_err(|_| Failure::new(format!("starting {what}: no process id in {line:?}")))?;
        let (out, err) = (out.to_owned(), err.to_owned());
        Ok(Guarded { what: what.to_owned(), sh, pid, pipe, out, err, status: None })
    }

    /// The process id of the command itself.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The exit status once it has ended (128 + the number of the signal that ended it).
    pub fn status(&mut self) -> Result<Option<i32>> {
        if self.status.is_none()
            && let Some(status) = self.sh.try_wait().context(|| format!("waiting for {}", self.what))?
        {
            self.status = Some(status.code().unwrap_or(-1));
        }
        Ok(self.status)
    }

    /// Waits until it has ended by itself.
    pub fn wait(&mut self, time: Duration) -> Result<i32> {
        let what = format!("the end of {} (pid {})", self.what, self.pid);
        wait::until(Deadline::after(time), &what, || self.status())
            .map_err(|failure| Failure::new(format!("{failure}\n{}", self.output())))
    }

    /// Sends a signal by its name, e.g. `TERM`.
    pub fn signal(&self, name: &str) -> Result {
        signal(self.pid, name)
    }

    /// Kills it (SIGKILL) and waits until it is gone.
    pub fn kill(&mut self) -> Result {
        self.pipe = None;
        self.wait(Duration::from_secs(20)).map(drop)
    }

    /// Everything that it wrote to stdout.
    pub fn stdout(&self) -> String {
        read_lossy(&self.out)
    }

    /// Everything that it wrote to stderr.
    pub fn stderr(&self) -> String {
        read_lossy(&self.err)
    }

    /// The tail of what it wrote, for failure messages.
    pub fn output(&self) -> String {
        if self.out == self.err {
            return format!("--- output of {}\n{}", self.what, tail(&self.stdout()));
        }
        let (out, err) = (self.stdout(), self.stderr());
        format!("--- stdout of {0}\n{1}--- stderr of {0}\n{2}", self.what, tail(&out), tail(&err))
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.pipe = None;
        // Nothing to do about an error here: the guard kills its child by itself.
        let _ = self.sh.wait();
    }
}

/// Removes a folder when the pipe closes, so that a killed test process leaves no data behind either.
#[derive(Debug)]
pub struct Reaper {
    sh: Child,
}

/// Tried again for a while: processes that are being killed at the same moment may still create files.
const REAP: &str = r#"
read -r _
tries=0
until rm -rf "$1" 2>/dev/null || [ "$tries" -ge 100 ]; do tries=$((tries + 1)); sleep 0.1; done
"#;

impl Reaper {
    /// The reaper of `folder`.
    pub fn of(folder: &Path) -> Result<Reaper> {
        let mut sh = Command::new("sh");
        sh.arg("-c").arg(REAP).arg("reap").arg(folder);
        sh.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Reaper { sh: sh.spawn().context(|| format!("starting the reaper of {}", folder.display()))? })
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        drop(self.sh.stdin.take());
        let _ = self.sh.wait();
    }
}

/// Runs a command to its end; its stdout, or a failure with everything that it said.
pub fn run(what: &str, command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context(|| format!("starting {what}: {command:?}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let text = format!("{what}: {}\n{command:?}\n{}{}", output.status, tail(&stdout), tail(&stderr));
    Err(Failure::new(text))
}

/// Sends a signal to a process of ours by its id.
pub fn signal(pid: u32, name: &str) -> Result {
    run("kill", Command::new("kill").arg(format!("-{name}")).arg(pid.to_string())).map(drop)
}

/// Whether a process with this id is there (a zombie is not).
pub fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// A command as the list of its words.
pub fn words<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<OsString> {
    words.into_iter().map(|word| word.as_ref().to_owned()).collect()
}

/// The last lines of a text.
pub fn tail(text: &str) -> String {
    const LINES: usize = 40;
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    let mut tail = String::new();
    for line in lines.iter().skip(from) {
        tail.push_str(line);
        tail.push('\n');
    }
    tail
}

fn read_lossy(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
