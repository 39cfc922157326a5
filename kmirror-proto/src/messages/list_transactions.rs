//! ListTransactions (66), versions 0-2: the transactions that one broker coordinates.
//!
//! ```text
//! request   v0  [state], [producer id]      v1  + duration      v2  + nullable pattern of transactional ids
//! response  v0  throttle, error, [unknown state], [transactional id, producer id, state]
//! ```
//!
//! Compact from the beginning. v2 can answer 128, INVALID_REGULAR_EXPRESSION. KIP-664, KIP-994 (the duration), KIP-1152
//! (the pattern). Java: `ListTransactionsRequest`, `ListTransactionsResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for the transactions of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListTransactionsRequest {
    /// Only transactions in one of these states; empty for any state.
    pub state_filters: Vec<String>,
    /// Only transactions of one of these producer ids; empty for any.
    pub producer_id_filters: Vec<i64>,
    /// Only transactions that have been open for longer, in milliseconds; negative for any (v1+).
    pub duration_filter_ms: i64,
    /// Only transactional ids that this regular expression matches; `None` or empty for any (v2).
    pub transactional_id_pattern: Option<String>,
}

/// The transactions of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListTransactionsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// States that were asked for and that the broker does not know.
    pub unknown_state_filters: Vec<String>,
    /// The transactions.
    pub transaction_states: Vec<ListedTransaction>,
}

/// One transaction of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedTransaction {
    /// The transactional id.
    pub transactional_id: String,
    /// The producer id that it has.
    pub producer_id: i64,
    /// Its state.
    pub transaction_state: String,
}

impl Default for ListTransactionsRequest {
    fn default() -> Self {
        Self {
            state_filters: Vec::new(),
            producer_id_filters: Vec::new(),
            duration_filter_ms: -1,
            transactional_id_pattern: None,
        }
    }
}

impl Request for ListTransactionsRequest {
    const KEY: ApiKey = ApiKey::LIST_TRANSACTIONS;
    const VERSIONS: RangeInclusive<i16> = 0..=2;
    const FLEXIBLE_FROM: i16 = 0;
    type Response = ListTransactionsResponse;
}

impl Message for ListTransactionsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_items(FORM, &self.state_filters, "states", |w, state| w.put_string(FORM, state, "transaction state"))?;
        w.put_items(FORM, &self.producer_id_filters, "producer ids", |w, &id| {
            w.put_i64(id);
            Ok(())
        })?;
        if version >= 1 {
            w.put_i64(self.duration_filter_ms);
        } else {
            refuse_left_out(self.duration_filter_ms >= 0, "duration of a transaction", version)?;
        }
        let pattern = self.transactional_id_pattern.as_deref();
        if version >= 2 {
            w.put_nullable_string(FORM, pattern, "transactional id pattern")?;
        } else {
            refuse_left_out(pattern.is_some_and(|pattern| !pattern.is_empty()), "transactional id pattern", version)?;
        }
        w.put_no_tagged_fields(FORM);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut request = Self {
            state_filters: r.items(FORM, 1, "states", |r| r.string(FORM, "transaction state"))?,
            producer_id_filters: r.items(FORM, 8, "producer ids", |r| r.i64("producer id"))?,
            ..Self::default()
        };
        if version >= 1 {
            request.duration_filter_ms = r.i64("duration of a transaction")?;
        }
        if version >= 2 {
            request.transactional_id_pattern = r.nullable_string(FORM, "transactional id pattern")?;
        }
        r.skip_tagged_fields(FORM, "list transactions request")?;
        Ok(request)
    }
}

impl Message for ListTransactionsResponse {
    fn encode(&self, _: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_items(FORM, &self.unknown_state_filters, "unknown states", |w, state| {
            w.put_string(FORM, state, "transaction state")
        })?;
        w.put_items(FORM, &self.transaction_states, "transactions", |w, listed| {
            w.put_string(FORM, &listed.transactional_id, "transactional id")?;
            w.put_i64(listed.producer_id);
            w.put_string(FORM, &listed.transaction_state, "transaction state")?;
            w.put_no_tagged_fields(FORM);
            Ok(())
        })?;
        w.put_no_tagged_fields(FORM);
        Ok(())
    }

    fn decode(_: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("list transactions error code")?),
            unknown_state_filters: r.items(FORM, 1, "unknown states", |r| r.string(FORM, "transaction state"))?,
            transaction_states: r.items(FORM, 11, "transactions", |r| {
                let listed = ListedTransaction {
                    transactional_id: r.string(FORM, "transactional id")?,
                    producer_id: r.i64("producer id")?,
                    transaction_state: r.string(FORM, "transaction state")?,
                };
                r.skip_tagged_fields(FORM, "listed transaction")?;
                Ok(listed)
            })?,
        };
        r.skip_tagged_fields(FORM, "list transactions response")?;
        Ok(response)
    }
}

const FORM: Form = Form::Compact;
