//! `message.format.version`: the names of releases and their interim versions, and which magic each of them means.
//!
//! Java: `kafka.api.ApiVersion`, later `org.apache.kafka.server.common.MetadataVersion`.

use crate::Release;

/// The magic of a format that a release knows: `0.10.0`, `0.11.0-IV2`, `2.0.0`.
pub(crate) fn format_magic(release: Release, name: &str) -> Option<i8> {
    let segments = if name.starts_with("0.") { 3 } else { 2 };
    let wanted = name.split('.').take(segments).collect::<Vec<_>>().join(".");
    let newest = VERSIONS.iter().position(|version| *version == newest(release))?;
    let known = VERSIONS.iter().take(newest + 1);
    let found = known
        .rev()
        .find(|version| **version == wanted || version.split_once("-IV").is_some_and(|(of, _)| of == wanted))?;
    Some(match *found {
        "0.8.0" | "0.8.1" | "0.8.2" | "0.9.0" => 0,
        name if name.starts_with("0.10.") => 1,
        _ => 2,
    })
}

/// What a broker says about a name that it does not know.
pub(crate) fn complaint(release: Release, name: &str) -> String {
    let quote = if release >= Release::V3_9 { "" } else { "`" };
    format!("Version {quote}{name}{quote} is not a valid version")
}

/// The newest that a release knows: read out of its validator's list.
const fn newest(release: Release) -> &'static str {
    match release {
        Release::V0_10_0 => "0.10.0-IV1",
        Release::V0_10_1 => "0.10.1-IV2",
        Release::V0_10_2 => "0.10.2-IV0",
        Release::V0_11 => "0.11.0-IV2",
        Release::V1_0 => "1.0-IV0",
        Release::V1_1 => "1.1-IV0",
        Release::V2_0 => "2.0-IV1",
        Release::V2_1 => "2.1-IV2",
        Release::V2_4 => "2.4-IV1",
        Release::V2_8 => "2.8-IV1",
        Release::V3_0 => "3.0-IV1",
        Release::V3_9 | Release::V4_4 => "4.0-IV1",
    }
}

/// In order.
const VERSIONS: [&str; 57] = [
    "0.8.0",
    "0.8.1",
    "0.8.2",
    "0.9.0",
    "0.10.0-IV0",
    "0.10.0-IV1",
    "0.10.1-IV0",
    "0.10.1-IV1",
    "0.10.1-IV2",
    "0.10.2-IV0",
    "0.11.0-IV0",
    "0.11.0-IV1",
    "0.11.0-IV2",
    "1.0-IV0",
    "1.1-IV0",
    "2.0-IV0",
    "2.0-IV1",
    "2.1-IV0",
    "2.1-IV1",
    "2.1-IV2",
    "2.2-IV0",
    "2.2-IV1",
    "2.3-IV0",
    "2.3-IV1",
    "2.4-IV0",
    "2.4-IV1",
    "2.5-IV0",
    "2.6-IV0",
    "2.7-IV0",
    "2.7-IV1",
    "2.7-IV2",
    "2.8-IV0",
    "2.8-IV1",
    "3.0-IV0",
    "3.0-IV1",
    "3.1-IV0",
    "3.2-IV0",
    "3.3-IV0",
    "3.3-IV1",
    "3.3-IV2",
    "3.3-IV3",
    "3.4-IV0",
    "3.5-IV0",
    "3.5-IV1",
    "3.5-IV2",
    "3.6-IV0",
    "3.6-IV1",
    "3.6-IV2",
    "3.7-IV0",
    "3.7-IV1",
    "3.7-IV2",
    "3.7-IV3",
    "3.7-IV4",
    "3.8-IV0",
    "3.9-IV0",
    "4.0-IV0",
    "4.0-IV1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_named_by_a_release() {
        for (name, magic) in
            [("0.9.0.1", 0), ("0.8.2", 0), ("0.10.0", 1), ("0.10.2.1", 1), ("0.11.0", 2), ("2.0", 2), ("1.1.1", 2)]
        {
            assert_eq!(format_magic(Release::V2_0, name), Some(magic), "{name}");
        }
        for unknown in ["foo", "2.1", "9.9", "", "0.10"] {
            assert_eq!(format_magic(Release::V2_0, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn each_release_knows_its_own() {
        for release in Release::ALL {
            assert_eq!(format_magic(release, newest(release)), Some(release.magic()), "{release}");
        }
    }
}
