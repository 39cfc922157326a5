//! InitProducerId (22), versions 0-4: a producer id, for stamps that let a broker know a batch again.
//!
//! ```text
//! request   v0     nullable transactional id, transaction timeout
//!           v2     compact              v3  + producer id, producer epoch (to go on with)
//! response  v0     throttle, error, producer id, producer epoch
//!           v2     compact
//! ```
//!
//! Java: `InitProducerIdRequest`, `InitProducerIdResponse`; KIP-98, KIP-360.

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
}

impl Default for InitProducerIdRequest {
    fn default() -> Self {
        Self { transactional_id: None, transaction_timeout_ms: 0, producer_id: -1, producer_epoch: -1 }
    }
}

impl Default for InitProducerIdResponse {
    fn default() -> Self {
        Self { throttle_time_ms: 0, error_code: ErrorCode::NONE, producer_id: -1, producer_epoch: 0 }
    }
}

impl Request for InitProducerIdRequest {
    const KEY: ApiKey = ApiKey::INIT_PRODUCER_ID;
    const VERSIONS: RangeInclusive<i16> = 0..=4;
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
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("init producer id error code")?),
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
        };
        r.skip_tagged_fields(form(version), "init producer id response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, InitProducerIdRequest::FLEXIBLE_FROM)
}
