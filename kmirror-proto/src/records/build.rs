//! Builds magic 2 batches.
//!
//! Records are encoded one behind the other into one buffer that begins with room for the header. Without a codec the
//! batch is finished where it stands; with one, the records are compressed behind a header in a buffer of their own.
//!
//! Mirrors Java's `MemoryRecordsBuilder`: offsets are 0..n-1, the base timestamp is the first record's, the maximum
//! begins at -1 (brokers correct any other), the leader epoch is -1 unless a leader builds.

use bytes::{Bytes, BytesMut};

use super::batch::{Attributes, BATCH_HEADER_BYTES, CRC_COVERS_FROM};
use super::cursor::VARLONG_BYTES_MAX;
use super::split::PREFIX_BYTES;
use super::{Headers, RecordError, Stamp, crc};
use crate::compress::{Codec, Compressor};

/// Where the headers of a pushed record come from.
#[derive(Debug, Clone, Copy, Default)]
pub enum HeadersSource<'a> {
    /// No headers.
    #[default]
    None,
    /// Wire bytes, taken as they are: the count's varint and all headers, as [`Headers::raw`] gives them.
    Raw(&'a [u8]),
    /// Names and nullable values, in order.
    List(&'a [(&'a [u8], Option<&'a [u8]>)]),
}

impl<'a> From<Headers<'a>> for HeadersSource<'a> {
    fn from(headers: Headers<'a>) -> Self {
        Self::Raw(headers.raw())
    }
}

/// What a partition's leader writes into the header of a batch that it encodes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The offset of the first record.
    pub base_offset: i64,
    /// The leader's epoch, -1 for none.
    pub leader_epoch: i32,
    /// The time of the append that stands for all timestamps (`LogAppendTime`), in milliseconds. The records keep
    /// those that the producer gave, unseen.
    pub append_time: Option<i64>,
    /// The batch belongs to a transaction.
    pub transactional: bool,
}

impl Placement {
    /// A producer's: offset 0, no epoch, the records' own timestamps.
    pub const NONE: Self = Self { base_offset: 0, leader_epoch: -1, append_time: None, transactional: false };
}

/// Builds one magic 2 batch after the other, re-using its buffers and the codec's context.
#[derive(Debug)]
pub struct BatchBuilder {
    codec: Codec,
    placement: Placement,
    compressor: Compressor,
    /// Room for the header, then the records.
    buffer: BytesMut,
    records: i32,
    base_timestamp_hint: Option<i64>,
    base_timestamp: i64,
    max_timestamp: i64,
}

impl BatchBuilder {
    /// An empty builder. `base_timestamp` in milliseconds; `None` takes the first record's, as Java does.
    #[must_use]
    pub fn new(codec: Codec, base_timestamp: Option<i64>) -> Self {
        Self {
            codec,
            placement: Placement::NONE,
            compressor: Compressor::new(),
            buffer: BytesMut::new(),
            records: 0,
            base_timestamp_hint: base_timestamp,
            base_timestamp: 0,
            max_timestamp: NO_TIMESTAMP,
        }
    }

    /// What the header says of offset, epoch and append time from the next [`BatchBuilder::finish`] on; at first it is
    /// [`Placement::NONE`].
    pub fn set_placement(&mut self, placement: Placement) {
        self.placement = placement;
    }

    /// Appends a record. `timestamp` in milliseconds; `None` is a null key or value. Allocates only when the buffer
    /// has to grow.
    ///
    /// # Errors
    /// [`RecordError::TooLarge`] if the batch would pass 2 GiB; nothing was appended then.
    #[inline]
    pub fn push(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: HeadersSource<'_>,
    ) -> Result<(), RecordError> {
        let first = self.records == 0;
        let base_timestamp = if first { self.base_timestamp_hint.unwrap_or(timestamp) } else { self.base_timestamp };
        let mut head = Short::new();
        // The record's attributes, which Kafka does not use.
        head.byte(0);
        head.varlong(timestamp.wrapping_sub(base_timestamp));
        head.varlong(self.records.into());
        head.length(key);
        let mut middle = Short::new();
        middle.length(value);
        let body =
            head.len + key.map_or(0, <[u8]>::len) + middle.len + value.map_or(0, <[u8]>::len) + headers_len(headers);
        let start = self.buffer.len().max(BATCH_HEADER_BYTES);
        let bytes = start.saturating_add(body).saturating_add(VARLONG_BYTES_MAX);
        if bytes > BYTES_MAX || self.records == i32::MAX {
            return Err(RecordError::TooLarge { what: "record batch", bytes });
        }
        let mut length = Short::new();
        length.varlong(i64::try_from(body).unwrap_or(i64::MAX));

        if first {
            self.buffer.resize(BATCH_HEADER_BYTES, 0);
            self.base_timestamp = base_timestamp;
        }
        self.buffer.reserve(length.len + body);
        self.buffer.extend_from_slice(length.bytes());
        self.buffer.extend_from_slice(head.bytes());
        self.buffer.extend_from_slice(key.unwrap_or_default());
        self.buffer.extend_from_slice(middle.bytes());
        self.buffer.extend_from_slice(value.unwrap_or_default());
        put_headers(&mut self.buffer, headers);
        self.records += 1;
        self.max_timestamp = self.max_timestamp.max(timestamp);
        Ok(())
    }

    /// Records pushed so far.
    #[must_use]
    pub fn records(&self) -> usize {
        usize::try_from(self.records).unwrap_or(0)
    }

    /// Whether no record was pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Bytes of the batch so far, header included, before compression.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffer.len().max(BATCH_HEADER_BYTES)
    }

    /// The finished batch; the builder is empty afterwards, also after an error, and keeps its buffers.
    ///
    /// # Errors
    /// [`RecordError::Empty`] without records, [`RecordError::Codec`] if the encoder fails.
    pub fn finish(&mut self, stamp: Stamp) -> Result<Bytes, RecordError> {
        let finished = self.finished(stamp);
        self.reset();
        finished
    }

    /// Drops what was pushed.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.records = 0;
        self.max_timestamp = NO_TIMESTAMP;
    }

    fn finished(&mut self, stamp: Stamp) -> Result<Bytes, RecordError> {
        let what = "record batch";
        if self.records == 0 {
            return Err(RecordError::Empty { what });
        }
        if self.codec == Codec::None {
            let mut batch = self.buffer.split();
            self.write_header(&mut batch, stamp)?;
            return Ok(batch.freeze());
        }
        let mut batch = vec![0; BATCH_HEADER_BYTES];
        let records = self.buffer.get(BATCH_HEADER_BYTES..).unwrap_or_default();
        self.compressor.compress(self.codec, records, &mut batch)?;
        self.write_header(&mut batch, stamp)?;
        Ok(Bytes::from(batch))
    }

    /// Writes the header over the room at the beginning of a whole batch.
    fn write_header(&self, batch: &mut [u8], stamp: Stamp) -> Result<(), RecordError> {
        let too_large = RecordError::TooLarge { what: "record batch", bytes: batch.len() };
        let length = i32::try_from(batch.len() - PREFIX_BYTES).map_err(|_| too_large.clone())?;
        let head = batch.first_chunk_mut::<BATCH_HEADER_BYTES>().ok_or(too_large)?;
        let Placement { base_offset, leader_epoch, append_time, transactional } = self.placement;
        let attributes = Attributes::of(self.codec).with_append_time(append_time.is_some());
        let attributes = attributes.with_transactional(transactional);
        head[0..8].copy_from_slice(&base_offset.to_be_bytes());
        head[8..12].copy_from_slice(&length.to_be_bytes());
        head[12..16].copy_from_slice(&leader_epoch.to_be_bytes());
        head[16] = 2;
        head[21..23].copy_from_slice(&attributes.0.to_be_bytes());
        head[23..27].copy_from_slice(&(self.records - 1).to_be_bytes());
        head[27..35].copy_from_slice(&self.base_timestamp.to_be_bytes());
        head[35..43].copy_from_slice(&append_time.unwrap_or(self.max_timestamp).to_be_bytes());
        head[43..51].copy_from_slice(&stamp.producer_id.to_be_bytes());
        head[51..53].copy_from_slice(&stamp.producer_epoch.to_be_bytes());
        head[53..57].copy_from_slice(&stamp.base_sequence.to_be_bytes());
        head[57..61].copy_from_slice(&self.records.to_be_bytes());
        let crc = crc::crc32c(batch.get(CRC_COVERS_FROM..).unwrap_or_default());
        if let Some(field) = batch.get_mut(17..21) {
            field.copy_from_slice(&crc.to_be_bytes());
        }
        Ok(())
    }
}

/// A few varints on the stack, written to the buffer at once.
struct Short {
    bytes: [u8; 32],
    len: usize,
}

impl Short {
    fn new() -> Self {
        Self { bytes: [0; 32], len: 0 }
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        // At most a byte, two varlongs and a length are put into one: 31 bytes.
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte;
            self.len += 1;
        }
    }

    /// Zigzag; 32-bit values have the same encoding.
    #[inline]
    fn varlong(&mut self, value: i64) {
        let mut raw = ((value << 1) ^ (value >> 63)).cast_unsigned();
        while raw >= 0x80 {
            let [low, ..] = raw.to_le_bytes();
            self.byte(low | 0x80);
            raw >>= 7;
        }
        let [low, ..] = raw.to_le_bytes();
        self.byte(low);
    }

    /// A nullable length.
    #[inline]
    fn length(&mut self, bytes: Option<&[u8]>) {
        self.varlong(bytes.map_or(-1, |bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX)));
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Encoded bytes of the headers, their count included.
fn headers_len(headers: HeadersSource<'_>) -> usize {
    match headers {
        HeadersSource::None | HeadersSource::Raw([]) => 1,
        HeadersSource::Raw(raw) => raw.len(),
        HeadersSource::List(list) => {
            let mut count = Short::new();
            count.varlong(i64::try_from(list.len()).unwrap_or(i64::MAX));
            list.iter().fold(count.len, |len, &(name, value)| {
                let mut lengths = Short::new();
                lengths.length(Some(name));
                lengths.length(value);
                len.saturating_add(lengths.len).saturating_add(name.len()).saturating_add(value.map_or(0, <[u8]>::len))
            })
        }
    }
}

fn put_headers(buffer: &mut BytesMut, headers: HeadersSource<'_>) {
    match headers {
        HeadersSource::None | HeadersSource::Raw([]) => buffer.extend_from_slice(&[0]),
        HeadersSource::Raw(raw) => buffer.extend_from_slice(raw),
        HeadersSource::List(list) => {
            let mut count = Short::new();
            count.varlong(i64::try_from(list.len()).unwrap_or(i64::MAX));
            buffer.extend_from_slice(count.bytes());
            for &(name, value) in list {
                for part in [Some(name), value] {
                    let mut length = Short::new();
                    length.length(part);
                    buffer.extend_from_slice(length.bytes());
                    buffer.extend_from_slice(part.unwrap_or_default());
                }
            }
        }
    }
}

/// Java's `RecordBatch.NO_TIMESTAMP`.
const NO_TIMESTAMP: i64 = -1;
/// The length field has 31 bits.
const BYTES_MAX: usize = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::super::{RawBatch, Records};
    use super::*;

    #[test]
    fn the_header_says_what_was_pushed_and_the_builder_goes_on_empty() {
        let mut builder = BatchBuilder::new(Codec::Gzip, None);
        for round in 0..3 {
            for timestamp in [5000, 4000, 9000] {
                builder.push(timestamp, Some(b"k"), None, HeadersSource::None).unwrap();
            }
            let stamp = Stamp { producer_id: 7, producer_epoch: 1, base_sequence: round };
            let batch = RawBatch::from_bytes(builder.finish(stamp).unwrap()).unwrap();
            assert!(batch.crc_ok());
            let header = batch.header;
            assert_eq!((header.base_offset, header.partition_leader_epoch, header.last_offset_delta), (0, -1, 2));
            assert_eq!((header.base_timestamp, header.max_timestamp, header.records_count), (5000, 9000, 3));
            assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (7, 1, round));
            assert_eq!(header.attributes, Attributes(1));
            let records = Records::of(&batch, 1000).unwrap();
            let deltas: Vec<_> = records.iter().map(|record| record.unwrap().offset_delta).collect();
            assert_eq!(deltas, [0, 1, 2]);
            assert!(builder.is_empty());
            assert_eq!(builder.bytes(), BATCH_HEADER_BYTES);
        }
    }

    #[test]
    fn headers_are_the_same_bytes_raw_or_listed() {
        let list: &[(&[u8], Option<&[u8]>)] = &[(b"a", Some(b"1")), (b"a", None), (b"", Some(b""))];
        let built = |headers: HeadersSource<'_>| {
            let mut builder = BatchBuilder::new(Codec::None, Some(0));
            builder.push(1, None, None, headers).unwrap();
            builder.finish(Stamp::NONE).unwrap()
        };
        let listed = built(HeadersSource::List(list));
        let records = Records::of(&RawBatch::from_bytes(listed.clone()).unwrap(), 0).unwrap();
        let headers = records.iter().next().unwrap().unwrap().headers;
        assert_eq!(headers.iter().collect::<Vec<_>>(), list);
        assert_eq!(built(headers.into()), listed);
        // No headers, however it is said.
        for none in [HeadersSource::Raw(&[]), HeadersSource::List(&[]), Headers::NONE.into()] {
            assert_eq!(built(none), built(HeadersSource::None));
        }
    }

    #[test]
    fn a_base_timestamp_that_is_given_is_used_and_negative_maxima_become_minus_one() {
        let mut builder = BatchBuilder::new(Codec::None, Some(100));
        builder.push(-50, None, None, HeadersSource::None).unwrap();
        let batch = RawBatch::from_bytes(builder.finish(Stamp::NONE).unwrap()).unwrap();
        // R10: brokers store -1 as the maximum of negative timestamps, with a new CRC.
        assert_eq!((batch.header.base_timestamp, batch.header.max_timestamp), (100, -1));
        let records = Records::of(&batch, 0).unwrap();
        assert_eq!(batch.header.timestamp_of(&records.iter().next().unwrap().unwrap()), -50);
    }

    #[test]
    fn empty_batches_are_errors_whatever_the_codec() {
        for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
            let mut builder = BatchBuilder::new(codec, None);
            let empty = Err(RecordError::Empty { what: "record batch" });
            assert_eq!(builder.finish(Stamp::NONE), empty);
            builder.push(0, None, None, HeadersSource::None).unwrap();
            assert!(builder.finish(Stamp::NONE).is_ok());
            assert_eq!(builder.finish(Stamp::NONE), empty, "{codec}: nothing is left of the batch before");
        }
    }

    #[test]
    fn bytes_before_compression_are_those_of_the_batch() {
        let mut builder = BatchBuilder::new(Codec::None, None);
        for n in 0..1000_u32 {
            let value = vec![7; usize::try_from(n).unwrap()];
            builder.push(i64::MAX - i64::from(n), None, Some(&value), HeadersSource::None).unwrap();
        }
        let bytes = builder.bytes();
        assert_eq!(builder.finish(Stamp::NONE).unwrap().len(), bytes);
    }
}
