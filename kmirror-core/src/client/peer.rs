//! One broker as the client reaches it: its address, the calls that wait for it, and when to try again.

use std::collections::VecDeque;
use std::time::Duration;

use super::backoff::Backoff;
use super::call::Waiting;
use super::transport::ConnId;
use super::versions::{ApiRanges, NEWEST};
use crate::clock::{Now, Tick};

/// The node id of the bootstrap addresses, which are one peer with several addresses.
pub(super) const BOOTSTRAP: i32 = -1;

/// A broker, or the bootstrap addresses.
#[derive(Debug)]
pub(super) struct Peer {
    /// Never empty; tried in turn.
    addresses: Vec<(String, u16)>,
    turn: usize,
    /// The connection that calls go over, in whatever state.
    pub(super) conn: Option<ConnId>,
    /// In the order in which they were made.
    pub(super) waiting: VecDeque<Waiting>,
    /// What the broker spoke when it was last asked.
    pub(super) versions: Option<ApiRanges>,
    /// The version at which the next connection asks for versions.
    pub(super) first_version: i16,
    /// No connection attempt before.
    pub(super) retry_at: Tick,
    /// The last connection attempt.
    pub(super) tried_at: Option<Tick>,
    backoff: Backoff,
}

impl Peer {
    /// Not connected, and free to be.
    pub(super) fn new(addresses: Vec<(String, u16)>, backoff: Backoff) -> Self {
        Self {
            addresses,
            turn: 0,
            conn: None,
            waiting: VecDeque::new(),
            versions: None,
            first_version: NEWEST,
            retry_at: Tick::ZERO,
            tried_at: None,
            backoff,
        }
    }

    /// Where the next connection goes, or the present one went.
    pub(super) fn address(&self) -> (&str, u16) {
        self.addresses.get(self.turn).map_or(("", 0), |(host, port)| (host, *port))
    }

    /// How many addresses it has.
    pub(super) fn addresses(&self) -> usize {
        self.addresses.len()
    }

    /// The broker is at this address from now on. Returns whether that is another one; then the way to it is free.
    pub(super) fn moves_to(&mut self, host: &str, port: u16) -> bool {
        if self.address() == (host, port) {
            return false;
        }
        (self.addresses, self.turn) = (vec![(host.to_owned(), port)], 0);
        self.retry_at = Tick::ZERO;
        self.first_version = NEWEST;
        self.backoff.reset();
        true
    }

    /// A connection attempt failed. The next address is next; after a whole round there is a pause.
    pub(super) fn failed(&mut self, now: Now, rng: &mut fastrand::Rng) {
        self.conn = None;
        self.first_version = NEWEST;
        self.turn += 1;
        if self.turn >= self.addresses.len() {
            self.turn = 0;
            self.retry_at = now.after(self.backoff.next(rng));
        }
    }

    /// A connection that was ready for `lived` is gone. Only one that lived longer than the longest pause proves that
    /// the broker is well: a broker that takes connections and drops them must not be called in a tight loop.
    pub(super) fn lost(&mut self, now: Now, lived: Duration, rng: &mut fastrand::Rng) {
        self.conn = None;
        if lived > self.backoff.max() {
            self.backoff.reset();
        }
        self.retry_at = now.after(self.backoff.next(rng));
    }
}

/// `host:port` as it is written: an IPv6 address in brackets.
pub(super) fn address_text(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Now {
        Now { tick: Tick(ms * 1_000_000), unix_ms: 0 }
    }

    fn backoff() -> Backoff {
        Backoff::new(Duration::from_millis(50), Duration::from_secs(1))
    }

    #[test]
    fn bootstrap_addresses_are_tried_in_turn_and_the_pause_comes_after_the_round() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut peer = Peer::new(vec![("a".to_owned(), 1), ("b".to_owned(), 2)], backoff());
        assert_eq!(peer.address(), ("a", 1));
        peer.failed(at(0), &mut rng);
        assert_eq!((peer.address(), peer.retry_at), (("b", 2), Tick::ZERO));
        peer.failed(at(0), &mut rng);
        assert_eq!(peer.address(), ("a", 1));
        assert!(peer.retry_at >= at(40).tick);
    }

    #[test]
    fn a_broker_that_drops_each_connection_is_called_more_and_more_rarely() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut peer = Peer::new(vec![("a".to_owned(), 1)], backoff());
        for _ in 0..8 {
            peer.lost(at(0), Duration::from_millis(3), &mut rng);
        }
        assert!(peer.retry_at >= at(800).tick);
        peer.lost(at(0), Duration::from_secs(5), &mut rng);
        assert!(peer.retry_at <= at(60).tick, "a long life is a new beginning");
    }

    #[test]
    fn a_new_address_is_free_at_once() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut peer = Peer::new(vec![("a".to_owned(), 1)], backoff());
        peer.failed(at(0), &mut rng);
        assert!(!peer.moves_to("a", 1));
        assert_ne!(peer.retry_at, Tick::ZERO);
        assert!(peer.moves_to("a", 2));
        assert_eq!((peer.address(), peer.retry_at), (("a", 2), Tick::ZERO));
    }

    #[test]
    fn addresses_are_written_as_urls_have_them() {
        assert_eq!(address_text("broker-1.example", 9092), "broker-1.example:9092");
        assert_eq!(address_text("fe80::1", 9092), "[fe80::1]:9092");
    }
}
