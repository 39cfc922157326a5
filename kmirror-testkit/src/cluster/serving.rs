//! From a frame to an answer: order on a connection, versions, what closes it, and where faults come in.
//!
//! ```text
//! frame ─► read ─► met by a fault? ─► take_up ─► api::answer ─► Reply
//!                     │                              │
//!                     └ put off, ended, late …       └─► answer ─► kept back (delay, throttle, frozen)? ─► send ─► Output
//! ```

use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::{AnyRequest, AnyResponse};
use kmirror_proto::{ApiKey, ErrorCode, Reader, RequestHeader, encode_response};

use super::connection::{Asked, InFlight, Kept};
use super::{Call, Cluster, ConnectionId, Output, Reply, Ticket};
use crate::fault::{End, Fate};
use crate::{NodeId, Release, api};

/// A request whose header could be read.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) frame: Bytes,
    pub(crate) header: RequestHeader,
    pub(crate) read: Read,
}

/// What stands behind a header.
#[derive(Debug)]
pub(crate) enum Read {
    Request(AnyRequest),
    /// The release has no such API or version, and does this.
    Unknown(Reply),
    /// It is not what its header says.
    Unreadable,
}

impl Cluster {
    /// Serves a connection's requests until one of them has to wait.
    pub(crate) fn serve(&mut self, id: ConnectionId) {
        while let Some(asked) = self.next(id) {
            self.begin(id, asked);
        }
        let done = |orphaned: &super::Connection| orphaned.orphaned && orphaned.waiting.is_empty();
        if self.connections.get(&id).is_some_and(done) {
            self.forget(id);
        }
    }

    /// Serves whoever was muted long enough, and answers whatever has waited long enough.
    pub(super) fn expire(&mut self) {
        self.apply_late();
        let ids: Vec<ConnectionId> = self.connections.keys().copied().collect();
        for id in ids {
            self.send_kept(id);
            self.serve(id);
        }
        self.groups.advance(self.now());
        self.transactions.advance(self.now());
        self.mark_transactions();
        self.keep_up();
        self.expire_waits();
    }

    /// When [`expire`](Self::expire) has something to do on a connection.
    pub(super) fn connections_due(&self) -> Option<Duration> {
        let thawed = self.connections.values().filter(|connection| !self.is_frozen(connection.node));
        thawed.filter_map(super::Connection::due).min()
    }

    /// Answers a request that was left for later, and goes on with its connection.
    pub(crate) fn complete(&mut self, ticket: Ticket, response: AnyResponse) {
        if let Some(id) = self.serving.get(&ticket).copied() {
            self.answer(id, response);
            self.serve(id);
        }
    }

    /// Closes a connection from the broker's side.
    pub(crate) fn close(&mut self, id: ConnectionId) {
        self.end(id, End::Close);
    }

    /// Ends a connection from the broker's side.
    pub(crate) fn end(&mut self, id: ConnectionId, end: End) {
        self.put_out(match end {
            End::Close => Output::Close(id),
            End::Reset => Output::Reset(id),
        });
        self.forget(id);
    }

    /// Drops what is known of a connection.
    pub(super) fn forget(&mut self, id: ConnectionId) {
        self.cancel(id);
        self.connections.remove(&id);
    }

    /// The client is gone, and what it asked before is served all the same; but not what stands behind a request that is
    /// never answered.
    pub(super) fn orphan(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.orphaned = true;
        if connection.in_flight.as_ref().is_some_and(|flight| matches!(flight.fate, Fate::Silenced)) {
            connection.waiting.clear();
        }
        self.cancel(id);
        self.serve(id);
    }

    /// Puts something out, unless nobody is there to get it.
    pub(crate) fn put_out(&mut self, output: Output) {
        if !self.connections.get(&output.connection()).is_some_and(|connection| connection.orphaned) {
            self.outputs.push_back(output);
        }
    }

    /// The number of the next request.
    pub(crate) fn new_ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// Whether a broker is stopped as by SIGSTOP.
    pub(crate) fn is_frozen(&self, node: NodeId) -> bool {
        self.brokers.get(&node).is_some_and(|broker| broker.frozen)
    }

    fn next(&mut self, id: ConnectionId) -> Option<Asked> {
        let now = self.now();
        let node = self.connections.get(&id)?.node;
        if self.is_frozen(node) {
            return None;
        }
        if self.connections.get(&id)?.orphaned {
            // What it waits for would be told to nobody.
            self.cancel(id);
        }
        self.connections.get_mut(&id)?.next(now)
    }

    fn begin(&mut self, id: ConnectionId, asked: Asked) {
        let Ok(arrived) = self.decode(asked.frame) else { return self.close(id) };
        let met = if asked.put_off { None } else { self.bite(id, &arrived) };
        match met {
            None => self.take_up(id, arrived, Fate::Sent),
            Some((by, fault)) => self.meet(id, arrived, by, fault),
        }
    }

    /// Has a request served.
    pub(crate) fn take_up(&mut self, id: ConnectionId, arrived: Arrived, fate: Fate) {
        let Arrived { frame, header, read } = arrived;
        let Some(call) = self.put_in_flight(id, &header, frame.len(), fate) else { return };
        drop(frame);
        let reply = match read {
            Read::Request(request) => {
                let request = self.within_quota(&call, request);
                api::answer(self, &call, request)
            }
            Read::Unknown(reply) => reply,
            Read::Unreadable => Reply::Close,
        };
        self.reply(id, reply);
    }

    /// The connection is busy with a request from now on.
    pub(crate) fn put_in_flight(
        &mut self,
        id: ConnectionId,
        header: &RequestHeader,
        bytes: usize,
        fate: Fate,
    ) -> Option<Call> {
        let (now, ticket) = (self.now(), self.new_ticket());
        let connection = self.connections.get_mut(&id)?;
        let RequestHeader { key, version, correlation_id, client_id } = header.clone();
        let call = Call { now, ticket, node: connection.node, version, client_id: client_id.clone() };
        connection.in_flight = Some(InFlight { ticket, key, version, correlation_id, client_id, bytes, fate });
        self.serving.insert(ticket, id);
        Some(call)
    }

    /// Does with a request's connection what its reply says.
    pub(crate) fn reply(&mut self, id: ConnectionId, reply: Reply) {
        match reply {
            Reply::Answer(response) => self.answer(id, response),
            Reply::Later => {}
            Reply::Silence => {
                if let Some(flight) = self.connections.get_mut(&id).and_then(|found| found.in_flight.as_mut()) {
                    flight.fate = Fate::Silenced;
                }
            }
            Reply::Nothing => self.finish(id),
            Reply::Close => self.close(id),
        }
    }

    /// The request, or what the release does with one of a version that it does not have.
    fn decode(&self, frame: Bytes) -> Result<Arrived, kmirror_proto::DecodeError> {
        let mut r = Reader::new(frame.clone());
        let (key, version) = (ApiKey(r.i16("api key")?), r.i16("api version")?);
        let range = self.apis.iter().find(|range| range.api_key == key);
        if !range.is_some_and(|range| (range.min_version..=range.max_version).contains(&version)) {
            // Of a version that it does not know a broker reads no more than that; but since it has compact ones, the
            // header has to be one (measured).
            if key == ApiKey::API_VERSIONS && self.release >= Release::V2_4 {
                RequestHeader::decode(&mut Reader::new(frame.clone()))?;
            }
            let header = RequestHeader { key, version, correlation_id: r.i32("correlation id")?, client_id: None };
            let read = Read::Unknown(self.unknown_version(&header));
            return Ok(Arrived { frame, header, read });
        }
        let mut r = Reader::new(frame.clone());
        let header = RequestHeader::decode(&mut r)?;
        // Bytes behind the request are no concern of a broker (measured).
        let decoded = AnyRequest::decode(key, version, &mut r);
        Ok(Arrived { frame, header, read: decoded.map_or(Read::Unreadable, Read::Request) })
    }

    /// What a broker does with a version that it does not have: ApiVersions names what it has (KIP-511), Fetch hangs on
    /// 0.10.0 and 0.10.1 (F13), everything else closes the connection.
    fn unknown_version(&self, header: &RequestHeader) -> Reply {
        match header.key {
            ApiKey::API_VERSIONS => Reply::from(api::api_versions::unsupported(self)),
            ApiKey::FETCH if self.release <= Release::V0_10_1 => Reply::Silence,
            _ => Reply::Close,
        }
    }

    /// The answer to what is in flight is known: it goes out, or is kept back for a while.
    fn answer(&mut self, id: ConnectionId, mut response: AnyResponse) {
        let now = self.now();
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Some(flight) = &connection.in_flight else { return };
        debug_assert_eq!(flight.key, response.key(), "an answer of another API");
        let throttled = self.quotas.answered(now, connection.node, flight, &mut response);
        let mut delay = if let Fate::Delayed(delay) = flight.fate { delay } else { Duration::ZERO };
        if let Fate::Altered(alteration) = &flight.fate {
            alteration.apply(&mut response);
        }
        // KIP-219: since 2.0 the client is told at once, and not heard for as long.
        if self.release >= Release::V2_0 {
            connection.mute(now.after(throttled));
        } else {
            delay = delay.saturating_add(throttled);
        }
        let node = connection.node;
        if delay.is_zero() && !self.is_frozen(node) {
            self.send(id, &response);
        } else if let Some(connection) = self.connections.get_mut(&id) {
            connection.kept = Some(Kept { until: now.after(delay), response });
        }
    }

    /// What is in flight is done, and no answer is due.
    fn finish(&mut self, id: ConnectionId) {
        let now = self.now();
        let Some(flight) = self.rest(id) else { return };
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.mute(now.after(self.quotas.unanswered(now, connection.node, &flight)));
        match flight.fate {
            Fate::Sent | Fate::Altered(_) | Fate::Throttled(_) => {}
            Fate::Delayed(delay) => connection.mute(now.after(delay)),
            Fate::Dropped(end) | Fate::Cut { bytes: _, end } => self.end(id, end),
            Fate::Silenced => connection.in_flight = Some(flight),
        }
    }

    fn send_kept(&mut self, id: ConnectionId) {
        let now = self.now().elapsed;
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let due = connection.kept.as_ref().is_some_and(|kept| kept.until <= now);
        let frozen = self.brokers.get(&connection.node).is_some_and(|broker| broker.frozen);
        if due
            && !frozen
            && let Some(kept) = connection.kept.take()
        {
            self.send(id, &kept.response);
        }
    }

    fn send(&mut self, id: ConnectionId, response: &AnyResponse) {
        let Some(flight) = self.rest(id) else { return };
        // The answer to a version that the broker does not know is in v0.
        let version = if is_unsupported(response) { 0 } else { flight.version };
        let Ok(frame) = encode_response(flight.correlation_id, version, response) else { return self.close(id) };
        match flight.fate {
            Fate::Sent | Fate::Delayed(_) | Fate::Altered(_) | Fate::Throttled(_) => {
                self.put_out(Output::Frame(id, frame));
            }
            Fate::Dropped(end) => self.end(id, end),
            Fate::Cut { bytes, end } => {
                let whole: Vec<u8> = frame.chunks().iter().flatten().copied().take(bytes).collect();
                self.put_out(Output::Bytes(id, whole.into()));
                self.end(id, end);
            }
            Fate::Silenced => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.in_flight = Some(flight);
                }
            }
        }
    }

    /// What is in flight will not be answered.
    fn cancel(&mut self, id: ConnectionId) {
        if let Some(flight) = self.rest(id) {
            self.stop_waiting(flight.ticket);
        }
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.kept = None;
        }
    }

    /// The request is done: the connection may go on.
    pub(crate) fn rest(&mut self, id: ConnectionId) -> Option<InFlight> {
        let flight = self.connections.get_mut(&id)?.in_flight.take()?;
        self.serving.remove(&flight.ticket);
        Some(flight)
    }
}

/// Whether it says that ApiVersions was asked for in an unknown version (KIP-511).
fn is_unsupported(response: &AnyResponse) -> bool {
    matches!(response, AnyResponse::ApiVersions(answer) if answer.error_code == ErrorCode::UNSUPPORTED_VERSION)
}
