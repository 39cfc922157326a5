//! Records that are encoded anew: compressed with the topic's codec, or numbered again.
//!
//! Mirrors Java's `LogValidator.buildRecordsAndAssignOffsets`.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchBuilder, BatchHeader, Stamp};

use super::inside::{Held, Opened};
use super::keep::Placed;
use super::sent::Sent;
use super::{Offered, Refusal};
use crate::Release;
use crate::log::Entry;

/// How the log stores what was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored {
    /// The message format.
    pub(super) magic: i8,
    /// The codec that the set came with.
    sent: Codec,
    /// The codec that it is stored with.
    codec: Codec,
}

impl Stored {
    /// R14, R15: `compression.type` if it names a codec, and `message.format.version` where the release heeds it.
    pub(super) fn of(offered: &Offered<'_>, sent: Codec) -> Self {
        let magic =
            if offered.release >= Release::V3_0 { 2 } else { offered.settings.magic.min(offered.release.magic()) };
        Self { magic, sent, codec: offered.settings.compression.unwrap_or(sent) }
    }

    /// R3: 2.4 alone insists on the numbering 0..n-1 of what it compresses or finds compressed; others write it anew.
    pub(super) fn numbering(self, offered: &Offered<'_>, dense: bool) -> Result<(), Refusal> {
        if !dense && offered.release == Release::V2_4 && self.is_compressed() {
            return Err(Refusal::invalid_record(offered.release));
        }
        Ok(())
    }

    /// Whether the set came compressed or will be.
    fn is_compressed(self) -> bool {
        self.sent != Codec::None || self.codec != Codec::None
    }

    /// Whether the bytes stay as they came.
    pub(super) fn is_kept(self, sent: &[Sent], opened: &[Opened]) -> bool {
        let same_format = sent.iter().all(|entry| entry.is_magic(self.magic));
        if !self.is_compressed() {
            // Nobody looks at the numbering of what is not compressed (R3).
            return same_format;
        }
        let dense = opened.iter().all(|entry| entry.dense);
        same_format && self.sent == self.codec && sent.len() == 1 && dense && self.magic > 0
    }
}

/// R3, R14: one batch of all records, under its offset. Of the header the producer's id, epoch, sequence and
/// transaction stay.
///
/// # Errors
/// [`Refusal`] for a producer that Java's builder does not write, and for what passes the format's 2 GiB.
pub(super) fn write(offered: &Offered<'_>, opened: &[Opened], stored: Stored) -> Result<Vec<Entry>, Refusal> {
    let Some(Opened { held: Held::Batch(first, _), .. }) = opened.first() else { return Ok(Vec::new()) };
    skipped_contents(offered, stored)?;
    writable_producer(first)?;
    let mut builder = BatchBuilder::new(stored.codec, None);
    for Opened { held: Held::Batch(header, records), .. } in opened {
        for record in records {
            let record = record.map_err(|_| Refusal::unknown())?;
            let timestamp = header.timestamp_of(&record);
            let pushed = builder.push(timestamp, record.key, record.value, record.headers.into());
            pushed.map_err(|_| Refusal::unknown())?;
        }
    }
    let built = builder.finish(stamp(first)).map_err(|_| Refusal::unknown())?;
    let entry = Placed::written(offered, first, &built).and_then(|placed| Entry::read(placed.over(&built)));
    Ok(vec![entry.map_err(|_| Refusal::unknown())?])
}

/// R3: from 2.8 on a batch that seems to be kept is walked without its keys and values. If it then turns out to need
/// another numbering, there is nothing to write: an exception that the broker does not know.
fn skipped_contents(offered: &Offered<'_>, stored: Stored) -> Result<(), Refusal> {
    let seemed_kept = stored.magic == 2 && stored.sent == stored.codec;
    if seemed_kept && offered.release >= Release::V2_8 { Err(Refusal::unknown()) } else { Ok(()) }
}

/// Java's builder refuses a transaction without a producer id, and an id without an epoch, with exceptions that the
/// broker does not know.
fn writable_producer(header: &BatchHeader) -> Result<(), Refusal> {
    let none = header.producer_id == Stamp::NONE.producer_id;
    if none && header.attributes.transactional() || !none && header.producer_epoch == Stamp::NONE.producer_epoch {
        return Err(Refusal::unknown());
    }
    Ok(())
}

fn stamp(header: &BatchHeader) -> Stamp {
    Stamp {
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
        base_sequence: header.base_sequence,
    }
}
