//! The loop between sockets and the cluster.
//!
//! ```text
//! turn:  accept ─► read, one request of a connection at a time ─► Cluster::receive
//!        whatever is due ─► Cluster::advance
//!        Cluster::poll_output ─► sockets' queues; gates follow the brokers ─► write
//! ```
//! Turns are taken until one changes nothing; then the task sleeps until a socket, the cluster's next time, or the
//! server's owner wakes it.

#![expect(clippy::disallowed_methods, reason = "this is where timers are set")]

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Sleep, sleep, sleep_until};

use super::Shared;
use super::clock::Clock;
use super::gate::Gate;
use super::limits::{ACCEPTS_PER_TURN, CLOSE_TIMEOUT, FRAMES_PER_TURN, TURNS_BEFORE_YIELD, WAITING_BYTES_MAX};
use super::socket::{Incoming, Socket};
use crate::cluster::{Cluster, ConnectionId, Output};
use crate::{NodeId, Now};

/// A cluster and its sockets.
#[derive(Debug)]
pub(super) struct Front {
    cluster: Arc<Shared>,
    clock: Clock,
    gates: BTreeMap<NodeId, Gate>,
    sockets: BTreeMap<ConnectionId, Socket>,
    /// Connections that the broker closes, each with the time that it is given.
    ending: Vec<(Socket, Pin<Box<Sleep>>)>,
    attention: UnboundedReceiver<mpsc::Sender<()>>,
    alarm: Option<(Duration, Pin<Box<Sleep>>)>,
}

impl Front {
    pub(super) fn new(
        cluster: Arc<Shared>,
        clock: Clock,
        gates: BTreeMap<NodeId, Gate>,
        attention: UnboundedReceiver<mpsc::Sender<()>>,
    ) -> Self {
        Self { cluster, clock, gates, sockets: BTreeMap::new(), ending: Vec::new(), attention, alarm: None }
    }

    /// Serves until the server is dropped.
    pub(super) async fn serve(mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..TURNS_BEFORE_YIELD {
            match self.turn(cx) {
                Turn::Over => return Poll::Ready(()),
                Turn::Busy => {}
                Turn::Idle => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn turn(&mut self, cx: &mut Context<'_>) -> Turn {
        let mut told = Vec::new();
        loop {
            match self.attention.poll_recv(cx) {
                Poll::Ready(Some(tell)) => told.push(tell),
                Poll::Ready(None) => return Turn::Over,
                Poll::Pending => break,
            }
        }
        let cluster = Arc::clone(&self.cluster);
        let mut cluster = cluster.lock();
        let now = self.clock.now();
        // What the owner did first: an answer has to be with its socket before that is found at its end.
        let mut busy = self.put_out(cx, &mut cluster);
        busy |= self.accept(cx, &mut cluster, now);
        busy |= self.read(cx, &mut cluster, now);
        busy |= self.expire(cx, &mut cluster, now);
        busy |= self.put_out(cx, &mut cluster);
        self.follow(&cluster);
        busy |= self.write(cx, &mut cluster, now);
        drop(cluster);
        self.poll_ending(cx);
        busy |= !told.is_empty();
        for tell in told {
            // Whoever asked may have given up.
            let _ = tell.send(());
        }
        if busy { Turn::Busy } else { Turn::Idle }
    }

    fn accept(&mut self, cx: &mut Context<'_>, cluster: &mut Cluster, now: Now) -> bool {
        let mut busy = false;
        for (node, gate) in &self.gates {
            for _ in 0..ACCEPTS_PER_TURN {
                let Poll::Ready(stream) = gate.poll_accept(cx) else { break };
                busy = true;
                let socket = Socket::new(stream, cluster.settings.request_bytes_max);
                match cluster.connect(now, *node) {
                    Some(id) => {
                        self.sockets.insert(id, socket);
                    }
                    None => socket.reset_at_end(),
                }
            }
        }
        busy
    }

    fn read(&mut self, cx: &mut Context<'_>, cluster: &mut Cluster, now: Now) -> bool {
        let mut busy = false;
        let ids: Vec<ConnectionId> = self.sockets.keys().copied().collect();
        for id in ids {
            for _ in 0..FRAMES_PER_TURN {
                let Poll::Ready(incoming) = self.poll_incoming(cx, cluster, id) else { break };
                busy = true;
                match incoming {
                    Incoming::Frame(frame) => cluster.receive(now, id, frame),
                    Incoming::Broken => {
                        self.sockets.remove(&id);
                        cluster.reset(now, id);
                    }
                    Incoming::End | Incoming::Refused => {
                        self.end(id);
                        cluster.disconnect(now, id);
                    }
                }
                self.put_out(cx, cluster);
            }
        }
        busy
    }

    /// What a connection brings, if the broker would look at it: it has answered what it was asked before, and most of
    /// the answers are on their way.
    fn poll_incoming(&mut self, cx: &mut Context<'_>, cluster: &Cluster, id: ConnectionId) -> Poll<Incoming> {
        match self.sockets.get_mut(&id) {
            Some(socket) if socket.waiting_bytes() < WAITING_BYTES_MAX && cluster.is_idle(id) => {
                socket.poll_incoming(cx)
            }
            Some(_) | None => Poll::Pending,
        }
    }

    /// Lets the cluster do what is due, or sets the alarm for the next that will be.
    fn expire(&mut self, cx: &mut Context<'_>, cluster: &mut Cluster, now: Now) -> bool {
        let Some(due) = cluster.poll_timeout() else {
            self.alarm = None;
            return false;
        };
        if due <= now.elapsed {
            cluster.advance(now);
            return true;
        }
        let at = self.clock.instant(due);
        let (wanted, alarm) = self.alarm.get_or_insert_with(|| (due, Box::pin(sleep_until(at))));
        if *wanted != due {
            *wanted = due;
            alarm.as_mut().reset(at);
        }
        if alarm.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.alarm = None;
        true
    }

    fn put_out(&mut self, cx: &mut Context<'_>, cluster: &mut Cluster) -> bool {
        let mut busy = false;
        while let Some(output) = cluster.poll_output() {
            busy = true;
            match output {
                Output::Frame(id, frame) => {
                    if let Some(socket) = self.sockets.get_mut(&id) {
                        frame.into_chunks().into_iter().for_each(|chunk| socket.push(chunk));
                    }
                }
                Output::Bytes(id, bytes) => {
                    if let Some(socket) = self.sockets.get_mut(&id) {
                        socket.push(bytes);
                    }
                }
                Output::Close(id) => self.end(id),
                Output::Reset(id) => {
                    if let Some(mut socket) = self.sockets.remove(&id) {
                        // As much as the kernel takes at once; what it then has not passed on is lost.
                        let _ = socket.poll_write(cx);
                        socket.reset_at_end();
                    }
                }
            }
        }
        busy
    }

    /// Ports are open where brokers run. One that the system does not give back stays shut, and is tried again with the
    /// next turn.
    fn follow(&mut self, cluster: &Cluster) {
        for (node, gate) in &mut self.gates {
            let _ = gate.follow(cluster.is_running(*node));
        }
    }

    fn write(&mut self, cx: &mut Context<'_>, cluster: &mut Cluster, now: Now) -> bool {
        let mut broken = Vec::new();
        let mut busy = false;
        for (id, socket) in &mut self.sockets {
            let full = socket.waiting_bytes() >= WAITING_BYTES_MAX;
            if let Poll::Ready(Err(_)) = socket.poll_write(cx) {
                broken.push(*id);
            }
            // What was read together with an earlier request can be taken up now.
            busy |= full && socket.waiting_bytes() < WAITING_BYTES_MAX;
        }
        for id in &broken {
            self.sockets.remove(id);
            cluster.reset(now, *id);
        }
        busy || !broken.is_empty()
    }

    /// Closes a connection once what waits is written.
    fn end(&mut self, id: ConnectionId) {
        if let Some(socket) = self.sockets.remove(&id) {
            self.ending.push((socket, Box::pin(sleep(CLOSE_TIMEOUT))));
        }
    }

    fn poll_ending(&mut self, cx: &mut Context<'_>) {
        self.ending.retain_mut(|(socket, deadline)| {
            if deadline.as_mut().poll(cx).is_ready() {
                socket.reset_at_end();
                return false;
            }
            socket.poll_end(cx).is_pending()
        });
    }
}

/// What a turn has come to.
enum Turn {
    /// Something has changed.
    Busy,
    /// Nothing has: all wait for news.
    Idle,
    /// The server is no more.
    Over,
}
