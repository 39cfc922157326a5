//! For this crate's own tests: a client whose every request is answered before the next, in virtual time.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, ProducePartition, ProduceRequest, ProduceTopic, ProducedPartition, RecordChunks,
};
use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp};
use kmirror_proto::{Frame, decode_response, encode_request};

use crate::cluster::{Cluster, ConnectionId, Output};
use crate::{NodeId, Now, Release};

/// A cluster and one client of its first broker.
pub(crate) struct Asking {
    pub(crate) cluster: Cluster,
    pub(crate) now: Now,
    connection: ConnectionId,
    kept: VecDeque<Output>,
}

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Answer(Box<AnyResponse>),
    Nothing,
    Closed,
}

impl Asking {
    pub(crate) fn of(release: Release) -> Self {
        Self::to(Cluster::builder(release).build().unwrap(), NodeId(0))
    }

    pub(crate) fn to(mut cluster: Cluster, node: NodeId) -> Self {
        let now = Now { elapsed: Duration::ZERO, unix_ms: 1_700_000_000_000 };
        let connection = cluster.connect(now, node).unwrap();
        Self { cluster, now, connection, kept: VecDeque::new() }
    }

    /// Reconnects, to another broker maybe.
    pub(crate) fn connect(&mut self, node: NodeId) {
        self.connection = self.cluster.connect(self.now, node).unwrap();
    }

    /// The connection that requests are sent over.
    pub(crate) fn connection(&self) -> ConnectionId {
        self.connection
    }

    /// Sends what follows over another connection; returns the one before. What comes over a connection that is not
    /// listened to is kept.
    pub(crate) fn go_on_with(&mut self, connection: ConnectionId) -> ConnectionId {
        std::mem::replace(&mut self.connection, connection)
    }

    /// The answer to a request.
    pub(crate) fn ask<R: TryFrom<AnyResponse, Error = AnyResponse>>(
        &mut self,
        version: i16,
        request: impl Into<AnyRequest>,
    ) -> R {
        match self.send(version, request) {
            Came::Answer(answer) => R::try_from(*answer).unwrap(),
            came @ (Came::Nothing | Came::Closed) => panic!("no answer: {came:?}"),
        }
    }

    /// What comes of a request at once.
    pub(crate) fn send(&mut self, version: i16, request: impl Into<AnyRequest>) -> Came {
        let request = request.into();
        let frame = encode_request(7, Some("asking"), version, &request).unwrap();
        self.cluster.receive(self.now, self.connection, body(&frame));
        self.came(&request, version)
    }

    /// What comes of a former request once `wait` has passed.
    pub(crate) fn wait(&mut self, wait: Duration, version: i16, request: &AnyRequest) -> Came {
        self.now = self.now.later(wait);
        self.cluster.advance(self.now);
        self.came(request, version)
    }

    fn came(&mut self, request: &AnyRequest, version: i16) -> Came {
        self.kept.extend(std::iter::from_fn(|| self.cluster.poll_output()));
        let is_ours = |output: &Output| output.connection() == self.connection;
        let Some(output) = self.kept.iter().position(is_ours).and_then(|at| self.kept.remove(at)) else {
            return Came::Nothing;
        };
        match output {
            Output::Frame(_, frame) => {
                let (correlation_id, answer) = decode_response(request.key(), version, body(&frame)).unwrap();
                assert_eq!(correlation_id, 7);
                Came::Answer(Box::new(answer))
            }
            Output::Bytes(..) | Output::Close(_) | Output::Reset(_) => Came::Closed,
        }
    }

    /// Produces a batch to partition 0 of a topic.
    pub(crate) fn produce(&mut self, version: i16, topic: &str, acks: i16, records: Bytes) -> ProducedPartition {
        self.produce_as(version, topic, acks, records, None)
    }

    /// Produces a batch of a transaction to partition 0 of a topic.
    pub(crate) fn produce_as(
        &mut self,
        version: i16,
        topic: &str,
        acks: i16,
        records: Bytes,
        transactional_id: Option<&str>,
    ) -> ProducedPartition {
        let partitions = vec![ProducePartition { index: 0, records: RecordChunks(vec![records]) }];
        let topics = vec![ProduceTopic { name: topic.to_owned(), partitions, ..ProduceTopic::default() }];
        let request =
            ProduceRequest { transactional_id: transactional_id.map(str::to_owned), acks, timeout_ms: 1000, topics };
        let answer: kmirror_proto::messages::ProduceResponse = self.ask(version, request);
        answer.topics[0].partitions[0].clone()
    }
}

/// A magic 2 batch of so many records with the values 0, 1, 2 …
pub(crate) fn batch(records: u8, stamp: Stamp) -> Bytes {
    let mut builder = BatchBuilder::new(kmirror_proto::compress::Codec::None, None);
    for n in 0..records {
        builder.push(1_700_000_000_000, None, Some(&[n]), HeadersSource::None).unwrap();
    }
    builder.finish(stamp).unwrap()
}

/// A batch as one of a transaction: the bit is set, and the checksum is right.
pub(crate) fn transactional(batch: &Bytes) -> Bytes {
    let mut bytes = BytesMut::from(batch.as_ref());
    bytes[22] |= 0x10;
    let crc = kmirror_proto::records::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.freeze()
}

/// A frame without its length prefix.
pub(crate) fn body(frame: &Frame) -> Bytes {
    let mut bytes = BytesMut::new();
    frame.chunks().iter().for_each(|chunk| bytes.extend_from_slice(chunk));
    bytes.freeze().slice(4..)
}
