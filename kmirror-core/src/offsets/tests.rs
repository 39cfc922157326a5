//! The machine among scripted brokers, in virtual time.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use kmirror_proto::messages::{
    AnyRequest, AnyResponse, ApiVersionRange, ApiVersionsResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListedOffset, ListedTopic, MetadataBroker, MetadataPartition, MetadataResponse, MetadataTopic,
};
use kmirror_proto::{ApiKey, ErrorCode, Frame, decode_request, encode_response};

use super::*;
use crate::client::{ConnId, NetAction, NetEvent};
use crate::clock::Now;
use crate::config::{ClusterConfig, Side};
use crate::machine::Machine;

/// Brokers n at `b<n>:9092`, all with one view and one script.
struct Cluster {
    brokers: Vec<i32>,
    /// Topic, whether it is internal, and the leaders of its partitions.
    topics: Vec<(&'static str, bool, Vec<i32>)>,
    list_offsets_max: i16,
    /// (broker, topic, partition, timestamp, how often asked before) → error and offset; `None` leaves it out.
    answer: Answer,
    asked: BTreeMap<(String, i32), usize>,
    /// Each ListOffsets request: broker, version, partitions.
    requests: Vec<(i32, i16, usize)>,
}

type Answer = Box<dyn Fn(i32, &str, i32, i64, usize) -> Option<(ErrorCode, i64)>>;

impl Cluster {
    fn new(topics: &[(&'static str, bool, Vec<i32>)]) -> Self {
        Self {
            brokers: vec![1, 2, 3],
            topics: topics.to_vec(),
            list_offsets_max: 3,
            answer: Box::new(|_, _, partition, _, _| Some((ErrorCode::NONE, 1000 + i64::from(partition)))),
            asked: BTreeMap::new(),
            requests: Vec::new(),
        }
    }

    fn answering(mut self, answer: impl Fn(i32, &str, i32, i64, usize) -> Option<(ErrorCode, i64)> + 'static) -> Self {
        self.answer = Box::new(answer);
        self
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the machine asks for nothing else")]
    fn respond(&mut self, broker: i32, version: i16, request: &AnyRequest) -> AnyResponse {
        match request {
            AnyRequest::ApiVersions(_) => self.versions().into(),
            AnyRequest::Metadata(_) => self.metadata().into(),
            AnyRequest::ListOffsets(request) => self.list(broker, version, request).into(),
            other => panic!("{} is not scripted", other.key()),
        }
    }

    fn versions(&self) -> ApiVersionsResponse {
        let range = |(api_key, max_version)| ApiVersionRange { api_key, min_version: 0, max_version };
        let keys = [(ApiKey::LIST_OFFSETS, self.list_offsets_max), (ApiKey::METADATA, 6), (ApiKey::API_VERSIONS, 4)];
        ApiVersionsResponse { api_keys: keys.into_iter().map(range).collect(), ..ApiVersionsResponse::default() }
    }

    fn metadata(&self) -> MetadataResponse {
        let broker = |&node_id: &i32| MetadataBroker { node_id, host: format!("b{node_id}"), port: 9092, rack: None };
        let partition = |(partition_index, &leader_id): (i32, &i32)| MetadataPartition {
            partition_index,
            leader_id,
            ..MetadataPartition::default()
        };
        let topic = |(name, is_internal, leaders): &(&str, bool, Vec<i32>)| MetadataTopic {
            name: (*name).to_owned(),
            is_internal: *is_internal,
            partitions: (0..).zip(leaders).map(partition).collect(),
            ..MetadataTopic::default()
        };
        MetadataResponse {
            brokers: self.brokers.iter().map(broker).collect(),
            topics: self.topics.iter().map(topic).collect(),
            ..MetadataResponse::default()
        }
    }

    fn list(&mut self, broker: i32, version: i16, request: &ListOffsetsRequest) -> ListOffsetsResponse {
        self.requests.push((broker, version, request.topics.iter().map(|topic| topic.partitions.len()).sum()));
        let mut topics = Vec::new();
        for topic in &request.topics {
            let mut partitions = Vec::new();
            for asked in &topic.partitions {
                let before = self.asked.entry((topic.name.clone(), asked.partition_index)).or_default();
                let found = (self.answer)(broker, &topic.name, asked.partition_index, asked.timestamp, *before);
                *before += 1;
                partitions.extend(found.map(|(error_code, offset)| ListedOffset {
                    partition_index: asked.partition_index,
                    error_code,
                    offset,
                    ..ListedOffset::default()
                }));
            }
            topics.push(ListedTopic { name: topic.name.clone(), partitions });
        }
        ListOffsetsResponse { topics, ..ListOffsetsResponse::default() }
    }

    /// Runs a query to its end. Returns what came of it and the seconds that it took.
    fn run(&mut self, query: OffsetsQuery) -> (Result<Listing, OffsetsError>, u64) {
        let bootstrap = vec![("b1".to_owned(), 9092)];
        let mut machine = Offsets::new(&ClusterConfig::new(bootstrap), query, 7);
        let mut now = Now::default();
        let mut open: BTreeMap<ConnId, i32> = BTreeMap::new();
        for _ in 0..10_000 {
            let mut events = VecDeque::new();
            while let Some((side, action)) = machine.poll_net() {
                assert_eq!(side, Side::Source);
                self.act(action, &mut open, &mut events);
            }
            if machine.is_finished() {
                assert!(open.is_empty(), "every connection is closed");
                return (machine.into_outcome(), now.tick.0 / 1_000_000_000);
            }
            if events.is_empty() {
                now.tick = now.tick.max(machine.poll_timeout().expect("it waits for nothing"));
                machine.handle_timeout(now);
            }
            for event in events {
                machine.handle_net(now, Side::Source, event);
            }
        }
        panic!("no end");
    }

    fn act(&mut self, action: NetAction, open: &mut BTreeMap<ConnId, i32>, events: &mut VecDeque<NetEvent>) {
        match action {
            NetAction::Connect { conn, host, .. } => {
                let node = host.trim_start_matches('b').parse().unwrap();
                if self.brokers.contains(&node) {
                    open.insert(conn, node);
                    events.push_back(NetEvent::Connected { conn });
                } else {
                    events.push_back(NetEvent::ConnectFailed { conn, reason: "connection refused".to_owned() });
                }
            }
            NetAction::Send { conn, frame } => {
                let Some(&node) = open.get(&conn) else { return };
                let (header, request) = decode_request(body_of(&frame)).unwrap();
                let response = self.respond(node, header.version, &request);
                let answer = encode_response(header.correlation_id, header.version, &response).unwrap();
                events.push_back(NetEvent::Frame { conn, body: body_of(&answer) });
            }
            NetAction::Close { conn, .. } => {
                open.remove(&conn);
            }
        }
    }
}

fn body_of(frame: &Frame) -> Bytes {
    Bytes::from(frame.chunks().concat()).split_off(4)
}

fn query(pattern: &str, time: ListTime) -> OffsetsQuery {
    OffsetsQuery {
        rules: vec![Rule { topics: TopicPattern::parse(pattern).unwrap(), partitions: Partitions::All }],
        exclude_internal: false,
        time,
        timeout: Duration::from_secs(60),
    }
}

fn lines(listing: &Listing) -> Vec<String> {
    let line = |found: &PartitionOffset| format!("{}:{}:{:?}", found.topic, found.partition, found.offset);
    listing.offsets.iter().map(line).collect()
}

#[test]
fn each_leader_is_asked_once_and_all_is_sorted_by_number() {
    let mut leaders: Vec<i32> = (0..11).map(|partition| 1 + partition % 3).collect();
    leaders.push(1);
    let mut cluster = Cluster::new(&[("t", false, leaders), ("a", false, vec![2])]);
    let listing = cluster.run(query(".*", ListTime::Latest)).0.unwrap();
    assert_eq!(listing.skipped, []);
    let mut expected = vec!["a:0:Some(1000)".to_owned()];
    expected.extend((0..12).map(|partition| format!("t:{partition}:Some({})", 1000 + partition)));
    assert_eq!(lines(&listing), expected);
    assert_eq!(cluster.requests.len(), 3, "{:?}", cluster.requests);
}

#[test]
fn rules_choose_topics_and_partitions() {
    let mut cluster = Cluster::new(&[("t", false, vec![1, 1, 1, 1]), ("u", false, vec![2, 2]), ("v", false, vec![3])]);
    let rule = |pattern: &str, partitions| Rule { topics: TopicPattern::parse(pattern).unwrap(), partitions };
    let rules = vec![
        rule("t", Partitions::Range(1..3)),
        rule("u", Partitions::These(BTreeSet::from([1, 7]))),
        rule("t|u", Partitions::These(BTreeSet::from([0]))),
    ];
    let listing = cluster.run(OffsetsQuery { rules, ..query(".*", ListTime::Latest) }).0.unwrap();
    let listed: Vec<_> = listing.offsets.iter().map(|found| (found.topic.as_str(), found.partition)).collect();
    assert_eq!(listed, [("t", 0), ("t", 1), ("t", 2), ("u", 0), ("u", 1)]);
}

#[test]
fn internal_topics_are_listed_unless_excluded() {
    let topics = [("__consumer_offsets", false, vec![1]), ("secret", true, vec![2]), ("t", false, vec![3])];
    let all = Cluster::new(&topics).run(query(".*", ListTime::Latest)).0.unwrap();
    assert_eq!(all.offsets.len(), 3);
    // Metadata v0 does not say what is internal: the name does.
    let query = OffsetsQuery { exclude_internal: true, ..query(".*", ListTime::Latest) };
    let listing = Cluster::new(&topics).run(query).0.unwrap();
    assert_eq!(lines(&listing), ["t:0:Some(1000)"]);
}

#[test]
fn nothing_that_matches_is_an_error_of_its_own() {
    let mut cluster = Cluster::new(&[("t", false, vec![1])]);
    assert_eq!(cluster.run(query("u", ListTime::Latest)).0, Err(OffsetsError::NothingMatches));
    let none = Rule { topics: TopicPattern::parse("t").unwrap(), partitions: Partitions::Range(1..9) };
    let query = OffsetsQuery { rules: vec![none], ..query(".*", ListTime::Latest) };
    assert_eq!(cluster.run(query).0, Err(OffsetsError::NothingMatches));
    assert_eq!(cluster.requests, []);
}

#[test]
fn each_time_has_its_number_and_its_lowest_version() {
    for (time, timestamp, speaks, used) in [
        (ListTime::Latest, -1, 0, 0),
        (ListTime::Earliest, -2, 1, 1),
        (ListTime::Since(1_700_000_000_000), 1_700_000_000_000, 3, 3),
        (ListTime::MaxTimestamp, -3, 7, 7),
        (ListTime::EarliestLocal, -4, 11, 8),
    ] {
        let mut cluster = Cluster::new(&[("t", false, vec![1])])
            .answering(move |_, _, _, asked, _| (asked == timestamp).then_some((ErrorCode::NONE, 5)));
        cluster.list_offsets_max = speaks;
        assert_eq!(lines(&cluster.run(query("t", time)).0.unwrap()), ["t:0:Some(5)"], "{time:?}");
        assert_eq!(cluster.requests, [(1, used, 1)], "{time:?}");
    }
}

/// Up to 2.8 a broker would take −3 for a timestamp, and v0 knows no times: no answer beats a wrong one.
#[test]
fn a_time_that_brokers_do_not_know_is_refused_before_it_is_asked() {
    for (time, speaks, word) in
        [(ListTime::Since(5), 0, "0.10.1"), (ListTime::MaxTimestamp, 6, "3.0"), (ListTime::EarliestLocal, 7, "3.4")]
    {
        let mut cluster = Cluster::new(&[("t", false, vec![1])]);
        cluster.list_offsets_max = speaks;
        let error = cluster.run(query("t", time)).0.unwrap_err().to_string();
        assert!(error.starts_with("broker 1 (b1:9092): ListOffsets") && error.contains(word), "{error}");
        assert_eq!(cluster.requests, []);
    }
}

#[test]
fn no_offset_is_not_offset_zero() {
    let mut cluster = Cluster::new(&[("t", false, vec![1, 1])])
        .answering(|_, _, partition, _, _| Some((ErrorCode::NONE, i64::from(partition) - 1)));
    assert_eq!(lines(&cluster.run(query("t", ListTime::Since(5))).0.unwrap()), ["t:0:None", "t:1:Some(0)"]);
}

/// A leader moves between the metadata and the question; a broker leaves a partition out; both are asked again.
#[test]
fn what_passes_is_asked_again_and_only_that() {
    let mut cluster = Cluster::new(&[("t", false, vec![1, 1, 1])]).answering(|_, _, partition, _, before| {
        match (partition, before) {
            (0, 0) => Some((ErrorCode::NOT_LEADER_OR_FOLLOWER, -1)),
            (1, 0) => None,
            _ => Some((ErrorCode::NONE, 9)),
        }
    });
    let (outcome, seconds) = cluster.run(query("t", ListTime::Latest));
    assert_eq!(lines(&outcome.unwrap()), ["t:0:Some(9)", "t:1:Some(9)", "t:2:Some(9)"]);
    assert_eq!(cluster.asked[&("t".to_owned(), 2)], 1);
    assert!(seconds < 5, "{seconds}");
}

#[test]
fn what_stays_wrong_is_skipped_with_the_reason() {
    let mut cluster = Cluster::new(&[("t", false, vec![1, 1])]).answering(|_, _, partition, _, _| match partition {
        0 => Some((ErrorCode::TOPIC_AUTHORIZATION_FAILED, -1)),
        _ => Some((ErrorCode::NONE, 9)),
    });
    let listing = cluster.run(query("t", ListTime::Latest)).0.unwrap();
    assert_eq!(lines(&listing), ["t:1:Some(9)"]);
    assert_eq!(listing.skipped.len(), 1);
    assert_eq!(listing.skipped[0].reason, "TOPIC_AUTHORIZATION_FAILED (29)");
}

#[test]
fn a_partition_without_a_leader_holds_the_others_up_for_ten_seconds_only() {
    let mut cluster = Cluster::new(&[("t", false, vec![1, -1])]);
    let (outcome, seconds) = cluster.run(query("t", ListTime::Latest));
    let listing = outcome.unwrap();
    assert_eq!(lines(&listing), ["t:0:Some(1000)"]);
    assert_eq!((listing.skipped[0].partition, listing.skipped[0].reason.as_str()), (1, "it has no leader"));
    assert!((10..12).contains(&seconds), "{seconds}");
}

#[test]
fn a_cluster_out_of_reach_is_said_after_the_connection_timeout() {
    let mut cluster = Cluster::new(&[("t", false, vec![1])]);
    cluster.brokers.clear();
    let (outcome, seconds) = cluster.run(query("t", ListTime::Latest));
    let error = outcome.unwrap_err().to_string();
    assert_eq!(error, "the cluster cannot be reached: bootstrap (b1:9092): connection refused");
    assert!((10..12).contains(&seconds), "{seconds}");
}

#[test]
fn an_answer_that_never_passes_ends_with_the_timeout() {
    let mut cluster =
        Cluster::new(&[("t", false, vec![1])]).answering(|_, _, _, _, _| Some((ErrorCode::NOT_LEADER_OR_FOLLOWER, -1)));
    let (outcome, seconds) = cluster.run(query("t", ListTime::Latest));
    let listing = outcome.unwrap();
    assert_eq!(listing.skipped[0].reason, "NOT_LEADER_OR_FOLLOWER (6)");
    assert!((60..62).contains(&seconds), "{seconds}");
}
