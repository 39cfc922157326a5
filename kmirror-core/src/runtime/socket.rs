//! One socket: opened, read into frames, written in gathers, ended.

#![expect(clippy::disallowed_types, reason = "this is where sockets are opened")]

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use kmirror_proto::{Frame, FrameBuffer};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::time::timeout;

use super::limits::{
    ADDRESSES_MAX, CHUNKS_PER_WRITE, KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, READ_BYTES_PER_TURN, WRITE_BYTES_PER_TURN,
};

/// A socket that is connected.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    incoming: FrameBuffer,
    /// Not bounded here: the machine bounds its requests in flight, and their bytes by its memory budget. The chunks
    /// are shared with the batches that they come from; nothing is copied to wait.
    outgoing: VecDeque<Bytes>,
    shut: bool,
}

impl Socket {
    /// Frames above `frame_bytes_max` end the connection.
    pub(super) fn new(stream: TcpStream, frame_bytes_max: usize) -> Self {
        Self { stream, incoming: FrameBuffer::new(frame_bytes_max), outgoing: VecDeque::new(), shut: false }
    }

    /// Puts a frame behind those that wait to be written.
    pub(super) fn push(&mut self, frame: Frame) {
        self.outgoing.extend(frame.into_chunks());
    }

    /// Writes what waits, as far as the kernel takes it. `Ready` when nothing waits any more.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        let mut written = 0;
        while !self.outgoing.is_empty() {
            if written >= WRITE_BYTES_PER_TURN {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            // Most turns have a few chunks to write; they need not pay for clearing a table of 1024.
            let n = if self.outgoing.len() <= 64 {
                ready!(self.poll_write_once::<64>(cx))
            } else {
                ready!(self.poll_write_once::<CHUNKS_PER_WRITE>(cx))
            };
            match n {
                Ok(0) => return Poll::Ready(Err("closed while writing".to_owned())),
                Ok(n) => written += n,
                Err(error) => return Poll::Ready(Err(reason(&error))),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads what has come, and hands each whole frame to `emit`. Returns why the connection is over, or `Pending`.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, mut emit: impl FnMut(Bytes)) -> Poll<String> {
        let mut taken = 0;
        while taken < READ_BYTES_PER_TURN {
            match ready!(self.poll_read_once(cx)) {
                Ok(0) => return Poll::Ready(self.end_of_stream()),
                Ok(n) => taken += n,
                Err(error) => return Poll::Ready(reason(&error)),
            }
            loop {
                match self.incoming.next_frame() {
                    Ok(Some(body)) => emit(body),
                    Ok(None) => break,
                    Err(error) => return Poll::Ready(error.to_string()),
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Writes what waits, says that no more will come, and reads on until the peer has ended its half too: a socket
    /// that is closed with unread bytes in it is reset, and what was written last would be lost.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if ready!(self.poll_write(cx)).is_err() {
            return Poll::Ready(());
        }
        if !self.shut {
            if ready!(Pin::new(&mut self.stream).poll_shutdown(cx)).is_err() {
                return Poll::Ready(());
            }
            self.shut = true;
        }
        loop {
            match ready!(self.poll_read_once(cx)) {
                Ok(0) | Err(_) => return Poll::Ready(()),
                Ok(_) => self.incoming.space().clear(),
            }
        }
    }

    /// Makes its end, which has to follow, an abrupt one: what waits is dropped, here and in the kernel, and the peer
    /// sees a reset. Else the kernel would go on to deliver what it has taken, after its outcome was called unknown.
    pub(super) fn reset_at_end(&self) {
        // If this fails the socket is in no state to be reset, and is gone anyway.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    fn poll_read_once(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        pin!(self.stream.read_buf(self.incoming.space())).poll(cx)
    }

    fn poll_write_once<const N: usize>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut slices = [IoSlice::new(&[]); N];
        let mut used = 0;
        for (slice, chunk) in slices.iter_mut().zip(&self.outgoing) {
            *slice = IoSlice::new(chunk);
            used += 1;
        }
        let slices = slices.get(..used).unwrap_or_default();
        let n = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        drop_front(&mut self.outgoing, n);
        Poll::Ready(Ok(n))
    }

    fn end_of_stream(&mut self) -> String {
        if self.incoming.space().is_empty() {
            "closed by the peer".to_owned()
        } else {
            "closed by the peer inside a frame".to_owned()
        }
    }
}

/// Opens a connection to `host:port`: all its addresses in turn, each with its share of `within`.
pub(super) async fn connect(host: String, port: u16, within: Duration) -> Result<TcpStream, String> {
    match timeout(within, connect_to_any(&host, port, within)).await {
        Ok(result) => result,
        Err(_) => Err(format!("no connection within {within:?}")),
    }
}

async fn connect_to_any(host: &str, port: u16, within: Duration) -> Result<TcpStream, String> {
    let found = lookup_host((host, port)).await.map_err(|error| format!("the name is not resolved: {error}"))?;
    let addresses: Vec<SocketAddr> = found.take(ADDRESSES_MAX).collect();
    let share = within / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
    let mut reasons = Vec::new();
    for address in addresses {
        let failed = match timeout(share, open(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => reason(&error),
            Err(_) => format!("no answer within {share:?}"),
        };
        let literal = address.ip().to_string() == host;
        reasons.push(if literal { failed } else { format!("{address}: {failed}") });
    }
    if reasons.is_empty() { Err("the name has no address".to_owned()) } else { Err(reasons.join(", ")) }
}

async fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    let options = SockRef::from(&socket);
    options.set_tcp_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE);
    options.set_tcp_keepalive(&keepalive.with_interval(KEEPALIVE_INTERVAL))?;
    #[cfg(target_os = "linux")]
    options.set_tcp_user_timeout(Some(super::limits::USER_TIMEOUT))?;
    let stream = socket.connect(address).await?;
    // On loopback a connection to a port that nobody listens on can meet itself: the kernel may choose that very port
    // as the local one. It would answer every request with the request.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(stream)
}

/// Takes `n` bytes off the front of the queue.
fn drop_front(queue: &mut VecDeque<Bytes>, mut n: usize) {
    while let Some(first) = queue.front_mut() {
        if first.len() > n {
            first.advance(n);
            return;
        }
        n -= first.len();
        queue.pop_front();
    }
}

/// What people are told: the usual ends in words, the rest as the system says it.
fn reason(error: &io::Error) -> String {
    let words = [
        (io::ErrorKind::ConnectionRefused, "connection refused"),
        (io::ErrorKind::ConnectionReset, "connection reset by the peer"),
        (io::ErrorKind::TimedOut, "the peer's host does not answer"),
    ];
    let known = words.iter().find(|(kind, _)| *kind == error.kind());
    known.map_or_else(|| error.to_string(), |(_, words)| (*words).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_may_end_anywhere() {
        let chunks =
            || VecDeque::from([Bytes::from_static(b"ab"), Bytes::from_static(b"c"), Bytes::from_static(b"def")]);
        for (n, rest) in [(0, "abcdef"), (1, "bcdef"), (2, "cdef"), (3, "def"), (5, "f"), (6, "")] {
            let mut queue = chunks();
            drop_front(&mut queue, n);
            assert_eq!(queue.make_contiguous().concat(), rest.as_bytes(), "after {n}");
        }
    }
}
