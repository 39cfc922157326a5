//! DescribeClientQuotas (48), versions 0-1: what clients may use.
//!
//! ```text
//! request   v0  [entity type, match type, nullable name], strict                           v1  compact
//! response  v0  throttle, error, nullable message, nullable [[entity], [quota, value]]     v1  compact
//! entity        entity type, nullable name
//! ```
//!
//! 2.6 and newer. Java: `DescribeClientQuotasRequest`, `DescribeClientQuotasResponse`; KIP-546.

use std::ops::RangeInclusive;

use super::quotas::{QuotaEntity, QuotaValue};
use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks what clients may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeClientQuotasRequest {
    /// What the entities have to be; all of it.
    pub components: Vec<QuotaComponent>,
    /// Leave out entities that are more than that.
    pub strict: bool,
}

/// What a part of an entity has to be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuotaComponent {
    /// Its kind: `user`, `client-id` or `ip`.
    pub entity_type: String,
    /// How it is named, one of the constants of this type.
    pub match_type: i8,
    /// Its name; `None` where the match needs none.
    pub match_name: Option<String>,
}

impl QuotaComponent {
    /// The one of this name.
    pub const EXACT: i8 = 0;
    /// The one for all that have none of their own.
    pub const DEFAULT: i8 = 1;
    /// Any of this kind.
    pub const ANY: i8 = 2;
}

/// What clients may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeClientQuotasResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong.
    pub error_code: ErrorCode,
    /// What the broker has to say about that.
    pub error_message: Option<String>,
    /// The entities with their quotas, `None` with an error.
    pub entries: Option<Vec<DescribedQuotas>>,
}

/// The quotas of one entity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedQuotas {
    /// The parts of the entity.
    pub entity: Vec<QuotaEntity>,
    /// Its quotas.
    pub values: Vec<DescribedQuota>,
}

/// One quota.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedQuota {
    /// Its name, `producer_byte_rate` or the like.
    pub key: String,
    /// Its value.
    pub value: QuotaValue,
}

impl Request for DescribeClientQuotasRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_CLIENT_QUOTAS;
    const VERSIONS: RangeInclusive<i16> = 0..=1;
    const FLEXIBLE_FROM: i16 = 1;
    type Response = DescribeClientQuotasResponse;
}

impl Message for DescribeClientQuotasRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.components, "components", |w, component| {
            w.put_string(form, &component.entity_type, "entity type")?;
            w.put_i8(component.match_type);
            w.put_nullable_string(form, component.match_name.as_deref(), "entity name")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_bool(self.strict);
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            components: r.items(form, 4, "components", |r| {
                let component = QuotaComponent {
                    entity_type: r.string(form, "entity type")?,
                    match_type: r.i8("match type")?,
                    match_name: r.nullable_string(form, "entity name")?,
                };
                r.skip_tagged_fields(form, "quota component")?;
                Ok(component)
            })?,
            strict: r.bool("strict")?,
        };
        r.skip_tagged_fields(form, "describe client quotas request")?;
        Ok(request)
    }
}

impl Message for DescribeClientQuotasResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        w.put_i16(self.error_code.0);
        w.put_nullable_string(form, self.error_message.as_deref(), "error message")?;
        match &self.entries {
            None => w.put_null(form),
            Some(entries) => w.put_items(form, entries, "entries", |w, entry| entry.encode(form, w))?,
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let response = Self {
            throttle_time_ms: r.i32("throttle time")?,
            error_code: ErrorCode(r.i16("describe client quotas error code")?),
            error_message: r.nullable_string(form, "error message")?,
            entries: r.nullable_items(form, 3, "entries", |r| DescribedQuotas::decode(form, r))?,
        };
        r.skip_tagged_fields(form, "describe client quotas response")?;
        Ok(response)
    }
}

impl DescribedQuotas {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_items(form, &self.entity, "entity", |w, part| part.encode(form, w))?;
        w.put_items(form, &self.values, "values", |w, value| {
            w.put_string(form, &value.key, "quota name")?;
            w.put_f64(value.value.0);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let quotas = Self {
            entity: r.items(form, 3, "entity", |r| QuotaEntity::decode(form, r))?,
            values: r.items(form, 10, "values", |r| {
                let quota =
                    DescribedQuota { key: r.string(form, "quota name")?, value: QuotaValue(r.f64("quota value")?) };
                r.skip_tagged_fields(form, "described quota")?;
                Ok(quota)
            })?,
        };
        r.skip_tagged_fields(form, "described quotas")?;
        Ok(quotas)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DescribeClientQuotasRequest::FLEXIBLE_FROM)
}
