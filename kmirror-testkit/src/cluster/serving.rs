//! From a frame to an answer: order on a connection, versions, and what closes it.

use bytes::Bytes;
use kmirror_proto::messages::{AnyRequest, AnyResponse};
use kmirror_proto::{ApiKey, Reader, RequestHeader, encode_response};

use super::connection::InFlight;
use super::{Call, Cluster, Connection, ConnectionId, Output, Reply, Ticket};
use crate::api;
use crate::{Now, Release};

impl Connection {
    /// Whether it has something to serve.
    pub(super) fn is_due(&self) -> bool {
        self.in_flight.is_none() && !self.waiting.is_empty()
    }

    fn next(&mut self, now: Now) -> Option<Bytes> {
        if self.in_flight.is_some() || self.muted_until.is_some_and(|until| until > now.elapsed) {
            return None;
        }
        self.waiting.pop_front()
    }
}

impl Cluster {
    /// Serves a connection's requests until one of them has to wait.
    pub(super) fn serve(&mut self, id: ConnectionId) {
        let now = self.now();
        while let Some(frame) = self.connections.get_mut(&id).and_then(|connection| connection.next(now)) {
            self.begin(id, frame);
        }
    }

    /// Serves whoever was muted long enough, and answers whatever has waited long enough.
    pub(super) fn expire(&mut self) {
        let ids: Vec<ConnectionId> = self.connections.keys().copied().collect();
        for id in ids {
            self.serve(id);
        }
        self.groups.advance(self.now());
        self.transactions.advance(self.now());
        self.mark_transactions();
        self.expire_waits();
    }

    /// Answers a request that was left for later, and goes on with its connection.
    pub(crate) fn complete(&mut self, ticket: Ticket, response: &AnyResponse) {
        if let Some(id) = self.serving.get(&ticket).copied() {
            self.answer(id, response);
            self.serve(id);
        }
    }

    /// Closes a connection from the broker's side.
    pub(crate) fn close(&mut self, id: ConnectionId) {
        self.forget(id);
        self.put_out(Output::Close(id));
    }

    /// Drops what is known of a connection.
    pub(super) fn forget(&mut self, id: ConnectionId) {
        let connection = self.connections.remove(&id);
        if let Some(flight) = connection.and_then(|connection| connection.in_flight) {
            self.serving.remove(&flight.ticket);
            self.stop_waiting(flight.ticket);
        }
    }

    pub(crate) fn put_out(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    fn begin(&mut self, id: ConnectionId, frame: Bytes) {
        let Ok((header, request)) = self.read(frame) else { return self.close(id) };
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.in_flight =
            Some(InFlight { ticket, key: header.key, version: header.version, correlation_id: header.correlation_id });
        self.serving.insert(ticket, id);
        let call =
            Call { now: self.now, ticket, node: connection.node, version: header.version, client_id: header.client_id };
        let reply = match request {
            Read::Request(request) => api::answer(self, &call, request),
            Read::Unknown(reply) => reply,
        };
        match reply {
            Reply::Answer(response) => self.answer(id, &response),
            Reply::Later | Reply::Silence => {}
            Reply::Nothing => self.rest(id),
            Reply::Close => self.close(id),
        }
    }

    /// The request, or what the release does with one of a version that it does not have.
    fn read(&self, frame: Bytes) -> Result<(RequestHeader, Read), kmirror_proto::DecodeError> {
        let mut r = Reader::new(frame);
        let header = RequestHeader::decode(&mut r)?;
        let apis = self.release.apis();
        let range = apis.iter().find(|range| range.api_key == header.key);
        if !range.is_some_and(|range| (range.min_version..=range.max_version).contains(&header.version)) {
            let reply = self.unknown_version(&header);
            return Ok((header, Read::Unknown(reply)));
        }
        let request = AnyRequest::decode(header.key, header.version, &mut r)?;
        r.finish(header.key.name().unwrap_or("request"))?;
        Ok((header, Read::Request(request)))
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

    fn answer(&mut self, id: ConnectionId, response: &AnyResponse) {
        let Some(flight) = self.connections.get(&id).and_then(|connection| connection.in_flight) else { return };
        self.rest(id);
        debug_assert_eq!(flight.key, response.key(), "an answer of another API");
        match encode_response(flight.correlation_id, flight.version, response) {
            Ok(frame) => self.put_out(Output::Frame(id, frame)),
            Err(_) => self.close(id),
        }
    }

    /// The request is done: the connection may go on.
    fn rest(&mut self, id: ConnectionId) {
        let flight = self.connections.get_mut(&id).and_then(|connection| connection.in_flight.take());
        if let Some(flight) = flight {
            self.serving.remove(&flight.ticket);
        }
    }
}

/// A frame whose header could be read.
enum Read {
    Request(AnyRequest),
    Unknown(Reply),
}
