//! What the two APIs about client quotas have in common: whom a quota is for, and how much it is.
//!
//! ```text
//! entity     [entity type, nullable name]      user alice and client-id loader together: two parts
//! value      f64
//! ```
//!
//! Java: `org.apache.kafka.common.quota.ClientQuotaEntity`; KIP-546.

use crate::error::{DecodeError, EncodeError};
use crate::wire::{Form, Reader, Writer};

/// A part of the entity that a quota is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuotaEntity {
    /// Its kind: `user`, `client-id` or `ip`.
    pub entity_type: String,
    /// Its name; `None` is the default for all that have none of their own.
    pub entity_name: Option<String>,
}

/// How much a quota is. Two of them are equal when they are the same bits, so that what was read is what was written,
/// even where it is no number.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuotaValue(pub f64);

impl PartialEq for QuotaValue {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for QuotaValue {}

impl QuotaEntity {
    pub(super) fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.entity_type, "entity type")?;
        w.put_nullable_string(form, self.entity_name.as_deref(), "entity name")?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    pub(super) fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let part =
            Self { entity_type: r.string(form, "entity type")?, entity_name: r.nullable_string(form, "entity name")? };
        r.skip_tagged_fields(form, "quota entity")?;
        Ok(part)
    }
}
