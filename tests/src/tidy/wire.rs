//! A rule about wire modules: how they begin, and what they speak.

/// What stands in front of the versions in code.
const SPOKEN: &str = "const VERSIONS: RangeInclusive<i16> = ";

/// A module whose first line does not name the versions that its code speaks: `//! Fetch (1), versions 0-18: …`, or
/// `version 0` where there is one. Who looks a version up reads the header.
pub fn message_header(path: &str, text: &str) -> Vec<String> {
    let Some(spoken) = text.lines().find_map(|line| line.trim().strip_prefix(SPOKEN)?.strip_suffix(';')) else {
        return Vec::new();
    };
    let named = match spoken.split_once("..=") {
        Some((min, max)) if min == max => format!("version {min}"),
        Some((min, max)) => format!("versions {min}-{max}"),
        None => return vec![format!("{path}: versions {spoken}: write them as a range with both ends, `0..=3`")],
    };
    let header = text.lines().next().unwrap_or_default();
    let after = header.split_once("), ").and_then(|(_, after)| after.strip_prefix(&named));
    if after.is_some_and(|after| after.starts_with([':', '.'])) {
        Vec::new()
    } else {
        vec![format!("{path}:1: the code speaks {spoken}: begin with `//! Name (key), {named}: …`")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_what_the_code_speaks() {
        let module = |header: &str, versions: &str| format!("//! {header}\n\nimpl A {{\n    {SPOKEN}{versions};\n}}\n");
        let complaints = |header: &str, versions: &str| message_header("a.rs", &module(header, versions)).len();
        assert_eq!(complaints("Fetch (1), versions 0-18: records.", "0..=18"), 0);
        assert_eq!(complaints("ListGroups (16), version 0: groups.", "0..=0"), 0);
        assert_eq!(complaints("Fetch (1), versions 0-12: records.", "0..=18"), 1, "it was widened");
        assert_eq!(complaints("Fetch (1), versions 0-1: records.", "0..=18"), 1, "a part of it is not enough");
        assert_eq!(complaints("Fetch (1): records.", "0..=18"), 1);
        assert_eq!(complaints("Fetch (1), versions 0-18: records.", "0..19"), 1);
        assert!(message_header("a.rs", "//! What topics are called.\n").is_empty(), "it speaks no API");
    }
}
