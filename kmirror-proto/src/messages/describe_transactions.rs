//! DescribeTransactions (65), version 0: what a coordinator knows of transactions.
//!
//! ```text
//! request   v0  [transactional id]
//! response  v0  throttle, [error, transactional id, state, timeout, start time, producer id, producer epoch,
//!               [topic, [partition]]]
//! ```
//!
//! Compact from the beginning. An id that is not there is error 105, TRANSACTIONAL_ID_NOT_FOUND. KIP-664. Java:
//! `DescribeTransactionsRequest`, `DescribeTransactionsResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for transactions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeTransactionsRequest {
    /// The transactional ids; none for none.
    pub transactional_ids: Vec<String>,
}

/// Transactions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeTransactionsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The transactions.
    pub transaction_states: Vec<DescribedTransaction>,
}

/// One transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedTransaction {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// The transactional id.
    pub transactional_id: String,
    /// `Empty`, `Ongoing`, `PrepareCommit`, ...; empty with an error.
    pub transaction_state: String,
    /// How long it may stay open.
    pub transaction_timeout_ms: i32,
    /// When it began, milliseconds since 1970; -1 when it has not.
    pub transaction_start_time_ms: i64,
    /// The producer id that it has.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// Its partitions by topic; while it ends, those without a marker yet.
    pub topics: Vec<TransactionTopic>,
}

/// Partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransactionTopic {
    /// The topic.
    pub topic: String,
    /// Their indexes.
    pub partitions: Vec<i32>,
}

impl Request for DescribeTransactionsRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_TRANSACTIONS;
    const VERSIONS: RangeInclusive<i16> = 0..=0;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = DescribeTransactionsResponse;
}

impl Message for DescribeTransactionsRequest {
    fn encode(&self, _: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_items(FORM, &self.transactional_ids, "transactional ids", |w, id| {
            w.put_string(FORM, id, "transactional id")
        })?;
        w.put_no_tagged_fields(FORM);
        Ok(())
    }

    fn decode(_: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let transactional_ids = r.items(FORM, 1, "transactional ids", |r| r.string(FORM, "transactional id"))?;
        r.skip_tagged_fields(FORM, "describe transactions request")?;
        Ok(Self { transactional_ids })
    }
}

impl Message for DescribeTransactionsResponse {
    fn encode(&self, _: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.throttle_time_ms);
        w.put_items(FORM, &self.transaction_states, "transactions", |w, state| state.encode(w))?;
        w.put_no_tagged_fields(FORM);
        Ok(())
    }

    fn decode(_: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            transaction_states: r.items(FORM, 28, "transactions", DescribedTransaction::decode)?,
        };
        r.skip_tagged_fields(FORM, "describe transactions response")?;
        Ok(response)
    }
}

impl DescribedTransaction {
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.error_code.0);
        w.put_string(FORM, &self.transactional_id, "transactional id")?;
        w.put_string(FORM, &self.transaction_state, "transaction state")?;
        w.put_i32(self.transaction_timeout_ms);
        w.put_i64(self.transaction_start_time_ms);
        w.put_i64(self.producer_id);
        w.put_i16(self.producer_epoch);
        w.put_items(FORM, &self.topics, "topics", |w, topic| {
            w.put_string(FORM, &topic.topic, "topic name")?;
            w.put_i32s(FORM, &topic.partitions, "partitions")?;
            w.put_no_tagged_fields(FORM);
            Ok(())
        })?;
        w.put_no_tagged_fields(FORM);
        Ok(())
    }

    fn decode(r: &mut Reader) -> Result<Self, DecodeError> {
        let transaction = Self {
            error_code: ErrorCode(r.i16("transaction error code")?),
            transactional_id: r.string(FORM, "transactional id")?,
            transaction_state: r.string(FORM, "transaction state")?,
            transaction_timeout_ms: r.i32("transaction timeout")?,
            transaction_start_time_ms: r.i64("transaction start time")?,
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
            topics: r.items(FORM, 3, "topics", |r| {
                let topic =
                    TransactionTopic { topic: r.string(FORM, "topic name")?, partitions: r.i32s(FORM, "partitions")? };
                r.skip_tagged_fields(FORM, "transaction topic")?;
                Ok(topic)
            })?,
        };
        r.skip_tagged_fields(FORM, "described transaction")?;
        Ok(transaction)
    }
}

const FORM: Form = Form::Compact;
