//! The source's consumer group: read once for where MirrorMaker was, told from time to time for lag tools. Never the
//! truth.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, FindCoordinatorRequest, OffsetCommitPartition, OffsetCommitRequest, OffsetCommitTopic,
    OffsetFetchRequest, OffsetFetchTopic,
};

use super::{MirrorError, Worker};
use crate::client::{ByTopic, CallId, CallOptions, Node, Reply};
use crate::clock::{Now, Tick};
use crate::mirror::link::LinkId;
use crate::observe::Event;

/// One consumer group of the source.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    coordinator: Option<i32>,
    call: Option<(CallId, Question)>,
    /// The links whose committed offsets are being asked for.
    asking: Vec<LinkId>,
    /// The next commit.
    commit_at: Option<Tick>,
    /// A commit is wanted as soon as the coordinator is known.
    commit_wanted: bool,
    tries: u32,
    /// A commit was answered, or will not be: whether the group has members is known as far as it can be.
    probed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Coordinator,
    Committed,
    Commit,
}

impl Group {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            coordinator: None,
            call: None,
            asking: Vec::new(),
            commit_at: None,
            commit_wanted: false,
            tries: 0,
            probed: false,
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Tick> {
        self.commit_at.filter(|_| self.call.is_none())
    }

    /// Whether it is known that nobody else consumes with the group's id.
    pub(super) fn is_probed(&self) -> bool {
        self.probed
    }

    /// Whether nothing is on its way and nothing is wanted.
    pub(super) fn is_idle(&self) -> bool {
        self.call.is_none() && !self.commit_wanted
    }
}

impl Worker {
    fn ask_group(&mut self, now: Now, node: Node, request: AnyRequest, question: Question, min_version: i16) {
        let options = CallOptions::within(self.config.source.request_timeout).versions(min_version, i16::MAX);
        let call = self.source.call(now, node, request, options);
        if let Some(group) = &mut self.group {
            group.call = Some((call, question));
        }
    }

    /// Asks for the committed offsets of these links, or first for the coordinator.
    pub(super) fn ask_committed(&mut self, now: Now, links: Vec<LinkId>) {
        let Some(group) = &mut self.group else { return };
        if group.call.is_some() {
            return;
        }
        let group_id = group.name.clone();
        let Some(coordinator) = group.coordinator else { return self.ask_coordinator(now) };
        let mut grouped = ByTopic::new();
        for tracked in links.iter().filter_map(|id| self.links.get(id)) {
            grouped.push(&tracked.name.topic, tracked.name.partition);
        }
        group.asking = links;
        let topics = grouped.into_topics(|name, partition_indexes| OffsetFetchTopic {
            name,
            partition_indexes,
            ..OffsetFetchTopic::default()
        });
        let request = OffsetFetchRequest::group(group_id, Some(topics));
        // v0 asks ZooKeeper, where only the consumers of 0.8 committed.
        self.ask_group(now, Node::Id(coordinator), request.into(), Question::Committed, 1);
    }

    fn ask_coordinator(&mut self, now: Now) {
        let Some(group) = &self.group else { return };
        let request = FindCoordinatorRequest::group(group.name.clone());
        self.ask_group(now, Node::Any, request.into(), Question::Coordinator, 0);
    }

    /// Commits what is mirrored: at once, or as soon as the coordinator is known.
    pub(super) fn commit(&mut self, now: Now) {
        let Some(group) = &mut self.group else { return };
        group.commit_wanted = true;
        group.commit_at = Some(now.after(self.config.commit_interval));
        if group.call.is_some() {
            return;
        }
        let group_id = group.name.clone();
        let Some(coordinator) = group.coordinator else { return self.ask_coordinator(now) };
        let topics = self.commit_topics();
        if let Some(group) = &mut self.group {
            group.commit_wanted = false;
        }
        if topics.is_empty() {
            return;
        }
        let request = OffsetCommitRequest {
            group_id,
            generation_id_or_member_epoch: -1,
            member_id: String::new(),
            group_instance_id: None,
            retention_time_ms: -1,
            topics,
        };
        // v0 would write to ZooKeeper, v1 wants a timestamp each.
        self.ask_group(now, Node::Id(coordinator), request.into(), Question::Commit, 2);
    }

    /// Commits where the links start, before any of them writes: the answer says whether the group has members.
    pub(super) fn probe(&mut self, now: Now) {
        let nothing = self.commit_topics().is_empty();
        let Some(group) = &mut self.group else { return };
        if nothing {
            group.probed = true;
            self.place(now);
        } else if group.call.is_none() {
            self.commit(now);
        }
    }

    fn commit_topics(&self) -> Vec<OffsetCommitTopic> {
        let mut grouped = ByTopic::new();
        for tracked in self.links.values() {
            let proved =
                tracked.progress.as_ref().and_then(|progress| progress.proved).map(|proved| proved.source_next);
            let Some(source_next) = proved.or(tracked.start) else { continue };
            let partition = OffsetCommitPartition {
                partition_index: tracked.name.partition,
                committed_offset: source_next.0,
                committed_leader_epoch: -1,
                committed_metadata: Some(String::new()),
            };
            grouped.push(&tracked.name.topic, partition);
        }
        grouped.into_topics(|name, partitions| OffsetCommitTopic { name, partitions, ..OffsetCommitTopic::default() })
    }

    /// Takes a reply if it is to one of the group's questions, else gives it back.
    pub(super) fn handle_group_reply(&mut self, now: Now, reply: Reply) -> Option<Reply> {
        let asked = self.group.as_ref().and_then(|group| group.call);
        let Some((_, question)) = asked.filter(|(call, _)| *call == reply.call) else { return Some(reply) };
        if let Some(group) = &mut self.group {
            group.call = None;
        }
        match (question, reply.outcome) {
            (Question::Coordinator, Ok(AnyResponse::FindCoordinator(response))) => {
                let coordinator = response.into_only();
                if coordinator.error_code.is_ok() {
                    self.coordinator_found(now, coordinator.node_id);
                } else {
                    self.group_refused(now, coordinator.error_code, question);
                }
            }
            (Question::Committed, Ok(AnyResponse::OffsetFetch(response))) => {
                let group = response.into_only();
                let codes =
                    group.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code);
                let failed = std::iter::once(group.error_code).chain(codes).find(|code| !code.is_ok());
                match failed {
                    // An unknown partition was never committed (measured).
                    None | Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) => {
                        let mut committed = BTreeMap::new();
                        for topic in group.topics {
                            for partition in topic.partitions.iter().filter(|partition| partition.committed_offset >= 0)
                            {
                                committed.insert(
                                    (topic.name.clone(), partition.partition_index),
                                    partition.committed_offset,
                                );
                            }
                        }
                        let links = self.group.as_mut().map(|group| std::mem::take(&mut group.asking));
                        self.positions.add_committed(links.unwrap_or_default(), committed);
                    }
                    Some(code) => self.group_refused(now, code, question),
                }
            }
            (Question::Commit, Ok(AnyResponse::OffsetCommit(response))) => {
                let codes =
                    response.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.error_code);
                let failed = codes.into_iter().find(|code| !code.is_ok());
                self.committed(now, failed);
            }
            (_, Ok(_)) => self.group_failed(now, "an answer to another question".to_owned()),
            (_, Err(error)) => self.group_failed(now, error.to_string()),
        }
        None
    }

    fn coordinator_found(&mut self, now: Now, node: i32) {
        if let Some(group) = &mut self.group {
            group.coordinator = Some(node);
            group.tries = 0;
            if group.commit_wanted {
                self.commit(now);
            }
        }
    }

    fn committed(&mut self, now: Now, failed: Option<ErrorCode>) {
        let Some(group) = &mut self.group else { return };
        match failed {
            None => {
                group.tries = 0;
                group.probed = true;
                let wanted = group.commit_wanted;
                if !self.opened {
                    self.place(now);
                } else if wanted {
                    self.commit(now);
                }
            }
            // Members hold the group: whoever they are, they consume what this mirror is to copy.
            Some(ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::ILLEGAL_GENERATION | ErrorCode::REBALANCE_IN_PROGRESS) => {
                let group = group.name.clone();
                self.fail(now, MirrorError::GroupAlive { group });
            }
            Some(code) => self.group_refused(now, code, Question::Commit),
        }
    }

    fn group_refused(&mut self, now: Now, code: ErrorCode, question: Question) {
        let passing = code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR;
        let Some(group) = &mut self.group else { return };
        group.coordinator = None;
        let name = group.name.clone();
        if !passing && (!self.opened || question == Question::Committed) {
            if question == Question::Commit {
                // Commits are a courtesy: without the right to them the mirror goes on.
                group.probed = true;
                self.event(Event::CommitFailed { group: name, reason: code.to_string() });
                return self.place(now);
            }
            return self.committed_unknown(now, name, code.to_string());
        }
        self.group_failed(now, code.to_string());
    }

    /// A question to the group came to nothing. While the mirror runs the next commit tries again by itself.
    fn group_failed(&mut self, now: Now, reason: String) {
        let Some(group) = &mut self.group else { return };
        group.coordinator = None;
        group.commit_wanted = false;
        group.tries += 1;
        let (name, tries) = (group.name.clone(), group.tries);
        // Where a link starts that the group has a say in is not known before it has answered.
        let reads = self.links.keys().any(|id| self.asks_group(*id));
        if self.is_ending() || (self.opened && !reads) {
            self.event(Event::CommitFailed { group: name, reason });
        } else if tries > COMMITTED_TRIES_MAX {
            self.committed_unknown(now, name, reason);
        } else {
            self.retry_positions(now);
        }
    }
}

/// Tries before the group's offsets count as unreadable: a coordinator's first start takes some seconds.
const COMMITTED_TRIES_MAX: u32 = 100;
