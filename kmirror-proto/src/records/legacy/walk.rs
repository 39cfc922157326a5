//! What a message or a wrapper holds.

use bytes::Bytes;

use super::super::RecordError;
use super::super::cursor::Cursor;
use super::super::split::entry_size;
use super::entry::{Fields, codec_of};
use super::{CRC_COVERS_FROM, NO_TIMESTAMP, RawMessage};
use crate::compress::{Codec, Decompressor};

/// The messages of one entry, in order: a plain message yields itself, a wrapper its inner messages with absolute
/// offsets and, with the append-time bit, its own timestamp. The entry's CRC is not looked at.
///
/// # Errors
/// [`RecordError`] if the wrapper's codec fails or gives more than `bytes_max` bytes, if it is empty, or if the last
/// inner offset is beyond the wrapper's.
pub fn messages(entry: &RawMessage, bytes_max: usize) -> Result<Messages, RecordError> {
    Messages::with(&mut Decompressor::new(), entry, bytes_max)
}

/// The decompressed messages of one entry.
#[derive(Debug, Clone)]
pub struct Messages {
    set: Bytes,
    /// What is added to an inner offset.
    base_offset: i64,
    /// The timestamp of all messages, if the broker set it.
    append_time: Option<i64>,
    count: usize,
}

impl Messages {
    /// As [`messages`], with contexts that are kept from entry to entry.
    ///
    /// # Errors
    /// As [`messages`].
    pub fn with(decompressor: &mut Decompressor, entry: &RawMessage, bytes_max: usize) -> Result<Self, RecordError> {
        let codec = entry.codec()?;
        if codec == Codec::None {
            return Ok(Self {
                set: entry.bytes().clone(),
                base_offset: 0,
                append_time: None,
                count: 1,
            });
        }
        let Some(value) = entry.value_shared() else {
            return Err(RecordError::Empty {
                what: "compressed message",
            });
        };
        let set = decompressor.decompress(codec, &value, bytes_max)?;
        let (count, last) = count_and_last_offset(&set)?;
        let Some(base_offset) = entry.offset.checked_sub(last).filter(|&base| base >= 0) else {
            return Err(RecordError::Range {
                what: "compressed message: last inner offset",
                value: last,
            });
        };
        let append_time = entry.append_time().then_some(entry.timestamp);
        Ok(Self {
            set,
            base_offset,
            append_time,
            count,
        })
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Never true: an empty wrapper is refused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Walks the messages; the walk ends after an error. Inner offsets must rise, inner messages must be magic 1 and
    /// not compressed.
    #[must_use]
    pub fn iter(&self) -> MessageIter<'_> {
        MessageIter {
            rest: Cursor::new(&self.set),
            base_offset: self.base_offset,
            append_time: self.append_time,
            offset_min: 0,
        }
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = Result<Message<'a>, RecordError>;
    type IntoIter = MessageIter<'a>;

    fn into_iter(self) -> MessageIter<'a> {
        self.iter()
    }
}

/// One message, borrowed from its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The absolute offset.
    pub offset: i64,
    /// Milliseconds as consumers see it: the append time if the broker set it, else the message's own; -1 for none.
    pub timestamp: i64,
    /// The key, or null.
    pub key: Option<&'a [u8]>,
    /// The value, or null (a tombstone).
    pub value: Option<&'a [u8]>,
    crc: u32,
    covered: &'a [u8],
}

impl Message<'_> {
    /// Whether the message's own CRC is that of its bytes. Inside a wrapper this is another one than the wrapper's,
    /// written by the producer before it compressed; Java's consumer checks both.
    #[must_use]
    pub fn crc_ok(&self) -> bool {
        crc32fast::hash(self.covered) == self.crc
    }
}

/// The iterator of [`Messages::iter`].
#[derive(Debug, Clone)]
pub struct MessageIter<'a> {
    rest: Cursor<'a>,
    base_offset: i64,
    append_time: Option<i64>,
    /// Absolute offset that the next message must reach.
    offset_min: i64,
}

impl<'a> Iterator for MessageIter<'a> {
    type Item = Result<Message<'a>, RecordError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let message = self.read();
        if message.is_err() {
            self.rest = Cursor::new(&[]);
        }
        Some(message)
    }
}

impl<'a> MessageIter<'a> {
    #[inline]
    fn read(&mut self) -> Result<Message<'a>, RecordError> {
        let entry = next_entry(&mut self.rest)?;
        let fields = Fields::read(entry)?;
        if codec_of(fields.attributes)? != Codec::None {
            return Err(RecordError::Nested);
        }
        let offset = self
            .base_offset
            .checked_add(fields.offset)
            .filter(|&offset| offset >= self.offset_min);
        let Some(offset) = offset else {
            return Err(RecordError::Range {
                what: "inner message offset",
                value: fields.offset,
            });
        };
        self.offset_min = offset.saturating_add(1);
        Ok(Message {
            offset,
            timestamp: self.append_time.unwrap_or(fields.timestamp),
            key: fields.key,
            value: fields.value,
            crc: fields.crc,
            covered: entry.get(CRC_COVERS_FROM..).unwrap_or_default(),
        })
    }
}

/// What a broker of 0.10 looks at when it decides whether it may keep a wrapper as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrapperShape {
    /// Inner messages.
    pub records: usize,
    /// The inner offset of the last one: the outer offset under which the wrapper must be sent.
    pub last_relative_offset: i64,
    /// The inner offsets are 0..n-1.
    pub dense: bool,
    /// The largest inner timestamp, -1 if there is none.
    pub timestamp_max: i64,
    /// The wrapper's timestamp is that largest one.
    pub timestamp_is_max: bool,
}

impl WrapperShape {
    /// Whether a broker of 0.10 whose topic keeps the producer's codec and timestamps stores the wrapper byte for byte
    /// if it is sent under [`WrapperShape::last_relative_offset`]. Otherwise it compresses it again, or writes another
    /// timestamp into it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.dense && self.timestamp_is_max
    }
}

/// Looks into a wrapper; a plain message counts as a wrapper of itself at inner offset 0.
///
/// # Errors
/// As [`messages`] and the walk over them.
pub fn wrapper_shape(entry: &RawMessage, bytes_max: usize) -> Result<WrapperShape, RecordError> {
    let messages = messages(entry, bytes_max)?;
    if entry.codec()? == Codec::None {
        return Ok(WrapperShape {
            records: 1,
            last_relative_offset: 0,
            dense: true,
            timestamp_max: entry.timestamp,
            timestamp_is_max: true,
        });
    }
    let mut timestamp_max = NO_TIMESTAMP;
    let mut dense = true;
    let mut expected = messages.base_offset;
    // The inner timestamps themselves, not the append time that stands for them.
    let inner = MessageIter {
        append_time: None,
        ..messages.iter()
    };
    for message in inner {
        let message = message?;
        dense &= message.offset == expected;
        expected = expected.saturating_add(1);
        timestamp_max = timestamp_max.max(message.timestamp);
    }
    Ok(WrapperShape {
        records: messages.count,
        last_relative_offset: entry.offset - messages.base_offset,
        dense,
        timestamp_max,
        timestamp_is_max: entry.timestamp == timestamp_max,
    })
}

/// The next entry of an inner set. A cut one is an error: the set was compressed whole.
#[inline]
fn next_entry<'a>(set: &mut Cursor<'a>) -> Result<&'a [u8], RecordError> {
    let size = entry_size(&mut set.clone())?;
    set.bytes(size, "inner message")
}

/// Hops over an inner set by its sizes.
fn count_and_last_offset(set: &[u8]) -> Result<(usize, i64), RecordError> {
    let mut rest = Cursor::new(set);
    let mut found = None;
    let mut count = 0;
    while !rest.is_empty() {
        let mut entry = Cursor::new(next_entry(&mut rest)?);
        found = Some(entry.i64("inner message offset")?);
        count += 1;
    }
    match found {
        Some(last) if last >= 0 => Ok((count, last)),
        Some(last) => Err(RecordError::Range {
            what: "inner message offset",
            value: last,
        }),
        None => Err(RecordError::Empty {
            what: "compressed message",
        }),
    }
}
