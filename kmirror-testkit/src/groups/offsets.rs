//! What a group has committed: at once, or pending until its transaction ends.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::OffsetCommitPartition;

use super::{Group, Groups, MemberOf, State};
use crate::Now;

/// A partition of a topic.
type Place = (String, i32);

/// The committed offsets of a group.
#[derive(Debug, Default)]
pub(crate) struct Offsets {
    committed: BTreeMap<Place, Committed>,
    /// By producer id: what TxnOffsetCommit brought and EndTxn has not decided yet.
    pending: BTreeMap<i64, BTreeMap<Place, Committed>>,
    /// What OffsetCommit v0 put into ZooKeeper; OffsetFetch v0 reads it, and nothing else does.
    zookeeper: BTreeMap<Place, Committed>,
}

/// One committed offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Committed {
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    /// Null comes back empty (measured, 0.10 and later).
    pub(crate) metadata: String,
}

/// Who commits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Committing<'a> {
    /// OffsetCommit v0, into ZooKeeper.
    ToZooKeeper,
    /// A member, or nobody's (`generation` below 0) while the group is empty.
    Member(MemberOf<'a>),
    /// A transaction, for a member if one is named (v3 and later of TxnOffsetCommit).
    Transaction { producer_id: i64, member: Option<MemberOf<'a>> },
}

/// What is committed.
pub(crate) type Commit = (String, i32, Committed);

impl Groups {
    /// Whether this may commit at all; a group that is not there is made for a commit without a member.
    pub(crate) fn may_commit(&mut self, now: Now, group_id: &str, by: Committing<'_>) -> Result<(), ErrorCode> {
        let member = match by {
            Committing::ToZooKeeper => return Ok(()),
            Committing::Member(member) => Some(member),
            Committing::Transaction { member, .. } => member.filter(|member| member.generation >= 0),
        };
        let Some(group) = self.groups.get_mut(group_id) else {
            return match member {
                Some(member) if member.generation >= 0 => Err(ErrorCode::ILLEGAL_GENERATION),
                Some(_) | None => Ok(()),
            };
        };
        let Some(member) = member else { return Ok(()) };
        if member.generation < 0 && group.state == State::Empty {
            return Ok(());
        }
        if member.generation < 0 && member.instance_id.is_none() {
            return Err(ErrorCode::UNKNOWN_MEMBER_ID);
        }
        group.check(&member)?;
        if group.state == State::Completing {
            return Err(ErrorCode::REBALANCE_IN_PROGRESS);
        }
        group.refresh(now, member.id);
        Ok(())
    }

    /// Commits one offset. Ask [`may_commit`](Self::may_commit) first.
    ///
    /// # Errors
    /// 12 if the metadata is longer than `offset.metadata.max.bytes`.
    pub(crate) fn commit(&mut self, group_id: &str, by: Committing<'_>, commit: Commit) -> Result<(), ErrorCode> {
        let (topic, partition, committed) = commit;
        if committed.metadata.len() > self.limits.metadata_bytes_max {
            return Err(ErrorCode::OFFSET_METADATA_TOO_LARGE);
        }
        let offsets = &mut self.groups.entry(group_id.to_owned()).or_default().offsets;
        let place = (topic, partition);
        match by {
            Committing::ToZooKeeper => offsets.zookeeper.insert(place, committed),
            Committing::Member(_) => offsets.committed.insert(place, committed),
            Committing::Transaction { producer_id, .. } => {
                offsets.pending.entry(producer_id).or_default().insert(place, committed)
            }
        };
        Ok(())
    }

    /// The transaction of a producer has ended: what it committed holds, or never was.
    pub(crate) fn end_transaction(&mut self, producer_id: i64, commits: bool) {
        for group in self.groups.values_mut() {
            let pending = group.offsets.pending.remove(&producer_id).unwrap_or_default();
            if commits {
                group.offsets.committed.extend(pending);
            }
        }
    }

    /// The offsets of a topic that was deleted go with it.
    pub(crate) fn forget_topic(&mut self, topic: &str) {
        for group in self.groups.values_mut() {
            group.offsets.committed.retain(|(of, _), _| of != topic);
            group.offsets.zookeeper.retain(|(of, _), _| of != topic);
        }
    }

    /// OffsetDelete of one partition.
    pub(crate) fn forget_offset(&mut self, group_id: &str, topic: &str, partition: i32) {
        if let Some(group) = self.groups.get_mut(group_id) {
            group.offsets.committed.remove(&(topic.to_owned(), partition));
        }
    }
}

impl From<&OffsetCommitPartition> for Committed {
    fn from(asked: &OffsetCommitPartition) -> Self {
        Self {
            offset: asked.committed_offset,
            leader_epoch: asked.committed_leader_epoch,
            metadata: asked.committed_metadata.clone().unwrap_or_default(),
        }
    }
}

impl Offsets {
    /// What is committed of a partition.
    pub(crate) fn get(&self, topic: &str, partition: i32) -> Option<&Committed> {
        self.committed.get(&(topic.to_owned(), partition))
    }

    /// What OffsetFetch v0 sees.
    pub(crate) fn in_zookeeper(&self, topic: &str, partition: i32) -> Option<&Committed> {
        self.zookeeper.get(&(topic.to_owned(), partition))
    }

    /// Whether a transaction has not decided about it yet (KIP-447).
    pub(crate) fn is_pending(&self, topic: &str, partition: i32) -> bool {
        let place = (topic.to_owned(), partition);
        self.pending.values().any(|offsets| offsets.contains_key(&place))
    }

    /// All that is committed, by topic and partition.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, i32, &Committed)> {
        self.committed.iter().map(|((topic, partition), committed)| (topic.as_str(), *partition, committed))
    }
}

impl Group {
    /// Whether its members subscribe to a topic (OffsetDelete refuses those); only `consumer` groups say.
    pub(crate) fn subscribes_to(&self, topic: &str) -> bool {
        self.protocol_type.as_deref() == Some("consumer")
            && self.members.values().any(|member| subscription(&self.metadata_of(member)).iter().any(|t| t == topic))
    }
}

/// The topics in a consumer's metadata (`ConsumerProtocol`): version, then an array of strings.
fn subscription(metadata: &bytes::Bytes) -> Vec<String> {
    let mut r = kmirror_proto::Reader::new(metadata.clone());
    let form = kmirror_proto::Form::Classic;
    let read = r.i16("version").and_then(|_| r.items(form, 2, "topics", |r| r.string(form, "topic")));
    read.unwrap_or_default()
}
