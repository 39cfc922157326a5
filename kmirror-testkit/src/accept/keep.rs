//! Entries that are kept as they came, but for the header.
//!
//! ```text
//!  0             8        12             16      17     21           23                35
//! | base offset' | length | leader epoch'| magic | crc' | attributes'| ...             | max timestamp' | ... payload |
//! ```
//!
//! The base offset and the epoch are outside the CRC. The CRC is written anew only if the maximum or the kind of the
//! timestamps changes. Mirrors Java's `DefaultRecordBatch.setLastOffset` and `setMaxTimestamp`.

use bytes::{Bytes, BytesMut};
use kmirror_proto::records::{Attributes, BATCH_HEADER_BYTES, BatchHeader, RecordError, crc32c};

use super::inside::{Held, Opened};
use super::outside::CRC_COVERS_FROM;
use super::sent::Sent;
use super::{Offered, Refusal};
use crate::log::Entry;

/// The entries under their offsets: one copy of each.
///
/// # Errors
/// None that a batch can have which was walked; an entry that the log cannot read is refused.
pub(super) fn keep(offered: &Offered<'_>, sent: &[Sent], opened: &[Opened]) -> Result<Vec<Entry>, Refusal> {
    let mut next = offered.next_offset;
    let mut entries = Vec::with_capacity(sent.len());
    for (entry, opened) in sent.iter().zip(opened) {
        next = next.saturating_add(opened.count);
        let kept = match &opened.held {
            Held::Batch(header, _) => {
                let head = Placed::new(offered, header, next.saturating_sub(1), opened.max_timestamp);
                head.over(&entry.bytes)
            }
        };
        entries.push(Entry::read(kept).map_err(|_| Refusal::corrupt())?);
    }
    Ok(entries)
}

/// What of a batch's header is the broker's.
#[derive(Debug)]
pub(super) struct Placed {
    base_offset: i64,
    leader_epoch: i32,
    max_timestamp: i64,
    attributes: Attributes,
    checksum_changes: bool,
}

impl Placed {
    /// R1, R3, R9, R10: the header of a batch that ends at `last_offset` and whose latest record is of `max_timestamp`.
    ///
    /// Brokers reckon the base offset backwards from the last one. On 0.11 and 1.0, which let a batch claim more
    /// offsets than it has records, it so lies before the end of the log: the log is damaged (R3).
    pub(super) fn new(offered: &Offered<'_>, header: &BatchHeader, last_offset: i64, max_timestamp: i64) -> Self {
        let append_time = offered.settings.append_time;
        let max_timestamp = if append_time { offered.now.unix_ms } else { max_timestamp };
        let changes = header.attributes.append_time() != append_time || header.max_timestamp != max_timestamp;
        Self {
            base_offset: last_offset.saturating_sub(header.last_offset_delta.into()),
            leader_epoch: offered.leader_epoch,
            max_timestamp,
            attributes: if changes { known(header.attributes, append_time) } else { header.attributes },
            checksum_changes: changes,
        }
    }

    /// The header of a batch that the broker encoded from one with the header `sent`.
    ///
    /// # Errors
    /// None: the batch was just built.
    pub(super) fn written(offered: &Offered<'_>, sent: &BatchHeader, built: &[u8]) -> Result<Self, RecordError> {
        let header = BatchHeader::parse(built)?;
        let last_offset = offered.next_offset.saturating_add(header.last_offset_delta.into());
        let mut placed = Self::new(offered, &header, last_offset, header.max_timestamp);
        if sent.attributes.transactional() {
            placed.attributes = Attributes(placed.attributes.0 | TRANSACTIONAL);
            placed.checksum_changes = true;
        }
        Ok(placed)
    }

    /// The batch with this header.
    pub(super) fn over(&self, batch: &[u8]) -> Bytes {
        let mut bytes = BytesMut::from(batch);
        if let Some(head) = bytes.first_chunk_mut::<BATCH_HEADER_BYTES>() {
            head[0..8].copy_from_slice(&self.base_offset.to_be_bytes());
            head[12..16].copy_from_slice(&self.leader_epoch.to_be_bytes());
            head[21..23].copy_from_slice(&self.attributes.0.to_be_bytes());
            head[35..43].copy_from_slice(&self.max_timestamp.to_be_bytes());
        }
        if self.checksum_changes {
            let crc = crc32c(bytes.get(CRC_COVERS_FROM..).unwrap_or_default());
            if let Some(field) = bytes.get_mut(17..CRC_COVERS_FROM) {
                field.copy_from_slice(&crc.to_be_bytes());
            }
        }
        bytes.freeze()
    }
}

/// The attributes as Java computes them anew: what it does not know is lost.
fn known(attributes: Attributes, append_time: bool) -> Attributes {
    let known = attributes.0 & KNOWN;
    Attributes(if append_time { known | APPEND_TIME } else { known & !APPEND_TIME })
}

/// Attributes: the codec, the append time, the transaction, the control bit.
const KNOWN: i16 = 0x3f;
/// Attributes: the broker set the timestamps.
const APPEND_TIME: i16 = 0x08;
/// Attributes: the batch belongs to a transaction.
const TRANSACTIONAL: i16 = 0x10;
