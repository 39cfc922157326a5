//! Which broker looks after which group and transaction: the leader of the partition of an internal topic that the
//! key's hash names.
//!
//! The internal topics are there as topics, made when a coordinator is first asked for. Their logs stay empty: what
//! coordinators know is kept as values, and survives every broker.

use kmirror_proto::ErrorCode;

use super::{Call, Cluster};
use crate::NodeId;

/// What a coordinator is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coordinates {
    /// A consumer group, or any other.
    Group,
    /// A transactional id.
    Transaction,
}

impl Coordinates {
    /// The topic that its state belongs to.
    pub(crate) const fn topic(self) -> &'static str {
        match self {
            Self::Group => "__consumer_offsets",
            Self::Transaction => "__transaction_state",
        }
    }
}

impl Cluster {
    /// What a group has committed of a partition, if anything: by OffsetCommit v1 and newer (v0 goes to
    /// ZooKeeper), or by a transaction that was committed.
    #[must_use]
    pub fn committed(&self, group_id: &str, topic: &str, partition: i32) -> Option<i64> {
        self.groups.get(group_id)?.offsets.get(topic, partition).map(|committed| committed.offset)
    }

    /// The partition that a key belongs to; `None` while its topic is not there yet.
    pub(crate) fn coordinated_by(&self, what: Coordinates, key: &str) -> Option<(String, i32)> {
        let topic = self.topics.get(what.topic())?;
        let partitions = i32::try_from(topic.partitions.len()).ok()?;
        Some((what.topic().to_owned(), partition_of(key, partitions)))
    }

    /// The broker that coordinates a key; `None` while its partition has no leader, or its topic is not there yet.
    pub(crate) fn coordinator(&self, what: Coordinates, key: &str) -> Option<NodeId> {
        let (topic, index) = self.coordinated_by(what, key)?;
        self.partition(&topic, index)?.leader
    }

    /// Refuses what another broker coordinates.
    pub(crate) fn coordinates(&self, call: &Call, what: Coordinates, key: &str) -> Result<(), ErrorCode> {
        let here = self.coordinator(what, key) == Some(call.node);
        if here { Ok(()) } else { Err(ErrorCode::NOT_COORDINATOR) }
    }

    /// Makes the topic behind a kind of coordinator; `false` if it was there.
    pub(crate) fn make_internal_topic(&mut self, what: Coordinates) -> bool {
        if self.topics.contains_key(what.topic()) {
            return false;
        }
        let (partitions, more): (usize, &[(&str, &str)]) = match what {
            Coordinates::Group => (self.settings.offsets_partitions, &[("compression.type", "producer")]),
            Coordinates::Transaction => (
                self.settings.transaction_partitions,
                &[("compression.type", "uncompressed"), ("unclean.leader.election.enable", "false")],
            ),
        };
        let assignment = self.assignment(0, partitions, self.settings.replication_factor);
        let overrides = [("cleanup.policy", "compact"), ("segment.bytes", "104857600")].iter().chain(more);
        let overrides = overrides.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.place_topic(what.topic(), &assignment, overrides);
        true
    }
}

/// `Utils.abs(key.hashCode()) % partitions`, with Java's hash of a string.
fn partition_of(key: &str, partitions: i32) -> i32 {
    let hash = key.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    (hash & i32::MAX) % partitions.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `Utils.abs("…".hashCode()) % 50` in Java.
    #[test]
    fn keys_are_hashed_as_in_java() {
        assert_eq!(partition_of("", 50), 0);
        assert_eq!(partition_of("a", 50), 97 % 50);
        assert_eq!(partition_of("kmirror", 50), hash_by_hand("kmirror") % 50);
        // "polygenelubricants" hashes to i32::MIN, whose absolute value Kafka takes to be 0.
        assert_eq!(partition_of("polygenelubricants", 50), 0);
    }

    fn hash_by_hand(key: &str) -> i32 {
        let exact = key.bytes().fold(0_i128, |hash, byte| hash * 31 + i128::from(byte));
        i32::try_from(exact.rem_euclid(1 << 32) & i128::from(i32::MAX)).unwrap()
    }
}
