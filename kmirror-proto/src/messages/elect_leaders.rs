//! ElectLeaders (43), versions 0-2: partitions get the leader that they prefer, or any at all.
//!
//! ```text
//! request   v0  nullable [topic, [partition]], timeout          v1  + election type in front      v2  compact
//! response  v0  throttle, [topic, [partition, error, message]]  v1  + error after the throttle    v2  compact
//! ```
//!
//! 2.2 and newer; v0 was called ElectPreferredLeaders. Java: `ElectLeadersRequest`, `ElectLeadersResponse`; KIP-183,
//! KIP-460.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks the controller for elections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElectLeadersRequest {
    /// Which election, [`PREFERRED`](Self::PREFERRED) or [`UNCLEAN`](Self::UNCLEAN) (v1+).
    pub election_type: i8,
    /// The partitions; `None` for all.
    pub topic_partitions: Option<Vec<ElectLeadersTopic>>,
    /// How long the controller may wait until the leaders are there.
    pub timeout_ms: i32,
}

impl ElectLeadersRequest {
    /// The first replica shall lead.
    pub const PREFERRED: i8 = 0;
    /// Any replica may lead, though records are lost.
    pub const UNCLEAN: i8 = 1;
}

/// Partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElectLeadersTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<i32>,
}

/// What became of the partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElectLeadersResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong with the whole (v1+).
    pub error_code: ErrorCode,
    /// The outcomes by topic.
    pub replica_election_results: Vec<ElectedTopic>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElectedTopic {
    /// The topic.
    pub name: String,
    /// The outcomes by partition.
    pub partitions: Vec<ElectedPartition>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElectedPartition {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it; 84 when the leader is the one that was wanted already.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
}

impl Default for ElectLeadersRequest {
    fn default() -> Self {
        Self { election_type: 0, topic_partitions: None, timeout_ms: 60_000 }
    }
}

impl Request for ElectLeadersRequest {
    const KEY: ApiKey = ApiKey::ELECT_LEADERS;
    const VERSIONS: RangeInclusive<i16> = 0..=2;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = ElectLeadersResponse;
}

impl Message for ElectLeadersRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i8(self.election_type);
        } else {
            refuse_left_out(self.election_type != 0, "unclean election", version)?;
        }
        match &self.topic_partitions {
            None => w.put_null(form),
            Some(topic_partitions) => w.put_items(form, topic_partitions, "topic partitions", |w, partition| {
                w.put_string(form, &partition.name, "topic name")?;
                w.put_i32s(form, &partition.partitions, "partitions")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?,
        }
        w.put_i32(self.timeout_ms);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version >= 1 {
            request.election_type = r.i8("election type")?;
        }
        request.topic_partitions = r.nullable_items(form, 3, "topic partitions", |r| {
            let topic =
                ElectLeadersTopic { name: r.string(form, "topic name")?, partitions: r.i32s(form, "partitions")? };
            r.skip_tagged_fields(form, "elect leaders topic")?;
            Ok(topic)
        })?;
        request.timeout_ms = r.i32("timeout")?;
        r.skip_tagged_fields(form, "elect leaders request")?;
        Ok(request)
    }
}

impl Message for ElectLeadersResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        if version >= 1 {
            w.put_i16(self.error_code.0);
        } else {
            refuse_left_out(!self.error_code.is_ok(), "error of the whole election", version)?;
        }
        w.put_items(form, &self.replica_election_results, "election results", |w, result| result.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self { throttle_time_ms: r.i32("throttle time")?, ..Self::default() };
        if version >= 1 {
            response.error_code = ErrorCode(r.i16("elect leaders error code")?);
        }
        response.replica_election_results = r.items(form, 3, "election results", |r| ElectedTopic::decode(form, r))?;
        r.skip_tagged_fields(form, "elect leaders response")?;
        Ok(response)
    }
}

impl ElectedTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i16(partition.error_code.0);
            w.put_nullable_string(form, partition.error_message.as_deref(), "error message")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 8, "partitions", |r| {
                let partition = ElectedPartition {
                    partition_index: r.i32("partition index")?,
                    error_code: ErrorCode(r.i16("partition error code")?),
                    error_message: r.nullable_string(form, "error message")?,
                };
                r.skip_tagged_fields(form, "elected partition")?;
                Ok(partition)
            })?,
        };
        r.skip_tagged_fields(form, "elected topic")?;
        Ok(topic)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, ElectLeadersRequest::FLEXIBLE_FROM)
}
