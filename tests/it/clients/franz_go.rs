//! franz-go: a client in Go, built from the pinned modules of `tests/clients/franz-go`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kmirror_tests::failure::Context as _;
use kmirror_tests::process::words;
use kmirror_tests::sha256::Sha256;
use kmirror_tests::{Failure, Result, cache};

use super::client::Abilities;
use super::command;
use super::program::Program;
use super::story::on_each;

/// The module: its program, what it needs, and the hash of each module that it needs.
const MODULE: [(&str, &str); 3] = [
    ("main.go", include_str!("../../clients/franz-go/main.go")),
    ("go.mod", include_str!("../../clients/franz-go/go.mod")),
    ("go.sum", include_str!("../../clients/franz-go/go.sum")),
];

/// Go itself as a module, for a machine whose Go is older than the module asks for.
const TOOLCHAIN: &str = "golang.org/toolchain";

/// A compiler may have to be fetched, and Go's own library to be compiled, on a busy machine.
const BUILT_WITHIN: Duration = Duration::from_secs(420);

fn client() -> Result<Program> {
    let text: String = MODULE.iter().map(|(_, text)| *text).collect();
    let hash = Sha256::of(text.as_bytes()).to_string();
    let folder = cache::filled(&format!("clients/franz-go-{}", &hash[..16]), build)?;
    let command = words([folder.join("client")]);
    Ok(Program { name: "franz-go", command, abilities: Abilities::all_of })
}

fn build(folder: &Path) -> Result {
    let module = command::folder()?;
    for (name, text) in MODULE {
        let file = module.path().join(name);
        fs::write(&file, text).context(|| format!("writing {}", file.display()))?;
    }
    let mut build = vec![go()?];
    build.push("build".into());
    build.push("-C".into());
    build.push(module.path().into());
    build.extend(words(["-o"]));
    build.push(folder.join("client").into());
    command::finish_within("building the franz-go client", &build, BUILT_WITHIN).map(drop)
}

/// The machine's Go if it is new enough, else the one that the module asks for.
fn go() -> Result<OsString> {
    let wanted = wanted()?;
    let said = command::finish("go (golang-go)", &words(["go", "version"]))?;
    let have = said.split_whitespace().find_map(|word| numbers(word.strip_prefix("go")?));
    if have >= numbers(wanted) {
        return Ok("go".into());
    }
    let folder = cache::filled(&format!("clients/go-{wanted}"), |folder| fetch(wanted, folder))?;
    Ok(folder.join("bin/go").into())
}

/// The version that `go.mod` names.
fn wanted() -> Result<&'static str> {
    let [_, (_, module), _] = MODULE;
    let line = module.lines().find_map(|line| line.strip_prefix("go "));
    line.ok_or_else(|| Failure::new("go.mod names no version of Go"))
}

fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|number| number.parse().ok()).collect()
}

/// Go's own way to another version of itself, by hand: below 1.21 it does not know that way.
fn fetch(version: &str, folder: &Path) -> Result {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let module = format!("{TOOLCHAIN}@v0.0.1-go{version}.linux-{machine}");
    let download = words(["go", "mod", "download", "-json", &module]);
    let said = command::finish_within(&format!("fetching Go {version}"), &download, BUILT_WITHIN)?;
    let said: serde_json::Value =
        serde_json::from_str(&said).map_err(|error| Failure::new(format!("fetching Go {version}: {error}\n{said}")))?;
    let there = said["Dir"].as_str().ok_or_else(|| Failure::new(format!("fetching Go {version}: {said}")))?;
    // Files of a module are neither writable nor executable.
    let copy = words(["cp", "-r", "--no-preserve=mode", &format!("{there}/."), &folder.display().to_string()]);
    command::finish("copying Go", &copy)?;
    let mut executable = words(["chmod", "-R", "+x"]);
    executable.extend(["bin", "pkg/tool"].map(|part| PathBuf::from(folder).join(part).into()));
    command::finish("making Go executable", &executable).map(drop)
}

on_each! { client() }
