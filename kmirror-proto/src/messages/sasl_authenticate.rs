//! SaslAuthenticate (36), versions 0-2: one step of the conversation that a SASL mechanism prescribes.
//!
//! ```text
//! request   v0  token                                   v2  compact
//! response  v0  error, nullable error message, token    v1  + session lifetime    v2  compact
//! ```
//!
//! KIP-152; session lifetime: KIP-368. Java: `SaslAuthenticateRequest`, `SaslAuthenticateResponse`.

use std::fmt;
use std::ops::RangeInclusive;

use bytes::Bytes;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// A step of the client. `Debug` does not show the token: with `PLAIN` it is the password.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SaslAuthenticateRequest {
    /// What the mechanism has the client say.
    pub auth_bytes: Bytes,
}

/// A step of the broker. `Debug` does not show the token.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SaslAuthenticateResponse {
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// What the mechanism has the broker say.
    pub auth_bytes: Bytes,
    /// After so long the client has to authenticate again, 0 for never (v1+).
    pub session_lifetime_ms: i64,
}

impl fmt::Debug for SaslAuthenticateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SaslAuthenticateRequest").field("auth_bytes", &Unshown(self.auth_bytes.len())).finish()
    }
}

impl fmt::Debug for SaslAuthenticateResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SaslAuthenticateResponse")
            .field("error_code", &self.error_code)
            .field("error_message", &self.error_message)
            .field("auth_bytes", &Unshown(self.auth_bytes.len()))
            .field("session_lifetime_ms", &self.session_lifetime_ms)
            .finish()
    }
}

/// In the place of so many secret bytes.
struct Unshown(usize);

impl fmt::Debug for Unshown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0)
    }
}

impl Request for SaslAuthenticateRequest {
    const KEY: ApiKey = ApiKey::SASL_AUTHENTICATE;
    const VERSIONS: RangeInclusive<i16> = 0..=2;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = SaslAuthenticateResponse;
}

impl Message for SaslAuthenticateRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_sized_bytes(form, &self.auth_bytes, "sasl token")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let auth_bytes = r.sized_bytes(form, "sasl token")?;
        r.skip_tagged_fields(form, "sasl authenticate request")?;
        Ok(Self { auth_bytes })
    }
}

impl Message for SaslAuthenticateResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_sized_bytes(form, &self.auth_bytes, "sasl token")?;
        if version >= 1 {
            w.put_i64(self.session_lifetime_ms);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self {
            error_code: ErrorCode(r.i16("sasl authenticate error code")?),
            error_message: r.nullable_string(form, "error message")?,
            auth_bytes: r.sized_bytes(form, "sasl token")?,
            session_lifetime_ms: 0,
        };
        if version >= 1 {
            response.session_lifetime_ms = r.i64("session lifetime")?;
        }
        r.skip_tagged_fields(form, "sasl authenticate response")?;
        Ok(response)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, SaslAuthenticateRequest::FLEXIBLE_FROM)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{SaslAuthenticateRequest, SaslAuthenticateResponse};

    #[test]
    fn a_password_is_not_logged() {
        let auth_bytes = Bytes::from_static(b"\0user\0secret");
        let request = SaslAuthenticateRequest { auth_bytes: auth_bytes.clone() };
        assert_eq!(format!("{request:?}"), "SaslAuthenticateRequest { auth_bytes: (12 bytes) }");
        let response = SaslAuthenticateResponse { auth_bytes, ..Default::default() };
        assert!(!format!("{response:?}").contains("secret"));
    }
}
