//! The files that git tracks, with their text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Context as _;
use crate::{Result, process};

/// Every tracked text file by its path from the root, `/` between folders.
#[derive(Debug)]
pub struct Tree {
    /// Path to text.
    pub files: BTreeMap<String, String>,
    root: PathBuf,
}

impl Tree {
    /// Reads the work tree at `root`. Files that are not UTF-8 are no text and are left out, as are links.
    pub fn read(root: &Path) -> Result<Tree> {
        let listed =
            process::run("listing tracked files", Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]))?;
        let mut files = BTreeMap::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            let file = root.join(path);
            if !file.is_file() || file.is_symlink() {
                continue;
            }
            let bytes = std::fs::read(&file).context(|| format!("reading {path}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.insert(path.to_owned(), text);
            }
        }
        Ok(Tree { files, root: root.to_owned() })
    }

    /// The files whose names end so.
    pub fn ending(&self, ending: &str) -> impl Iterator<Item = (&str, &str)> {
        let all = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        all.filter(move |(path, _)| path.ends_with(ending))
    }

    /// The complaints of a rule about every file whose name ends so.
    pub fn complaints(&self, ending: &str, rule: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
        self.ending(ending).flat_map(|(path, text)| rule(path, text)).collect()
    }

    /// Whether a path from the root is a file or folder.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}
