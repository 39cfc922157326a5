//! The machine: metadata, then one request to each leader, then what is left again until all is known.
//!
//! ```text
//!             metadata                     a leader                    an offset, or none
//!  (nothing) ──────────► Wanted ──────────────────────────► Asked ──────────────────────────► Found
//!                          ▲ │ no leader for LEADER_PATIENCE, │ an error that stays
//!                          │ └────────► Skipped ◄─────────────┤
//!                          └──────────────────────────────────┘ no answer, or an error that passes: after a pause
//! ```
//! Asking twice is harmless, so a call of unknown outcome is simply made again.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use kmirror_proto::messages::{AnyRequest, AnyResponse, ListOffsetsResponse, ListedOffset};

use super::{Listing, OffsetsError, OffsetsQuery, PartitionOffset, SkippedPartition};
use crate::client::{
    CallError, CallId, CallOptions, Client, ClientEvent, NetAction, NetEvent, Node, Reply, list_offsets,
};
use crate::clock::{Now, Tick, earliest};
use crate::config::{ClusterConfig, Side};
use crate::machine::Machine;

/// How long a partition may be without a leader before the others are listed without it.
const LEADER_PATIENCE: Duration = Duration::from_secs(10);

/// The shortest pause before a partition is asked about again.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(20);

/// The highest version that we speak.
const VERSION_MAX: i16 = 8;

/// The brokers' own topics by name: Metadata v0 does not say which are internal.
const INTERNAL: [&str; 3] = ["__consumer_offsets", "__share_group_state", "__transaction_state"];

type Key = (String, i32);

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Wanted,
    Asked,
    Found(Option<i64>),
    Skipped(String),
}

/// Lists offsets. Driven as every [`Machine`]; what it found is what is left of it.
#[derive(Debug)]
pub struct Offsets {
    client: Client,
    query: OffsetsQuery,
    request_timeout: Duration,
    connect_timeout: Duration,
    pause: Duration,
    began: Option<Tick>,
    connected: bool,
    /// Why the last attempt of anything failed.
    failure: String,
    /// `None` until the metadata is there.
    partitions: Option<BTreeMap<Key, State>>,
    calls: BTreeMap<CallId, Vec<Key>>,
    /// Nothing is asked before.
    paused_until: Tick,
    /// Set once, at the end.
    outcome: Option<Result<Listing, OffsetsError>>,
}

impl Offsets {
    /// A query of a cluster. `seed` decides the jitter of its connections and nothing else.
    #[must_use]
    pub fn new(cluster: &ClusterConfig, query: OffsetsQuery, seed: u64) -> Self {
        Self {
            client: Client::new(Side::Source, cluster, seed),
            query,
            request_timeout: cluster.request_timeout,
            connect_timeout: cluster.connect_timeout,
            pause: cluster.retry_backoff.max(RETRY_PAUSE_MIN),
            began: None,
            connected: false,
            failure: "no broker has answered yet".to_owned(),
            partitions: None,
            calls: BTreeMap::new(),
            paused_until: Tick::ZERO,
            outcome: None,
        }
    }

    /// What came of it, once [`is_finished`](Machine::is_finished).
    ///
    /// # Errors
    ///
    /// [`OffsetsError`]; that the cluster was not reached, if it is not finished.
    pub fn into_outcome(self) -> Result<Listing, OffsetsError> {
        self.outcome.unwrap_or(Err(OffsetsError::Unreachable(self.failure)))
    }

    fn turn(&mut self, now: Now) {
        let began = *self.began.get_or_insert(now.tick);
        while let Some(event) = self.client.poll_event() {
            self.event(event);
        }
        while let Some(reply) = self.client.poll_reply() {
            self.reply(now, reply);
        }
        if self.outcome.is_some() {
            return;
        }
        if self.partitions.is_none() && self.client.metadata().generation > 0 {
            self.select(now);
        }
        let out_of_time = now.tick >= began.after(self.query.timeout);
        let out_of_reach = !self.connected && now.tick >= began.after(self.connect_timeout);
        if self.partitions.is_none() && (out_of_time || out_of_reach) {
            self.end(now, Err(OffsetsError::Unreachable(self.failure.clone())));
        } else if out_of_time {
            self.skip_rest();
        } else if now.tick >= self.paused_until && self.has(&State::Wanted) {
            self.ask(now, began);
        }
        self.finish(now);
    }

    fn event(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Connected { .. } => self.connected = true,
            ClientEvent::ConnectFailed { address, reason, .. } | ClientEvent::Disconnected { address, reason, .. } => {
                self.failure = format!("{address}: {reason}");
            }
            ClientEvent::MetadataRejected { reason } => self.failure = plain(&reason),
            ClientEvent::MetadataUpdated { .. } | ClientEvent::Throttled { .. } => {}
        }
    }

    fn has(&self, state: &State) -> bool {
        self.partitions.as_ref().is_some_and(|partitions| partitions.values().any(|other| other == state))
    }

    /// The partitions of the query, once the metadata is there.
    fn select(&mut self, now: Now) {
        let mut selected = BTreeMap::new();
        for (name, topic) in &self.client.metadata().topics {
            if self.query.exclude_internal && (topic.internal || INTERNAL.contains(&name.as_str())) {
                continue;
            }
            let taken = topic.partitions.keys().filter(|&&partition| self.query.takes(name, partition));
            selected.extend(taken.map(|&partition| ((name.clone(), partition), State::Wanted)));
        }
        if selected.is_empty() {
            self.end(now, Err(OffsetsError::NothingMatches));
        }
        self.partitions = Some(selected);
    }

    /// One request to each leader for all that is wanted of it.
    fn ask(&mut self, now: Now, began: Tick) {
        let mut by_leader: BTreeMap<i32, Vec<Key>> = BTreeMap::new();
        let mut leaderless = false;
        for (key, state) in self.partitions.iter_mut().flatten() {
            if *state != State::Wanted {
                continue;
            }
            match self.client.metadata().leader(&key.0, key.1) {
                Some(leader) => {
                    *state = State::Asked;
                    by_leader.entry(leader).or_default().push(key.clone());
                }
                None if now.tick >= began.after(LEADER_PATIENCE) => {
                    *state = State::Skipped("it has no leader".to_owned());
                }
                None => leaderless = true,
            }
        }
        if leaderless {
            self.again(now);
        }
        let versions = (self.query.time.version_min(), VERSION_MAX);
        for (leader, keys) in by_leader {
            let options = CallOptions::within(self.request_timeout).versions(versions.0, versions.1);
            let call = self.client.call(now, Node::Id(leader), self.request(&keys), options);
            self.calls.insert(call, keys);
        }
    }

    fn request(&self, keys: &[Key]) -> AnyRequest {
        let partitions = keys.iter().map(|(name, partition)| (name.as_str(), *partition));
        list_offsets(partitions, self.query.time.timestamp(), 0).into()
    }

    fn reply(&mut self, now: Now, reply: Reply) {
        let Some(keys) = self.calls.remove(&reply.call) else { return };
        match reply.outcome {
            Ok(AnyResponse::ListOffsets(answer)) => self.answer(now, &keys, answer),
            Ok(_) => self.want_again(now, &keys, "an answer to another request"),
            Err(CallError::NotSent(reason) | CallError::Unknown(reason)) => self.want_again(now, &keys, &reason),
            Err(error @ CallError::Unsupported { .. }) => {
                let broker = plain(&error.to_string());
                self.end(now, Err(OffsetsError::Unsupported { broker, advice: self.query.time.advice() }));
            }
        }
    }

    /// Takes what was asked for out of an answer, and nothing else; what it leaves out is asked for again.
    fn answer(&mut self, now: Now, keys: &[Key], answer: ListOffsetsResponse) {
        let mut listed: BTreeMap<Key, ListedOffset> = BTreeMap::new();
        for topic in answer.topics {
            listed
                .extend(topic.partitions.into_iter().map(|found| ((topic.name.clone(), found.partition_index), found)));
        }
        let mut again = None;
        for key in keys {
            let state = match listed.get(key) {
                None => {
                    again = Some("the answer leaves it out".to_owned());
                    State::Wanted
                }
                Some(found) if found.error_code.is_ok() => State::Found((found.offset >= 0).then_some(found.offset)),
                Some(found) if found.error_code.is_retriable() => {
                    again = Some(found.error_code.to_string());
                    State::Wanted
                }
                Some(found) => State::Skipped(found.error_code.to_string()),
            };
            self.set(key, state);
        }
        if let Some(reason) = again {
            self.failure = reason;
            self.again(now);
        }
    }

    fn want_again(&mut self, now: Now, keys: &[Key], reason: &str) {
        for key in keys {
            self.set(key, State::Wanted);
        }
        self.failure = plain(reason);
        self.again(now);
    }

    /// A new view of the cluster and a pause, before what is still wanted is asked for again.
    fn again(&mut self, now: Now) {
        self.client.refresh_metadata(now);
        self.paused_until = now.after(self.pause);
    }

    fn set(&mut self, key: &Key, state: State) {
        if let Some(known) = self.partitions.as_mut().and_then(|partitions| partitions.get_mut(key)) {
            *known = state;
        }
    }

    /// Gives up on what has no answer yet.
    fn skip_rest(&mut self) {
        for state in self.partitions.iter_mut().flat_map(BTreeMap::values_mut) {
            if matches!(state, State::Wanted | State::Asked) {
                *state = State::Skipped(self.failure.clone());
            }
        }
    }

    /// Ends once nothing is open.
    fn finish(&mut self, now: Now) {
        if self.outcome.is_some() || self.partitions.is_none() || self.has(&State::Wanted) || self.has(&State::Asked) {
            return;
        }
        let mut listing = Listing::default();
        for ((topic, partition), state) in self.partitions.take().into_iter().flatten() {
            match state {
                State::Found(offset) => listing.offsets.push(PartitionOffset { topic, partition, offset }),
                State::Skipped(reason) => {
                    listing.skipped.push(SkippedPartition { topic, partition, reason });
                }
                State::Wanted | State::Asked => {}
            }
        }
        self.end(now, Ok(listing));
    }

    fn end(&mut self, now: Now, outcome: Result<Listing, OffsetsError>) {
        if self.outcome.is_none() {
            self.outcome = Some(outcome);
            self.client.close(now);
        }
    }
}

impl Machine for Offsets {
    /// Nobody has a say.
    type Command = Infallible;
    /// Nothing is told before the end.
    type Report = Infallible;

    fn handle_net(&mut self, now: Now, _side: Side, event: NetEvent) {
        self.client.handle_net(now, event);
        self.turn(now);
    }

    fn handle_command(&mut self, _now: Now, command: Infallible) {
        match command {}
    }

    fn handle_timeout(&mut self, now: Now) {
        self.client.handle_timeout(now);
        self.turn(now);
    }

    fn poll_net(&mut self) -> Option<(Side, NetAction)> {
        self.client.poll_net().map(|action| (Side::Source, action))
    }

    fn poll_report(&mut self) -> Option<Infallible> {
        None
    }

    fn poll_timeout(&self) -> Option<Tick> {
        if self.outcome.is_some() {
            return None;
        }
        let Some(began) = self.began else { return Some(Tick::ZERO) };
        let mut wake = earliest(self.client.poll_timeout(), Some(began.after(self.query.timeout)));
        if !self.connected {
            wake = earliest(wake, Some(began.after(self.connect_timeout)));
        }
        if self.has(&State::Wanted) { earliest(wake, Some(self.paused_until)) } else { wake }
    }

    fn is_finished(&self) -> bool {
        self.outcome.is_some()
    }
}

/// Clients name brokers by their side of a mirror, and here is only one cluster.
fn plain(text: &str) -> String {
    text.strip_prefix("source ").unwrap_or(text).to_owned()
}
