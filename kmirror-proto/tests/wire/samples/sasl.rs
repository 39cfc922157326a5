//! One value of every message that says who a client is, at every version.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
};

use super::{carried, text};

pub(super) fn sasl_handshake_request(_: i16) -> SaslHandshakeRequest {
    SaslHandshakeRequest { mechanism: "PLAIN".to_owned() }
}

pub(super) fn sasl_handshake_response(_: i16) -> SaslHandshakeResponse {
    SaslHandshakeResponse {
        error_code: ErrorCode::UNSUPPORTED_SASL_MECHANISM,
        mechanisms: vec!["SCRAM-SHA-256".to_owned(), "SCRAM-SHA-512".to_owned()],
    }
}

pub(super) fn sasl_authenticate_request(_: i16) -> SaslAuthenticateRequest {
    SaslAuthenticateRequest { auth_bytes: Bytes::from_static(b"\0user\0password") }
}

pub(super) fn sasl_authenticate_response(v: i16) -> SaslAuthenticateResponse {
    SaslAuthenticateResponse {
        error_code: ErrorCode::SASL_AUTHENTICATION_FAILED,
        error_message: text("invalid username or password"),
        auth_bytes: Bytes::from_static(b"v=verifier"),
        session_lifetime_ms: carried(v >= 1, 3_600_000, 0),
    }
}
