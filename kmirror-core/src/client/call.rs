//! A call: one request to one broker and what came of it.

use std::fmt;
use std::time::Duration;

use kmirror_proto::ApiKey;
use kmirror_proto::messages::{AnyRequest, AnyResponse};
use thiserror::Error;

use super::transport::ConnId;
use super::versions::VersionRange;
use crate::clock::Tick;

/// Who is to answer a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// Any broker: one with a connection that is ready is preferred, and among those the least busy.
    Any,
    /// The broker with this node id.
    Id(i32),
}

/// One call of one client; never used twice by the same client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(super) u64);

/// How a call is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallOptions {
    /// The lowest version that can say what the caller means.
    pub min_version: i16,
    /// The highest version that the caller wants.
    pub max_version: i16,
    /// The longest wait until the request is sent (then [`CallError::NotSent`]), and again from there until its answer
    /// (then [`CallError::Unknown`], and the connection ends).
    pub timeout: Duration,
    /// Only over this connection; if it is not ready any more: [`CallError::NotSent`].
    pub on: Option<ConnId>,
}

impl CallOptions {
    /// Any version, any connection.
    #[must_use]
    pub const fn within(timeout: Duration) -> Self {
        Self { min_version: 0, max_version: i16::MAX, timeout, on: None }
    }

    /// The same, at versions from `min` to `max` only.
    #[must_use]
    pub const fn versions(self, min: i16, max: i16) -> Self {
        Self { min_version: min, max_version: max, ..self }
    }

    /// The same, over one connection only.
    #[must_use]
    pub const fn on(self, conn: ConnId) -> Self {
        Self { on: Some(conn), ..self }
    }
}

/// What came of a call.
#[derive(Debug)]
pub struct Reply {
    /// The call.
    pub call: CallId,
    /// Who answered, or should have: a node id, or -1 for a bootstrap address or for nobody at all.
    pub node: i32,
    /// The connection that the request was sent over.
    pub conn: Option<ConnId>,
    /// The version that it was sent at; -1 if it was not.
    pub version: i16,
    /// When it was handed to the socket.
    pub sent: Option<Tick>,
    /// The answer. Error codes inside of it are the caller's to judge.
    pub outcome: Result<AnyResponse, CallError>,
}

/// Why a call has no answer. The text names side, broker and address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// No byte of the request has left this process.
    #[error("{0}")]
    NotSent(String),
    /// The request may have taken effect.
    #[error("{0} (outcome unknown)")]
    Unknown(String),
    /// The broker speaks no version of this API that the caller can use. Nothing was sent.
    #[error("{broker}: {api}: we need {ours}, the broker has {}", Absent(.theirs))]
    Unsupported {
        /// Who, with side and address.
        broker: String,
        /// The API.
        api: ApiKey,
        /// What we speak of what the caller allows.
        ours: VersionRange,
        /// What the broker offers, if anything.
        theirs: Option<VersionRange>,
    },
}

/// What a client has to tell beside replies. Events are facts, not requests: nobody has to react.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// A metadata answer was taken in. `generation` grows only if it changed something.
    MetadataUpdated {
        /// [`Metadata::generation`](super::Metadata::generation) after it.
        generation: u64,
        /// Whether it changed anything.
        changed: bool,
    },
    /// A metadata answer was not believed, or none came; the old view stands and another broker will be asked.
    MetadataRejected {
        /// Why, for people.
        reason: String,
    },
    /// A connection is ready: connected, and versions agreed.
    Connected {
        /// Node id, or -1 for a bootstrap address.
        node: i32,
        /// `host:port`.
        address: String,
    },
    /// A connection attempt failed.
    ConnectFailed {
        /// Node id, or -1 for a bootstrap address.
        node: i32,
        /// `host:port`.
        address: String,
        /// Why, for people.
        reason: String,
    },
    /// A connection that was ready is gone.
    Disconnected {
        /// Node id, or -1 for a bootstrap address.
        node: i32,
        /// `host:port`.
        address: String,
        /// Why, for people.
        reason: String,
    },
    /// A broker holds this client back because of a quota.
    Throttled {
        /// Node id, or -1 for a bootstrap address.
        node: i32,
        /// How long, at most [`THROTTLE_MAX`](super::limits::THROTTLE_MAX).
        wait: Duration,
    },
}

/// A call that waits to be sent.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) id: CallId,
    pub(super) request: AnyRequest,
    pub(super) options: CallOptions,
    /// Not sent by then: given up.
    pub(super) deadline: Tick,
    /// For a call to any node: how many more connection attempts may fail before it is given up.
    pub(super) attempts_left: usize,
}

/// Prints a missing range as a word.
struct Absent<'a>(&'a Option<VersionRange>);

impl fmt::Display for Absent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(range) => range.fmt(f),
            None => f.write_str("none"),
        }
    }
}
