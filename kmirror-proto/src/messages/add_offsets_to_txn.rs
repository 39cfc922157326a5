//! AddOffsetsToTxn (25), versions 0-4: a transaction is about to commit positions of a group.
//!
//! ```text
//! request   v0  transactional id, producer id, producer epoch, group     v3  compact
//! response  v0  throttle, error                                          v3  compact
//! ```
//!
//! The transaction's coordinator takes the group's partition of `__consumer_offsets` into it; the positions follow with
//! TxnOffsetCommit. v2 can answer 90, PRODUCER_FENCED, and v4 can answer 120, TRANSACTION_ABORTABLE. KIP-98, KIP-890.
//! Java: `AddOffsetsToTxnRequest`, `AddOffsetsToTxnResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Adds the positions of a group to a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddOffsetsToTxnRequest {
    /// The transactional id.
    pub transactional_id: String,
    /// The producer id that it has.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// The group.
    pub group_id: String,
}

/// Whether they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddOffsetsToTxnResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
}

impl Request for AddOffsetsToTxnRequest {
    const KEY: ApiKey = ApiKey::ADD_OFFSETS_TO_TXN;
    const VERSIONS: RangeInclusive<i16> = 0..=4;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = AddOffsetsToTxnResponse;
}

impl Message for AddOffsetsToTxnRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.transactional_id, "transactional id")?;
        w.put_i64(self.producer_id);
        w.put_i16(self.producer_epoch);
        w.put_string(form, &self.group_id, "group id")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            transactional_id: r.string(form, "transactional id")?,
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
            group_id: r.string(form, "group id")?,
        };
        r.skip_tagged_fields(form, "add offsets to txn request")?;
        Ok(request)
    }
}

impl Message for AddOffsetsToTxnResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("add offsets to txn error code")?),
        };
        r.skip_tagged_fields(form(version), "add offsets to txn response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, AddOffsetsToTxnRequest::FLEXIBLE_FROM)
}
