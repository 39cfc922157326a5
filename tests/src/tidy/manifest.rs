//! What the crates may depend on.

/// Codecs, protocols and TLS in C: the promise is one binary of Rust.
const BANNED: [&str; 6] = ["openssl", "native-tls", "rdkafka", "bindgen", "cmake", "zstd-safe"];

/// Bindings to the system itself, which no program does without.
const SYSTEM: [&str; 6] =
    ["linux-raw-sys", "windows-sys", "js-sys", "web-sys", "security-framework-sys", "core-foundation-sys"];

/// Entries of a manifest's `[dependencies]` that are not in `allowed`.
pub fn dependencies(path: &str, manifest: &str, allowed: &[&str]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim_end() == "[dependencies]";
            if let Some(name) = line.trim_end().strip_prefix("[dependencies.") {
                complaints.extend(refuse(path, name.trim_end_matches(']'), allowed));
            }
            continue;
        }
        let name = line.split(['=', '.', ' ']).next().unwrap_or("");
        if inside && !name.is_empty() && !name.starts_with('#') {
            complaints.extend(refuse(path, name, allowed));
        }
    }
    complaints
}

fn refuse(path: &str, name: &str, allowed: &[&str]) -> Option<String> {
    let known = allowed.contains(&name);
    (!known).then(|| format!("{path}: {name} is not on this crate's list of dependencies"))
}

/// Packages of a lock file that are banned.
pub fn locked(path: &str, lock: &str) -> Vec<String> {
    let quoted = |line: &str| Some(line.strip_prefix("name = \"")?.strip_suffix('"')?.to_owned());
    let foreign = |name: &String| {
        let binding = name.ends_with("-sys") && !SYSTEM.contains(&name.as_str());
        binding || BANNED.contains(&name.as_str())
    };
    let names = lock.lines().filter_map(quoted).filter(foreign);
    names.map(|name| format!("{path}: {name}: kmirror is pure Rust")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_off_the_list_is_named() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nbytes.workspace = true\ntokio = \"1\"\n\n\
                        [dependencies.rand]\nversion = \"1\"\n[dev-dependencies]\nproptest = \"1\"\n";
        let complaints = dependencies("Cargo.toml", manifest, &["bytes"]);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].contains("tokio") && complaints[1].contains("rand"));
        assert!(dependencies("Cargo.toml", manifest, &["bytes", "tokio", "rand"]).is_empty());
    }

    #[test]
    fn bindings_to_c_are_named() {
        let lock =
            "[[package]]\nname = \"zstd-sys\"\n[[package]]\nname = \"windows-sys\"\n[[package]]\nname = \"openssl\"\n";
        let complaints = locked("Cargo.lock", lock);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].contains("zstd-sys") && complaints[1].contains("openssl"));
    }
}
