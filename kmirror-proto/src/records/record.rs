//! The records inside a batch.
//!
//! ```text
//! +--------+------------+-----------------+--------------+---------+-------+-----+---------+------------------+
//! | length | attributes | timestamp delta | offset delta | key len | value | ... | headers |   × header count |
//! | varint | 1          | varlong         | varint       | key     | len   |     | count   |                  |
//! +--------+------------+-----------------+--------------+---------+-------+-----+---------+------------------+
//! header: name length (varint, never null) · name · value length (varint, -1 null) · value
//! ```
//!
//! KIP-98, KIP-82. Mirrors Java's `DefaultRecord`, strictly: each record must fill its length and the records must fill
//! the payload. Nothing is allocated per record; keys, values and headers borrow from the payload.

use bytes::Bytes;

use super::cursor::Cursor;
use super::{RawBatch, RecordError};
use crate::compress::Decompressor;

/// The decompressed payload of one batch.
#[derive(Debug, Clone)]
pub struct Records {
    payload: Bytes,
    count: usize,
}

impl Records {
    /// Decompresses the batch's payload to at most `bytes_max` bytes, with a fresh context. The CRC is not looked at.
    ///
    /// # Errors
    /// [`RecordError`] if the codec is unknown or fails, or if the payload cannot hold as many records as the header
    /// counts.
    pub fn of(batch: &RawBatch, bytes_max: usize) -> Result<Self, RecordError> {
        Self::with(&mut Decompressor::new(), batch, bytes_max)
    }

    /// As [`Records::of`], with contexts that are kept from batch to batch.
    ///
    /// # Errors
    /// As [`Records::of`].
    pub fn with(decompressor: &mut Decompressor, batch: &RawBatch, bytes_max: usize) -> Result<Self, RecordError> {
        let header = &batch.header;
        let payload = decompressor.decompress(header.attributes.codec()?, &batch.payload(), bytes_max)?;
        let count = usize::try_from(header.records_count).unwrap_or(0);
        if count > payload.len() / RECORD_BYTES_MIN {
            let count = header.records_count.into();
            return Err(RecordError::Count {
                what: "records",
                count,
                have: payload.len(),
            });
        }
        Ok(Self { payload, count })
    }

    /// How many records the header counts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the header counts no record (compaction emptied the batch).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The decompressed bytes.
    #[must_use]
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Walks the records. After the counted ones nothing may be left, else the last item is an error; the walk ends
    /// after an error.
    #[must_use]
    pub fn iter(&self) -> RecordIter<'_> {
        RecordIter {
            rest: Cursor::new(&self.payload),
            left: self.count,
        }
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = Result<Record<'a>, RecordError>;
    type IntoIter = RecordIter<'a>;

    fn into_iter(self) -> RecordIter<'a> {
        self.iter()
    }
}

/// The iterator of [`Records::iter`].
#[derive(Debug, Clone)]
pub struct RecordIter<'a> {
    rest: Cursor<'a>,
    left: usize,
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = Result<Record<'a>, RecordError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            let record = Record::read(&mut self.rest);
            if record.is_err() {
                *self = Self {
                    rest: Cursor::new(&[]),
                    left: 0,
                };
            }
            return Some(record);
        }
        let end = self.rest.finish("record batch payload").err();
        self.rest = Cursor::new(&[]);
        end.map(Err)
    }
}

/// One record, borrowed from the payload of its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Unused by Kafka so far; 0.
    pub attributes: i8,
    /// Milliseconds after the batch's base timestamp; see [`super::BatchHeader::timestamp_of`].
    pub timestamp_delta: i64,
    /// Offsets after the batch's base offset; see [`super::BatchHeader::offset_of`].
    pub offset_delta: i32,
    /// The key, or null.
    pub key: Option<&'a [u8]>,
    /// The value, or null (a tombstone).
    pub value: Option<&'a [u8]>,
    /// The headers, in order.
    pub headers: Headers<'a>,
}

impl<'a> Record<'a> {
    #[inline]
    fn read(payload: &mut Cursor<'a>) -> Result<Self, RecordError> {
        let length = payload.varint("record length")?;
        let Ok(length) = usize::try_from(length) else {
            return Err(RecordError::Range {
                what: "record length",
                value: length.into(),
            });
        };
        let mut body = Cursor::new(payload.bytes(length, "record")?);
        let record = Self {
            attributes: body.i8("record attributes")?,
            timestamp_delta: body.varlong("record timestamp delta")?,
            offset_delta: body.varint("record offset delta")?,
            key: body.varint_nullable("record key")?,
            value: body.varint_nullable("record value")?,
            headers: Headers::read(&mut body)?,
        };
        body.finish("record")?;
        Ok(record)
    }
}

/// The headers of a record: names with nullable values, in order, duplicates kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headers<'a> {
    count: usize,
    raw: &'a [u8],
    list: &'a [u8],
}

impl<'a> Headers<'a> {
    /// No headers: a count of 0.
    pub const NONE: Headers<'static> = Headers {
        count: 0,
        raw: &[0],
        list: &[],
    };

    /// How many headers there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The headers as they are on the wire: the count's varint and all of them.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Walks name and value of each header. Names are UTF-8 by Kafka's rules, which nobody enforces: plain bytes here.
    #[must_use]
    pub fn iter(&self) -> HeaderIter<'a> {
        HeaderIter {
            rest: Cursor::new(self.list),
        }
    }

    /// Reads the count and walks all headers once, so that later walks cannot fail.
    #[inline]
    fn read(body: &mut Cursor<'a>) -> Result<Self, RecordError> {
        let raw = body.rest();
        let count = body.varint("record header count")?;
        if count == 0 {
            let raw = raw.get(..raw.len() - body.rest().len()).unwrap_or_default();
            return Ok(Self {
                count: 0,
                raw,
                list: &[],
            });
        }
        Self::read_list(raw, count, body)
    }

    fn read_list(raw: &'a [u8], count: i32, body: &mut Cursor<'a>) -> Result<Self, RecordError> {
        let list = body.rest();
        let count = match usize::try_from(count) {
            Ok(count) if count <= list.len() / HEADER_BYTES_MIN => count,
            _ => {
                return Err(RecordError::Count {
                    what: "record headers",
                    count: count.into(),
                    have: list.len(),
                });
            }
        };
        for _ in 0..count {
            read_header(body)?;
        }
        let left = body.rest().len();
        Ok(Self {
            count,
            raw: raw.get(..raw.len() - left).unwrap_or_default(),
            list: list.get(..list.len() - left).unwrap_or_default(),
        })
    }
}

impl<'a> IntoIterator for Headers<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);
    type IntoIter = HeaderIter<'a>;

    fn into_iter(self) -> HeaderIter<'a> {
        self.iter()
    }
}

/// The iterator of [`Headers::iter`].
#[derive(Debug, Clone)]
pub struct HeaderIter<'a> {
    rest: Cursor<'a>,
}

impl<'a> Iterator for HeaderIter<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        // Cannot fail: the list was walked when the record was read.
        read_header(&mut self.rest).ok()
    }
}

fn read_header<'a>(list: &mut Cursor<'a>) -> Result<(&'a [u8], Option<&'a [u8]>), RecordError> {
    let length = list.varint("record header name")?;
    let Ok(length) = usize::try_from(length) else {
        return Err(RecordError::Range {
            what: "record header name",
            value: length.into(),
        });
    };
    let name = list.bytes(length, "record header name")?;
    let value = list.varint_nullable("record header value")?;
    Ok((name, value))
}

/// Length, attributes, two deltas, two lengths and a count, a byte each.
const RECORD_BYTES_MIN: usize = 7;
/// Two lengths of a byte each.
const HEADER_BYTES_MIN: usize = 2;
