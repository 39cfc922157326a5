//! The log of one partition.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::records::{RawBatch, RecordError};

use crate::settings::TopicSettings;
use crate::{Now, Release};

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) bytes: Bytes,
    pub(crate) base_offset: i64,
    pub(crate) last_offset: i64,
}

impl Entry {
    pub(crate) fn read(bytes: Bytes) -> Result<Self, RecordError> {
        let batch = RawBatch::from_bytes(bytes.clone())?;
        Ok(Self { bytes, base_offset: batch.header.base_offset, last_offset: batch.header.last_offset() })
    }
}

#[derive(Debug)]
pub(crate) struct Log {
    entries: Vec<Entry>,
}

#[derive(Debug)]
pub(crate) struct Appended {
    pub(crate) base_offset: i64,
    pub(crate) append_time_ms: i64,
    pub(crate) duplicate: bool,
}

#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: ErrorCode,
}

#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) records: Bytes,
    pub(crate) next_offset: i64,
}

#[derive(Debug)]
pub(crate) struct OutOfRange;

impl Log {
    pub(crate) fn new(_: Release) -> Self {
        Self { entries: Vec::new() }
    }

    pub(crate) fn start(&self) -> i64 {
        0
    }

    pub(crate) fn end(&self) -> i64 {
        self.entries.last().map_or(0, |entry| entry.last_offset + 1)
    }

    pub(crate) fn append(
        &mut self,
        _: Now,
        _: &TopicSettings,
        _: i32,
        entries: Vec<Entry>,
    ) -> Result<Appended, Refused> {
        let Some(first) = entries.first() else { return Err(Refused { code: ErrorCode::INVALID_RECORD }) };
        let base_offset = first.base_offset;
        self.entries.extend(entries);
        Ok(Appended { base_offset, append_time_ms: -1, duplicate: false })
    }

    pub(crate) fn read(&self, offset: i64, limit: i64, _: usize, _: bool) -> Result<Slice, OutOfRange> {
        if offset < 0 || offset > self.end() {
            return Err(OutOfRange);
        }
        let entry = self.entries.iter().find(|entry| entry.last_offset >= offset && entry.last_offset < limit);
        let records = entry.map(|entry| entry.bytes.clone()).unwrap_or_default();
        Ok(Slice { records, next_offset: entry.map_or(offset, |entry| entry.last_offset + 1) })
    }

    pub(crate) fn last_stable(&self, high_watermark: i64) -> i64 {
        high_watermark
    }

    pub(crate) fn aborted(&self, _: i64, _: i64) -> Vec<(i64, i64)> {
        Vec::new()
    }

    pub(crate) fn offset_for_time(&self, _: i64) -> Option<(i64, i64)> {
        None
    }

    pub(crate) fn truncate(&mut self, to: i64) {
        self.entries.retain(|entry| entry.last_offset < to);
    }
}
