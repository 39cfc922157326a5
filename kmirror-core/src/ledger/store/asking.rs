//! The questions: what is asked of which broker, in which version.

use bytes::Bytes;
use kmirror_proto::ApiKey;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{
    AnyRequest, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest, MetadataRequest, MetadataRequestTopic,
    ProducePartition, ProduceRequest, ProduceTopic, RecordChunks,
};
use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, RecordError, Stamp};

use super::{Step, Store};
use crate::client::{CallOptions, Client, LATEST, Node, fetch_one, fetch_partition, list_offsets};
use crate::clock::Now;
use crate::limits;

impl Store {
    pub(super) fn create(&mut self, now: Now, client: &mut Client) {
        let brokers = client.metadata().brokers.len();
        if brokers == 0 {
            return self.later(now, "no broker is known");
        }
        let controller = client.metadata().controller.map_or(Node::Any, Node::Id);
        self.step = Step::Create;
        if self.by_name {
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

    pub(super) fn write(&mut self, now: Now, client: &mut Client, node: i32) {
        let mut bytes = 0;
        while let Some(entry) = self.pending.front() {
            bytes += entry.key().len() + entry.value().len() + ENTRY_OVERHEAD;
            if !self.writing.is_empty() && (bytes > limits::LEDGER_BATCH_BYTES || self.step == Step::Append) {
                break;
            }
            self.waiting.remove(&entry.key());
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
        let topic = ProduceTopic { name: self.topic.clone(), partitions: vec![partition], ..ProduceTopic::default() };
        let timeout_ms = i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX);
        let request = ProduceRequest { transactional_id: None, acks: -1, timeout_ms, topics: vec![topic] };
        self.ask(now, client, Node::Id(node), request.into(), versions.0, versions.1);
    }

    /// The leader moved to a broker that was not talked to yet: an empty question opens the connection.
    fn open_connection(&mut self, now: Now, client: &mut Client, node: i32) {
        let list = list_offsets([], LATEST, 0);
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
        let mut builder = MessageSetBuilder::new(MessageFormat::V1, Codec::None);
        for entry in &self.writing {
            builder.push(now.unix_ms, Some(entry.key().as_bytes()), Some(&entry.value()))?;
        }
        builder.finish()
    }

    pub(super) fn ask(
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

    pub(super) fn ask_offset(&mut self, now: Now, client: &mut Client, node: i32, timestamp: i64) {
        let request = list_offsets([(self.topic.as_str(), 0)], timestamp, 0);
        self.ask(now, client, Node::Id(node), request.into(), 0, i16::MAX);
    }

    pub(super) fn ask_records(&mut self, now: Now, client: &mut Client, node: i32) {
        let request = fetch_one(&self.topic, fetch_partition(0, self.position, READ_BYTES), READ_WAIT_MS, 0);
        self.ask(now, client, Node::Id(node), request.into(), 2, i16::MAX);
    }
}

/// As consumers do by default, in bytes.
const READ_BYTES: i32 = 1 << 20;

/// How long a broker may wait for a record of a log that was not at its end.
const READ_WAIT_MS: i32 = 100;

/// As durable as the cluster allows, and no more than three copies.
const REPLICAS_MAX: usize = 3;

/// More than the framing of one entry takes.
const ENTRY_OVERHEAD: usize = 64;
