//! AddPartitionsToTxn (24), versions 0-5: partitions that a transaction is about to write to.
//!
//! ```text
//! request   v0-v2  transactional id, producer id, producer epoch, [topic, [partition]]      exactly one transaction
//!           v3     compact
//!           v4     [transactional id, producer id, producer epoch, verify only, [topic, [partition]]]
//! response  v0-v2  throttle, [topic, [partition, error]]                                    exactly one transaction
//!           v3     compact
//!           v4     throttle, error, [transactional id, [topic, [partition, error]]]
//! ```
//!
//! Producers speak v0-v3; v4 and v5 are for brokers that look after many transactions at once, and that ask whether a
//! partition is in a transaction before they append to it. v2 can answer 90, PRODUCER_FENCED, and v5 can answer 120,
//! TRANSACTION_ABORTABLE. KIP-98, KIP-890. Java: `AddPartitionsToTxnRequest`, `AddPartitionsToTxnResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request, only, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Adds partitions to transactions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddPartitionsToTxnRequest {
    /// The transactions; exactly one below v4.
    pub transactions: Vec<AddPartitionsToTxnTransaction>,
}

/// Partitions of one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddPartitionsToTxnTransaction {
    /// The transactional id.
    pub transactional_id: String,
    /// The producer id that it has.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// Ask whether the partitions are in the transaction, add none (v4+).
    pub verify_only: bool,
    /// The partitions by topic.
    pub topics: Vec<AddPartitionsToTxnTopic>,
}

/// Partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddPartitionsToTxnTopic {
    /// The topic.
    pub name: String,
    /// Their indexes.
    pub partitions: Vec<i32>,
}

/// What became of the partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddPartitionsToTxnResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong with the whole request (v4+).
    pub error_code: ErrorCode,
    /// The outcomes by transaction; exactly one below v4.
    pub results: Vec<AddPartitionsToTxnResult>,
}

/// Outcomes of one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddPartitionsToTxnResult {
    /// The transactional id (v4+).
    pub transactional_id: String,
    /// The outcomes by topic.
    pub topics: Vec<AddedTopic>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddedTopic {
    /// The topic.
    pub name: String,
    /// The outcomes by partition.
    pub partitions: Vec<AddedPartition>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddedPartition {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it; 55 where another partition of the request is to blame.
    pub error_code: ErrorCode,
}

impl Request for AddPartitionsToTxnRequest {
    const KEY: ApiKey = ApiKey::ADD_PARTITIONS_TO_TXN;
    const VERSIONS: RangeInclusive<i16> = 0..=5;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = AddPartitionsToTxnResponse;
}

impl Message for AddPartitionsToTxnRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 4 {
            w.put_items(form, &self.transactions, "transactions", |w, transaction| {
                transaction.encode(version, w)?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
        } else {
            only(&self.transactions, "transactions other than one", version)?.encode(version, w)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let transactions = if version >= 4 {
            r.items(form, 14, "transactions", |r| {
                let transaction = AddPartitionsToTxnTransaction::decode(version, r)?;
                r.skip_tagged_fields(form, "add partitions to txn transaction")?;
                Ok(transaction)
            })?
        } else {
            vec![AddPartitionsToTxnTransaction::decode(version, r)?]
        };
        r.skip_tagged_fields(form, "add partitions to txn request")?;
        Ok(Self { transactions })
    }
}

/// The fields of one transaction: an element of v4's list, or what stands in the request itself.
impl AddPartitionsToTxnTransaction {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.transactional_id, "transactional id")?;
        w.put_i64(self.producer_id);
        w.put_i16(self.producer_epoch);
        if version >= 4 {
            w.put_bool(self.verify_only);
        } else {
            refuse_left_out(self.verify_only, "verify only", version)?;
        }
        w.put_items(form, &self.topics, "topics", |w, topic| {
            w.put_string(form, &topic.name, "topic name")?;
            w.put_i32s(form, &topic.partitions, "partitions")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut transaction = Self {
            transactional_id: r.string(form, "transactional id")?,
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
            ..Self::default()
        };
        if version >= 4 {
            transaction.verify_only = r.bool("verify only")?;
        }
        transaction.topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = AddPartitionsToTxnTopic {
                name: r.string(form, "topic name")?,
                partitions: r.i32s(form, "partitions")?,
            };
            r.skip_tagged_fields(form, "add partitions to txn topic")?;
            Ok(topic)
        })?;
        Ok(transaction)
    }
}

impl Message for AddPartitionsToTxnResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        if version >= 4 {
            w.put_i16(self.error_code.0);
            w.put_items(form, &self.results, "transactions", |w, result| {
                w.put_string(form, &result.transactional_id, "transactional id")?;
                w.put_items(form, &result.topics, "topics", |w, topic| topic.encode(form, w))?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
        } else {
            let result = only(&self.results, "transactions other than one", version)?;
            w.put_items(form, &result.topics, "topics", |w, topic| topic.encode(form, w))?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self { throttle_time_ms: r.i32("throttle time")?, ..Self::default() };
        if version >= 4 {
            response.error_code = ErrorCode(r.i16("add partitions to txn error code")?);
            response.results = r.items(form, 3, "transactions", |r| {
                let result = AddPartitionsToTxnResult {
                    transactional_id: r.string(form, "transactional id")?,
                    topics: r.items(form, TOPIC_BYTES_MIN, "topics", |r| AddedTopic::decode(form, r))?,
                };
                r.skip_tagged_fields(form, "add partitions to txn result")?;
                Ok(result)
            })?;
        } else {
            let topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| AddedTopic::decode(form, r))?;
            response.results = vec![AddPartitionsToTxnResult { transactional_id: String::new(), topics }];
        }
        r.skip_tagged_fields(form, "add partitions to txn response")?;
        Ok(response)
    }
}

impl AddedTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i16(partition.error_code.0);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let name = r.string(form, "topic name")?;
        let partitions = r.items(form, 6, "partitions", |r| {
            let partition = AddedPartition {
                partition_index: r.i32("partition index")?,
                error_code: ErrorCode(r.i16("partition error code")?),
            };
            r.skip_tagged_fields(form, "added partition")?;
            Ok(partition)
        })?;
        r.skip_tagged_fields(form, "added topic")?;
        Ok(Self { name, partitions })
    }
}

/// An empty name, no partitions, no tags.
const TOPIC_BYTES_MIN: usize = 3;

const fn form(version: i16) -> Form {
    Form::at(version, AddPartitionsToTxnRequest::FLEXIBLE_FROM)
}
