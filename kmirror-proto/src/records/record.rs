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
            return Err(RecordError::Count { what: "records", count, have: payload.len() });
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
        RecordIter { rest: Cursor::new(&self.payload), left: self.count }
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
                *self = Self { rest: Cursor::new(&[]), left: 0 };
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
            return Err(RecordError::Range { what: "record length", value: length.into() });
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
    pub const NONE: Headers<'static> = Headers { count: 0, raw: &[0], list: &[] };

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
        HeaderIter { rest: Cursor::new(self.list) }
    }

    /// Reads the count and walks all headers once, so that later walks cannot fail.
    #[inline]
    fn read(body: &mut Cursor<'a>) -> Result<Self, RecordError> {
        let raw = body.rest();
        let count = body.varint("record header count")?;
        if count == 0 {
            let raw = raw.get(..raw.len() - body.rest().len()).unwrap_or_default();
            return Ok(Self { count: 0, raw, list: &[] });
        }
        Self::read_list(raw, count, body)
    }

    fn read_list(raw: &'a [u8], count: i32, body: &mut Cursor<'a>) -> Result<Self, RecordError> {
        let list = body.rest();
        let count = match usize::try_from(count) {
            Ok(count) if count <= list.len() / HEADER_BYTES_MIN => count,
            _ => {
                return Err(RecordError::Count { what: "record headers", count: count.into(), have: list.len() });
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
        return Err(RecordError::Range { what: "record header name", value: length.into() });
    };
    let name = list.bytes(length, "record header name")?;
    let value = list.varint_nullable("record header value")?;
    Ok((name, value))
}

/// Length, attributes, two deltas, two lengths and a count, a byte each.
const RECORD_BYTES_MIN: usize = 7;
/// Two lengths of a byte each.
const HEADER_BYTES_MIN: usize = 2;

#[cfg(test)]
mod tests {
    use super::super::{BatchBuilder, HeadersSource, Stamp};
    use super::*;
    use crate::compress::Codec;

    /// A batch with this payload and record count; the CRC is not looked at here.
    fn batch(payload: &[u8], count: i32) -> RawBatch {
        let mut builder = BatchBuilder::new(Codec::None, None);
        builder.push(0, None, None, HeadersSource::None).unwrap();
        let mut bytes = builder.finish(Stamp::NONE).unwrap()[..61].to_vec();
        bytes.extend(payload);
        let length = i32::try_from(bytes.len() - 12).unwrap();
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
        RawBatch::from_bytes(Bytes::from(bytes)).unwrap()
    }

    fn walked(payload: &[u8], count: i32) -> Result<usize, RecordError> {
        let records = Records::of(&batch(payload, count), 1 << 20)?;
        let mut found = 0;
        for record in &records {
            record?;
            found += 1;
        }
        Ok(found)
    }

    /// Length 10: attributes, two deltas, key null, value "v", one header "h" = null.
    const RECORD: [u8; 11] = [20, 0, 0, 0, 1, 2, b'v', 2, 2, b'h', 1];

    #[test]
    fn non_minimal_varints_are_read_and_headers_keep_their_bytes() {
        // R12: brokers keep such records verbatim. Header count 1 in two bytes.
        let payload = [30, 0, 0x80, 0, 0x80, 0x80, 0, 1, 0x82, 0, b'v', 0x82, 0, 2, b'h', 1];
        let records = Records::of(&batch(&payload, 1), 100).unwrap();
        let record = records.iter().next().unwrap().unwrap();
        assert_eq!((record.key, record.value), (None, Some(&b"v"[..])));
        assert_eq!(record.headers.raw(), [0x82, 0, 2, b'h', 1]);
        assert_eq!(record.headers.iter().collect::<Vec<_>>(), [(&b"h"[..], None)]);
        assert_eq!(record.headers.count(), 1);
    }

    #[test]
    fn more_or_fewer_records_than_counted_are_errors() {
        let three = RECORD.repeat(3);
        assert_eq!(walked(&three, 3), Ok(3));
        assert_eq!(walked(&three, 2), Err(RecordError::Trailing { what: "record batch payload", left: 11 }));
        assert!(matches!(walked(&three, 4), Err(RecordError::Truncated { .. })));
        assert!(matches!(walked(&three, i32::MAX), Err(RecordError::Count { what: "records", .. })));
        assert!(matches!(walked(&[], 1), Err(RecordError::Count { .. })));
    }

    #[test]
    fn a_record_must_fill_its_length() {
        let mut longer = RECORD.to_vec();
        longer[0] += 2;
        longer.push(0);
        assert_eq!(walked(&longer, 1), Err(RecordError::Trailing { what: "record", left: 1 }));
        let mut shorter = RECORD.to_vec();
        shorter[0] -= 2;
        assert!(matches!(walked(&shorter, 1), Err(RecordError::Truncated { .. })));
        let mut negative = RECORD.to_vec();
        negative[0] = 1;
        assert_eq!(walked(&negative, 1), Err(RecordError::Range { what: "record length", value: -1 }));
    }

    #[test]
    fn header_counts_and_name_lengths_are_bounded() {
        let mut many = RECORD.to_vec();
        many.splice(7..8, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
        many[0] += 8;
        assert_eq!(
            walked(&many, 1),
            Err(RecordError::Count { what: "record headers", count: i32::MAX.into(), have: 3 })
        );
        let mut negative = RECORD;
        negative[7] = 1;
        assert_eq!(walked(&negative, 1), Err(RecordError::Count { what: "record headers", count: -1, have: 3 }));
        let mut no_name = RECORD;
        no_name[8] = 1;
        assert_eq!(walked(&no_name, 1), Err(RecordError::Range { what: "record header name", value: -1 }));
    }

    #[test]
    fn the_walk_ends_after_an_error() {
        let mut payload = RECORD.repeat(3);
        payload[11] = 1;
        let records = Records::of(&batch(&payload, 3), 100).unwrap();
        assert_eq!(records.iter().map(|record| record.is_ok()).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_bomb_ends_at_the_callers_cap() {
        let mut builder = BatchBuilder::new(Codec::Gzip, None);
        builder.push(0, None, Some(&vec![0; 1_000_000]), HeadersSource::None).unwrap();
        let batch = RawBatch::from_bytes(builder.finish(Stamp::NONE).unwrap()).unwrap();
        assert!(batch.bytes().len() < 20_000);
        assert!(Records::of(&batch, 2_000_000).is_ok());
        assert_eq!(
            Records::of(&batch, 500_000).unwrap_err().to_string(),
            "payload: gzip: decompressed data exceeds 500000 bytes"
        );
    }
}
