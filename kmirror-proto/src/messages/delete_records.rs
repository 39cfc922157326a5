//! DeleteRecords (21), versions 0-2: a partition gives up what lies before an offset.
//!
//! ```text
//! request   v0  [topic, [partition, offset]], timeout                       v2  compact
//! response  v0  throttle, [topic, [partition, low watermark, error]]        v2  compact
//! ```
//!
//! v1 is v0, for clients that wait out the throttle themselves (KIP-219). 0.11 and newer have the API. Java:
//! `DeleteRecordsRequest`, `DeleteRecordsResponse`; KIP-107.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks the leaders of partitions to give up what lies before an offset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteRecordsRequest {
    /// The topics.
    pub topics: Vec<DeleteRecordsTopic>,
    /// How long a leader may wait until the replicas have followed.
    pub timeout_ms: i32,
}

/// Partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteRecordsTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<DeleteRecordsPartition>,
}

/// One partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeleteRecordsPartition {
    /// Its index.
    pub partition_index: i32,
    /// The first offset to keep; -1 keeps nothing below the high watermark.
    pub offset: i64,
}

/// What became of the partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteRecordsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes by topic.
    pub topics: Vec<DeletedRecordsTopic>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeletedRecordsTopic {
    /// The topic.
    pub name: String,
    /// The outcomes by partition.
    pub partitions: Vec<DeletedRecordsPartition>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeletedRecordsPartition {
    /// Its index.
    pub partition_index: i32,
    /// The first offset that all its replicas still have, -1 with an error.
    pub low_watermark: i64,
    /// What is wrong with it.
    pub error_code: ErrorCode,
}

impl Request for DeleteRecordsRequest {
    const KEY: ApiKey = ApiKey::DELETE_RECORDS;
    const VERSIONS: RangeInclusive<i16> = 0..=2;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = DeleteRecordsResponse;
}

impl Message for DeleteRecordsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        w.put_i32(self.timeout_ms);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            topics: r.items(form, 3, "topics", |r| DeleteRecordsTopic::decode(form, r))?,
            timeout_ms: r.i32("timeout")?,
        };
        r.skip_tagged_fields(form, "delete records request")?;
        Ok(request)
    }
}

impl DeleteRecordsTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i64(partition.offset);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 12, "partitions", |r| {
                let partition =
                    DeleteRecordsPartition { partition_index: r.i32("partition index")?, offset: r.i64("offset")? };
                r.skip_tagged_fields(form, "delete records partition")?;
                Ok(partition)
            })?,
        };
        r.skip_tagged_fields(form, "delete records topic")?;
        Ok(topic)
    }
}

impl Message for DeleteRecordsResponse {
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
            topics: r.items(form, 3, "topics", |r| DeletedRecordsTopic::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "delete records response")?;
        Ok(response)
    }
}

impl DeletedRecordsTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i64(partition.low_watermark);
            w.put_i16(partition.error_code.0);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 14, "partitions", |r| {
                let partition = DeletedRecordsPartition {
                    partition_index: r.i32("partition index")?,
                    low_watermark: r.i64("low watermark")?,
                    error_code: ErrorCode(r.i16("partition error code")?),
                };
                r.skip_tagged_fields(form, "deleted records partition")?;
                Ok(partition)
            })?,
        };
        r.skip_tagged_fields(form, "deleted records topic")?;
        Ok(topic)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DeleteRecordsRequest::FLEXIBLE_FROM)
}
