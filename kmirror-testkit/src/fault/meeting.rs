//! What a fault does to the request that it meets.

use kmirror_proto::messages::{AnyRequest, ProduceRequest};

use super::late::Late;
use super::{Fate, Fault, InterceptId, Seen, refusal};
use crate::cluster::{Arrived, Asked, Cluster, Connection, ConnectionId, Output, Read, Reply};

impl Cluster {
    /// The fault that meets a request, if any.
    pub(crate) fn bite(&mut self, id: ConnectionId, arrived: &Arrived) -> Option<(InterceptId, Fault)> {
        if self.intercepts.is_empty() {
            return None;
        }
        let seen = Seen {
            node: self.connections.get(&id)?.node,
            connection: id,
            client_id: arrived.header.client_id.as_deref(),
            key: arrived.header.key,
            version: arrived.header.version,
            request: arrived.read.request(),
        };
        self.intercepts.bite(&self.topics, &seen)
    }

    /// Does to a request what a fault says.
    pub(crate) fn meet(&mut self, id: ConnectionId, arrived: Arrived, by: InterceptId, fault: Fault) {
        match fault {
            Fault::Error(code) => {
                let reply = match arrived.read.request() {
                    Some(AnyRequest::Produce(ProduceRequest { acks: 0, .. })) | None => Reply::Close,
                    Some(request) => {
                        refusal::of(request, arrived.header.version, code).map_or(Reply::Close, Reply::Answer)
                    }
                };
                self.meet_with(id, &arrived, Fate::Sent, reply);
            }
            Fault::DelayAnswer(delay) => self.take_up(id, arrived, Fate::Delayed(delay)),
            Fault::DelayRequest(delay) => {
                let until = self.now().after(delay);
                self.put_off(id, arrived, |connection| connection.mute(until));
            }
            Fault::Hold => self.put_off(id, arrived, |connection| connection.held_by = Some(by)),
            Fault::DropAnswer(end) => self.take_up(id, arrived, Fate::Dropped(end)),
            Fault::Late { after, end } => {
                if let (Some(connection), Read::Request(request)) = (self.connections.get(&id), arrived.read) {
                    let (due, node) = (self.now().after(after), connection.node);
                    self.intercepts.late.push(Late { due, node, header: arrived.header, request });
                }
                self.end(id, end);
            }
            Fault::Cut { bytes, end } => self.take_up(id, arrived, Fate::Cut { bytes, end }),
            Fault::End(end) => self.end(id, end),
            Fault::Bytes { bytes, end } => {
                self.put_out(Output::Bytes(id, bytes));
                if let Some(end) = end {
                    self.end(id, end);
                }
            }
            Fault::Silence => self.meet_with(id, &arrived, Fate::Silenced, Reply::Silence),
            Fault::Swallow => self.take_up(id, arrived, Fate::Silenced),
            Fault::Alter(alteration) => self.take_up(id, arrived, Fate::Altered(alteration)),
            Fault::Throttle(time) => self.take_up(id, arrived, Fate::Throttled(time)),
        }
    }

    /// Replies to a request that is not applied.
    fn meet_with(&mut self, id: ConnectionId, arrived: &Arrived, fate: Fate, reply: Reply) {
        if self.put_in_flight(id, &arrived.header, 0, fate).is_some() {
            self.reply(id, reply);
        }
    }

    /// Puts a request back to the front, to be taken up when its connection may go on.
    fn put_off(&mut self, id: ConnectionId, arrived: Arrived, hold: impl FnOnce(&mut Connection)) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.waiting.push_front(Asked { frame: arrived.frame, put_off: true });
            hold(connection);
        }
    }
}

impl Read {
    pub(super) fn request(&self) -> Option<&AnyRequest> {
        match self {
            Self::Request(request) => Some(request),
            Self::Unknown(_) | Self::Unreadable => None,
        }
    }
}
