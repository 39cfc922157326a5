//! One client connection: requests are served strictly one after the other, as Kafka mutes a channel while it works on it.
//!
//! ```text
//! receive ─► waiting ─► one in flight ─► answered ─► the next
//!                           │
//!                           └ Later: parked under its ticket until its machine completes it
//! ```

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::AnyResponse;
use kmirror_proto::{ApiKey, Frame};

use crate::fault::{Fate, InterceptId};
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
    pub(crate) waiting: VecDeque<Asked>,
    pub(crate) in_flight: Option<InFlight>,
    /// The answer to what is in flight, while it is kept back.
    pub(crate) kept: Option<Kept>,
    /// No request is taken up before this moment of the monotonic clock: throttled (KIP-219), or put off by a fault.
    pub(crate) muted_until: Option<Duration>,
    /// No request is taken up before this intercept is lifted.
    pub(crate) held_by: Option<InterceptId>,
    /// The client is gone. What it sent before is served all the same, and nobody is told.
    pub(crate) orphaned: bool,
}

/// A request that has come.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) frame: Bytes,
    /// A fault has put it off already: it is not met by another one.
    pub(crate) put_off: bool,
}

/// An answer that is kept back.
#[derive(Debug)]
pub(crate) struct Kept {
    /// It goes out at this moment of the monotonic clock, or when its broker is thawed.
    pub(crate) until: Duration,
    pub(crate) response: AnyResponse,
}

/// The request of a connection that is being served.
#[derive(Clone, Debug)]
pub(crate) struct InFlight {
    pub(crate) ticket: Ticket,
    pub(crate) key: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
    pub(crate) client_id: Option<String>,
    /// Of its frame, without the prefix.
    pub(crate) bytes: usize,
    pub(crate) fate: Fate,
}

impl Connection {
    pub(crate) fn new(node: NodeId) -> Self {
        Self {
            node,
            waiting: VecDeque::new(),
            in_flight: None,
            kept: None,
            muted_until: None,
            held_by: None,
            orphaned: false,
        }
    }

    /// The next request, if it may be taken up now.
    pub(super) fn next(&mut self, now: Now) -> Option<Asked> {
        let muted = self.muted_until.is_some_and(|until| until > now.elapsed);
        if muted || !self.is_free() { None } else { self.waiting.pop_front() }
    }

    /// When it goes on by itself.
    pub(super) fn due(&self) -> Option<Duration> {
        match &self.kept {
            Some(kept) => Some(kept.until),
            None if self.is_free() && !self.waiting.is_empty() => self.muted_until,
            None => None,
        }
    }

    /// No request is taken up before `until`, nor before what was said earlier.
    pub(crate) fn mute(&mut self, until: Duration) {
        self.muted_until = self.muted_until.max(Some(until));
    }

    fn is_free(&self) -> bool {
        self.in_flight.is_none() && self.held_by.is_none()
    }
}
