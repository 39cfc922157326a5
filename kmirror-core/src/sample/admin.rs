//! How a broker creates, grows and describes topics, as far as a mirror asks for it.

use std::collections::{BTreeMap, VecDeque};

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AnyResponse, CreatableTopic, CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsResult,
    CreateTopicsRequest, CreateTopicsResponse, CreatedTopic, DescribeConfigsRequest, DescribeConfigsResponse,
    DescribedConfig, DescribedResource,
};

use super::broker::{Broker, Release};
use super::log::Log;

/// What a broker does about topics beside its defaults.
#[derive(Debug, Default)]
pub(crate) struct Admin {
    /// By topic, what is set on it.
    pub(crate) settings: BTreeMap<String, BTreeMap<String, String>>,
    /// A setting that no topic is created with, and whether the broker says which one it is.
    pub(crate) refuses_setting: Option<(&'static str, bool)>,
    /// It gives no reasons, as CreateTopics v0 cannot.
    pub(crate) silent: bool,
    /// The answers to the next CreateTopics, in front of `create_says`.
    pub(crate) create_refusals: VecDeque<ErrorCode>,
    /// The answers to the next CreatePartitions.
    pub(crate) grow_refusals: VecDeque<ErrorCode>,
    /// The answer about every topic's settings.
    pub(crate) describe_says: ErrorCode,
    /// How many topics each request was for.
    pub(crate) batches: Vec<usize>,
}

impl Broker {
    /// Sets something on a topic.
    pub(crate) fn set(&mut self, topic: &str, name: &str, value: &str) -> &mut Self {
        self.admin.settings.entry(topic.to_owned()).or_default().insert(name.to_owned(), value.to_owned());
        self
    }

    pub(super) fn create(&mut self, request: &CreateTopicsRequest) -> AnyResponse {
        self.admin.batches.push(request.topics.len());
        let topics = request.topics.iter().map(|topic| {
            let (error_code, message) = self.creates(topic);
            let message = message.filter(|_| !self.admin.silent);
            if error_code.is_ok() && !request.validate_only {
                self.topic(&topic.name, usize::try_from(topic.num_partitions).unwrap());
                for config in &topic.configs {
                    self.set(&topic.name, &config.name, config.value.as_deref().unwrap());
                }
            }
            CreatedTopic { name: topic.name.clone(), error_code, error_message: message, ..CreatedTopic::default() }
        });
        CreateTopicsResponse { topics: topics.collect(), ..CreateTopicsResponse::default() }.into()
    }

    /// Whether a topic could be created; measured: 40 for a name that is unknown, up to 2.0 −1 for a bad value.
    fn creates(&mut self, topic: &CreatableTopic) -> (ErrorCode, Option<String>) {
        if self.topics.contains_key(&topic.name) {
            return (ErrorCode::TOPIC_ALREADY_EXISTS, Some(format!("Topic '{}' already exists.", topic.name)));
        }
        let says = self.admin.create_refusals.pop_front().unwrap_or(self.create_says);
        if !says.is_ok() {
            return (says, None);
        }
        if topic.replication_factor > 1 {
            let message = format!("Replication factor: {} larger than available brokers: 1.", topic.replication_factor);
            return (ErrorCode::INVALID_REPLICATION_FACTOR, Some(message));
        }
        for config in &topic.configs {
            if !self.defaults().iter().any(|(name, _)| *name == config.name) {
                let message = format!("Unknown topic config name: {}", config.name);
                return (ErrorCode::INVALID_CONFIG, Some(message));
            }
            if let Some((bad, named)) = self.admin.refuses_setting
                && bad == config.name
            {
                let code = if self.release < Release::V3_9 {
                    ErrorCode::UNKNOWN_SERVER_ERROR
                } else {
                    ErrorCode::INVALID_CONFIG
                };
                let value = config.value.as_deref().unwrap_or_default();
                return (code, named.then(|| format!("Invalid value {value} for configuration {bad}: it is bad")));
            }
        }
        (ErrorCode::NONE, None)
    }

    pub(super) fn grow(&mut self, request: &CreatePartitionsRequest) -> AnyResponse {
        self.admin.batches.push(request.topics.len());
        let results = request.topics.iter().map(|topic| {
            let wanted = usize::try_from(topic.count).unwrap();
            let says = self.admin.grow_refusals.pop_front().unwrap_or(ErrorCode::NONE);
            let error_code = match self.topics.get_mut(&topic.name) {
                _ if !says.is_ok() => says,
                None => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                Some(logs) if logs.len() >= wanted => ErrorCode::INVALID_PARTITIONS,
                Some(logs) => {
                    if !request.validate_only {
                        logs.resize(wanted, Log::default());
                    }
                    ErrorCode::NONE
                }
            };
            CreatePartitionsResult { name: topic.name.clone(), error_code, error_message: None }
        });
        CreatePartitionsResponse { results: results.collect(), ..CreatePartitionsResponse::default() }.into()
    }

    pub(super) fn describe(&mut self, request: &DescribeConfigsRequest) -> AnyResponse {
        self.admin.batches.push(request.resources.len());
        let results = request.resources.iter().map(|asked| {
            let name = &asked.resource_name;
            let there = self.topics.contains_key(name);
            let error_code = match self.admin.describe_says {
                ErrorCode::NONE if !there => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                says => says,
            };
            let mut described = DescribedResource {
                error_code,
                resource_type: asked.resource_type,
                resource_name: name.clone(),
                ..DescribedResource::default()
            };
            if error_code.is_ok() {
                let set = self.admin.settings.get(name);
                let wanted = |name: &&str| {
                    asked.configuration_keys.as_ref().is_none_or(|keys| keys.iter().any(|key| key == name))
                };
                let known = self.defaults().into_iter().filter(|(name, _)| wanted(name));
                described.configs = known
                    .map(|(name, default)| DescribedConfig {
                        name: name.to_owned(),
                        value: Some(set.and_then(|set| set.get(name)).cloned().unwrap_or_else(|| default.to_owned())),
                        ..DescribedConfig::default()
                    })
                    .collect();
            }
            described
        });
        DescribeConfigsResponse { results: results.collect(), ..DescribeConfigsResponse::default() }.into()
    }

    /// Every setting of a topic that the release knows, and its default (measured).
    fn defaults(&self) -> Vec<(&'static str, &'static str)> {
        const EVER: &str = "9223372036854775807";
        let bytes = if self.release < Release::V3_9 { "1000012" } else { "1048588" };
        let mut known = vec![
            ("cleanup.policy", "delete"),
            ("retention.ms", "604800000"),
            ("retention.bytes", "-1"),
            ("max.message.bytes", bytes),
            ("compression.type", "producer"),
            ("min.insync.replicas", "1"),
            ("message.timestamp.type", "CreateTime"),
            ("message.timestamp.difference.max.ms", EVER),
            ("segment.bytes", "1073741824"),
        ];
        if self.release == Release::V3_9 {
            known.extend([("message.timestamp.before.max.ms", EVER), ("message.timestamp.after.max.ms", EVER)]);
        }
        known
    }
}
