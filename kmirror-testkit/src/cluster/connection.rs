//! One client connection: requests are served strictly one after the other, as Kafka mutes a channel while it works on it.
//!
//! ```text
//! receive ─► waiting ─► one in flight ─► answered ─► the next
//!                           │
//!                           └ Later: parked under its ticket until its machine completes it
//! ```

use std::collections::VecDeque;

use bytes::Bytes;
use kmirror_proto::messages::AnyResponse;
use kmirror_proto::{ApiKey, Frame};

use crate::{NodeId, Now};

/// A client's connection to one broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// A request that is being served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub u64);

/// What the cluster wants done with a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A whole answer.
    Frame(ConnectionId, Frame),
    /// Bytes as they are: a part of an answer, or garbage that was asked for.
    Bytes(ConnectionId, Bytes),
    /// The broker closes the connection, after what was put out for it before.
    Close(ConnectionId),
    /// The connection is reset: what was put out for it and is not written yet is lost.
    Reset(ConnectionId),
}

impl Output {
    /// Whose output it is.
    #[must_use]
    pub const fn connection(&self) -> ConnectionId {
        match self {
            Self::Frame(connection, _)
            | Self::Bytes(connection, _)
            | Self::Close(connection)
            | Self::Reset(connection) => *connection,
        }
    }
}

/// Who asks what: what the function that serves an API is told beside the request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) now: Now,
    pub(crate) ticket: Ticket,
    pub(crate) node: NodeId,
    pub(crate) version: i16,
    pub(crate) client_id: Option<String>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Answered at once.
    Answer(AnyResponse),
    /// Answered later, by [`Cluster::complete`](super::Cluster::complete) with the call's ticket.
    Later,
    /// Done, and no answer is due (Produce with acks 0).
    Nothing,
    /// Never answered, nor is anything behind it.
    Silence,
    /// The broker closes the connection.
    Close,
}

impl<R: Into<AnyResponse>> From<R> for Reply {
    fn from(response: R) -> Self {
        Self::Answer(response.into())
    }
}

/// A connection's queue.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) node: NodeId,
    pub(crate) waiting: VecDeque<Bytes>,
    pub(crate) in_flight: Option<InFlight>,
    /// No request is taken up before this moment of the monotonic clock: throttled (KIP-219), or frozen by a fault.
    pub(crate) muted_until: Option<std::time::Duration>,
}

/// The request of a connection that is being served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) ticket: Ticket,
    pub(crate) key: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
}

impl Connection {
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, waiting: VecDeque::new(), in_flight: None, muted_until: None }
    }
}
