//! Fetch (1), versions 0-18: records from a partition's leader, or from a follower near by.
//!
//! ```text
//! request   v0      replica, max wait, min bytes, [topic, [partition, offset, partition max bytes]]
//!           v3      + max bytes            v4   + isolation level      v5   + log start offset
//!           v7      + session id and epoch, forgotten topics           v9   + current leader epoch
//!           v11     + rack                 v12  compact, + last fetched epoch
//!           v13     topics by id           v15  replica as a tagged field, with its epoch
//! response  v0      [topic, [partition, error, high watermark, records]]
//!           v1      throttle in front      v4   + last stable offset, aborted transactions
//!           v5      + log start offset     v7   error and session id in front
//!           v11     + preferred read replica
//!           v12     compact, + tagged fields of a partition: diverging epoch, current leader
//!           v13     topics by id           v16  + tagged field at the end: node endpoints
//! ```
//!
//! v10 says that the client reads zstd. What only followers and controllers say is skipped: the cluster id and snapshot
//! of v12, the directory of v17 and the high watermark of v18. Sessions: KIP-227, epochs: KIP-320, followers: KIP-392,
//! topic ids: KIP-516, replica epochs: KIP-903, new leaders: KIP-951. Java: `FetchRequest`, `FetchResponse`.

use std::ops::RangeInclusive;

use super::Request;
use super::topic::TopicField;
use crate::api::ApiKey;
use crate::wire::Form;

mod request;
pub use request::{FetchPartition, FetchRequest, FetchTopic, ForgottenTopic};

mod response;
pub use response::{AbortedTransaction, EpochEndOffset, FetchResponse, FetchableTopic, FetchedPartition};

impl Request for FetchRequest {
    const KEY: ApiKey = ApiKey::FETCH;
    const VERSIONS: RangeInclusive<i16> = 0..=18;
    const FLEXIBLE_FROM: i16 = 12;
    type Response = FetchResponse;
}

const fn form(version: i16) -> Form {
    Form::at(version, FetchRequest::FLEXIBLE_FROM)
}

const fn topic_field(version: i16) -> TopicField {
    TopicField::at(version, form(version), 13)
}
