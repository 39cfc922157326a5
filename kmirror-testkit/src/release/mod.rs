//! The releases, and which APIs each of them advertises.
//!
//! `apis.tsv` was measured on the real brokers: what they answer to ApiVersions v0. How the releases *behave* stands
//! where the behaviour is, as a comparison: `release >= Release::V2_1`.

use std::fmt;
use std::str::FromStr;

use kmirror_proto::ApiKey;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::ApiVersionRange;

/// A release of Apache Kafka; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// 0.10.0.1: magic 1, no CreateTopics, ListOffsets v0 only.
    V0_10_0,
    /// 0.10.1.1: CreateTopics, offsets by time.
    V0_10_1,
    /// 0.10.2.2.
    V0_10_2,
    /// 0.11.0.3: magic 2, producer ids, transactions.
    V0_11,
    /// 1.0.2.
    V1_0,
    /// 1.1.1: fetch sessions.
    V1_1,
    /// 2.0.0.
    V2_0,
    /// 2.1.1: zstd.
    V2_1,
    /// 2.4.1: incremental configs, compact messages.
    V2_4,
    /// 2.8.2: topic ids.
    V2_8,
    /// 3.0.2: message.format.version is ignored.
    V3_0,
    /// 3.9.1: the last with ZooKeeper.
    V3_9,
    /// 4.4.0: KRaft only, no Produce below v3.
    V4_4,
}

/// No release of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no release {name:?}; known: {}", known())]
pub struct UnknownRelease {
    /// What was asked for.
    pub name: String,
}

impl Release {
    /// All of them, oldest first.
    pub const ALL: [Self; 13] = [
        Self::V0_10_0,
        Self::V0_10_1,
        Self::V0_10_2,
        Self::V0_11,
        Self::V1_0,
        Self::V1_1,
        Self::V2_0,
        Self::V2_1,
        Self::V2_4,
        Self::V2_8,
        Self::V3_0,
        Self::V3_9,
        Self::V4_4,
    ];

    /// The number in full, e.g. `0.10.1.1`.
    #[must_use]
    pub const fn number(self) -> &'static str {
        match self {
            Self::V0_10_0 => "0.10.0.1",
            Self::V0_10_1 => "0.10.1.1",
            Self::V0_10_2 => "0.10.2.2",
            Self::V0_11 => "0.11.0.3",
            Self::V1_0 => "1.0.2",
            Self::V1_1 => "1.1.1",
            Self::V2_0 => "2.0.0",
            Self::V2_1 => "2.1.1",
            Self::V2_4 => "2.4.1",
            Self::V2_8 => "2.8.2",
            Self::V3_0 => "3.0.2",
            Self::V3_9 => "3.9.1",
            Self::V4_4 => "4.4.0",
        }
    }

    /// What its brokers answer to ApiVersions, by key.
    #[must_use]
    pub fn apis(self) -> Vec<ApiVersionRange> {
        APIS.lines().filter_map(|line| api(line, self.number())).collect()
    }

    /// The newest message format (magic) that its logs hold.
    #[must_use]
    pub const fn magic(self) -> i8 {
        match self {
            Self::V0_10_0 | Self::V0_10_1 | Self::V0_10_2 => 1,
            Self::V0_11
            | Self::V1_0
            | Self::V1_1
            | Self::V2_0
            | Self::V2_1
            | Self::V2_4
            | Self::V2_8
            | Self::V3_0
            | Self::V3_9
            | Self::V4_4 => 2,
        }
    }

    /// Whether its brokers can decompress this: zstd came with 2.1 (KIP-110), the others are older than any of them.
    #[must_use]
    pub fn knows(self, codec: Codec) -> bool {
        codec != Codec::Zstd || self >= Self::V2_1
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.number())
    }
}

impl FromStr for Release {
    type Err = UnknownRelease;

    /// The number in full, or its beginning if it names one release alone: `0.10.1`, `2.0`, `4`.
    fn from_str(name: &str) -> Result<Self, UnknownRelease> {
        let begins = |release: &Self| {
            release.number().strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut found = Self::ALL.into_iter().filter(begins);
        match (found.next(), found.next()) {
            (Some(release), None) if !name.is_empty() => Ok(release),
            _ => Err(UnknownRelease { name: name.to_owned() }),
        }
    }
}

fn known() -> String {
    Release::ALL.map(Release::number).join(", ")
}

/// One line of the table, if it is about this release: release, key, lowest and highest version.
fn api(line: &str, number: &str) -> Option<ApiVersionRange> {
    let mut fields = line.strip_prefix(number)?.strip_prefix('\t')?.split('\t').map(str::parse::<i16>);
    let mut field = || fields.next()?.ok();
    Some(ApiVersionRange { api_key: ApiKey(field()?), min_version: field()?, max_version: field()? })
}

const APIS: &str = include_str!("apis.tsv");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = APIS.lines().filter(|line| !line.starts_with('#')).count();
        let read: usize = Release::ALL.iter().map(|release| release.apis().len()).sum();
        assert_eq!(read, lines);
        assert_eq!(Release::V0_10_0.apis().len(), 19);
    }

    #[test]
    fn a_release_is_found_by_as_much_of_its_number_as_names_it() {
        assert_eq!("0.10.1".parse(), Ok(Release::V0_10_1));
        assert_eq!("2.0.0".parse(), Ok(Release::V2_0));
        assert_eq!("4".parse(), Ok(Release::V4_4));
        let refused = "2".parse::<Release>().unwrap_err().to_string();
        assert_eq!(refused.split(';').next(), Some("no release \"2\""));
        assert!(
            "0.10".parse::<Release>().is_err() && "".parse::<Release>().is_err() && "2.00".parse::<Release>().is_err()
        );
    }
}
