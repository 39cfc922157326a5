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
//! (EXACTNESS.md P1).

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest, FetchPartition, FetchRequest,
    FetchTopic, InitProducerIdRequest, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic, MetadataRequest,
    MetadataRequestTopic, ProducePartition, ProduceRequest, ProduceTopic, RecordChunks,
};
use kmirror_proto::records::{BatchBuilder, Entry, HeadersSource, MessageSetBuilder, RecordError, Stamp, split};
use kmirror_proto::{ApiKey, ErrorCode};

use super::entry::LedgerEntry;
use super::state::Ledger;
use crate::client::{CallError, CallId, CallOptions, Client, Node, Reply};
use crate::clock::{Now, Tick};
use crate::limits;
use crate::plan::decode;

/// The ledger topic of the mirror `name`.
#[must_use]
pub fn topic_name(name: &str) -> String {
    format!("kmirror.{name}.ledger")
}

/// What the store has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreEvent {
    /// Read to its end, and the mirror's producer id is agreed: [`Store::ledger`] is what it says.
    Ready,
    /// These entries are acknowledged by every replica.
    Stored(Vec<LedgerEntry>),
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
    ledger: Ledger,
    log_end: i64,
    position: i64,
    /// The newest entry per key that waits, in the order in which it was first put.
    pending: VecDeque<LedgerEntry>,
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
            ledger: Ledger::default(),
            log_end: 0,
            position: 0,
            pending: VecDeque::new(),
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

    /// An entry to be stored; one that waits under the same key is replaced.
    pub fn put(&mut self, entry: LedgerEntry) {
        let key = entry.key();
        match self.pending.iter_mut().find(|waiting| waiting.key() == key) {
            Some(waiting) => *waiting = entry,
            None => self.pending.push_back(entry),
        }
    }

    /// What there is to say.
    pub fn poll_event(&mut self) -> Option<StoreEvent> {
        self.events.pop_front()
    }

    /// When to call [`Store::advance`] again at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Tick> {
        let idle = self.step == Step::Ready && self.is_idle();
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
                    producer_id: -1,
                    producer_epoch: -1,
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
                if !self.is_idle() {
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
            Err(CallError::Unsupported { .. }) if self.step == Step::Identify => self.ready(),
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
                self.pause(now);
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
                    self.pending.push_front(LedgerEntry::Id(response.producer_id));
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
            AnyResponse::ApiVersions(_)
            | AnyResponse::FindCoordinator(_)
            | AnyResponse::OffsetCommit(_)
            | AnyResponse::OffsetFetch(_) => self.fail("an answer to another question"),
        }
    }

    /// A broker said no.
    fn refused(&mut self, now: Now, client: &mut Client, code: ErrorCode) {
        self.take_back();
        client.refresh_metadata(now);
        // A cluster that has just begun answers -1 or 14 for a moment (facts/other.md).
        let passing = code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR;
        let text = format!("{}: {code}", self.topic);
        if passing {
            self.later(now, &text);
        } else {
            self.fail(&text);
        }
    }

    fn create(&mut self, now: Now, client: &mut Client) {
        let brokers = client.metadata().brokers.len();
        if brokers == 0 {
            return self.later(now, "no broker is known");
        }
        let controller = client.metadata().controller.map_or(Node::Any, Node::Id);
        let creates = |node: Node| match node {
            Node::Id(id) => client.versions(id).map(|versions| versions.get(ApiKey::CREATE_TOPICS).is_some()),
            Node::Any => None,
        };
        let known = client
            .metadata()
            .brokers
            .keys()
            .find_map(|id| client.versions(*id))
            .map(|versions| versions.get(ApiKey::CREATE_TOPICS).is_some());
        self.step = Step::Create;
        if creates(controller).or(known) == Some(false) {
            // 0.10.0: the broker creates a topic when it is asked for its name.
            let topic = MetadataRequestTopic { topic_id: [0; 16], name: Some(self.topic.clone()) };
            let request = MetadataRequest {
                topics: Some(vec![topic]),
                allow_auto_topic_creation: true,
                include_cluster_authorized_operations: false,
                include_topic_authorized_operations: false,
            };
            return self.ask(now, client, Node::Any, request.into(), 0, i16::MAX);
        }
        let config = CreatableTopicConfig { name: "cleanup.policy".to_owned(), value: Some("compact".to_owned()) };
        let topic = CreatableTopic {
            name: self.topic.clone(),
            num_partitions: 1,
            replication_factor: i16::try_from(brokers.min(REPLICAS_MAX)).unwrap_or(1),
            assignments: Vec::new(),
            configs: vec![config],
        };
        let timeout_ms = i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX);
        let request = CreateTopicsRequest { topics: vec![topic], timeout_ms, validate_only: false };
        self.ask(now, client, controller, request.into(), 0, i16::MAX);
    }

    fn created(&mut self, now: Now, client: &mut Client, code: ErrorCode, message: &str) {
        self.step = Step::Find;
        client.refresh_metadata(now);
        if code.is_ok() || code == ErrorCode::TOPIC_ALREADY_EXISTS || code == ErrorCode::NOT_CONTROLLER {
            self.pause(now);
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
        let mut fault: Option<String> = None;
        for entry in split(records) {
            let entry = match entry {
                Ok(Entry::Partial(_)) => break,
                Ok(entry) => entry,
                Err(error) => {
                    fault = Some(error.to_string());
                    break;
                }
            };
            if let Err(error) = self.read_entry(&entry) {
                fault = Some(error);
                break;
            }
        }
        if let Some(fault) = fault {
            return self.fail(&format!("{}: {fault}", self.topic));
        }
        if self.position == before && self.position < self.log_end {
            client.refresh_metadata(now);
            return self.later(now, &format!("{} does not answer with its records yet", self.topic));
        }
        self.tries = 0;
        self.read_on();
    }

    fn read_entry(&mut self, entry: &Entry) -> Result<(), String> {
        let (ledger, position) = (&mut self.ledger, self.position);
        let mut fault = None;
        let read = decode(entry, |record| {
            if record.offset >= position
                && let Err(error) = ledger.read(record.offset, record.key.unwrap_or_default(), record.value)
            {
                fault = Some(error.to_string());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        read.map_err(|error: RecordError| error.to_string())?;
        if let Some(next) = crate::plan::next_offset(entry) {
            self.position = self.position.max(next);
        }
        fault.map_or(Ok(()), Err)
    }

    /// Read to the end: is the mirror's producer id known?
    fn read_on(&mut self) {
        if self.position < self.log_end {
            return;
        }
        if self.ledger.id().is_some() {
            self.ready();
        } else {
            self.step = Step::Identify;
        }
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
            self.events.push_back(StoreEvent::Stored(stored));
        }
    }

    fn write(&mut self, now: Now, client: &mut Client, node: i32) {
        let mut bytes = 0;
        while let Some(entry) = self.pending.front() {
            bytes += entry.key().len() + entry.value().len() + ENTRY_OVERHEAD;
            if !self.writing.is_empty() && (bytes > limits::LEDGER_BATCH_BYTES || self.step == Step::Append) {
                break;
            }
            self.writing.extend(self.pending.pop_front());
        }
        // A batch of magic 2 from 0.11 on, single messages before: what the leader speaks decides.
        let batches = client.versions(node).map(|versions| versions.reaches(ApiKey::PRODUCE, 3));
        let (Ok(records), versions) = (match batches {
            Some(true) => (self.batch(now), (3, i16::MAX)),
            Some(false) => (self.set(now), (2, 2)),
            // Not connected yet: the call that asks for the versions is any call.
            None => {
                self.take_back();
                self.open_connection(now, client, node);
                return;
            }
        }) else {
            return self.fail("an entry is too large");
        };
        let partition = ProducePartition { index: 0, records: RecordChunks(vec![records]) };
        let topic = ProduceTopic { name: self.topic.clone(), partitions: vec![partition] };
        let timeout_ms = i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX);
        let request = ProduceRequest { transactional_id: None, acks: -1, timeout_ms, topics: vec![topic] };
        self.ask(now, client, Node::Id(node), request.into(), versions.0, versions.1);
    }

    /// The leader moved to a broker that was not talked to yet: an empty question opens the connection.
    fn open_connection(&mut self, now: Now, client: &mut Client, node: i32) {
        let list = ListOffsetsRequest { isolation_level: 0, topics: Vec::new() };
        client.call(now, Node::Id(node), list.into(), CallOptions::within(self.timeout));
        self.pause(now);
    }

    fn batch(&self, now: Now) -> Result<Bytes, RecordError> {
        let mut builder = BatchBuilder::new(Codec::None, None);
        for entry in &self.writing {
            builder.push(now.unix_ms, Some(entry.key().as_bytes()), Some(&entry.value()), HeadersSource::None)?;
        }
        builder.finish(Stamp::NONE)
    }

    fn set(&self, now: Now) -> Result<Bytes, RecordError> {
        let mut builder = MessageSetBuilder::new(Codec::None);
        for entry in &self.writing {
            builder.push(now.unix_ms, Some(entry.key().as_bytes()), Some(&entry.value()))?;
        }
        builder.finish()
    }

    /// What was on its way waits again, unless something newer waits under the same key. Writing an entry twice is
    /// harmless: the last one of a key counts, and an older one only lengthens a walk.
    fn take_back(&mut self) {
        for entry in std::mem::take(&mut self.writing).into_iter().rev() {
            let key = entry.key();
            if !self.pending.iter().any(|waiting| waiting.key() == key) {
                self.pending.push_front(entry);
            }
        }
    }

    fn leader(&self, client: &Client) -> Option<i32> {
        client.metadata().leader(&self.topic, 0)
    }

    fn ask(
        &mut self,
        now: Now,
        client: &mut Client,
        node: Node,
        request: AnyRequest,
        min_version: i16,
        max_version: i16,
    ) {
        let options = CallOptions { min_version, max_version, timeout: self.timeout, on: None };
        self.call = Some(client.call(now, node, request, options));
    }

    fn ask_offset(&mut self, now: Now, client: &mut Client, node: i32, timestamp: i64) {
        let partition = ListOffsetsPartition { partition_index: 0, current_leader_epoch: -1, timestamp };
        let topic = ListOffsetsTopic { name: self.topic.clone(), partitions: vec![partition] };
        let request = ListOffsetsRequest { isolation_level: 0, topics: vec![topic] };
        self.ask(now, client, Node::Id(node), request.into(), 0, i16::MAX);
    }

    fn ask_records(&mut self, now: Now, client: &mut Client, node: i32) {
        let partition = FetchPartition {
            partition: 0,
            current_leader_epoch: -1,
            fetch_offset: self.position,
            last_fetched_epoch: -1,
            log_start_offset: -1,
            partition_max_bytes: READ_BYTES,
        };
        let request = FetchRequest {
            max_wait_ms: 100,
            min_bytes: 1,
            max_bytes: READ_BYTES,
            isolation_level: 0,
            session_id: 0,
            session_epoch: -1,
            topics: vec![FetchTopic { name: self.topic.clone(), partitions: vec![partition] }],
            forgotten_topics: Vec::new(),
            rack_id: String::new(),
        };
        self.ask(now, client, Node::Id(node), request.into(), 2, i16::MAX);
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

const EARLIEST: i64 = -2;
const LATEST: i64 = -1;

/// As consumers do by default, in bytes.
const READ_BYTES: i32 = 1 << 20;

/// DESIGN.md: as durable as the cluster allows, and no more than three copies.
const REPLICAS_MAX: usize = 3;

/// More than the framing of one entry takes.
const ENTRY_OVERHEAD: usize = 64;

/// Tries before a ledger that was never read is given up: about 30 s with the longest back-off.
const TRIES_MAX: u32 = 20;
