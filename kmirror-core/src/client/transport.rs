//! The border between the client and the sockets: what the one tells the other.
//!
//! The client names connections; [`runtime::net`](crate::runtime) or a test's scripted brokers carry the actions out.
//! A `Connect` is answered by `Connected` or `ConnectFailed`; a connection that was up ends with exactly one `Closed`,
//! unless the client itself said `Close`: then nothing more is said about it, and what was on its way is ignored.

use bytes::Bytes;
use kmirror_proto::Frame;

/// One connection of one client; never used twice by the same client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// What the sockets are told.
#[derive(Debug)]
pub enum NetAction {
    /// Open a connection.
    Connect {
        /// Its name from now on.
        conn: ConnId,
        /// Host name or address, as configured or advertised.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// Write a frame behind those that wait already.
    Send {
        /// The connection.
        conn: ConnId,
        /// The whole frame.
        frame: Frame,
    },
    /// End a connection.
    Close {
        /// The connection.
        conn: ConnId,
        /// At once, with a reset, dropping what waits to be written also in the kernel (rule P7); otherwise
        /// in order, after everything that waits has been written.
        abort: bool,
    },
}

/// What the sockets say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetEvent {
    /// The connection is up.
    Connected {
        /// The connection.
        conn: ConnId,
    },
    /// The connection could not be opened.
    ConnectFailed {
        /// The connection.
        conn: ConnId,
        /// Why, for people.
        reason: String,
    },
    /// A whole frame has come in.
    Frame {
        /// The connection.
        conn: ConnId,
        /// What follows the length prefix.
        body: Bytes,
    },
    /// The connection is gone.
    Closed {
        /// The connection.
        conn: ConnId,
        /// Why, for people.
        reason: String,
    },
}
