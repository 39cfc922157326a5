//! Builds message sets of magic 0 and 1.
//!
//! Each message is written once, contiguously, and hashed once; size and CRC are filled in behind. Without a codec that
//! run is the result; with one it becomes the value of a wrapper.
//!
//! Mirrors the legacy half of Java's `MemoryRecordsBuilder`, with its three ways of numbering: plain messages have
//! their offsets; in a wrapper of magic 0 too; in one of magic 1 they count from the set's base offset.

use bytes::{Bytes, BytesMut};

use super::super::RecordError;
use super::super::split::PREFIX_BYTES;
use super::{APPEND_TIME, CRC_COVERS_FROM, MessageFormat, NO_TIMESTAMP};
use crate::compress::{Codec, CodecError, Compressor};

/// Builds one message set after the other, re-using its buffers and the codec's context.
///
/// Offsets are 0..n-1 unless [`MessageSetBuilder::set_base_offset`] and [`MessageSetBuilder::push_at`] say otherwise. A
/// 0.10 broker keeps such a set of magic 1 byte for byte but for the outer offsets: inner offsets are 0..n-1, a wrapper
/// has offset n-1 and the largest inner timestamp.
#[derive(Debug)]
pub struct MessageSetBuilder {
    format: MessageFormat,
    codec: Codec,
    compressor: Compressor,
    buffer: BytesMut,
    records: usize,
    base_offset: i64,
    /// Of the next message, unless it is pushed under another one.
    next_offset: i64,
    max_timestamp: i64,
    append_time: Option<i64>,
}

impl MessageSetBuilder {
    /// An empty builder of sets from offset 0.
    #[must_use]
    pub fn new(format: MessageFormat, codec: Codec) -> Self {
        Self {
            format,
            codec,
            compressor: Compressor::new(),
            buffer: BytesMut::new(),
            records: 0,
            base_offset: 0,
            next_offset: 0,
            max_timestamp: NO_TIMESTAMP,
            append_time: None,
        }
    }

    /// Where this set begins, if nothing was pushed yet, and every later one: the offset of the first message, and in a
    /// wrapper of magic 1 what the inner offsets count from. Not negative.
    pub fn set_base_offset(&mut self, base_offset: i64) {
        self.base_offset = base_offset.max(0);
        if self.is_empty() {
            self.next_offset = self.base_offset;
        }
    }

    /// The time of the append that magic 1 is marked with from the next message on (`LogAppendTime`), or none. It stands
    /// for all timestamps, inside a wrapper too, as Java's builder writes them.
    pub fn set_append_time(&mut self, append_time: Option<i64>) {
        self.append_time = append_time;
    }

    /// Appends a message behind the last one. `timestamp` in milliseconds, -1 for none (magic 0 has no place for one);
    /// `None` is a null key or value. Allocates only when the buffer has to grow.
    ///
    /// # Errors
    /// [`RecordError::TooLarge`] if the set would pass 2 GiB; nothing was appended then.
    #[inline]
    pub fn push(&mut self, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<(), RecordError> {
        self.append(self.next_offset, timestamp, key, value)
    }

    /// As [`MessageSetBuilder::push`], under an offset that may leave a gap behind the last one.
    ///
    /// # Errors
    /// Also [`RecordError::Range`] if the offset is not behind the last one, or before the base offset.
    #[inline]
    pub fn push_at(
        &mut self,
        offset: i64,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<(), RecordError> {
        if offset < self.next_offset {
            return Err(RecordError::Range { what: "message offset", value: offset });
        }
        self.append(offset, timestamp, key, value)
    }

    #[inline]
    fn append(
        &mut self,
        offset: i64,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<(), RecordError> {
        let start = self.buffer.len();
        let (key_len, key) = (length(key), key.unwrap_or_default());
        let (value_len, value) = (length(value), value.unwrap_or_default());
        let message = self.overhead().saturating_add(key.len()).saturating_add(value.len());
        let bytes = start.saturating_add(message);
        if bytes > BYTES_MAX {
            return Err(RecordError::TooLarge { what: "message set", bytes });
        }
        let head = Head {
            offset: if self.is_relative() { offset - self.base_offset } else { offset },
            size: message - PREFIX_BYTES,
            codec: Codec::None,
            append_time: self.append_time.is_some(),
            timestamp: self.append_time.unwrap_or(timestamp),
            key_len,
        };

        self.buffer.reserve(message);
        self.buffer.extend_from_slice(head.bytes(self.format).get(..self.format.head_bytes()).unwrap_or_default());
        self.buffer.extend_from_slice(key);
        self.buffer.extend_from_slice(&value_len);
        self.buffer.extend_from_slice(value);
        if let Some(message) = self.buffer.get_mut(start..) {
            write_crc(message);
        }
        self.records += 1;
        self.next_offset = offset.saturating_add(1);
        self.max_timestamp = self.max_timestamp.max(timestamp);
        Ok(())
    }

    /// Messages pushed so far.
    #[must_use]
    pub fn records(&self) -> usize {
        self.records
    }

    /// Whether no message was pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Bytes of the set so far, before compression.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The finished set; the builder is empty afterwards, also after an error, and keeps its buffers.
    ///
    /// # Errors
    /// [`RecordError::Empty`] without messages, [`RecordError::Codec`] if the encoder fails or the codec is zstd, which
    /// these formats do not have.
    pub fn finish(&mut self) -> Result<Bytes, RecordError> {
        let finished = self.finished();
        self.reset();
        finished
    }

    /// Drops what was pushed.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.records = 0;
        self.next_offset = self.base_offset;
        self.max_timestamp = NO_TIMESTAMP;
    }

    fn finished(&mut self) -> Result<Bytes, RecordError> {
        let what = "message set";
        if self.records == 0 {
            return Err(RecordError::Empty { what });
        }
        match self.codec {
            Codec::None => Ok(self.buffer.split().freeze()),
            Codec::Zstd => Err(CodecError::Unsupported { codec: Codec::Zstd }.into()),
            Codec::Gzip | Codec::Snappy | Codec::Lz4 => self.wrapper(),
        }
    }

    fn wrapper(&mut self) -> Result<Bytes, RecordError> {
        let head_bytes = self.format.head_bytes();
        let mut wrapper = vec![0; self.overhead()];
        match self.format {
            MessageFormat::V0 => self.compressor.compress_magic_0(self.codec, &self.buffer, &mut wrapper)?,
            MessageFormat::V1 => self.compressor.compress(self.codec, &self.buffer, &mut wrapper)?,
        }
        let bytes = wrapper.len();
        if bytes > BYTES_MAX {
            return Err(RecordError::TooLarge { what: "compressed message", bytes });
        }
        let head = Head {
            offset: self.next_offset - 1,
            size: bytes - PREFIX_BYTES,
            codec: self.codec,
            append_time: self.append_time.is_some(),
            timestamp: self.append_time.unwrap_or(self.max_timestamp),
            key_len: NULL,
        };
        let value_len = u32::try_from(bytes - self.overhead()).unwrap_or(0).to_be_bytes();
        if let Some((room, after)) = wrapper.split_at_mut_checked(head_bytes)
            && let Some(length) = after.first_chunk_mut()
        {
            room.copy_from_slice(head.bytes(self.format).get(..head_bytes).unwrap_or_default());
            *length = value_len;
        }
        write_crc(&mut wrapper);
        Ok(Bytes::from(wrapper))
    }

    /// Whether offsets are written as distances from the base offset.
    #[inline]
    fn is_relative(&self) -> bool {
        self.format == MessageFormat::V1 && self.codec != Codec::None
    }

    /// Bytes of a message without key and value.
    #[inline]
    fn overhead(&self) -> usize {
        self.format.head_bytes() + VALUE_LEN_BYTES
    }
}

/// Everything before the key, without the CRC.
struct Head {
    offset: i64,
    size: usize,
    codec: Codec,
    append_time: bool,
    timestamp: i64,
    key_len: [u8; 4],
}

impl Head {
    /// The bytes, as many as the format has ([`MessageFormat::head_bytes`]), with room for the CRC.
    #[inline]
    fn bytes(&self, format: MessageFormat) -> [u8; HEAD_BYTES_MAX] {
        let mut head = [0; HEAD_BYTES_MAX];
        head[0..8].copy_from_slice(&self.offset.to_be_bytes());
        head[8..12].copy_from_slice(&u32::try_from(self.size).unwrap_or(0).to_be_bytes());
        head[17] = self.codec.id();
        match format {
            MessageFormat::V0 => head[18..22].copy_from_slice(&self.key_len),
            MessageFormat::V1 => {
                head[16] = 1;
                if self.append_time {
                    head[17] |= APPEND_TIME.cast_unsigned();
                }
                head[18..26].copy_from_slice(&self.timestamp.to_be_bytes());
                head[26..30].copy_from_slice(&self.key_len);
            }
        }
        head
    }
}

/// Fills in the CRC of a whole message.
#[inline]
fn write_crc(message: &mut [u8]) {
    let crc = crc32fast::hash(message.get(CRC_COVERS_FROM..).unwrap_or_default());
    if let Some(field) = message.get_mut(PREFIX_BYTES..CRC_COVERS_FROM) {
        field.copy_from_slice(&crc.to_be_bytes());
    }
}

/// A nullable length; lengths that do not fit are refused before they are written.
#[inline]
fn length(bytes: Option<&[u8]>) -> [u8; 4] {
    bytes.map_or(NULL, |bytes| u32::try_from(bytes.len()).unwrap_or(0).to_be_bytes())
}

/// Bytes before the key in magic 1, which has the longer head.
const HEAD_BYTES_MAX: usize = 30;
const VALUE_LEN_BYTES: usize = 4;
/// A length of -1.
const NULL: [u8; 4] = [0xff; 4];
/// Sizes have 31 bits.
const BYTES_MAX: usize = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::super::super::{Entry, split};
    use super::super::{Messages, RawMessage, messages, wrapper_shape};
    use super::*;
    use crate::compress::Decompressor;

    fn pushed(codec: Codec) -> MessageSetBuilder {
        pushed_as(MessageFormat::V1, codec)
    }

    fn pushed_as(format: MessageFormat, codec: Codec) -> MessageSetBuilder {
        let mut builder = MessageSetBuilder::new(format, codec);
        push_three(&mut builder);
        builder
    }

    fn push_three(builder: &mut MessageSetBuilder) {
        builder.push(300, Some(b"k"), Some(b"v")).unwrap();
        builder.push(500, None, None).unwrap();
        builder.push(-1, Some(b""), Some(b"")).unwrap();
    }

    fn entries(set: Bytes) -> Vec<RawMessage> {
        split(set)
            .map(|entry| match entry {
                Ok(Entry::Message(message)) => message,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_run_is_numbered_from_0_and_each_message_has_its_crc() {
        let mut builder = pushed(Codec::None);
        let bytes = builder.bytes();
        let set = builder.finish().unwrap();
        assert_eq!(set.len(), bytes);
        let run = entries(set);
        assert!(run.iter().all(RawMessage::crc_ok));
        assert_eq!(run.iter().map(|message| message.offset).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(run.iter().map(|message| message.timestamp).collect::<Vec<_>>(), [300, 500, -1]);
        let keys: Vec<_> = run.iter().map(|message| (message.key(), message.value())).collect();
        assert_eq!(keys, [(Some(&b"k"[..]), Some(&b"v"[..])), (None, None), (Some(&[][..]), Some(&[][..]))]);
    }

    #[test]
    fn a_wrapper_is_one_that_a_0_10_broker_keeps() {
        for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4] {
            let mut builder = pushed(codec);
            for _ in 0..2 {
                let run = entries(builder.finish().unwrap());
                let [wrapper] = &run[..] else { panic!("{run:?}") };
                assert!(wrapper.crc_ok());
                assert_eq!((wrapper.offset, wrapper.timestamp, wrapper.codec()), (2, 500, Ok(codec)));
                assert_eq!(wrapper.key(), None);
                assert!(wrapper_shape(wrapper, 1000).unwrap().is_kept());
                let inner = messages(wrapper, 1000).unwrap();
                assert!(inner.iter().all(|message| message.unwrap().crc_ok()));
                // The same builder once more, with its kept context.
                push_three(&mut builder);
            }
        }
    }

    fn offsets_inside(wrapper: &RawMessage) -> Vec<i64> {
        let sent = Messages::as_sent(&mut Decompressor::new(), wrapper, 1000).unwrap();
        sent.iter().map(|message| message.unwrap().offset).collect()
    }

    #[test]
    fn magic_0_has_absolute_offsets_and_no_timestamps() {
        for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4] {
            let mut builder = MessageSetBuilder::new(MessageFormat::V0, codec);
            builder.set_base_offset(1000);
            // The base stays for the sets after the first.
            for _ in 0..2 {
                push_three(&mut builder);
                let run = entries(builder.finish().unwrap());
                assert!(run.iter().all(|message| message.crc_ok() && (message.magic, message.timestamp) == (0, -1)));
                let outer: Vec<_> = run.iter().map(|message| message.offset).collect();
                if codec == Codec::None {
                    assert_eq!(outer, [1000, 1001, 1002]);
                    continue;
                }
                assert_eq!((outer, run[0].codec(), run[0].key()), (vec![1002], Ok(codec), None));
                assert_eq!(offsets_inside(&run[0]), [1000, 1001, 1002], "{codec}");
                assert!(!wrapper_shape(&run[0], 1000).unwrap().is_kept());
                let inner = messages(&run[0], 1000).unwrap();
                assert!(inner.iter().all(|message| message.unwrap().crc_ok()));
            }
        }
    }

    #[test]
    fn only_the_wrappers_of_magic_1_count_from_the_base_offset() {
        // K4: base 12, survivors 12, 16, 17.
        let mut builder = MessageSetBuilder::new(MessageFormat::V1, Codec::Gzip);
        builder.set_base_offset(12);
        for offset in [12, 16, 17] {
            builder.push_at(offset, 0, None, Some(b"v")).unwrap();
        }
        let run = entries(builder.finish().unwrap());
        assert_eq!((run[0].offset, offsets_inside(&run[0])), (17, vec![0, 4, 5]));
        let mut plain = MessageSetBuilder::new(MessageFormat::V1, Codec::None);
        plain.set_base_offset(12);
        plain.push(0, None, None).unwrap();
        plain.push_at(17, 0, None, None).unwrap();
        let offsets: Vec<_> = entries(plain.finish().unwrap()).iter().map(|message| message.offset).collect();
        assert_eq!(offsets, [12, 17]);
    }

    #[test]
    fn an_offset_before_the_next_one_is_refused_and_nothing_is_appended() {
        let mut builder = MessageSetBuilder::new(MessageFormat::V0, Codec::None);
        builder.set_base_offset(5);
        let refused = |value| Err(RecordError::Range { what: "message offset", value });
        assert_eq!(builder.push_at(4, 0, None, None), refused(4));
        builder.push_at(7, 0, None, None).unwrap();
        assert_eq!(builder.push_at(7, 0, None, None), refused(7));
        assert_eq!((builder.records(), builder.bytes()), (1, 26));
    }

    #[test]
    fn the_append_time_marks_magic_1() {
        let mut plain = MessageSetBuilder::new(MessageFormat::V1, Codec::None);
        plain.set_append_time(Some(77));
        push_three(&mut plain);
        let run = entries(plain.finish().unwrap());
        assert!(run.iter().all(|message| message.append_time() && message.timestamp == 77 && message.crc_ok()));
        let mut packed = MessageSetBuilder::new(MessageFormat::V1, Codec::Lz4);
        packed.set_append_time(Some(77));
        push_three(&mut packed);
        let run = entries(packed.finish().unwrap());
        assert_eq!((run[0].append_time(), run[0].timestamp), (true, 77));
        assert_eq!(wrapper_shape(&run[0], 1000).unwrap().timestamp_max, 77);
        // Magic 0 has neither.
        let mut old = MessageSetBuilder::new(MessageFormat::V0, Codec::None);
        old.set_append_time(Some(77));
        push_three(&mut old);
        assert!(entries(old.finish().unwrap()).iter().all(|message| message.attributes == 0));
    }

    #[test]
    fn empty_sets_are_errors_and_so_is_zstd() {
        let mut builder = MessageSetBuilder::new(MessageFormat::V1, Codec::Zstd);
        assert_eq!(builder.finish(), Err(RecordError::Empty { what: "message set" }));
        let refused = Err(RecordError::Codec(CodecError::Unsupported { codec: Codec::Zstd }));
        assert_eq!(pushed(Codec::Zstd).finish(), refused);
    }
}
