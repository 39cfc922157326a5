//! The group coordinator: who is in a group, who leads it, what it has committed.
//!
//! ```text
//!            a member joins              all have joined, or the time for it is over         the leader's assignment
//!   Empty ───────────────► Preparing ───────────────────────────────────────────► Completing ──────────────────► Stable
//!     ▲                       ▲  ▲                                                    │                            │
//!     └── nobody joined ──────┘  └──── a member joins, leaves, expires, or changes ───┴────────────────────────────┘
//! ```
//!
//! The classic protocol: FindCoordinator, JoinGroup, SyncGroup, Heartbeat, LeaveGroup, KIP-62 (rebalance timeout), KIP-134
//! (initial delay), KIP-345 (static members), KIP-394 (member ids first). The consumer protocol of KIP-848 is not imitated.
//! Java: `kafka.coordinator.group.GroupCoordinator`, `GroupMetadata`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::ErrorCode;

use crate::cluster::Ticket;
use crate::{Now, Release};

mod joining;
pub(crate) use joining::{Joined, Joining, MemberOf};

mod rebalance;

mod offsets;
pub(crate) use offsets::{Committed, Committing};

mod syncing;
pub(crate) use syncing::{Synced, Syncing};

/// All groups of a cluster.
#[derive(Debug)]
pub(crate) struct Groups {
    release: Release,
    limits: GroupLimits,
    groups: BTreeMap<String, Group>,
    events: VecDeque<GroupEvent>,
    members_made: u64,
}

/// What the brokers' settings say about groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupLimits {
    /// `group.min.session.timeout.ms`.
    pub(crate) session_timeout_min: Duration,
    /// `group.max.session.timeout.ms`.
    pub(crate) session_timeout_max: Duration,
    /// `group.initial.rebalance.delay.ms` (0.11 and later).
    pub(crate) initial_rebalance_delay: Duration,
    /// `offset.metadata.max.bytes`.
    pub(crate) metadata_bytes_max: usize,
    /// The largest record of `__consumer_offsets`: an assignment has to fit into one.
    pub(crate) record_bytes_max: usize,
}

impl GroupLimits {
    /// Kafka's defaults, but for `group.initial.rebalance.delay.ms`: 0, as Kafka's own quick start sets it for tests.
    pub(crate) fn defaults(release: Release) -> Self {
        let minutes_max = if release >= Release::V2_4 { 30 } else { 5 };
        Self {
            session_timeout_min: Duration::from_secs(6),
            session_timeout_max: Duration::from_secs(60 * minutes_max),
            initial_rebalance_delay: Duration::ZERO,
            metadata_bytes_max: 4096,
            record_bytes_max: 1_000_012,
        }
    }
}

/// An answer that was due later.
#[derive(Debug)]
pub(crate) enum GroupEvent {
    /// To JoinGroup.
    Joined(Ticket, Result<Joined, Refused>),
    /// To SyncGroup.
    Synced(Ticket, Result<Synced, ErrorCode>),
}

/// Why a member may not join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: ErrorCode,
    /// The id to come back with (79), else the one that was given.
    pub(crate) member_id: String,
}

/// Where a group is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Empty,
    Preparing,
    Completing,
    Stable,
}

/// One group.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) state: State,
    pub(crate) generation: i32,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) leader: Option<String>,
    /// By id; [`Member::number`] has the order in which they came.
    pub(crate) members: BTreeMap<String, Member>,
    /// Ids that were given out and not used yet (KIP-394), and until when they are good.
    pending: BTreeMap<String, Duration>,
    /// When the rebalance under way ends at the latest.
    deadline: Option<Duration>,
    /// The first rebalance of an empty group waits this long for others, and again after each that comes (KIP-134).
    initial: Option<InitialDelay>,
    /// Until when members have to ask for their assignment (2.5 and later).
    sync_deadline: Option<Duration>,
    pub(crate) offsets: offsets::Offsets,
}

/// The wait of a group's first rebalance.
#[derive(Clone, Copy, Debug)]
struct InitialDelay {
    /// When it ends if nobody comes any more.
    until: Duration,
    /// When it ends at the latest.
    limit: Duration,
}

/// One member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Members are numbered as they come; the first is the leader.
    number: u64,
    pub(crate) instance_id: Option<String>,
    pub(crate) client_id: String,
    pub(crate) host: String,
    session_timeout: Duration,
    rebalance_timeout: Duration,
    /// What it can do, what it prefers first.
    protocols: Vec<(String, Bytes)>,
    pub(crate) assignment: Bytes,
    /// Its JoinGroup, while that waits.
    joining: Option<Ticket>,
    /// Its SyncGroup, while that waits.
    syncing: Option<Ticket>,
    /// When its session is over.
    expires: Duration,
}

impl Groups {
    pub(crate) fn new(release: Release, limits: GroupLimits) -> Self {
        Self { release, limits, groups: BTreeMap::new(), events: VecDeque::new(), members_made: 0 }
    }

    /// The next answer that was due later.
    pub(crate) fn poll_event(&mut self) -> Option<GroupEvent> {
        self.events.pop_front()
    }

    /// When [`advance`](Self::advance) has something to do.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.groups.values().filter_map(Group::due).min()
    }

    /// Ends what is over: sessions, rebalances, ids that nobody came back with.
    pub(crate) fn advance(&mut self, now: Now) {
        let due = |group: &Group| group.due().is_some_and(|due| due <= now.elapsed);
        let ids: Vec<String> = self.groups.iter().filter(|(_, group)| due(group)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.expire(now, &id);
        }
    }

    /// A group by its id.
    pub(crate) fn get(&self, group_id: &str) -> Option<&Group> {
        self.groups.get(group_id)
    }

    /// All of them, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Group)> {
        self.groups.iter().map(|(id, group)| (id.as_str(), group))
    }

    /// Heartbeat: whether the member is in, and whether it has to join again.
    pub(crate) fn heartbeat(&mut self, now: Now, group_id: &str, member: &MemberOf<'_>) -> Result<(), ErrorCode> {
        let release = self.release;
        let group = self.groups.get_mut(group_id).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        group.check(member)?;
        match group.state {
            State::Empty => Err(ErrorCode::UNKNOWN_MEMBER_ID),
            State::Completing if release < Release::V2_4 => Err(ErrorCode::REBALANCE_IN_PROGRESS),
            State::Preparing => {
                group.refresh(now, member.id);
                Err(ErrorCode::REBALANCE_IN_PROGRESS)
            }
            State::Completing | State::Stable => {
                group.refresh(now, member.id);
                Ok(())
            }
        }
    }

    /// LeaveGroup of one member; by its instance id alone if the member id is empty (v3 and later).
    pub(crate) fn leave(
        &mut self,
        now: Now,
        group_id: &str,
        member_id: &str,
        instance_id: Option<&str>,
    ) -> Result<(), ErrorCode> {
        let group = self.groups.get_mut(group_id).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        if group.pending.remove(member_id).is_some() {
            self.complete_if_all_joined(now, group_id);
            return Ok(());
        }
        let id = match instance_id {
            Some(instance) if member_id.is_empty() => group.static_member(instance).map(str::to_owned),
            Some(instance) => {
                let known = group.static_member(instance).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
                if known != member_id {
                    return Err(ErrorCode::FENCED_INSTANCE_ID);
                }
                Some(member_id.to_owned())
            }
            None => Some(member_id.to_owned()),
        };
        let id = id.filter(|id| group.members.contains_key(id)).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        self.remove(now, group_id, &id);
        Ok(())
    }

    /// DeleteGroups.
    pub(crate) fn delete(&mut self, group_id: &str) -> Result<(), ErrorCode> {
        let group = self.groups.get(group_id).ok_or(ErrorCode::GROUP_ID_NOT_FOUND)?;
        if group.state != State::Empty {
            return Err(ErrorCode::NON_EMPTY_GROUP);
        }
        self.groups.remove(group_id);
        Ok(())
    }

    fn new_member_id(&mut self, client_id: &str, instance_id: Option<&str>) -> String {
        self.members_made += 1;
        // As Java's `UUID.randomUUID()` in its length; counted, so that the same calls give the same ids.
        let number = format!("00000000-0000-4000-8000-{:012x}", self.members_made);
        format!("{}-{number}", instance_id.unwrap_or(client_id))
    }
}

impl Group {
    /// Members in the order in which they came.
    pub(crate) fn in_order(&self) -> Vec<(&str, &Member)> {
        let mut members: Vec<_> = self.members.iter().map(|(id, member)| (id.as_str(), member)).collect();
        members.sort_by_key(|(_, member)| member.number);
        members
    }

    /// What a member said about itself under the protocol in force.
    pub(crate) fn metadata_of(&self, member: &Member) -> Bytes {
        let chosen = self.protocol.as_deref();
        let found = member.protocols.iter().find(|(name, _)| Some(name.as_str()) == chosen);
        found.map(|(_, metadata)| metadata.clone()).unwrap_or_default()
    }

    /// Whether this is a member of the present generation.
    fn check(&self, member: &MemberOf<'_>) -> Result<(), ErrorCode> {
        if let Some(instance) = member.instance_id {
            let known = self.static_member(instance).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
            if known != member.id {
                return Err(ErrorCode::FENCED_INSTANCE_ID);
            }
        }
        if !self.members.contains_key(member.id) {
            return Err(ErrorCode::UNKNOWN_MEMBER_ID);
        }
        if self.generation != member.generation {
            return Err(ErrorCode::ILLEGAL_GENERATION);
        }
        Ok(())
    }

    fn static_member(&self, instance: &str) -> Option<&str> {
        let is_it = |member: &Member| member.instance_id.as_deref() == Some(instance);
        self.members.iter().find(|(_, member)| is_it(member)).map(|(id, _)| id.as_str())
    }

    fn refresh(&mut self, now: Now, member_id: &str) {
        if let Some(member) = self.members.get_mut(member_id) {
            member.expires = now.after(member.session_timeout);
        }
    }

    fn due(&self) -> Option<Duration> {
        let sessions = self.members.values().filter(|member| !member.waits()).map(|member| member.expires);
        let initial = self.initial.map(|initial| initial.until);
        let others = [self.deadline, initial, self.sync_deadline].into_iter().flatten();
        sessions.chain(others).chain(self.pending.values().copied()).min()
    }
}

impl Member {
    /// While it waits for an answer its session does not run out.
    fn waits(&self) -> bool {
        self.joining.is_some() || self.syncing.is_some()
    }
}

impl State {
    /// As DescribeGroups and ListGroups name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Preparing => "PreparingRebalance",
            Self::Completing => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}
