//! A blocking client of one broker.

#![expect(clippy::disallowed_types, reason = "a client from outside")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, FetchPartition, FetchRequest, FetchResponse, FetchTopic, FetchedPartition,
    ProducePartition, ProduceRequest, ProduceResponse, ProduceTopic, ProducedPartition,
};
use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp};
use kmirror_proto::{ApiKey, decode_response, encode_request};
use kmirror_testkit::NodeId;
use kmirror_testkit::net::Server;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    stream: TcpStream,
}

impl Client {
    pub(crate) fn connect(server: &Server, node: NodeId) -> Self {
        Self::at(server.address(node).unwrap())
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    /// Sends a request and reads its answer.
    pub(crate) fn ask<R: TryFrom<AnyResponse, Error = AnyResponse>>(
        &mut self,
        version: i16,
        request: impl Into<AnyRequest>,
    ) -> R {
        let request = request.into();
        let key = request.key();
        self.send(version, request);
        self.answer(key, version)
    }

    pub(crate) fn send(&mut self, version: i16, request: impl Into<AnyRequest>) {
        let frame = encode_request(7, Some("front"), version, &request.into()).unwrap();
        for chunk in frame.chunks() {
            self.write(chunk);
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn answer<R: TryFrom<AnyResponse, Error = AnyResponse>>(&mut self, key: ApiKey, version: i16) -> R {
        let (correlation_id, answer) = decode_response(key, version, self.frame()).unwrap();
        assert_eq!(correlation_id, 7);
        R::try_from(answer).unwrap()
    }

    pub(crate) fn produced(&mut self, version: i16) -> ProducedPartition {
        let answer: ProduceResponse = self.answer(ApiKey::PRODUCE, version);
        answer.topics[0].partitions[0].clone()
    }

    pub(crate) fn fetched(&mut self, version: i16) -> FetchedPartition {
        let answer: FetchResponse = self.answer(ApiKey::FETCH, version);
        answer.topics[0].partitions[0].clone()
    }

    /// The next frame without its prefix.
    pub(crate) fn frame(&mut self) -> Bytes {
        let mut prefix = [0; 4];
        self.stream.read_exact(&mut prefix).unwrap();
        self.read(usize::try_from(i32::from_be_bytes(prefix)).unwrap())
    }

    /// The next bytes, as they are.
    pub(crate) fn read(&mut self, bytes: usize) -> Bytes {
        let mut read = vec![0; bytes];
        self.stream.read_exact(&mut read).unwrap();
        read.into()
    }

    /// Waits until something can be read.
    pub(crate) fn await_bytes(&self) {
        assert!(self.stream.peek(&mut [0]).unwrap() > 0);
    }

    /// Ends this half.
    pub(crate) fn end(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Whether the next thing that comes is the end; a reset is one too.
    pub(crate) fn is_closed(&mut self) -> bool {
        match self.stream.read(&mut [0]) {
            Ok(n) => n == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }

    /// Whether the next thing that comes is a reset.
    pub(crate) fn is_reset(&mut self) -> bool {
        self.stream.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::ConnectionReset)
    }
}

/// Whether nobody listens there.
pub(crate) fn is_refused(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// One record of `bytes` bytes to partition 0.
pub(crate) fn produce(topic: &str, acks: i16, bytes: usize) -> AnyRequest {
    let mut batch = BatchBuilder::new(Codec::None, None);
    batch.push(1_700_000_000_000, None, Some(&vec![b'x'; bytes]), HeadersSource::None).unwrap();
    let records = batch.finish(Stamp::NONE).unwrap().into();
    let partitions = vec![ProducePartition { index: 0, records }];
    let topics = vec![ProduceTopic { name: topic.to_owned(), partitions, ..ProduceTopic::default() }];
    ProduceRequest { acks, timeout_ms: 30_000, topics, ..ProduceRequest::default() }.into()
}

/// Up to 1 MiB of partition 0, or more if its first batch is larger.
pub(crate) fn fetch(topic: &str, fetch_offset: i64, max_wait_ms: i32) -> AnyRequest {
    let asked = FetchPartition { fetch_offset, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
    let topics = vec![FetchTopic { name: topic.to_owned(), partitions: vec![asked], ..FetchTopic::default() }];
    FetchRequest { topics, max_wait_ms, min_bytes: 1, ..FetchRequest::default() }.into()
}
