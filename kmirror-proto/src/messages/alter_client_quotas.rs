//! AlterClientQuotas (49), versions 0-1: change what clients may use.
//!
//! ```text
//! request   v0  [[entity], [quota, value, remove]], validate only                     v1  compact
//! response  v0  throttle, [error, nullable message, [entity]]                         v1  compact
//! entity        entity type, nullable name
//! ```
//!
//! 2.6 and newer. Java: `AlterClientQuotasRequest`, `AlterClientQuotasResponse`; KIP-546.

use std::ops::RangeInclusive;

use super::quotas::{QuotaEntity, QuotaValue};
use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Changes what clients may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlterClientQuotasRequest {
    /// The changes by entity.
    pub entries: Vec<AlterableQuotas>,
    /// Check only, change nothing.
    pub validate_only: bool,
}

/// The changes of one entity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlterableQuotas {
    /// The parts of the entity.
    pub entity: Vec<QuotaEntity>,
    /// The changes.
    pub ops: Vec<QuotaChange>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuotaChange {
    /// The quota.
    pub key: String,
    /// Its new value.
    pub value: QuotaValue,
    /// Take it away instead.
    pub remove: bool,
}

/// What became of the entities.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlterClientQuotasResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// The outcomes by entity.
    pub entries: Vec<AlteredQuotas>,
}

/// The outcome of one entity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlteredQuotas {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The parts of the entity.
    pub entity: Vec<QuotaEntity>,
}

impl Request for AlterClientQuotasRequest {
    const KEY: ApiKey = ApiKey::ALTER_CLIENT_QUOTAS;
    const VERSIONS: RangeInclusive<i16> = 0..=1;
    const FLEXIBLE_FROM: i16 = 1;
    type Response = AlterClientQuotasResponse;
}

impl Message for AlterClientQuotasRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.entries, "entries", |w, entry| entry.encode(form, w))?;
        w.put_bool(self.validate_only);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            entries: r.items(form, 3, "entries", |r| AlterableQuotas::decode(form, r))?,
            validate_only: r.bool("validate only")?,
        };
        r.skip_tagged_fields(form, "alter client quotas request")?;
        Ok(request)
    }
}

impl AlterableQuotas {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_items(form, &self.entity, "entity", |w, part| part.encode(form, w))?;
        w.put_items(form, &self.ops, "quota changes", |w, op| {
            w.put_string(form, &op.key, "quota name")?;
            w.put_f64(op.value.0);
            w.put_bool(op.remove);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let quotas = Self {
            entity: r.items(form, 3, "entity", |r| QuotaEntity::decode(form, r))?,
            ops: r.items(form, 11, "quota changes", |r| {
                let change = QuotaChange {
                    key: r.string(form, "quota name")?,
                    value: QuotaValue(r.f64("quota value")?),
                    remove: r.bool("remove the quota")?,
                };
                r.skip_tagged_fields(form, "quota change")?;
                Ok(change)
            })?,
        };
        r.skip_tagged_fields(form, "alterable quotas")?;
        Ok(quotas)
    }
}

impl Message for AlterClientQuotasResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_items(form, &self.entries, "entries", |w, entry| entry.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            entries: r.items(form, 5, "entries", |r| AlteredQuotas::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "alter client quotas response")?;
        Ok(response)
    }
}

impl AlteredQuotas {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        w.put_items(form, &self.entity, "entity", |w, part| part.encode(form, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let quotas = Self {
            error_code: ErrorCode(r.i16("entity error code")?),
            error_message: r.nullable_string(form, "error message")?,
            entity: r.items(form, 3, "entity", |r| QuotaEntity::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "altered quotas")?;
        Ok(quotas)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, AlterClientQuotasRequest::FLEXIBLE_FROM)
}
