//! What can go wrong between bytes and values.
//!
//! A [`DecodeError`] blames the peer: its bytes are not what the protocol says. An [`EncodeError`] blames the caller:
//! the value cannot be said at that version. A [`FrameError`] means that the stream itself has lost its step; nothing
//! after it on that connection can be trusted.

use thiserror::Error;

use crate::api::ApiKey;

/// Bytes of a peer that are not the message they claim to be. `what` names the field that was being read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end before the field does.
    #[error("{what}: {needed} bytes needed, {remaining} left")]
    Truncated {
        /// The field.
        what: &'static str,
        /// Bytes that the field takes.
        needed: usize,
        /// Bytes that were left.
        remaining: usize,
    },
    /// A count of elements that cannot fit into the bytes that are left; nothing was allocated for it.
    #[error("{what}: {count} elements announced, {remaining} bytes left")]
    Count {
        /// The field.
        what: &'static str,
        /// The count as announced.
        count: i64,
        /// Bytes that were left.
        remaining: usize,
    },
    /// A length below -1.
    #[error("{what}: negative length {length}")]
    NegativeLength {
        /// The field.
        what: &'static str,
        /// The length as announced.
        length: i64,
    },
    /// Null where the protocol does not allow it.
    #[error("{what}: null where a value is required")]
    Null {
        /// The field.
        what: &'static str,
    },
    /// A string that is not UTF-8.
    #[error("{what}: not utf-8")]
    NotUtf8 {
        /// The field.
        what: &'static str,
    },
    /// A variable-length integer of too many bytes, or beyond its type.
    #[error("{what}: variable-length integer out of range")]
    Varint {
        /// The field.
        what: &'static str,
    },
    /// One tag twice in one set of tagged fields (KIP-482).
    #[error("{what}: tag {tag} twice")]
    DuplicateTag {
        /// The structure that holds the tagged fields.
        what: &'static str,
        /// The tag.
        tag: u32,
    },
    /// Bytes after the end of the message.
    #[error("{what}: {bytes} bytes after the end")]
    Trailing {
        /// The message.
        what: &'static str,
        /// How many bytes are left over.
        bytes: usize,
    },
    /// An API that this crate does not speak.
    #[error("{key}: not an api that this crate speaks")]
    UnknownApi {
        /// The API.
        key: ApiKey,
    },
    /// A version of an API that this crate does not speak.
    #[error("{key} v{version}: not a version that this crate speaks")]
    UnsupportedVersion {
        /// The API.
        key: ApiKey,
        /// The version.
        version: i16,
    },
    /// A value that contradicts the message it stands in.
    #[error("{what}: {reason}")]
    Invalid {
        /// The field.
        what: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// A value that cannot be written at the version asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// A string, array or payload too long for its length field, or a frame beyond 2 GiB.
    #[error("{what}: {length} does not fit its length field")]
    TooLong {
        /// The field.
        what: &'static str,
        /// Its length.
        length: usize,
    },
    /// A version of an API that this crate does not speak.
    #[error("{key} v{version}: not a version that this crate speaks")]
    UnsupportedVersion {
        /// The API.
        key: ApiKey,
        /// The version.
        version: i16,
    },
    /// A field that this version cannot carry, and leaving it out would change what is asked for.
    #[error("{what}: cannot be said in v{version}")]
    NotInVersion {
        /// The field.
        what: &'static str,
        /// The version.
        version: i16,
    },
}

/// A stream of bytes that is not a stream of Kafka frames. The connection must end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A length prefix below the four bytes that every frame needs for its correlation id.
    #[error("frame length {length}: below the 4 bytes of a correlation id")]
    TooShort {
        /// The prefix as read.
        length: i32,
    },
    /// A length prefix above the limit.
    #[error("frame length {length}: above the limit of {limit} bytes")]
    TooLong {
        /// The prefix as read.
        length: i32,
        /// The limit of this [`FrameBuffer`](crate::FrameBuffer).
        limit: usize,
    },
    /// The peer speaks HTTP.
    #[error("this looks like HTTP: the peer is not a kafka listener")]
    Http,
    /// The peer speaks TLS.
    #[error("this looks like TLS: the peer is a TLS listener, the connection is plaintext")]
    Tls,
}
