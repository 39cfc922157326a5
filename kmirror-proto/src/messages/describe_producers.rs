//! DescribeProducers (61), version 0: who writes to a partition.
//!
//! ```text
//! request   [topic, [partition]]                                                      compact
//! response  throttle, [topic, [partition, error, message, [producer]]]                compact
//! producer  id, epoch, last sequence, last timestamp, coordinator epoch, start of its transaction
//! ```
//!
//! 2.8 and newer. Java: `DescribeProducersRequest`, `DescribeProducersResponse`; KIP-664.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks who writes to partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeProducersRequest {
    /// What to ask for.
    pub topics: Vec<DescribeProducersTopic>,
}

/// Partitions of one topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeProducersTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partition_indexes: Vec<i32>,
}

/// Who writes to partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeProducersResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The answers by topic.
    pub topics: Vec<DescribedProducersTopic>,
}

/// Answers of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedProducersTopic {
    /// The topic.
    pub name: String,
    /// The answers by partition.
    pub partitions: Vec<DescribedProducersPartition>,
}

/// The answer of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedProducersPartition {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The producers that the leader remembers.
    pub active_producers: Vec<ProducerState>,
}

/// What the leader remembers of one producer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerState {
    /// Its id.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i32,
    /// The sequence of its last record, -1 for none.
    pub last_sequence: i32,
    /// The timestamp of its last batch, -1 for none.
    pub last_timestamp: i64,
    /// The epoch of the coordinator that ended its last transaction.
    pub coordinator_epoch: i32,
    /// The first offset of its open transaction, -1 for none.
    pub current_txn_start_offset: i64,
}

impl Default for ProducerState {
    fn default() -> Self {
        Self {
            producer_id: 0,
            producer_epoch: 0,
            last_sequence: -1,
            last_timestamp: -1,
            coordinator_epoch: 0,
            current_txn_start_offset: -1,
        }
    }
}

impl Request for DescribeProducersRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_PRODUCERS;
    const VERSIONS: RangeInclusive<i16> = 0..=0;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = DescribeProducersResponse;
}

impl Message for DescribeProducersRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self { topics: r.items(form, 3, "topics", |r| DescribeProducersTopic::decode(form, r))? };
        r.skip_tagged_fields(form, "describe producers request")?;
        Ok(request)
    }
}

impl DescribeProducersTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_i32s(form, &self.partition_indexes, "partitions")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self { name: r.string(form, "topic name")?, partition_indexes: r.i32s(form, "partitions")? };
        r.skip_tagged_fields(form, "describe producers topic")?;
        Ok(topic)
    }
}

impl Message for DescribeProducersResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            topics: r.items(form, 3, "topics", |r| DescribedProducersTopic::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "describe producers response")?;
        Ok(response)
    }
}

impl DescribedProducersTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| partition.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 9, "partitions", |r| DescribedProducersPartition::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "described producers topic")?;
        Ok(topic)
    }
}

impl DescribedProducersPartition {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.partition_index);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_items(form, &self.active_producers, "active producers", |w, producer| producer.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let partition = Self {
            partition_index: r.i32("partition index")?,
            error_code: ErrorCode(r.i16("partition error code")?),
            error_message: r.nullable_string(form, "error message")?,
            active_producers: r.items(form, 37, "active producers", |r| ProducerState::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "described producers partition")?;
        Ok(partition)
    }
}

impl ProducerState {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i64(self.producer_id);
        w.put_i32(self.producer_epoch);
        w.put_i32(self.last_sequence);
        w.put_i64(self.last_timestamp);
        w.put_i32(self.coordinator_epoch);
        w.put_i64(self.current_txn_start_offset);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let state = Self {
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i32("producer epoch")?,
            last_sequence: r.i32("last sequence")?,
            last_timestamp: r.i64("last timestamp")?,
            coordinator_epoch: r.i32("coordinator epoch")?,
            current_txn_start_offset: r.i64("start of the transaction")?,
        };
        r.skip_tagged_fields(form, "producer state")?;
        Ok(state)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DescribeProducersRequest::FLEXIBLE_FROM)
}
