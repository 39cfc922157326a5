//! InitProducerId (22), versions 0-6: a producer id, for stamps that let a broker know a batch again.
//!
//! ```text
//! request   v0     nullable transactional id, transaction timeout
//!           v2     compact              v3  + producer id, producer epoch (to go on with)
//!           v6     + enable 2pc, keep prepared transaction
//! response  v0     throttle, error, producer id, producer epoch
//!           v2     compact              v6  + producer id and epoch of the ongoing transaction
//! ```
//!
//! v4 and v5 let the broker answer newer errors (90, 120); brokers up to 4.4 keep v6 to themselves.
//! Java: `InitProducerIdRequest`, `InitProducerIdResponse`; KIP-98, KIP-360, KIP-890, two-phase commits: KIP-939.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for a producer id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitProducerIdRequest {
    /// The transaction, `None` for idempotence alone.
    pub transactional_id: Option<String>,
    /// How long a transaction may stay open.
    pub transaction_timeout_ms: i32,
    /// The id to go on with, -1 for a new one (v3+).
    pub producer_id: i64,
    /// Its epoch, -1 with a new id (v3+).
    pub producer_epoch: i16,
    /// Take part in commits of two phases (v6).
    pub enable_2pc: bool,
    /// Keep a transaction that is prepared already, instead of aborting it (v6).
    pub keep_prepared_txn: bool,
}

/// A producer id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitProducerIdResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong; 14 for a moment after a broker's start (measured).
    pub error_code: ErrorCode,
    /// The id, -1 with an error.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// The id of the transaction that was kept, -1 for none (v6).
    pub ongoing_txn_producer_id: i64,
    /// Its epoch, -1 for none (v6).
    pub ongoing_txn_producer_epoch: i16,
}

impl Default for InitProducerIdRequest {
    fn default() -> Self {
        Self {
            transactional_id: None,
            transaction_timeout_ms: 0,
            producer_id: -1,
            producer_epoch: -1,
            enable_2pc: false,
            keep_prepared_txn: false,
        }
    }
}

impl Default for InitProducerIdResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            producer_id: -1,
            producer_epoch: 0,
            ongoing_txn_producer_id: -1,
            ongoing_txn_producer_epoch: -1,
        }
    }
}

impl Request for InitProducerIdRequest {
    const KEY: ApiKey = ApiKey::INIT_PRODUCER_ID;
    const VERSIONS: RangeInclusive<i16> = 0..=6;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = InitProducerIdResponse;
}

impl Message for InitProducerIdRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_nullable_string(form, self.transactional_id.as_deref(), "transactional id")?;
        w.put_i32(self.transaction_timeout_ms);
        if version >= 3 {
            w.put_i64(self.producer_id);
            w.put_i16(self.producer_epoch);
        } else {
            refuse_left_out(self.producer_id != -1, "producer id to go on with", version)?;
            refuse_left_out(self.producer_epoch != -1, "producer epoch to go on with", version)?;
        }
        if version >= 6 {
            w.put_bool(self.enable_2pc);
            w.put_bool(self.keep_prepared_txn);
        } else {
            refuse_left_out(self.enable_2pc, "two-phase commit", version)?;
            refuse_left_out(self.keep_prepared_txn, "keep prepared transaction", version)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self {
            transactional_id: r.nullable_string(form, "transactional id")?,
            transaction_timeout_ms: r.i32("transaction timeout")?,
            ..Self::default()
        };
        if version >= 3 {
            request.producer_id = r.i64("producer id")?;
            request.producer_epoch = r.i16("producer epoch")?;
        }
        if version >= 6 {
            request.enable_2pc = r.bool("enable two-phase commit")?;
            request.keep_prepared_txn = r.bool("keep prepared transaction")?;
        }
        r.skip_tagged_fields(form, "init producer id request")?;
        Ok(request)
    }
}

impl Message for InitProducerIdResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_i64(self.producer_id);
        w.put_i16(self.producer_epoch);
        if version >= 6 {
            w.put_i64(self.ongoing_txn_producer_id);
            w.put_i16(self.ongoing_txn_producer_epoch);
        }
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("init producer id error code")?),
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
            ..Self::default()
        };
        if version >= 6 {
            response.ongoing_txn_producer_id = r.i64("ongoing transaction's producer id")?;
            response.ongoing_txn_producer_epoch = r.i16("ongoing transaction's producer epoch")?;
        }
        r.skip_tagged_fields(form(version), "init producer id response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, InitProducerIdRequest::FLEXIBLE_FROM)
}
