//! Scripted brokers in virtual time, for the tests of this module.

#![expect(clippy::wildcard_enum_match_arm, reason = "a script names the requests that it is about")]

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, ApiVersionRange, ApiVersionsResponse, MetadataBroker, MetadataPartition, MetadataResponse,
    MetadataTopic,
};
use kmirror_proto::{ApiKey, ErrorCode, Frame, RequestHeader, decode_request, encode_response};

use super::{Client, ClientEvent, ConnId, NetAction, NetEvent, Reply};
use crate::clock::{Now, Tick};
use crate::config::{ClusterConfig, Side};

/// What a broker does with a request.
pub(super) enum Act {
    Answer(AnyResponse),
    /// An answer with this correlation id.
    AnswerAs(i32, AnyResponse),
    /// These bytes behind the length prefix.
    Raw(Bytes),
    Silence,
    Close(&'static str),
}

/// What happens at an address.
pub(super) enum Host {
    Refuses,
    /// Not even a refusal: packets vanish.
    Vanished,
    Broker(Script),
}

type Script = Box<dyn FnMut(&RequestHeader, &AnyRequest) -> Act>;

/// A client among scripted brokers. Whatever the brokers do, they do at once; time passes in `advance` only.
pub(super) struct Rig {
    pub(super) client: Client,
    pub(super) now: Now,
    pub(super) hosts: BTreeMap<String, Host>,
    pub(super) replies: Vec<Reply>,
    pub(super) events: Vec<ClientEvent>,
    /// Each connection attempt: when, and where to.
    pub(super) connects: Vec<(Tick, String)>,
    /// Each request: over which connection, to whom, what.
    pub(super) requests: Vec<(ConnId, String, ApiKey, i16)>,
    pub(super) closes: Vec<(ConnId, bool)>,
    open: BTreeMap<ConnId, String>,
    waiting: VecDeque<NetEvent>,
}

impl Rig {
    pub(super) fn new(bootstrap: &[&str]) -> Self {
        let split = |address: &&str| {
            let (host, port) = address.split_once(':').unwrap();
            (host.to_owned(), port.parse().unwrap())
        };
        let config = ClusterConfig::new(bootstrap.iter().map(split).collect());
        Self {
            client: Client::new(Side::Target, &config, 42),
            now: Now::default(),
            hosts: BTreeMap::new(),
            replies: Vec::new(),
            events: Vec::new(),
            connects: Vec::new(),
            requests: Vec::new(),
            closes: Vec::new(),
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
        }
    }

    pub(super) fn host(&mut self, address: &str, host: Host) -> &mut Self {
        self.hosts.insert(address.to_owned(), host);
        self
    }

    /// Lets `time` pass, waking the client whenever it wants to be.
    pub(super) fn advance(&mut self, time: Duration) {
        let end = self.now.after(time);
        let mut wakes_in_place = 0;
        self.settle();
        while let Some(wake) = self.client.poll_timeout().filter(|&wake| wake <= end) {
            wakes_in_place = if wake > self.now.tick { 0 } else { wakes_in_place + 1 };
            assert!(wakes_in_place < 100, "the client wants to be woken for nothing at {}", self.now.tick);
            self.now.tick = self.now.tick.max(wake);
            self.client.handle_timeout(self.now);
            self.settle();
        }
        self.now.tick = end;
        self.client.handle_timeout(self.now);
        self.settle();
    }

    /// Carries out what the client wants until it wants nothing more now.
    pub(super) fn settle(&mut self) {
        loop {
            while let Some(action) = self.client.poll_net() {
                self.act(action);
            }
            self.replies.extend(std::iter::from_fn(|| self.client.poll_reply()));
            self.events.extend(std::iter::from_fn(|| self.client.poll_event()));
            let Some(event) = self.waiting.pop_front() else { return };
            self.client.handle_net(self.now, event);
        }
    }

    /// Ends the open connections to an address from the broker's side.
    pub(super) fn cut(&mut self, address: &str) {
        let cut: Vec<ConnId> = self.open.iter().filter(|(_, to)| *to == address).map(|(&conn, _)| conn).collect();
        for conn in cut {
            self.open.remove(&conn);
            self.waiting.push_back(NetEvent::Closed { conn, reason: "closed by the broker".to_owned() });
        }
        self.settle();
    }

    /// The open connections: their addresses, sorted.
    pub(super) fn open(&self) -> Vec<&str> {
        let mut open: Vec<&str> = self.open.values().map(String::as_str).collect();
        open.sort_unstable();
        open
    }

    fn act(&mut self, action: NetAction) {
        match action {
            NetAction::Connect { conn, host, port } => self.connect(conn, format!("{host}:{port}")),
            NetAction::Send { conn, frame } => self.receive(conn, &frame),
            NetAction::Close { conn, abort } => {
                self.open.remove(&conn);
                self.closes.push((conn, abort));
            }
        }
    }

    fn connect(&mut self, conn: ConnId, address: String) {
        self.connects.push((self.now.tick, address.clone()));
        match self.hosts.get(&address) {
            Some(Host::Broker(_)) => {
                self.open.insert(conn, address);
                self.waiting.push_back(NetEvent::Connected { conn });
            }
            Some(Host::Refuses) | None => {
                self.waiting.push_back(NetEvent::ConnectFailed { conn, reason: "connection refused".to_owned() });
            }
            Some(Host::Vanished) => {}
        }
    }

    fn receive(&mut self, conn: ConnId, frame: &Frame) {
        let Some(address) = self.open.get(&conn).cloned() else { return };
        let (header, request) = decode_request(body_of(frame)).unwrap();
        self.requests.push((conn, address.clone(), header.key, header.version));
        let Some(Host::Broker(script)) = self.hosts.get_mut(&address) else { return };
        let body = match script(&header, &request) {
            Act::Answer(response) => answer_frame(header.correlation_id, header.version, &response),
            Act::AnswerAs(correlation, response) => answer_frame(correlation, header.version, &response),
            Act::Raw(body) => body,
            Act::Silence => return,
            Act::Close(reason) => {
                self.open.remove(&conn);
                self.waiting.push_back(NetEvent::Closed { conn, reason: reason.to_owned() });
                return;
            }
        };
        self.waiting.push_back(NetEvent::Frame { conn, body });
    }
}

/// What a 2.0 speaks of what a mirror needs.
pub(super) const KAFKA_2_0: &[(ApiKey, i16, i16)] = &[
    (ApiKey::PRODUCE, 0, 6),
    (ApiKey::FETCH, 0, 8),
    (ApiKey::LIST_OFFSETS, 0, 3),
    (ApiKey::METADATA, 0, 6),
    (ApiKey::API_VERSIONS, 0, 2),
];

/// A broker as it should be: agrees on versions as 2.0 does, answers metadata with `view`, the rest with `then`.
pub(super) fn kafka(
    view: MetadataResponse,
    mut then: impl FnMut(&RequestHeader, &AnyRequest) -> Act + 'static,
) -> Host {
    Host::Broker(Box::new(move |header, request| match request {
        AnyRequest::ApiVersions(_) if header.version > 2 => {
            Act::Answer(AnyResponse::ApiVersions(ApiVersionsResponse {
                error_code: ErrorCode::UNSUPPORTED_VERSION,
                ..ApiVersionsResponse::default()
            }))
        }
        AnyRequest::ApiVersions(_) => Act::Answer(versions_of(KAFKA_2_0)),
        AnyRequest::Metadata(request) => {
            assert_eq!((&request.topics, request.allow_auto_topic_creation), (&None, header.version < 4));
            Act::Answer(view.clone().into())
        }
        _ => then(header, request),
    }))
}

/// An answer that says nothing but that it is one.
pub(super) fn default_answer(_: &RequestHeader, request: &AnyRequest) -> Act {
    Act::Answer(match request {
        AnyRequest::ListOffsets(_) => AnyResponse::ListOffsets(Default::default()),
        AnyRequest::Produce(_) => AnyResponse::Produce(Default::default()),
        other => panic!("{} is not scripted", other.key()),
    })
}

pub(super) fn versions_of(ranges: &[(ApiKey, i16, i16)]) -> AnyResponse {
    let range = |&(api_key, min_version, max_version)| ApiVersionRange { api_key, min_version, max_version };
    AnyResponse::ApiVersions(ApiVersionsResponse {
        api_keys: ranges.iter().map(range).collect(),
        ..ApiVersionsResponse::default()
    })
}

pub(super) fn metadata(brokers: Vec<MetadataBroker>, topics: Vec<MetadataTopic>) -> MetadataResponse {
    MetadataResponse { brokers, topics, ..MetadataResponse::default() }
}

pub(super) fn broker(node_id: i32, host: &str, port: i32) -> MetadataBroker {
    MetadataBroker { node_id, host: host.to_owned(), port, rack: None }
}

/// A topic whose partition n is led by the n-th of `leaders`.
pub(super) fn leaders(name: &str, leaders: &[i32]) -> MetadataTopic {
    let partition = |(index, &leader_id): (usize, &i32)| MetadataPartition {
        partition_index: i32::try_from(index).unwrap(),
        leader_id,
        ..MetadataPartition::default()
    };
    let partitions = leaders.iter().enumerate().map(partition).collect();
    MetadataTopic { name: name.to_owned(), partitions, ..MetadataTopic::default() }
}

/// An answer as the sockets hand it over.
pub(super) fn answer_frame(correlation: i32, version: i16, response: &AnyResponse) -> Bytes {
    body_of(&encode_response(correlation, version, response).unwrap())
}

/// A frame without its length prefix.
pub(super) fn body_of(frame: &Frame) -> Bytes {
    Bytes::from(frame.chunks().concat()).split_off(4)
}
