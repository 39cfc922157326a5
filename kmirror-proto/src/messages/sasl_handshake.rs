//! SaslHandshake (17), versions 0-1: how a client wants to say who it is.
//!
//! ```text
//! request   v0  mechanism
//! response  v0  error, [mechanism]
//! ```
//!
//! Never compact. The versions are the same bytes and differ in what follows: after v0 the client sends bare tokens
//! behind a length, after v1 it sends them in SaslAuthenticate (KIP-152). A mechanism that the broker does not have is
//! error 33, with those that it has. KIP-43. Java: `SaslHandshakeRequest`, `SaslHandshakeResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Names a mechanism.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SaslHandshakeRequest {
    /// The mechanism, as `PLAIN` or `SCRAM-SHA-512`.
    pub mechanism: String,
}

/// Whether the broker takes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SaslHandshakeResponse {
    /// What is wrong.
    pub error_code: ErrorCode,
    /// The mechanisms that the broker has.
    pub mechanisms: Vec<String>,
}

impl Request for SaslHandshakeRequest {
    const KEY: ApiKey = ApiKey::SASL_HANDSHAKE;
    const VERSIONS: RangeInclusive<i16> = 0..=1;
    const FLEXIBLE_FROM: i16 = i16::MAX;
    type Response = SaslHandshakeResponse;
}

impl Message for SaslHandshakeRequest {
    fn encode(&self, _: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(Form::Classic, &self.mechanism, "sasl mechanism")
    }

    fn decode(_: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        Ok(Self { mechanism: r.string(Form::Classic, "sasl mechanism")? })
    }
}

impl Message for SaslHandshakeResponse {
    fn encode(&self, _: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.error_code.0);
        w.put_items(Form::Classic, &self.mechanisms, "sasl mechanisms", |w, mechanism| {
            w.put_string(Form::Classic, mechanism, "sasl mechanism")
        })
    }

    fn decode(_: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        Ok(Self {
            error_code: ErrorCode(r.i16("sasl handshake error code")?),
            mechanisms: r.items(Form::Classic, 2, "sasl mechanisms", |r| r.string(Form::Classic, "sasl mechanism"))?,
        })
    }
}
