//! From one generation to the next: who is in it, who leads it, which protocol it speaks.

use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::ErrorCode;

use super::{Group, GroupEvent, Groups, InitialDelay, Member, State};
use crate::{Now, Release};

impl Groups {
    /// Everybody has to join again.
    pub(super) fn prepare(&mut self, now: Now, group_id: &str) {
        let (delay, delays) = (self.limits.initial_rebalance_delay, self.release >= Release::V0_11);
        let Some(group) = self.groups.get_mut(group_id) else { return };
        let before = group.state;
        if before != State::Preparing {
            group.state = State::Preparing;
            group.sync_deadline = None;
            group.deadline = Some(now.after(group.rebalance_timeout()));
            let waits = before == State::Empty && delays && !delay.is_zero();
            group.initial = waits.then(|| InitialDelay {
                until: now.after(delay.min(group.rebalance_timeout())),
                limit: now.after(group.rebalance_timeout()),
            });
        }
        if before == State::Completing {
            self.answer_syncs(group_id, &Err(ErrorCode::REBALANCE_IN_PROGRESS));
        }
        self.complete_if_all_joined(now, group_id);
    }

    /// Takes a member out.
    pub(super) fn remove(&mut self, now: Now, group_id: &str, id: &str) {
        let Some(group) = self.groups.get_mut(group_id) else { return };
        let Some(member) = group.members.remove(id) else { return };
        let gone = || super::Refused { code: ErrorCode::UNKNOWN_MEMBER_ID, member_id: id.to_owned() };
        self.events.extend(member.joining.map(|ticket| GroupEvent::Joined(ticket, Err(gone()))));
        self.events.extend(member.syncing.map(|ticket| GroupEvent::Synced(ticket, Err(ErrorCode::UNKNOWN_MEMBER_ID))));
        if group.leader.as_deref() == Some(id) {
            group.leader = group.in_order().first().map(|(id, _)| (*id).to_owned());
        }
        match group.state {
            State::Empty => {}
            State::Preparing => self.complete_if_all_joined(now, group_id),
            State::Completing | State::Stable => self.prepare(now, group_id),
        }
    }

    /// The next generation begins once all members have joined and nobody is expected any more.
    pub(super) fn complete_if_all_joined(&mut self, now: Now, group_id: &str) {
        let Some(group) = self.groups.get(group_id) else { return };
        let all = group.members.values().all(|member| member.joining.is_some());
        if group.state == State::Preparing && group.initial.is_none() && all && group.pending.is_empty() {
            self.complete(now, group_id);
        }
    }

    /// What is over by now.
    pub(super) fn expire(&mut self, now: Now, group_id: &str) {
        let Some(group) = self.groups.get_mut(group_id) else { return };
        group.pending.retain(|_, until| *until > now.elapsed);
        let over = |until: Option<Duration>| until.is_some_and(|until| until <= now.elapsed);
        if over(group.initial.map(|initial| initial.until)) {
            group.initial = None;
        }
        if over(group.deadline) {
            return self.complete(now, group_id);
        }
        let late_for_sync = over(group.sync_deadline);
        let expired = |member: &Member| {
            let silent = !member.waits() && member.expires <= now.elapsed;
            silent || (late_for_sync && member.syncing.is_none())
        };
        let gone: Vec<String> =
            group.members.iter().filter(|(_, member)| expired(member)).map(|(id, _)| id.clone()).collect();
        if late_for_sync {
            group.sync_deadline = None;
        }
        for id in gone {
            self.remove(now, group_id, &id);
        }
        self.complete_if_all_joined(now, group_id);
    }

    fn complete(&mut self, now: Now, group_id: &str) {
        let waits_for_sync = self.release >= Release::V2_8;
        let Some(group) = self.groups.get_mut(group_id) else { return };
        // Static members keep their place until their session is over (KIP-345).
        group.members.retain(|_, member| member.joining.is_some() || member.instance_id.is_some());
        group.deadline = None;
        group.initial = None;
        group.generation += 1;
        if !group.leader.as_ref().is_some_and(|leader| group.members.contains_key(leader)) {
            group.leader = group.in_order().first().map(|(id, _)| (*id).to_owned());
        }
        if group.members.is_empty() {
            group.state = State::Empty;
            group.protocol = None;
            return;
        }
        group.protocol = group.vote();
        group.state = State::Completing;
        group.sync_deadline = waits_for_sync.then(|| now.after(group.rebalance_timeout()));
        let ids: Vec<String> = group.in_order().into_iter().map(|(id, _)| id.to_owned()).collect();
        for id in ids {
            let joined = group.joined(&id);
            group.refresh(now, &id);
            let Some(member) = group.members.get_mut(&id) else { continue };
            member.assignment = Bytes::new();
            self.events.extend(member.joining.take().map(|ticket| GroupEvent::Joined(ticket, Ok(joined))));
        }
    }
}

impl Group {
    /// The longest that a member takes to join again.
    fn rebalance_timeout(&self) -> Duration {
        self.members.values().map(|member| member.rebalance_timeout).max().unwrap_or_default()
    }

    /// Of the protocols that all have, the one that most prefer; of equals the first by name.
    fn vote(&self) -> Option<String> {
        let has = |member: &Member, name: &str| member.protocols.iter().any(|(known, _)| known == name);
        let common = |name: &str| self.members.values().all(|member| has(member, name));
        let prefers = |member: &Member| member.protocols.iter().map(|(name, _)| name.clone()).find(|name| common(name));
        let votes: Vec<String> = self.members.values().filter_map(prefers).collect();
        let count = |name: &String| votes.iter().filter(|vote| *vote == name).count();
        let mut candidates = votes.clone();
        candidates.sort();
        candidates.dedup();
        candidates.into_iter().rev().max_by_key(count)
    }
}
