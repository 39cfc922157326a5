//! ApiVersions (18), versions 0-5: what a broker speaks.
//!
//! ```text
//! request   v0-v2  (empty)
//!           v3+    software name, software version, tags
//!           v5     + cluster id, node id
//! response  v0     error, [key, min, max]
//!           v1-v2  ... , throttle ms
//!           v3+    compact, tags: 0 supported features, 1 epoch of the finalized ones, 2 finalized features,
//!                  3 ready to migrate from ZooKeeper
//! ```
//!
//! A broker that does not know the version asked for answers error 35 in a v0 body: with no ranges up to 2.3, with
//! the range of ApiVersions itself from 2.4 on (KIP-511). v4 lets a supported feature begin at 0 (KIP-1022), v5 lets the
//! client say which broker of which cluster it means to talk to (KIP-1242). Java: `ApiVersionsRequest`,
//! `ApiVersionsResponse`, `Features`; KIP-584.

use std::ops::RangeInclusive;

use bytes::Bytes;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, TaggedFields, Writer};

/// Asks a broker what it speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiVersionsRequest {
    /// Name of the client software, `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?`, else brokers answer error 42 (v3+).
    pub client_software_name: String,
    /// Its version, of the same characters (v3+).
    pub client_software_version: String,
    /// The cluster that the client means, `None` when it does not know yet (v5).
    pub cluster_id: Option<String>,
    /// The broker that the client means, -1 when it does not know yet (v5).
    pub node_id: i32,
}

/// What a broker speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiVersionsResponse {
    /// 35 when the broker does not know the version asked for.
    pub error_code: ErrorCode,
    /// One range per API. Nothing keeps a broker from sending min above max.
    pub api_keys: Vec<ApiVersionRange>,
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// The features that the broker could take on (v3+).
    pub supported_features: Vec<SupportedFeature>,
    /// The epoch of what is finalized, -1 when unknown (v3+).
    pub finalized_features_epoch: i64,
    /// The features that the cluster has agreed on (v3+).
    pub finalized_features: Vec<FinalizedFeature>,
    /// Is the controller ready to migrate from ZooKeeper (v3+)?
    pub zk_migration_ready: bool,
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

/// The levels of a feature that a broker could take on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SupportedFeature {
    /// Its name, `metadata.version` or the like.
    pub name: String,
    /// The lowest level; brokers leave out a 0 here before v4.
    pub min_version: i16,
    /// The highest level.
    pub max_version: i16,
}

/// The level of a feature that a cluster has agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FinalizedFeature {
    /// Its name.
    pub name: String,
    /// The highest level.
    pub max_version_level: i16,
    /// The lowest level.
    pub min_version_level: i16,
}

impl Default for ApiVersionsRequest {
    fn default() -> Self {
        let client_software_name = String::new();
        Self { client_software_name, client_software_version: String::new(), cluster_id: None, node_id: -1 }
    }
}

impl Default for ApiVersionsResponse {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            api_keys: Vec::new(),
            throttle_time_ms: 0,
            supported_features: Vec::new(),
            finalized_features_epoch: -1,
            finalized_features: Vec::new(),
            zk_migration_ready: false,
        }
    }
}

impl Request for ApiVersionsRequest {
    const KEY: ApiKey = ApiKey::API_VERSIONS;
    const VERSIONS: RangeInclusive<i16> = 0..=5;
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
        if version >= 5 {
            w.put_nullable_string(form, self.cluster_id.as_deref(), "cluster id")?;
            w.put_i32(self.node_id);
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
        if version >= 5 {
            request.cluster_id = r.nullable_string(form, "cluster id")?;
            request.node_id = r.i32("node id")?;
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
        w.put_tagged_fields(form, self.features()?, "api versions response")
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
        r.tagged_fields(form, "api versions response", |tag, field| response.feature(tag, field))?;
        Ok(response)
    }
}

impl ApiVersionsResponse {
    fn features(&self) -> Result<TaggedFields, EncodeError> {
        let form = Form::Compact;
        let mut tagged = TaggedFields::new();
        if !self.supported_features.is_empty() {
            let write = |w: &mut Writer, feature: &SupportedFeature| {
                w.put_string(form, &feature.name, "feature name")?;
                w.put_i16(feature.min_version);
                w.put_i16(feature.max_version);
                w.put_no_tagged_fields(form);
                Ok(())
            };
            tagged.put(0, |w| w.put_items(form, &self.supported_features, "supported features", write))?;
        }
        if self.finalized_features_epoch != -1 {
            tagged.put(1, |w| {
                w.put_i64(self.finalized_features_epoch);
                Ok(())
            })?;
        }
        if !self.finalized_features.is_empty() {
            let write = |w: &mut Writer, feature: &FinalizedFeature| {
                w.put_string(form, &feature.name, "feature name")?;
                w.put_i16(feature.max_version_level);
                w.put_i16(feature.min_version_level);
                w.put_no_tagged_fields(form);
                Ok(())
            };
            tagged.put(2, |w| w.put_items(form, &self.finalized_features, "finalized features", write))?;
        }
        if self.zk_migration_ready {
            tagged.put(3, |w| {
                w.put_bool(true);
                Ok(())
            })?;
        }
        Ok(tagged)
    }

    fn feature(&mut self, tag: u32, field: Bytes) -> Result<(), DecodeError> {
        match tag {
            0 => self.supported_features = Reader::whole(field, "supported features", SupportedFeature::decode_all)?,
            1 => self.finalized_features_epoch = Reader::whole(field, "features epoch", |r| r.i64("features epoch"))?,
            2 => self.finalized_features = Reader::whole(field, "finalized features", FinalizedFeature::decode_all)?,
            3 => self.zk_migration_ready = Reader::whole(field, "migration ready", |r| r.bool("migration ready"))?,
            _ => {}
        }
        Ok(())
    }
}

impl SupportedFeature {
    fn decode_all(r: &mut Reader) -> Result<Vec<Self>, DecodeError> {
        r.items(Form::Compact, FEATURE_BYTES_MIN, "supported features", |r| {
            let feature = Self {
                name: r.string(Form::Compact, "feature name")?,
                min_version: r.i16("feature min version")?,
                max_version: r.i16("feature max version")?,
            };
            r.skip_tagged_fields(Form::Compact, "supported feature")?;
            Ok(feature)
        })
    }
}

impl FinalizedFeature {
    fn decode_all(r: &mut Reader) -> Result<Vec<Self>, DecodeError> {
        r.items(Form::Compact, FEATURE_BYTES_MIN, "finalized features", |r| {
            let feature = Self {
                name: r.string(Form::Compact, "feature name")?,
                max_version_level: r.i16("feature max version level")?,
                min_version_level: r.i16("feature min version level")?,
            };
            r.skip_tagged_fields(Form::Compact, "finalized feature")?;
            Ok(feature)
        })
    }
}

/// An empty name, two levels, no tags.
const FEATURE_BYTES_MIN: usize = 6;

/// Whoever reads error 35 asked in a version that the broker does not know, so the broker answers in one that every
/// client does.
const fn body_version(version: i16, error_code: ErrorCode) -> i16 {
    if error_code.0 == ErrorCode::UNSUPPORTED_VERSION.0 { 0 } else { version }
}
