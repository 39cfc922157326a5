//! What cannot be compared, and what judges it instead.

use std::ops::RangeInclusive;

use kmirror_proto::ApiKey;

/// Versions of one API that we speak and they do not, and why.
type Apart = (ApiKey, RangeInclusive<i16>, &'static str);

const DROPPED: &str = "4.0 no longer speaks it, and they follow its definitions: vectors of real brokers, or by hand";
const NEWER: &str = "newer than the definitions that they follow: vectors by hand";

/// Of requests, in the order of the samples.
pub(super) const REQUESTS: &[Apart] = &[
    (ApiKey::API_VERSIONS, 5..=5, NEWER),
    (ApiKey::FETCH, 0..=3, DROPPED),
    (ApiKey::PRODUCE, 0..=2, DROPPED),
    (ApiKey::LIST_OFFSETS, 0..=0, DROPPED),
    (ApiKey::LIST_OFFSETS, 11..=11, NEWER),
    (ApiKey::OFFSET_COMMIT, 0..=1, DROPPED),
    (ApiKey::OFFSET_COMMIT, 10..=10, NEWER),
    (ApiKey::OFFSET_FETCH, 0..=0, DROPPED),
    (ApiKey::OFFSET_FETCH, 10..=10, NEWER),
    (ApiKey::DELETE_GROUPS, 3..=3, NEWER),
    (ApiKey::INIT_PRODUCER_ID, 6..=6, NEWER),
    (ApiKey::TXN_OFFSET_COMMIT, 6..=6, NEWER),
    (ApiKey::WRITE_TXN_MARKERS, 0..=0, DROPPED),
    (ApiKey::WRITE_TXN_MARKERS, 2..=2, NEWER),
    (ApiKey::CREATE_TOPICS, 0..=1, DROPPED),
    (ApiKey::DESCRIBE_CONFIGS, 0..=0, DROPPED),
    (ApiKey::DELETE_TOPICS, 0..=0, DROPPED),
    (ApiKey::OFFSET_FOR_LEADER_EPOCH, 0..=1, DROPPED),
    (ApiKey::DESCRIBE_LOG_DIRS, 0..=0, DROPPED),
    (ApiKey::DESCRIBE_LOG_DIRS, 5..=5, NEWER),
    (ApiKey::DESCRIBE_ACLS, 0..=0, DROPPED),
    (ApiKey::CREATE_ACLS, 0..=0, DROPPED),
    (ApiKey::DELETE_ACLS, 0..=0, DROPPED),
];

/// Of responses.
pub(super) const RESPONSES: &[Apart] = &[
    (ApiKey::API_VERSIONS, 5..=5, NEWER),
    (ApiKey::FETCH, 0..=3, DROPPED),
    (ApiKey::PRODUCE, 0..=2, DROPPED),
    (ApiKey::LIST_OFFSETS, 0..=0, DROPPED),
    (ApiKey::LIST_OFFSETS, 11..=11, NEWER),
    (ApiKey::OFFSET_COMMIT, 0..=1, DROPPED),
    (ApiKey::OFFSET_FETCH, 0..=0, DROPPED),
    (ApiKey::DELETE_GROUPS, 3..=3, NEWER),
    (ApiKey::TXN_OFFSET_COMMIT, 6..=6, NEWER),
    (ApiKey::WRITE_TXN_MARKERS, 0..=0, DROPPED),
    (ApiKey::WRITE_TXN_MARKERS, 2..=2, NEWER),
    (ApiKey::CREATE_TOPICS, 0..=1, DROPPED),
    (ApiKey::DESCRIBE_CONFIGS, 0..=0, DROPPED),
    (ApiKey::DELETE_TOPICS, 0..=0, DROPPED),
    (ApiKey::OFFSET_FOR_LEADER_EPOCH, 0..=1, DROPPED),
    (ApiKey::DESCRIBE_LOG_DIRS, 0..=0, DROPPED),
    (ApiKey::DESCRIBE_LOG_DIRS, 5..=5, NEWER),
    (ApiKey::DESCRIBE_ACLS, 0..=0, DROPPED),
    (ApiKey::CREATE_ACLS, 0..=0, DROPPED),
    (ApiKey::DELETE_ACLS, 0..=0, DROPPED),
];

// Beyond versions: a quota that is not a number, which is not equal to itself; and headers of a record that have a name
// twice, which `records/oracle.rs` leaves out, because theirs are a map.

/// Each version for itself, in the order of the table.
pub(super) fn versions(table: &[Apart]) -> Vec<(ApiKey, i16)> {
    table.iter().flat_map(|(key, versions, _)| versions.clone().map(|version| (*key, version))).collect()
}
