//! The binary as a user meets it: flags and files in, text and exit codes out.

mod broker;
mod config;
mod demo;
mod mirrormaker;
mod inspect;
mod logging;
mod offsets;
mod plan;
mod run;
mod signals;
mod terminal;

use std::path::PathBuf;
use std::process::{Command, Output};

/// The binary, without what the surroundings would change.
fn kmirror() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kmirror"));
    command.env_remove("RUST_LOG").env_remove("NO_COLOR");
    command
}

/// What a command did.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

fn done(output: Output) -> Done {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn kmirror_with(args: &[&str]) -> Done {
    done(kmirror().args(args).output().unwrap())
}

/// A folder with properties files.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn help_and_version_are_no_failure() {
    for args in
        [&["--help"][..], &["run", "--help"], &["config", "check", "--help"], &["offsets", "--help"], &["--version"]]
    {
        let done = kmirror_with(args);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{args:?}");
        assert!(!done.out.is_empty());
    }
    let help = kmirror_with(&["run", "--help"]).out;
    for flag in ["--consumer.config", "--producer.config", "--num.streams", "--whitelist", "--until-caught-up"] {
        assert!(help.contains(flag), "{flag}");
    }
    for flag in ["--config", "--blacklist", "--message.handler", "--topic.mappings", "--log-dir", "--json"] {
        assert!(help.contains(flag), "{flag}");
    }
}

#[test]
fn no_command_is_a_usage_error() {
    for args in [&[][..], &["frobnicate"], &["run"]] {
        let done = kmirror_with(args);
        assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.err.contains("Usage"), "{}", done.err);
    }
    assert_eq!(kmirror_with(&["offsets"]).code, Some(1), "as Java's tool");
}
