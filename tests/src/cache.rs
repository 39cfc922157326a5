//! The cache folder: jars of the brokers, classes of the judge. Filled once per machine, by one process at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::Result;
use crate::failure::Context as _;

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// `KMIRROR_CACHE`, or `.cache` in the workspace.
pub fn folder() -> PathBuf {
    std::env::var_os("KMIRROR_CACHE").map_or_else(|| workspace().join(".cache"), PathBuf::from)
}

/// The folder `name` of the cache, filled by `fill` if it is not there yet.
///
/// `fill` writes into a fresh folder beside it, which becomes `name` only when all is there; other threads and
/// processes wait for it. What a killed process left half done is thrown away.
pub fn filled(name: &str, fill: impl FnOnce(&Path) -> Result) -> Result<PathBuf> {
    let ready = folder().join(name);
    let lock = Lock::take(&beside(&ready, "lock"))?;
    if !ready.is_dir() {
        let partial = beside(&ready, "partial");
        if partial.exists() {
            fs::remove_dir_all(&partial).context(|| format!("removing {}", partial.display()))?;
        }
        create_folder(&partial)?;
        fill(&partial)?;
        fs::rename(&partial, &ready).context(|| format!("naming {}", ready.display()))?;
    }
    drop(lock);
    Ok(ready)
}

/// Creates a folder and those above it.
pub fn create_folder(path: &Path) -> Result {
    fs::create_dir_all(path).context(|| format!("creating the folder {}", path.display()))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// A lock on a file, held by one thread of one process until it is dropped (or its process ends, however).
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, never read")] File);

impl Lock {
    /// Waits for the lock.
    pub fn take(path: &Path) -> Result<Lock> {
        let file = open(path)?;
        file.lock().context(|| format!("locking {}", path.display()))?;
        Ok(Lock(file))
    }

    /// The lock, or `None` when another holds it.
    pub fn try_take(path: &Path) -> Result<Option<Lock>> {
        let file = open(path)?;
        Ok(file.try_lock().is_ok().then(|| Lock(file)))
    }
}

fn open(path: &Path) -> Result<File> {
    if let Some(parent) = path.parent() {
        create_folder(parent)?;
    }
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .context(|| format!("opening {}", path.display()))
}
