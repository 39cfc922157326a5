//! ApiVersions (18), versions 0-4: what a broker speaks.
//!
//! ```text
//! request   v0-v2  (empty)
//!           v3+    software name, software version, tags
//! response  v0     error, [key, min, max]
//!           v1-v2  ... , throttle ms
//!           v3+    compact, tags (features: skipped)
//! ```
//!
//! A broker that does not know the version asked for answers error 35 in a v0 body: with no ranges up to 2.3, with
//! the range of ApiVersions itself from 2.4 on (KIP-511). Java: `ApiVersionsRequest`, `ApiVersionsResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks a broker what it speaks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiVersionsRequest {
    /// Name of the client software, `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?`, else brokers answer error 42 (v3+).
    pub client_software_name: String,
    /// Its version, of the same characters (v3+).
    pub client_software_version: String,
}

/// What a broker speaks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiVersionsResponse {
    /// 35 when the broker does not know the version asked for.
    pub error_code: ErrorCode,
    /// One range per API. Nothing keeps a broker from sending min above max.
    pub api_keys: Vec<ApiVersionRange>,
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
}

/// The versions that a broker speaks of one API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiVersionRange {
    /// The API.
    pub api_key: ApiKey,
    /// The lowest version.
    pub min_version: i16,
    /// The highest version.
    pub max_version: i16,
}

impl Request for ApiVersionsRequest {
    const KEY: ApiKey = ApiKey::API_VERSIONS;
    const VERSIONS: RangeInclusive<i16> = 0..=4;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = ApiVersionsResponse;
}

impl Message for ApiVersionsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = Form::at(version, Self::FLEXIBLE_FROM);
        if version >= 3 {
            w.put_string(form, &self.client_software_name, "client software name")?;
            w.put_string(form, &self.client_software_version, "client software version")?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = Form::at(version, Self::FLEXIBLE_FROM);
        let mut request = Self::default();
        if version >= 3 {
            request.client_software_name = r.string(form, "client software name")?;
            request.client_software_version = r.string(form, "client software version")?;
        }
        r.skip_tagged_fields(form, "api versions request")?;
        Ok(request)
    }
}

impl Message for ApiVersionsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let version = body_version(version, self.error_code);
        let form = Form::at(version, ApiVersionsRequest::FLEXIBLE_FROM);
        w.put_i16(self.error_code.0);
        w.put_items(form, &self.api_keys, "api versions", |w, range| {
            w.put_i16(range.api_key.0);
            w.put_i16(range.min_version);
            w.put_i16(range.max_version);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let error_code = ErrorCode(r.i16("api versions error code")?);
        let version = body_version(version, error_code);
        let form = Form::at(version, ApiVersionsRequest::FLEXIBLE_FROM);
        let mut response = Self { error_code, ..Self::default() };
        response.api_keys = r.items(form, 6, "api versions", |r| {
            let range = ApiVersionRange {
                api_key: ApiKey(r.i16("api key")?),
                min_version: r.i16("min version")?,
                max_version: r.i16("max version")?,
            };
            r.skip_tagged_fields(form, "api version range")?;
            Ok(range)
        })?;
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        r.skip_tagged_fields(form, "api versions response")?;
        Ok(response)
    }
}

/// Whoever reads error 35 asked in a version that the broker does not know, so the broker answers in one that every
/// client does.
const fn body_version(version: i16, error_code: ErrorCode) -> i16 {
    if error_code.0 == ErrorCode::UNSUPPORTED_VERSION.0 { 0 } else { version }
}
