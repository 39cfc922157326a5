//! A signal asks for a clean stop, SIGHUP for another look at the configuration.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::broker::{self, Broker};
use crate::{Files, kmirror};

/// A mirror that waits for its target to answer: it lives until it is told to stop.
fn running(files: &Files) -> (Child, impl Iterator<Item = String>) {
    let mut command = kmirror();
    command.args(["run", "--verbose", "--whitelist", "t", "--consumer.config"]).arg(files.path("c"));
    command.arg("--producer.config").arg(files.path("p"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    (child, lines)
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// The source lives as long as its broker.
fn files() -> (Broker, Files) {
    let source = Broker::start(&[("t", &[(0, 10)])]);
    // A broker that accepts and never answers keeps the mirror busy, whatever it asks for first.
    let target = broker::silent();
    let consumer = format!("bootstrap.servers={}\ngroup.id=g\nauto.offset.reset=earliest\n", source.address());
    let files = Files::new(&[("c", &consumer), ("p", &format!("bootstrap.servers={target}\n"))]);
    (source, files)
}

#[test]
fn one_signal_stops_cleanly() {
    for name in ["TERM", "INT"] {
        let (_source, files) = files();
        let (mut child, mut lines) = running(&files);
        lines.find(|line| line.contains("connected")).expect("it runs");
        signal(&child, name);
        let said = lines.find(|line| line.contains(&format!("SIG{name}"))).expect("it hears");
        assert!(said.contains("stopping (once more ends at once)"), "{said}");
        lines.for_each(drop);
        assert_eq!(child.wait().unwrap().code(), Some(0), "SIG{name}");
    }
}

#[test]
fn a_hangup_reads_the_configuration_again() {
    let (_source, files) = files();
    let (mut child, mut lines) = running(&files);
    lines.find(|line| line.contains("connected")).expect("it runs");
    signal(&child, "HUP");
    lines.find(|line| line.contains("SIGHUP: the configuration was read again")).expect("it reads");
    std::fs::write(files.path("c"), "bootstrap.servers=nowhere\n").unwrap();
    signal(&child, "HUP");
    let said = lines.find(|line| line.contains("SIGHUP: the configuration cannot be used")).expect("it reads");
    assert!(said.contains("bootstrap.servers"), "{said}");
    signal(&child, "TERM");
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(0), "it has gone on");
}
