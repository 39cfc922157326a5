//! FindCoordinator (10), versions 0-6: the brokers that look after groups, transactions or share groups.
//!
//! ```text
//! request   v0     key                       v1  + key type     v3  compact
//!           v4     key type, [key]
//! response  v0     error, node, host, port   v1  + throttle in front, error message after the error
//!           v4     throttle, [key, node, host, port, error, error message]
//! ```
//!
//! Up to v3 there is one key and one coordinator, which does not repeat the key. v5 lets the broker answer 120
//! (KIP-890), v6 has keys of share groups (KIP-932). Java: `FindCoordinatorRequest`, `FindCoordinatorResponse`; KIP-699.

use std::ops::RangeInclusive;

use super::{Message, Request, only, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for coordinators.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FindCoordinatorRequest {
    /// 0: groups, 1: transactions (v1+), 2: share groups (v6).
    pub key_type: i8,
    /// The groups or transactional ids; exactly one up to v3.
    pub keys: Vec<String>,
}

/// The coordinators.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FindCoordinatorResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// One for each key; exactly one up to v3.
    pub coordinators: Vec<Coordinator>,
}

/// The coordinator of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinator {
    /// The key that was asked for (v4+).
    pub key: String,
    /// Its id, -1 with an error.
    pub node_id: i32,
    /// The host that it advertises.
    pub host: String,
    /// The port that it advertises, as sent: not checked to be one.
    pub port: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the broker has to say (v1+).
    pub error_message: Option<String>,
}

impl FindCoordinatorRequest {
    /// Asks for the coordinator of one group.
    #[must_use]
    pub fn group(group: String) -> Self {
        Self { key_type: 0, keys: vec![group] }
    }
}

impl FindCoordinatorResponse {
    /// The answer to a question about one key. Of a broker that answers with another number it is that the coordinator
    /// is not available.
    #[must_use]
    pub fn into_only(self) -> Coordinator {
        let unavailable =
            |_| Coordinator { error_code: ErrorCode::COORDINATOR_NOT_AVAILABLE, ..Coordinator::default() };
        <[Coordinator; 1]>::try_from(self.coordinators).map_or_else(unavailable, |[coordinator]| coordinator)
    }
}

impl From<Coordinator> for FindCoordinatorResponse {
    fn from(coordinator: Coordinator) -> Self {
        Self { throttle_time_ms: 0, coordinators: vec![coordinator] }
    }
}

impl Default for Coordinator {
    fn default() -> Self {
        Self {
            key: String::new(),
            node_id: -1,
            host: String::new(),
            port: -1,
            error_code: ErrorCode::NONE,
            error_message: None,
        }
    }
}

impl Request for FindCoordinatorRequest {
    const KEY: ApiKey = ApiKey::FIND_COORDINATOR;
    const VERSIONS: RangeInclusive<i16> = 0..=6;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = FindCoordinatorResponse;
}

impl Message for FindCoordinatorRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version <= 3 {
            w.put_string(form, only(&self.keys, "number of coordinator keys", version)?, "coordinator key")?;
        }
        if version >= 1 {
            w.put_i8(self.key_type);
        } else {
            refuse_left_out(self.key_type != 0, "coordinator of a transaction", version)?;
        }
        if version >= 4 {
            w.put_items(form, &self.keys, "coordinator keys", |w, key| w.put_string(form, key, "coordinator key"))?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version <= 3 {
            request.keys.push(r.string(form, "coordinator key")?);
        }
        if version >= 1 {
            request.key_type = r.i8("coordinator key type")?;
        }
        if version >= 4 {
            request.keys = r.items(form, 1, "coordinator keys", |r| r.string(form, "coordinator key"))?;
        }
        r.skip_tagged_fields(form, "find coordinator request")?;
        Ok(request)
    }
}

impl Message for FindCoordinatorResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version >= 1 {
            w.put_i32(self.throttle_time_ms);
        }
        if version >= 4 {
            w.put_items(form, &self.coordinators, "coordinators", |w, coordinator| coordinator.encode(form, w))?;
        } else {
            let coordinator = only(&self.coordinators, "number of coordinators", version)?;
            w.put_i16(coordinator.error_code.0);
            if version >= 1 {
                w.put_nullable_string(form, coordinator.error_message.as_deref(), "error message")?;
            }
            coordinator.encode_node(form, w)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self::default();
        if version >= 1 {
            response.throttle_time_ms = r.i32("throttle time")?;
        }
        if version >= 4 {
            response.coordinators = r.items(form, 14, "coordinators", |r| Coordinator::decode(form, r))?;
        } else {
            let error_code = ErrorCode(r.i16("coordinator error code")?);
            let mut coordinator = Coordinator { error_code, ..Coordinator::default() };
            if version >= 1 {
                coordinator.error_message = r.nullable_string(form, "error message")?;
            }
            coordinator.decode_node(form, r)?;
            response.coordinators.push(coordinator);
        }
        r.skip_tagged_fields(form, "find coordinator response")?;
        Ok(response)
    }
}

impl Coordinator {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.key, "coordinator key")?;
        self.encode_node(form, w)?;
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut coordinator = Self { key: r.string(form, "coordinator key")?, ..Self::default() };
        coordinator.decode_node(form, r)?;
        coordinator.error_code = ErrorCode(r.i16("coordinator error code")?);
        coordinator.error_message = r.nullable_string(form, "error message")?;
        r.skip_tagged_fields(form, "coordinator")?;
        Ok(coordinator)
    }

    fn encode_node(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.node_id);
        w.put_string(form, &self.host, "coordinator host")?;
        w.put_i32(self.port);
        Ok(())
    }

    fn decode_node(&mut self, form: Form, r: &mut Reader) -> Result<(), DecodeError> {
        self.node_id = r.i32("coordinator id")?;
        self.host = r.string(form, "coordinator host")?;
        self.port = r.i32("coordinator port")?;
        Ok(())
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, FindCoordinatorRequest::FLEXIBLE_FROM)
}
