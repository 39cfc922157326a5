//! FindCoordinator (10), versions 0-4: the broker that looks after a group or a transaction.
//!
//! ```text
//! request   v0     key                       v1  + key type     v3  compact
//!           v4     key type, [key]           exactly one key here
//! response  v0     error, node, host, port   v1  + throttle in front, error message after the error
//!           v4     throttle, [key, node, host, port, error, error message]
//! ```
//!
//! Java: `FindCoordinatorRequest`, `FindCoordinatorResponse`; KIP-699.

use std::ops::RangeInclusive;

use super::{Message, Request, refuse_left_out};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks for the coordinator of one key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FindCoordinatorRequest {
    /// The group or the transactional id.
    pub key: String,
    /// 0: a group, 1: a transaction (v1+).
    pub key_type: i8,
}

/// The coordinator of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindCoordinatorResponse {
    /// How long this client is throttled (v1+).
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the broker has to say (v1+).
    pub error_message: Option<String>,
    /// The key that was asked for (v4).
    pub key: String,
    /// The coordinator's id, -1 with an error.
    pub node_id: i32,
    /// The host that it advertises.
    pub host: String,
    /// The port that it advertises, as sent: not checked to be one.
    pub port: i32,
}

impl Default for FindCoordinatorResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: ErrorCode::NONE,
            error_message: None,
            key: String::new(),
            node_id: -1,
            host: String::new(),
            port: -1,
        }
    }
}

impl Request for FindCoordinatorRequest {
    const KEY: ApiKey = ApiKey::FIND_COORDINATOR;
    const VERSIONS: RangeInclusive<i16> = 0..=4;
    const FLEXIBLE_FROM: i16 = 3;
    type Response = FindCoordinatorResponse;
}

impl Message for FindCoordinatorRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        if version <= 3 {
            w.put_string(form, &self.key, "coordinator key")?;
        }
        if version >= 1 {
            w.put_i8(self.key_type);
        } else {
            refuse_left_out(self.key_type != 0, "coordinator of a transaction", version)?;
        }
        if version >= 4 {
            let keys = std::slice::from_ref(&self.key);
            w.put_items(form, keys, "coordinator keys", |w, key| w.put_string(form, key, "coordinator key"))?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut request = Self::default();
        if version <= 3 {
            request.key = r.string(form, "coordinator key")?;
        }
        if version >= 1 {
            request.key_type = r.i8("coordinator key type")?;
        }
        if version >= 4 {
            let keys = r.items(form, 1, "coordinator keys", |r| r.string(form, "coordinator key"))?;
            request.key = exactly_one(keys, "coordinator keys")?;
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
            w.put_items(form, std::slice::from_ref(self), "coordinators", |w, coordinator| {
                w.put_string(form, &coordinator.key, "coordinator key")?;
                coordinator.encode_node(form, w)?;
                w.put_i16(coordinator.error_code.0);
                w.put_nullable_string(form, coordinator.error_message.as_deref(), "error message")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?;
        } else {
            w.put_i16(self.error_code.0);
            if version >= 1 {
                w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
            }
            self.encode_node(form, w)?;
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let throttle_time_ms = if version >= 1 { r.i32("throttle time")? } else { 0 };
        let mut response = if version >= 4 {
            let coordinators = r.items(form, 14, "coordinators", |r| Self::decode_coordinator(form, r))?;
            exactly_one(coordinators, "coordinators")?
        } else {
            let mut response = Self { error_code: ErrorCode(r.i16("coordinator error code")?), ..Self::default() };
            if version >= 1 {
                response.error_message = r.nullable_string(form, "error message")?;
            }
            response.decode_node(form, r)?;
            response
        };
        response.throttle_time_ms = throttle_time_ms;
        r.skip_tagged_fields(form, "find coordinator response")?;
        Ok(response)
    }
}

impl FindCoordinatorResponse {
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

    fn decode_coordinator(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let mut coordinator = Self { key: r.string(form, "coordinator key")?, ..Self::default() };
        coordinator.decode_node(form, r)?;
        coordinator.error_code = ErrorCode(r.i16("coordinator error code")?);
        coordinator.error_message = r.nullable_string(form, "error message")?;
        r.skip_tagged_fields(form, "coordinator")?;
        Ok(coordinator)
    }
}

fn exactly_one<T>(items: Vec<T>, what: &'static str) -> Result<T, DecodeError> {
    let [item] = <[T; 1]>::try_from(items)
        .map_err(|_| DecodeError::Invalid { what, reason: "one was asked for, another number came" })?;
    Ok(item)
}

const fn form(version: i16) -> Form {
    Form::at(version, FindCoordinatorRequest::FLEXIBLE_FROM)
}
