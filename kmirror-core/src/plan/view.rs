//! What judging and looking go by: the target, its topic, and what the route wants.

use std::sync::LazyLock;

use kmirror_proto::ApiKey;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::Entry;

use super::decode::SourceRecord;
use super::entry::next_offset;
use super::loss::{LeftOut, Loss};
use crate::client::ApiRanges;
use crate::config::{DamagePolicy, LossPolicy, Policies};
use crate::filter::{Decision, Filters, Replacement};

/// The newest record format that a broker stores as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Magic {
    /// Message sets with timestamps (KIP-32): brokers of 0.10.
    V1,
    /// Record batches (KIP-98): brokers from 0.11 on.
    V2,
}

/// What one target broker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The format that is written there: from 0.11 on always magic 2, stamped.
    pub magic: Magic,
    /// Whether it takes zstd (Produce v7, KIP-110).
    pub zstd: bool,
    /// Whether it accepts a batch of a producer id that it does not remember, at any sequence (2.5 and newer;
    /// fact E2). Such a target is written one batch at a time while its memory cannot be trusted.
    pub takes_unknown_ids: bool,
}

impl Abilities {
    /// Of a broker that speaks these versions.
    #[must_use]
    pub fn of(ranges: &ApiRanges) -> Self {
        Self {
            magic: if ranges.reaches(ApiKey::PRODUCE, 3) { Magic::V2 } else { Magic::V1 },
            zstd: ranges.reaches(ApiKey::PRODUCE, 7),
            takes_unknown_ids: ranges.reaches(ApiKey::INIT_PRODUCER_ID, 3),
        }
    }
}

impl Abilities {
    /// Of a broker of a release, by its number: `0.10.1`, `2.8`. `None` if it is not one of 0.10 or later.
    #[must_use]
    pub fn of_release(release: &str) -> Option<Self> {
        let mut numbers = release.split('.').map(str::parse::<u32>);
        let release = (numbers.next()?.ok()?, numbers.next().transpose().ok()?.unwrap_or(0));
        if numbers.any(|number| number.is_err()) || release < (0, 10) {
            return None;
        }
        Some(Self {
            magic: if release >= (0, 11) { Magic::V2 } else { Magic::V1 },
            zstd: release >= (2, 1),
            takes_unknown_ids: release >= (2, 5),
        })
    }
}

/// What the target's topic takes, as far as its settings could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TopicLimits {
    /// `max.message.bytes`: the largest batch, as it is sent, in bytes.
    pub batch_bytes_max: Option<usize>,
    /// Records without a key are refused: the topic is compacted, and the source's is not, as far as is known.
    pub keys_required: bool,
    /// The oldest timestamp that is taken, in milliseconds before the broker's clock.
    pub timestamp_before_max_ms: Option<i64>,
    /// The newest timestamp that is taken, in milliseconds after the broker's clock.
    pub timestamp_after_max_ms: Option<i64>,
}

/// What planning needs to know beside the bytes.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The next source offset that the link wants.
    pub cursor: i64,
    /// The source's end, as far as it is known: nothing damaged reaches beyond it.
    pub end: i64,
    /// What the target takes.
    pub target: Abilities,
    /// What its topic takes. Never asked by a walk: what was lost to it once is in `left_out`.
    pub limits: TopicLimits,
    /// Whether the source's checksums are verified.
    pub check_crcs: bool,
    /// Up to this source offset records without a key are refused as well: the target was seen to refuse one, and does not
    /// tell its settings.
    pub keys_to: i64,
    /// Up to this source offset every record goes alone: the target has refused them together.
    pub apart_to: i64,
    /// The time, milliseconds since 1970, for the limits on timestamps.
    pub now_ms: i64,
    /// The source topic, for the filters.
    pub topic: &'a str,
    /// The source partition, for the filters.
    pub partition: i32,
    /// What is done about records that the target cannot take.
    pub policies: Policies,
    /// What is done about damaged batches.
    pub damage: DamagePolicy,
    /// Which records are mirrored, and as what.
    pub filters: &'a Filters,
    /// What the ledger says is left out: neither written nor counted.
    pub left_out: &'a LeftOut,
}

/// What becomes of a record, whatever the target takes: what was decided once is decided alike for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is mirrored as it is.
    Kept,
    /// It is mirrored with another key and value.
    Replaced,
    /// The filters drop it.
    Filtered,
    /// The ledger says that it is left out.
    LeftOut,
}

impl View<'static> {
    /// A whole log towards a target that takes anything: what a new route does, without filters and losses.
    #[must_use]
    pub fn of(target: Abilities) -> Self {
        static FILTERS: LazyLock<Filters> = LazyLock::new(Filters::default);
        static LEFT_OUT: LazyLock<LeftOut> = LazyLock::new(LeftOut::default);
        Self {
            cursor: i64::MIN,
            end: i64::MAX,
            target,
            limits: TopicLimits::default(),
            check_crcs: true,
            keys_to: i64::MIN,
            apart_to: i64::MIN,
            now_ms: 0,
            topic: "",
            partition: 0,
            policies: Policies::default(),
            damage: DamagePolicy::Stop,
            filters: &FILTERS,
            left_out: &LEFT_OUT,
        }
    }
}

impl View<'_> {
    /// What becomes of `record`, and its new key and value where it gets some.
    pub(super) fn fate(&self, record: &SourceRecord<'_>) -> (Fate, Option<Replacement>) {
        if self.left_out.covers(record.offset) {
            return (Fate::LeftOut, None);
        }
        if self.filters.is_empty() {
            return (Fate::Kept, None);
        }
        match self.filters.decide(self.topic, self.partition, record) {
            Decision::Keep => (Fate::Kept, None),
            Decision::Drop => (Fate::Filtered, None),
            Decision::Replace(new) => (Fate::Replaced, Some(new)),
        }
    }

    /// Whether every record of `entry` from the cursor on is mirrored as it is, as far as can be told without asking
    /// each.
    pub(super) fn keeps_all(&self, entry: &Entry) -> bool {
        let first = match entry {
            Entry::Batch(batch) => batch.header.base_offset.max(self.cursor),
            // Where a wrapper begins stands inside of it.
            Entry::Message(_) | Entry::Partial(_) => self.cursor,
        };
        self.filters.is_empty() && !self.left_out.touches(first, next_offset(entry).unwrap_or(first))
    }

    /// Whether the target's topic takes this timestamp. No timestamp (−1) always is (measured on 0.11 … 4.4).
    pub(super) fn takes_timestamp(&self, timestamp: i64) -> bool {
        let within = |distance: i64, limit: Option<i64>| limit.is_none_or(|limit| distance <= limit);
        timestamp == NO_TIMESTAMP
            || (within(self.now_ms.saturating_sub(timestamp), self.limits.timestamp_before_max_ms)
                && within(timestamp.saturating_sub(self.now_ms), self.limits.timestamp_after_max_ms))
    }

    /// Whether the target's topic takes every timestamp of `entry`, as far as its header says. A record that is older
    /// than the first of its batch hides from it: then the target refuses the batch, and its records go one by one.
    pub(super) fn takes_timestamps_of(&self, entry: &Entry) -> bool {
        let limits = &self.limits;
        if limits.timestamp_before_max_ms.is_none() && limits.timestamp_after_max_ms.is_none() {
            return true;
        }
        match entry {
            Entry::Batch(batch) => {
                let header = &batch.header;
                let newest = self.takes_timestamp(header.max_timestamp);
                // Where the base is a delete horizon, the header does not say how old the records are.
                let oldest = if header.attributes.delete_horizon() {
                    limits.timestamp_before_max_ms.is_none()
                } else {
                    self.takes_timestamp(header.base_timestamp)
                };
                newest && (oldest || header.attributes.append_time())
            }
            Entry::Message(message) => {
                // A wrapper has the newest timestamp of what is in it.
                let all = limits.timestamp_before_max_ms.is_none()
                    || message.append_time()
                    || message.codec() == Ok(Codec::None);
                all && self.takes_timestamp(message.timestamp)
            }
            Entry::Partial(_) => true,
        }
    }

    /// Whether headers of `entry`'s records would stop the link.
    pub(super) fn refuses_headers_of(&self, entry: &Entry) -> bool {
        self.target.magic == Magic::V1
            && self.policies.headers == LossPolicy::Refuse
            && matches!(entry, Entry::Batch(_))
    }

    /// What is done about a loss.
    pub(super) fn policy(&self, loss: &Loss) -> LossPolicy {
        match loss {
            Loss::Headers => self.policies.headers,
            Loss::TooLarge { .. } => self.policies.too_large,
            Loss::Timestamp { .. } => self.policies.timestamps,
            Loss::NoKey => self.policies.keyless,
            Loss::Damaged(_) => match self.damage {
                DamagePolicy::Stop => LossPolicy::Refuse,
                DamagePolicy::Skip => LossPolicy::Drop,
            },
        }
    }
}

/// Java's `RecordBatch.NO_TIMESTAMP`.
const NO_TIMESTAMP: i64 = -1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_release_takes() {
        let of = |release| Abilities::of_release(release).map(|has| (has.magic, has.zstd, has.takes_unknown_ids));
        assert_eq!(of("0.10.1.1"), Some((Magic::V1, false, false)));
        assert_eq!(of("0.11"), Some((Magic::V2, false, false)));
        assert_eq!((of("2.0.1"), of("2.1")), (Some((Magic::V2, false, false)), Some((Magic::V2, true, false))));
        assert_eq!((of("2.5.0"), of("4")), (Some((Magic::V2, true, true)), Some((Magic::V2, true, true))));
        for no_release in ["", "0.9", "0", "two", "2.x", "2.0.x", "-1.0"] {
            assert_eq!(of(no_release), None, "{no_release}");
        }
    }
}
