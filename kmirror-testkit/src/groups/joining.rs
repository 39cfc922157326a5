//! JoinGroup: into a group, and again into its next generation.

use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::ErrorCode;

use super::{Group, GroupEvent, Groups, Member, Refused, State};
use crate::Now;
use crate::cluster::Ticket;

/// Who wants to join, and with what.
#[derive(Clone, Debug)]
pub(crate) struct Joining {
    pub(crate) ticket: Ticket,
    /// Empty for a new member.
    pub(crate) member_id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) client_id: String,
    pub(crate) host: String,
    pub(crate) session_timeout: Duration,
    pub(crate) rebalance_timeout: Duration,
    pub(crate) protocol_type: String,
    pub(crate) protocols: Vec<(String, Bytes)>,
    /// A new dynamic member is given an id first, and has to come back with it (v4, KIP-394).
    pub(crate) id_first: bool,
    /// A leader may be told that the assignment stays (v9, KIP-814); before, it is told of its former self as the leader.
    pub(crate) skips: bool,
}

/// A member as its own requests name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberOf<'a> {
    pub(crate) id: &'a str,
    pub(crate) instance_id: Option<&'a str>,
    pub(crate) generation: i32,
}

/// What a member is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) generation: i32,
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) leader: String,
    pub(crate) member_id: String,
    /// Id, instance id and metadata of each; for the leader alone.
    pub(crate) members: Vec<(String, Option<String>, Bytes)>,
    /// The leader keeps the assignment that there is (v9, KIP-814).
    pub(crate) skip_assignment: bool,
}

impl Groups {
    /// Answered with a [`GroupEvent::Joined`], at once or after the rebalance that it causes.
    pub(crate) fn join(&mut self, now: Now, group_id: &str, joining: Joining) {
        let ticket = joining.ticket;
        let member_id = joining.member_id.clone();
        if let Err(code) = self.try_join(now, group_id, joining) {
            let refused = match code {
                Refusal::Code(code) => Refused { code, member_id },
                Refusal::IdFirst(member_id) => Refused { code: ErrorCode::MEMBER_ID_REQUIRED, member_id },
            };
            self.events.push_back(GroupEvent::Joined(ticket, Err(refused)));
        }
    }

    fn try_join(&mut self, now: Now, group_id: &str, joining: Joining) -> Result<(), Refusal> {
        if group_id.is_empty() {
            return Err(ErrorCode::INVALID_GROUP_ID.into());
        }
        let limits = &self.limits;
        if !(limits.session_timeout_min..=limits.session_timeout_max).contains(&joining.session_timeout) {
            return Err(ErrorCode::INVALID_SESSION_TIMEOUT.into());
        }
        if !self.groups.contains_key(group_id) {
            if !joining.member_id.is_empty() {
                return Err(ErrorCode::UNKNOWN_MEMBER_ID.into());
            }
            self.groups.insert(group_id.to_owned(), Group::default());
        }
        let Some(group) = self.groups.get_mut(group_id) else { return Ok(()) };
        if !group.takes(&joining) {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL.into());
        }
        if joining.member_id.is_empty() {
            return self.join_as_new(now, group_id, joining);
        }
        if group.pending.remove(&joining.member_id).is_some() {
            let id = joining.member_id.clone();
            self.admit(now, group_id, id, joining);
            return Ok(());
        }
        if let Some(instance) = &joining.instance_id {
            let known = group.static_member(instance).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
            if known != joining.member_id {
                return Err(ErrorCode::FENCED_INSTANCE_ID.into());
            }
        }
        if !group.members.contains_key(&joining.member_id) {
            return Err(ErrorCode::UNKNOWN_MEMBER_ID.into());
        }
        self.join_again(now, group_id, joining);
        Ok(())
    }

    fn join_as_new(&mut self, now: Now, group_id: &str, joining: Joining) -> Result<(), Refusal> {
        let id = self.new_member_id(&joining.client_id, joining.instance_id.as_deref());
        let Some(group) = self.groups.get_mut(group_id) else { return Ok(()) };
        if let Some(instance) = joining.instance_id.clone() {
            if let Some(former) = group.static_member(&instance).map(str::to_owned) {
                self.replace(now, group_id, &former, &id, joining);
                return Ok(());
            }
        } else if joining.id_first {
            group.pending.insert(id.clone(), now.after(joining.session_timeout));
            return Err(Refusal::IdFirst(id));
        }
        self.admit(now, group_id, id, joining);
        Ok(())
    }

    /// A new member: there is a rebalance.
    fn admit(&mut self, now: Now, group_id: &str, id: String, joining: Joining) {
        self.members_made += 1;
        let number = self.members_made;
        let Some(group) = self.groups.get_mut(group_id) else { return };
        if group.members.is_empty() {
            group.protocol_type = Some(joining.protocol_type.clone());
        }
        group.leader.get_or_insert_with(|| id.clone());
        group.members.insert(id, Member::new(now, number, joining));
        if let Some(initial) = &mut group.initial {
            initial.until = now.after(self.limits.initial_rebalance_delay).min(initial.limit);
        }
        self.prepare(now, group_id);
    }

    /// A member comes again. A follower that brings nothing new gets the present generation once more.
    fn join_again(&mut self, now: Now, group_id: &str, joining: Joining) {
        let Some(group) = self.groups.get_mut(group_id) else { return };
        let id = joining.member_id.clone();
        let Some(member) = group.members.get_mut(&id) else { return };
        let same = member.protocols == joining.protocols;
        let leads = group.leader.as_ref() == Some(&id);
        let answered_at_once = match group.state {
            State::Completing => same,
            State::Stable => same && !leads,
            State::Empty | State::Preparing => false,
        };
        if answered_at_once {
            group.refresh(now, &id);
            let joined = group.joined(&id);
            self.events.push_back(GroupEvent::Joined(joining.ticket, Ok(joined)));
            return;
        }
        member.update(now, joining);
        self.prepare(now, group_id);
    }

    /// A static member comes back under a new id (KIP-345): whoever has its old one is fenced, and nothing is rebalanced
    /// while the group is stable.
    fn replace(&mut self, now: Now, group_id: &str, former: &str, id: &str, joining: Joining) {
        let Some(group) = self.groups.get_mut(group_id) else { return };
        let Some(mut member) = group.members.remove(former) else { return };
        let fenced = Refused { code: ErrorCode::FENCED_INSTANCE_ID, member_id: former.to_owned() };
        if let Some(ticket) = member.joining.take() {
            self.events.push_back(GroupEvent::Joined(ticket, Err(fenced)));
        }
        if let Some(ticket) = member.syncing.take() {
            self.events.push_back(GroupEvent::Synced(ticket, Err(ErrorCode::FENCED_INSTANCE_ID)));
        }
        let same = member.protocols == joining.protocols;
        let skips = joining.skips;
        let (ticket, led) = (joining.ticket, group.leader.as_deref() == Some(former));
        if led {
            group.leader = Some(id.to_owned());
        }
        member.update(now, joining);
        group.members.insert(id.to_owned(), member);
        if group.state == State::Stable && same {
            let mut joined = group.joined(id);
            if led && skips {
                joined.skip_assignment = true;
            } else if led {
                joined.leader = former.to_owned();
                joined.members.clear();
            }
            if let Some(member) = group.members.get_mut(id) {
                member.joining = None;
            }
            self.events.push_back(GroupEvent::Joined(ticket, Ok(joined)));
            return;
        }
        self.prepare(now, group_id);
    }
}

/// Why JoinGroup is refused.
enum Refusal {
    Code(ErrorCode),
    IdFirst(String),
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl Group {
    /// Whether a member with these protocols can be in the group: all have one in common.
    fn takes(&self, joining: &Joining) -> bool {
        if joining.protocol_type.is_empty() || joining.protocols.is_empty() {
            return false;
        }
        if self.members.is_empty() {
            return true;
        }
        let others = || self.members.iter().filter(|(id, _)| **id != joining.member_id).map(|(_, member)| member);
        let in_common = |name: &String| others().all(|other| other.protocols.iter().any(|(known, _)| known == name));
        self.protocol_type.as_ref() == Some(&joining.protocol_type)
            && joining.protocols.iter().any(|(name, _)| in_common(name))
    }

    /// What a member is told about the present generation.
    pub(super) fn joined(&self, id: &str) -> Joined {
        let leader = self.leader.clone().unwrap_or_default();
        let all = || {
            let member =
                |(id, member): (&str, &Member)| (id.to_owned(), member.instance_id.clone(), self.metadata_of(member));
            self.in_order().into_iter().map(member).collect()
        };
        Joined {
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            members: if leader == id { all() } else { Vec::new() },
            leader,
            member_id: id.to_owned(),
            skip_assignment: false,
        }
    }
}

impl Member {
    fn new(now: Now, number: u64, joining: Joining) -> Self {
        Self {
            number,
            instance_id: joining.instance_id,
            client_id: joining.client_id,
            host: joining.host,
            session_timeout: joining.session_timeout,
            rebalance_timeout: joining.rebalance_timeout,
            protocols: joining.protocols,
            assignment: Bytes::new(),
            joining: Some(joining.ticket),
            syncing: None,
            expires: now.after(joining.session_timeout),
        }
    }

    fn update(&mut self, now: Now, joining: Joining) {
        let assignment = std::mem::take(&mut self.assignment);
        *self = Self { assignment, ..Self::new(now, self.number, joining) };
    }
}
