//! The sockets of one shard, to both clusters, polled as one.
//!
//! ```text
//!  Connect ──► Connecting ──Connected──► Open ──Close──► Ending ──► (gone)
//!                  │                      │ │
//!                  │ ConnectFailed        │ └── abort: reset ────► (gone)
//!                  ▼                      ▼ Closed
//!                (gone)                 (gone)
//! ```
//! There is no task and no queue between a socket and the machine: [`Net::poll_events`] writes what waits, reads what
//! has come and hands out whole frames, all in the driver's own task. Polling a socket without news costs some tens of
//! nanoseconds, less than waking a task; dropping the `Net` drops every socket, so nothing can leak.

#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is where sockets are kept")]

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::limits::CLOSE_TIMEOUT;
use super::socket::{Socket, connect};
use crate::client::{ConnId, NetAction, NetEvent};
use crate::config::{ClusterConfig, Side};

/// How the sockets to one cluster behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// Larger frames end the connection, in bytes.
    pub frame_bytes_max: usize,
    /// How long a connection attempt may take, over all addresses of the host.
    pub connect_timeout: Duration,
}

/// The sockets of one shard.
#[derive(Debug)]
pub struct Net {
    source: SocketOptions,
    target: SocketOptions,
    connections: BTreeMap<(Side, ConnId), Phase>,
}

type Connecting = Pin<Box<dyn Future<Output = Result<TcpStream, String>> + Send>>;

/// Where a connection stands; drawn at the top of this file.
enum Phase {
    Connecting(Connecting),
    Open(Socket),
    Ending(Socket, Pin<Box<Sleep>>),
}

impl Net {
    /// No sockets yet.
    #[must_use]
    pub fn new(source: SocketOptions, target: SocketOptions) -> Self {
        Self { source, target, connections: BTreeMap::new() }
    }

    /// Carries an action out, or begins to: the sockets are touched when [`poll_events`](Self::poll_events) is called
    /// next, so that all frames of a turn leave in one write. What is said to a connection that is gone is ignored.
    pub fn apply(&mut self, side: Side, action: NetAction) {
        match action {
            NetAction::Connect { conn, host, port } => {
                let connecting = connect(host, port, self.options(side).connect_timeout);
                self.connections.insert((side, conn), Phase::Connecting(Box::pin(connecting)));
            }
            NetAction::Send { conn, frame } => {
                if let Some(Phase::Open(socket)) = self.connections.get_mut(&(side, conn)) {
                    socket.push(frame);
                }
            }
            NetAction::Close { conn, abort } => match (self.connections.remove(&(side, conn)), abort) {
                (Some(Phase::Open(socket) | Phase::Ending(socket, _)), true) => socket.reset_at_end(),
                (Some(Phase::Open(socket)), false) => {
                    self.connections.insert((side, conn), Phase::ending(socket));
                }
                (Some(ending @ Phase::Ending(..)), false) => {
                    self.connections.insert((side, conn), ending);
                }
                (Some(Phase::Connecting(_)) | None, _) => {}
            },
        }
    }

    /// Writes, reads, and appends what has happened to `events`, which is to be empty. `Ready` if anything has.
    pub fn poll_events(&mut self, cx: &mut Context<'_>, events: &mut VecDeque<(Side, NetEvent)>) -> Poll<()> {
        let (source, target) = (self.source, self.target);
        self.connections.retain(|&(side, conn), phase| {
            let options = if side == Side::Source { source } else { target };
            phase.poll(cx, conn, options, |event| events.push_back((side, event)))
        });
        if events.is_empty() { Poll::Pending } else { Poll::Ready(()) }
    }

    /// Waits until something has happened and appends it to `events`. Nothing is lost if the wait is given up.
    pub async fn next(&mut self, events: &mut VecDeque<(Side, NetEvent)>) {
        poll_fn(|cx| self.poll_events(cx, events)).await;
    }

    /// Ends every connection in order, each within [`CLOSE_TIMEOUT`].
    pub async fn close(&mut self) {
        for ((side, conn), phase) in std::mem::take(&mut self.connections) {
            match phase {
                Phase::Connecting(_) => {}
                Phase::Open(socket) => {
                    self.connections.insert((side, conn), Phase::ending(socket));
                }
                Phase::Ending(..) => {
                    self.connections.insert((side, conn), phase);
                }
            }
        }
        let mut events = VecDeque::new();
        poll_fn(|cx| {
            // A connection that is ending has no events.
            let _ = self.poll_events(cx, &mut events);
            if self.connections.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn options(&self, side: Side) -> SocketOptions {
        match side {
            Side::Source => self.source,
            Side::Target => self.target,
        }
    }
}

impl Phase {
    fn ending(socket: Socket) -> Self {
        Self::Ending(socket, Box::pin(sleep(CLOSE_TIMEOUT)))
    }

    /// One turn of one connection; false when it is gone.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        options: SocketOptions,
        mut emit: impl FnMut(NetEvent),
    ) -> bool {
        match self {
            Self::Connecting(connecting) => match connecting.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(Ok(stream)) => {
                    *self = Self::Open(Socket::new(stream, options.frame_bytes_max));
                    emit(NetEvent::Connected { conn });
                    true
                }
                Poll::Ready(Err(reason)) => {
                    emit(NetEvent::ConnectFailed { conn, reason });
                    false
                }
            },
            Self::Open(socket) => {
                let over = match socket.poll_read(cx, |body| emit(NetEvent::Frame { conn, body })) {
                    Poll::Ready(reason) => Some(reason),
                    Poll::Pending => match socket.poll_write(cx) {
                        Poll::Ready(Err(reason)) => Some(reason),
                        Poll::Ready(Ok(())) | Poll::Pending => None,
                    },
                };
                if let Some(reason) = over {
                    socket.reset_at_end();
                    emit(NetEvent::Closed { conn, reason });
                    return false;
                }
                true
            }
            Self::Ending(socket, deadline) => {
                let over = deadline.as_mut().poll(cx).is_ready();
                if over {
                    socket.reset_at_end();
                }
                !over && socket.poll_end(cx).is_pending()
            }
        }
    }
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connecting(_) => "Connecting",
            Self::Open(_) => "Open",
            Self::Ending(..) => "Ending",
        })
    }
}

impl From<&ClusterConfig> for SocketOptions {
    fn from(config: &ClusterConfig) -> Self {
        Self { frame_bytes_max: config.frame_bytes_max, connect_timeout: config.connect_timeout }
    }
}
