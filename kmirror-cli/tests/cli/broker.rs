//! A broker on a loopback port that knows versions, metadata and offsets, for the binary to talk to.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the other end of a socket")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use bytes::Bytes;
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, ApiVersionRange, ApiVersionsResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListedOffset, ListedTopic, MetadataBroker, MetadataPartition, MetadataResponse, MetadataTopic,
};
use kmirror_proto::{ApiKey, ErrorCode, decode_request, encode_response};

/// What the broker has: topics by name, their partitions with (start, end); an end below the start is an error 29.
pub(crate) type Topics = &'static [(&'static str, &'static [(i64, i64)])];

/// A running broker; it ends with the test's process.
pub(crate) struct Broker {
    address: SocketAddr,
}

impl Broker {
    pub(crate) fn start(topics: Topics) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { address, topics });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = state.clone();
                std::thread::spawn(move || state.serve(stream));
            }
        });
        Self { address }
    }

    /// One that takes connections and never says anything.
    #[cfg(unix)]
    pub(crate) fn silent() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let streams: Vec<TcpStream> = listener.incoming().flatten().collect();
            drop(streams);
        });
        Self { address }
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }
}

/// A port on which nothing listens.
pub(crate) fn dead_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

struct State {
    address: SocketAddr,
    topics: Topics,
}

impl State {
    /// Until the client hangs up.
    fn serve(&self, mut stream: TcpStream) {
        let mut length = [0; 4];
        while stream.read_exact(&mut length).is_ok() {
            let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap()];
            if stream.read_exact(&mut body).is_err() {
                return;
            }
            let (header, request) = decode_request(Bytes::from(body)).unwrap();
            let response = self.respond(&request);
            let frame = encode_response(header.correlation_id, header.version, &response).unwrap();
            if stream.write_all(&frame.chunks().concat()).is_err() {
                return;
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is advertised")]
    fn respond(&self, request: &AnyRequest) -> AnyResponse {
        match request {
            AnyRequest::ApiVersions(_) => versions().into(),
            AnyRequest::Metadata(_) => self.metadata().into(),
            AnyRequest::ListOffsets(request) => self.list(request).into(),
            other => panic!("{} was not advertised", other.key()),
        }
    }

    fn metadata(&self) -> MetadataResponse {
        let broker = MetadataBroker {
            node_id: 1,
            host: self.address.ip().to_string(),
            port: i32::from(self.address.port()),
            rack: None,
        };
        let partition = |(partition_index, _): (i32, &(i64, i64))| MetadataPartition {
            partition_index,
            leader_id: 1,
            replica_nodes: vec![1],
            isr_nodes: vec![1],
            ..MetadataPartition::default()
        };
        let topic = |(name, partitions): &(&str, &[(i64, i64)])| MetadataTopic {
            name: (*name).to_owned(),
            is_internal: name.starts_with("__"),
            partitions: (0..).zip(*partitions).map(partition).collect(),
            ..MetadataTopic::default()
        };
        MetadataResponse {
            brokers: vec![broker],
            topics: self.topics.iter().map(topic).collect(),
            ..MetadataResponse::default()
        }
    }

    /// Every record n has the timestamp n.
    fn list(&self, request: &ListOffsetsRequest) -> ListOffsetsResponse {
        let mut topics = Vec::new();
        for topic in &request.topics {
            let logs = self.topics.iter().find(|(name, _)| *name == topic.name).map_or(&[][..], |(_, logs)| logs);
            let partitions = topic.partitions.iter().map(|asked| {
                let (start, end) = logs[usize::try_from(asked.partition_index).unwrap()];
                let found = match asked.timestamp {
                    -1 => end,
                    -2 => start,
                    time if time < end => time.max(start),
                    _ => -1,
                };
                let refused = end < start;
                ListedOffset {
                    partition_index: asked.partition_index,
                    error_code: if refused { ErrorCode::TOPIC_AUTHORIZATION_FAILED } else { ErrorCode::NONE },
                    offset: if refused { -1 } else { found },
                    ..ListedOffset::default()
                }
            });
            topics.push(ListedTopic { name: topic.name.clone(), partitions: partitions.collect() });
        }
        ListOffsetsResponse { topics, ..ListOffsetsResponse::default() }
    }
}

fn versions() -> ApiVersionsResponse {
    let range = |(api_key, max_version)| ApiVersionRange { api_key, min_version: 0, max_version };
    let keys = [(ApiKey::LIST_OFFSETS, 3), (ApiKey::METADATA, 6), (ApiKey::API_VERSIONS, 4)];
    ApiVersionsResponse { api_keys: keys.into_iter().map(range).collect(), ..ApiVersionsResponse::default() }
}
