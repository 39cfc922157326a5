//! One entry of a message set: a message, or a wrapper.

use bytes::Bytes;

use super::super::cursor::Cursor;
use super::super::split::entry_size;
use super::super::{Checksums, RecordError};
use super::{APPEND_TIME, CODEC, CRC_COVERS_FROM, MessageFormat, NO_TIMESTAMP};
use crate::compress::{Codec, CodecError};

/// A whole message or wrapper of magic 0 or 1: its fixed fields, and its bytes, shared with the frame that it came in.
#[derive(Debug, Clone)]
pub struct RawMessage {
    /// The offset; of a wrapper, that of its last message.
    pub offset: i64,
    /// 0 or 1.
    pub magic: i8,
    /// Codec and, in magic 1, append-time bit.
    pub attributes: i8,
    /// Milliseconds, -1 for none, which is all that magic 0 has; of a wrapper, the largest inner one or the append time
    /// of all.
    pub timestamp: i64,
    crc: u32,
    /// Bytes of the value at the end, if it is not null.
    value_len: Option<usize>,
    /// Bytes of the key, if it is not null.
    key_len: Option<usize>,
    bytes: Bytes,
}

impl RawMessage {
    /// Takes exactly one message or wrapper. Neither CRC nor a wrapper's inside is looked at.
    ///
    /// # Errors
    /// [`RecordError`] if the magic is neither 0 nor 1, the offset is negative or lengths do not add up to the bytes.
    pub fn from_bytes(bytes: Bytes) -> Result<Self, RecordError> {
        let fields = Fields::read(&bytes)?;
        Ok(Self {
            offset: fields.offset,
            magic: fields.format.magic(),
            attributes: fields.attributes,
            timestamp: fields.timestamp,
            crc: fields.crc,
            value_len: fields.value.map(<[u8]>::len),
            key_len: fields.key.map(<[u8]>::len),
            bytes,
        })
    }

    /// The whole entry, its 12 bytes of offset and size included.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether the stored CRC is that of the bytes. Reads the whole message once.
    #[must_use]
    pub fn crc_ok(&self) -> bool {
        self.checksums().agree()
    }

    /// The stored CRC and that of the bytes. Reads the whole message once.
    #[must_use]
    pub fn checksums(&self) -> Checksums {
        let computed = crc32fast::hash(self.bytes.get(CRC_COVERS_FROM..).unwrap_or_default());
        Checksums { stored: self.crc, computed }
    }

    /// The format that the magic stands for.
    #[must_use]
    pub fn format(&self) -> MessageFormat {
        // Checked when read.
        MessageFormat::from_magic(self.magic).unwrap_or(MessageFormat::V1)
    }

    /// The codec of a wrapper, [`Codec::None`] of a message.
    ///
    /// # Errors
    /// [`CodecError::Unknown`] for a codec that is not one of this format: zstd is of magic 2 only.
    pub fn codec(&self) -> Result<Codec, CodecError> {
        codec_of(self.attributes)
    }

    /// The broker set the timestamp when it appended the message (`LogAppendTime`). Never in magic 0, where the bit has
    /// no meaning.
    #[must_use]
    pub fn append_time(&self) -> bool {
        self.magic == 1 && self.attributes & APPEND_TIME != 0
    }

    /// The key, or null. Wrappers have none.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        let (len, at) = (self.key_len?, self.format().head_bytes());
        self.bytes.get(at..at + len)
    }

    /// The value, or null; of a wrapper the compressed message set.
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        let len = self.value_len?;
        self.bytes.get(self.bytes.len() - len..)
    }

    /// The value without copying it.
    pub(super) fn value_shared(&self) -> Option<Bytes> {
        let len = self.value_len?;
        Some(self.bytes.slice(self.bytes.len() - len..))
    }

    /// The first offset after the message or wrapper, where a reader goes on.
    #[must_use]
    pub fn next_offset(&self) -> i64 {
        self.offset.saturating_add(1)
    }
}

/// The raw path of messages: the message under another outer offset, as the 8 bytes of the offset and what follows them,
/// shared. The offset is outside the CRC.
///
/// A broker of 0.10 keeps a wrapper as it is only under the relative offset of its last message
/// ([`super::WrapperShape::last_relative_offset`]); messages of a run are numbered 0..n-1. A wrapper of magic 0 it
/// compresses again under any offset, and magic 0 it converts.
#[must_use]
pub fn rewrap(message: &RawMessage, relative_offset: i64) -> ([u8; 8], Bytes) {
    (relative_offset.to_be_bytes(), message.bytes.slice(8..))
}

/// The fields of one whole entry, borrowed from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) format: MessageFormat,
    pub(super) offset: i64,
    pub(super) crc: u32,
    pub(super) attributes: i8,
    pub(super) timestamp: i64,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// Reads an entry that must end where the bytes end.
    #[inline]
    pub(super) fn read(entry: &'a [u8]) -> Result<Self, RecordError> {
        let size = entry_size(&mut Cursor::new(entry))?;
        match entry.len().checked_sub(size) {
            Some(0) => {}
            Some(left) => return Err(RecordError::Trailing { what: "message", left }),
            None => {
                return Err(RecordError::Truncated { what: "message", need: size, have: entry.len() });
            }
        }
        let mut cursor = Cursor::new(entry);
        let offset = cursor.i64("message offset")?;
        cursor.i32("message size")?;
        let crc = cursor.u32("message crc")?;
        let magic = cursor.i8("message magic")?;
        let Some(format) = MessageFormat::from_magic(magic) else {
            return Err(RecordError::Magic { what: "message", magic });
        };
        if offset < 0 {
            return Err(RecordError::Range { what: "message offset", value: offset });
        }
        let fields = Self {
            format,
            offset,
            crc,
            attributes: cursor.i8("message attributes")?,
            timestamp: match format {
                MessageFormat::V0 => NO_TIMESTAMP,
                MessageFormat::V1 => cursor.i64("message timestamp")?,
            },
            key: cursor.i32_nullable("message key")?,
            value: cursor.i32_nullable("message value")?,
        };
        cursor.finish("message")?;
        Ok(fields)
    }
}

/// The codec in a message's attributes.
#[inline]
pub(super) fn codec_of(attributes: i8) -> Result<Codec, CodecError> {
    let codec = Codec::from_id((attributes & CODEC).cast_unsigned())?;
    if codec == Codec::Zstd {
        return Err(CodecError::Unknown { id: codec.id() });
    }
    Ok(codec)
}

#[cfg(test)]
mod tests {
    use super::super::MessageSetBuilder;
    use super::*;

    fn message() -> Vec<u8> {
        message_of(MessageFormat::V1)
    }

    fn message_of(format: MessageFormat) -> Vec<u8> {
        let mut builder = MessageSetBuilder::new(format, Codec::None);
        builder.push(77, Some(b"key"), Some(b"value")).unwrap();
        builder.finish().unwrap().to_vec()
    }

    fn patched(at: usize, field: &[u8]) -> Result<RawMessage, RecordError> {
        let mut bytes = message();
        bytes[at..at + field.len()].copy_from_slice(field);
        RawMessage::from_bytes(Bytes::from(bytes))
    }

    #[test]
    fn the_fields_of_a_message() {
        let message = patched(0, &12_i64.to_be_bytes()).unwrap();
        assert_eq!((message.offset, message.magic, message.attributes, message.timestamp), (12, 1, 0, 77));
        assert_eq!((message.key(), message.value()), (Some(&b"key"[..]), Some(&b"value"[..])));
        assert_eq!(message.codec(), Ok(Codec::None));
        assert_eq!(message.next_offset(), 13);
        // The offset is outside the CRC.
        assert!(message.crc_ok());
    }

    #[test]
    fn a_message_of_magic_0_has_no_timestamp() {
        let bytes = message_of(MessageFormat::V0);
        assert_eq!(bytes.len(), message().len() - 8);
        let message = RawMessage::from_bytes(Bytes::from(bytes.clone())).unwrap();
        assert_eq!((message.magic, message.format(), message.timestamp), (0, MessageFormat::V0, -1));
        assert_eq!((message.key(), message.value()), (Some(&b"key"[..]), Some(&b"value"[..])));
        assert!(message.crc_ok());
        // Bit 3 came with the timestamp (KIP-32).
        let mut marked = bytes;
        marked[17] = 0x08;
        let marked = RawMessage::from_bytes(Bytes::from(marked)).unwrap();
        assert!(!marked.append_time());
        assert_eq!(marked.codec(), Ok(Codec::None));
    }

    #[test]
    fn the_shortest_message_of_magic_0_is_26_bytes_and_one_of_magic_1_is_8_more() {
        let mut builder = MessageSetBuilder::new(MessageFormat::V0, Codec::None);
        builder.push(-1, None, None).unwrap();
        let mut bytes = builder.finish().unwrap().to_vec();
        assert_eq!(bytes.len(), 26);
        let shortest = RawMessage::from_bytes(Bytes::from(bytes.clone())).unwrap();
        assert_eq!((shortest.key(), shortest.value()), (None, None));
        // The same bytes as magic 1: the lengths are its timestamp, and nothing is left for its lengths.
        bytes[16] = 1;
        let error = RawMessage::from_bytes(Bytes::from(bytes)).unwrap_err();
        assert_eq!(error, RecordError::Truncated { what: "message key", need: 4, have: 0 });
    }

    #[test]
    fn other_magics_are_refused_by_their_number() {
        assert_eq!(patched(16, &[2]).unwrap_err().to_string(), "message: magic 2 is not supported");
        assert_eq!(patched(16, &[255]).unwrap_err().to_string(), "message: magic -1 is not supported");
    }

    #[test]
    fn lengths_must_add_up() {
        assert!(matches!(patched(26, &[0, 0, 0, 4]), Err(RecordError::Truncated { .. })));
        assert!(matches!(patched(26, &[0x7f, 255, 255, 255]), Err(RecordError::Truncated { .. })));
        assert!(matches!(patched(26, &[255, 255, 255, 254]), Err(RecordError::Range { value: -2, .. })));
        assert!(matches!(patched(33, &[0, 0, 0, 4]), Err(RecordError::Trailing { left: 1, .. })));
        assert!(matches!(patched(8, &[0, 0, 0, 13]), Err(RecordError::Range { value: 13, .. })));
        assert!(matches!(patched(0, &[255]), Err(RecordError::Range { what: "message offset", .. })));
    }

    #[test]
    fn zstd_is_not_a_codec_of_this_format() {
        assert_eq!(patched(17, &[4]).unwrap().codec(), Err(CodecError::Unknown { id: 4 }));
        assert_eq!(patched(17, &[0x0b]).unwrap().codec(), Ok(Codec::Lz4));
        assert!(patched(17, &[0x0b]).unwrap().append_time());
    }

    #[test]
    fn rewrapping_changes_the_outer_offset_and_nothing_else() {
        let stored = patched(0, &4711_i64.to_be_bytes()).unwrap();
        let (offset, rest) = rewrap(&stored, 2);
        assert_eq!(rest.as_ptr(), stored.bytes()[8..].as_ptr());
        let sent = RawMessage::from_bytes(Bytes::from([&offset[..], &rest].concat())).unwrap();
        assert_eq!(sent.offset, 2);
        assert!(sent.crc_ok());
        assert_eq!(sent.bytes()[8..], stored.bytes()[8..]);
    }
}
