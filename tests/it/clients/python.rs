//! Python with the pinned clients of `tests/clients/requirements.txt`, installed once into the cache.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use kmirror_tests::process::words;
use kmirror_tests::sha256::Sha256;
use kmirror_tests::{Result, cache};

use super::command;

/// Names, versions, and the hash of every file that may be installed.
const REQUIREMENTS: &str = include_str!("../../clients/requirements.txt");

/// Two packages of a few megabytes.
const INSTALLED_WITHIN: Duration = Duration::from_secs(300);

/// A script of `tests/clients`, ready to be given its words.
pub(super) fn script(name: &str) -> Result<Vec<OsString>> {
    let version = command::finish("python3", &words(["python3", "-c", "import sys; print(sys.version)"]))?;
    let hash = Sha256::of(format!("{version}{REQUIREMENTS}").as_bytes()).to_string();
    let folder = cache::filled(&format!("clients/python-{}", &hash[..16]), install)?;
    let mut command = vec![folder.join("bin/python").into()];
    // Nothing compiled is left beside the scripts.
    command.extend(words(["-B"]));
    command.push(scripts().join(name).into());
    Ok(command)
}

fn install(folder: &Path) -> Result {
    let mut venv = words(["python3", "-m", "venv"]);
    venv.push(folder.into());
    command::finish_within("creating Python's virtual environment (python3-venv)", &venv, INSTALLED_WITHIN)?;
    let mut pip = vec![folder.join("bin/python").into()];
    pip.extend(words(["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--require-hashes", "-r"]));
    pip.push(scripts().join("requirements.txt").into());
    command::finish_within("installing the Python clients", &pip, INSTALLED_WITHIN).map(drop)
}

fn scripts() -> std::path::PathBuf {
    cache::workspace().join("tests/clients")
}
