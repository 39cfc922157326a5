//! A message or a wrapper of magic 0 or 1 of which messages are taken out.
//!
//! ```text
//! wrapper 19 [0 1 2 3 4 5 6 7 8 9]  ─►  wrapper 17 [0 4 5]      (K4: 12, 16 and 17 survived)
//! ```
//!
//! The wrapper's offset is that of its last survivor, inner offsets of magic 1 count from the first one.

use bytes::Bytes;
use kmirror_proto::records::{MessageSetBuilder, RawMessage, messages};

use crate::limits::DECOMPRESSED_BYTES_MAX;
use crate::log::Entry;

/// Looks at each message: offset, key, value.
pub(super) fn for_each(entry: &Entry, mut look: impl FnMut(i64, Option<&[u8]>, Option<&[u8]>)) {
    let Ok(message) = RawMessage::from_bytes(Bytes::clone(&entry.bytes)) else { return };
    let Ok(inner) = messages(&message, DECOMPRESSED_BYTES_MAX) else { return };
    for message in inner.iter().map_while(Result::ok) {
        look(message.offset, message.key, message.value);
    }
}

/// What stays of the entry. One that cannot be read stays as it is.
pub(super) fn survivors(
    entry: &Entry,
    mut survives: impl FnMut(i64, Option<&[u8]>, Option<&[u8]>) -> bool,
) -> Option<Entry> {
    let (mut all, mut kept) = (0, Vec::new());
    for_each(entry, |offset, key, value| {
        all += 1;
        if survives(offset, key, value) {
            kept.push(offset);
        }
    });
    if kept.len() == all {
        return Some(entry.clone());
    }
    let first = *kept.first()?;
    Some(rewrapped(entry, first, &kept).unwrap_or_else(|| entry.clone()))
}

/// The wrapper with these messages alone; the first of them is at `first`.
fn rewrapped(entry: &Entry, first: i64, kept: &[i64]) -> Option<Entry> {
    let message = RawMessage::from_bytes(Bytes::clone(&entry.bytes)).ok()?;
    let inner = messages(&message, DECOMPRESSED_BYTES_MAX).ok()?;
    let mut builder = MessageSetBuilder::new(message.format(), entry.codec);
    builder.set_base_offset(first);
    builder.set_append_time(entry.append_time.then_some(entry.max_timestamp));
    let survives = |offset: &i64| kept.binary_search(offset).is_ok();
    for message in inner.iter().map_while(Result::ok).filter(|message| survives(&message.offset)) {
        builder.push_at(message.offset, message.timestamp, message.key, message.value).ok()?;
    }
    let mut wrapper = Entry::read(builder.finish().ok()?).ok()?;
    wrapper.base_offset = first;
    Some(wrapper)
}
