//! SyncGroup: the leader's assignment goes to the members.

use std::collections::BTreeMap;

use bytes::Bytes;
use kmirror_proto::ErrorCode;

use super::{Group, GroupEvent, Groups, MemberOf, State};
use crate::Now;
use crate::cluster::Ticket;

/// A member asks for its assignment; the leader brings all of them.
#[derive(Clone, Debug)]
pub(crate) struct Syncing<'a> {
    pub(crate) ticket: Ticket,
    pub(crate) member: MemberOf<'a>,
    /// As the member knows them (v5 and later).
    pub(crate) protocol_type: Option<&'a str>,
    pub(crate) protocol: Option<&'a str>,
    pub(crate) assignments: BTreeMap<String, Bytes>,
}

/// A member's assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Synced {
    pub(crate) protocol_type: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) assignment: Bytes,
}

impl Groups {
    /// Answered with a [`GroupEvent::Synced`], at once or when the leader has brought the assignment.
    pub(crate) fn sync(&mut self, now: Now, group_id: &str, syncing: &Syncing<'_>) {
        if let Err(code) = self.try_sync(now, group_id, syncing) {
            self.events.push_back(GroupEvent::Synced(syncing.ticket, Err(code)));
        }
    }

    fn try_sync(&mut self, now: Now, group_id: &str, syncing: &Syncing<'_>) -> Result<(), ErrorCode> {
        let bytes_max = self.limits.record_bytes_max;
        let group = self.groups.get_mut(group_id).ok_or(ErrorCode::UNKNOWN_MEMBER_ID)?;
        group.check(&syncing.member)?;
        let differs = |said: Option<&str>, known: &Option<String>| said.is_some() && said != known.as_deref();
        if differs(syncing.protocol_type, &group.protocol_type) || differs(syncing.protocol, &group.protocol) {
            return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
        }
        let id = syncing.member.id;
        match group.state {
            State::Empty => return Err(ErrorCode::UNKNOWN_MEMBER_ID),
            State::Preparing => return Err(ErrorCode::REBALANCE_IN_PROGRESS),
            State::Stable => {
                group.refresh(now, id);
                let synced = group.synced(id);
                self.events.push_back(GroupEvent::Synced(syncing.ticket, Ok(synced)));
                return Ok(());
            }
            State::Completing => {}
        }
        if let Some(member) = group.members.get_mut(id) {
            member.syncing = Some(syncing.ticket);
        }
        if group.leader.as_deref() != Some(id) {
            return Ok(());
        }
        group.assign(&syncing.assignments);
        if group.record_bytes() > bytes_max {
            // The group's record does not fit into its topic: nothing was agreed (measured: -1 with 900 kB).
            for member in group.members.values_mut() {
                member.assignment = Bytes::new();
            }
            self.answer_syncs(group_id, &Err(ErrorCode::UNKNOWN_SERVER_ERROR));
            self.prepare(now, group_id);
            return Ok(());
        }
        group.state = State::Stable;
        group.sync_deadline = None;
        let ids: Vec<String> = group.members.keys().cloned().collect();
        for id in ids {
            let synced = group.synced(&id);
            let Some(member) = group.members.get_mut(&id) else { continue };
            if let Some(ticket) = member.syncing.take() {
                member.expires = now.after(member.session_timeout);
                self.events.push_back(GroupEvent::Synced(ticket, Ok(synced)));
            }
        }
        Ok(())
    }

    /// The same answer for all that wait for their assignment.
    pub(super) fn answer_syncs(&mut self, group_id: &str, answer: &Result<Synced, ErrorCode>) {
        let Some(group) = self.groups.get_mut(group_id) else { return };
        for member in group.members.values_mut() {
            self.events.extend(member.syncing.take().map(|ticket| GroupEvent::Synced(ticket, answer.clone())));
        }
    }
}

impl Group {
    fn assign(&mut self, assignments: &BTreeMap<String, Bytes>) {
        for (id, member) in &mut self.members {
            member.assignment = assignments.get(id).cloned().unwrap_or_default();
        }
    }

    fn synced(&self, id: &str) -> Synced {
        Synced {
            protocol_type: self.protocol_type.clone(),
            protocol: self.protocol.clone(),
            assignment: self.members.get(id).map(|member| member.assignment.clone()).unwrap_or_default(),
        }
    }

    /// What the group's record in `__consumer_offsets` takes, to within a few bytes for each member.
    fn record_bytes(&self) -> usize {
        const MEMBER_BYTES: usize = 100;
        let member = |member: &super::Member| {
            MEMBER_BYTES + self.metadata_of(member).len() + member.assignment.len() + member.client_id.len()
        };
        self.members.values().map(member).sum()
    }
}
