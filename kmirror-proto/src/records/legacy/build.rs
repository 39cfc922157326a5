//! Builds magic 1 message sets.
//!
//! Each message is written once, contiguously, and hashed once; size and CRC are filled in behind. Without a codec that
//! run is the result; with one it becomes the value of a wrapper.

use bytes::{Bytes, BytesMut};

use super::super::RecordError;
use super::super::split::PREFIX_BYTES;
use super::{CRC_COVERS_FROM, NO_TIMESTAMP};
use crate::compress::{Codec, CodecError, Compressor};

/// Builds one magic 1 message set after the other, re-using its buffers and the codec's context.
///
/// A 0.10 broker keeps what comes out byte for byte but for the outer offsets: inner offsets are 0..n-1, a wrapper has
/// offset n-1 and the largest inner timestamp.
#[derive(Debug)]
pub struct MessageSetBuilder {
    codec: Codec,
    compressor: Compressor,
    buffer: BytesMut,
    records: usize,
    max_timestamp: i64,
}

impl MessageSetBuilder {
    /// An empty builder.
    #[must_use]
    pub fn new(codec: Codec) -> Self {
        Self { codec, compressor: Compressor::new(), buffer: BytesMut::new(), records: 0, max_timestamp: NO_TIMESTAMP }
    }

    /// Appends a message. `timestamp` in milliseconds, -1 for none; `None` is a null key or value. Allocates only when
    /// the buffer has to grow.
    ///
    /// # Errors
    /// [`RecordError::TooLarge`] if the set would pass 2 GiB; nothing was appended then.
    #[inline]
    pub fn push(&mut self, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<(), RecordError> {
        let start = self.buffer.len();
        let (key_len, key) = (length(key), key.unwrap_or_default());
        let (value_len, value) = (length(value), value.unwrap_or_default());
        let message = MESSAGE_OVERHEAD.saturating_add(key.len()).saturating_add(value.len());
        let bytes = start.saturating_add(message);
        if bytes > BYTES_MAX {
            return Err(RecordError::TooLarge { what: "message set", bytes });
        }
        let mut head = head(self.records, timestamp, message - PREFIX_BYTES);
        head[26..30].copy_from_slice(&key_len);

        self.buffer.reserve(message);
        self.buffer.extend_from_slice(&head);
        self.buffer.extend_from_slice(key);
        self.buffer.extend_from_slice(&value_len);
        self.buffer.extend_from_slice(value);
        if let Some(message) = self.buffer.get_mut(start..) {
            write_crc(message);
        }
        self.records += 1;
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
    /// this format does not have.
    pub fn finish(&mut self) -> Result<Bytes, RecordError> {
        let finished = self.finished();
        self.reset();
        finished
    }

    /// Drops what was pushed.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.records = 0;
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
        let mut wrapper = vec![0; MESSAGE_OVERHEAD];
        self.compressor.compress(self.codec, &self.buffer, &mut wrapper)?;
        let bytes = wrapper.len();
        if bytes > BYTES_MAX {
            return Err(RecordError::TooLarge { what: "compressed message", bytes });
        }
        let mut head = head(self.records - 1, self.max_timestamp, bytes - PREFIX_BYTES);
        head[17] = self.codec.id();
        head[26..30].copy_from_slice(&NULL);
        let value_len = u32::try_from(bytes - MESSAGE_OVERHEAD).unwrap_or(0).to_be_bytes();
        if let Some(room) = wrapper.first_chunk_mut::<MESSAGE_OVERHEAD>() {
            room[..HEAD_BYTES].copy_from_slice(&head);
            room[HEAD_BYTES..].copy_from_slice(&value_len);
        }
        write_crc(&mut wrapper);
        Ok(Bytes::from(wrapper))
    }
}

/// Everything before the key, with room for the CRC and the key's length.
#[inline]
fn head(offset: usize, timestamp: i64, size: usize) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[0..8].copy_from_slice(&i64::try_from(offset).unwrap_or(0).to_be_bytes());
    head[8..12].copy_from_slice(&u32::try_from(size).unwrap_or(0).to_be_bytes());
    head[16] = 1;
    head[18..26].copy_from_slice(&timestamp.to_be_bytes());
    head
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

/// Bytes before the key.
const HEAD_BYTES: usize = 30;
/// Bytes of a message without key and value.
const MESSAGE_OVERHEAD: usize = 34;
/// A length of -1.
const NULL: [u8; 4] = [0xff; 4];
/// Sizes have 31 bits.
const BYTES_MAX: usize = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::super::super::{Entry, split};
    use super::super::{RawMessage, messages, wrapper_shape};
    use super::*;

    fn pushed(codec: Codec) -> MessageSetBuilder {
        let mut builder = MessageSetBuilder::new(codec);
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

    #[test]
    fn empty_sets_are_errors_and_so_is_zstd() {
        let mut builder = MessageSetBuilder::new(Codec::Zstd);
        assert_eq!(builder.finish(), Err(RecordError::Empty { what: "message set" }));
        let refused = Err(RecordError::Codec(CodecError::Unsupported { codec: Codec::Zstd }));
        assert_eq!(pushed(Codec::Zstd).finish(), refused);
    }
}
