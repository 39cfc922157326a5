//! WriteTxnMarkers (27), versions 0-2: a transaction's coordinator tells leaders how it has ended.
//!
//! ```text
//! request   v0  [producer id, producer epoch, commit, [topic, [partition]], coordinator epoch]
//!           v1  compact                v2  + transaction version per marker
//! response  v0  [producer id, [topic, [partition, error]]]         v1  compact
//! ```
//!
//! Brokers speak it among themselves, and `kafka-transactions.sh abort` speaks it to a partition that hangs (KIP-664).
//! KIP-98, KIP-1228 (the transaction version). Java: `WriteTxnMarkersRequest`, `WriteTxnMarkersResponse`.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Writes markers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteTxnMarkersRequest {
    /// The markers.
    pub markers: Vec<WritableTxnMarker>,
}

/// One marker, into each partition of one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WritableTxnMarker {
    /// The producer id of the transaction.
    pub producer_id: i64,
    /// Its epoch.
    pub producer_epoch: i16,
    /// The transaction is committed; else it is aborted.
    pub transaction_result: bool,
    /// The partitions by topic.
    pub topics: Vec<WritableTxnMarkerTopic>,
    /// The epoch of the coordinator, which goes into the marker.
    pub coordinator_epoch: i32,
    /// How the transaction was made: 2 with an epoch of its own (KIP-890), else 0 or 1 (v2).
    pub transaction_version: i8,
}

/// Partitions of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WritableTxnMarkerTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partition_indexes: Vec<i32>,
}

/// What became of the markers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteTxnMarkersResponse {
    /// The outcomes by producer id.
    pub markers: Vec<WrittenTxnMarker>,
}

/// What became of one marker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenTxnMarker {
    /// The producer id of the transaction.
    pub producer_id: i64,
    /// The outcomes by topic.
    pub topics: Vec<WrittenTxnMarkerTopic>,
}

/// Outcomes of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenTxnMarkerTopic {
    /// The topic.
    pub name: String,
    /// The outcomes by partition.
    pub partitions: Vec<WrittenTxnMarkerPartition>,
}

/// The outcome of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrittenTxnMarkerPartition {
    /// Its index.
    pub partition_index: i32,
    /// What is wrong with it.
    pub error_code: ErrorCode,
}

impl Request for WriteTxnMarkersRequest {
    const KEY: ApiKey = ApiKey::WRITE_TXN_MARKERS;
    const VERSIONS: RangeInclusive<i16> = 0..=2;
    const FLEXIBLE_FROM: i16 = 1;
    type Response = WriteTxnMarkersResponse;
}

impl Message for WriteTxnMarkersRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_items(form(version), &self.markers, "markers", |w, marker| marker.encode(version, w))?;
        w.put_no_tagged_fields(form(version));
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let markers = r.items(form, 17, "markers", |r| WritableTxnMarker::decode(version, r))?;
        r.skip_tagged_fields(form, "write txn markers request")?;
        Ok(Self { markers })
    }
}

impl WritableTxnMarker {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i64(self.producer_id);
        w.put_i16(self.producer_epoch);
        w.put_bool(self.transaction_result);
        w.put_items(form, &self.topics, "topics", |w, topic| {
            w.put_string(form, &topic.name, "topic name")?;
            w.put_i32s(form, &topic.partition_indexes, "partitions")?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_i32(self.coordinator_epoch);
        if version >= 2 {
            w.put_i8(self.transaction_version);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut marker = Self {
            producer_id: r.i64("producer id")?,
            producer_epoch: r.i16("producer epoch")?,
            transaction_result: r.bool("transaction result")?,
            ..Self::default()
        };
        marker.topics = r.items(form, TOPIC_BYTES_MIN, "topics", |r| {
            let topic = WritableTxnMarkerTopic {
                name: r.string(form, "topic name")?,
                partition_indexes: r.i32s(form, "partitions")?,
            };
            r.skip_tagged_fields(form, "writable txn marker topic")?;
            Ok(topic)
        })?;
        marker.coordinator_epoch = r.i32("coordinator epoch")?;
        if version >= 2 {
            marker.transaction_version = r.i8("transaction version")?;
        }
        r.skip_tagged_fields(form, "writable txn marker")?;
        Ok(marker)
    }
}

impl Message for WriteTxnMarkersResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_items(form, &self.markers, "markers", |w, marker| {
            w.put_i64(marker.producer_id);
            w.put_items(form, &marker.topics, "topics", |w, topic| topic.encode(form, w))?;
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let markers = r.items(form, 10, "markers", |r| {
            let marker = WrittenTxnMarker {
                producer_id: r.i64("producer id")?,
                topics: r.items(form, TOPIC_BYTES_MIN, "topics", |r| WrittenTxnMarkerTopic::decode(form, r))?,
            };
            r.skip_tagged_fields(form, "written txn marker")?;
            Ok(marker)
        })?;
        r.skip_tagged_fields(form, "write txn markers response")?;
        Ok(Self { markers })
    }
}

impl WrittenTxnMarkerTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i16(partition.error_code.0);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let name = r.string(form, "topic name")?;
        let partitions = r.items(form, 6, "partitions", |r| {
            let partition = WrittenTxnMarkerPartition {
                partition_index: r.i32("partition index")?,
                error_code: ErrorCode(r.i16("partition error code")?),
            };
            r.skip_tagged_fields(form, "written txn marker partition")?;
            Ok(partition)
        })?;
        r.skip_tagged_fields(form, "written txn marker topic")?;
        Ok(Self { name, partitions })
    }
}

/// An empty name, no partitions, no tags.
const TOPIC_BYTES_MIN: usize = 3;

const fn form(version: i16) -> Form {
    Form::at(version, WriteTxnMarkersRequest::FLEXIBLE_FROM)
}
