//! One client's socket: read into frames, written in gathers, ended.

#![expect(clippy::disallowed_types, reason = "this is where clients' sockets are kept")]

use std::collections::VecDeque;
use std::future::Future;
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use kmirror_proto::FrameBuffer;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;

use super::limits::{CHUNKS_PER_WRITE, LARGE_FRAME_BYTES};

/// A client's socket.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    frame_bytes_max: usize,
    incoming: FrameBuffer,
    outgoing: VecDeque<Bytes>,
    outgoing_bytes: usize,
    shut: bool,
}

/// What comes from a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A frame, without its prefix.
    Frame(Bytes),
    /// The client ends the connection in order; all that it sent before has been read.
    End,
    /// The connection is broken.
    Broken,
    /// What comes is no frame, or one that is too long: nothing further can be read.
    Refused,
}

impl Socket {
    /// Longer frames are none.
    pub(super) fn new(stream: TcpStream, frame_bytes_max: usize) -> Self {
        // Without it answers wait for the client's acknowledgements; a socket that refuses it is about to fail anyway.
        let _ = SockRef::from(&stream).set_tcp_nodelay(true);
        let incoming = FrameBuffer::new(frame_bytes_max);
        Self { stream, frame_bytes_max, incoming, outgoing: VecDeque::new(), outgoing_bytes: 0, shut: false }
    }

    /// Bytes that wait to be written.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.outgoing_bytes
    }

    /// Puts bytes behind those that wait to be written.
    pub(super) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.outgoing_bytes += chunk.len();
            self.outgoing.push_back(chunk);
        }
    }

    /// The next frame, or the end. Reads no more than one frame ahead and what came with it.
    pub(super) fn poll_incoming(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            match self.incoming.next_frame() {
                Ok(Some(frame)) => return Poll::Ready(Incoming::Frame(self.alone(frame))),
                Ok(None) => {}
                Err(_) => return Poll::Ready(Incoming::Refused),
            }
            let missing = self.incoming.missing().ok().flatten();
            let buffer = self.incoming.space();
            // Of a large frame exactly the rest: what is read behind it would share its buffer.
            let limit = missing.filter(|missing| buffer.len() + missing > LARGE_FRAME_BYTES).unwrap_or(usize::MAX);
            let mut space = buffer.limit(limit);
            match ready!(pin!(self.stream.read_buf(&mut space)).poll(cx)) {
                Ok(0) => return Poll::Ready(Incoming::End),
                Ok(_) => {}
                Err(_) => return Poll::Ready(Incoming::Broken),
            }
        }
    }

    /// A large frame has its buffer for itself, so that a log can keep records where they were read.
    fn alone(&mut self, frame: Bytes) -> Bytes {
        if frame.len() > LARGE_FRAME_BYTES && self.incoming.space().is_empty() {
            self.incoming = FrameBuffer::new(self.frame_bytes_max);
        }
        frame
    }

    /// Writes what waits, as far as the kernel takes it. `Ready` when nothing waits, or the connection is broken.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        while !self.outgoing.is_empty() {
            let mut slices = [IoSlice::new(&[]); CHUNKS_PER_WRITE];
            let mut used = 0;
            for (slice, chunk) in slices.iter_mut().zip(&self.outgoing) {
                *slice = IoSlice::new(chunk);
                used += 1;
            }
            let slices = slices.get(..used).unwrap_or_default();
            match ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices)) {
                Ok(0) | Err(_) => return Poll::Ready(Err(Broken)),
                Ok(written) => self.drop_front(written),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what waits, says that no more will come, and reads on until the client has ended its half too: a socket
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
            // What was announced and will not be taken needs no room.
            self.incoming = FrameBuffer::new(0);
        }
        loop {
            self.incoming.space().clear();
            match ready!(pin!(self.stream.read_buf(self.incoming.space())).poll(cx)) {
                Ok(0) | Err(_) => return Poll::Ready(()),
                Ok(_) => {}
            }
        }
    }

    /// Makes its end, which has to follow, an abrupt one: what waits is dropped, here and in the kernel, and the client
    /// sees a reset.
    pub(super) fn reset_at_end(&self) {
        // If this fails the socket is in no state to be reset, and is gone anyway.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// Takes `n` bytes off the front of the queue.
    fn drop_front(&mut self, mut n: usize) {
        self.outgoing_bytes = self.outgoing_bytes.saturating_sub(n);
        while let Some(first) = self.outgoing.front_mut() {
            if first.len() > n {
                first.advance(n);
                return;
            }
            n -= first.len();
            self.outgoing.pop_front();
        }
    }
}

/// The client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;
