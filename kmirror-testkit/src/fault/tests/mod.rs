//! What faults do to requests, connection by connection, in virtual time.

use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::{
    AnyRequest, ApiVersionsRequest, FetchPartition, FetchRequest, FetchResponse, FetchTopic, HeartbeatRequest,
    ProducePartition, ProduceRequest, ProduceResponse, ProduceTopic,
};
use kmirror_proto::records::Stamp;
use kmirror_proto::{decode_response, encode_request};

use super::*;
use crate::asking::{batch, body};
use crate::cluster::{ConnectionId, Output};
use crate::{NodeId, Now, Release};

mod applied;
mod broker;
mod chosen;
mod quotas;
mod refused;

const SECOND: Duration = Duration::from_secs(1);

/// A cluster with a topic `numbers` of one partition on broker 0.
struct Rig {
    cluster: Cluster,
    now: Now,
}

impl Rig {
    fn of(release: Release) -> Self {
        Self::with(Cluster::builder(release).build().unwrap())
    }

    fn with(mut cluster: Cluster) -> Self {
        cluster.create_topic("numbers", 1);
        Self { cluster, now: Now { elapsed: Duration::ZERO, unix_ms: 1_700_000_000_000 } }
    }

    fn connect(&mut self) -> ConnectionId {
        self.cluster.connect(self.now, NodeId(0)).unwrap()
    }

    fn ask(&mut self, connection: ConnectionId, version: i16, request: impl Into<AnyRequest>) {
        self.ask_as(connection, "rig", version, request);
    }

    fn ask_as(&mut self, connection: ConnectionId, client_id: &str, version: i16, request: impl Into<AnyRequest>) {
        let frame = encode_request(7, Some(client_id), version, &request.into()).unwrap();
        self.cluster.receive(self.now, connection, body(&frame));
    }

    /// One record with acks 1.
    fn produce(&mut self, connection: ConnectionId) {
        self.ask(connection, 3, produce(1));
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now.later(time);
        self.cluster.advance(self.now);
    }

    /// How long until the cluster wants to be woken.
    fn due(&self) -> Option<Duration> {
        // Retention is looked after every five minutes, whatever happens.
        let due = self.cluster.poll_timeout().filter(|due| *due < Duration::from_secs(300));
        due.map(|due| due.saturating_sub(self.now.elapsed))
    }

    fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.cluster.poll_output()).collect()
    }

    /// The base offset or error of the one answer to a produce that is put out.
    fn produced(&mut self) -> Result<i64, ErrorCode> {
        let outputs = self.outputs();
        let [Output::Frame(_, frame)] = outputs.as_slice() else { panic!("not one answer: {outputs:?}") };
        let (_, answer) = decode_response(ApiKey::PRODUCE, 3, body(frame)).unwrap();
        let answer = ProduceResponse::try_from(answer).unwrap();
        let partition = &answer.topics[0].partitions[0];
        if partition.error_code.is_ok() { Ok(partition.base_offset) } else { Err(partition.error_code) }
    }

    fn fetched(&mut self, version: i16) -> FetchResponse {
        let outputs = self.outputs();
        let [Output::Frame(_, frame)] = outputs.as_slice() else { panic!("not one answer: {outputs:?}") };
        FetchResponse::try_from(decode_response(ApiKey::FETCH, version, body(frame)).unwrap().1).unwrap()
    }

    /// The log end of the topic.
    fn end(&self) -> i64 {
        self.cluster.offsets("numbers", 0).unwrap().1
    }
}

/// One record.
fn produce(acks: i16) -> ProduceRequest {
    let partitions = vec![ProducePartition { index: 0, records: batch(1, Stamp::NONE).into() }];
    let topics = vec![ProduceTopic { name: "numbers".to_owned(), partitions, ..ProduceTopic::default() }];
    ProduceRequest { acks, timeout_ms: 1000, topics, ..ProduceRequest::default() }
}

/// From the beginning, at once.
fn fetch() -> FetchRequest {
    let partitions = vec![FetchPartition { partition_max_bytes: 1 << 20, ..FetchPartition::default() }];
    let topics = vec![FetchTopic { name: "numbers".to_owned(), partitions, ..FetchTopic::default() }];
    FetchRequest { topics, ..FetchRequest::default() }
}
