//! Our messages that say who a client is as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{maybe, text};

pub(super) fn sasl_handshake_request(it: &ours::SaslHandshakeRequest) -> theirs::SaslHandshakeRequest {
    theirs::SaslHandshakeRequest::default().with_mechanism(text(&it.mechanism))
}

pub(super) fn sasl_handshake_response(it: &ours::SaslHandshakeResponse) -> theirs::SaslHandshakeResponse {
    theirs::SaslHandshakeResponse::default()
        .with_error_code(it.error_code.0)
        .with_mechanisms(it.mechanisms.iter().map(|mechanism| text(mechanism)).collect())
}

pub(super) fn sasl_authenticate_request(it: &ours::SaslAuthenticateRequest) -> theirs::SaslAuthenticateRequest {
    theirs::SaslAuthenticateRequest::default().with_auth_bytes(it.auth_bytes.clone())
}

pub(super) fn sasl_authenticate_response(it: &ours::SaslAuthenticateResponse) -> theirs::SaslAuthenticateResponse {
    theirs::SaslAuthenticateResponse::default()
        .with_error_code(it.error_code.0)
        .with_error_message(maybe(it.error_message.as_ref()))
        .with_auth_bytes(it.auth_bytes.clone())
        .with_session_lifetime_ms(it.session_lifetime_ms)
}
