//! Whatever a client sends, the cluster neither panics nor takes more memory than it was sent: requests of every API at
//! every version of every release, grown at random out of what the decoder takes, and damaged ones of them. What is
//! answered a client can read.

#![expect(clippy::print_stdout, reason = "the seed is enough to see a failure again")]

mod bodies;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bodies::{Random, body, damage};
use bytes::{Bytes, BytesMut};
use kmirror_proto::messages::{AnyRequest, AnyResponse, FindCoordinatorRequest, Message as _};
use kmirror_proto::{ApiKey, DecodeError, ErrorCode, Reader, RequestHeader, Writer, decode_response};
use kmirror_testkit::{Cluster, ConnectionId, NodeId, Now, Output, Release};

/// How often each version of each API is asked, and then damaged.
const ROUNDS: usize = 6;
/// What was not seen by then is not there.
const ROUNDS_MAX: usize = 200;
/// Damaged frames for each that is whole.
const DAMAGED: usize = 4;

/// What three clusters with what was written to them may take, and much less than a count in a request could ask for.
const PEAK_BYTES_MAX: u64 = 256 << 20;

/// What the decoder knows and the cluster closes the connection for.
const NOT_SERVED: [ApiKey; 3] = [ApiKey::SASL_HANDSHAKE, ApiKey::SASL_AUTHENTICATE, ApiKey::WRITE_TXN_MARKERS];

/// A cluster with something in it, and the clients that attack it.
struct Attack {
    release: Release,
    cluster: Cluster,
    now: Now,
    /// What each connection asked last.
    asked: BTreeMap<ConnectionId, (ApiKey, i16)>,
    /// Of which versions of which APIs a request was found.
    found: BTreeSet<(i16, i16)>,
    /// Of which APIs there was an answer.
    answered: BTreeSet<i16>,
    /// Ids of topics that Metadata told.
    ids: BTreeSet<[u8; 16]>,
}

impl Attack {
    fn on(release: Release) -> Self {
        let builder = Cluster::builder(release).brokers(2).setting("default.replication.factor", "2");
        let mut cluster = builder.build().unwrap();
        cluster.create_topic("orders", 2);
        cluster.create_topic_with("keyed", 1, &[("cleanup.policy", "compact")]).unwrap();
        let now = Now { elapsed: Duration::ZERO, unix_ms: 1_700_000_000_000 };
        let mut attack = Self {
            release,
            cluster,
            now,
            asked: BTreeMap::new(),
            found: BTreeSet::new(),
            answered: BTreeSet::new(),
            ids: BTreeSet::new(),
        };
        for (key_type, version) in [(0, 0), (1, 1)].into_iter().take(if release < Release::V0_11 { 1 } else { 2 }) {
            let request = FindCoordinatorRequest { key_type, keys: vec!["group".to_owned()] };
            let mut body = Writer::new();
            request.encode(version, &mut body).unwrap();
            let body: Vec<u8> = body.into_chunks().concat();
            attack.send(&frame(ApiKey::FIND_COORDINATOR, version, &body));
        }
        attack
    }

    /// What was not met yet: versions without a request, APIs without an answer.
    fn unseen(&self) -> Vec<(ApiKey, Option<i16>)> {
        let mut unseen = Vec::new();
        for range in self.release.apis() {
            let key = range.api_key;
            let spoken: Vec<i16> = (range.min_version..=range.max_version).filter(|v| is_spoken(key, *v)).collect();
            let served = !spoken.is_empty() && !NOT_SERVED.contains(&key);
            if served && !self.answered.contains(&key.0) {
                unseen.push((key, None));
            }
            let blind = spoken.into_iter().filter(|version| !self.found.contains(&(key.0, *version)));
            unseen.extend(blind.map(|version| (key, Some(version))));
        }
        unseen
    }

    /// Sends a frame over a connection of its own, and takes what comes.
    fn send(&mut self, frame: &Bytes) {
        let node = NodeId(i32::from(frame.len().is_multiple_of(2)));
        let Some(connection) = self.cluster.connect(self.now, node) else { return };
        let number = |at: usize| frame.get(at..at + 2).map_or(-1, |two| i16::from_be_bytes([two[0], two[1]]));
        self.asked.insert(connection, (ApiKey(number(0)), number(2)));
        self.cluster.receive(self.now, connection, frame.clone());
        self.take();
        self.now = self.now.later(Duration::from_millis(70));
        self.cluster.advance(self.now);
        self.take();
        self.cluster.disconnect(self.now, connection);
        self.take();
    }

    /// The ids of topics as Metadata tells them, and one that none has.
    fn topic_ids(&self) -> Vec<[u8; 16]> {
        self.ids.iter().copied().chain([[7; 16], [0; 16]]).collect()
    }

    fn take(&mut self) {
        while let Some(output) = self.cluster.poll_output() {
            let Output::Frame(connection, answer) = output else { continue };
            let (key, mut version) = self.asked[&connection];
            let mut bytes = BytesMut::new();
            answer.chunks().iter().for_each(|chunk| bytes.extend_from_slice(chunk));
            // KIP-511: a version that the broker does not know is answered in v0.
            version = if (0..=newest(self.release, key)).contains(&version) { version } else { 0 };
            let read = decode_response(key, version, bytes.freeze().slice(4..));
            let (_, response) = read.unwrap_or_else(|error| panic!("{}: {key} v{version}: {error}", self.release));
            if let AnyResponse::Metadata(metadata) = &response {
                self.ids.extend(metadata.topics.iter().map(|topic| topic.topic_id));
            }
            if !matches!(&response, AnyResponse::ApiVersions(r) if r.error_code == ErrorCode::UNSUPPORTED_VERSION) {
                self.answered.insert(key.0);
            }
        }
    }
}

/// The most memory that this process has had; 0 where the system does not tell.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

/// Whether the decoder knows it.
fn is_spoken(key: ApiKey, version: i16) -> bool {
    let decoded = AnyRequest::decode(key, version, &mut Reader::new(Bytes::new()));
    !matches!(decoded, Err(DecodeError::UnknownApi { .. } | DecodeError::UnsupportedVersion { .. }))
}

fn newest(release: Release, key: ApiKey) -> i16 {
    release.apis().iter().find(|range| range.api_key == key).map_or(-1, |range| range.max_version)
}

fn frame(key: ApiKey, version: i16, body: &[u8]) -> Bytes {
    let header = RequestHeader { key, version, correlation_id: 7, client_id: Some("client".to_owned()) };
    let mut w = Writer::new();
    header.encode(&mut w).unwrap();
    let mut frame: Vec<u8> = w.into_chunks().concat();
    frame.extend_from_slice(body);
    frame.into()
}

/// What happens to the cluster itself meanwhile.
fn upset(random: &mut Random, attack: &mut Attack) {
    let (cluster, node) = (&mut attack.cluster, *random.one_of(&[NodeId(0), NodeId(1)]));
    // What is not possible now is refused.
    let _ = match random.below(10) {
        0 => cluster.kill_broker(node),
        1 => cluster.stop_broker(node),
        2 => cluster.freeze_broker(node),
        3 => cluster.elect_unclean("orders", 0, node),
        4 => cluster.move_leader("orders", 1, node),
        5 => cluster.stall_follower("orders", 1, node),
        6 => cluster.lose_tail("orders", 0, node, 1),
        _ => cluster.thaw_broker(node).and_then(|()| cluster.start_broker(node)),
    };
    match random.below(8) {
        0 => cluster.compact(),
        1 => cluster.retain(),
        2 if cluster.offsets("orders", 0).is_err() => cluster.create_topic("orders", 2),
        3 => attack.now = attack.now.later(Duration::from_secs(40)),
        _ => {}
    }
}

/// One request of every version that the decoder knows, and damaged ones of it.
fn round(random: &mut Random, attack: &mut Attack) {
    for range in attack.release.apis() {
        for version in range.min_version..=range.max_version {
            let ids = attack.topic_ids();
            let Some(body) = body(random, range.api_key, version, &ids) else { continue };
            let whole = frame(range.api_key, version, &body);
            attack.send(&whole);
            attack.found.insert((range.api_key.0, version));
            for _ in 0..DAMAGED {
                attack.send(&damage(random, &whole));
            }
            if random.below(5) == 0 {
                upset(random, attack);
            }
        }
    }
}

/// Attacks until it has seen what there is to see: a request of every version that the decoder knows, and an answer of
/// every API that is served.
fn attack(release: Release) {
    let number = Release::ALL.iter().position(|of| *of == release).unwrap();
    let seed = 0x6b61_666b_6121 + u64::try_from(number).unwrap();
    println!("Kafka {release}, seed {seed:#x}");
    let (mut random, mut attack) = (Random(seed), Attack::on(release));
    let mut rounds = 0..ROUNDS_MAX;
    while rounds.next().is_some_and(|round| round < ROUNDS || !attack.unseen().is_empty()) {
        round(&mut random, &mut attack);
    }
    assert!(attack.unseen().is_empty(), "not seen: {:?}", attack.unseen());
    let peak = peak_bytes();
    assert!(peak < PEAK_BYTES_MAX, "{peak} bytes at the most, for requests of some hundred");
}

#[test]
fn kafka_0_10_and_0_11_stand() {
    Release::ALL.into_iter().filter(|release| *release < Release::V1_0).for_each(attack);
}

#[test]
fn kafka_1_and_2_stand() {
    Release::ALL.into_iter().filter(|release| (Release::V1_0..Release::V3_0).contains(release)).for_each(attack);
}

#[test]
fn kafka_3_and_4_stand() {
    Release::ALL.into_iter().filter(|release| *release >= Release::V3_0).for_each(attack);
}
