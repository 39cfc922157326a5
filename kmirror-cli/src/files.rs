//! Properties files from disk.

use std::path::Path;

use kmirror_core::config::RawConfig;

/// Reads one; the message of a failure names the flag and the file.
pub(crate) fn properties(flag: &str, path: &Path) -> Result<RawConfig, String> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| format!("{flag} {name}: cannot be read: {error}"))?;
    RawConfig::parse(&name, &text).map_err(|error| error.to_string())
}
