//! What the client does by itself: sees the metadata, follows the brokers' addresses, gives late calls up.

use std::collections::VecDeque;

use kmirror_proto::messages::{AnyRequest, AnyResponse, MetadataRequest};

use super::backoff::Backoff;
use super::call::{CallError, CallOptions, ClientEvent, Reply, Waiting};
use super::connection::Connection;
use super::peer::{BOOTSTRAP, Peer};
use super::router::Client;
use crate::clock::Now;

impl Client {
    /// Asks for the metadata if it is time, of all topics: to name one that does not exist would create it on a broker
    /// that cannot be told not to (before v4).
    pub(super) fn refresh_if_due(&mut self, now: Now) {
        if self.is_closed() || self.refresh.asks_at().is_none_or(|at| at > now.tick) {
            return;
        }
        let request = AnyRequest::Metadata(MetadataRequest {
            topics: None,
            allow_auto_topic_creation: false,
            include_topic_authorized_operations: false,
            include_cluster_authorized_operations: false,
        });
        let mut call = self.new_call(now, request, CallOptions::within(self.config.request_timeout));
        call.attempts_left = self.addresses();
        self.refresh.asks(call.id);
        self.own_calls.insert(call.id);
        // In front: the others may be waiting for what it brings.
        self.anywhere.push_front(call);
        self.serve_anywhere(now);
    }

    /// Hands a reply out, or takes it in if it is one to this client itself.
    pub(super) fn reply(&mut self, now: Now, reply: Reply) {
        if !self.own_calls.remove(&reply.call) {
            self.replies.push_back(reply);
        } else if self.refresh.awaits(reply.call) {
            self.refreshed(now, reply);
        }
    }

    fn refreshed(&mut self, now: Now, reply: Reply) {
        if self.is_closed() {
            return;
        }
        let update = match reply.outcome {
            Ok(AnyResponse::Metadata(answer)) => {
                let update = self.metadata.update(answer);
                update.map_err(|reason| format!("{}: {reason}", self.describe_node(reply.node)))
            }
            Ok(other) => Err(format!("{}: {} where Metadata was due", self.describe_node(reply.node), other.key())),
            Err(CallError::NotSent(reason) | CallError::Unknown(reason)) => Err(reason),
            Err(error @ CallError::Unsupported { .. }) => Err(error.to_string()),
        };
        match update {
            Ok(update) => {
                self.refresh.answered(now, &mut self.rng, update.settled, update.changed);
                let generation = self.metadata.generation;
                self.events.push_back(ClientEvent::MetadataUpdated { generation, changed: update.changed });
                if update.changed {
                    self.follow_brokers(now);
                }
                self.place(now);
            }
            Err(reason) => {
                self.refresh.failed(now, &mut self.rng);
                self.events.push_back(ClientEvent::MetadataRejected { reason });
            }
        }
    }

    /// Brings the peers in line with the view's brokers. A connection to an address that the broker has left takes no
    /// new calls and ends with its last answer.
    fn follow_brokers(&mut self, now: Now) {
        let mut left_behind = Vec::new();
        for (&node, broker) in &self.metadata.brokers {
            let (host, port) = (&broker.host, broker.port);
            let reconnect = Backoff::new(self.config.reconnect_backoff, self.config.reconnect_backoff_max);
            let peer = self.peers.entry(node).or_insert_with(|| Peer::new(vec![(host.clone(), port)], reconnect));
            if peer.moves_to(host, port) {
                left_behind.extend(peer.conn.take());
            }
        }
        let brokers = &self.metadata.brokers;
        self.peers.retain(|node, peer| {
            *node == BOOTSTRAP || brokers.contains_key(node) || peer.conn.is_some() || !peer.waiting.is_empty()
        });
        for conn in left_behind {
            let Some(connection) = self.connections.get_mut(&conn) else { continue };
            let node = connection.node;
            connection.retiring = true;
            if connection.load() == 0 || connection.ready_since().is_none() {
                self.drop_connection(now, conn, "the broker has moved to another address", false);
            }
            self.serve(now, node);
        }
    }

    /// Hands the calls for brokers that were unknown to their peers, or back.
    fn place(&mut self, now: Now) {
        for (node, call) in std::mem::take(&mut self.unplaced) {
            if let Some(peer) = self.peers.get_mut(&node) {
                peer.waiting.push_back(call);
                self.serve(now, node);
            } else {
                let reason = format!("{}: not a broker of the cluster, as of its metadata", self.describe_node(node));
                self.not_sent(now, node, &call, reason);
            }
        }
    }

    /// Hands back what has waited for too long.
    pub(super) fn give_up_late_calls(&mut self, now: Now) {
        let mut late: Vec<(i32, Waiting)> = Vec::new();
        for (&node, peer) in &mut self.peers {
            late.extend(take_late(&mut peer.waiting, now, |call| call).into_iter().map(|call| (node, call)));
        }
        late.extend(take_late(&mut self.anywhere, now, |call| call).into_iter().map(|call| (BOOTSTRAP, call)));
        late.extend(take_late(&mut self.unplaced, now, |(_, call)| call));
        for (node, call) in late {
            let reason = self.why_late(node, &call);
            self.not_sent(now, node, &call, reason);
        }
    }

    fn why_late(&self, node: i32, call: &Waiting) -> String {
        let api = call.request.key();
        let conn = self.peers.get(&node).and_then(|peer| peer.conn).and_then(|conn| self.connections.get(&conn));
        let ready = conn.is_some_and(Connection::is_ready);
        let cause = if ready { "the connection was busy" } else { "no connection" };
        let who = if node == BOOTSTRAP { self.side.to_string() } else { self.describe_node(node) };
        let text = format!("{who}: {api}: {cause} for {:?}", call.options.timeout);
        match &self.last_failure {
            Some(last) if !ready => format!("{text}; last: {last}"),
            Some(_) | None => text,
        }
    }
}

/// Takes the late ones out of a queue, the others keep their order.
fn take_late<T>(queue: &mut VecDeque<T>, now: Now, call: impl Fn(&T) -> &Waiting) -> Vec<T> {
    if queue.iter().all(|entry| call(entry).deadline > now.tick) {
        return Vec::new();
    }
    let (late, rest) = queue.drain(..).partition(|entry| call(entry).deadline <= now.tick);
    *queue = rest;
    late.into()
}
