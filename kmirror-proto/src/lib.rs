//! The bytes of Kafka: frames, headers, messages, record batches, codecs.
//!
//! What this crate promises, and what its tests hold it to:
//!
//! - **No clock, no socket, no task, no randomness.** Bytes go in, values come out, and the other way round.
//! - **It never panics on a peer's bytes.** Every count and length is checked against the bytes that are left before
//!   anything is allocated for it, strings are UTF-8, what is decoded is decoded to its end.
//! - **Memory stays in proportion to the input.** A decoded message takes at most a small multiple of its bytes.
//! - **Payloads are never copied.** Records of a fetch response are slices of the frame; record chunks of a produce
//!   request are spliced into the outgoing frame.
//!
//! The modules stand in the order in which data flows: [`error`], [`wire`], [`frame`], [`header`], [`api`],
//! [`error_code`], [`messages`], [`records`], [`compress`].

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a test may fail"
    )
)]

pub mod error;
pub use error::{DecodeError, EncodeError, FrameError};

pub mod wire;
pub use wire::{Form, Reader, TaggedFields, Writer};

pub mod frame;
pub use frame::{Frame, FrameBuffer};

pub mod header;
pub use header::RequestHeader;

pub mod api;
pub use api::{ApiKey, decode_request, decode_response, encode_request, encode_response, peek_correlation_id};

pub mod error_code;
pub use error_code::ErrorCode;

pub mod messages;
pub use messages::{AnyRequest, AnyResponse, Message, Request};

pub mod records;

pub mod compress;
