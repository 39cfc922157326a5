//! What of a source's records has no place on the target, and what was left out for it.

use std::fmt;

use super::damage::Damage;

/// Why a record cannot be written as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It has headers, and the target's format has no place for them.
    Headers,
    /// Alone in a batch it is larger than the target's topic takes.
    TooLarge {
        /// The batch, bytes.
        bytes: usize,
        /// `max.message.bytes` of the target's topic.
        bytes_max: usize,
    },
    /// Its timestamp lies outside what the target's topic takes.
    Timestamp {
        /// Milliseconds since 1970.
        timestamp: i64,
    },
    /// It has no key, and the target's topic is compacted.
    NoKey,
    /// The source's batch is damaged.
    Damaged(Damage),
}

/// Neighbouring records that are left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossRange {
    /// The source offset of the first one.
    pub from: i64,
    /// The offset behind the last one.
    pub to: i64,
    /// How many records lie between; of a damaged batch, as far as its header can be believed.
    pub records: u32,
    /// Why, said of the first one.
    pub loss: Loss,
}

/// Source offsets of records that are left out for good: the ledger has them, so that every later walk counts without
/// them. Sorted ranges that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut(Vec<(i64, i64)>);

impl LeftOut {
    /// Leaves [from, to) out.
    pub fn add(&mut self, from: i64, to: i64) {
        if from >= to {
            return;
        }
        let begin = self.0.partition_point(|&(_, end)| end < from);
        let end = self.0.partition_point(|&(start, _)| start <= to);
        let touched = self.0.get(begin..end).unwrap_or_default();
        let from = touched.first().map_or(from, |&(start, _)| start.min(from));
        let to = touched.last().map_or(to, |&(_, end)| end.max(to));
        self.0.splice(begin..end, [(from, to)]);
    }

    /// Forgets what lies below `offset`: nothing walks there again.
    pub fn forget_below(&mut self, offset: i64) {
        self.0.retain(|&(_, to)| to > offset);
    }

    /// Whether the record at `offset` is left out.
    #[must_use]
    pub fn covers(&self, offset: i64) -> bool {
        self.touches(offset, offset.saturating_add(1))
    }

    /// Whether anything of [from, to) is left out.
    #[must_use]
    pub fn touches(&self, from: i64, to: i64) -> bool {
        let next = self.0.partition_point(|&(_, end)| end <= from);
        self.0.get(next).is_some_and(|&(start, _)| start < to)
    }

    /// Behind the range that holds `offset`, if it is left out.
    #[must_use]
    pub fn end_of(&self, offset: i64) -> Option<i64> {
        let next = self.0.partition_point(|&(_, end)| end <= offset);
        self.0.get(next).filter(|&&(start, _)| start <= offset).map(|&(_, end)| end)
    }

    /// Whether nothing is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, lowest first.
    #[must_use]
    pub fn ranges(&self) -> &[(i64, i64)] {
        &self.0
    }
}

impl FromIterator<(i64, i64)> for LeftOut {
    fn from_iter<I: IntoIterator<Item = (i64, i64)>>(ranges: I) -> Self {
        let mut left_out = Self::default();
        for (from, to) in ranges {
            left_out.add(from, to);
        }
        left_out
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Headers => f.write_str("it has headers, which brokers older than 0.11 do not keep"),
            Self::TooLarge { bytes, bytes_max } => {
                write!(f, "it takes {bytes} bytes, and max.message.bytes of the target's topic is {bytes_max}")
            }
            Self::Timestamp { timestamp } => write!(
                f,
                "its timestamp {timestamp} lies outside message.timestamp.before.max.ms and message.timestamp.after.max.ms \
                 of the target's topic"
            ),
            Self::Damaged(damage) => write!(f, "the source's batch is damaged: {damage}"),
            Self::NoKey => f.write_str("it has no key, which a compacted target topic refuses"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let left_out: LeftOut = [(5, 6), (10, 12), (6, 8), (3, 4), (11, 15)].into_iter().collect();
        assert_eq!(left_out.ranges(), [(3, 4), (5, 8), (10, 15)]);
        let left_out: LeftOut = [(3, 4), (5, 8), (10, 15), (0, 100), (7, 7)].into_iter().collect();
        assert_eq!(left_out.ranges(), [(0, 100)]);
    }

    proptest! {
        /// Against a set of offsets.
        #[test]
        fn as_a_set_of_offsets(ranges in proptest::collection::vec((0_i64..40, 0_i64..6), 0..12), below in 0_i64..40) {
            let mut left_out: LeftOut = ranges.iter().map(|&(from, len)| (from, from + len)).collect();
            let set: std::collections::BTreeSet<i64> =
                ranges.iter().flat_map(|&(from, len)| from..from + len).collect();
            for offset in -1..50 {
                prop_assert_eq!(left_out.covers(offset), set.contains(&offset));
                let end = (offset..).find(|at| !set.contains(at)).filter(|end| *end > offset);
                prop_assert_eq!(left_out.end_of(offset), end);
                prop_assert_eq!(left_out.touches(offset, offset + 3), (offset..offset + 3).any(|at| set.contains(&at)));
            }
            left_out.forget_below(below);
            for offset in below..50 {
                prop_assert_eq!(left_out.covers(offset), set.contains(&offset));
            }
            prop_assert!(left_out.ranges().windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
