//! One broker of a cluster: its properties, its JVM, its life.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::fetch::Distribution;
use super::jvm::{self, JvmProfile};
use super::ports::Port;
use crate::failure::Context as _;
use crate::process::{Guarded, words};
use crate::wait::{self, Deadline};
use crate::{Failure, Result, cache, wire};

/// Generous: two cores may be starting six JVMs at once.
pub(super) const START_WITHIN: Duration = Duration::from_secs(120);

/// A clean stop moves leaders and writes the recovery point; the rest is slack for a busy machine.
const STOP_WITHIN: Duration = Duration::from_secs(60);

/// A broker, running or not.
#[derive(Debug)]
pub struct Node {
    id: u32,
    port: Port,
    folder: PathBuf,
    distribution: Distribution,
    profile: JvmProfile,
    heap_mib: u32,
    jvm: Mutex<Option<Guarded>>,
}

impl Node {
    pub(super) fn new(id: u32, folder: &Path, distribution: &Distribution, jvm: (JvmProfile, u32)) -> Result<Node> {
        let folder = folder.join(format!("node-{id}"));
        cache::create_folder(&folder)?;
        let (profile, heap_mib) = jvm;
        let distribution = distribution.clone();
        Ok(Node { id, port: Port::reserve()?, folder, distribution, profile, heap_mib, jvm: Mutex::new(None) })
    }

    /// Its id in the cluster: 0 and up.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its client address, `127.0.0.1:<port>`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port.number())
    }

    /// The folder with its partitions' folders (`<topic>-<partition>`).
    pub fn log_dir(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The process id of its JVM; `None` while it is down.
    pub fn pid(&self) -> Option<u32> {
        self.jvm().as_ref().map(Guarded::pid)
    }

    /// The tail of its log, for failure messages.
    pub fn log_tail(&self) -> String {
        let text = fs::read(self.log_file()).unwrap_or_default();
        crate::process::tail(&String::from_utf8_lossy(&text))
    }

    pub(super) fn write_properties(&self, properties: &[(String, String)]) -> Result {
        let mut text = String::new();
        for (key, value) in properties {
            text.push_str(&format!("{key}={value}\n"));
        }
        let path = self.properties_file();
        fs::write(&path, text).context(|| format!("writing {}", path.display()))?;
        let log4j = self.folder.join("log4j.properties");
        fs::write(&log4j, jvm::LOG4J).context(|| format!("writing {}", log4j.display()))
    }

    /// Writes the meta data of a KRaft node's empty data folder.
    pub(super) fn format(&self, cluster_id: &str) -> Result {
        let mut command = self.java(&["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c"]);
        command.push(self.properties_file().into());
        let log = self.folder.join("format.log");
        let mut tool = Guarded::spawn("StorageTool format", &command, &log, &log)?;
        match tool.wait(START_WITHIN)? {
            0 => Ok(()),
            status => Err(Failure::new(format!("StorageTool format ended with {status}\n{}", tool.output()))),
        }
    }

    /// Starts the JVM; [`Node::wait_ready`] waits for it.
    pub(super) fn spawn(&self) -> Result {
        let mut command = self.java(&["kafka.Kafka"]);
        command.push(self.properties_file().into());
        let log = self.log_file();
        let what = format!("broker {} of {}", self.id, self.distribution.release.version);
        *self.jvm() = Some(Guarded::spawn(&what, &command, &log, &log)?);
        Ok(())
    }

    /// Waits until it answers requests and knows `nodes` brokers.
    pub(super) fn wait_ready(&self, nodes: usize) -> Result {
        let what = format!("broker {} of {} to answer", self.id, self.distribution.release.version);
        wait::until(Deadline::after(START_WITHIN), &what, || {
            if let Some(jvm) = self.jvm().as_mut()
                && let Some(status) = jvm.status()?
            {
                return Err(Failure::new(format!("the broker ended with {status}")));
            }
            let brokers = wire::brokers(&self.address()).unwrap_or_default();
            Ok((brokers.len() >= nodes).then_some(()))
        })
        .map_err(|failure| Failure::new(format!("{failure}\n--- log of {what}\n{}", self.log_tail())))
    }

    pub(super) fn stop(&self) -> Result {
        let Some(mut jvm) = self.jvm().take() else {
            return Ok(());
        };
        jvm.signal("TERM")?;
        jvm.wait(STOP_WITHIN).map(drop)
    }

    pub(super) fn kill(&self) -> Result {
        let Some(mut jvm) = self.jvm().take() else {
            return Ok(());
        };
        jvm.kill()
    }

    pub(super) fn signal(&self, name: &str) -> Result {
        match self.jvm().as_ref() {
            Some(jvm) => jvm.signal(name),
            None => Err(Failure::new(format!("broker {} is down", self.id))),
        }
    }

    fn java(&self, main: &[&str]) -> Vec<std::ffi::OsString> {
        let log4j = self.folder.join("log4j.properties").display().to_string();
        let command = jvm::java(&self.distribution, self.profile, self.heap_mib, &log4j, main);
        words(command)
    }

    fn properties_file(&self) -> PathBuf {
        self.folder.join("server.properties")
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join("broker.log")
    }

    fn jvm(&self) -> MutexGuard<'_, Option<Guarded>> {
        self.jvm.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
