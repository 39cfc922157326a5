//! What can go wrong with files.

use std::io;
use std::path::{Path, PathBuf};

/// A file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {}: {source}", path.display())]
pub struct DiskError {
    /// What was being done: "writing", "listing" …
    pub doing: &'static str,
    /// To which file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl DiskError {
    pub(super) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { doing, path: path.to_owned(), source }
    }

    pub(super) fn illegal_name(path: &Path) -> Self {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "not the name of a topic");
        Self { doing: "creating", path: path.to_owned(), source }
    }
}
