//! DescribeLogDirs (35), versions 0-5: how much lies in which folder of a broker.
//!
//! ```text
//! request   v0  nullable [topic, [partition]]                                       v2  compact
//! response  v0  throttle, [error, folder, [topic, [partition, size, lag, is future]]]
//!           v2  compact        v3  + error after the throttle     v4  + total and usable bytes of each folder
//!           v5  + is cordoned
//! ```
//!
//! 1.0 and newer. Java: `DescribeLogDirsRequest`, `DescribeLogDirsResponse`; KIP-113, KIP-827, KIP-1066.

use std::ops::RangeInclusive;

use super::{Message, Request};
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::error_code::ErrorCode;
use crate::wire::{Form, Reader, Writer};

/// Asks a broker for its folders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeLogDirsRequest {
    /// The partitions to ask for; `None` asks for all.
    pub topics: Option<Vec<DescribeLogDirsTopic>>,
}

/// Partitions of one topic to ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeLogDirsTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<i32>,
}

/// A broker's folders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribeLogDirsResponse {
    /// How long this client is throttled.
    pub throttle_time_ms: i32,
    /// What is wrong (v3+).
    pub error_code: ErrorCode,
    /// The folders.
    pub results: Vec<DescribedLogDir>,
}

/// One folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedLogDir {
    /// What is wrong with it.
    pub error_code: ErrorCode,
    /// Its path.
    pub log_dir: String,
    /// What lies in it.
    pub topics: Vec<DescribedLogDirTopic>,
    /// The size of its volume, -1 when unknown (v4+).
    pub total_bytes: i64,
    /// What is left on its volume, -1 when unknown (v4+).
    pub usable_bytes: i64,
    /// Does it take no new partitions (v5)?
    pub is_cordoned: bool,
}

/// What lies in one folder of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DescribedLogDirTopic {
    /// The topic.
    pub name: String,
    /// The partitions.
    pub partitions: Vec<DescribedLogDirPartition>,
}

/// What lies in one folder of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DescribedLogDirPartition {
    /// Its index.
    pub partition_index: i32,
    /// Bytes of its segments.
    pub partition_size: i64,
    /// How many offsets it is behind the high watermark, or behind the log that it will take the place of.
    pub offset_lag: i64,
    /// Will it take the place of the one in another folder?
    pub is_future_key: bool,
}

impl Default for DescribedLogDir {
    fn default() -> Self {
        Self {
            error_code: ErrorCode::NONE,
            log_dir: String::new(),
            topics: Vec::new(),
            total_bytes: -1,
            usable_bytes: -1,
            is_cordoned: false,
        }
    }
}

impl Request for DescribeLogDirsRequest {
    const KEY: ApiKey = ApiKey::DESCRIBE_LOG_DIRS;
    const VERSIONS: RangeInclusive<i16> = 0..=5;
    const FLEXIBLE_FROM: i16 = 2;
    type Response = DescribeLogDirsResponse;
}

impl Message for DescribeLogDirsRequest {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        match &self.topics {
            None => w.put_null(form),
            Some(topics) => w.put_items(form, topics, "topics", |w, topic| {
                w.put_string(form, &topic.name, "topic name")?;
                w.put_i32s(form, &topic.partitions, "partitions")?;
                w.put_no_tagged_fields(form);
                Ok(())
            })?,
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let request = Self {
            topics: r.nullable_items(form, 3, "topics", |r| {
                let topic = DescribeLogDirsTopic {
                    name: r.string(form, "topic name")?,
                    partitions: r.i32s(form, "partitions")?,
                };
                r.skip_tagged_fields(form, "describe log dirs topic")?;
                Ok(topic)
            })?,
        };
        r.skip_tagged_fields(form, "describe log dirs request")?;
        Ok(request)
    }
}

impl Message for DescribeLogDirsResponse {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i32(self.throttle_time_ms);
        if version >= 3 {
            w.put_i16(self.error_code.0);
        }
        w.put_items(form, &self.results, "log dirs", |w, result| result.encode(version, w))?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut response = Self { throttle_time_ms: r.i32("throttle time")?, ..Self::default() };
        if version >= 3 {
            response.error_code = ErrorCode(r.i16("describe log dirs error code")?);
        }
        response.results = r.items(form, 5, "log dirs", |r| DescribedLogDir::decode(version, r))?;
        r.skip_tagged_fields(form, "describe log dirs response")?;
        Ok(response)
    }
}

impl DescribedLogDir {
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
        let form = form(version);
        w.put_i16(self.error_code.0);
        w.put_string(form, &self.log_dir, "log dir")?;
        w.put_items(form, &self.topics, "topics", |w, topic| topic.encode(form, w))?;
        if version >= 4 {
            w.put_i64(self.total_bytes);
        }
        if version >= 4 {
            w.put_i64(self.usable_bytes);
        }
        if version >= 5 {
            w.put_bool(self.is_cordoned);
        }
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
        let form = form(version);
        let mut dir = Self {
            error_code: ErrorCode(r.i16("log dir error code")?),
            log_dir: r.string(form, "log dir")?,
            topics: r.items(form, 3, "topics", |r| DescribedLogDirTopic::decode(form, r))?,
            ..Self::default()
        };
        if version >= 4 {
            dir.total_bytes = r.i64("total bytes")?;
        }
        if version >= 4 {
            dir.usable_bytes = r.i64("usable bytes")?;
        }
        if version >= 5 {
            dir.is_cordoned = r.bool("log dir is cordoned")?;
        }
        r.skip_tagged_fields(form, "described log dir")?;
        Ok(dir)
    }
}

impl DescribedLogDirTopic {
    fn encode(&self, form: Form, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_string(form, &self.name, "topic name")?;
        w.put_items(form, &self.partitions, "partitions", |w, partition| {
            w.put_i32(partition.partition_index);
            w.put_i64(partition.partition_size);
            w.put_i64(partition.offset_lag);
            w.put_bool(partition.is_future_key);
            w.put_no_tagged_fields(form);
            Ok(())
        })?;
        w.put_no_tagged_fields(form);
        Ok(())
    }

    fn decode(form: Form, r: &mut Reader) -> Result<Self, DecodeError> {
        let topic = Self {
            name: r.string(form, "topic name")?,
            partitions: r.items(form, 21, "partitions", |r| {
                let partition = DescribedLogDirPartition {
                    partition_index: r.i32("partition index")?,
                    partition_size: r.i64("partition size")?,
                    offset_lag: r.i64("offset lag")?,
                    is_future_key: r.bool("is a future log")?,
                };
                r.skip_tagged_fields(form, "described log dir partition")?;
                Ok(partition)
            })?,
        };
        r.skip_tagged_fields(form, "described log dir topic")?;
        Ok(topic)
    }
}

const fn form(version: i16) -> Form {
    Form::at(version, DescribeLogDirsRequest::FLEXIBLE_FROM)
}
