//! Topics, their partitions, and who has a copy of what.
//!
//! A partition has one log, its leader's. Of a follower only its log end is kept: what it holds is the leader's log up
//! to there. So an unclean election truncates the log to the new leader's end, as the others then do with theirs.

use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_proto::ErrorCode;

use crate::log::Log;
use crate::settings::TopicSettings;
use crate::{NodeId, Now, Release};

/// A topic.
#[derive(Debug)]
pub(crate) struct Topic {
    /// KIP-516; known to clients from 2.8 on.
    pub(crate) id: [u8; 16],
    pub(crate) partitions: Vec<Partition>,
    /// What was set for this topic, as text.
    pub(crate) overrides: BTreeMap<String, String>,
    /// What holds: broker's settings and overrides.
    pub(crate) settings: TopicSettings,
}

/// A partition.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) log: Log,
    pub(crate) leader: Option<NodeId>,
    /// KIP-101; counts elections.
    pub(crate) leader_epoch: i32,
    /// In the order of assignment: the first is the preferred leader.
    pub(crate) replicas: Vec<Replica>,
}

/// A broker's copy of a partition.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) node: NodeId,
    /// Its log end.
    pub(crate) end: i64,
    /// Whether it counts for the high watermark.
    pub(crate) in_sync: bool,
    /// Whether its broker is there to take over what the leader appends; not while that is down or frozen.
    pub(crate) follows: bool,
    /// It was told not to, though its broker is there.
    pub(crate) stalled: bool,
    /// Since when it has been in sync without having everything, on the monotonic clock.
    pub(crate) behind_since: Option<Duration>,
}

impl Replica {
    /// An empty one that follows.
    pub(super) fn new(node: NodeId) -> Self {
        Self { node, end: 0, in_sync: true, follows: true, stalled: false, behind_since: None }
    }
}

impl Partition {
    /// An empty one on these brokers, led by the first of them.
    pub(crate) fn new(release: Release, replicas: &[NodeId]) -> Self {
        let mut log = Log::new(release);
        log.begin_epoch(0);
        Self {
            log,
            leader: replicas.first().copied(),
            leader_epoch: 0,
            replicas: replicas.iter().copied().map(Replica::new).collect(),
        }
    }

    /// The end of what every in-sync replica has: what consumers can read.
    pub(crate) fn high_watermark(&self) -> i64 {
        self.replicas.iter().filter(|replica| replica.in_sync).map(|replica| replica.end).min().unwrap_or(0)
    }

    /// How many in-sync replicas acks all asks for: from 3.9 on no more than there are replicas (measured).
    pub(crate) fn in_sync_min(&self, release: Release, settings: &TopicSettings) -> usize {
        let wanted = settings.min_insync_replicas;
        if release >= Release::V3_9 { wanted.min(self.replicas.len()) } else { wanted }
    }

    /// The end of what is decided (F8).
    pub(crate) fn last_stable(&self) -> i64 {
        self.log.last_stable(self.high_watermark())
    }

    /// Whether a broker answers for this partition, to a client that knows this leader epoch (KIP-320; -1 for none).
    ///
    /// # Errors
    /// 6 if it does not lead, 74 or 75 if the epoch is an older or a newer one.
    pub(crate) fn may_ask(&self, node: NodeId, current_leader_epoch: i32) -> Result<(), ErrorCode> {
        if self.leader != Some(node) {
            return Err(ErrorCode::NOT_LEADER_OR_FOLLOWER);
        }
        self.check_epoch(current_leader_epoch)
    }

    /// The part of [`may_ask`](Self::may_ask) that is about the epoch.
    pub(crate) fn check_epoch(&self, current_leader_epoch: i32) -> Result<(), ErrorCode> {
        match current_leader_epoch {
            -1 => Ok(()),
            epoch if epoch < self.leader_epoch => Err(ErrorCode::FENCED_LEADER_EPOCH),
            epoch if epoch > self.leader_epoch => Err(ErrorCode::UNKNOWN_LEADER_EPOCH),
            _ => Ok(()),
        }
    }

    /// The log end of a broker's replica; `None` if it has none, or does not follow.
    pub(crate) fn end_at(&self, node: NodeId) -> Option<i64> {
        self.replicas.iter().find(|replica| replica.node == node && replica.follows).map(|replica| replica.end)
    }

    /// The in-sync replicas, in the order of assignment.
    pub(crate) fn in_sync(&self) -> impl Iterator<Item = NodeId> {
        self.replicas.iter().filter(|replica| replica.in_sync).map(|replica| replica.node)
    }

    /// The leader has appended, truncated, or come back: who follows has the same.
    pub(crate) fn replicate(&mut self) {
        let (end, leader) = (self.log.end(), self.leader);
        for replica in &mut self.replicas {
            if leader.is_some() && (Some(replica.node) == leader || (replica.follows && !replica.stalled)) {
                replica.end = end;
                replica.in_sync = true;
            }
            replica.end = replica.end.min(end);
        }
    }
}

impl Partition {
    /// Makes a replica the leader: a new epoch, and the log is what that replica has of it.
    pub(crate) fn elect(&mut self, node: NodeId) {
        let end = self.replicas.iter().find(|replica| replica.node == node).map_or(0, |replica| replica.end);
        self.leader = Some(node);
        self.leader_epoch += 1;
        if end < self.log.end() {
            self.log.truncate(end);
        }
        self.log.new_leader(self.leader_epoch);
        self.replicate();
    }

    /// A broker is gone: the last in-sync replica stays in sync, since it alone has everything (`ISR` is never empty).
    /// What it led has no leader.
    pub(crate) fn leave(&mut self, node: NodeId) {
        let in_sync = self.in_sync().count();
        for replica in self.replicas.iter_mut().filter(|replica| replica.node == node) {
            replica.follows = false;
            replica.in_sync &= in_sync == 1;
        }
        if self.leader == Some(node) {
            self.leader = None;
        }
    }

    /// A broker is back: it follows again, or leads what nobody leads if it was in sync to the last.
    pub(super) fn come_back(&mut self, now: Now, node: NodeId, clean: bool) {
        let mut leads = false;
        for replica in self.replicas.iter_mut().filter(|replica| replica.node == node) {
            replica.follows = true;
            leads = replica.in_sync && self.leader.is_none();
        }
        if leads {
            self.log.restart(now, clean);
            self.elect(node);
        }
        self.replicate();
    }
}
