//! Compiles and runs the Java program.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::brokers::{Cluster, Distribution, distribution};
use crate::failure::{Context as _, ensure};
use crate::process::{self, Guarded, words};
use crate::sha256::Sha256;
use crate::{Result, cache};

/// The client that it is compiled against, and that reads and writes 0.10 … 2.0.
const OLD_CLIENT: &str = "2.0.0";

/// The client for newer brokers.
const NEW_CLIENT: &str = "3.9.1";

const SOURCE: &str = include_str!("../../judge/Judge.java");

/// One run of the judge, or of one of Kafka's own tools.
pub(super) struct Program {
    command: Vec<OsString>,
    what: String,
}

impl Program {
    /// The judge with the client that suits a cluster.
    pub(super) fn on(cluster: &Cluster) -> Result<Program> {
        let new = cluster.release().at_least(2, 1);
        Program::with(if new { NEW_CLIENT } else { OLD_CLIENT })
    }

    /// The judge with the client that speaks to all releases.
    pub(super) fn on_any() -> Result<Program> {
        Program::with(NEW_CLIENT)
    }

    fn with(client: &str) -> Result<Program> {
        let class_path = format!("{}:{}", classes()?.display(), distribution(client)?.class_path());
        Ok(Program::java(&class_path, "Judge"))
    }

    /// A tool out of the cluster's own jars.
    pub(super) fn tool(cluster: &Cluster, main: &str) -> Program {
        Program::java(&cluster.distribution().class_path(), main)
    }

    fn java(class_path: &str, main: &str) -> Program {
        let mut command = words(["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]);
        command.extend(words([class_path, main]));
        Program { command, what: main.to_owned() }
    }

    pub(super) fn arg(mut self, arg: impl Display) -> Program {
        let arg = arg.to_string();
        self.what.push(' ');
        self.what.push_str(&arg);
        self.command.push(arg.into());
        self
    }

    /// Starts it; its output is in files in the folder, as long as that is kept.
    pub(super) fn start(self) -> Result<(Guarded, tempfile::TempDir)> {
        let folder = tempfile::tempdir().context(|| "creating a folder for the judge's output".to_owned())?;
        let (out, err) = (folder.path().join("stdout"), folder.path().join("stderr"));
        let process = Guarded::spawn(&self.what, &self.command, &out, &err)?;
        Ok((process, folder))
    }

    /// Runs it to its end; its stdout.
    pub(super) fn run(self, within: Duration) -> Result<String> {
        let what = self.what.clone();
        let (mut process, _folder) = self.start()?;
        let status = process.wait(within)?;
        ensure(status == 0, || format!("{what} ended with {status}\n{}", process.output()))?;
        Ok(process.stdout())
    }
}

/// The folder of the compiled classes, named after the program's text.
fn classes() -> Result<PathBuf> {
    let hash = Sha256::of(SOURCE.as_bytes()).to_string();
    let client: Distribution = distribution(OLD_CLIENT)?;
    cache::filled(&format!("judge/{}", &hash[..16]), |folder| compile(&client, folder))
}

fn compile(client: &Distribution, folder: &Path) -> Result {
    let file = folder.join("Judge.java");
    std::fs::write(&file, SOURCE).context(|| format!("writing {}", file.display()))?;
    let mut javac = Command::new("javac");
    javac.args(["-nowarn", "-cp", &client.class_path(), "-d"]).arg(folder).arg(&file);
    process::run("compiling the judge", &mut javac).map(drop)
}
