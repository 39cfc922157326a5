//! EndTxn (26), versions 0-5: a transaction is committed or aborted.
//!
//! ```text
//! request   v0  transactional id, producer id, producer epoch, committed     v3  compact
//! response  v0  throttle, error          v3  compact          v5  + producer id, producer epoch
//! ```
//!
//! v2 can answer 90, PRODUCER_FENCED, and v4 can answer 120, TRANSACTION_ABORTABLE. With v5 every transaction has an
//! epoch of its own, and the answer says what the next one has. KIP-98, KIP-890. Java: `EndTxnRequest`,
//! `EndTxnResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Ends a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndTxnRequest {
    /// The transactional id.
    pub transactional_id: String,
    /// The producer id that it has.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// Commit it; else abort it.
    pub committed: bool,
}

/// Whether it will end so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTxnResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// The producer id of the next transaction, -1 with an error (v5).
    pub producer_id: i64,
    /// Its epoch, -1 with an error (v5).
    pub producer_epoch: i16,
}

impl Default for EndTxnResponse {
    fn default() -> Self {
        Self { throttle_time_ms: 0, error_code: ErrorCode::NONE, producer_id: -1, producer_epoch: -1 }
    }
}

impl Request for EndTxnRequest {
    const KEY: ApiKey = ApiKey::END_TXN;
    const VERSIONS: RangeInclusive<i16> = 0..=5;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = EndTxnResponse;
}

impl Message for EndTxnRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.transactional_id, "transactional id")?;
        w.put_i64(self.producer_id);
        w.put_i16(self.producer_epoch);
        w.put_bool(self.committed);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            transactional_id: r.string(form, "transactional id")?,
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
            committed: r.bool("committed")?,
        };
        r.skip_tagged_fields(form, "end txn request")?;
        Ok(request)
    }
}

impl Message for EndTxnResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        if version >= 5 {
            w.put_i64(self.producer_id);
            w.put_i16(self.producer_epoch);
        }
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("end txn error code")?),
            ..Self::default()
        };
        if version >= 5 {
            response.producer_id = r.i64("producer id")?;
            response.producer_epoch = r.i16("producer epoch")?;
        }
        r.skip_tagged_fields(form(version), "end txn response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, EndTxnRequest::FLEXIBLE_FROM)
}
