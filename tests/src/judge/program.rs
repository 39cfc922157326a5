//! One command of the Java program: over the socket of a warm JVM, or in a JVM of its own.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::server;
use crate::brokers::{Cluster, Distribution, distribution};
use crate::failure::{Context as _, ensure};
use crate::process::{self, Guarded, words};
use crate::sha256::Sha256;
use crate::{Failure, Result, cache};

/// Which of Kafka's Java clients a command runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// 2.0.0: what the program is compiled against, and what reads and writes 0.10 … 2.0. ZooKeeper's is beside it.
    Old,
    /// 3.9.1: for newer brokers.
    New,
}

impl Client {
    /// Its release.
    pub fn version(self) -> &'static str {
        match self {
            Client::Old => "2.0.0",
            Client::New => "3.9.1",
        }
    }

    /// `java` with the judge and this client on its class path, heap in MiB; the judge's words follow.
    pub(super) fn java(self, heap_mib: u32) -> Result<Vec<OsString>> {
        let class_path = format!("{}:{}", classes()?.display(), distribution(self.version())?.class_path());
        let mut command = words(["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.push(format!("-Xmx{heap_mib}m").into());
        command.extend(words(["-cp", &class_path, "Judge"]));
        Ok(command)
    }
}

/// One run of the judge.
pub(super) struct Program {
    client: Client,
    words: Vec<String>,
}

impl Program {
    /// `command` with the client that suits a cluster, whose brokers are its first word.
    pub(super) fn on(cluster: &Cluster, command: &str) -> Program {
        let client = if cluster.release().at_least(2, 1) { Client::New } else { Client::Old };
        Program::with(client, command).arg(cluster.bootstrap())
    }

    /// `command` about what only the cluster's ZooKeeper can be asked, whose address is its first word.
    pub(super) fn on_zookeeper(cluster: &Cluster, command: &str) -> Result<Program> {
        let address = cluster.zookeeper();
        let address = address.ok_or_else(|| Failure::new(format!("{command}: {} has none", cluster.bootstrap())))?;
        Ok(Program::with(Client::Old, command).arg(address))
    }

    /// `command` with the client that speaks to all releases.
    pub(super) fn on_any(command: &str) -> Program {
        Program::with(Client::New, command)
    }

    /// `command` with this client.
    pub(super) fn with(client: Client, command: &str) -> Program {
        Program { client, words: vec![command.to_owned()] }
    }

    pub(super) fn arg(mut self, arg: impl Display) -> Program {
        self.words.push(arg.to_string());
        self
    }

    /// `key=value` for each.
    pub(super) fn properties(mut self, properties: &[(&str, &str)]) -> Program {
        self.words.extend(properties.iter().map(|(key, value)| format!("{key}={value}")));
        self
    }

    /// Runs it in the warm JVM; what it said.
    pub(super) fn run(self, within: Duration) -> Result<String> {
        let answered = server::warm(self.client).and_then(|server| server.ask(&self.words, within));
        answered.map_err(|failure| Failure::new(format!("{}: {failure}", self.what())))
    }

    /// Starts it in a JVM of its own; its output is in files in the folder, as long as that is kept.
    pub(super) fn start(self) -> Result<(Guarded, tempfile::TempDir)> {
        let folder = tempfile::tempdir().context(|| "creating a folder for the judge's output".to_owned())?;
        let (out, err) = (folder.path().join("stdout"), folder.path().join("stderr"));
        let mut command = self.client.java(512)?;
        command.extend(words(&self.words));
        let process = Guarded::spawn(&self.what(), &command, &out, &err)?;
        Ok((process, folder))
    }

    /// Runs it in a JVM of its own to its end, for a command that ends its JVM.
    pub(super) fn run_alone(self, within: Duration) -> Result {
        let what = self.what();
        let (mut process, _folder) = self.start()?;
        let status = process.wait(within)?;
        ensure(status == 0, || format!("{what} ended with {status}\n{}", process.output()))
    }

    /// Its first words: records can be a megabyte each.
    fn what(&self) -> String {
        const SHOWN: usize = 8;
        let mut text = String::from("judge");
        for word in self.words.iter().take(SHOWN) {
            text.push(' ');
            text.extend(word.chars().take(80));
        }
        if self.words.len() > SHOWN {
            text.push_str(" …");
        }
        text
    }
}

/// The program's files.
const SOURCES: [(&str, &str); 9] = [
    ("Judge.java", include_str!("../../judge/Judge.java")),
    ("Command.java", include_str!("../../judge/Command.java")),
    ("Clients.java", include_str!("../../judge/Clients.java")),
    ("Topics.java", include_str!("../../judge/Topics.java")),
    ("ZooKeeperTopics.java", include_str!("../../judge/ZooKeeperTopics.java")),
    ("Workloads.java", include_str!("../../judge/Workloads.java")),
    ("Rows.java", include_str!("../../judge/Rows.java")),
    ("Reading.java", include_str!("../../judge/Reading.java")),
    ("Groups.java", include_str!("../../judge/Groups.java")),
];

/// The folder of the compiled classes, named after the program's text.
fn classes() -> Result<PathBuf> {
    let mut text = Sha256::default();
    SOURCES.iter().for_each(|(_, source)| text.update(source.as_bytes()));
    let hash = text.finish().to_string();
    let client: Distribution = distribution(Client::Old.version())?;
    cache::filled(&format!("judge/{}", &hash[..16]), |folder| compile(&client, folder))
}

fn compile(client: &Distribution, folder: &Path) -> Result {
    let mut javac = Command::new("javac");
    javac.args(["-nowarn", "-cp", &client.class_path(), "-d"]).arg(folder);
    for (name, source) in SOURCES {
        let file = folder.join(name);
        std::fs::write(&file, source).context(|| format!("writing {}", file.display()))?;
        javac.arg(&file);
    }
    process::run("compiling the judge", &mut javac).map(drop)
}
