//! One broker that is a whole cluster, in memory: it appends, checks sequences and answers as the releases of
//! `crate::rules` do, as far as a mirror can tell.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use kmirror_proto::messages::{
    AnyRequest, AnyResponse, ApiVersionRange, ApiVersionsResponse, CommittedPartition, CommittedTopic, Coordinator,
    FetchRequest, FetchResponse, FetchableTopic, FetchedOffset, FetchedOffsetGroup, FetchedOffsetTopic,
    FetchedPartition, FindCoordinatorResponse, InitProducerIdResponse, ListOffsetsResponse, ListedOffset, ListedTopic,
    MetadataBroker, MetadataPartition, MetadataRequest, MetadataResponse, MetadataTopic, OffsetCommitResponse,
    OffsetFetchResponse, ProduceRequest, ProduceResponse, ProducedPartition, ProducedTopic,
};
use kmirror_proto::{ApiKey, ErrorCode};

use super::admin::Admin;
use super::log::Log;

/// Which release a broker is, as far as it matters to a mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Release {
    /// No CreateTopics.
    V0_10_0,
    /// Message sets, no producer ids.
    V0_10_2,
    /// Refuses unknown producer ids that do not begin at 0.
    V2_0,
    /// Accepts them.
    V3_9,
}

/// What goes wrong with one write to a topic that is mirrored.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is appended, and the connection ends without an answer.
    AckLost,
    /// The connection ends before anything is appended.
    Reset,
    /// Nothing is appended, and every partition is refused.
    Refuse(ErrorCode),
    /// It is appended, and every partition says this.
    AppendAndSay(ErrorCode),
    /// The connection ends, and what was sent is appended so much later.
    AppendLate(Duration),
    /// Nothing comes back for so long.
    Slow(Duration),
}

/// What a broker does with a request.
pub(crate) enum Reaction {
    Answer(AnyResponse),
    /// It is looked at again after so long.
    Hold(Duration),
    /// The connection ends; what is given is appended after that time.
    Close(Option<(Duration, ProduceRequest)>),
}

/// One broker with all its partitions.
pub(crate) struct Broker {
    pub(crate) release: Release,
    pub(crate) host: &'static str,
    pub(crate) cluster_id: &'static str,
    pub(crate) topics: BTreeMap<String, Vec<Log>>,
    pub(crate) committed: BTreeMap<(String, i32), i64>,
    /// The mirror's group has live members.
    pub(crate) group_alive: bool,
    /// The faults of the next writes to mirrored topics; `None` is none.
    pub(crate) faults: VecDeque<Option<Fault>>,
    /// The next writes to the ledger are answered so.
    pub(crate) ledger_refusals: VecDeque<ErrorCode>,
    /// The connection ends when the next one of these comes.
    pub(crate) hangs_up_on: Option<ApiKey>,
    /// Whether a topic is created when its name is asked for.
    pub(crate) auto_create: bool,
    /// The answer to every CreateTopics.
    pub(crate) create_says: ErrorCode,
    /// What else it does about topics.
    pub(crate) admin: Admin,
    /// Nobody leads any partition.
    pub(crate) leaderless: bool,
    /// Not to be reached.
    pub(crate) down: bool,
    /// The largest batch that is taken, bytes.
    pub(crate) batch_bytes_max: usize,
    /// A batch that holds this value is refused, as one without a key by a compacted topic.
    pub(crate) refuses_value: Option<&'static str>,
    pub(crate) asked: BTreeMap<ApiKey, usize>,
    /// Writes to mirrored topics, as they came.
    pub(crate) writes: Vec<ProduceRequest>,
    next_producer: i64,
}

const NODE: i32 = 1;

impl Broker {
    pub(crate) fn new(release: Release, host: &'static str) -> Self {
        Self {
            release,
            host,
            cluster_id: host,
            topics: BTreeMap::new(),
            committed: BTreeMap::new(),
            group_alive: false,
            faults: VecDeque::new(),
            ledger_refusals: VecDeque::new(),
            hangs_up_on: None,
            auto_create: true,
            create_says: ErrorCode::NONE,
            admin: Admin::default(),
            leaderless: false,
            down: false,
            batch_bytes_max: 1_000_012,
            refuses_value: None,
            asked: BTreeMap::new(),
            writes: Vec::new(),
            next_producer: 100,
        }
    }

    /// Gives the broker a topic.
    pub(crate) fn topic(&mut self, name: &str, partitions: usize) -> &mut Self {
        self.topics.insert(name.to_owned(), vec![Log::default(); partitions]);
        self
    }

    pub(crate) fn log(&mut self, topic: &str, partition: usize) -> &mut Log {
        &mut self.topics.get_mut(topic).unwrap()[partition]
    }

    pub(crate) fn times_asked(&self, key: ApiKey) -> usize {
        self.asked.get(&key).copied().unwrap_or(0)
    }

    /// `again`: the request was held and is looked at for the last time.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a mirror asks for these alone")]
    pub(crate) fn serve(&mut self, version: i16, request: AnyRequest, again: bool) -> Reaction {
        let key = request.key();
        if !again {
            *self.asked.entry(key).or_default() += 1;
        }
        if self.hangs_up_on == Some(key) {
            self.hangs_up_on = None;
            return Reaction::Close(None);
        }
        Reaction::Answer(match request {
            AnyRequest::ApiVersions(_) => self.versions(version),
            AnyRequest::Metadata(request) => self.metadata(&request),
            AnyRequest::ListOffsets(request) => {
                let topic = |name: String, partitions| ListedTopic { name, partitions };
                let listed = request.topics.into_iter().map(|asked| {
                    let of = |ask: kmirror_proto::messages::ListOffsetsPartition| {
                        self.bound(&asked.name, ask.partition_index, ask.timestamp, request.isolation_level == 1)
                    };
                    topic(asked.name.clone(), asked.partitions.into_iter().map(of).collect())
                });
                ListOffsetsResponse { topics: listed.collect(), ..ListOffsetsResponse::default() }.into()
            }
            AnyRequest::Fetch(request) => return self.fetch(&request, again),
            AnyRequest::Produce(request) => return self.produce(request, again),
            AnyRequest::InitProducerId(_) => {
                self.next_producer += 1;
                let producer_id = self.next_producer;
                InitProducerIdResponse { producer_id, ..InitProducerIdResponse::default() }.into()
            }
            AnyRequest::FindCoordinator(_) => {
                let host = self.host.to_owned();
                let coordinator = Coordinator { node_id: NODE, host, port: 1, ..Coordinator::default() };
                FindCoordinatorResponse::from(coordinator).into()
            }
            AnyRequest::CreateTopics(request) => self.create(&request),
            AnyRequest::OffsetFetch(request) => {
                let topics = request.groups.into_iter().filter_map(|group| group.topics);
                self.committed(&topics.flatten().collect::<Vec<_>>())
            }
            AnyRequest::OffsetCommit(request) => self.commit(request.topics),
            AnyRequest::CreatePartitions(request) => self.grow(&request),
            AnyRequest::DescribeConfigs(request) => self.describe(&request),
            other => panic!("{}: not an api that this broker serves", other.key()),
        })
    }

    fn versions(&self, version: i16) -> AnyResponse {
        let newest: &[(ApiKey, i16)] = match self.release {
            Release::V0_10_0 | Release::V0_10_2 => {
                &[(ApiKey::PRODUCE, 2), (ApiKey::FETCH, 3), (ApiKey::LIST_OFFSETS, 1), (ApiKey::METADATA, 2)]
            }
            Release::V2_0 => {
                &[(ApiKey::PRODUCE, 6), (ApiKey::FETCH, 8), (ApiKey::LIST_OFFSETS, 3), (ApiKey::METADATA, 6)]
            }
            Release::V3_9 => {
                &[(ApiKey::PRODUCE, 11), (ApiKey::FETCH, 12), (ApiKey::LIST_OFFSETS, 8), (ApiKey::METADATA, 12)]
            }
        };
        let mut ranges = newest.to_vec();
        ranges.extend([(ApiKey::FIND_COORDINATOR, 0), (ApiKey::OFFSET_FETCH, 1), (ApiKey::OFFSET_COMMIT, 2)]);
        ranges.push((ApiKey::API_VERSIONS, if self.release == Release::V3_9 { 3 } else { 0 }));
        match self.release {
            Release::V0_10_0 => {}
            Release::V0_10_2 => ranges.push((ApiKey::CREATE_TOPICS, 1)),
            Release::V2_0 => ranges.extend([
                (ApiKey::CREATE_TOPICS, 3),
                (ApiKey::INIT_PRODUCER_ID, 1),
                (ApiKey::DESCRIBE_CONFIGS, 2),
                (ApiKey::CREATE_PARTITIONS, 1),
            ]),
            Release::V3_9 => ranges.extend([
                (ApiKey::CREATE_TOPICS, 7),
                (ApiKey::INIT_PRODUCER_ID, 4),
                (ApiKey::DESCRIBE_CONFIGS, 4),
                (ApiKey::CREATE_PARTITIONS, 3),
            ]),
        }
        if version > 2 && self.release != Release::V3_9 {
            let error_code = ErrorCode::UNSUPPORTED_VERSION;
            return ApiVersionsResponse { error_code, ..ApiVersionsResponse::default() }.into();
        }
        let range = |(api_key, max_version)| ApiVersionRange { api_key, min_version: 0, max_version };
        let api_keys = ranges.into_iter().map(range).collect();
        ApiVersionsResponse { api_keys, ..ApiVersionsResponse::default() }.into()
    }

    fn metadata(&mut self, request: &MetadataRequest) -> AnyResponse {
        for name in request.topics.iter().flatten().filter_map(|topic| topic.name.as_deref()) {
            if self.auto_create && !self.topics.contains_key(name) {
                self.topic(name, 1);
            }
        }
        let partition = |index: usize| MetadataPartition {
            partition_index: i32::try_from(index).unwrap(),
            leader_id: if self.leaderless { -1 } else { NODE },
            leader_epoch: 0,
            replica_nodes: vec![NODE],
            ..MetadataPartition::default()
        };
        let topics = self.topics.iter().map(|(name, logs)| MetadataTopic {
            name: name.clone(),
            partitions: (0..logs.len()).map(partition).collect(),
            ..MetadataTopic::default()
        });
        let broker = MetadataBroker { node_id: NODE, host: self.host.to_owned(), port: 1, rack: None };
        MetadataResponse {
            topics: topics.collect(),
            brokers: vec![broker],
            cluster_id: (self.release != Release::V0_10_0).then(|| self.cluster_id.to_owned()),
            controller_id: NODE,
            ..MetadataResponse::default()
        }
        .into()
    }

    fn bound(&self, topic: &str, partition: i32, timestamp: i64, committed: bool) -> ListedOffset {
        let log = self.topics.get(topic).and_then(|logs| logs.get(usize::try_from(partition).unwrap()));
        let (error_code, offset) = match (log, timestamp) {
            (None, _) => (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, -1),
            (Some(log), -2) => (ErrorCode::NONE, log.start),
            (Some(log), _) => (ErrorCode::NONE, log.stable.filter(|_| committed).unwrap_or(log.end)),
        };
        ListedOffset { partition_index: partition, error_code, offset, ..ListedOffset::default() }
    }

    fn fetch(&self, request: &FetchRequest, again: bool) -> Reaction {
        let committed_only = request.isolation_level == 1;
        let mut bytes = 0;
        let mut urgent = request.min_bytes == 0;
        let mut topics = Vec::new();
        for asked in &request.topics {
            let mut partitions = Vec::new();
            for ask in &asked.partitions {
                let log =
                    self.topics.get(&asked.name).and_then(|logs| logs.get(usize::try_from(ask.partition).unwrap()));
                let room = usize::try_from(request.max_bytes).unwrap().saturating_sub(bytes);
                let answer = log.map_or_else(
                    || refused(ask.partition, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
                    |log| log.fetch(ask, room, bytes == 0, committed_only),
                );
                urgent |= !answer.error_code.is_ok();
                bytes += answer.records.as_ref().map_or(0, bytes::Bytes::len);
                partitions.push(answer);
            }
            topics.push(FetchableTopic { name: asked.name.clone(), partitions, ..FetchableTopic::default() });
        }
        if bytes == 0 && !urgent && !again && request.max_wait_ms > 0 {
            return Reaction::Hold(Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap()));
        }
        Reaction::Answer(FetchResponse { topics, ..FetchResponse::default() }.into())
    }

    fn produce(&mut self, request: ProduceRequest, again: bool) -> Reaction {
        let is_ledger = request.topics.iter().all(|topic| topic.name.ends_with(".ledger"));
        if is_ledger {
            return Reaction::Answer(match self.ledger_refusals.pop_front() {
                Some(code) => refusal(&request, code),
                None => self.append(&request),
            });
        }
        let fault = if again { None } else { self.faults.pop_front().flatten() };
        if !again {
            self.writes.push(request.clone());
        }
        match fault {
            None => Reaction::Answer(self.append(&request)),
            Some(Fault::AckLost) => {
                self.append(&request);
                Reaction::Close(None)
            }
            Some(Fault::Reset) => Reaction::Close(None),
            Some(Fault::Refuse(code)) => Reaction::Answer(refusal(&request, code)),
            Some(Fault::AppendAndSay(code)) => {
                self.append(&request);
                Reaction::Answer(refusal(&request, code))
            }
            Some(Fault::AppendLate(after)) => Reaction::Close(Some((after, request))),
            Some(Fault::Slow(after)) => Reaction::Hold(after),
        }
    }

    /// Appends what a request holds, as far as the partitions take it.
    pub(crate) fn append(&mut self, request: &ProduceRequest) -> AnyResponse {
        let (release, batch_bytes_max, bad) = (self.release, self.batch_bytes_max, self.refuses_value);
        let topics = request.topics.iter().map(|topic| {
            let mut logs = self.topics.get_mut(&topic.name);
            let partitions = topic.partitions.iter().map(|part| {
                let log = logs.as_mut().and_then(|logs| logs.get_mut(usize::try_from(part.index).unwrap()));
                let records: bytes::Bytes = part.records.0.concat().into();
                let is_bad = |seen: &super::Seen| bad.is_some() && seen.value.as_deref() == bad;
                let appended = match log {
                    Some(_) if super::records_of(records.clone()).iter().any(is_bad) => Err(ErrorCode::INVALID_RECORD),
                    Some(log) => log.append(release, batch_bytes_max, records),
                    None => Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
                };
                produced(part.index, appended)
            });
            ProducedTopic { name: topic.name.clone(), partitions: partitions.collect(), ..ProducedTopic::default() }
        });
        ProduceResponse { topics: topics.collect(), ..ProduceResponse::default() }.into()
    }

    fn committed(&self, topics: &[kmirror_proto::messages::OffsetFetchTopic]) -> AnyResponse {
        let topics = topics.iter().map(|topic| {
            let partitions = topic.partition_indexes.iter().map(|partition_index| FetchedOffset {
                partition_index: *partition_index,
                committed_offset: self.committed.get(&(topic.name.clone(), *partition_index)).copied().unwrap_or(-1),
                ..FetchedOffset::default()
            });
            FetchedOffsetTopic {
                name: topic.name.clone(),
                partitions: partitions.collect(),
                ..FetchedOffsetTopic::default()
            }
        });
        OffsetFetchResponse::from(FetchedOffsetGroup { topics: topics.collect(), ..FetchedOffsetGroup::default() })
            .into()
    }

    fn commit(&mut self, topics: Vec<kmirror_proto::messages::OffsetCommitTopic>) -> AnyResponse {
        let error_code = if self.group_alive { ErrorCode::UNKNOWN_MEMBER_ID } else { ErrorCode::NONE };
        let topics = topics.into_iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|partition| {
                if !self.group_alive {
                    let key = (topic.name.clone(), partition.partition_index);
                    self.committed.insert(key, partition.committed_offset);
                }
                CommittedPartition { partition_index: partition.partition_index, error_code }
            });
            CommittedTopic { name: topic.name.clone(), partitions: partitions.collect(), ..CommittedTopic::default() }
        });
        OffsetCommitResponse { topics: topics.collect(), ..OffsetCommitResponse::default() }.into()
    }
}

fn produced(index: i32, appended: Result<i64, ErrorCode>) -> ProducedPartition {
    ProducedPartition {
        index,
        error_code: appended.err().unwrap_or(ErrorCode::NONE),
        base_offset: appended.unwrap_or(-1),
        ..ProducedPartition::default()
    }
}

fn refusal(request: &ProduceRequest, code: ErrorCode) -> AnyResponse {
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|part| produced(part.index, Err(code))).collect();
        ProducedTopic { name: topic.name.clone(), partitions, ..ProducedTopic::default() }
    });
    ProduceResponse { topics: topics.collect(), ..ProduceResponse::default() }.into()
}

/// fact F7: an error answers with −1 everywhere.
pub(super) fn refused(partition_index: i32, error_code: ErrorCode) -> FetchedPartition {
    FetchedPartition { partition_index, error_code, records: Some(bytes::Bytes::new()), ..FetchedPartition::default() }
}
