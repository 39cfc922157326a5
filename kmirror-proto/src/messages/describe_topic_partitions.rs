//! DescribeTopicPartitions (75), version 0: topics and their partitions, page by page.
//!
//! ```text
//! request   [topic], partition limit, nullable cursor                                 compact
//! response  throttle, [error, nullable name, topic id, is internal, [partition], operations], nullable cursor
//! partition error, partition, leader, leader epoch, [replica], [isr], nullable [eligible leader], nullable [last known
//!           eligible leader], [offline replica]
//! cursor    topic, partition
//! ```
//!
//! 3.7 and newer, on KRaft. Java: `DescribeTopicPartitionsRequest`, `DescribeTopicPartitionsResponse`; KIP-966.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for topics and their partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribeTopicPartitionsRequest {
    /// The topics; none asks for all.
    pub topics: Vec<DescribeTopicPartitionsTopic>,
    /// How many partitions may come back; brokers have a limit of their own.
    pub response_partition_limit: i32,
    /// Where to go on, `None` at the beginning.
    pub cursor: Option<TopicPartitionCursor>,
}

/// One topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeTopicPartitionsTopic {
    /// Its name.
    pub name: String,
}

/// The first partition of the next page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicPartitionCursor {
    /// Its topic.
    pub topic_name: String,
    /// Its index.
    pub partition_index: i32,
}

/// Topics and their partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeTopicPartitionsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The topics, by name.
    pub topics: Vec<DescribedTopic>,
    /// Where to go on, `None` at the end.
    pub next_cursor: Option<TopicPartitionCursor>,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedTopic {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// Its name.
    pub name: Option<String>,
    /// Its id, all zero when unknown.
    pub topic_id: [u8; 16],
    /// Is it one of Kafka's own?
    pub is_internal: bool,
    /// Its partitions on this page.
    pub partitions: Vec<DescribedPartition>,
    /// Bits of what this client may do on it.
    pub topic_authorized_operations: i32,
}

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedPartition {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// Its index.
    pub partition_index: i32,
    /// The leader, -1 when there is none.
    pub leader_id: i32,
    /// The leader's epoch, -1 when unknown.
    pub leader_epoch: i32,
    /// The brokers that hold it.
    pub replica_nodes: Vec<i32>,
    /// Those that are in sync.
    pub isr_nodes: Vec<i32>,
    /// Those that may lead it though they are not in sync, `None` when unknown.
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// Those that might, as it was last known; `None` when unknown.
    pub last_known_elr: Option<Vec<i32>>,
    /// Those that are offline.
    pub offline_replicas: Vec<i32>,
}

impl Default for DescribeTopicPartitionsRequest {
    fn default() -> Self {
        Self { topics: Vec::new(), response_partition_limit: 2000, cursor: None }
    }
}

impl Default for DescribedTopic {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            name: None,
            topic_id: [0; 16],
            is_internal: false,
            partitions: Vec::new(),
            topic_authorized_operations: i32::MIN,
        }
    }
}

impl Default for DescribedPartition {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            partition_index: 0,
            leader_id: 0,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            eligible_leader_replicas: None,
            last_known_elr: None,
            offline_replicas: Vec::new(),
        }
    }
}

impl Request for DescribeTopicPartitionsRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_TOPIC_PARTITIONS;
    const VERSIONS: RangeInclusive<i16> = 0..=0;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = DescribeTopicPartitionsResponse;
}

impl Message for DescribeTopicPartitionsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            w.put_string(form, &topic.name, "topic name")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_i32(self.response_partition_limit);
        TopicPartitionCursor::encode_nullable(self.cursor.as_ref(), form, w)?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            topics: r.items(form, 2, "topics", |r| {
                let topic = DescribeTopicPartitionsTopic { name: r.string(form, "topic name")? };
                r.skip_tagged_fields(form, "describe topic partitions topic")?;
                Ok(topic)
            })?,
            response_partition_limit: r.i32("response partition limit")?,
            cursor: TopicPartitionCursor::decode_nullable(form, r)?,
        };
        r.skip_tagged_fields(form, "describe topic partitions request")?;
        Ok(request)
    }
}

/// A structure that may be null begins with a byte: 1, or -1 and nothing behind it.
impl TopicPartitionCursor {
    fn encode_nullable(cursor: Option<&Self>, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        let Some(cursor) = cursor else {
            w.put_i8(-1);
            return Ok(());
        };
        w.put_i8(1);
        w.put_string(form, &cursor.topic_name, "topic name")?;
        w.put_i32(cursor.partition_index);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode_nullable(form: Form, r: &mut Reader) -> Result<Option<Self>, DecodeError> {
        if r.i8("cursor")? < 0 {
            return Ok(None);
        }
        let cursor = Self { topic_name: r.string(form, "topic name")?, partition_index: r.i32("partition index")? };
        r.skip_tagged_fields(form, "topic partition cursor")?;
        Ok(Some(cursor))
    }
}

impl Message for DescribeTopicPartitionsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        TopicPartitionCursor::encode_nullable(self.next_cursor.as_ref(), form, w)?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            topics: r.items(form, 26, "topics", |r| DescribedTopic::decode(form, r))?,
            next_cursor: TopicPartitionCursor::decode_nullable(form, r)?,
        };
        r.skip_tagged_fields(form, "describe topic partitions response")?;
        Ok(response)
    }
}

impl DescribedTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.name.as_deref(), "topic name")?;
        w.put_slice(&self.topic_id);
        w.put_bool(self.is_internal);
        w.put_items(form, &self.partitions, "partitions", |w, partition| partition.encode(form, w))?;
        w.put_i32(self.topic_authorized_operations);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            error_code: ErrorCode(r.i16("topic error code")?),
            name: r.nullable_string(form, "topic name")?,
            topic_id: r.array("topic id")?,
            is_internal: r.bool("topic is internal")?,
            partitions: r.items(form, 20, "partitions", |r| DescribedPartition::decode(form, r))?,
            topic_authorized_operations: r.i32("topic authorized operations")?,
        };
        r.skip_tagged_fields(form, "described topic")?;
        Ok(topic)
    }
}

impl DescribedPartition {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.error_code.0);
        w.put_i32(self.partition_index);
        w.put_i32(self.leader_id);
        w.put_i32(self.leader_epoch);
        w.put_i32s(form, &self.replica_nodes, "replicas")?;
        w.put_i32s(form, &self.isr_nodes, "in-sync replicas")?;
        match &self.eligible_leader_replicas {
            None => w.put_null(form),
            Some(eligible_leader_replicas) => w.put_i32s(form, eligible_leader_replicas, "eligible leader replicas")?,
        }
        match &self.last_known_elr {
            None => w.put_null(form),
            Some(last_known_elr) => w.put_i32s(form, last_known_elr, "last known eligible leaders")?,
        }
        w.put_i32s(form, &self.offline_replicas, "offline replicas")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let partition = Self {
            error_code: ErrorCode(r.i16("partition error code")?),
            partition_index: r.i32("partition index")?,
            leader_id: r.i32("leader id")?,
            leader_epoch: r.i32("leader epoch")?,
            replica_nodes: r.i32s(form, "replicas")?,
            isr_nodes: r.i32s(form, "in-sync replicas")?,
            eligible_leader_replicas: r
                .nullable_items(form, 4, "eligible leader replicas", |r| r.i32("eligible leader replicas"))?,
            last_known_elr: r
                .nullable_items(form, 4, "last known eligible leaders", |r| r.i32("last known eligible leaders"))?,
            offline_replicas: r.i32s(form, "offline replicas")?,
        };
        r.skip_tagged_fields(form, "described partition")?;
        Ok(partition)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DescribeTopicPartitionsRequest::FLEXIBLE_FROM)
}
