//! Which versions a broker speaks, and how that is found out (KIP-35, KIP-511).
//!
//! ```text
//!              ┌── error 0 ──────────────────────────────────► ranges
//! ask v3 ──────┼── error 35, in a v0 body, the connection stays good ──► ask v0, or what it names ──► ranges
//!              └── silence or close ──► new connection: ask v0 ──┬── error 0 ──► ranges
//!                                                                └── silence or close ──► older than 0.10, or not Kafka
//! ```
//! Measured: 0.10.0 to 2.1 answer v3 with error 35 and no entries, 2.4 and later name their range of ApiVersions; 0.9
//! ignores the request for ever. Ranges belong to one connection: a broker behind the same address may be another one
//! tomorrow.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use kmirror_proto::messages::ApiVersionsResponse;
use kmirror_proto::{ApiKey, ErrorCode};

/// A range of versions, both ends included, never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    /// The lowest.
    pub min: i16,
    /// The highest.
    pub max: i16,
}

/// What one broker speaks, over one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiRanges {
    by_key: BTreeMap<i16, VersionRange>,
}

/// Finds out what a broker speaks over one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Negotiation {
    asked: i16,
    refused_before: bool,
}

/// What follows from an answer to ApiVersions.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Done.
    Agreed(ApiRanges),
    /// Ask once more over the same connection, at this version.
    Ask(i16),
    /// The broker contradicts itself.
    Refused(String),
}

/// The version that is asked first: the first with a name in it, understood by 2.4 and later.
pub(super) const NEWEST: i16 = 3;

/// The newest version of an API that we ask at, where the messages reach further: what we do rests on what stands here.
const ASKED_AT_MOST: [(ApiKey, i16); 9] = [
    // v13 names topics by id; a piece knows its topic's name.
    (ApiKey::PRODUCE, 12),
    // v13 names topics by id; a cursor knows its topic's name.
    (ApiKey::FETCH, 12),
    // v9 to v11 have marks of remote storage that nobody here asks for; v10's answer may wait for that storage.
    (ApiKey::LIST_OFFSETS, 8),
    // v13 may answer that the client has to begin anew, in a field that nobody here reads.
    (ApiKey::METADATA, 12),
    // v9 answers errors of the newer kind of groups, v10 names topics by id.
    (ApiKey::OFFSET_COMMIT, 8),
    // v8 asks for several groups, v9 answers errors of the newer kind of groups, v10 names topics by id.
    (ApiKey::OFFSET_FETCH, 7),
    // v5 and v6 are about transactions and share groups.
    (ApiKey::FIND_COORDINATOR, 4),
    // v5 names the cluster and broker that are meant, and may be refused for it.
    (ApiKey::API_VERSIONS, 4),
    // v5 and v6 are about transactions.
    (ApiKey::INIT_PRODUCER_ID, 4),
];

/// The version that every broker since 0.10.0 understands.
pub(super) const OLDEST: i16 = 0;

impl VersionRange {
    /// From `min` to `max`; `None` if that is empty.
    #[must_use]
    pub fn new(min: i16, max: i16) -> Option<Self> {
        (min <= max).then_some(Self { min, max })
    }

    /// What both ranges have; `None` if that is nothing.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        Self::new(self.min.max(other.min), self.max.min(other.max))
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max { write!(f, "v{}", self.min) } else { write!(f, "v{}-{}", self.min, self.max) }
    }
}

impl ApiRanges {
    /// From a broker's answer. Empty ranges are left out, of two for one API the first counts.
    ///
    /// A broker that serves no Fetch below v4 is a 4.x. Those still advertise Produce v0-2, because librdkafka reads
    /// them as the sign of certain abilities, and then drop the connection (KAFKA-18659, measured): what such a
    /// broker says about Produce begins at v3 here.
    pub(super) fn from_answer(answer: &ApiVersionsResponse) -> Self {
        let mut by_key = BTreeMap::new();
        for entry in &answer.api_keys {
            if let Some(range) = VersionRange::new(entry.min_version.max(0), entry.max_version) {
                by_key.entry(entry.api_key.0).or_insert(range);
            }
        }
        let fetch_min = by_key.get(&ApiKey::FETCH.0).map_or(0, |range| range.min);
        if fetch_min >= 4
            && let Some(produce) = by_key.remove(&ApiKey::PRODUCE.0)
            && let Some(range) = VersionRange::new(produce.min.max(3), produce.max)
        {
            by_key.insert(ApiKey::PRODUCE.0, range);
        }
        Self { by_key }
    }

    /// What the broker speaks of an API; `None` if nothing.
    #[must_use]
    pub fn get(&self, api: ApiKey) -> Option<VersionRange> {
        self.by_key.get(&api.0).copied()
    }

    /// Whether the broker speaks at least `version` of an API.
    #[must_use]
    pub fn reaches(&self, api: ApiKey, version: i16) -> bool {
        self.get(api).is_some_and(|range| range.max >= version)
    }

    /// The highest version that both sides speak, within what the caller allows.
    #[must_use]
    pub fn pick(&self, api: ApiKey, ours: VersionRange) -> Option<i16> {
        Some(self.get(api)?.and(ours)?.max)
    }
}

/// What we ask for of an API whose messages we `speak`, cut to what the caller allows. An empty range is `Err` with what
/// we ask for uncut.
pub(super) fn ours(api: ApiKey, speak: &RangeInclusive<i16>, min: i16, max: i16) -> Result<VersionRange, VersionRange> {
    let at_most = ASKED_AT_MOST.iter().find(|(key, _)| *key == api).map_or(i16::MAX, |(_, newest)| *newest);
    let all = VersionRange { min: *speak.start(), max: at_most.min(*speak.end()) };
    VersionRange::new(min, max).and_then(|wanted| all.and(wanted)).ok_or(all)
}

impl Negotiation {
    /// Begins with `first`, [`NEWEST`] or [`OLDEST`].
    pub(super) fn new(first: i16) -> Self {
        Self { asked: first, refused_before: false }
    }

    /// The version to ask at.
    pub(super) fn asks(&self) -> i16 {
        self.asked
    }

    /// Takes the answer in.
    pub(super) fn answered(&mut self, answer: &ApiVersionsResponse) -> Step {
        if answer.error_code == ErrorCode::NONE {
            return Step::Agreed(ApiRanges::from_answer(answer));
        }
        if answer.error_code != ErrorCode::UNSUPPORTED_VERSION {
            return Step::Refused(format!("api versions v{}: {}", self.asked, answer.error_code));
        }
        let named = ApiRanges::from_answer(answer).get(ApiKey::API_VERSIONS);
        let next = named.map_or(OLDEST, |range| range.max.min(NEWEST));
        if self.refused_before || next >= self.asked {
            return Step::Refused(format!("api versions v{}: refused, though offered", self.asked));
        }
        (self.asked, self.refused_before) = (next, true);
        Step::Ask(next)
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::Request;
    use kmirror_proto::messages::{
        ApiVersionRange, ApiVersionsRequest, CreatePartitionsRequest, CreateTopicsRequest, DescribeConfigsRequest,
        FetchRequest, FindCoordinatorRequest, InitProducerIdRequest, ListOffsetsRequest, MetadataRequest,
        OffsetCommitRequest, OffsetFetchRequest, ProduceRequest,
    };

    use super::*;

    fn answer(error: i16, ranges: &[(ApiKey, i16, i16)]) -> ApiVersionsResponse {
        let api_keys = ranges
            .iter()
            .map(|&(api_key, min_version, max_version)| ApiVersionRange { api_key, min_version, max_version })
            .collect();
        ApiVersionsResponse { error_code: ErrorCode(error), api_keys, ..ApiVersionsResponse::default() }
    }

    fn range(min: i16, max: i16) -> VersionRange {
        VersionRange::new(min, max).unwrap()
    }

    #[test]
    fn up_to_2_1_the_refusal_names_nothing_and_v0_is_asked() {
        let mut negotiation = Negotiation::new(NEWEST);
        assert_eq!(negotiation.answered(&answer(35, &[])), Step::Ask(0));
        let Step::Agreed(ranges) = negotiation.answered(&answer(0, &[(ApiKey::FETCH, 0, 3)])) else {
            panic!("v0 was answered")
        };
        assert_eq!(ranges.get(ApiKey::FETCH), Some(range(0, 3)));
    }

    #[test]
    fn the_named_range_is_followed() {
        let mut negotiation = Negotiation::new(NEWEST);
        assert_eq!(negotiation.answered(&answer(35, &[(ApiKey::API_VERSIONS, 0, 2)])), Step::Ask(2));
        assert_eq!(negotiation.asks(), 2);
    }

    #[test]
    fn a_broker_that_names_what_it_just_refused_is_not_asked_for_ever() {
        let mut negotiation = Negotiation::new(NEWEST);
        assert!(matches!(negotiation.answered(&answer(35, &[(ApiKey::API_VERSIONS, 0, 3)])), Step::Refused(_)));
        let mut negotiation = Negotiation::new(NEWEST);
        assert_eq!(negotiation.answered(&answer(35, &[])), Step::Ask(0));
        assert!(matches!(negotiation.answered(&answer(35, &[])), Step::Refused(_)));
    }

    #[test]
    fn another_error_is_named() {
        let Step::Refused(reason) = Negotiation::new(NEWEST).answered(&answer(58, &[])) else {
            panic!("error 58 agrees to nothing")
        };
        assert!(reason.contains("58"), "{reason}");
    }

    #[test]
    fn what_a_4_x_says_about_produce_begins_at_v3() {
        let new = ApiRanges::from_answer(&answer(0, &[(ApiKey::PRODUCE, 0, 13), (ApiKey::FETCH, 4, 18)]));
        assert_eq!(new.get(ApiKey::PRODUCE), Some(range(3, 13)));
        assert_eq!(new.pick(ApiKey::PRODUCE, range(0, 2)), None, "v2 would be dropped with the connection (B51)");
        let old = ApiRanges::from_answer(&answer(0, &[(ApiKey::PRODUCE, 0, 11), (ApiKey::FETCH, 0, 17)]));
        assert_eq!(old.get(ApiKey::PRODUCE), Some(range(0, 11)));
    }

    #[test]
    fn senseless_ranges_offer_nothing() {
        let ranges = ApiRanges::from_answer(&answer(0, &[(ApiKey::FETCH, 7, 2), (ApiKey::METADATA, -3, 4)]));
        assert_eq!(ranges.get(ApiKey::FETCH), None);
        assert_eq!(ranges.get(ApiKey::METADATA), Some(range(0, 4)));
        assert_eq!(ranges.pick(ApiKey::LIST_OFFSETS, range(0, 8)), None);
    }

    #[test]
    fn the_highest_common_version_within_the_callers_bounds_is_picked() {
        let ranges = ApiRanges::from_answer(&answer(0, &[(ApiKey::FETCH, 0, 11)]));
        assert_eq!(ranges.pick(ApiKey::FETCH, ours(ApiKey::FETCH, &(0..=18), 0, i16::MAX).unwrap()), Some(11));
        assert_eq!(ranges.pick(ApiKey::FETCH, ours(ApiKey::FETCH, &(0..=18), 0, 10).unwrap()), Some(10));
        assert_eq!(ranges.pick(ApiKey::FETCH, ours(ApiKey::FETCH, &(0..=18), 12, 12).unwrap()), None);
        assert_eq!(ours(ApiKey::FETCH, &(0..=18), 13, 20), Err(range(0, 12)));
        assert!(ranges.reaches(ApiKey::FETCH, 11) && !ranges.reaches(ApiKey::FETCH, 12));
    }

    /// The messages serve brokers too, which answer newer clients; what is asked for stays what it is tested with.
    #[test]
    fn what_is_asked_for_does_not_follow_the_messages() {
        fn newest<R: Request>() -> (ApiKey, i16) {
            let asked = ours(R::KEY, &R::VERSIONS, 0, i16::MAX).unwrap();
            assert_eq!(asked.min, 0);
            (R::KEY, asked.max)
        }
        let asked = [
            newest::<ProduceRequest>(),
            newest::<FetchRequest>(),
            newest::<ListOffsetsRequest>(),
            newest::<MetadataRequest>(),
            newest::<OffsetCommitRequest>(),
            newest::<OffsetFetchRequest>(),
            newest::<FindCoordinatorRequest>(),
            newest::<ApiVersionsRequest>(),
            newest::<CreateTopicsRequest>(),
            newest::<InitProducerIdRequest>(),
            newest::<DescribeConfigsRequest>(),
            newest::<CreatePartitionsRequest>(),
        ];
        let expected = [
            (ApiKey::PRODUCE, 12),
            (ApiKey::FETCH, 12),
            (ApiKey::LIST_OFFSETS, 8),
            (ApiKey::METADATA, 12),
            (ApiKey::OFFSET_COMMIT, 8),
            (ApiKey::OFFSET_FETCH, 7),
            (ApiKey::FIND_COORDINATOR, 4),
            (ApiKey::API_VERSIONS, 4),
            (ApiKey::CREATE_TOPICS, 7),
            (ApiKey::INIT_PRODUCER_ID, 4),
            (ApiKey::DESCRIBE_CONFIGS, 4),
            (ApiKey::CREATE_PARTITIONS, 3),
        ];
        assert_eq!(asked, expected);
    }
}
