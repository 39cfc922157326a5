//! What a read of the log gives: entries of one segment, and how much of the next one the limit left.

use bytes::{Bytes, BytesMut};

use super::Entry;

/// A part of one segment. Nothing is copied until [`Slice::records`] is called.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice<'a> {
    /// The whole entries, in order.
    pub entries: &'a [Entry],
    /// The entry that the limit cut, and how many of its bytes came along.
    pub cut: Option<(&'a Entry, usize)>,
    /// The offset below which an aborted transaction has to begin to be named beside this answer. Kafka takes it from
    /// its sparse index, so that it often lies behind what is returned.
    pub aborted_below: i64,
}

impl Slice<'_> {
    /// The bytes of it: shared if it is one entry or a part of one, else one copy.
    pub(crate) fn records(&self) -> Bytes {
        match (self.entries, self.cut) {
            ([], None) => Bytes::new(),
            ([one], None) => one.bytes.clone(),
            ([], Some((entry, len))) => entry.bytes.slice(..len),
            (entries, cut) => {
                let mut all = BytesMut::with_capacity(self.size());
                for entry in entries {
                    all.extend_from_slice(&entry.bytes);
                }
                if let Some((entry, len)) = cut {
                    all.extend_from_slice(entry.bytes.get(..len).unwrap_or_default());
                }
                all.freeze()
            }
        }
    }

    /// How many bytes [`Slice::records`] gives.
    pub(crate) fn size(&self) -> usize {
        self.entries.iter().map(Entry::size).sum::<usize>() + self.cut.map_or(0, |(_, len)| len)
    }
}
