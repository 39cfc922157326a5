//! What a message or a wrapper holds.

use bytes::Bytes;

use super::super::RecordError;
use super::super::cursor::Cursor;
use super::super::split::{PREFIX_BYTES, entry_size};
use super::entry::{Fields, codec_of};
use super::{CRC_COVERS_FROM, MessageFormat, NO_TIMESTAMP, RawMessage};
use crate::compress::{Codec, Decompressor};

/// The messages of one entry, in order: a plain message yields itself, a wrapper its inner messages with absolute
/// offsets and, with the append-time bit, its own timestamp. The entry's CRC is not looked at.
///
/// This is how a stored log is read. What a producer sent may be numbered otherwise: see [`Messages::as_sent`].
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
    format: MessageFormat,
    /// The entry's own offset, that of the last message; `None` if inner offsets are not looked at.
    last_offset: Option<i64>,
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
        let (mut messages, last) = Self::opened(decompressor, entry, bytes_max, Ok)?;
        messages.last_offset = Some(entry.offset);
        let relative = entry.codec()? != Codec::None && entry.format() == MessageFormat::V1;
        let base_offset = if relative { entry.offset.checked_sub(last) } else { Some(0) };
        let Some(base_offset) = base_offset.filter(|&base| base >= 0 && last <= entry.offset) else {
            return Err(RecordError::Range { what: "compressed message: last inner offset", value: last });
        };
        messages.base_offset = base_offset;
        Ok(messages)
    }

    /// As a broker reads what a producer sent, to number it anew: the offsets are those that stand in the messages, in
    /// whatever order, and a wrapper's own does not count. A message that is cut off at the end of a wrapper is dropped.
    ///
    /// # Errors
    /// As [`messages`], but for the offsets.
    pub fn as_sent(decompressor: &mut Decompressor, entry: &RawMessage, bytes_max: usize) -> Result<Self, RecordError> {
        Self::opened(decompressor, entry, bytes_max, whole_messages).map(|(messages, _)| messages)
    }

    /// The set inside, as far as `taken` takes it, with its offsets as they stand, and the last of them.
    fn opened(
        decompressor: &mut Decompressor,
        entry: &RawMessage,
        bytes_max: usize,
        taken: impl FnOnce(Bytes) -> Result<Bytes, RecordError>,
    ) -> Result<(Self, i64), RecordError> {
        let (codec, format) = (entry.codec()?, entry.format());
        if codec == Codec::None {
            let set = entry.bytes().clone();
            let plain = Self { set, format, last_offset: None, base_offset: 0, append_time: None, count: 1 };
            return Ok((plain, entry.offset));
        }
        let Some(value) = entry.value_shared() else {
            return Err(RecordError::Empty { what: "compressed message" });
        };
        let set = match format {
            MessageFormat::V0 => decompressor.decompress_magic_0(codec, &value, bytes_max)?,
            MessageFormat::V1 => decompressor.decompress(codec, &value, bytes_max)?,
        };
        let set = taken(set)?;
        let (count, last) = count_and_last_offset(&set)?;
        let append_time = entry.append_time().then_some(entry.timestamp);
        Ok((Self { set, format, last_offset: None, base_offset: 0, append_time, count }, last))
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

    /// Walks the messages; the walk ends after an error. Inner offsets must rise, unless this is
    /// [`Messages::as_sent`]; inner messages must be of the wrapper's magic and not compressed.
    #[must_use]
    pub fn iter(&self) -> MessageIter<'_> {
        MessageIter {
            rest: Cursor::new(&self.set),
            format: self.format,
            base_offset: self.base_offset,
            append_time: self.append_time,
            offset_min: 0,
            offset_max: self.last_offset,
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
    /// The absolute offset; of [`Messages::as_sent`], the one that stands in the message.
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
    format: MessageFormat,
    base_offset: i64,
    append_time: Option<i64>,
    /// Absolute offset that the next message must reach.
    offset_min: i64,
    /// Absolute offset that no message may pass: the last one's. `None` if offsets are not looked at.
    offset_max: Option<i64>,
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
        if fields.format != self.format {
            return Err(RecordError::Magic { what: "inner message", magic: fields.format.magic() });
        }
        if codec_of(fields.attributes)? != Codec::None {
            return Err(RecordError::Nested);
        }
        let mut offset = Some(fields.offset);
        if let Some(offset_max) = self.offset_max {
            let allowed = self.offset_min..=offset_max;
            offset = self.base_offset.checked_add(fields.offset).filter(|offset| allowed.contains(offset));
        }
        let Some(offset) = offset else {
            return Err(RecordError::Range { what: "inner message offset", value: fields.offset });
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
    /// The format; in magic 0 inner offsets are absolute, so that a broker has to write them anew.
    pub format: MessageFormat,
    /// Inner messages.
    pub records: usize,
    /// The inner offset of the last one: the outer offset under which the wrapper must be sent. In magic 0, its distance
    /// from the first.
    pub last_relative_offset: i64,
    /// The inner offsets are 0..n-1; in magic 0, they rise by one.
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
        self.format == MessageFormat::V1 && self.dense && self.timestamp_is_max
    }
}

/// Looks into a wrapper; a plain message counts as a wrapper of itself at inner offset 0.
///
/// # Errors
/// As [`messages`] and the walk over them.
pub fn wrapper_shape(entry: &RawMessage, bytes_max: usize) -> Result<WrapperShape, RecordError> {
    let messages = messages(entry, bytes_max)?;
    let format = entry.format();
    if entry.codec()? == Codec::None {
        return Ok(WrapperShape {
            format,
            records: 1,
            last_relative_offset: 0,
            dense: true,
            timestamp_max: entry.timestamp,
            timestamp_is_max: true,
        });
    }
    let mut timestamp_max = NO_TIMESTAMP;
    let mut dense = true;
    // What relative offsets count from; magic 0 has none, there it is the first message.
    let mut base = (format == MessageFormat::V1).then_some(messages.base_offset);
    let mut expected = base;
    let mut last = messages.base_offset;
    // The inner timestamps themselves, not the append time that stands for them.
    let inner = MessageIter { append_time: None, ..messages.iter() };
    for message in inner {
        let message = message?;
        base = base.or(Some(message.offset));
        dense &= expected.is_none_or(|expected| message.offset == expected);
        expected = Some(message.offset.saturating_add(1));
        last = message.offset;
        timestamp_max = timestamp_max.max(message.timestamp);
    }
    Ok(WrapperShape {
        format,
        records: messages.count,
        last_relative_offset: last - base.unwrap_or(last),
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

/// The inner set without a piece of a message at its end.
fn whole_messages(mut set: Bytes) -> Result<Bytes, RecordError> {
    let mut rest = Cursor::new(&set);
    while rest.rest().len() >= PREFIX_BYTES {
        let size = entry_size(&mut rest.clone())?;
        if rest.bytes(size, "inner message").is_err() {
            break;
        }
    }
    let whole = set.len() - rest.rest().len();
    set.truncate(whole);
    Ok(set)
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
        Some(last) => Err(RecordError::Range { what: "inner message offset", value: last }),
        None => Err(RecordError::Empty { what: "compressed message" }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::MessageSetBuilder;
    use super::*;

    /// An inner set with these offsets; timestamps are 100 + offset.
    fn inner_set(offsets: &[i64]) -> Vec<u8> {
        numbered(MessageFormat::V1, offsets)
    }

    fn numbered(format: MessageFormat, offsets: &[i64]) -> Vec<u8> {
        let mut set = Vec::new();
        for &offset in offsets {
            let mut builder = MessageSetBuilder::new(format, Codec::None);
            builder.push(offset.wrapping_add(100), None, Some(b"v")).unwrap();
            set.extend(offset.to_be_bytes());
            set.extend(&builder.finish().unwrap()[8..]);
        }
        set
    }

    /// A gzip wrapper around a set.
    fn wrapper(offset: i64, append_time: bool, timestamp: i64, set: &[u8]) -> RawMessage {
        let mut bytes = wrapper_of(MessageFormat::V1, offset, timestamp, set).bytes().to_vec();
        bytes[17] |= if append_time { 0x08 } else { 0 };
        RawMessage::from_bytes(Bytes::from(bytes)).unwrap()
    }

    fn wrapper_of(format: MessageFormat, offset: i64, timestamp: i64, set: &[u8]) -> RawMessage {
        let mut value = Vec::new();
        crate::compress::compress(Codec::Gzip, set, &mut value).unwrap();
        let mut builder = MessageSetBuilder::new(format, Codec::None);
        builder.push(timestamp, None, Some(&value)).unwrap();
        let mut bytes = builder.finish().unwrap().to_vec();
        bytes[0..8].copy_from_slice(&offset.to_be_bytes());
        bytes[17] = 0x01;
        RawMessage::from_bytes(Bytes::from(bytes)).unwrap()
    }

    fn walked(entry: &RawMessage) -> Result<Vec<(i64, i64)>, RecordError> {
        messages(entry, 1 << 20)?.iter().map(|message| message.map(|found| (found.offset, found.timestamp))).collect()
    }

    #[test]
    fn relative_offsets_count_back_from_the_wrapper_also_with_gaps() {
        // K4, B13: as the cleaner of 0.10.1.1 leaves it.
        let compacted = wrapper(17, false, 105, &inner_set(&[0, 4, 5]));
        assert_eq!(walked(&compacted), Ok(vec![(12, 100), (16, 104), (17, 105)]));
        let only_first_left = wrapper(0, false, 100, &inner_set(&[0]));
        assert_eq!(walked(&only_first_left), Ok(vec![(0, 100)]));
        // Absolute inner offsets, as converted logs have them, come out the same.
        assert_eq!(walked(&wrapper(9, false, 109, &inner_set(&[7, 9]))), Ok(vec![(7, 107), (9, 109)]));
    }

    #[test]
    fn the_offsets_inside_magic_0_are_absolute() {
        let old =
            |offset, offsets: &[i64]| wrapper_of(MessageFormat::V0, offset, 0, &numbered(MessageFormat::V0, offsets));
        assert_eq!(walked(&old(17, &[12, 16, 17])), Ok(vec![(12, -1), (16, -1), (17, -1)]));
        // A wrapper that lost its last message to the cleaner keeps its own offset: nothing is shifted.
        assert_eq!(walked(&old(17, &[12, 16])), Ok(vec![(12, -1), (16, -1)]));
        assert!(matches!(walked(&old(11, &[12])), Err(RecordError::Range { value: 12, .. })));
        assert!(matches!(walked(&old(17, &[12, 12])), Err(RecordError::Range { value: 12, .. })));
        assert_eq!(walked(&old(i64::MAX, &[i64::MAX])), Ok(vec![(i64::MAX, -1)]));
        let nested = wrapper_of(MessageFormat::V0, 1, 0, old(1, &[0, 1]).bytes());
        assert_eq!(walked(&nested), Err(RecordError::Nested));
        // M3: no 0.10 broker keeps one.
        let shape = wrapper_shape(&old(17, &[15, 16, 17]), 1000).unwrap();
        assert_eq!((shape.records, shape.last_relative_offset, shape.dense), (3, 2, true));
        assert!(shape.timestamp_is_max && !shape.is_kept());
        assert!(!wrapper_shape(&old(17, &[12, 16, 17]), 1000).unwrap().dense);
    }

    #[test]
    fn what_a_producer_cut_off_is_dropped_by_a_broker_and_refused_in_a_log() {
        let set = inner_set(&[0, 1, 2]);
        for cut in [1, set.len() / 3 - 1] {
            let entry = wrapper(2, false, 0, &set[..set.len() - cut]);
            let sent = Messages::as_sent(&mut Decompressor::new(), &entry, 1000).unwrap();
            assert_eq!((sent.len(), sent.iter().map(Result::unwrap).count()), (2, 2));
            assert!(matches!(walked(&entry), Err(RecordError::Truncated { .. })));
        }
        let nothing = wrapper(2, false, 0, &set[..11]);
        let empty = RecordError::Empty { what: "compressed message" };
        assert_eq!(Messages::as_sent(&mut Decompressor::new(), &nothing, 1000).unwrap_err(), empty);
    }

    #[test]
    fn what_a_producer_sent_has_the_offsets_that_it_wrote() {
        let sent = |entry: &RawMessage| -> Vec<i64> {
            let sent = Messages::as_sent(&mut Decompressor::new(), entry, 1000).unwrap();
            sent.iter().map(|message| message.unwrap().offset).collect()
        };
        // M2: librdkafka's wrapper offset 0, kafka-python's inner offsets 0; neither is one that a log holds.
        for (outer, inner) in
            [(0, &[0, 1, 2][..]), (0, &[0, 0, 0]), (1002, &[0, 1, 2]), (5, &[0, 2, 5]), (3, &[9, 1, 4])]
        {
            assert_eq!(sent(&wrapper(outer, false, 0, &inner_set(inner))), inner);
            let old = wrapper_of(MessageFormat::V0, outer, 0, &numbered(MessageFormat::V0, inner));
            assert_eq!(sent(&old), inner);
        }
        let wrong = wrapper(0, false, 0, &inner_set(&[0, 1, 2]));
        assert!(matches!(messages(&wrong, 1000), Err(RecordError::Range { value: 2, .. })));
        let plain = RawMessage::from_bytes(Bytes::from(inner_set(&[7]))).unwrap();
        assert_eq!(sent(&plain), [7]);
    }

    #[test]
    fn the_wrappers_append_time_stands_for_every_message() {
        // B08: consumers of the source see the wrapper's timestamp, not the inner ones.
        let appended = wrapper(1, true, 999, &inner_set(&[0, 1]));
        assert_eq!(walked(&appended), Ok(vec![(0, 999), (1, 999)]));
        assert!(messages(&appended, 1000).unwrap().iter().all(|message| message.unwrap().crc_ok()));
    }

    #[test]
    fn offsets_that_cannot_be_are_errors() {
        assert!(matches!(walked(&wrapper(4, false, 0, &inner_set(&[5]))), Err(RecordError::Range { value: 5, .. })));
        assert!(matches!(walked(&wrapper(9, false, 0, &inner_set(&[3, 3]))), Err(RecordError::Range { .. })));
        // The first is beyond the wrapper already: it must not reach a caller.
        let beyond = wrapper(9, false, 0, &inner_set(&[5, 1]));
        let first = messages(&beyond, 1000).unwrap().iter().next().unwrap().unwrap_err();
        assert_eq!(first, RecordError::Range { what: "inner message offset", value: 5 });
        let mut negative = inner_set(&[0]);
        negative[0] = 0x80;
        assert!(matches!(walked(&wrapper(9, false, 0, &negative)), Err(RecordError::Range { .. })));
    }

    #[test]
    fn a_wrapper_must_hold_whole_plain_messages_of_its_magic() {
        assert_eq!(walked(&wrapper(0, false, 0, &[])), Err(RecordError::Empty { what: "compressed message" }));
        let set = inner_set(&[0, 1]);
        for len in 1..set.len() {
            let cut = walked(&wrapper(1, false, 0, &set[..len]));
            // Cut between the two messages it is a whole set of one, with room for one more before it.
            if len == set.len() / 2 {
                assert_eq!(cut, Ok(vec![(1, 100)]));
            } else {
                assert!(matches!(cut, Err(RecordError::Truncated { .. })), "{len}: {cut:?}");
            }
        }
        let nested = wrapper(0, false, 0, &set);
        assert_eq!(walked(&wrapper(0, false, 0, nested.bytes())), Err(RecordError::Nested));
        let older = numbered(MessageFormat::V0, &[0, 1]);
        assert_eq!(walked(&wrapper(1, false, 0, &older)), Err(RecordError::Magic { what: "inner message", magic: 0 }));
        let newer = walked(&wrapper_of(MessageFormat::V0, 1, 0, &set));
        assert_eq!(newer, Err(RecordError::Magic { what: "inner message", magic: 1 }));
    }

    #[test]
    fn damage_inside_a_wrapper_is_seen_by_the_inner_crc() {
        let mut set = inner_set(&[0, 1]);
        let at = set.len() - 1;
        set[at] ^= 1;
        let damaged = messages(&wrapper(1, false, 0, &set), 1000).unwrap();
        let ok: Vec<_> = damaged.iter().map(|message| message.unwrap().crc_ok()).collect();
        assert_eq!(ok, [true, false]);
    }

    #[test]
    fn the_shape_tells_what_a_0_10_broker_would_rewrite() {
        let shape = |entry: &RawMessage| wrapper_shape(entry, 1000).unwrap();
        let kept = shape(&wrapper(11, false, 102, &inner_set(&[0, 1, 2])));
        assert_eq!((kept.records, kept.last_relative_offset, kept.timestamp_max), (3, 2, 102));
        assert!(kept.is_kept());
        // M2: a gap is compressed again, another timestamp is written over.
        let gap = shape(&wrapper(17, false, 105, &inner_set(&[0, 4, 5])));
        assert!(!gap.dense && gap.timestamp_is_max && !gap.is_kept());
        assert_eq!(gap.last_relative_offset, 5);
        let late_start = shape(&wrapper(17, false, 102, &inner_set(&[1, 2])));
        assert!(!late_start.dense);
        let other_time = shape(&wrapper(2, false, 103, &inner_set(&[0, 1, 2])));
        assert!(other_time.dense && !other_time.timestamp_is_max && !other_time.is_kept());
    }
}
