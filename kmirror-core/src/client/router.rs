//! The client: calls in, replies out, and between them whatever connections that takes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kmirror_proto::messages::AnyRequest;

use super::backoff::Backoff;
use super::call::{CallError, CallId, CallOptions, ClientEvent, Node, Reply, Waiting};
use super::connection::Connection;
use super::limits::{ANY_PATIENCE, CALLS_WAITING_MAX};
use super::metadata::Metadata;
use super::peer::{BOOTSTRAP, Peer, address_text};
use super::refresh::Refresh;
use super::transport::{ConnId, NetAction, NetEvent};
use super::versions::ApiRanges;
use crate::clock::{Now, Tick, earliest};
use crate::config::{ClusterConfig, Side};

/// All connections of one shard to one cluster. See the [module](super) for how it is driven.
#[derive(Debug)]
pub struct Client {
    pub(super) side: Side,
    pub(super) config: ClusterConfig,
    pub(super) rng: fastrand::Rng,
    conn_next: u64,
    call_next: u64,
    /// By node id; the bootstrap addresses are node -1.
    pub(super) peers: BTreeMap<i32, Peer>,
    pub(super) connections: BTreeMap<ConnId, Connection>,
    /// Calls that any broker may answer.
    pub(super) anywhere: VecDeque<Waiting>,
    /// Calls for brokers that the metadata does not know (yet).
    pub(super) unplaced: VecDeque<(i32, Waiting)>,
    pub(super) metadata: Metadata,
    pub(super) refresh: Refresh,
    /// The calls that this client made for itself, to see the metadata.
    pub(super) own_calls: BTreeSet<CallId>,
    /// Why the last connection attempt failed.
    pub(super) last_failure: Option<String>,
    pub(super) replies: VecDeque<Reply>,
    pub(super) events: VecDeque<ClientEvent>,
    pub(super) actions: VecDeque<NetAction>,
    closed: bool,
}

impl Client {
    /// A client of the cluster behind `config.bootstrap`. `seed` decides its jitter and nothing else.
    #[must_use]
    pub fn new(side: Side, config: &ClusterConfig, seed: u64) -> Self {
        let reconnect = Backoff::new(config.reconnect_backoff, config.reconnect_backoff_max);
        let retry = Backoff::new(config.retry_backoff, config.reconnect_backoff_max);
        Self {
            side,
            config: config.clone(),
            rng: fastrand::Rng::with_seed(seed),
            conn_next: 0,
            call_next: 0,
            peers: BTreeMap::from([(BOOTSTRAP, Peer::new(config.bootstrap.clone(), reconnect))]),
            connections: BTreeMap::new(),
            anywhere: VecDeque::new(),
            unplaced: VecDeque::new(),
            metadata: Metadata::default(),
            refresh: Refresh::new(config.metadata_max_age, retry),
            own_calls: BTreeSet::new(),
            last_failure: None,
            replies: VecDeque::new(),
            events: VecDeque::new(),
            actions: VecDeque::new(),
            closed: false,
        }
    }

    /// Makes a call. Its [`Reply`] comes from [`poll_reply`](Self::poll_reply), perhaps at once.
    ///
    /// A call to a broker that the metadata does not know waits for the next metadata answer, which it causes.
    pub fn call(&mut self, now: Now, node: Node, request: AnyRequest, options: CallOptions) -> CallId {
        let call = self.new_call(now, request, options);
        let id = call.id;
        if self.closed {
            self.not_sent(now, BOOTSTRAP, &call, format!("{}: the client is closed", self.side));
            return id;
        }
        let node = match (options.on, node) {
            (Some(conn), _) => match self.connections.get(&conn).filter(|connection| connection.is_ready()) {
                Some(connection) => Node::Id(connection.node),
                None => {
                    let node = if let Node::Id(node) = node { node } else { BOOTSTRAP };
                    let reason = format!("{}: the connection that it was meant for is gone", self.describe_node(node));
                    self.not_sent(now, node, &call, reason);
                    return id;
                }
            },
            (None, node) => node,
        };
        self.enqueue(now, node, call);
        id
    }

    /// The next reply; `None` if there is none now.
    pub fn poll_reply(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }

    /// The next event; `None` if there is none now.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// The view of the cluster; empty, with generation 0, until the first answer.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Asks for the metadata as soon as the back-off allows. Any number of demands make one request.
    pub fn refresh_metadata(&mut self, now: Now) {
        self.refresh.want(now);
        self.refresh_if_due(now);
    }

    /// The connection to a broker, if it is ready for calls.
    #[must_use]
    pub fn connection(&self, node: i32) -> Option<ConnId> {
        let conn = self.peers.get(&node)?.conn?;
        self.connections.get(&conn)?.is_ready().then_some(conn)
    }

    /// What a broker spoke over its last connection; `None` before the first. Node -1 is the bootstrap address.
    #[must_use]
    pub fn versions(&self, node: i32) -> Option<&ApiRanges> {
        self.peers.get(&node)?.versions.as_ref()
    }

    /// Resets every connection to a broker. What was on its way becomes [`CallError::Unknown`], what waited
    /// [`CallError::NotSent`].
    pub fn abort(&mut self, now: Now, node: i32, why: &str) {
        let conns: Vec<ConnId> =
            self.connections.values().filter(|conn| conn.node == node).map(|conn| conn.id).collect();
        for conn in conns {
            self.drop_connection(now, conn, why, true);
        }
        let reason = format!("{}: {why}", self.describe_node(node));
        let waiting = self.peers.get_mut(&node).map(|peer| std::mem::take(&mut peer.waiting)).unwrap_or_default();
        for call in waiting {
            self.not_sent(now, node, &call, reason.clone());
        }
        for (unplaced, call) in std::mem::take(&mut self.unplaced) {
            if unplaced == node {
                self.not_sent(now, node, &call, reason.clone());
            } else {
                self.unplaced.push_back((unplaced, call));
            }
        }
    }

    /// Ends everything: connections after what was handed to them has been written. A second time does nothing.
    pub fn close(&mut self, now: Now) {
        self.closed = true;
        let why = format!("{}: the client was closed", self.side);
        let mut waiting: Vec<(i32, Waiting)> = self.unplaced.drain(..).collect();
        waiting.extend(self.anywhere.drain(..).map(|call| (BOOTSTRAP, call)));
        for (&node, peer) in &mut self.peers {
            waiting.extend(peer.waiting.drain(..).map(|call| (node, call)));
        }
        for (node, call) in waiting {
            self.not_sent(now, node, &call, why.clone());
        }
        let conns: Vec<ConnId> = self.connections.keys().copied().collect();
        for conn in conns {
            self.drop_connection(now, conn, "closed by this client", false);
        }
    }

    /// How errors name a broker: `target broker 3 (10.0.0.7:9092)`; node -1 is `target bootstrap (…)`.
    #[must_use]
    pub fn describe_node(&self, node: i32) -> String {
        let address = self.peers.get(&node).map(|peer| {
            let (host, port) = peer.address();
            address_text(host, port)
        });
        describe(self.side, node, address.as_deref())
    }

    /// Takes in what the sockets say. What they say about a connection that this client has closed is ignored.
    pub fn handle_net(&mut self, now: Now, event: NetEvent) {
        match event {
            NetEvent::Connected { conn } => self.connected(now, conn),
            NetEvent::ConnectFailed { conn, reason } | NetEvent::Closed { conn, reason } => {
                self.lose_connection(now, conn, &reason, None);
            }
            NetEvent::Frame { conn, body } => self.frame(now, conn, body),
        }
        self.serve_anywhere(now);
    }

    /// The next thing that the sockets are to do; `None` if there is none now.
    pub fn poll_net(&mut self) -> Option<NetAction> {
        self.actions.pop_front()
    }

    /// Does what is due. Too early is harmless.
    pub fn handle_timeout(&mut self, now: Now) {
        if self.closed {
            return;
        }
        let overdue: Vec<(ConnId, String)> = self
            .connections
            .values()
            .filter_map(|connection| Some((connection.id, connection.overdue(now)?)))
            .collect();
        for (conn, reason) in overdue {
            self.lose_connection(now, conn, &reason, Some(true));
        }
        self.give_up_late_calls(now);
        let nodes: Vec<i32> =
            self.peers.iter().filter(|(_, peer)| !peer.waiting.is_empty()).map(|(&node, _)| node).collect();
        for node in nodes {
            self.serve(now, node);
        }
        self.refresh.lose_patience(now);
        self.refresh_if_due(now);
        self.serve_anywhere(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted next; `None` if never, as things are.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Tick> {
        if self.closed {
            return None;
        }
        let mut wake = earliest(self.refresh.asks_at(), self.refresh.patience());
        for connection in self.connections.values() {
            wake = earliest(wake, connection.deadline());
        }
        for peer in self.peers.values().filter(|peer| !peer.waiting.is_empty()) {
            wake = earliest(wake, peer.conn.is_none().then_some(peer.retry_at));
            wake = earliest(wake, peer.waiting.iter().map(|call| call.deadline).min());
        }
        wake = earliest(wake, self.unplaced.iter().map(|(_, call)| call.deadline).min());
        wake = earliest(wake, self.anywhere.iter().map(|call| call.deadline).min());
        if self.anywhere.is_empty() { wake } else { earliest(wake, self.courts_at()) }
    }

    /// When the next connection would be opened for a call to any node.
    fn courts_at(&self) -> Option<Tick> {
        let free = self.peers.values().filter(|peer| peer.conn.is_none()).map(|peer| peer.retry_at).min()?;
        let opening = self.connections.values().filter(|connection| connection.ready_since().is_none());
        let patience = opening.map(|connection| connection.began.after(ANY_PATIENCE)).max();
        Some(patience.map_or(free, |patience| patience.max(free)))
    }

    /// Whether [`close`](Self::close) was said.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn new_call(&mut self, now: Now, request: AnyRequest, options: CallOptions) -> Waiting {
        let id = CallId(self.call_next);
        self.call_next += 1;
        // One failed attempt is enough for a call to one broker; a call to any gets more when it is queued.
        Waiting { id, request, options, deadline: now.after(options.timeout), attempts_left: 1 }
    }

    pub(super) fn new_conn(&mut self) -> ConnId {
        let conn = ConnId(self.conn_next);
        self.conn_next += 1;
        conn
    }

    /// Puts a call where it waits, and sends it if it does not have to.
    fn enqueue(&mut self, now: Now, node: Node, mut call: Waiting) {
        let (id, first) = match node {
            Node::Any => (BOOTSTRAP, self.anywhere.is_empty()),
            Node::Id(id) => (id, self.peers.get(&id).is_some_and(|peer| peer.waiting.is_empty())),
        };
        // The first of a queue is always taken: the way of a call to a broker that is up needs no look at the others.
        if !first && self.calls_waiting() >= CALLS_WAITING_MAX {
            self.not_sent(now, id, &call, format!("{}: {CALLS_WAITING_MAX} calls wait already", self.side));
            return;
        }
        match (node, self.peers.get_mut(&id)) {
            (Node::Any, _) => {
                call.attempts_left = self.addresses();
                self.anywhere.push_back(call);
                self.serve_anywhere(now);
            }
            (Node::Id(_), Some(peer)) => {
                peer.waiting.push_back(call);
                self.serve(now, id);
            }
            (Node::Id(_), None) => {
                self.unplaced.push_back((id, call));
                self.refresh_metadata(now);
            }
        }
    }

    /// All addresses that a call to any node may be tried at.
    pub(super) fn addresses(&self) -> usize {
        self.peers.values().map(Peer::addresses).sum()
    }

    fn calls_waiting(&self) -> usize {
        let at_peers: usize = self.peers.values().map(|peer| peer.waiting.len()).sum();
        at_peers + self.anywhere.len() + self.unplaced.len()
    }

    /// A call that no byte of has left.
    pub(super) fn not_sent(&mut self, now: Now, node: i32, call: &Waiting, reason: String) {
        self.refuse(now, node, None, call, CallError::NotSent(reason));
    }

    /// A call that was not sent, for whatever reason.
    pub(super) fn refuse(&mut self, now: Now, node: i32, conn: Option<ConnId>, call: &Waiting, error: CallError) {
        self.reply(now, Reply { call: call.id, node, conn, version: -1, sent: None, outcome: Err(error) });
    }
}

/// The one form in which brokers are named.
pub(super) fn describe(side: Side, node: i32, address: Option<&str>) -> String {
    let address = address.unwrap_or("address unknown");
    if node == BOOTSTRAP {
        format!("{side} bootstrap ({address})")
    } else {
        format!("{side} broker {node} ({address})")
    }
}
