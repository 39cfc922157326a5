//! Files from disk.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use kmirror_core::config::RawConfig;

/// Nothing that is longer is a configuration: a device or a log was named by mistake.
const BYTES_MAX: u64 = 16 << 20;

/// Reads a properties file; the message of a failure names the flag and the file.
pub(crate) fn properties(flag: &str, path: &Path) -> Result<RawConfig, String> {
    let name = path.display().to_string();
    let text = bytes(path).map_err(|error| format!("{flag} {name}: cannot be read: {error}"))?;
    RawConfig::parse(&name, &text).map_err(|error| error.to_string())
}

/// Reads a file that is not too long.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(error.to_string()),
        Ok(_) if u64::try_from(bytes.len()).is_ok_and(|len| len > BYTES_MAX) => {
            Err(format!("it has more than {BYTES_MAX} bytes"))
        }
        Ok(_) => Ok(bytes),
    }
}
