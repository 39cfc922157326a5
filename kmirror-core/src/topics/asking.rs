//! The questions: what is asked of which broker, many topics at a time.

use std::time::Duration;

use kmirror_proto::ApiKey;
use kmirror_proto::messages::{
    AnyRequest, CreatableTopic, CreatableTopicConfig, CreatePartitionsRequest, CreatePartitionsTopic,
    CreateTopicsRequest, DescribeConfigsRequest, DescribeConfigsResource, MetadataRequest, MetadataRequestTopic,
};

use super::job::{Need, Speech, count};
use super::machine::{Question, Topics};
use super::settings::{ASKED, Dialect};
use crate::client::{ApiRanges, CallOptions, Client, Node};
use crate::clock::Now;
use crate::config::Side;

/// What a cluster's brokers speak. The controller's word counts, because it is the one that acts; before it was talked to
/// that of whoever was.
pub(crate) fn ranges(client: &Client) -> Option<&ApiRanges> {
    let metadata = client.metadata();
    let nodes = metadata.controller.into_iter().chain([BOOTSTRAP]).chain(metadata.brokers.keys().copied());
    nodes.into_iter().find_map(|node| client.versions(node))
}

/// What a cluster's brokers can be asked.
pub(super) fn speech(client: &Client) -> Speech {
    let ranges = ranges(client);
    let has = |api, version| ranges.is_some_and(|ranges| ranges.reaches(api, version));
    Speech {
        creates: has(ApiKey::CREATE_TOPICS, 0),
        validates: has(ApiKey::CREATE_TOPICS, 1),
        grows: has(ApiKey::CREATE_PARTITIONS, 0),
        describes: has(ApiKey::DESCRIBE_CONFIGS, 0),
        dialect: ranges.map_or(Dialect { zstd: false, before_after: false }, Dialect::of),
    }
}

impl Topics {
    /// Asks `need` for as many of `names` as fit into the requests that may be out at once; the others stay open.
    pub(super) fn ask(&mut self, now: Now, source: &mut Client, target: &mut Client, need: Need, names: Vec<String>) {
        let out = self.calls.values().filter(|question| question.need == need).count();
        let mut room = calls_max(need).saturating_sub(out);
        let mut names = names.into_iter().peekable();
        while room > 0 && names.peek().is_some() {
            room -= 1;
            let mut topics = Vec::new();
            let mut partitions = 0;
            while let Some(name) = names.next_if(|name| {
                partitions += self.partitions_of(need, name);
                topics.is_empty() || (topics.len() < TOPICS_MAX && partitions <= PARTITIONS_MAX)
            }) {
                topics.push(name);
            }
            let (side, client) = match need {
                Need::Source => (Side::Source, &mut *source),
                Need::Target | Need::Create | Need::Grow | Need::Summon => (Side::Target, &mut *target),
            };
            self.ask_one(now, side, client, Question { need, topics });
        }
    }

    fn ask_one(&mut self, now: Now, side: Side, client: &mut Client, question: Question) {
        let controller = client.metadata().controller.map_or(Node::Any, Node::Id);
        let (node, request, min_version) = match question.need {
            Need::Source | Need::Target => (Node::Any, self.describe(&question), 0),
            // Whether it is only checked is not said before v1.
            Need::Create => (controller, self.create(client, &question), i16::from(self.dry)),
            Need::Grow => (controller, self.grow(client, &question), 0),
            Need::Summon => (Node::Any, summon(&question), 0),
        };
        let options = CallOptions::within(self.timeout).versions(min_version, i16::MAX);
        let call = client.call(now, node, request, options);
        for name in &question.topics {
            self.open.remove(name);
            if let Some(job) = self.jobs.get_mut(name) {
                job.asked = true;
            }
        }
        self.calls.insert((side, call), question);
    }

    fn partitions_of(&self, need: Need, name: &str) -> i32 {
        match need {
            Need::Create | Need::Grow => self.jobs.get(name).map_or(0, |job| job.wanted.partitions),
            Need::Source | Need::Target | Need::Summon => 0,
        }
    }

    fn describe(&self, question: &Question) -> AnyRequest {
        let jobs = question.topics.iter().filter_map(|name| self.jobs.get(name));
        let resources = jobs.map(|job| DescribeConfigsResource {
            resource_type: DescribeConfigsResource::TOPIC,
            resource_name: match question.need {
                Need::Source => job.wanted.source.clone(),
                Need::Target | Need::Create | Need::Grow | Need::Summon => job.wanted.target.clone(),
            },
            configuration_keys: Some(ASKED.map(str::to_owned).into()),
        });
        let resources = resources.collect();
        DescribeConfigsRequest { resources, ..DescribeConfigsRequest::default() }.into()
    }

    fn create(&mut self, client: &Client, question: &Question) -> AnyRequest {
        let brokers = client.metadata().brokers.len();
        let dialect = speech(client).dialect;
        let mut topics = Vec::with_capacity(question.topics.len());
        for name in &question.topics {
            let Some(job) = self.jobs.get_mut(name) else { continue };
            let draft = job.blueprint(brokers, dialect);
            let config = |(name, value): (&String, &String)| CreatableTopicConfig {
                name: name.clone(),
                value: Some(value.clone()),
            };
            topics.push(CreatableTopic {
                name: name.clone(),
                num_partitions: draft.partitions,
                replication_factor: draft.replication_factor,
                assignments: Vec::new(),
                configs: draft.settings.iter().map(config).collect(),
            });
            job.asks = draft.partitions;
            job.draft = Some(draft);
        }
        CreateTopicsRequest { topics, timeout_ms: self.patience_ms(), validate_only: self.dry }.into()
    }

    fn grow(&mut self, client: &Client, question: &Question) -> AnyRequest {
        let mut topics = Vec::with_capacity(question.topics.len());
        for name in &question.topics {
            let Some(job) = self.jobs.get_mut(name) else { continue };
            job.had = client.metadata().topics.get(name).map_or(0, |topic| count(topic.partitions.len()));
            job.asks = job.wanted.partitions;
            topics.push(CreatePartitionsTopic { name: name.clone(), count: job.asks, assignments: None });
        }
        CreatePartitionsRequest { topics, timeout_ms: self.patience_ms(), validate_only: self.dry }.into()
    }

    /// How long the controller may keep a request open. What it has begun goes on afterwards, and shows in the metadata;
    /// meanwhile everything else that is asked over the same connection waits.
    fn patience_ms(&self) -> i32 {
        i32::try_from((self.timeout / 2).min(PATIENCE).as_millis()).unwrap_or(i32::MAX)
    }
}

fn summon(question: &Question) -> AnyRequest {
    let topic = |name: &String| MetadataRequestTopic { topic_id: [0; 16], name: Some(name.clone()) };
    let request = MetadataRequest {
        topics: Some(question.topics.iter().map(topic).collect()),
        allow_auto_topic_creation: true,
        include_topic_authorized_operations: false,
        include_cluster_authorized_operations: false,
    };
    request.into()
}

/// Requests of one kind that are out at once: settings are read by any broker, changes are made by the controller, one
/// request after the other anyway.
fn calls_max(need: Need) -> usize {
    match need {
        Need::Source | Need::Target => 4,
        Need::Create | Need::Grow | Need::Summon => 1,
    }
}

/// What the client calls whoever it reached first.
const BOOTSTRAP: i32 = -1;

/// Topics in one request: some 100 kB of settings in the answer.
const TOPICS_MAX: usize = 250;

/// Partitions that one request makes, unless one topic has more: a controller of 3.x and 4.x takes no request that makes
/// 10,000 records in its log, and each partition is one.
const PARTITIONS_MAX: i32 = 2_000;

const PATIENCE: Duration = Duration::from_secs(5);
