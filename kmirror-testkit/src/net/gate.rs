//! A broker's port: open while the broker runs, kept but closed while it does not.
//!
//! ```text
//!           shut: another socket is bound, then the listener is closed
//!   Open ───────────────────────────────────────────────────────────────► Shut
//!   listening                                                   bound: connections are refused
//!        ◄─────────────────────────────────────────────────────────────
//!           open: that socket listens
//! ```
//! So nobody else gets the port in between, and a client that keeps trying meets the same broker again.

#![expect(clippy::disallowed_types, reason = "this is where the brokers' ports are opened")]

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use super::limits::BACKLOG;

/// A broker's port. Has to be used within a runtime.
#[derive(Debug)]
pub(super) struct Gate {
    address: SocketAddr,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Bound; becomes a listener within the runtime.
    Shut(Socket),
    Open(TcpListener),
}

impl Gate {
    /// Takes the port, and does not listen yet.
    pub(super) fn open(address: SocketAddr) -> io::Result<Self> {
        let socket = bound(address, false)?;
        let address = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { address, state: State::Shut(socket) })
    }

    /// Where it is.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Listens while the broker runs, and refuses connections while it does not.
    pub(super) fn follow(&mut self, running: bool) -> io::Result<()> {
        match (&self.state, running) {
            (State::Open(_), true) | (State::Shut(_), false) => {}
            (State::Open(_), false) => self.state = State::Shut(bound(self.address, true)?),
            (State::Shut(socket), true) => {
                let socket = socket.try_clone()?;
                allow_lingering(&socket, true)?;
                socket.listen(BACKLOG)?;
                self.state = State::Open(TcpListener::from_std(socket.into())?);
            }
        }
        Ok(())
    }

    /// The next connection. Those that are over before they are accepted are none.
    pub(super) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<TcpStream> {
        let State::Open(listener) = &self.state else { return Poll::Pending };
        match listener.poll_accept(cx) {
            Poll::Ready(Ok((stream, _))) => Poll::Ready(stream),
            // No descriptors left, or the connection is gone: the next turn tries again.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

/// A socket that has the port, and nobody else while it does not listen. The first of a gate takes the port alone, so
/// that one in use is an error; the later ones share it with the one that they take over from.
fn bound(address: SocketAddr, again: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    if again {
        share(&socket)?;
        socket.bind(&address.into())?;
    } else {
        // What lingers in the kernel of an earlier process's connections is not in the way.
        allow_lingering(&socket, true)?;
        socket.bind(&address.into())?;
        allow_lingering(&socket, false)?;
        share(&socket)?;
    }
    Ok(socket)
}

#[cfg(unix)]
fn share(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

/// Elsewhere two sockets share a port when both allow the address to be used again.
#[cfg(not(unix))]
fn share(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_address(true)
}

/// Connections keep what their listener had: a later listener need not wait until the last of them is forgotten.
#[cfg(unix)]
fn allow_lingering(socket: &Socket, allow: bool) -> io::Result<()> {
    socket.set_reuse_address(allow)
}

/// Elsewhere it is so without being asked for.
#[cfg(not(unix))]
fn allow_lingering(_: &Socket, _: bool) -> io::Result<()> {
    Ok(())
}
