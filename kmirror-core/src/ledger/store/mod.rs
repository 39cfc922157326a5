//! The ledger's topic: found or created, read to its end, and written one batch at a time.
//!
//! ```text
//! Find ──► Create ──► Find …        (0.10.0 has no CreateTopics: there asking for its name creates it)
//!   │
//!   ▼
//! Bounds ─► Read ─► has an id, or the target keeps none ──► Ready ⇄ Writing
//!             ▲          │ no
//!             └─ Append ◄┴─ Identify (InitProducerId)
//! ```
//! Two workers that begin at once both append an id; both read up to their own entry, and take the first one in the log
//! (rule P1).

mod asking;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{AnyResponse, InitProducerIdRequest};

use super::entry::{LedgerEntry, Slot};
use super::state::Ledger;
use crate::client::{CallError, CallId, Client, EARLIEST, LATEST, Node, Reply};
use crate::clock::{Now, Tick};
use crate::limits;

/// The ledger topic of the mirror `name`.
#[must_use]
pub fn topic_name(name: &str) -> String {
    format!("kmirror.{name}.ledger")
}

/// What the store has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreEvent {
    /// Read to its end, and every wanted producer id is agreed: [`Store::ledger`] is what it says. Told again after
    /// each [`Store::want_id`].
    Ready,
    /// These entries are acknowledged by every replica.
    Stored(Vec<LedgerEntry>),
    /// The slot's producer id that [`Store::want_id`] asked for is agreed.
    Identified(Slot),
    /// Something has to be tried again.
    Delayed(String),
    /// It cannot be used.
    Failed(String),
}

/// The ledger's topic.
#[derive(Debug)]
pub struct Store {
    topic: String,
    timeout: Duration,
    backoff: Duration,
    step: Step,
    call: Option<CallId>,
    retry_at: Tick,
    tries: u32,
    /// The brokers have no CreateTopics (0.10.0): they create a topic when they are asked for its name.
    by_name: bool,
    ledger: Ledger,
    log_end: i64,
    position: i64,
    /// Whose producer ids are wanted; the first one is being agreed on.
    slots: VecDeque<Slot>,
    /// The newest entry per key that waits, in the order in which it was first put; and their keys.
    pending: VecDeque<LedgerEntry>,
    waiting: BTreeSet<String>,
    writing: Vec<LedgerEntry>,
    events: VecDeque<StoreEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Find,
    Create,
    Start,
    End,
    Read,
    Identify,
    Append,
    Ready,
    Failed,
}

impl Store {
    /// The store of the mirror `name`.
    #[must_use]
    pub fn new(name: &str, timeout: Duration, backoff: Duration) -> Self {
        Self {
            topic: topic_name(name),
            timeout,
            backoff,
            step: Step::Find,
            call: None,
            retry_at: Tick::ZERO,
            tries: 0,
            by_name: false,
            ledger: Ledger::default(),
            log_end: 0,
            position: 0,
            slots: VecDeque::from([Slot::Exclusive]),
            pending: VecDeque::new(),
            waiting: BTreeSet::new(),
            writing: Vec::new(),
            events: VecDeque::new(),
        }
    }

    /// The topic's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// What it says, once [`StoreEvent::Ready`] was told.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether nothing waits to be written.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.writing.is_empty()
    }

    /// A producer id is wanted for `slot`; [`StoreEvent::Identified`] tells when there is one.
    pub fn want_id(&mut self, slot: Slot) {
        if !self.slots.contains(&slot) {
            self.slots.push_back(slot);
        }
    }

    /// An entry to be stored; one that waits under the same key is replaced.
    pub fn put(&mut self, entry: LedgerEntry) {
        let key = entry.key();
        if self.waiting.insert(key.clone()) {
            self.pending.push_back(entry);
        } else if let Some(waiting) = self.pending.iter_mut().find(|waiting| waiting.key() == key) {
            *waiting = entry;
        }
    }

    /// What there is to say.
    pub fn poll_event(&mut self) -> Option<StoreEvent> {
        self.events.pop_front()
    }

    /// When to call [`Store::advance`] again at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Tick> {
        let idle = self.step == Step::Ready && self.is_idle() && self.slots.is_empty();
        (self.call.is_none() && !idle && self.step != Step::Failed).then_some(self.retry_at)
    }

    /// Asks the next question, if none is out and it is time.
    pub fn advance(&mut self, now: Now, client: &mut Client) {
        if self.call.is_some() || self.retry_at > now.tick || client.metadata().generation == 0 {
            return;
        }
        let node = self.leader(client);
        match (self.step, node) {
            (Step::Find, Some(_)) => {
                self.tries = 0;
                self.step = Step::Start;
                self.advance(now, client);
            }
            (Step::Find, None) => self.create(now, client),
            (Step::Identify, _) => {
                let request = InitProducerIdRequest {
                    transactional_id: None,
                    transaction_timeout_ms: i32::MAX,
                    ..InitProducerIdRequest::default()
                };
                self.ask(now, client, Node::Any, request.into(), 0, i16::MAX);
            }
            (Step::Start | Step::End | Step::Read | Step::Append | Step::Ready, None) => {
                client.refresh_metadata(now);
                self.later(now, &format!("{} has no leader", self.topic));
            }
            (Step::Start, Some(node)) => self.ask_offset(now, client, node, EARLIEST),
            (Step::End, Some(node)) => self.ask_offset(now, client, node, LATEST),
            (Step::Read, Some(node)) => self.ask_records(now, client, node),
            (Step::Append, Some(node)) => self.write(now, client, node),
            (Step::Ready, Some(node)) => {
                if !self.slots.is_empty() {
                    self.next_slot();
                    self.advance(now, client);
                } else if !self.is_idle() {
                    self.write(now, client, node);
                }
            }
            (Step::Create | Step::Failed, _) => {}
        }
    }

    /// Takes a reply; `false` if it is not to one of the store's questions.
    pub fn handle_reply(&mut self, now: Now, client: &mut Client, reply: &Reply) -> bool {
        if self.call != Some(reply.call) {
            return false;
        }
        self.call = None;
        match &reply.outcome {
            Err(CallError::Unsupported { .. }) if self.step == Step::Identify => {
                self.slots.clear();
                self.ready();
            }
            Err(CallError::Unsupported { .. }) if self.step == Step::Create && !self.by_name => {
                self.by_name = true;
                self.step = Step::Find;
            }
            Err(error @ CallError::Unsupported { .. }) => self.fail(&error.to_string()),
            Err(error) => {
                self.take_back();
                // Whether the topic was created is seen in the metadata, never assumed.
                if self.step == Step::Create {
                    self.step = Step::Find;
                    client.refresh_metadata(now);
                }
                self.later(now, &error.to_string());
            }
            Ok(response) => self.take(now, client, response),
        }
        self.advance(now, client);
        true
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else there is, it was not asked for")]
    fn take(&mut self, now: Now, client: &mut Client, response: &AnyResponse) {
        match response {
            AnyResponse::CreateTopics(response) => {
                let created = response.topics.first();
                let code = created.map_or(ErrorCode::UNKNOWN_SERVER_ERROR, |topic| topic.error_code);
                let message = created.and_then(|topic| topic.error_message.clone()).unwrap_or_default();
                self.created(now, client, code, &message);
            }
            AnyResponse::Metadata(_) => {
                self.step = Step::Find;
                client.refresh_metadata(now);
                let why = "is not there yet: 0.10.0 creates topics only with auto.create.topics.enable=true";
                self.later(now, &format!("{} {why}", self.topic));
            }
            AnyResponse::ListOffsets(response) => {
                let listed = response.topics.first().and_then(|topic| topic.partitions.first());
                match listed {
                    Some(listed) if listed.error_code.is_ok() => self.bound(listed.offset),
                    Some(listed) => self.refused(now, client, listed.error_code),
                    None => self.refused(now, client, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
                }
            }
            AnyResponse::Fetch(response) => {
                let fetched = response.topics.first().and_then(|topic| topic.partitions.first());
                match fetched {
                    Some(fetched) if fetched.error_code.is_ok() => {
                        self.read(now, client, fetched.records.clone().unwrap_or_default());
                    }
                    Some(fetched) => self.refused(now, client, fetched.error_code),
                    None => self.refused(now, client, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
                }
            }
            AnyResponse::InitProducerId(response) => {
                if response.error_code.is_ok() {
                    let slot = self.slots.front().copied().unwrap_or(Slot::Exclusive);
                    self.put_first(LedgerEntry::Id { slot, id: response.producer_id });
                    self.step = Step::Append;
                } else {
                    self.refused(now, client, response.error_code);
                }
            }
            AnyResponse::Produce(response) => {
                let produced = response.topics.first().and_then(|topic| topic.partitions.first());
                match produced {
                    Some(produced) if produced.error_code.is_ok() => self.written(produced.base_offset),
                    Some(produced) => self.refused(now, client, produced.error_code),
                    None => self.refused(now, client, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
                }
            }
            _ => self.fail("an answer to another question"),
        }
    }

    /// A broker said no.
    fn refused(&mut self, now: Now, client: &mut Client, code: ErrorCode) {
        self.take_back();
        client.refresh_metadata(now);
        // A cluster that has just begun answers -1 or 14 for a moment (measured).
        let passing = code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR;
        let text = format!("{}: {code}", self.topic);
        if passing {
            self.later(now, &text);
        } else {
            self.fail(&text);
        }
    }

    fn created(&mut self, now: Now, client: &mut Client, code: ErrorCode, message: &str) {
        self.step = Step::Find;
        client.refresh_metadata(now);
        if code.is_ok() {
            // Long enough for the metadata to be asked for again.
            self.retry_at = now.after(self.backoff.saturating_mul(2));
        } else if code == ErrorCode::TOPIC_ALREADY_EXISTS {
            self.later(now, &format!("{} has no leader", self.topic));
        } else if code.is_retriable()
            || code == ErrorCode::UNKNOWN_SERVER_ERROR
            || code == ErrorCode::INVALID_REPLICATION_FACTOR
        {
            // Brokers that have just begun are not counted yet.
            self.later(now, &format!("{} cannot be created yet: {code} {message}", self.topic));
        } else {
            self.fail(&format!("{} cannot be created: {code} {message}", self.topic));
        }
    }

    fn bound(&mut self, offset: i64) {
        if self.step == Step::Start {
            self.position = self.position.max(offset);
            self.step = Step::End;
        } else {
            self.log_end = offset;
            self.step = Step::Read;
            self.read_on();
        }
    }

    fn read(&mut self, now: Now, client: &mut Client, records: Bytes) {
        let before = self.position;
        if let Err(fault) = self.ledger.read_records(&mut self.position, records) {
            return self.fail(&format!("{}: {fault}", self.topic));
        }
        if self.position == before && self.position < self.log_end {
            client.refresh_metadata(now);
            return self.later(now, &format!("{} does not answer with its records yet", self.topic));
        }
        self.tries = 0;
        self.read_on();
    }

    /// Read to the end: is the mirror's producer id known?
    fn read_on(&mut self) {
        if self.position < self.log_end {
            return;
        }
        self.next_slot();
    }

    /// Goes on to the first wanted slot that has no producer id yet.
    fn next_slot(&mut self) {
        while let Some(slot) = self.slots.front().copied() {
            if self.ledger.id(slot).is_none() {
                self.step = Step::Identify;
                return;
            }
            self.slots.pop_front();
            if slot != Slot::Exclusive {
                self.events.push_back(StoreEvent::Identified(slot));
            }
        }
        self.ready();
    }

    fn ready(&mut self) {
        self.step = Step::Ready;
        self.tries = 0;
        self.events.push_back(StoreEvent::Ready);
    }

    fn written(&mut self, base_offset: i64) {
        self.tries = 0;
        let stored = std::mem::take(&mut self.writing);
        if self.step == Step::Append {
            // Everything up to our own entry decides whose id counts.
            self.log_end = self.log_end.max(base_offset.saturating_add(1));
            self.step = Step::Read;
        } else {
            for (offset, entry) in (base_offset..).zip(&stored) {
                self.ledger.take(offset, entry.clone());
            }
            // Read is what was written behind all that was read.
            if base_offset == self.position {
                self.position = base_offset.saturating_add_unsigned(u64::try_from(stored.len()).unwrap_or(0));
            }
            self.events.push_back(StoreEvent::Stored(stored));
        }
    }

    /// What was on its way waits again, unless something newer waits under the same key. Writing an entry twice is
    /// harmless: the last one of a key counts, and an older one only lengthens a walk.
    fn take_back(&mut self) {
        for entry in std::mem::take(&mut self.writing).into_iter().rev() {
            self.put_first(entry);
        }
    }

    fn put_first(&mut self, entry: LedgerEntry) {
        if self.waiting.insert(entry.key()) {
            self.pending.push_front(entry);
        }
    }

    fn leader(&self, client: &Client) -> Option<i32> {
        client.metadata().leader(&self.topic, 0)
    }

    /// Waits without a word.
    fn pause(&mut self, now: Now) {
        self.retry_at = now.after(self.backoff);
    }

    fn later(&mut self, now: Now, why: &str) {
        self.tries += 1;
        let wait = self.backoff.saturating_mul(1 << self.tries.min(5));
        self.retry_at = now.after(wait.min(limits::LINK_BACKOFF_MAX));
        if self.tries > TRIES_MAX && self.step != Step::Ready {
            return self.fail(why);
        }
        // The first wait is ordinary: a topic that was just created has no leader for a moment.
        if self.tries > 1 {
            self.events.push_back(StoreEvent::Delayed(why.to_owned()));
        }
    }

    fn fail(&mut self, why: &str) {
        self.step = Step::Failed;
        self.events.push_back(StoreEvent::Failed(why.to_owned()));
    }
}

/// Tries before a ledger that was never read is given up: about 30 s with the longest back-off.
const TRIES_MAX: u32 = 20;
