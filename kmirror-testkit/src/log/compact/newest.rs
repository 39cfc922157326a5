//! Which offset is the last one of each key.
//!
//! Keys are kept whole, where Kafka keeps a hash of 16 bytes in a buffer of `log.cleaner.dedupe.buffer.size`: one round
//! is enough here. Java: `SkimpyOffsetMap`.

use std::collections::BTreeMap;

use bytes::Bytes;
use kmirror_proto::records::{RawBatch, Records};

use super::ending::Ending;
use super::legacy;
use crate::limits::DECOMPRESSED_BYTES_MAX;
use crate::log::{Entry, Segment};

/// The last offset of each key that the dirty part of a log has.
pub(super) struct Newest {
    offsets: BTreeMap<Vec<u8>, i64>,
    /// The last offset that was looked at: what lies behind it stays.
    last: i64,
}

impl Newest {
    /// Looks through the dirty segments; records of aborted transactions do not count.
    pub(super) fn of<'a>(segments: impl Iterator<Item = &'a Segment>, mut ending: Ending) -> Self {
        let mut newest = Self { offsets: BTreeMap::new(), last: -1 };
        for entry in segments.flat_map(|segment| &segment.entries) {
            newest.last = entry.last_offset;
            if !ending.allows_to_discard(entry) && !entry.control {
                newest.note(entry);
            }
        }
        newest
    }

    /// Whether this is the last record of its key. Records without a key do not belong into such a log and go.
    pub(super) fn is(&self, key: Option<&[u8]>, offset: i64) -> bool {
        offset > self.last || key.is_some_and(|key| self.offsets.get(key).is_none_or(|newest| *newest <= offset))
    }

    fn note(&mut self, entry: &Entry) {
        let mut put = |offset: i64, key: Option<&[u8]>| {
            if let Some(key) = key {
                match self.offsets.get_mut(key) {
                    Some(newest) => *newest = offset,
                    None => drop(self.offsets.insert(key.to_vec(), offset)),
                }
            }
        };
        if entry.magic < 2 {
            return legacy::for_each(entry, |offset, key, _| put(offset, key));
        }
        let Ok(batch) = RawBatch::from_bytes(Bytes::clone(&entry.bytes)) else { return };
        let Ok(records) = Records::of(&batch, DECOMPRESSED_BYTES_MAX) else { return };
        for record in records.iter().map_while(Result::ok) {
            put(batch.header.offset_of(&record), record.key);
        }
    }
}
