//! What moves the client's calls: connections that are opened, served, read and lost.

use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::ApiKey;
use kmirror_proto::messages::AnyResponse;

use super::call::{CallError, ClientEvent, Reply, Waiting};
use super::connection::{Answer, Connection, Heard, Unanswered};
use super::limits::{ANY_PATIENCE, THROTTLE_MAX};
use super::peer::{BOOTSTRAP, Peer, address_text};
use super::router::{Client, describe};
use super::transport::{ConnId, NetAction};
use super::versions::{NEWEST, OLDEST};
use crate::clock::Now;

impl Client {
    /// Sends what waits for a broker, or begins to connect to it.
    pub(super) fn serve(&mut self, now: Now, node: i32) {
        while let Some(peer) = self.peers.get_mut(&node) {
            let (Some(first), conn) = (peer.waiting.front(), peer.conn) else { return };
            if let Some(on) = first.options.on
                && conn != Some(on)
            {
                let Some(call) = peer.waiting.pop_front() else { return };
                let reason = format!("{}: the connection that it was meant for is gone", self.describe_node(node));
                self.not_sent(now, node, &call, reason);
                continue;
            }
            let Some(conn) = conn else {
                if peer.retry_at <= now.tick {
                    self.connect(now, node);
                }
                return;
            };
            if !self.connections.get(&conn).is_some_and(Connection::has_room) {
                return;
            }
            let Some(call) = peer.waiting.pop_front() else { return };
            self.send(now, conn, &call);
        }
    }

    /// Sends the calls that any broker may answer, or sees to it that there will be a connection.
    pub(super) fn serve_anywhere(&mut self, now: Now) {
        for _ in 0..self.anywhere.len() {
            let Some(call) = self.anywhere.pop_front() else { break };
            match self.least_busy(call.request.key() == ApiKey::METADATA) {
                Some(conn) => self.send(now, conn, &call),
                None => self.anywhere.push_back(call),
            }
        }
        if !self.anywhere.is_empty() {
            self.court(now);
        }
    }

    /// The ready connection with the fewest requests on their way; of equals, the bootstrap address and then the
    /// lowest node. For metadata not one whose broker owes us an answer to that already.
    fn least_busy(&self, metadata: bool) -> Option<ConnId> {
        self.connections
            .values()
            .filter(|connection| connection.has_room() && !(metadata && connection.carries(ApiKey::METADATA)))
            .min_by_key(|connection| (connection.load(), connection.node))
            .map(|connection| connection.id)
    }

    /// Opens a connection for calls to any node, unless one has been opening for a short while only. The brokers come
    /// first, the one tried longest ago before the others; the bootstrap addresses when no broker may be tried now.
    fn court(&mut self, now: Now) {
        let young = |connection: &Connection| {
            connection.ready_since().is_none() && connection.began.after(ANY_PATIENCE) > now.tick
        };
        if self.connections.values().any(young) {
            return;
        }
        let free = |peer: &Peer| peer.conn.is_none() && peer.retry_at <= now.tick;
        let next = self
            .peers
            .iter()
            .filter(|(_, peer)| free(peer))
            .min_by_key(|&(&node, peer)| (node == BOOTSTRAP, peer.tried_at, node));
        if let Some((&node, _)) = next {
            self.connect(now, node);
        }
    }

    fn connect(&mut self, now: Now, node: i32) {
        let conn = self.new_conn();
        let Some(peer) = self.peers.get_mut(&node) else { return };
        let (host, port) = peer.address();
        let (host, address) = (host.to_owned(), address_text(host, port));
        (peer.conn, peer.tried_at) = (Some(conn), Some(now.tick));
        let name = describe(self.side, node, Some(&address));
        let connection = Connection::new(conn, node, address, name, now, self.config.connect_timeout);
        self.connections.insert(conn, connection);
        self.actions.push_back(NetAction::Connect { conn, host, port });
    }

    /// The socket is up: versions are asked for.
    pub(super) fn connected(&mut self, now: Now, conn: ConnId) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let first = self.peers.get(&connection.node).map_or(NEWEST, |peer| peer.first_version);
        match connection.connected(now, first, self.config.connect_timeout, &self.config.client_id) {
            Ok(frame) => self.actions.push_back(NetAction::Send { conn, frame }),
            Err(reason) => self.lose_connection(now, conn, &reason, Some(true)),
        }
    }

    /// A frame came in.
    pub(super) fn frame(&mut self, now: Now, conn: ConnId, body: Bytes) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let node = connection.node;
        match connection.frame(now, body, &self.config.client_id) {
            Ok(Heard::Answer(answer)) => self.answered(now, conn, node, answer),
            Ok(Heard::Ready) => self.ready(now, conn),
            Ok(Heard::AskAgain(frame)) => self.actions.push_back(NetAction::Send { conn, frame }),
            Err(reason) => self.lose_connection(now, conn, &reason, Some(true)),
        }
    }

    fn ready(&mut self, now: Now, conn: ConnId) {
        let Some(connection) = self.connections.get(&conn) else { return };
        let node = connection.node;
        if let Some(peer) = self.peers.get_mut(&node) {
            peer.versions = connection.ranges().cloned();
            peer.first_version = NEWEST;
        }
        self.events.push_back(ClientEvent::Connected { node, address: connection.address.clone() });
        self.serve(now, node);
    }

    fn answered(&mut self, now: Now, conn: ConnId, node: i32, answer: Answer) {
        let Answer { call, version, sent, response } = answer;
        let wait = throttle_time(&response);
        if !wait.is_zero() {
            self.events.push_back(ClientEvent::Throttled { node, wait });
        }
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.throttled(now, wait);
            if connection.retiring && connection.load() == 0 {
                self.drop_connection(now, conn, "the broker has moved to another address", false);
            }
        }
        self.reply(now, Reply { call, node, conn: Some(conn), version, sent: Some(sent), outcome: Ok(response) });
        self.serve(now, node);
    }

    fn send(&mut self, now: Now, conn: ConnId, call: &Waiting) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        let node = connection.node;
        match connection.send(now, call, &self.config.client_id) {
            Ok(frame) => {
                self.refresh.sent(now, call.id);
                self.actions.push_back(NetAction::Send { conn, frame });
            }
            Err(error) => self.refuse(now, node, Some(conn), call, error),
        }
    }

    /// A connection is lost by the peer's doing. `close`: the socket is still there, and is to be ended, with a reset
    /// if so said.
    ///
    /// A peer that neither answers nor keeps the connection when it is asked for versions at v3 may be one that only
    /// knows v0: it is asked so on a new connection, and nobody is told of the first.
    pub(super) fn lose_connection(&mut self, now: Now, conn: ConnId, reason: &str, close: Option<bool>) {
        let Some(connection) = self.end(now, conn, reason, close) else { return };
        let node = connection.node;
        let Some(peer) = self.peers.get_mut(&node).filter(|peer| peer.conn == Some(conn)) else { return };
        if let Some(since) = connection.ready_since() {
            peer.lost(now, now.tick.since(since), &mut self.rng);
            self.serve(now, node);
            return;
        }
        if connection.may_need_oldest() && peer.first_version != OLDEST {
            (peer.conn, peer.first_version) = (None, OLDEST);
            self.connect(now, node);
            return;
        }
        let oldest_failed = connection.asked_oldest() && peer.first_version == OLDEST;
        let hint = "neither ApiVersions v3 nor v0 is answered: older than 0.10, or not Kafka";
        let reason = if oldest_failed { format!("{hint} ({reason})") } else { reason.to_owned() };
        peer.failed(now, &mut self.rng);
        self.attempt_failed(now, connection, reason);
    }

    /// A connection is ended by this client's own decision.
    pub(super) fn drop_connection(&mut self, now: Now, conn: ConnId, reason: &str, abort: bool) {
        let Some(connection) = self.end(now, conn, reason, Some(abort)) else { return };
        let lived = connection.ready_since().map_or(Duration::ZERO, |since| now.tick.since(since));
        if let Some(peer) = self.peers.get_mut(&connection.node).filter(|peer| peer.conn == Some(conn)) {
            peer.lost(now, lived, &mut self.rng);
        }
    }

    /// Takes a connection out; the calls on their way become unknown.
    fn end(&mut self, now: Now, conn: ConnId, reason: &str, close: Option<bool>) -> Option<Connection> {
        let mut connection = self.connections.remove(&conn)?;
        if let Some(abort) = close {
            self.actions.push_back(NetAction::Close { conn, abort });
        }
        if connection.ready_since().is_some() {
            let (address, reason) = (connection.address.clone(), reason.to_owned());
            self.events.push_back(ClientEvent::Disconnected { node: connection.node, address, reason });
        }
        for Unanswered { call, api, version, sent } in connection.take_unanswered() {
            let outcome = Err(CallError::Unknown(format!("{}: {api} v{version}: {reason}", connection.name)));
            self.reply(
                now,
                Reply { call, node: connection.node, conn: Some(conn), version, sent: Some(sent), outcome },
            );
        }
        Some(connection)
    }

    /// Tells everybody who waited for a connection attempt that it failed.
    fn attempt_failed(&mut self, now: Now, connection: Connection, reason: String) {
        let node = connection.node;
        let text = format!("{}: {reason}", connection.name);
        self.events.push_back(ClientEvent::ConnectFailed { node, address: connection.address, reason });
        let waiting = self.peers.get_mut(&node).map(|peer| std::mem::take(&mut peer.waiting)).unwrap_or_default();
        for call in waiting {
            self.not_sent(now, node, &call, text.clone());
        }
        for _ in 0..self.anywhere.len() {
            let Some(mut call) = self.anywhere.pop_front() else { break };
            call.attempts_left = call.attempts_left.saturating_sub(1);
            if call.attempts_left == 0 {
                self.not_sent(now, node, &call, text.clone());
            } else {
                self.anywhere.push_back(call);
            }
        }
        self.last_failure = Some(text);
    }
}

/// What the broker says it holds this client back for, as far as it is believed. Before KIP-219 (2.0) the broker has
/// waited already; that is not told apart here, because a deadline that is a little too long harms nobody.
fn throttle_time(response: &AnyResponse) -> Duration {
    let ms = response.throttle_time_ms();
    Duration::from_millis(u64::try_from(ms).unwrap_or(0)).min(THROTTLE_MAX)
}
