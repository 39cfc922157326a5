//! What the three APIs about access control lists have in common.
//!
//! ```text
//! filter    resource type, nullable resource name, pattern type (v1+),
//!           nullable principal, nullable host, operation, permission
//! pattern   resource type, resource name, pattern type (v1+)
//! entry     principal, host, operation, permission
//! ```
//!
//! v0 has literal names alone; prefixes came with 2.0 (KIP-290), and all versions of the three APIs are the same in
//! that. The kinds are integers here, as Kafka has them. Java: `org.apache.kafka.common.acl.AclBindingFilter`,
//! `AclBinding`, `org.apache.kafka.common.resource.ResourcePattern`.

use super::refuse_left_out;
use crate::error::{DecodeError, EncodeError};
use crate::wire::{Form, Reader, Writer};

/// Which entries are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AclFilter {
    /// The kind of resource, 1 for any.
    pub resource_type: i8,
    /// Its name, `None` for any.
    pub resource_name: Option<String>,
    /// How names are compared: one of the constants of [`AclPattern`] (v1+).
    pub pattern_type: i8,
    /// Whom the entry is for, `User:alice`; `None` for anybody.
    pub principal: Option<String>,
    /// Where from, `None` for anywhere.
    pub host: Option<String>,
    /// The operation, 1 for any.
    pub operation: i8,
    /// 2 denies, 3 allows, 1 for either.
    pub permission_type: i8,
}

/// The resources that an entry is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AclPattern {
    /// Their kind: 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user.
    pub resource_type: i8,
    /// Their name, or how it begins; `*` for all.
    pub resource_name: String,
    /// [`LITERAL`](Self::LITERAL) or [`PREFIXED`](Self::PREFIXED) (v1+).
    pub pattern_type: i8,
}

/// Who may do what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AclEntry {
    /// Whom it is for, `User:alice`.
    pub principal: String,
    /// Where from, `*` for anywhere.
    pub host: String,
    /// The operation: 2 all, 3 read, 4 write, 5 create, 6 delete, 7 alter, 8 describe, 9 cluster action and so on.
    pub operation: i8,
    /// 2 denies, 3 allows.
    pub permission_type: i8,
}

impl AclPattern {
    /// In a filter: any pattern.
    pub const ANY: i8 = 1;
    /// In a filter: any pattern that covers a name.
    pub const MATCH: i8 = 2;
    /// The resource of exactly this name.
    pub const LITERAL: i8 = 3;
    /// All resources whose names begin so.
    pub const PREFIXED: i8 = 4;
}

impl Default for AclFilter {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: None,
            pattern_type: AclPattern::LITERAL,
            principal: None,
            host: None,
            operation: 0,
            permission_type: 0,
        }
    }
}

impl Default for AclPattern {
    fn default() -> Self {
        Self { resource_type: 0, resource_name: String::new(), pattern_type: Self::LITERAL }
    }
}

/// Each of these is a part of a structure: the tags that end it are the caller's.
impl AclFilter {
    pub(super) fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i8(self.resource_type);
        w.put_nullable_string(form, self.resource_name.as_deref(), "resource name filter")?;
        put_pattern_type(self.pattern_type, version, w)?;
        w.put_nullable_string(form, self.principal.as_deref(), "principal filter")?;
        w.put_nullable_string(form, self.host.as_deref(), "host filter")?;
        w.put_i8(self.operation);
        w.put_i8(self.permission_type);
        Ok(())
    }

    pub(super) fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        Ok(Self {
            resource_type: r.i8("resource type filter")?,
            resource_name: r.nullable_string(form, "resource name filter")?,
            pattern_type: pattern_type(version, r)?,
            principal: r.nullable_string(form, "principal filter")?,
            host: r.nullable_string(form, "host filter")?,
            operation: r.i8("operation")?,
            permission_type: r.i8("permission type")?,
        })
    }
}

impl AclPattern {
    pub(super) fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i8(self.resource_type);
        w.put_string(form(version), &self.resource_name, "resource name")?;
        put_pattern_type(self.pattern_type, version, w)
    }

    pub(super) fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        Ok(Self {
            resource_type: r.i8("resource type")?,
            resource_name: r.string(form(version), "resource name")?,
            pattern_type: pattern_type(version, r)?,
        })
    }
}

impl AclEntry {
    pub(super) fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_string(form, &self.principal, "principal")?;
        w.put_string(form, &self.host, "host")?;
        w.put_i8(self.operation);
        w.put_i8(self.permission_type);
        Ok(())
    }

    pub(super) fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        Ok(Self {
            principal: r.string(form, "principal")?,
            host: r.string(form, "host")?,
            operation: r.i8("operation")?,
            permission_type: r.i8("permission type")?,
        })
    }
}

/// The first compact version of the three APIs.
pub(super) const FLEXIBLE_FROM: i16 = 2;

/// The form of a version of the three APIs.
pub(super) const fn form(version: i16) -> Form {
    Form::at(version, FLEXIBLE_FROM)
}

fn put_pattern_type(pattern_type: i8, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
    if version >= 1 {
        w.put_i8(pattern_type);
        return Ok(());
    }
    refuse_left_out(pattern_type != AclPattern::LITERAL, "pattern type", version)
}

fn pattern_type(version: i16, r: &mut Reader) -> Result<i8, DecodeError> {
    if version >= 1 { r.i8("pattern type") } else { Ok(AclPattern::LITERAL) }
}
