//! Metadata (3), versions 0-13: the brokers, and who leads which partition.
//!
//! ```text
//! request   v0     [name]                            empty = all topics
//!           v1+    null = all topics, empty = none
//!           v4+    ... allow auto topic creation
//!           v8+    ... include cluster (v8-v10), topic operations
//!           v10+   [topic id, nullable name]         compact from v9 on
//! response  v0     [node, host, port], [error, name, [error, partition, leader, [replica], [isr]]]
//!           v1     + rack, controller, is internal         v2  + cluster id       v3   + throttle in front
//!           v5     + [offline replica]                     v7  + leader epoch     v8   + authorized operations
//!           v9     compact                                 v10 + topic id         v12  topic name may be null
//!           v13    + error at the end
//! ```
//!
//! Java: `MetadataRequest`, `MetadataResponse`; topic ids: KIP-516, the error of the whole answer: KIP-1102.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// What Kafka sends where no authorized operations were asked for.
const OPERATIONS_NONE: i32 = i32::MIN;

/// Asks for brokers and topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataRequest {
    /// The topics; `None` asks for all. v0 can not ask for none.
    pub topics: Option<Vec<MetadataRequestTopic>>,
    /// May the broker create what it does not know? Before v4 a broker does as it is configured, whatever stands
    /// here: do not name topics there that must not come into being.
    pub allow_auto_topic_creation: bool,
    /// Ask for the operations that this client may do on each topic (v8+).
    pub include_topic_authorized_operations: bool,
    /// Ask for the operations that this client may do on the cluster (v8-v10).
    pub include_cluster_authorized_operations: bool,
}

/// One topic that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataRequestTopic {
    /// Its id, all zero when it is asked for by name (v10+).
    pub topic_id: [u8; 16],
    /// Its name; `None` asks by id (brokers take that from v12 on).
    pub name: Option<String>,
}

/// Brokers and topics as one broker sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataResponse {
    /// How long this client is throttled (v3+).
    pub throttle_time_ms: i32,
    /// The brokers that are alive.
    pub brokers: Vec<MetadataBroker>,
    /// The id of the cluster (v2+).
    pub cluster_id: Option<String>,
    /// The controller, -1 when unknown (v1+).
    pub controller_id: i32,
    /// The topics.
    pub topics: Vec<MetadataTopic>,
    /// Bits of what this client may do on the cluster, `i32::MIN` when not asked for (v8-v10).
    pub cluster_authorized_operations: i32,
    /// What is wrong with the client's view of the cluster: 129 asks it to begin anew (v13).
    pub error_code: ErrorCode,
}

/// One broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataBroker {
    /// Its id.
    pub node_id: i32,
    /// The host that it advertises.
    pub host: String,
    /// The port that it advertises, as sent: not checked to be one.
    pub port: i32,
    /// Its rack (v1+).
    pub rack: Option<String>,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataTopic {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// Its name; empty when the broker sent null (v12: asked for by an id that it does not know).
    pub name: String,
    /// Its id, all zero when unknown (v10+).
    pub topic_id: [u8; 16],
    /// Is it one of Kafka's own (v1+)?
    pub is_internal: bool,
    /// Its partitions, in any order.
    pub partitions: Vec<MetadataPartition>,
    /// Bits of what this client may do on it, `i32::MIN` when not asked for (v8+).
    pub topic_authorized_operations: i32,
}

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataPartition {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// Its index.
    pub partition_index: i32,
    /// The leader, -1 when there is none.
    pub leader_id: i32,
    /// The leader's epoch, -1 when unknown (v7+).
    pub leader_epoch: i32,
    /// The brokers that hold it.
    pub replica_nodes: Vec<i32>,
    /// Those that are in sync.
    pub isr_nodes: Vec<i32>,
    /// Those that are offline (v5+).
    pub offline_replicas: Vec<i32>,
}

impl Default for MetadataRequest {
    fn default() -> Self {
        Self {
            topics: None,
            allow_auto_topic_creation: true,
            include_topic_authorized_operations: false,
            include_cluster_authorized_operations: false,
        }
    }
}

impl Default for MetadataResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            brokers: Vec::new(),
            cluster_id: None,
            controller_id: -1,
            topics: Vec::new(),
            cluster_authorized_operations: OPERATIONS_NONE,
            error_code: ErrorCode::NONE,
        }
    }
}

impl Default for MetadataTopic {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            name: String::new(),
            topic_id: [0; 16],
            is_internal: false,
            partitions: Vec::new(),
            topic_authorized_operations: OPERATIONS_NONE,
        }
    }
}

impl Default for MetadataPartition {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            partition_index: 0,
            leader_id: -1,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            offline_replicas: Vec::new(),
        }
    }
}

impl Request for MetadataRequest {
    const KEY: ApiKey = ApiKey::METADATA;
    const VERSIONS: RangeInclusive<i16> = 0..=13;
    const FLEXIBLE_FROM: i16 = 9;
    type Response = MetadataResponse;
}

impl Message for MetadataRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        match &self.topics {
            None if version == 0 => w.put_length(form, 0, "topics")?,
            None => w.put_null(form),
            Some(topics) => {
                refuse_left_out(version == 0 && topics.is_empty(), "metadata of no topics", version)?;
                w.put_items(form, topics, "topics", |w, topic| topic.encode(version, w))?;
            }
        }
        if version >= 4 {
            w.put_bool(self.allow_auto_topic_creation);
        }
        if (8..=10).contains(&version) {
            w.put_bool(self.include_cluster_authorized_operations);
        } else {
            refuse_left_out(self.include_cluster_authorized_operations, "cluster authorized operations", version)?;
        }
        if version >= 8 {
            w.put_bool(self.include_topic_authorized_operations);
        } else {
            refuse_left_out(self.include_topic_authorized_operations, "topic authorized operations", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        // The smallest topic: an empty name, or an id, a null name and no tags.
        let topic_bytes_min = if version >= 10 { 18 } else { 2 };
        request.topics =
            r.nullable_items(form, topic_bytes_min, "topics", |r| MetadataRequestTopic::decode(version, r))?;
        if version == 0 {
            let topics = request.topics.ok_or(DecodeError::Null { what: "topics" })?;
            request.topics = Some(topics).filter(|topics| !topics.is_empty());
        }
        if version >= 4 {
            request.allow_auto_topic_creation = r.bool("allow auto topic creation")?;
        }
        if (8..=10).contains(&version) {
            request.include_cluster_authorized_operations = r.bool("include cluster authorized operations")?;
        }
        if version >= 8 {
            request.include_topic_authorized_operations = r.bool("include topic authorized operations")?;
        }
        r.skip_tagged_fields(form, "metadata request")?;
        Ok(request)
    }
}

impl MetadataRequestTopic {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 10 {
            w.put_slice(&self.topic_id);
            w.put_nullable_string(form, self.name.as_deref(), "topic name")?;
        } else {
            let name = self.name.as_deref().ok_or(EncodeError::NotInVersion { what: "topic by id", version })?;
            w.put_string(form, name, "topic name")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut topic = Self::default();
        if version >= 10 {
            topic.topic_id = r.array("topic id")?;
            topic.name = r.nullable_string(form, "topic name")?;
        } else {
            topic.name = Some(r.string(form, "topic name")?);
        }
        r.skip_tagged_fields(form, "metadata request topic")?;
        Ok(topic)
    }
}

impl Message for MetadataResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 3 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_items(form, &self.brokers, "brokers", |w, broker| broker.encode(version, w))?;
        if version >= 2 {
            w.put_nullable_string(form, self.cluster_id.as_deref(), "cluster id")?;
        }
        if version >= 1 {
            w.put_i32(self.controller_id);
        }
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(version, w))?;
        if (8..=10).contains(&version) {
            w.put_i32(self.cluster_authorized_operations);
        }
        if version >= 13 {
            w.put_i16(self.error_code.0);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 3 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        response.brokers = r.items(form, 10, "brokers", |r| MetadataBroker::decode(version, r))?;
        if version >= 2 {
            response.cluster_id = r.nullable_string(form, "cluster id")?;
        }
        if version >= 1 {
            response.controller_id = r.i32("controller id")?;
        }
        response.topics = r.items(form, 8, "topics", |r| MetadataTopic::decode(version, r))?;
        if (8..=10).contains(&version) {
            response.cluster_authorized_operations = r.i32("cluster authorized operations")?;
        }
        if version >= 13 {
            response.error_code = ErrorCode(r.i16("metadata error code")?);
        }
        r.skip_tagged_fields(form, "metadata response")?;
        Ok(response)
    }
}

impl MetadataBroker {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.node_id);
        w.put_string(form, &self.host, "broker host")?;
        w.put_i32(self.port);
        if version >= 1 {
            w.put_nullable_string(form, self.rack.as_deref(), "broker rack")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut broker = Self {
            node_id: r.i32("broker id")?,
            host: r.string(form, "broker host")?,
            port: r.i32("broker port")?,
            rack: None,
        };
        if version >= 1 {
            broker.rack = r.nullable_string(form, "broker rack")?;
        }
        r.skip_tagged_fields(form, "broker")?;
        Ok(broker)
    }
}

impl MetadataTopic {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        let name = Some(self.name.as_str()).filter(|name| version < 12 || !name.is_empty());
        w.put_nullable_string(form, name, "topic name")?;
        if version >= 10 {
            w.put_slice(&self.topic_id);
        }
        if version >= 1 {
            w.put_bool(self.is_internal);
        }
        w.put_items(form, &self.partitions, "partitions", |w, partition| partition.encode(version, w))?;
        if version >= 8 {
            w.put_i32(self.topic_authorized_operations);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut topic = Self { error_code: ErrorCode(r.i16("topic error code")?), ..Self::default() };
        topic.name = if version >= 12 {
            r.nullable_string(form, "topic name")?.unwrap_or_default()
        } else {
            r.string(form, "topic name")?
        };
        if version >= 10 {
            topic.topic_id = r.array("topic id")?;
        }
        if version >= 1 {
            topic.is_internal = r.bool("topic is internal")?;
        }
        topic.partitions = r.items(form, 18, "partitions", |r| MetadataPartition::decode(version, r))?;
        if version >= 8 {
            topic.topic_authorized_operations = r.i32("topic authorized operations")?;
        }
        r.skip_tagged_fields(form, "topic")?;
        Ok(topic)
    }
}

impl MetadataPartition {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        w.put_i32(self.partition_index);
        w.put_i32(self.leader_id);
        if version >= 7 {
            w.put_i32(self.leader_epoch);
        }
        w.put_i32s(form, &self.replica_nodes, "replicas")?;
        w.put_i32s(form, &self.isr_nodes, "in-sync replicas")?;
        if version >= 5 {
            w.put_i32s(form, &self.offline_replicas, "offline replicas")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut partition = Self {
            error_code: ErrorCode(r.i16("partition error code")?),
            partition_index: r.i32("partition index")?,
            leader_id: r.i32("leader id")?,
            ..Self::default()
        };
        if version >= 7 {
            partition.leader_epoch = r.i32("leader epoch")?;
        }
        partition.replica_nodes = r.i32s(form, "replicas")?;
        partition.isr_nodes = r.i32s(form, "in-sync replicas")?;
        if version >= 5 {
            partition.offline_replicas = r.i32s(form, "offline replicas")?;
        }
        r.skip_tagged_fields(form, "partition")?;
        Ok(partition)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, MetadataRequest::FLEXIBLE_FROM)
}
