//! The headers in front of requests and responses.
//!
//! ```text
//! request v1    +---------+-------------+--------------------+---------------------------+
//!               | i16 key | i16 version | i32 correlation id | nullable string client id |
//! request v2    | ... the same, the client id in its classic form ...     | tagged fields |
//!               +---------+-------------+--------------------+---------------------------+
//! response v0   | i32 correlation id |
//! response v1   | i32 correlation id | tagged fields |
//!               +--------------------+---------------+
//! ```
//!
//! A message that is compact (KIP-482) has a v2 / v1 header, any other the older one. The answer to ApiVersions keeps
//! the v0 header at every version: its reader cannot know yet what the broker speaks (KIP-511). Request header v0,
//! without a client id, belongs to ControlledShutdown v0 alone, which this crate does not speak.
//!
//! Java: `org.apache.kafka.common.requests.RequestHeader`, `ResponseHeader`, `ApiKeys.requestHeaderVersion`.

use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::messages;
use crate::wire::{Form, Reader, Writer};

/// Who asks for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHeader {
    /// The API.
    pub key: ApiKey,
    /// The version of the API.
    pub version: i16,
    /// Comes back in the answer.
    pub correlation_id: i32,
    /// The name that the client gives itself.
    pub client_id: Option<String>,
}

impl RequestHeader {
    /// Writes the header that belongs to the API's version.
    pub fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        encode_request_header(self.key, self.version, self.correlation_id, self.client_id.as_deref(), w)
    }

    /// Reads the header that belongs to the API's version; an API that this crate does not speak is taken to have a
    /// v1 header.
    pub fn decode(r: &mut Reader) -> Result<Self, DecodeError> {
        let header = Self {
            key: ApiKey(r.i16("api key")?),
            version: r.i16("api version")?,
            correlation_id: r.i32("correlation id")?,
            client_id: r.nullable_string(Form::Classic, "client id")?,
        };
        r.skip_tagged_fields(messages::form_of(header.key, header.version), "request header")?;
        Ok(header)
    }
}

/// Writes the header of a request for `version` of `key`.
pub fn encode_request_header(
    key: ApiKey,
    version: i16,
    correlation_id: i32,
    client_id: Option<&str>,
    w: &mut Writer,
) -> Result<(), EncodeError> {
    w.put_i16(key.0);
    w.put_i16(version);
    w.put_i32(correlation_id);
    w.put_nullable_string(Form::Classic, client_id, "client id")?;
    w.put_no_tagged_fields(messages::form_of(key, version));
    Ok(())
}

/// Reads the header of an answer to `version` of `key`; returns the correlation id.
pub fn decode_response_header(key: ApiKey, version: i16, r: &mut Reader) -> Result<i32, DecodeError> {
    let correlation_id = r.i32("correlation id")?;
    r.skip_tagged_fields(response_form(key, version), "response header")?;
    Ok(correlation_id)
}

/// Writes the header of an answer to `version` of `key`.
pub fn encode_response_header(key: ApiKey, version: i16, correlation_id: i32, w: &mut Writer) {
    w.put_i32(correlation_id);
    w.put_no_tagged_fields(response_form(key, version));
}

fn response_form(key: ApiKey, version: i16) -> Form {
    if key == ApiKey::API_VERSIONS { Form::Classic } else { messages::form_of(key, version) }
}
