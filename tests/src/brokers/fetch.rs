//! The jars of a release, fetched by Maven once per machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::release::{Release, release};
use crate::failure::Context as _;
use crate::process::tail;
use crate::{Failure, Result, cache};

const POM: &str = include_str!("pom.template.xml");

/// Pinned: a newer plugin may want a newer Maven than Debian has.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// A release whose jars are on this machine.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Which release.
    pub release: &'static Release,
    /// The folder of its jars.
    pub jars: PathBuf,
}

impl Distribution {
    /// Its class path, for `java -cp`.
    pub fn class_path(&self) -> String {
        format!("{}/*", self.jars.display())
    }
}

/// The release `version`, fetched into the cache if it is not there yet.
pub fn distribution(version: &str) -> Result<Distribution> {
    let release = release(version)?;
    let kafka = format!("kafka_{}", release.scala);
    let mut artifacts = release.beside.to_vec();
    artifacts.push(("org.apache.kafka", kafka.as_str(), release.version));
    let jars = jars(&format!("brokers/{version}"), &artifacts)?;
    Ok(Distribution { release, jars })
}

/// The folder with the jars of a release's command line tools, as far as they have an artifact of their own (from 3.3 on).
pub fn tools(version: &str) -> Result<PathBuf> {
    jars(&format!("tools/{version}"), &[("org.apache.kafka", "kafka-tools", version)])
}

/// The folder `name` of the cache with these artifacts (group, name, version) and all that they need.
fn jars(name: &str, artifacts: &[(&str, &str, &str)]) -> Result<PathBuf> {
    cache::filled(name, |folder| fetch(name, artifacts, folder))
}

fn fetch(name: &str, artifacts: &[(&str, &str, &str)], folder: &Path) -> Result {
    // Beside the folder that is filled, so that neither becomes a part of the class path and the log stays after a failure.
    let pom = folder.with_extension("pom.xml");
    let log = folder.with_extension("log");
    fs::write(&pom, project(artifacts)).context(|| format!("writing {}", pom.display()))?;
    let file = fs::File::create(&log).context(|| format!("creating {}", log.display()))?;
    let errors = file.try_clone().context(|| format!("opening {}", log.display()))?;
    let mut mvn = Command::new("mvn");
    mvn.args(["-B", "-f"]).arg(&pom).arg(COPY).arg("-DincludeScope=runtime");
    mvn.arg(format!("-DoutputDirectory={}", folder.display()));
    mvn.stdin(Stdio::null()).stdout(file).stderr(errors);
    let status = mvn.status().context(|| format!("fetching {name}: starting {mvn:?}"))?;
    if status.success() {
        return Ok(());
    }
    let said = fs::read_to_string(&log).unwrap_or_default();
    let log = log.display();
    Err(Failure::new(format!("fetching {name}: {status}\n{mvn:?}\nlog {log} ends:\n{}", tail(&said))))
}

fn project(artifacts: &[(&str, &str, &str)]) -> String {
    let mut dependencies = String::new();
    for (group, artifact, version) in artifacts {
        dependencies.push_str(&format!(
            "    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>\n"
        ));
    }
    POM.replace("@dependencies@", &dependencies)
}
