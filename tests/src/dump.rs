//! Kafka's own reader of segment files, `DumpLogSegments` of 4.4.0.
//!
//! Not that of 0.11 … 2.1: under `--deep-iteration` those call a batch with a flipped byte valid. All of them exit with 0
//! whatever they find, so that what they say has to be counted.

use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::brokers::tools;
use crate::process;

/// What it said of some files.
#[derive(Clone, Debug)]
pub struct Dump {
    /// Entries whose checksum is right.
    pub valid: usize,
    /// Entries whose checksum is wrong.
    pub invalid: usize,
    /// Everything.
    pub text: String,
}

impl Dump {
    /// Whether it complains about an index.
    pub fn finds_mismatches(&self) -> bool {
        ["Mismatches", "Found timestamp", "out of order", "Could not"].iter().any(|word| self.text.contains(word))
    }
}

/// Reads `.log`, `.index` and `.timeindex` files; `deep` opens batches too.
pub fn dump(files: &[PathBuf], deep: bool) -> Result<Dump> {
    let jars = tools("4.4.0")?;
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let mut java = Command::new("java");
    java.args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]).arg(format!("{}/*", jars.display()));
    java.args(["org.apache.kafka.tools.DumpLogSegments", "--files", &names.join(",")]);
    if deep {
        java.arg("--deep-iteration");
    }
    let text = process::run("DumpLogSegments", &mut java)?;
    let counted = |what: &str| text.lines().filter(|line| line.to_lowercase().contains(what)).count();
    Ok(Dump { valid: counted("isvalid: true"), invalid: counted("isvalid: false"), text })
}
