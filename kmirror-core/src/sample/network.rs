//! Two clusters and the wires to them, in virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::ProduceRequest;
use kmirror_proto::{Frame, decode_request, encode_response};

use super::broker::{Broker, Reaction};
use crate::client::{ConnId, NetAction, NetEvent};
use crate::clock::{Now, Tick};
use crate::config::Side;

/// One end of a connection: whose, to which cluster, which.
pub(crate) type Wire = (usize, Side, ConnId);

/// The clusters, and everything that is on its way to or from them.
pub(crate) struct Network {
    pub(crate) source: Broker,
    pub(crate) target: Broker,
    /// How long anything takes one way.
    pub(crate) latency: Duration,
    lines: BTreeMap<Wire, Line>,
    queue: BTreeMap<(Tick, u64), Pending>,
    serial: u64,
}

#[derive(Default)]
struct Line {
    requests: VecDeque<Bytes>,
    /// The first request is being looked at.
    busy: bool,
    /// It is looked at for the second time.
    again: bool,
    /// Nobody listens any more; what was sent still takes effect.
    deaf: bool,
}

enum Pending {
    Tell(Wire, NetEvent),
    Arrive(Wire, Bytes),
    Serve(Wire),
    Append(Side, ProduceRequest),
}

impl Network {
    pub(crate) fn new(source: Broker, target: Broker) -> Self {
        Self {
            source,
            target,
            latency: Duration::from_millis(1),
            lines: BTreeMap::new(),
            queue: BTreeMap::new(),
            serial: 0,
        }
    }

    fn broker(&mut self, side: Side) -> &mut Broker {
        match side {
            Side::Source => &mut self.source,
            Side::Target => &mut self.target,
        }
    }

    /// When something happens next.
    pub(crate) fn next_at(&self) -> Option<Tick> {
        self.queue.keys().next().map(|(at, _)| *at)
    }

    /// Carries out what a machine wants.
    pub(crate) fn apply(&mut self, now: Now, owner: usize, side: Side, action: NetAction) {
        match action {
            NetAction::Connect { conn, host, .. } => {
                let wire = (owner, side, conn);
                let broker = self.broker(side);
                assert_eq!(host, broker.host);
                let event = if broker.down {
                    NetEvent::ConnectFailed { conn, reason: "connection refused".to_owned() }
                } else {
                    self.lines.insert(wire, Line::default());
                    NetEvent::Connected { conn }
                };
                self.later(now, self.latency, Pending::Tell(wire, event));
            }
            NetAction::Send { conn, frame } => {
                self.later(now, self.latency, Pending::Arrive((owner, side, conn), body_of(&frame)));
            }
            NetAction::Close { conn, .. } => {
                if let Some(line) = self.lines.get_mut(&(owner, side, conn)) {
                    line.deaf = true;
                }
            }
        }
    }

    /// A process is gone: nobody listens, what it sent still takes effect.
    pub(crate) fn forget(&mut self, owner: usize) {
        self.lines.iter_mut().filter(|((of, ..), _)| *of == owner).for_each(|(_, line)| line.deaf = true);
    }

    /// Ends every connection to a cluster from its side; nothing that has not arrived ever does.
    pub(crate) fn cut(&mut self, now: Now, side: Side) {
        let cut: Vec<Wire> = self.lines.keys().filter(|(_, to, _)| *to == side).copied().collect();
        for wire in cut {
            self.hang_up(now, wire);
        }
    }

    /// Lets the first thing that is due happen; what a machine has to be told of it.
    pub(crate) fn step(&mut self, now: Now) -> Option<(usize, Side, NetEvent)> {
        let (_, pending) = self.queue.pop_first()?;
        match pending {
            Pending::Tell((owner, side, conn), event) => {
                let listens = match &event {
                    NetEvent::Frame { .. } | NetEvent::Connected { .. } => {
                        self.lines.get(&(owner, side, conn)).is_some_and(|line| !line.deaf)
                    }
                    NetEvent::Closed { .. } | NetEvent::ConnectFailed { .. } => true,
                };
                listens.then_some((owner, side, event))
            }
            Pending::Arrive(wire, bytes) => {
                let line = self.lines.get_mut(&wire)?;
                line.requests.push_back(bytes);
                if !std::mem::replace(&mut line.busy, true) {
                    self.later(now, Duration::ZERO, Pending::Serve(wire));
                }
                None
            }
            Pending::Serve(wire) => {
                self.serve(now, wire);
                None
            }
            Pending::Append(side, request) => {
                self.broker(side).append(&request);
                None
            }
        }
    }

    fn serve(&mut self, now: Now, wire: Wire) {
        let (_, side, conn) = wire;
        let Some(line) = self.lines.get_mut(&wire) else { return };
        let Some(body) = line.requests.front() else { return };
        let (header, request) = decode_request(body.clone()).unwrap();
        let again = std::mem::take(&mut line.again);
        match self.broker(side).serve(header.version, request, again) {
            Reaction::Answer(response) => {
                let frame = encode_response(header.correlation_id, header.version, &response).unwrap();
                let event = NetEvent::Frame { conn, body: body_of(&frame) };
                self.later(now, self.latency, Pending::Tell(wire, event));
                self.next_request(now, wire);
            }
            Reaction::Hold(wait) => {
                if let Some(line) = self.lines.get_mut(&wire) {
                    line.again = true;
                }
                self.later(now, wait, Pending::Serve(wire));
            }
            Reaction::Close(late) => {
                if let Some((after, request)) = late {
                    self.later(now, after, Pending::Append(side, request));
                }
                self.hang_up(now, wire);
            }
        }
    }

    fn next_request(&mut self, now: Now, wire: Wire) {
        let Some(line) = self.lines.get_mut(&wire) else { return };
        line.requests.pop_front();
        line.busy = !line.requests.is_empty();
        if line.busy {
            self.later(now, Duration::ZERO, Pending::Serve(wire));
        }
    }

    fn hang_up(&mut self, now: Now, wire: Wire) {
        let Some(line) = self.lines.remove(&wire) else { return };
        if !line.deaf {
            let event = NetEvent::Closed { conn: wire.2, reason: "closed by the broker".to_owned() };
            self.later(now, self.latency, Pending::Tell(wire, event));
        }
    }

    fn later(&mut self, now: Now, wait: Duration, pending: Pending) {
        self.serial += 1;
        self.queue.insert((now.after(wait), self.serial), pending);
    }
}

/// A frame without its length prefix.
fn body_of(frame: &Frame) -> Bytes {
    Bytes::from(frame.chunks().concat()).split_off(4)
}
